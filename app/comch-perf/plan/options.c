/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The table of options, parsing of the command line, and the help text. */

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_comch.h>
#include <rte_common.h>
#include <rte_string_fns.h>

#include "app_mem.h"
#include "app_text.h"
#include "engine/accel.h"
#include "floor/lines.h"
#include "plan/device.h"
#include "plan/options.h"
#include "plan/plan.h"

#define HELP_WIDTH 79
#define DEFAULT_ATTEMPTS 5

/* Kinds of option values. */
enum kind {
	KIND_SIZES,  /* a list or range of sizes */
	KIND_COUNT,  /* a whole number between min and max */
	KIND_TIME,   /* seconds, with a fraction */
	KIND_LINES,  /* cache lines, with a fraction */
	KIND_CHOICE, /* one of a list of words */
	KIND_SWITCH, /* no value */
	KIND_TEXT,
	KIND_ANSWER, /* --help and --version: print and exit */
};

/* One option; test parameters come first. */
struct opt {
	const char *name;
	const char *value;           /* value name in the help; NULL: no value */
	const char *help;
	enum kind kind;
	uint32_t bit;                /* PERF_OPT_*; 0: not a test option */
	size_t offset;               /* of the field in struct options */
	size_t width;
	uint64_t min;
	uint64_t max;
	const char *const *choices;  /* NULL-terminated */
};

#ifdef COMCH_APP_DOCA
const char *const perf_api_names[] = { "desc", "mbuf", "doca", "comm_channel", NULL };
#define API_VALUES "desc|mbuf|doca|comm_channel"
#define API_TEXT \
	"API under test: descriptors or mbufs of librte_comch, DOCA Comch, or DOCA Comm " \
	"Channel; the DOCA APIs take their device from the device table; ctrl tests support " \
	"desc, doca and comm_channel, data tests desc, mbuf and doca"
#else
const char *const perf_api_names[] = { "desc", "mbuf", NULL };
#define API_VALUES "desc|mbuf"
#define API_TEXT "API under test: descriptors or mbufs; ctrl tests support desc only"
#endif
const char *const perf_wait_names[] = { "poll", "event", "receiver", NULL };
static const char *const roles[] = { "both", "host", "dpu", NULL };
static const char *const formats[] = { "text", "csv", "json", NULL };

#define OPTION(field) offsetof(struct options, field), RTE_SIZEOF_FIELD(struct options, field)
#define PARAM(field)  OPTION(params.field)

