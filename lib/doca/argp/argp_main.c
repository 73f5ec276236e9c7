/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The parser: init, callbacks and settings, start, destroy. Start parses and checks all
 * input before it calls the callbacks of the program's flags.
 */

#include <argz.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "argp/argp.h"

#include "log/log.h"

struct impl_argp *impl_argp;

void
impl_argp_log(enum doca_log_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (impl_argp != NULL && impl_argp->logger != NULL) {
		impl_argp->logger(level, format, args);
	} else if (impl_argp != NULL && impl_argp->silent) {
		;
	} else if (impl_log_wanted(DOCA_LOG_LEVEL_CRIT)) {
		impl_vlog(level, __FILE__, __LINE__, __func__, format, args);
	} else {
		/* There is no backend yet, and the user must see it. */
		fprintf(stderr, "%s: ", impl_argp_program());
		vfprintf(stderr, format, args);
		fputc('\n', stderr);
	}
	va_end(args);
}

doca_error_t
doca_argp_init(const char *program_name, void *program_config)
{
	struct impl_argp *argp;

	if (impl_argp != NULL)
		return DOCA_ERROR_BAD_STATE;
	if (program_name != NULL && *program_name == '\0')
		return DOCA_ERROR_INVALID_VALUE;
	argp = calloc(1, sizeof(*argp));
	if (argp == NULL)
		return DOCA_ERROR_NO_MEMORY;
	if (!impl_argp_set_text(&argp->name, program_name)) {
		free(argp);
		return DOCA_ERROR_NO_MEMORY;
	}
	argp->config = program_config;
	impl_argp_init_cmd(&argp->program);
	argp->cmd = &argp->program;
	TAILQ_INIT(&argp->refused);
	TAILQ_INIT(&argp->refused_cmds);
	STAILQ_INIT(&argp->values);
	impl_argp_init_builtins(argp);
	impl_argp = argp;
	return DOCA_SUCCESS;
}

doca_error_t
doca_argp_destroy(void)
{
	struct impl_argp *argp = impl_argp;

	if (argp == NULL)
		return DOCA_ERROR_BAD_STATE;
	impl_argp_free_values();
	impl_argp_clear_cmd(&argp->program);
	impl_argp_free_params(&argp->refused);
	impl_argp_free_cmds(&argp->refused_cmds);
	free(argp->name);
	free(argp->json_path);
	free(argp->dpdk_args);
	free(argp->dpdk_argv);
	free(argp);
	impl_argp = NULL;
	return DOCA_SUCCESS;
}

doca_error_t
doca_argp_register_version_callback(doca_argp_param_cb_t callback)
{
	if (callback == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_argp == NULL)
		return DOCA_ERROR_BAD_STATE;
	impl_argp->version = callback;
	return DOCA_SUCCESS;
}

doca_error_t
doca_argp_register_validation_callback(doca_argp_validation_cb_t callback)
{
	if (callback == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_argp == NULL)
		return DOCA_ERROR_BAD_STATE;
	impl_argp->validation = callback;
	return DOCA_SUCCESS;
}

doca_error_t
doca_argp_register_logger_callback(doca_argp_logger_cb_t callback)
{
	if (callback == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_argp == NULL)
		return DOCA_ERROR_BAD_STATE;
	if (impl_argp->logger != NULL)
		return DOCA_ERROR_ALREADY_EXIST;
	impl_argp->logger = callback;
	return DOCA_SUCCESS;
}

doca_error_t
doca_argp_disable_logger_callback(void)
{
	if (impl_argp == NULL)
		return DOCA_ERROR_BAD_STATE;
	impl_argp->logger = NULL;
	impl_argp->silent = true;
	return DOCA_SUCCESS;
}

doca_error_t
doca_argp_register_dev_open_callback(doca_argp_dev_open_cb_t callback, void *usr_ctx)
{
	if (callback == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_argp == NULL)
		return DOCA_ERROR_BAD_STATE;
	impl_argp->dev_open = callback;
	impl_argp->dev_open_ctx = usr_ctx;
	return DOCA_SUCCESS;
}

void
doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback)
{
	if (impl_argp == NULL || callback == NULL)
		ARGP_ERR("DPDK callback set %s",
			callback == NULL ? "to NULL" : "before doca_argp_init()");
	else
		impl_argp->dpdk = callback;
}

