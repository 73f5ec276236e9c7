/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Flags whose value is a device or a representor, which is opened for the callback. */

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <doca_dev.h>

#include "argp/argp.h"

/* "0000:03:00.0,03:00.1,x=1" split at commas. */
struct parts {
	char *text; /* allocated */
	const char *part[3];
};

static const char *
without_prefix(const char *name)
{
	return strncmp(name, "pci/", 4) == 0 ? name + 4 : name;
}

/* Split into nb parts; the last one keeps its commas. */
static doca_error_t
split(struct parts *p, const char *text, unsigned int nb)
{
	unsigned int i;
	char *rest;

	*p = (struct parts){ .text = strdup(text) };
	if (p->text == NULL)
		return DOCA_ERROR_NO_MEMORY;
	rest = p->text;
	for (i = 0; i + 1 < nb && rest != NULL; i++)
		p->part[i] = strsep(&rest, ",");
	p->part[i] = rest;
	return DOCA_SUCCESS;
}

static bool
is_dev(const struct doca_devinfo *info, const char *name)
{
	char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE], iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	uint8_t equal = 0;

	/* A name that is not a PCI address is an error here, which means no match. */
	if (doca_devinfo_is_equal_pci_addr(info, name, &equal) == DOCA_SUCCESS && equal)
		return true;
	if (doca_devinfo_get_ibdev_name(info, ibdev, sizeof(ibdev)) == DOCA_SUCCESS &&
			strcmp(ibdev, name) == 0)
		return true;
	return doca_devinfo_get_iface_name(info, iface, sizeof(iface)) == DOCA_SUCCESS &&
		strcmp(iface, name) == 0;
}

static bool
is_rep(const struct doca_devinfo_rep *info, const char *name)
{
	char iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	uint8_t equal = 0;

	if (doca_devinfo_rep_is_equal_pci_addr(info, name, &equal) == DOCA_SUCCESS && equal)
		return true;
	return doca_devinfo_rep_get_iface_name(info, iface, sizeof(iface)) == DOCA_SUCCESS &&
		strcmp(iface, name) == 0;
}

static doca_error_t
open_found(struct doca_devinfo *info, struct doca_dev **dev)
{
	return impl_argp->dev_open != NULL ?
		impl_argp->dev_open(info, impl_argp->dev_open_ctx, dev) :
		doca_dev_open(info, dev);
}

static doca_error_t
open_dev(const char *name, struct doca_dev **dev)
{
	struct doca_devinfo **list;
	doca_error_t result;
	uint32_t i, nb;

	name = without_prefix(name);
	result = doca_devinfo_create_list(&list, &nb);
	if (result != DOCA_SUCCESS)
		return result;
	result = DOCA_ERROR_NOT_FOUND;
	for (i = 0; i < nb && result == DOCA_ERROR_NOT_FOUND; i++)
		if (is_dev(list[i], name))
			result = open_found(list[i], dev);
	doca_devinfo_destroy_list(list);
	return result;
}

static doca_error_t
open_rep(struct doca_dev *dev, const char *name, struct doca_dev_rep **rep)
{
	doca_error_t result;
	struct doca_devinfo_rep **list;
	uint32_t i, nb;

	name = without_prefix(name);
	result = doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, &list, &nb);
	if (result != DOCA_SUCCESS)
		return result;
	result = DOCA_ERROR_NOT_FOUND;
	for (i = 0; i < nb && result == DOCA_ERROR_NOT_FOUND; i++)
		if (is_rep(list[i], name))
			result = doca_dev_rep_open(list[i], rep);
	doca_devinfo_rep_destroy_list(list);
	return result;
}

doca_error_t
impl_argp_call_dev(const struct doca_argp_param *param, const char *text)
{
	struct doca_argp_device_ctx ctx = { 0 };
	doca_error_t result;
	struct parts p;

	result = split(&p, text, 2);
	if (result != DOCA_SUCCESS)
		return result;
	result = open_dev(p.part[0], &ctx.dev);
	if (result != DOCA_SUCCESS)
		goto free_parts;
	ctx.devargs = p.part[1];
	result = param->callback(&ctx, impl_argp->config);
	if (result != DOCA_SUCCESS)
		doca_dev_close(ctx.dev);
free_parts:
	free(p.text);
	return result;
}

doca_error_t
impl_argp_call_rep(const struct doca_argp_param *param, const char *text)
{
	struct doca_argp_device_rep_ctx ctx = { 0 };
	doca_error_t result;
	struct parts p;

	result = split(&p, text, 3);
	if (result != DOCA_SUCCESS)
		return result;
	if (p.part[1] == NULL) {
		ARGP_ERR("flag '%s': '%s': expected DEVICE,REPRESENTOR",
			impl_argp_flag(param), text);
		result = DOCA_ERROR_INVALID_VALUE;
		goto free_parts;
	}
	result = open_dev(p.part[0], &ctx.dev_ctx.dev);
	if (result != DOCA_SUCCESS)
		goto free_parts;
	result = open_rep(ctx.dev_ctx.dev, p.part[1], &ctx.dev_rep);
	if (result != DOCA_SUCCESS)
		goto close_dev;
	ctx.dev_ctx.devargs = p.part[2];
	result = param->callback(&ctx, impl_argp->config);
	if (result == DOCA_SUCCESS)
		goto free_parts;
	doca_dev_rep_close(ctx.dev_rep);
close_dev:
	doca_dev_close(ctx.dev_ctx.dev);
free_parts:
	free(p.text);
	return result;
}
