/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* doca_argp: the command line, and what its callbacks get. Files: t_argp_json.c. */

#include <stdlib.h>

#include "argp/program.h"
#include "common/result.h"
#include "t_main.h"

/* A program is started with these words. */
struct row {
	const char *words[6];
	doca_error_t error;
	const char *calls; /* all of them, if not NULL */
	const char *text;  /* within the last message, if not NULL */
};

static void
check_rows(void (*begin)(void), const struct row *rows, unsigned int nb)
{
	const struct row *r;
	doca_error_t ret;

	for (r = rows; r < rows + nb; r++) {
		begin();
		ret = argp_start_words(r->words);
		if (ret != r->error || (r->calls != NULL && strcmp(argp_conf.calls,
				r->calls) != 0) || (r->text != NULL && strstr(argp_log,
				r->text) == NULL))
			T_FAIL("row %u: %s, calls %s, log %s", (unsigned int)(r - rows),
				doca_error_get_name(ret), argp_conf.calls, argp_log);
		T_OK(doca_argp_destroy());
	}
}

/* behaviour: G6 */
T_CASE(order_of_calls)
{
	struct doca_argp_param *p = NULL;
	struct doca_argp_cmd *c = NULL;
	char name[] = "prog", *argv[] = { name, NULL };

	T_IS(doca_argp_start(1, argv), DOCA_ERROR_BAD_STATE);
	T_IS(doca_argp_destroy(), DOCA_ERROR_BAD_STATE);
	T_IS(doca_argp_param_create(&p), DOCA_ERROR_BAD_STATE);
	T_IS(doca_argp_cmd_create(&c), DOCA_ERROR_BAD_STATE);
	T_IS(doca_argp_register_version_callback(argp_take_bool), DOCA_ERROR_BAD_STATE);
	T_IS(doca_argp_register_validation_callback(argp_validate), DOCA_ERROR_BAD_STATE);
	T_IS(doca_argp_register_logger_callback(argp_take_log), DOCA_ERROR_BAD_STATE);
	T_IS(doca_argp_disable_logger_callback(), DOCA_ERROR_BAD_STATE);
	T_INVALID(doca_argp_init("", NULL));
	T_OK(doca_argp_init("prog", NULL));
	T_IS(doca_argp_init("prog", NULL), DOCA_ERROR_BAD_STATE);
	T_INVALID(doca_argp_param_create(NULL));
	T_INVALID(doca_argp_cmd_create(NULL));
	T_INVALID(doca_argp_register_version_callback(NULL));
	T_INVALID(doca_argp_register_validation_callback(NULL));
	T_INVALID(doca_argp_register_logger_callback(NULL));
	T_OK(doca_argp_register_logger_callback(argp_take_log));
	T_IS(doca_argp_register_logger_callback(argp_take_log), DOCA_ERROR_ALREADY_EXIST);
	T_INVALID(doca_argp_start(0, argv));
	T_INVALID(doca_argp_start(1, NULL));
	T_OK(doca_argp_start(1, argv));
	T_IS(doca_argp_start(1, argv), DOCA_ERROR_BAD_STATE);
	p = argp_param("x", NULL, DOCA_ARGP_TYPE_STRING, argp_take_string);
	T_IS(doca_argp_register_param(p), DOCA_ERROR_BAD_STATE);
	T_IS(doca_argp_param_destroy(p), DOCA_ERROR_BAD_STATE);
	T_OK(doca_argp_cmd_create(&c));
	T_IS(doca_argp_register_cmd(c), DOCA_ERROR_BAD_STATE);
	T_OK(doca_argp_destroy());
	T_IS(doca_argp_destroy(), DOCA_ERROR_BAD_STATE);
	T_IS(doca_argp_register_param(p), DOCA_ERROR_BAD_STATE);
	T_IS(doca_argp_register_cmd(c), DOCA_ERROR_BAD_STATE);
	T_IS(doca_argp_cmd_register_param(c, p), DOCA_ERROR_BAD_STATE);
	T_IS(doca_argp_cmd_register_cmd(c, c), DOCA_ERROR_BAD_STATE);
}