doca_error_t
doca_argp_get_log_level(int *log_level)
{
	if (log_level == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*log_level = impl_argp != NULL && impl_argp->log_level != 0 ? impl_argp->log_level :
		(int)doca_log_level_get_global_lower_limit();
	return DOCA_SUCCESS;
}

doca_error_t
doca_argp_get_sdk_log_level(int *log_level)
{
	if (log_level == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*log_level = impl_argp != NULL && impl_argp->sdk_log_level != 0 ?
		impl_argp->sdk_log_level : (int)doca_log_level_get_global_sdk_limit();
	return DOCA_SUCCESS;
}

/* A singular flag that was given, if any. */
static const struct doca_argp_param *
find_singular(void)
{
	const struct impl_argp_value *value;

	STAILQ_FOREACH(value, &impl_argp->values, next)
		if (value->param->singular)
			return value->param;
	return NULL;
}

static doca_error_t
check_singular(const struct doca_argp_param *singular)
{
	const struct impl_argp_value *value;

	STAILQ_FOREACH(value, &impl_argp->values, next) {
		if (value->param != singular) {
			ARGP_ERR("flag '%s' must be the only one", impl_argp_flag(singular));
			return DOCA_ERROR_INVALID_VALUE;
		}
	}
	return DOCA_SUCCESS;
}

static doca_error_t
check_mandatory(void)
{
	const struct doca_argp_param *param;
	const struct doca_argp_cmd *cmd;

	for (cmd = impl_argp->cmd; cmd != NULL; cmd = cmd->outer) {
		TAILQ_FOREACH(param, &cmd->params, next) {
			if (param->mandatory && param->nb_given == 0) {
				ARGP_ERR("flag '%s' is missing; see --help",
					impl_argp_flag(param));
				return DOCA_ERROR_INVALID_VALUE;
			}
		}
	}
	return DOCA_SUCCESS;
}

/* Call them from the outer to the inner command. */
static doca_error_t
call_cmds(const struct doca_argp_cmd *cmd)
{
	doca_error_t result;

	if (cmd->outer == NULL)
		return DOCA_SUCCESS;
	result = call_cmds(cmd->outer);
	if (result != DOCA_SUCCESS || cmd->callback == NULL)
		return result;
	result = cmd->callback(impl_argp->config);
	if (result != DOCA_SUCCESS)
		ARGP_ERR("command '%s': %s", cmd->name, doca_error_get_descr(result));
	return result;
}

static doca_error_t
call_validation(void)
{
	doca_error_t result;

	if (impl_argp->validation == NULL)
		return DOCA_SUCCESS;
	result = impl_argp->validation(impl_argp->config);
	if (result != DOCA_SUCCESS)
		ARGP_ERR("invalid combination of flags: %s", doca_error_get_descr(result));
	return result;
}

doca_error_t
impl_argp_add_dpdk(const char *arg)
{
	return argz_add(&impl_argp->dpdk_args, &impl_argp->dpdk_args_len, arg) == 0 ?
		DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

static doca_error_t
call_dpdk(void)
{
	struct impl_argp *a = impl_argp;
	doca_error_t result;
	int i, argc;

	if (a->dpdk == NULL)
		return DOCA_SUCCESS;
	for (i = 0; i < a->nb_rest; i++)
		if (impl_argp_add_dpdk(a->rest[i]) != DOCA_SUCCESS)
			return DOCA_ERROR_NO_MEMORY;
	argc = argz_count(a->dpdk_args, a->dpdk_args_len);
	/* EAL reorders the pointers; the texts are one allocation. */
	a->dpdk_argv = calloc(argc + 1, sizeof(*a->dpdk_argv));
	if (a->dpdk_argv == NULL)
		return DOCA_ERROR_NO_MEMORY;
	argz_extract(a->dpdk_args, a->dpdk_args_len, a->dpdk_argv);
	result = a->dpdk(argc, a->dpdk_argv);
	if (result != DOCA_SUCCESS)
		ARGP_ERR("DPDK failed to start: %s", doca_error_get_descr(result));
	return result;
}

/* Check all input before any callback. */
static doca_error_t
check_input(int argc, char **argv)
{
	const struct doca_argp_param *singular;
	doca_error_t result;

	result = impl_argp_parse(argc, argv);
	if (result == DOCA_SUCCESS && impl_argp->json_path != NULL)
		result = impl_argp_load_json(impl_argp->json_path);
	if (result != DOCA_SUCCESS)
		return result;
	singular = find_singular();
	return singular != NULL ? check_singular(singular) : check_mandatory();
}

doca_error_t
doca_argp_start(int argc, char **argv)
{
	doca_error_t result;

	if (argc < 1 || argv == NULL || argv[0] == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_argp == NULL || impl_argp->started)
		return DOCA_ERROR_BAD_STATE;
	impl_argp->started = true;
	if (impl_argp->name == NULL && !impl_argp_set_text(&impl_argp->name, argv[0]))
		return DOCA_ERROR_NO_MEMORY;
	result = impl_argp_add_dpdk(impl_argp->name);
	if (result == DOCA_SUCCESS)
		result = check_input(argc, argv);
	if (result == DOCA_SUCCESS)
		result = impl_argp_call_values();
	if (result == DOCA_SUCCESS)
		result = call_cmds(impl_argp->cmd);
	if (result == DOCA_SUCCESS)
		result = call_validation();
	if (result == DOCA_SUCCESS)
		result = call_dpdk();
	return result;
}