static const struct opt opts_table[] = {
	{ "size", "N|A,B,C|A:B[:xM|:+N]",
		"payload per message, bytes; K, M, G suffixes; a range doubles unless it has a "
		"step",
		KIND_SIZES, PERF_OPT_SIZE, PARAM(size), 0, 0, NULL },
	{ "iters", "N", "messages per producer (latency: round trips; accelerators: tasks), "
		"instead of a duration",
		KIND_COUNT, PERF_OPT_ITERS, PARAM(iters), 1, UINT64_C(1) << 44, NULL },
	{ "duration", "S", "measured time, seconds (default 1)",
		KIND_TIME, PERF_OPT_DURATION, PARAM(duration_us), 0, 0, NULL },
	{ "burst", "N", "messages per call",
		KIND_COUNT, PERF_OPT_BURST, PARAM(burst), 1, PERF_MAX_BURST, NULL },
	{ "queue", "N",
		"queue depth: posted buffers, credits of a MsgQ, or control messages or tasks in "
		"flight; "
		"the default is limited to buffers of 16 MiB in total, at least two",
		KIND_COUNT, PERF_OPT_QUEUE, PARAM(queue), 1, 1 << 20, NULL },
	{ "producers", "N", "producers of the sending side, one thread each",
		KIND_COUNT, PERF_OPT_PRODUCERS, PARAM(producers), 1, PERF_MAX_WORKERS, NULL },
	{ "consumers", "N", "consumers of the receiving side, one thread each",
		KIND_COUNT, PERF_OPT_CONSUMERS, PARAM(consumers), 1, PERF_MAX_WORKERS, NULL },
	{ "connections", "N",
		"connections; ctrl tests use one and leave the rest idle, data tests spread "
		"their pairs over them, conn-rate opens this many at once",
		KIND_COUNT, PERF_OPT_CONNECTIONS, PARAM(connections), 1, 65536, NULL },
	{ "imm", "N", "immediate data per message, bytes; with --size 0 the only data",
		KIND_COUNT, PERF_OPT_IMM, PARAM(imm), 0, RTE_COMCH_IMM_SIZE, NULL },
	{ "stride", "N",
		"bytes from the beginning of a buffer to that of the next one, on both sides; the "
		"default is --size in whole cache lines of 64 bytes. Between far cores, small "
		"messages are faster with 128",
		KIND_COUNT, PERF_OPT_STRIDE, PARAM(stride), 64, PERF_MAX_SIZE, NULL },
	{ "lines", "N",
		"measure only the slot floor, with N cache lines of 64 bytes per message, 1 to "
		RTE_STR(FLOOR_MAX_LINES) "; 2.25: three messages of 2 lines, then one of 3. Count "
		"the lines that a message of yours moves, and see what the machine gives for it",
		KIND_LINES, PERF_OPT_LINES, PARAM(lines), 0, 0, NULL },
	{ "api", API_VALUES, API_TEXT,
		KIND_CHOICE, PERF_OPT_API, PARAM(api), 0, 0, perf_api_names },
#ifdef COMCH_APP_DOCA
	{ "work", "local|from-peer|to-peer|sha1|sha256|sha512|deflate|inflate|lz4",
		"what tasks of accelerators do, instead of all that the test has: copies within "
		"memory of the host side, or from or to memory that the DPU side has exported "
		"(dma tests), digests (sha-bw), or compression (compress-bw)",
		KIND_CHOICE, PERF_OPT_WORK, PARAM(kind), 0, 0, accel_work_names },
#endif
	{ "memory", "shared|heap|eal",
		"memory of the consumer's buffers: shareable memory, malloc, or EAL memory",
		KIND_CHOICE, PERF_OPT_MEMORY, PARAM(memory), 0, 0, app_memory_names },
	{ "wait", "poll|event|receiver",
		"spin, or sleep until an event; event latency tests pause before each round "
		"trip, so that the peer sleeps; receiver: the receiving side sleeps, the "
		"sending side spins (rate and bandwidth tests)",
		KIND_CHOICE, PERF_OPT_WAIT, PARAM(wait), 0, 0, perf_wait_names },
	{ "bidir", NULL, "both sides send (rate and bandwidth tests); figures are sums",
		KIND_SWITCH, PERF_OPT_BIDIR, PARAM(bidir), 0, 0, NULL },
	{ "verify", NULL,
		"fill and check every byte; by default, check the sequence and touch the first "
		"and last cache line; of accelerators, check all results instead of none",
		KIND_SWITCH, PERF_OPT_VERIFY, PARAM(verify), 0, 0, NULL },
	{ "dev", "DEVARGS", "device string (--role both adds role=, rep=, func= and dir=; "
		"the default with one role is comch_shm0,role=ROLE on pf0); within one process, "
		"the name of the host side's device has a 1 appended",
		KIND_TEXT, 0, OPTION(dev), 0, 0, NULL },
	{ "role", "both|host|dpu",
		"start both sides (default) or one; the host side leads and reports",
		KIND_CHOICE, 0, OPTION(role), 0, 0, roles },
	{ "same-process", NULL,
		"run both sides as threads of one process; implied by devices that connect only "
		"within one EAL, such as comch_ring0",
		KIND_SWITCH, 0, OPTION(same_process), 0, 0, NULL },
	{ "format", "text|csv|json", "table (default), CSV, or one JSON object per line",
		KIND_CHOICE, 0, OPTION(format), 0, 0, formats },
	{ "output", "FILE", "write the report to FILE instead of standard output",
		KIND_TEXT, 0, OPTION(output), 0, 0, NULL },
	{ "attempts", "N", "maximum attempts per row while the machine is unstable (default 5)",
		KIND_COUNT, 0, OPTION(attempts), 1, 100, NULL },
	{ "repeat", "N",
		"measure each row N times; report the median of the stable measurements, and the "
		"smallest and largest ratio (default 1)",
		KIND_COUNT, 0, OPTION(repeat), 1, 1000, NULL },
	{ "histogram", NULL, "print a latency histogram for each latency test (text format)",
		KIND_SWITCH, PERF_OPT_HISTOGRAM, OPTION(histogram), 0, 0, NULL },
	{ "plot", "DIR",
		"draw the figures and the latencies with gnuplot: DIR/TEST.svg, .png, .csv; "
		"without TEST or --sweep, measures latency and bandwidth over the size, and rate "
		"over the burst",
		KIND_TEXT, 0, OPTION(plot), 0, 0, NULL },
	{ "sweep", "FILE",
		"INI file: one section per test; keys are the options above, comma lists multiply",
		KIND_TEXT, 0, OPTION(sweep), 0, 0, NULL },
	{ "help", NULL, "print this text", KIND_ANSWER, 0, 0, 0, 0, 0, NULL },
	{ "version", NULL, "print versions", KIND_ANSWER, 0, 0, 0, 0, 0, NULL },
};

