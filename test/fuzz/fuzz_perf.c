/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Command lines and sweep files of comch-perf. The input is words, one a line, up to a NUL,
 * and the sweep file.
 */

#include <getopt.h>
#include <stdlib.h>

#include "plan/device.h"
#include "plan/plan.h"
#include "text.h"

/* Expanding more combinations takes minutes. */
#define MAX_ROWS 2000

/* Upper bound of the rows that a text yields: values separated by commas multiply. */
static double
nb_rows(const char *text)
{
	double rows = 1, values = 1;

	for (; *text != '\0'; text++) {
		if (strchr(", \t", *text) != NULL)
			values++;
		else if (*text == ':')
			values *= 1024;
		if (*text != '\n')
			continue;
		rows *= values;
		values = 1;
	}
	return rows * values;
}

static void
check_plan(const struct options *opts, const struct plan *plan)
{
	const struct device_side side = { .host = true, .dir = "/nowhere", .shares_eal = true };
	char string[256];
	uint32_t i;

	for (i = 0; i < plan->nb_rows; i++) {
		const struct plan_row *row = &plan->rows[i];

		T_CHECK(row->test != NULL);
		T_LE(row->params.burst, PERF_MAX_BURST);
		T_LE(row->params.producers, PERF_MAX_WORKERS);
		T_LE(row->params.consumers, PERF_MAX_WORKERS);
		T_LE(row->params.size, PERF_MAX_SIZE);
		if ((row->test->options & PERF_OPT_QUEUE) != 0)
			T_GT(row->params.queue, 0);
	}
	T_LE(plan->workers[0], PERF_MAX_WORKERS);
	T_LE(plan->workers[1], PERF_MAX_WORKERS);
	device_string(opts, &side, string, sizeof(string));
}

static void
run(struct text_words *words, const char *sweep)
{
	struct options *opts = malloc(sizeof(*opts));
	struct plan plan = { 0 };

	T_CHECK(opts != NULL);
	/* For a program that parses more than one line. */
	optind = 0;
	text_quiet_begin();
	if (options_parse(opts, words->argc, words->argv) == 0) {
		if (sweep[0] != '\0' && opts->nb_tests == 0)
			opts->sweep = text_file(sweep);
		if (plan_make(&plan, opts) == 0) {
			text_quiet_end();
			check_plan(opts, &plan);
		}
	}
	text_quiet_end();
	free(plan.rows);
	free(opts);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };
	struct text_words words;
	char *sweep;

	if (text_words(&in, &words, "comch-perf")) {
		sweep = text_rest(&in);
		if (nb_rows(sweep) <= MAX_ROWS)
			run(&words, sweep);
		free(sweep);
	}
	text_words_free(&words);
	return 0;
}