T_CASE(registration)
{
	/* The one that takes nothing has no description. */
	static const struct {
		const char *short_name, *long_name;
		unsigned int type;
		doca_argp_param_cb_t callback;
		doca_error_t error;
		const char *text;
	} refused[] = {
#define ROW(short_name, long_name, error, text) \
		{ short_name, long_name, DOCA_ARGP_TYPE_INT, argp_take_int, error, text }
		ROW(NULL, NULL, DOCA_ERROR_INITIALIZATION, "neither a short nor a long name"),
		{ "c", NULL, DOCA_ARGP_TYPE_UNKNOWN, argp_take_int, DOCA_ERROR_INITIALIZATION,
			"'-c' has no type" },
		{ "c", NULL, 7, argp_take_int, DOCA_ERROR_INITIALIZATION, "'-c' has no type" },
		{ NULL, "cc", DOCA_ARGP_TYPE_INT, NULL, DOCA_ERROR_INITIALIZATION,
			"'--cc' has no callback" },
		{ "c", NULL, DOCA_ARGP_TYPE_INT, argp_take_nothing, DOCA_ERROR_INITIALIZATION,
			"'-c' has no description" },
		ROW("a", "ab", DOCA_ERROR_INVALID_VALUE, "'--ab': name is in use"),
		ROW(NULL, "aa", DOCA_ERROR_INVALID_VALUE, "'--aa': name is in use"),
		ROW("l", NULL, DOCA_ERROR_INVALID_VALUE, "'-l': name is in use"),
		ROW(NULL, "json", DOCA_ERROR_INVALID_VALUE, "'--json': name is in use"),
		ROW(":", NULL, DOCA_ERROR_INVALID_VALUE, "'-:'"),
		ROW(NULL, "a=b", DOCA_ERROR_INVALID_VALUE, "'--a=b'"),
		ROW("", NULL, DOCA_ERROR_INVALID_VALUE, "'-'"),
#undef ROW
	};
	unsigned int i;
	struct doca_argp_param *p, *q;

	argp_begin();
	T_INVALID(doca_argp_register_param(NULL));
	T_INVALID(doca_argp_param_destroy(NULL));
	p = argp_param("a", "aa", DOCA_ARGP_TYPE_STRING, argp_take_string);
	T_OK(doca_argp_register_param(p));
	T_IS(doca_argp_register_param(p), DOCA_ERROR_BAD_STATE);
	T_IS(doca_argp_param_destroy(p), DOCA_ERROR_BAD_STATE);
	doca_argp_param_set_mandatory(p);
	T_STR_HAS(argp_log, "a flag that is registered");
	q = argp_param("b", NULL, DOCA_ARGP_TYPE_STRING, argp_take_string);
	T_OK(doca_argp_param_destroy(q));

	for (i = 0; i < RTE_DIM(refused); i++) {
		q = argp_param(refused[i].short_name, refused[i].long_name, refused[i].type,
			refused[i].callback);
		if (refused[i].callback == argp_take_nothing)
			doca_argp_param_set_description(q, NULL);
		T_IS(doca_argp_register_param(q), refused[i].error);
		T_STR_HAS(argp_log, refused[i].text);
		T_IS(doca_argp_param_destroy(q), DOCA_ERROR_BAD_STATE);
	}
	T_OK(doca_argp_destroy());
}

static void
setters_of_null(void)
{
	doca_argp_param_set_short_name(NULL, "a");
	doca_argp_param_set_long_name(NULL, "a");
	doca_argp_param_set_arguments(NULL, "a");
	doca_argp_param_set_description(NULL, "a");
	doca_argp_param_set_callback(NULL, argp_take_int);
	doca_argp_param_set_type(NULL, DOCA_ARGP_TYPE_INT);
	doca_argp_param_set_mandatory(NULL);
	doca_argp_param_set_cli_only(NULL);
	doca_argp_param_set_multiplicity(NULL);
	doca_argp_param_set_singular(NULL);
	doca_argp_param_set_inherited(NULL);
	doca_argp_param_set_hidden(NULL);
	doca_argp_cmd_set_name(NULL, "a");
	doca_argp_cmd_set_description(NULL, "a");
	doca_argp_cmd_set_callback(NULL, argp_take_cmd);
	doca_argp_cmd_set_hidden(NULL);
	doca_argp_set_dpdk_program(NULL);
	doca_argp_usage();
}

