/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "options.h"

#include <doca_argp.h>

#include "release.h"

/* Copies: a value is good within its callback. */
static char text[256], name[120];

static doca_error_t
keep(char *to, size_t size, const void *value, const char **where)
{
	const size_t len = strlen((const char *)value);

	if (len >= size)
		return DOCA_ERROR_TOO_BIG;
	memcpy(to, value, len + 1);
	*where = to;
	return DOCA_SUCCESS;
}

/* Before DOCA 1.5 a program names no devices. */
#if RELEASE >= 105

static doca_error_t
on_pci(void *value, void *config)
{
	static char pci[32];

	return keep(pci, sizeof(pci), value, &((struct options *)config)->pci);
}

#ifdef DOCA_ARCH_DPU
static doca_error_t
on_rep_pci(void *value, void *config)
{
	static char rep_pci[32];

	return keep(rep_pci, sizeof(rep_pci), value, &((struct options *)config)->rep_pci);
}
#endif

#endif /* RELEASE >= 105 */

static doca_error_t
on_text(void *value, void *config)
{
	return keep(text, sizeof(text), value, &((struct options *)config)->text);
}

static doca_error_t
on_name(void *value, void *config)
{
	return keep(name, sizeof(name), value, &((struct options *)config)->name);
}

static const struct flag {
	const char *short_name, *long_name, *description;
	doca_argp_param_cb_t cb;
	bool mandatory;
} flags[] = {
#if RELEASE >= 105
	{ "p", "pci-addr", "the device", on_pci, true },
#ifdef DOCA_ARCH_DPU
	{ "r", "rep-pci", "its representor", on_rep_pci, true },
#endif
#endif
	{ "t", "text", "what to send", on_text, false },
	{ "n", "name", "the server", on_name, false },
};

static doca_error_t
add(const struct flag *flag)
{
	struct doca_argp_param *param;
	doca_error_t ret;

	ret = doca_argp_param_create(&param);
	if (ret != DOCA_SUCCESS)
		return ret;
	doca_argp_param_set_short_name(param, flag->short_name);
	doca_argp_param_set_long_name(param, flag->long_name);
	doca_argp_param_set_description(param, flag->description);
	doca_argp_param_set_callback(param, flag->cb);
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
	if (flag->mandatory)
		doca_argp_param_set_mandatory(param);
	return doca_argp_register_param(param);
}

doca_error_t
options_parse(struct options *opt, const char *program, int argc, char **argv)
{
	doca_error_t ret;
	size_t i;

	ret = doca_argp_init(program, opt);
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]) && ret == DOCA_SUCCESS; i++)
		ret = add(&flags[i]);
	return ret == DOCA_SUCCESS ? doca_argp_start(argc, argv) : ret;
}

void
options_end(void)
{
	(void)doca_argp_destroy();
}
