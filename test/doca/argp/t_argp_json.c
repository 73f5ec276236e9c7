/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* doca_argp: JSON files. */

#include <stdlib.h>

#include "argp/program.h"
#include "common/file.h"
#include "common/result.h"
#include "t_main.h"

static const char *
file_of(const char *text)
{
	return file_write("flags.json", text);
}

static void
begin(void)
{
	struct doca_argp_param *param;

	argp_begin();
	argp_register("s", "string", DOCA_ARGP_TYPE_STRING, argp_take_string, NULL);
	argp_register("i", "int", DOCA_ARGP_TYPE_INT, argp_take_int,
		doca_argp_param_set_multiplicity);
	argp_register("b", "bool", DOCA_ARGP_TYPE_BOOLEAN, argp_take_bool, NULL);
	argp_register("d", "double", DOCA_ARGP_TYPE_DOUBLE, argp_take_double, NULL);
	argp_register("c", "cli", DOCA_ARGP_TYPE_INT, argp_take_int, doca_argp_param_set_cli_only);
	param = argp_param("x", NULL, DOCA_ARGP_TYPE_INT, argp_take_int);
	T_OK(doca_argp_register_param(param));
}

static void
check(const char *text, const char *calls)
{
	begin();
	T_OK(argp_start("--json", file_of(text)));
	T_STR_EQ(argp_conf.calls, calls);
	T_OK(doca_argp_destroy());
}

/* behaviour: G8 */
T_CASE(sections)
{
	check("{ \"doca_dpdk_flags\": {},\n"
		"  \"doca_general_flags\": { \"log-level\": 60, \"sdk-log-level\": \"20\" },\n"
		"  \"doca_program_flags\": { \"string\": \"a text\", \"int\": [1, \"0x10\"],\n"
		"    \"bool\": true, \"double\": 2.5 } }\n",
		"string(a text) int(1) int(16) bool(1) double(2.5) ");
	T_EQ(doca_log_level_get_global_lower_limit(), 60);
	T_EQ(doca_log_level_get_global_sdk_limit(), 20);
	check("{}", "");
}

T_CASE(flat_file)
{
	check("{ \"log-level\": 30, \"string\": \"\", \"bool\": false, \"double\": 3 }",
		"string() double(3) ");
	T_EQ(doca_log_level_get_global_lower_limit(), 30);
}

T_CASE(comments)
{
	check("// the first line\n"
		"{ /* an object\n of two lines */ \"doca_program_flags\": {\n"
		"  // -s - a \"string\"\n"
		"  \"string\": \"// no /* comment */ \\\\\\\" //\" // the last\n"
		"} }", "string(// no /* comment */ \\\" //) ");
}

T_CASE(command_line_wins)
{
	begin();
	T_OK(argp_start("-i7", "-j", file_of("{ \"int\": [1, 2], \"log-level\": 30,"
		" \"string\": \"x\" }"), "-l40", "-c3"));
	T_STR_EQ(argp_conf.calls, "int(7) int(3) string(x) ");
	T_EQ(doca_log_level_get_global_lower_limit(), 40);
	T_OK(doca_argp_destroy());
}

