/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* doca_argp: values that are devices, on devices of this file. */

#include "argp/program.h"
#include "common/result.h"
#include "t_main.h"

struct doca_devinfo {
	const char *pci, *ibdev, *iface;
};
struct doca_dev {
	struct doca_devinfo *info;
	int nb_open;
};
struct doca_devinfo_rep {
	const char *pci, *iface;
};
struct doca_dev_rep {
	struct doca_devinfo_rep *info;
	int nb_open;
};

static struct doca_devinfo infos[] = {
	{ "0000:03:00.0", "mlx5_0", "p0" }, { "0000:03:00.1", "mlx5_1", "p1" },
};
static struct doca_devinfo *list[] = { &infos[0], &infos[1] };
static struct doca_devinfo_rep rep_info = { "0000:3b:00.0", "pf0hpf" };
static struct doca_devinfo_rep *rep_list[] = { &rep_info };
static struct doca_dev devs[2];
static struct doca_dev_rep rep;
static int nb_lists;
static doca_error_t open_result, rep_list_result;

doca_error_t
doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs)
{
	nb_lists++;
	*dev_list = list;
	*nb_devs = RTE_DIM(list);
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_destroy_list(struct doca_devinfo **dev_list)
{
	T_CHECK(dev_list == list);
	nb_lists--;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_rep_create_list(struct doca_dev *dev, int filter,
		struct doca_devinfo_rep ***dev_list_rep, uint32_t *nb_devs_rep)
{
	T_CHECK(dev->nb_open > 0);
	T_EQ(filter, DOCA_DEVINFO_REP_FILTER_ALL);
	if (rep_list_result != DOCA_SUCCESS)
		return rep_list_result;
	nb_lists++;
	*dev_list_rep = rep_list;
	*nb_devs_rep = RTE_DIM(rep_list);
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep)
{
	T_CHECK(dev_list_rep == rep_list);
	nb_lists--;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev)
{
	if (open_result != DOCA_SUCCESS)
		return open_result;
	*dev = &devs[devinfo - infos];
	(*dev)->info = devinfo;
	(*dev)->nb_open++;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dev_close(struct doca_dev *dev)
{
	dev->nb_open--;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep)
{
	*dev_rep = &rep;
	rep.info = devinfo;
	rep.nb_open++;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dev_rep_close(struct doca_dev_rep *dev)
{
	dev->nb_open--;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo, const char *pci_addr_str,
		uint8_t *is_equal)
{
	if (strchr(pci_addr_str, ':') == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*is_equal = strcmp(devinfo->pci, pci_addr_str) == 0;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep,
		const char *pci_addr_str, uint8_t *is_equal)
{
	if (strchr(pci_addr_str, ':') == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*is_equal = strcmp(devinfo_rep->pci, pci_addr_str) == 0;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name, uint32_t size)
{
	snprintf(ibdev_name, size, "%s", devinfo->ibdev);
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name, uint32_t size)
{
	snprintf(iface_name, size, "%s", devinfo->iface);
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_rep_get_iface_name(const struct doca_devinfo_rep *devinfo_rep, char *iface_name,
		uint32_t size)
{
	snprintf(iface_name, size, "%s", devinfo_rep->iface);
	return DOCA_SUCCESS;
}

static doca_error_t callback_result;

static doca_error_t
take_dev(void *value, void *config)
{
	struct doca_argp_device_ctx *ctx = value;

	T_CHECK(config == &argp_conf);
	argp_note("dev(%s;%s) ", ctx->dev->info->ibdev, ctx->devargs != NULL ? ctx->devargs : "");
	return callback_result;
}

static doca_error_t
take_rep(void *value, void *config)
{
	struct doca_argp_device_rep_ctx *ctx = value;

	T_CHECK(config == &argp_conf);
	argp_note("rep(%s;%s;%s) ", ctx->dev_ctx.dev->info->ibdev, ctx->dev_rep->info->iface,
		ctx->dev_ctx.devargs != NULL ? ctx->dev_ctx.devargs : "");
	return callback_result;
}

static doca_error_t
give(const char *flag, const char *value)
{
	doca_error_t result;

	memset(devs, 0, sizeof(devs));
	rep.nb_open = 0;
	argp_begin();
	argp_register(NULL, "dev", DOCA_ARGP_TYPE_DEVICE, take_dev, NULL);
	argp_register(NULL, "rep", DOCA_ARGP_TYPE_DEVICE_REP, take_rep, NULL);
	result = argp_start(flag, value);
	T_OK(doca_argp_destroy());
	T_EQ(nb_lists, 0);
	return result;
}

T_CASE(devices)
{
	static const char *const names[] = { "0000:03:00.1", "pci/0000:03:00.1", "mlx5_1", "p1" };
	unsigned int i;

	for (i = 0; i < RTE_DIM(names); i++) {
		T_OK(give("--dev", names[i]));
		T_STR_EQ(argp_conf.calls, "dev(mlx5_1;) ");
		T_EQ(devs[1].nb_open, 1);
	}
	T_OK(give("--dev", "p0,a=1,b=2"));
	T_STR_EQ(argp_conf.calls, "dev(mlx5_0;a=1,b=2) ");
}

T_CASE(representors)
{
	T_OK(give("--rep", "p0,pf0hpf"));
	T_STR_EQ(argp_conf.calls, "rep(mlx5_0;pf0hpf;) ");
	T_EQ(devs[0].nb_open, 1);
	T_EQ(rep.nb_open, 1);
	T_OK(give("--rep", "pci/0000:03:00.0,pci/0000:3b:00.0,a=1,b"));
	T_STR_EQ(argp_conf.calls, "rep(mlx5_0;pf0hpf;a=1,b) ");
}

T_CASE(refused)
{
	T_IS(give("--dev", "p2"), DOCA_ERROR_NOT_FOUND);
	T_STR_HAS(argp_log, "flag '--dev', p2: ");
	T_INVALID(give("--rep", "p0"));
	T_EQ(devs[0].nb_open, 0);
	T_IS(give("--rep", "p2,pf0hpf"), DOCA_ERROR_NOT_FOUND);
	T_IS(give("--rep", "p0,pf1hpf"), DOCA_ERROR_NOT_FOUND);
	T_EQ(devs[0].nb_open, 0);
	callback_result = DOCA_ERROR_FULL;
	T_IS(give("--dev", "p0"), DOCA_ERROR_FULL);
	T_EQ(devs[0].nb_open, 0);
	T_IS(give("--rep", "p0,pf0hpf"), DOCA_ERROR_FULL);
	T_EQ(devs[0].nb_open, 0);
	T_EQ(rep.nb_open, 0);
	callback_result = DOCA_SUCCESS;
	rep_list_result = DOCA_ERROR_NOT_SUPPORTED;
	T_IS(give("--rep", "p0,pf0hpf"), DOCA_ERROR_NOT_SUPPORTED);
	T_EQ(devs[0].nb_open, 0);
	open_result = DOCA_ERROR_INITIALIZATION;
	T_IS(give("--dev", "p0"), DOCA_ERROR_INITIALIZATION);
}

static doca_error_t
open_mine(struct doca_devinfo *devinfo, void *usr_ctx, struct doca_dev **dev)
{
	T_CHECK(devinfo == &infos[1]);
	*dev = usr_ctx;
	(*dev)->info = devinfo;
	(*dev)->nb_open++;
	return DOCA_SUCCESS;
}

T_CASE(own_open)
{
	struct doca_dev dev = { 0 };

	T_IS(doca_argp_register_dev_open_callback(open_mine, &dev), DOCA_ERROR_BAD_STATE);
	argp_begin();
	T_INVALID(doca_argp_register_dev_open_callback(NULL, &dev));
	T_OK(doca_argp_register_dev_open_callback(open_mine, &dev));
	argp_register(NULL, "dev", DOCA_ARGP_TYPE_DEVICE, take_dev, NULL);
	T_OK(argp_start("--dev=p1"));
	T_STR_EQ(argp_conf.calls, "dev(mlx5_1;) ");
	T_EQ(dev.nb_open, 1);
	T_OK(doca_argp_destroy());
}