T_CASE(null_is_no_crash)
{
	static struct child_run run;
	unsigned int lines = 0;
	const char *c;

	/* Before doca_argp_init() there is stderr only. */
	child_run(&run, setters_of_null);
	T_EQ(run.status, 0);
	for (c = run.err; *c != '\0'; c++)
		lines += *c == '\n';
	T_EQ(lines, 18);
	T_STR_EQ(run.out, "");
}

/* behaviour: G7 */
T_CASE(types_of_values)
{
	argp_begin();
	argp_register("s", "string", DOCA_ARGP_TYPE_STRING, argp_take_string, NULL);
	argp_register("i", "int", DOCA_ARGP_TYPE_INT, argp_take_int, NULL);
	argp_register("b", "bool", DOCA_ARGP_TYPE_BOOLEAN, argp_take_bool, NULL);
	argp_register("d", "double", DOCA_ARGP_TYPE_DOUBLE, argp_take_double, NULL);
	T_OK(argp_start("-s", "a text", "--int=-17", "-b", "--double", "2.5e3"));
	T_STR_EQ(argp_conf.calls, "string(a text) int(-17) bool(1) double(2500) ");
	T_OK(doca_argp_destroy());
}

T_CASE(forms_of_flags)
{
	static const char *const forms[][3] = {
		{ "-n", "5" }, { "-n5" }, { "--number", "5" }, { "--number=5" }, { "--num=5" },
		{ "-n0x5" }, { "--number=0X5" }, { "-bn5" }, { "-ld", "5" }, { "--ld=5" },
		{ "-n", "005" },
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(forms); i++) {
		argp_begin();
		argp_register("b", NULL, DOCA_ARGP_TYPE_BOOLEAN, argp_take_nothing, NULL);
		argp_register("n", "number", DOCA_ARGP_TYPE_INT, argp_take_int, NULL);
		if (i == 8 || i == 9)
			argp_register("ld", "local", DOCA_ARGP_TYPE_INT, argp_take_int, NULL);
		T_OK(argp_start(forms[i][0], forms[i][1], forms[i][2]));
		T_STR_EQ(argp_conf.calls, "int(5) ");
		T_OK(doca_argp_destroy());
	}
}

static void
several_letters_begin(void)
{
	argp_begin();
	argp_register("s", "string", DOCA_ARGP_TYPE_STRING, argp_take_string, NULL);
	argp_register("ld", "local", DOCA_ARGP_TYPE_INT, argp_take_int, NULL);
}

/* Letters are not the beginning of a long name, such as --sdk-log-level. */
T_CASE(several_letters)
{
	static const struct row rows[] = {
		{ { "-sdk" }, DOCA_SUCCESS, "string(dk) ", NULL },
		{ { "-st" }, DOCA_SUCCESS, "string(t) ", NULL },
		{ { "-loc", "5" }, DOCA_ERROR_INVALID_VALUE, "", "oc" },
		{ { "-ld=5" }, DOCA_SUCCESS, "int(5) ", NULL },
		{ { "-ld", "5", "-sld" }, DOCA_SUCCESS, "int(5) string(ld) ", NULL },
		{ { "--loc", "5" }, DOCA_SUCCESS, "int(5) ", NULL },
	};

	check_rows(several_letters_begin, rows, RTE_DIM(rows));
}

T_CASE(range_of_int)
{
	static const char *const good[] = {
		"2147483647", "-2147483648", "0x7fffffff", "-0x80000000",
	};
	static const char *const bad[] = {
		"", "x", "1x", " 1", "+1", "--1", "1.5", "0x", "0xg", "2147483648", "-2147483649",
		"99999999999999999999", "0x80000000",
	};
	unsigned int i;
	char text[80];

	for (i = 0; i < RTE_DIM(good); i++) {
		argp_begin();
		argp_register(NULL, "int", DOCA_ARGP_TYPE_INT, argp_take_int, NULL);
		T_OK(argp_start("--int", good[i]));
		snprintf(text, sizeof(text), "int(%d) ", (int)strtol(good[i], NULL, 0));
		T_STR_EQ(argp_conf.calls, text);
		T_OK(doca_argp_destroy());
	}
	for (i = 0; i < RTE_DIM(bad); i++) {
		argp_begin();
		argp_register(NULL, "int", DOCA_ARGP_TYPE_INT, argp_take_int, NULL);
		T_INVALID(argp_start("--int", bad[i]));
		snprintf(text, sizeof(text), "flag '--int': '%s' is not a 32-bit integer", bad[i]);
		T_STR_HAS(argp_log, text);
		T_STR_EQ(argp_conf.calls, "");
		T_OK(doca_argp_destroy());
	}
}

