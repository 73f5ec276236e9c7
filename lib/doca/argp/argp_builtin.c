/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Flags of every program: help, version, log levels, JSON file. */

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "argp/argp.h"

static doca_error_t
give_help(void *value, void *config)
{
	RTE_SET_USED(value);
	RTE_SET_USED(config);
	doca_argp_usage();
	impl_argp_end_program(EXIT_SUCCESS);
}

static doca_error_t
give_version(void *value, void *config)
{
	if (impl_argp->version != NULL)
		return impl_argp->version(value, config);
	fprintf(stdout, "%s\n", doca_version_runtime());
	fflush(stdout);
	impl_argp_end_program(EXIT_SUCCESS);
}

static doca_error_t
give_level(enum impl_argp_builtin flag, int level, doca_error_t (*set)(uint32_t level),
		int *given)
{
	doca_error_t result = set((uint32_t)level);

	if (result != DOCA_SUCCESS)
		ARGP_ERR("flag '%s': invalid level %d: expected 10, 20, ... 70",
			impl_argp_flag(&impl_argp->builtins[flag]), level);
	else
		*given = level;
	return result;
}

static doca_error_t
give_log_level(void *value, void *config)
{
	RTE_SET_USED(config);
	return give_level(IMPL_ARGP_LOG_LEVEL, *(const int *)value,
		doca_log_level_set_global_lower_limit, &impl_argp->log_level);
}

static doca_error_t
give_sdk_log_level(void *value, void *config)
{
	RTE_SET_USED(config);
	return give_level(IMPL_ARGP_SDK_LOG_LEVEL, *(const int *)value,
		doca_log_level_set_global_sdk_limit, &impl_argp->sdk_log_level);
}

static doca_error_t
give_json(void *value, void *config)
{
	RTE_SET_USED(config);
	/* Read later: values on the command line override the file. */
	return impl_argp_set_text(&impl_argp->json_path, value) ?
		DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

/* Fields of flags are not const; these are never modified or freed. */
static char names[][16] = {
	"h", "help", "v", "version", "l", "log-level", "sdk-log-level", "j", "json",
};
static char help_text[] = "Print a help synopsis";
static char version_text[] = "Print program version information";
static char log_level_text[] =
	"Set the log level for the program <DISABLE=10, CRITICAL=20,\n"
	"ERROR=30, WARNING=40, INFO=50, DEBUG=60, TRACE=70>";
static char sdk_log_level_text[] =
	"Set the log level for the library <DISABLE=10, CRITICAL=20,\n"
	"ERROR=30, WARNING=40, INFO=50, DEBUG=60, TRACE=70>";
static char json_text[] = "Read more flags from a JSON file";
static char json_arguments[] = "<path>";

static const struct doca_argp_param builtins[IMPL_ARGP_NB_BUILTINS] = {
	[IMPL_ARGP_HELP] = {
		.short_name = names[0], .long_name = names[1], .description = help_text,
		.callback = give_help, .type = DOCA_ARGP_TYPE_BOOLEAN, .cli_only = true,
	},
	[IMPL_ARGP_VERSION] = {
		.short_name = names[2], .long_name = names[3], .description = version_text,
		.callback = give_version, .type = DOCA_ARGP_TYPE_BOOLEAN, .cli_only = true,
	},
	[IMPL_ARGP_LOG_LEVEL] = {
		.short_name = names[4], .long_name = names[5], .description = log_level_text,
		.callback = give_log_level, .type = DOCA_ARGP_TYPE_INT,
	},
	[IMPL_ARGP_SDK_LOG_LEVEL] = {
		.long_name = names[6], .description = sdk_log_level_text,
		.callback = give_sdk_log_level, .type = DOCA_ARGP_TYPE_INT,
	},
	[IMPL_ARGP_JSON] = {
		.short_name = names[7], .long_name = names[8], .arguments = json_arguments,
		.description = json_text,
		.callback = give_json, .type = DOCA_ARGP_TYPE_STRING, .cli_only = true,
	},
};

void
impl_argp_init_builtins(struct impl_argp *argp)
{
	unsigned int i;

	for (i = 0; i < IMPL_ARGP_NB_BUILTINS; i++) {
		argp->builtins[i] = builtins[i];
		argp->builtins[i].builtin = true;
	}
}
