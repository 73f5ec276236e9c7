/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Command lines of DOCA programs and their JSON files. The input is a byte that chooses the
 * program, words, one a line, up to a NUL, and the file.
 */

#include <stdlib.h>

#include "argp/argp.h"
#include "argp/program.h"
#include "common/result.h"
#include "text.h"

/* --help would end the program. */
static doca_error_t
help(void *value, void *config)
{
	RTE_SET_USED(value);
	RTE_SET_USED(config);
	doca_argp_usage();
	return DOCA_ERROR_OPERATING_SYSTEM;
}

static doca_error_t
version(void *value, void *config)
{
	RTE_SET_USED(value);
	RTE_SET_USED(config);
	return DOCA_ERROR_OPERATING_SYSTEM;
}

/* A device needs a running EAL. */
static doca_error_t
open_dev(struct doca_devinfo *info, void *ctx, struct doca_dev **dev)
{
	RTE_SET_USED(info);
	RTE_SET_USED(ctx);
	RTE_SET_USED(dev);
	return DOCA_ERROR_IO_FAILED;
}

/* As programs of older releases can. */
static void
take_object(struct doca_argp_param *param)
{
	param->type = IMPL_ARGP_TYPE_JSON_OBJ;
}

static void
begin(uint8_t how)
{
	if (how & 1)
		argp_begin_singular();
	else if (how & 2)
		argp_begin_commands();
	else
		argp_begin_usage();
	argp_register("s", "string", DOCA_ARGP_TYPE_STRING, argp_take_string,
		doca_argp_param_set_multiplicity);
	argp_register("d", "double", DOCA_ARGP_TYPE_DOUBLE, argp_take_double, NULL);
	argp_register("n", "number", DOCA_ARGP_TYPE_INT, argp_take_int, NULL);
	argp_register("o", "object", DOCA_ARGP_TYPE_STRING, argp_take_string, take_object);
	argp_register(NULL, "device", DOCA_ARGP_TYPE_DEVICE, argp_take_nothing, NULL);
	argp_register("rep", "representor", DOCA_ARGP_TYPE_DEVICE_REP, argp_take_nothing, NULL);
	argp_register(NULL, "fail", DOCA_ARGP_TYPE_STRING, argp_fail, NULL);
	T_OK(doca_argp_register_version_callback(version));
	T_OK(doca_argp_register_validation_callback(argp_validate));
	T_OK(doca_argp_register_dev_open_callback(open_dev, NULL));
	impl_argp->builtins[IMPL_ARGP_HELP].callback = help;
	if (how & 4)
		doca_argp_set_dpdk_program(argp_take_dpdk);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };
	const uint8_t how = fuzz_u8(&in);
	struct text_words words;
	char *json;

	if (text_words(&in, &words, "prog")) {
		json = text_rest(&in);
		if (json[0] != '\0') {
			text_add(&words, "--json");
			text_add(&words, text_file(json));
		}
		begin(how);
		text_quiet_begin();
		(void)doca_argp_start(words.argc, words.argv);
		text_quiet_end();
		T_OK(doca_argp_destroy());
		free(json);
	}
	text_words_free(&words);
	return 0;
}