T_CASE(range_of_double)
{
	static const char *const bad[] = { "", "x", "1x", "nan", "inf", "1e999" };
	unsigned int i;

	for (i = 0; i < RTE_DIM(bad); i++) {
		argp_begin();
		argp_register("d", NULL, DOCA_ARGP_TYPE_DOUBLE, argp_take_double, NULL);
		T_INVALID(argp_start("-d", bad[i]));
		T_STR_HAS(argp_log, "flag '-d': '");
		T_OK(doca_argp_destroy());
	}
}

static void
begin_mistakes(void)
{
	argp_begin();
	argp_register("m", "must", DOCA_ARGP_TYPE_STRING, argp_take_string,
		doca_argp_param_set_mandatory);
	argp_register("b", NULL, DOCA_ARGP_TYPE_BOOLEAN, argp_take_bool, NULL);
}

/* behaviour: G6 */
T_CASE(mistakes)
{
	static const struct row rows[] = {
		{ { "--nope" }, DOCA_ERROR_NOT_SUPPORTED, "", "unknown flag '--nope'; see --help" },
		{ { "-q" }, DOCA_ERROR_NOT_SUPPORTED, "", "unknown flag '-q'; see --help" },
		{ { "-bq" }, DOCA_ERROR_NOT_SUPPORTED, "", "unknown flag '-q'; see --help" },
		{ { "--b=1" }, DOCA_ERROR_NOT_SUPPORTED, "", "unknown flag '--b=1'; see --help" },
		{ { "word" }, DOCA_ERROR_INVALID_VALUE, "", "unexpected argument 'word'" },
		{ { "--", "word" }, DOCA_ERROR_INVALID_VALUE, "", "unexpected argument 'word'" },
		{ { "-m" }, DOCA_ERROR_INVALID_VALUE, "", "flag '--must' needs a value" },
		{ { "--must" }, DOCA_ERROR_INVALID_VALUE, "", "flag '--must' needs a value" },
		{ { "--help=1" }, DOCA_ERROR_INVALID_VALUE, "", "flag '--help' takes no value" },
		{ { "-b" }, DOCA_ERROR_INVALID_VALUE, "", "flag '--must' is missing; see --help" },
		{ { "-mx", "-my" }, DOCA_ERROR_INVALID_VALUE, "", "flag '--must' was given twice" },
		{ { "-mx", "-l", "55" }, DOCA_ERROR_INVALID_VALUE, "",
			"flag '--log-level': invalid level 55" },
		{ { "-mx", "--sdk-log-level", "0" }, DOCA_ERROR_INVALID_VALUE, "",
			"flag '--sdk-log-level': invalid level 0" },
	};

	check_rows(begin_mistakes, rows, RTE_DIM(rows));
}

/* behaviour: G6 */
T_CASE(errors_of_callbacks)
{
	argp_begin();
	argp_register("f", NULL, DOCA_ARGP_TYPE_STRING, argp_fail, NULL);
	argp_register("i", NULL, DOCA_ARGP_TYPE_INT, argp_take_int, NULL);
	T_OK(doca_argp_register_validation_callback(argp_validate));
	T_INVALID(argp_start("-i1", "-f", "it", "-i2"));
	T_OK(doca_argp_destroy());
	argp_begin();
	argp_register("f", NULL, DOCA_ARGP_TYPE_STRING, argp_fail, NULL);
	argp_register("i", NULL, DOCA_ARGP_TYPE_INT, argp_take_int, NULL);
	T_OK(doca_argp_register_validation_callback(argp_validate));
	T_IS(argp_start("-i1", "-f", "it"), DOCA_ERROR_AUTHENTICATION);
	T_STR_EQ(argp_conf.calls, "int(1) fail(it) ");
	T_STR_HAS(argp_log, "flag '-f', it: ");
	T_OK(doca_argp_destroy());
	argp_begin();
	T_OK(doca_argp_register_validation_callback(argp_validate));
	argp_conf.validation = DOCA_ERROR_TOO_BIG;
	T_IS(argp_start(NULL), DOCA_ERROR_TOO_BIG);
	T_STR_EQ(argp_conf.calls, "validate ");
	T_OK(doca_argp_destroy());
}

