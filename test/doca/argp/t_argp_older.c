/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* doca_argp as programs of older generations see it: built with their headers. */

#include <stdlib.h>

#include "argp/program.h"
#include "common/file.h"
#include "common/result.h"
#include "t_main.h"

/* Same values in all of them; 4 has another meaning since 3.0. */
T_CASE(json_objects)
{
	static const struct {
		const char *text;
		doca_error_t error;
	} texts[] = {
		{ "{ \"a\": [1] }", DOCA_SUCCESS },
		{ "[]", DOCA_ERROR_INVALID_VALUE },
		{ "{", DOCA_ERROR_INVALID_VALUE },
	};
	unsigned int i;

	T_EQ(DOCA_ARGP_TYPE_JSON_OBJ, 4);
	for (i = 0; i < RTE_DIM(texts); i++) {
		argp_begin();
		argp_register("o", "object", DOCA_ARGP_TYPE_JSON_OBJ, argp_take_string, NULL);
		T_EQ(argp_start("-o", texts[i].text), texts[i].error);
		T_STR_EQ(argp_conf.calls, i == 0 ? "string({ \"a\": [1] }) " : "");
		T_OK(doca_argp_destroy());
	}
}

T_CASE(json_object_in_file)
{
	argp_begin();
	argp_register("o", "object", DOCA_ARGP_TYPE_JSON_OBJ, argp_take_string, NULL);
	T_OK(argp_start("-j", file_write("flags.json", "{ \"object\": { \"a\": [1, 2] } }")));
	T_STR_EQ(argp_conf.calls, "string({\"a\":[1,2]}) ");
	T_OK(doca_argp_destroy());
}

T_CASE(no_newer_types)
{
	struct doca_argp_param *param;

	argp_begin();
	param = argp_param("x", NULL, 6, argp_take_double);
	T_IS(doca_argp_register_param(param), DOCA_ERROR_INITIALIZATION);
	argp_register("i", NULL, DOCA_ARGP_TYPE_INT, argp_take_int, NULL);
	T_OK(argp_start("-i3"));
	T_STR_EQ(argp_conf.calls, "int(3) ");
	T_OK(doca_argp_destroy());
}

static void
ask_usage(void)
{
	argp_begin_usage();
	doca_argp_usage();
	T_OK(doca_argp_destroy());
	puts("went on");
}

T_CASE(usage)
{
	static struct child_run run;

	child_run(&run, ask_usage);
	T_STR_HAS(run.out, "Usage: prog");
	if (COMCH_DOCA_GENERATION < 209) {
		T_EQ(run.status, EXIT_FAILURE);
		T_CHECK(strstr(run.out, "went on") == NULL);
	} else {
		T_EQ(run.status, 0);
		T_STR_HAS(run.out, "went on");
	}
}