/* Is the option a test parameter? Their fields are first in struct options. */
static bool
is_param(const struct opt *o)
{
	return o->width != 0 && o->offset < sizeof(struct perf_params);
}

static int
parse_count(const struct opt *o, const char *value, uint64_t *count, char *error)
{
	const char *p = value;

	if (app_number(&p, count) == 0 && *p == '\0' && *count >= o->min && *count <= o->max)
		return 0;
	return perf_refuse(error, "--%s: '%s' is not a number from %llu to %llu", o->name, value,
			(unsigned long long)o->min, (unsigned long long)o->max);
}

static int
parse_time(const struct opt *o, const char *value, uint64_t *us, char *error)
{
	double s;

	if (app_seconds(value, 0.01, 86400, &s) != 0)
		return perf_refuse(error, "--%s: '%s' is not a time from 0.01 to 86400 seconds",
				o->name, value);
	*us = (uint64_t)(s * 1e6);
	return 0;
}

static int
parse_lines(const struct opt *o, const char *value, uint64_t *number, char *error)
{
	uint32_t lines;

	if (floor_lines_parse(value, &lines) != 0)
		return perf_refuse(error, "--%s: '%s' is not a number from 1 to %u with at most "
				"three decimals", o->name, value, FLOOR_MAX_LINES);
	*number = lines;
	return 0;
}

static int
parse_choice(const struct opt *o, const char *value, uint64_t *number, char *error)
{
	char valid[128] = "";
	uint32_t i;

	for (i = 0; o->choices[i] != NULL; i++) {
		if (strcmp(o->choices[i], value) == 0) {
			*number = i;
			return 0;
		}
		strlcat(valid, i > 0 ? ", " : "", sizeof(valid));
		strlcat(valid, o->choices[i], sizeof(valid));
	}
	return perf_refuse(error, "--%s: '%s' is not one of %s", o->name, value, valid);
}

static int
parse_switch(const struct opt *o, const char *value, uint64_t *number, char *error)
{
	*number = value == NULL || strcmp(value, "yes") == 0;
	return *number == 1 || strcmp(value, "no") == 0 ? 0 :
		perf_refuse(error, "--%s: '%s' is not yes or no", o->name, value);
}

static int
parse_sizes(struct options *opts, const char *value, char *error)
{
	int nb = sizes_parse(value, opts->sizes);

	if (nb < 0)
		return perf_refuse(error, "--size: '%s' is not N, A,B,C, A:B, A:B:xM or A:B:+N "
				"with N from 0 to 1G (at most %d sizes)", value, PERF_MAX_SIZES);
	opts->nb_sizes = (uint32_t)nb;
	return 0;
}

/* Set an option of any kind. @return 0 or -EINVAL */
static int
set_option(struct options *opts, const struct opt *o, const char *value, char *error)
{
	void *field = (uint8_t *)opts + o->offset;
	uint64_t number = 0;
	int rc = 0;

	if (o->kind == KIND_SIZES)
		rc = parse_sizes(opts, value, error);
	else if (o->kind == KIND_COUNT)
		rc = parse_count(o, value, &number, error);
	else if (o->kind == KIND_TIME)
		rc = parse_time(o, value, &number, error);
	else if (o->kind == KIND_LINES)
		rc = parse_lines(o, value, &number, error);
	else if (o->kind == KIND_CHOICE)
		rc = parse_choice(o, value, &number, error);
	else if (o->kind == KIND_SWITCH)
		rc = parse_switch(o, value, &number, error);
	if (rc != 0)
		return rc;
	opts->set |= o->bit;
	if (o->kind == KIND_TEXT)
		*(const char **)field = value;
	else if (o->width == sizeof(uint64_t))
		*(uint64_t *)field = number;
	else if (o->width == sizeof(uint32_t))
		*(uint32_t *)field = (uint32_t)number;
	else if (o->width == sizeof(uint16_t))
		*(uint16_t *)field = (uint16_t)number;
	else
		*(uint8_t *)field = (uint8_t)number;
	return 0;
}

