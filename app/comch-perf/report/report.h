/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef REPORT_H
#define REPORT_H

/**
 * @file
 * The report: a text table (table.c), CSV, or one JSON object per line.
 */

#include <stdio.h>

#include "engine/run.h"
#include "plan/options.h"

/** Measurements of a row whose largest is above the smallest by more than this are no figure. */
#define REPORT_SPREAD 0.15

/** Repeated measurements of a row that are close to each other, and not to the rest. */
struct report_mode {
	double ratio; /**< Their median. */
	uint32_t nb;
};

/** A measured row. Figures that do not apply to its test are NaN. */
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
	double copies;           /**< CPU copies per message. */
	enum floor_kind floor;
	double floor_value;
	double floor_after;
	double floor_p999_ns;    /**< Of a latency: mean of the two floors. */
	double ratio;            /**< Result / mean of the two floors. */
	double core;             /**< Floor "core" beside it, the lower of two; NaN: unknown. */
	double stolen;           /**< Fraction of the time that other programs had the CPU. */
	bool crowded;            /**< More threads than CPUs. */
	bool stable;             /**< The machine was the same all the time. */
	uint32_t repeats;        /**< Measurements; this one is their median. */
	uint32_t nb_stable;      /**< How many of them were stable. */
	double ratio_min;        /**< Of the stable ones; of all, if none is. */
	double ratio_max;
	bool settled;            /**< These differ by REPORT_SPREAD at most. */
	struct report_mode modes[2]; /**< Of unsettled ones; nb 0: they are scattered. */
	bool refused;            /**< The row exceeds the limits of the device. */
	uint64_t errors;
	char error[PERF_ERROR_SIZE]; /**< Reason of the failure; empty: none. */
	const struct hist *hist; /**< Of its round trips; NULL: none. */
	struct counters counters[2]; /**< Of the driver: host, DPU. */
	uint64_t counted;        /**< Messages that they cover; 0: unknown. */
};

/** What a table contains and its foot explains. */
struct table {
	const struct perf_test *tests[PERF_MAX_TESTS];
	uint32_t nb_tests;
	bool floors[FLOOR_NONE + 1];
	bool unstable;
	bool crowded;
	bool repeated;
	bool unsettled;
	bool tails;              /**< Rows with the 99.9th percentile of their floor. */
	bool histograms;         /**< Print those of the rows. */
};

struct report;

/**
 * Open the report of --format, --output and --histogram; a file is overwritten. A table
 * begins with *setting*, a line about the machine.
 *
 * @return The report, or NULL, with the reason on stderr
 */
struct report *report_open(const struct options *opts, const char *setting);

/** Write a row. */
void report_row(struct report *report, const struct report_row *row);

/** Write the foot of a table, and close. @return 0 or a negative errno */
int report_close(struct report *report);

/** Name of the API that a row measured; NULL: its test has only one. */
const char *report_api(const struct report_row *row);

/** Lines per message of a slot floor; NaN: the row measures something else. */
double report_lines(const struct report_row *row);

/**
 * What identifies a row, "64 B, desc, shared, burst 32", but for the parameters in *omit*,
 * PERF_OPT_SIZE or PERF_OPT_BURST. Truncated to *size*. @return the text, in buf
 */
const char *report_what(const struct report_row *row, uint32_t omit, char *buf, size_t size);

/** A time, with its unit. @return the text, in buf */
const char *report_ns(double ns, char *buf, size_t size);

/** Names of the sides, in the order of report_row.counters. */
extern const char *const report_sides[2];

/** Does the row measure producers and consumers of the fast path? */
static inline bool
report_is_data(const struct report_row *row)
{
	return (row->test->options & PERF_OPT_MEMORY) != 0;
}

/** @name The table: head, row, and foot with explanations
 * @{
 */
void table_head(FILE *f, const char *setting);
void table_row(struct table *table, FILE *f, const struct report_row *row);
void table_foot(const struct table *table, FILE *f);
/** @} */

#endif /* REPORT_H */