T_CASE(multiplicity_and_singular)
{
	static const struct row rows[] = {
		{ { "--only" }, DOCA_SUCCESS, "bool(1) ", NULL },
		{ { "--only", "-l", "60" }, DOCA_SUCCESS, NULL, NULL },
		{ { "--must=1", "--only" }, DOCA_ERROR_INVALID_VALUE, NULL,
			"flag '--only' must be the only one" },
	};

	argp_begin();
	argp_register("m", NULL, DOCA_ARGP_TYPE_INT, argp_take_int,
		doca_argp_param_set_multiplicity);
	T_OK(argp_start("-m1", "-m2", "-m3"));
	T_STR_EQ(argp_conf.calls, "int(1) int(2) int(3) ");
	T_OK(doca_argp_destroy());

	check_rows(argp_begin_singular, rows, RTE_DIM(rows));
}

/* behaviour: G7 */
T_CASE(log_levels)
{
	int level = 0;

	T_INVALID(doca_argp_get_log_level(NULL));
	T_INVALID(doca_argp_get_sdk_log_level(NULL));
	T_GETS(doca_argp_get_log_level(&level), level, DOCA_LOG_LEVEL_INFO);
	T_GETS(doca_argp_get_sdk_log_level(&level), level, DOCA_LOG_LEVEL_INFO);
	argp_begin();
	T_OK(argp_start("-l", "20", "--sdk-log-level", "70"));
	T_EQ(doca_log_level_get_global_lower_limit(), 20);
	T_EQ(doca_log_level_get_global_sdk_limit(), 70);
	T_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_ERROR));
	T_GETS(doca_argp_get_log_level(&level), level, 20);
	T_GETS(doca_argp_get_sdk_log_level(&level), level, 70);
	T_OK(doca_argp_destroy());
}

T_CASE(commands)
{
	static const struct row rows[] = {
		{ { "outer" }, DOCA_SUCCESS, "outer ", NULL },
		/* What is mandatory within a command is not missed without. */
		{ { NULL }, DOCA_SUCCESS, NULL, NULL },
		{ { "outer", "inner" }, DOCA_ERROR_INVALID_VALUE, NULL, "flag '-s' is missing" },
		{ { "none" }, DOCA_ERROR_NOT_SUPPORTED, NULL, "unknown command 'none'" },
		/* The flag is the outer's alone. */
		{ { "outer", "-p" }, DOCA_ERROR_NOT_SUPPORTED, NULL, NULL },
		{ { "-s", "x" }, DOCA_ERROR_NOT_SUPPORTED, NULL, NULL },
	};

	argp_begin_commands();
	T_OK(doca_argp_register_validation_callback(argp_validate));
	T_OK(argp_start("-i1", "outer", "--int=2", "inner", "-s", "x"));
	T_STR_EQ(argp_conf.calls, "int(1) int(2) string(x) outer inner validate ");
	T_OK(doca_argp_destroy());
	check_rows(argp_begin_commands, rows, RTE_DIM(rows));
	argp_begin_commands();
	argp_conf.cmd = DOCA_ERROR_FULL;
	T_IS(argp_start("outer", "inner", "-sx"), DOCA_ERROR_FULL);
	T_STR_EQ(argp_conf.calls, "string(x) outer ");
	T_STR_HAS(argp_log, "command 'outer'");
	T_OK(doca_argp_destroy());
}