T_CASE(mistakes)
{
	static const struct {
		const char *json;
		doca_error_t error;
		const char *text;
	} mistakes[] = {
		{ "", DOCA_ERROR_IO_FAILED, "flags.json: " },
		{ "{\n\n \"int\" }", DOCA_ERROR_IO_FAILED, "flags.json:3: " },
		{ "{ /* \"int\": 1 }", DOCA_ERROR_IO_FAILED, "flags.json:1: " },
		{ "{ \"int\": 1, \"int\": 1 }", DOCA_ERROR_IO_FAILED, "flags.json:1: " },
		{ "[]", DOCA_ERROR_IO_FAILED, "flags.json: not a JSON object" },
		{ "{ \"nope\": 1 }", DOCA_ERROR_NOT_SUPPORTED, "key 'nope'" },
		{ "{ \"cli\": 1 }", DOCA_ERROR_NOT_SUPPORTED, "key 'cli'" },
		{ "{ \"help\": true }", DOCA_ERROR_NOT_SUPPORTED, "key 'help'" },
		{ "{ \"x\": 1 }", DOCA_ERROR_NOT_SUPPORTED, "key 'x'" },
		{ "{ \"doca_program_flags\": { \"log-level\": 20 } }", DOCA_ERROR_NOT_SUPPORTED,
			"key 'log-level'" },
		{ "{ \"doca_general_flags\": { \"int\": 1 } }", DOCA_ERROR_NOT_SUPPORTED,
			"key 'int'" },
		{ "{ \"doca_program_flags\": 1 }", DOCA_ERROR_INVALID_VALUE,
			"'doca_program_flags' is not an object" },
		{ "{ \"int\": 1.5 }", DOCA_ERROR_INVALID_VALUE, "key 'int': 1.5 has the wrong" },
		{ "{ \"int\": 2147483648 }", DOCA_ERROR_INVALID_VALUE, "'--int': '2147483648'" },
		{ "{ \"int\": [1, []] }", DOCA_ERROR_INVALID_VALUE, "key 'int': [] has the wrong" },
		{ "{ \"int\": true }", DOCA_ERROR_INVALID_VALUE, "key 'int': true has the wrong" },
		{ "{ \"bool\": 1 }", DOCA_ERROR_INVALID_VALUE, "key 'bool': 1 has the wrong" },
		{ "{ \"string\": 1 }", DOCA_ERROR_INVALID_VALUE, "key 'string': 1 has the wrong" },
		{ "{ \"string\": null }", DOCA_ERROR_INVALID_VALUE, "key 'string': null has the" },
		{ "{ \"string\": [\"a\", \"b\"] }", DOCA_ERROR_INVALID_VALUE,
			"'--string' was given twice" },
		{ "{ \"log-level\": 5 }", DOCA_ERROR_INVALID_VALUE, "invalid level 5" },
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(mistakes); i++) {
		begin();
		T_EQ(argp_start("--json", file_of(mistakes[i].json)), mistakes[i].error);
		T_STR_HAS(argp_log, mistakes[i].text);
		T_STR_EQ(argp_conf.calls, "");
		T_OK(doca_argp_destroy());
	}
}

T_CASE(no_file)
{
	begin();
	T_IS(argp_start("--json", "/nowhere/flags.json"), DOCA_ERROR_IO_FAILED);
	T_STR_HAS(argp_log, "/nowhere/flags.json: No such file");
	T_OK(doca_argp_destroy());
	begin();
	T_IS(argp_start("--json", t_dir()), DOCA_ERROR_IO_FAILED);
	T_STR_HAS(argp_log, "directory");
	T_OK(doca_argp_destroy());
}

T_CASE(dpdk)
{
	static const char text[] = "{ \"doca_dpdk_flags\": { \"a\": [\"03:00.0\", \"03:00.1\"],\n"
		" \"in-memory\": true, \"no-huge\": false, \"m\": 64, \"--log\": \"x\" } }";

	begin();
	doca_argp_set_dpdk_program(argp_take_dpdk);
	T_OK(argp_start("-m65", "--", "-j", file_of(text)));
	T_STR_EQ(argp_conf.calls,
		"dpdk(prog,-a,03:00.0,-a,03:00.1,--in-memory,-m,64,--log,x,-m65) ");
	T_OK(doca_argp_destroy());
	begin();
	T_OK(argp_start("-j", file_of("{ \"doca_dpdk_flags\": { \"c\": 1 } }")));
	T_STR_HAS(argp_log, "ignoring 'c': the program does not use DPDK");
	T_OK(doca_argp_destroy());
}

static void
all(void)
{
	sections();
	comments();
	command_line_wins();
	mistakes();
	no_file();
	dpdk();
}

/* Under ASan the child fails if it leaks. */
T_CASE(leaks)
{
	static struct child_run run;

	child_run(&run, all);
	T_EQ(run.status, 0);
}