int
options_set(struct options *opts, const char *name, const char *value, char *error)
{
	char names[PERF_ERROR_SIZE];
	uint32_t mask = 0;
	uint32_t i;

	for (i = 0; i < RTE_DIM(opts_table); i++) {
		const struct opt *o = &opts_table[i];

		if (!is_param(o))
			continue;
		if (strcmp(o->name, name) == 0)
			return set_option(opts, o, value, error);
		mask |= o->bit;
	}
	return perf_refuse(error, "unknown key '%s'; valid (without dashes): %s", name,
			options_names(mask, names, sizeof(names)));
}

void
options_copy(struct perf_params *to, const struct perf_params *from, uint32_t mask)
{
	uint32_t i;

	static_assert(offsetof(struct options, params) == 0, "offsets are those of params too");
	for (i = 0; i < RTE_DIM(opts_table); i++) {
		const struct opt *o = &opts_table[i];

		if (is_param(o) && (o->bit & mask) != 0)
			memcpy((uint8_t *)to + o->offset, (const uint8_t *)from + o->offset,
					o->width);
	}
	if ((mask & PERF_OPT_KIND) != 0)
		to->kind = from->kind;
}

const char *
options_names(uint32_t mask, char *buf, size_t size)
{
	uint32_t i;

	buf[0] = '\0';
	for (i = 0; i < RTE_DIM(opts_table); i++) {
		if ((opts_table[i].bit & mask) == 0)
			continue;
		strlcat(buf, buf[0] == '\0' ? "--" : ", --", size);
		strlcat(buf, opts_table[i].name, size);
	}
	return buf;
}

/* Print text wrapped to HELP_WIDTH and indented. */
static void
print_wrapped(const char *text, int indent)
{
	int width = HELP_WIDTH - indent;
	int len = (int)strlen(text);
	int n;

	while (len > width) {
		for (n = width; n > 0 && text[n] != ' '; n--)
			;
		printf("%*s%.*s\n", indent, "", n, text);
		text += n + 1;
		len -= n + 1;
	}
	printf("%*s%s\n", indent, "", text);
}

static void
print_options(void)
{
	uint32_t i;

	for (i = 0; i < RTE_DIM(opts_table); i++) {
		const struct opt *o = &opts_table[i];

		printf("  --%s%s%s\n", o->name, o->value == NULL ? "" : " ",
				o->value == NULL ? "" : o->value);
		print_wrapped(o->help, 8);
	}
}

static void
print_help(void)
{
	const struct perf_test *test;

	printf("Usage: comch-perf [EAL options] -- [options] [TEST...]\n"
		"       comch-perf [options] [TEST...]\n\n"
		"Measures a host <-> DPU channel between two processes, or two threads of one\n"
		"process, one core each, and prints each figure with its ratio to a floor: what\n"
		"this machine reaches without this library, measured just before and after.\n"
		"\nTests:\n");
	for (test = tests_next(NULL); test != NULL; test = tests_next(test))
		printf("  %-12s %s%s\n", test->name, test->what,
				test->by_default ? "" : " (not by default)");
	printf("Without TEST, all unmarked tests run, in under a minute.\n\nOptions:\n");
	print_options();
	printf("\nThe host side leads: with --role host and --role dpu, give the parameters to\n"
		"the host side only; it sends them to the DPU side as control messages.\n"
		"The DPU side serves one host process and exits; its --producers and\n"
		"--consumers set its number of threads.\n\n"
		"Default EAL options: --lcores from --producers and --consumers, --no-huge or\n"
		"--in-memory, --no-pci, --file-prefix. EAL options before `--` are added to\n"
		"them or replace them. With --role both, -l names the CPUs.\n\n"
		"Exit status: 0 every message arrived, in order and intact; 1 failure; 2 usage\n"
		"error, or a row exceeds the limits of the device.\n");
}

static int
print_info(const char *name)
{
	if (strcmp(name, "help") == 0)
		print_help();
	else
		printf("comch-perf %s, librte_comch %s\n", RTE_COMCH_VERSION_STRING,
				rte_comch_version());
	return 1;
}

