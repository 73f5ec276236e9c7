/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef REPORT_H
#define REPORT_H

/**
 * @file
 * What comes out: a table for people (table.c), CSV, or one JSON object a line.
 */

#include <stdio.h>

#include "engine/run.h"
#include "plan/options.h"

/** A measured row. Figures that a test does not have are NaN. */
struct report_row {
	const struct perf_test *test;
	struct perf_params params;
	const char *driver;
	uint64_t messages;
	double seconds;
	double msgs_per_s;
	double bytes_per_s;
	double p50_ns;
	double p90_ns;
	double p99_ns;
	double p999_ns;
	double max_ns;
	double copies;           /**< CPU copies a message. */
	enum floor_kind floor;
	double floor_value;
	double floor_after;
	double ratio;            /**< To the mean of the two. */
	double stolen;           /**< Part of the time that others had our CPU. */
	bool crowded;            /**< More threads than CPUs. */
	bool stable;             /**< The floors differ little, little was stolen, no crowd. */
	bool refused;            /**< The device has less than was asked for. */
	uint64_t errors;
	char error[PERF_ERROR_SIZE]; /**< Why it failed; empty if it did not. */
	const struct hist *hist; /**< To draw; NULL: not. */
};

/** What a table has shown and has to explain below. */
struct table {
	const struct perf_test *tests[PERF_MAX_TESTS];
	uint32_t nb_tests;
	bool floors[FLOOR_NONE + 1];
	bool unstable;
	bool crowded;
};

struct report;

/**
 * Open a report in an enum perf_format, on a file to be overwritten or on
 * standard output (NULL). A table begins with *setting*, a line about the machine.
 *
 * @return The report, or NULL; stderr says why
 */
struct report *report_open(uint8_t format, const char *path, const char *setting);

/** Add a row. */
void report_row(struct report *report, const struct report_row *row);

/** End it. @return 0, or a negative errno if it could not be written. */
int report_close(struct report *report);

/** The calls that a row measured; NULL: its test has but one way. */
const char *report_api(const struct report_row *row);

/** Does the row have what only producers and consumers have? */
static inline bool
report_is_data(const struct report_row *row)
{
	return (row->test->options & PERF_OPT_MEMORY) != 0;
}

/** @name The table: its head, a row, and what explains them
 * @{
 */
void table_head(FILE *f, const char *setting);
void table_row(struct table *table, FILE *f, const struct report_row *row);
void table_foot(const struct table *table, FILE *f);
/** @} */

#endif /* REPORT_H */