T_CASE(registration_of_commands)
{
	struct doca_argp_cmd *a, *b, *bad;

	argp_begin();
	T_INVALID(doca_argp_register_cmd(NULL));
	T_INVALID(doca_argp_cmd_register_cmd(NULL, NULL));
	T_INVALID(doca_argp_cmd_register_param(NULL, NULL));
	T_INVALID(doca_argp_cmd_destroy(NULL));
	a = argp_cmd("a");
	b = argp_cmd("b");
	T_INVALID(doca_argp_cmd_register_cmd(a, NULL));
	T_INVALID(doca_argp_cmd_register_param(a, NULL));
	T_OK(doca_argp_cmd_register_param(a,
		argp_param("a", NULL, DOCA_ARGP_TYPE_INT, argp_take_int)));
	T_OK(doca_argp_cmd_register_cmd(a, b));
	T_IS(doca_argp_cmd_register_cmd(a, b), DOCA_ERROR_BAD_STATE);
	T_IS(doca_argp_cmd_destroy(b), DOCA_ERROR_BAD_STATE);
	T_IS(doca_argp_register_cmd(b), DOCA_ERROR_BAD_STATE);
	bad = argp_cmd("x");
	T_OK(doca_argp_cmd_register_cmd(bad, argp_cmd("y")));
	T_OK(doca_argp_cmd_destroy(bad));
	T_IS(doca_argp_register_cmd(argp_cmd(NULL)), DOCA_ERROR_INITIALIZATION);
	bad = argp_cmd("d");
	doca_argp_cmd_set_description(bad, NULL);
	T_IS(doca_argp_register_cmd(bad), DOCA_ERROR_INITIALIZATION);
	T_STR_HAS(argp_log, "command 'd' has no description");
	T_INVALID(doca_argp_register_cmd(argp_cmd("-d")));
	T_OK(doca_argp_register_cmd(a));
	bad = argp_cmd("a");
	T_INVALID(doca_argp_register_cmd(bad));
	T_STR_HAS(argp_log, "command 'a' exists already");
	T_IS(doca_argp_cmd_destroy(bad), DOCA_ERROR_BAD_STATE);
	bad = argp_cmd("c");
	b = argp_cmd("d");
	T_OK(doca_argp_cmd_register_cmd(bad, b));
	T_INVALID(doca_argp_cmd_register_cmd(b, bad));
	T_STR_HAS(argp_log, "command 'c' would contain itself");
	T_OK(doca_argp_destroy());
}

T_CASE(dpdk_program)
{
	argp_begin();
	argp_register("i", NULL, DOCA_ARGP_TYPE_INT, argp_take_int, NULL);
	doca_argp_set_dpdk_program(argp_take_dpdk);
	T_OK(argp_start("-a", "0000:03:00.0", "-i2", "--", "-i1"));
	T_STR_EQ(argp_conf.calls, "int(1) dpdk(prog,-a,0000:03:00.0,-i2) ");
	T_OK(doca_argp_destroy());
	argp_begin();
	doca_argp_set_dpdk_program(argp_take_dpdk);
	argp_conf.dpdk = DOCA_ERROR_DRIVER;
	T_IS(argp_start(NULL), DOCA_ERROR_DRIVER);
	T_STR_EQ(argp_conf.calls, "dpdk(prog) ");
	T_STR_HAS(argp_log, "DPDK failed to start");
	T_OK(doca_argp_destroy());
}

static void
ask_help(void)
{
	argp_begin_usage();
	argp_start("-l", "60", "--help", "--nonsense");
}

static void
ask_usage(void)
{
	argp_begin_usage();
	doca_argp_usage();
	T_OK(doca_argp_destroy());
}

static void
ask_help_of_command(void)
{
	argp_begin_commands();
	argp_start("outer", "-h");
}

