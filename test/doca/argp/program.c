/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdarg.h>

#include "argp/program.h"
#include "common/result.h"

struct argp_conf argp_conf;
char argp_log[1024];

void
argp_note(const char *format, ...)
{
	const size_t len = strlen(argp_conf.calls);
	va_list args;

	va_start(args, format);
	vsnprintf(argp_conf.calls + len, sizeof(argp_conf.calls) - len, format, args);
	va_end(args);
}

doca_error_t
argp_take_string(void *value, void *config)
{
	T_CHECK(config == &argp_conf);
	argp_note("string(%s) ", (char *)value);
	return DOCA_SUCCESS;
}

doca_error_t
argp_take_int(void *value, void *config)
{
	T_CHECK(config == &argp_conf);
	argp_note("int(%d) ", *(int *)value);
	return DOCA_SUCCESS;
}

doca_error_t
argp_take_bool(void *value, void *config)
{
	T_CHECK(config == &argp_conf);
	argp_note("bool(%d) ", *(bool *)value);
	return DOCA_SUCCESS;
}

doca_error_t
argp_take_double(void *value, void *config)
{
	T_CHECK(config == &argp_conf);
	argp_note("double(%g) ", *(double *)value);
	return DOCA_SUCCESS;
}

doca_error_t
argp_take_nothing(void *value, void *config)
{
	T_CHECK(value != NULL);
	T_CHECK(config == &argp_conf);
	return DOCA_SUCCESS;
}

doca_error_t
argp_fail(void *value, void *config)
{
	T_CHECK(config == &argp_conf);
	argp_note("fail(%s) ", (char *)value);
	return DOCA_ERROR_AUTHENTICATION;
}

doca_error_t
argp_take_cmd(void *config)
{
	T_CHECK(config == &argp_conf);
	argp_note("outer ");
	return argp_conf.cmd;
}

static doca_error_t
take_inner(void *config)
{
	T_CHECK(config == &argp_conf);
	argp_note("inner ");
	return argp_conf.cmd;
}

doca_error_t
argp_validate(void *config)
{
	T_CHECK(config == &argp_conf);
	argp_note("validate ");
	return argp_conf.validation;
}

doca_error_t
argp_take_dpdk(int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++)
		argp_note("%s%s", i == 0 ? "dpdk(" : ",", argv[i]);
	T_CHECK(argv[argc] == NULL);
	argp_note(") ");
	return argp_conf.dpdk;
}

__attribute__((format(printf, 2, 0)))
doca_error_t
argp_take_log(enum doca_log_level level, const char *format, va_list args)
{
	T_LE(level, DOCA_LOG_LEVEL_WARNING);
	vsnprintf(argp_log, sizeof(argp_log), format, args);
	return DOCA_SUCCESS;
}

void
argp_begin(void)
{
	memset(&argp_conf, 0, sizeof(argp_conf));
	argp_log[0] = '\0';
	T_OK(doca_argp_init("prog", &argp_conf));
	T_OK(doca_argp_register_logger_callback(argp_take_log));
}

struct doca_argp_param *
argp_param(const char *short_name, const char *long_name, unsigned int type,
		doca_argp_param_cb_t callback)
{
	struct doca_argp_param *param = NULL;

	T_OK(doca_argp_param_create(&param));
	doca_argp_param_set_short_name(param, short_name);
	doca_argp_param_set_long_name(param, long_name);
	doca_argp_param_set_description(param, "A description");
	doca_argp_param_set_type(param, (enum doca_argp_type)type);
	doca_argp_param_set_callback(param, callback);
	return param;
}

void
argp_register(const char *short_name, const char *long_name, unsigned int type,
		doca_argp_param_cb_t callback, void (*set)(struct doca_argp_param *param))
{
	struct doca_argp_param *param = argp_param(short_name, long_name, type, callback);

	if (set != NULL)
		set(param);
	T_OK(doca_argp_register_param(param));
}

struct doca_argp_cmd *
argp_cmd(const char *name)
{
	struct doca_argp_cmd *cmd = NULL;
	char descr[64];

	T_OK(doca_argp_cmd_create(&cmd));
	doca_argp_cmd_set_name(cmd, name);
	snprintf(descr, sizeof(descr), "What %s does", name != NULL ? name : "it");
	doca_argp_cmd_set_description(cmd, descr);
	return cmd;
}

void
argp_begin_singular(void)
{
	argp_begin();
	argp_register(NULL, "only", DOCA_ARGP_TYPE_BOOLEAN, argp_take_bool,
		doca_argp_param_set_singular);
	argp_register(NULL, "must", DOCA_ARGP_TYPE_INT, argp_take_int,
		doca_argp_param_set_mandatory);
}

void
argp_begin_commands(void)
{
	struct doca_argp_cmd *outer, *inner, *hidden;
	struct doca_argp_param *param;

	argp_begin();
	param = argp_param("i", "int", DOCA_ARGP_TYPE_INT, argp_take_int);
	doca_argp_param_set_inherited(param);
	doca_argp_param_set_multiplicity(param);
	T_OK(doca_argp_register_param(param));
	argp_register("p", NULL, DOCA_ARGP_TYPE_BOOLEAN, argp_take_bool, NULL);
	outer = argp_cmd("outer");
	doca_argp_cmd_set_callback(outer, argp_take_cmd);
	param = argp_param(NULL, "secret", DOCA_ARGP_TYPE_INT, argp_take_int);
	doca_argp_param_set_hidden(param);
	T_OK(doca_argp_cmd_register_param(outer, param));
	inner = argp_cmd("inner");
	doca_argp_cmd_set_callback(inner, take_inner);
	param = argp_param("s", NULL, DOCA_ARGP_TYPE_STRING, argp_take_string);
	doca_argp_param_set_mandatory(param);
	T_OK(doca_argp_cmd_register_param(inner, param));
	T_OK(doca_argp_cmd_register_cmd(outer, inner));
	hidden = argp_cmd("secret");
	doca_argp_cmd_set_hidden(hidden);
	T_OK(doca_argp_cmd_register_cmd(outer, hidden));
	T_OK(doca_argp_register_cmd(outer));
}

void
argp_begin_usage(void)
{
	argp_begin();
	argp_register("p", "pci-addr", DOCA_ARGP_TYPE_STRING, argp_take_string,
		doca_argp_param_set_mandatory);
	argp_register(NULL, "a-very-long-name-of-a-flag-indeed", DOCA_ARGP_TYPE_STRING,
		argp_take_string, NULL);
	argp_register("t", NULL, DOCA_ARGP_TYPE_BOOLEAN, argp_take_bool, NULL);
	argp_register("x", "secret", DOCA_ARGP_TYPE_BOOLEAN, argp_take_bool,
		doca_argp_param_set_hidden);
}

doca_error_t
argp_start_words(const char *const *words)
{
	/* A program's arguments may be written to, and stay. */
	static char texts[16][256] = { "/usr/bin/prog" };
	char *argv[RTE_DIM(texts) + 1] = { texts[0] };
	int argc = 1;

	for (; *words != NULL; words++, argc++) {
		T_LT(argc, RTE_DIM(texts));
		snprintf(texts[argc], sizeof(texts[argc]), "%s", *words);
		argv[argc] = texts[argc];
	}
	return doca_argp_start(argc, argv);
}
