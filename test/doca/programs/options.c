/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "options.h"

#include <doca_argp.h>

#include "app.h"

/* Copies: a value is good within its callback. */
static char pci[32], text[256], name[120];

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

static doca_error_t
on_pci(void *value, void *config)
{
	return keep(pci, sizeof(pci), value, &((struct app *)config)->pci);
}

#ifdef DOCA_ARCH_DPU
static doca_error_t
on_rep_pci(void *value, void *config)
{
	static char rep_pci[32];

	return keep(rep_pci, sizeof(rep_pci), value, &((struct app *)config)->rep_pci);
}
#endif

static doca_error_t
on_text(void *value, void *config)
{
	return keep(text, sizeof(text), value, &((struct app *)config)->text);
}

static doca_error_t
on_name(void *value, void *config)
{
	return keep(name, sizeof(name), value, &((struct app *)config)->name);
}

static const struct option {
	const char *short_name, *long_name, *description;
	doca_argp_param_cb_t cb;
	bool mandatory;
} options[] = {
	{ "p", "pci-addr", "the device", on_pci, true },
#ifdef DOCA_ARCH_DPU
	{ "r", "rep-pci", "its representor", on_rep_pci, true },
#endif
	{ "t", "text", "what to send", on_text, false },
	{ "n", "name", "the server", on_name, false },
};

static doca_error_t
add(const struct option *option)
{
	struct doca_argp_param *param;
	doca_error_t ret;

	ret = doca_argp_param_create(&param);
	if (ret != DOCA_SUCCESS)
		return ret;
	doca_argp_param_set_short_name(param, option->short_name);
	doca_argp_param_set_long_name(param, option->long_name);
	doca_argp_param_set_description(param, option->description);
	doca_argp_param_set_callback(param, option->cb);
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
	if (option->mandatory)
		doca_argp_param_set_mandatory(param);
	return doca_argp_register_param(param);
}

doca_error_t
options_parse(struct app *app, const char *program, int argc, char **argv)
{
	doca_error_t ret;
	size_t i;

	ret = doca_argp_init(program, app);
	for (i = 0; i < sizeof(options) / sizeof(options[0]) && ret == DOCA_SUCCESS; i++)
		ret = add(&options[i]);
	return ret == DOCA_SUCCESS ? doca_argp_start(argc, argv) : ret;
}

void
options_end(void)
{
	(void)doca_argp_destroy();
}