T_CASE(usage)
{
#define LEVELS_ "<DISABLE=10, CRITICAL=20,\n" \
		"                       ERROR=30, WARNING=40, INFO=50, DEBUG=60, TRACE=70>\n"
	static const char text[] =
		"Usage: prog [DOCA Flags] [Program Flags]\n"
		"\n"
		"DOCA Flags:\n"
		"  -h, --help           Print a help synopsis\n"
		"  -v, --version        Print program version information\n"
		"  -l, --log-level      Set the log level for the program " LEVELS_
		"      --sdk-log-level  Set the log level for the library " LEVELS_
		"  -j, --json <path>    Read more flags from a JSON file\n"
		"\n"
		"Program Flags:\n"
		"  -p, --pci-addr       A description (mandatory)\n"
		"      --a-very-long-name-of-a-flag-indeed\n"
		"                       A description\n"
		"  -t                   A description\n"
		"\n";
	static struct child_run run;

	child_run(&run, ask_help);
	T_EQ(run.status, 0);
	T_STR_EQ(run.out, text);
	T_STR_EQ(run.err, "");
	child_run(&run, ask_usage);
	T_EQ(run.status, 0);
	T_STR_EQ(run.out, text);
	child_run(&run, ask_help_of_command);
	T_EQ(run.status, 0);
	T_STR_HAS(run.out, "Usage: prog outer [DOCA Flags] [Program Flags] [Command]\n");
	T_STR_HAS(run.out, "\nProgram Flags:\n  -i, --int            A description\n");
	T_STR_HAS(run.out, "\nCommands:\n  inner                What inner does\n\n");
	T_CHECK(strstr(run.out, "secret") == NULL);
	T_CHECK(strstr(run.out, "-p") == NULL);
}

static doca_error_t
print_version(void *value, void *config)
{
	T_EQ(*(bool *)value, true);
	T_CHECK(config == &argp_conf);
	puts("my version");
	return DOCA_SUCCESS;
}

static void
ask_version(void)
{
	argp_begin();
	argp_start("-v", "--nonsense");
}

static void
ask_own_version(void)
{
	argp_begin();
	T_OK(doca_argp_register_version_callback(print_version));
	T_OK(argp_start("--version", "-l", "60"));
	T_EQ(doca_log_level_get_global_lower_limit(), 60);
	T_OK(doca_argp_destroy());
}

T_CASE(version)
{
	static struct child_run run;
	char text[64];

	child_run(&run, ask_version);
	T_EQ(run.status, 0);
	snprintf(text, sizeof(text), "%s\n", doca_version_runtime());
	T_STR_EQ(run.out, text);
	child_run(&run, ask_own_version);
	T_EQ(run.status, 0);
	T_STR_EQ(run.out, "my version\n");
}

static void
err_without_logger(void)
{
	char name[] = "/a/b/prog2", flag[] = "--nope", *argv[] = { name, flag, NULL };

	T_OK(doca_argp_init(NULL, NULL));
	T_IS(doca_argp_start(2, argv), DOCA_ERROR_NOT_SUPPORTED);
	T_OK(doca_argp_destroy());
}

static void
err_disabled(void)
{
	T_OK(doca_argp_init("prog", NULL));
	T_OK(doca_argp_register_logger_callback(argp_take_log));
	T_OK(doca_argp_disable_logger_callback());
	T_IS(argp_start("--nope"), DOCA_ERROR_NOT_SUPPORTED);
	T_STR_EQ(argp_log, "");
	T_OK(doca_argp_register_logger_callback(argp_take_log));
	T_OK(doca_argp_destroy());
}

static void
err_to_sdk(void)
{
	struct doca_log_backend *b;

	T_OK(doca_log_backend_create_with_file_sdk(stdout, &b));
	err_without_logger();
}

T_CASE(who_is_told)
{
	static struct child_run run;

	child_run(&run, err_without_logger);
	T_EQ(run.status, 0);
	T_STR_EQ(run.err, "prog2: unknown flag '--nope'; see --help\n");
	child_run(&run, err_disabled);
	T_EQ(run.status, 0);
	T_STR_EQ(run.err, "");
	child_run(&run, err_to_sdk);
	T_EQ(run.status, 0);
	T_STR_EQ(run.err, "");
	T_STR_HAS(run.out, "] unknown flag '--nope'; see --help\n");
}

static void
leave_all_behind(void)
{
	argp_begin_commands();
	doca_argp_set_dpdk_program(argp_take_dpdk);
	T_OK(argp_start("-c1", "--", "-i1", "outer", "inner", "-sx"));
	T_OK(doca_argp_destroy());
	registration();
	registration_of_commands();
	mistakes();
}

/* Under ASan the child fails if it leaks. */
T_CASE(leaks)
{
	static struct child_run run;

	child_run(&run, leave_all_behind);
	T_EQ(run.status, 0);
}
