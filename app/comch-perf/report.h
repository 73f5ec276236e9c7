/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef REPORT_H
#define REPORT_H

/**
 * @file
 * What comes out: a table for people, CSV, or one JSON object a line.
 */

#include <stdbool.h>
#include <stdio.h>

#include "engine/run.h"
#include "options.h"

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
	uint32_t attempts;
	uint64_t errors;
	char error[PERF_ERROR_SIZE]; /**< Why it failed; empty if it did not. */
	const struct hist *hist; /**< To draw; NULL: not. */
};

struct report;

/**
 * Open a report.
 *
 * @param format
 *   How it looks.
 * @param path
 *   A file to be overwritten; NULL for standard output.
 * @param setting
 *   A line about the machine, for the table.
 * @return
 *   The report, or NULL; stderr says why.
 */
struct report *report_open(enum perf_format format, const char *path,
		const char *setting);

/** Add a row. */
void report_row(struct report *report, const struct report_row *row);

/** End it. @return 0, or a negative errno if it could not be written. */
int report_close(struct report *report);

#endif /* REPORT_H */