/* Report an option that getopt_long() rejected. */
static int
report_bad_option(int argc, char **argv, int c)
{
	uint32_t i;

	if (c == ':') {
		fprintf(stderr, "comch-perf: %s: missing value\n", argv[optind - 1]);
		return -EINVAL;
	}
	/* optind is after an unknown long option, but at a cluster of short ones. */
	fprintf(stderr, "comch-perf: unknown option '%s'; valid:",
			optind > 1 && optind <= argc && argv[optind - 1][0] == '-' ?
			argv[optind - 1] : argv[optind]);
	for (i = 0; i < RTE_DIM(opts_table); i++)
		fprintf(stderr, " --%s", opts_table[i].name);
	fprintf(stderr, "\n(EAL options go before `--`.)\n");
	return -EINVAL;
}

static int
take_tests(struct options *opts, int argc, char **argv)
{
	for (; optind < argc; optind++) {
		const char *name = argv[optind];
		const struct perf_test *test = tests_find(name);

		if (test != NULL && opts->nb_tests < PERF_MAX_TESTS) {
			opts->tests[opts->nb_tests++] = test->name;
			continue;
		}
		fprintf(stderr, "comch-perf: %s '%s'; valid:", test == NULL ?
				"unknown test" : "too many tests, at", name);
		for (test = tests_next(NULL); test != NULL; test = tests_next(test))
			fprintf(stderr, " %s", test->name);
		fprintf(stderr, "\n");
		return -EINVAL;
	}
	return 0;
}

/* Check for contradicting options, independent of the tests. */
static int
check_options(const struct options *opts)
{
	const char *why = NULL;

	if ((opts->set & PERF_OPT_ITERS) != 0 && (opts->set & PERF_OPT_DURATION) != 0)
		why = "--iters and --duration exclude each other";
	else if ((opts->set & PERF_OPT_LINES) != 0 && (opts->set & PERF_OPT_SIZE) != 0)
		why = "--lines and --size exclude each other: floors of copies have a size";
	else if (opts->sweep != NULL && opts->nb_tests > 0)
		why = "--sweep and TEST exclude each other: sections name the tests";
	else if (opts->same_process && opts->role != PERF_ROLE_BOTH)
		why = "--same-process requires --role both";
	else if (opts->histogram && opts->format != PERF_FORMAT_TEXT)
		why = "--histogram requires --format text";
	else if (opts->role == PERF_ROLE_DPU && (opts->nb_tests > 0 ||
			opts->sweep != NULL || opts->output != NULL || opts->plot != NULL ||
			opts->attempts != DEFAULT_ATTEMPTS || opts->repeat != 1 ||
			(opts->set & ~(uint32_t)(PERF_OPT_PRODUCERS | PERF_OPT_CONSUMERS)) != 0))
		why = "--role dpu takes --dev, --producers and --consumers only: "
			"the host side leads and reports";
	if (why == NULL)
		return 0;
	fprintf(stderr, "comch-perf: %s\n", why);
	return -EINVAL;
}

/* EAL arguments end at the first `--`; without one, there are none. */
static void
split(struct options *opts, int *argc, char ***argv)
{
	int i;

	for (i = 1; i < *argc; i++) {
		if (strcmp((*argv)[i], "--") != 0)
			continue;
		opts->nb_eal_args = i - 1;
		opts->eal_args = *argv + 1;
		*argv += i;
		*argc -= i;
		return;
	}
}

int
options_parse(struct options *opts, int argc, char **argv)
{
	struct option longs[RTE_DIM(opts_table) + 1] = { 0 };
	char error[PERF_ERROR_SIZE];
	int index = 0;
	uint32_t i;
	int c;
	int rc;

	memset(opts, 0, sizeof(*opts));
	opts->attempts = DEFAULT_ATTEMPTS;
	opts->repeat = 1;
	split(opts, &argc, &argv);
	for (i = 0; i < RTE_DIM(opts_table); i++) {
		longs[i].name = opts_table[i].name;
		longs[i].has_arg = opts_table[i].value == NULL ?
				no_argument : required_argument;
	}
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":", longs, &index)) != -1) {
		if (c != 0)
			return report_bad_option(argc, argv, c);
		if (opts_table[index].kind == KIND_ANSWER)
			return print_info(opts_table[index].name);
		rc = set_option(opts, &opts_table[index], optarg, error);
		if (rc != 0) {
			fprintf(stderr, "comch-perf: %s\n", error);
			return rc;
		}
	}
	opts->same_process |= opts->role == PERF_ROLE_BOTH && device_needs_one_eal(opts->dev);
	rc = take_tests(opts, argc, argv);
	return rc != 0 ? rc : check_options(opts);
}
