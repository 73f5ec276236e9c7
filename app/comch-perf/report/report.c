/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Opens, writes and closes a report: CSV and JSON here, text in table.c. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <rte_common.h>

#include "app_mem.h"
#include "floor/lines.h"
#include "report/report.h"

struct report {
	uint8_t format;
	FILE *f;
	struct table table;
};

const char *
report_api(const struct report_row *row)
{
	return report_is_data(row) || row->test->place == PERF_PROCESS ||
		row->params.api >= PERF_API_DOCA ? perf_api_names[row->params.api] : NULL;
}

double
report_lines(const struct report_row *row)
{
	return perf_test_is_floor(row->test) && row->params.kind == FLOOR_SLOT ?
		(double)row->params.lines / FLOOR_ONE_LINE : NAN;
}

static json_t *
text(const char *value)
{
	return value != NULL ? json_string(value) : json_null();
}

static json_t *
count(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *
real(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *
mode(const struct report_mode *m)
{
	return real(m->nb > 0 ? m->ratio : NAN);
}

/* The columns of a row, for CSV and JSON. */
static json_t *
make_columns(const struct report_row *r)
{
	const struct perf_params *p = &r->params;
	const struct {
		const char *name;
		json_t *value;
	} columns[] = {
		{ "test", text(r->test->name) },
		{ "api", text(report_api(r)) },
		{ "driver", text(r->driver) },
		{ "memory", text(report_is_data(r) ? app_memory_names[p->memory] : NULL) },
		{ "wait", text(perf_wait_names[p->wait]) },
		{ "size", count(p->size) },
		{ "burst", count(p->burst) },
		{ "queue", count(p->queue) },
		{ "producers", count(p->producers) },
		{ "consumers", count(p->consumers) },
		{ "connections", count(p->connections) },
		{ "messages", count(r->messages) },
		{ "seconds", real(r->seconds) },
		{ "msgs_per_s", real(r->msgs_per_s) },
		{ "bytes_per_s", real(r->bytes_per_s) },
		{ "p50_ns", real(r->p50_ns) },
		{ "p90_ns", real(r->p90_ns) },
		{ "p99_ns", real(r->p99_ns) },
		{ "p999_ns", real(r->p999_ns) },
		{ "max_ns", real(r->max_ns) },
		{ "copies", real(r->copies) },
		{ "floor", text(floor_name(r->floor)) },
		{ "floor_value", real(r->floor_value) },
		{ "floor_after", real(r->floor_after) },
		{ "ratio", real(r->ratio) },
		{ "stable", json_boolean(r->stable) },
		{ "errors", count(r->errors) },
		{ "repeats", count(r->repeats) },
		{ "stable_repeats", count(r->nb_stable) },
		{ "ratio_min", real(r->ratio_min) },
		{ "ratio_max", real(r->ratio_max) },
		{ "settled", json_boolean(r->settled) },
		{ "mode_low", mode(&r->modes[0]) },
		{ "mode_low_repeats", count(r->modes[0].nb) },
		{ "mode_high", mode(&r->modes[1]) },
		{ "mode_high_repeats", count(r->modes[1].nb) },
		{ "lines", real(report_lines(r)) },
		{ "floor_p999_ns", real(r->floor_p999_ns) },
		{ "core_per_s", real(r->core) },
		{ "stride", p->stride > 0 ? count(p->stride) : text(NULL) },
		{ "label", text(r->test->label != NULL ? r->test->label(p) : NULL) },
	};
	json_t *row = json_object();
	uint32_t i;

	for (i = 0; i < RTE_DIM(columns); i++)
		json_object_set_new(row, columns[i].name, columns[i].value);
	return row;
}

static void
csv_value(FILE *f, const json_t *value)
{
	if (json_is_string(value))
		fputs(json_string_value(value), f);
	else if (json_is_integer(value))
		fprintf(f, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		fprintf(f, "%.9g", json_real_value(value));
	else if (json_is_boolean(value))
		fputs(json_is_true(value) ? "true" : "false", f);
}

/* Print a line with the values of a row, or with the column names. */
static void
csv_line(FILE *f, const struct report_row *r, bool head)
{
	json_t *row = make_columns(r);
	const char *separator = "";
	const char *name;
	json_t *value;

	json_object_foreach(row, name, value) {
		fputs(separator, f);
		separator = ",";
		if (head)
			fputs(name, f);
		else
			csv_value(f, value);
	}
	fputc('\n', f);
	json_decref(row);
}

const char *const report_sides[2] = { "host", "dpu" };

static void
add_counters(json_t *row, const struct report_row *r)
{
	json_t *counters = json_object(), *side;
	uint32_t i, k;

	json_object_set_new(counters, "messages", count(r->counted));
	for (i = 0; i < RTE_DIM(report_sides); i++) {
		side = json_object();
		for (k = 0; k < r->counters[i].nb; k++)
			json_object_set_new(side, counters_name(k),
				count(r->counters[i].value[k]));
		json_object_set_new(counters, report_sides[i], side);
	}
	json_object_set_new(row, "counters", counters);
}

static void
json_line(FILE *f, const struct report_row *r)
{
	json_t *row = make_columns(r);

	if (r->counters[0].nb > 0)
		add_counters(row, r);
	json_dumpf(row, f, JSON_REAL_PRECISION(9));
	fputc('\n', f);
	json_decref(row);
}

struct report *
report_open(const struct options *opts, const char *setting)
{
	static const struct perf_test none = { .name = "" };
	const struct report_row empty = { .test = &none };
	struct report *report = calloc(1, sizeof(*report));

	if (report == NULL)
		return NULL;
	report->format = opts->format;
	report->table.histograms = opts->histogram != 0;
	report->f = opts->output == NULL ? stdout : fopen(opts->output, "we");
	if (report->f == NULL) {
		fprintf(stderr, "comch-perf: open --output %s: %s\n", opts->output,
				strerror(errno));
		free(report);
		return NULL;
	}
	if (opts->format == PERF_FORMAT_CSV)
		csv_line(report->f, &empty, true);
	if (opts->format == PERF_FORMAT_TEXT)
		table_head(report->f, setting);
	fflush(report->f);
	return report;
}

void
report_row(struct report *report, const struct report_row *row)
{
	if (report->format == PERF_FORMAT_CSV)
		csv_line(report->f, row, false);
	else if (report->format == PERF_FORMAT_JSON)
		json_line(report->f, row);
	else
		table_row(&report->table, report->f, row);
	fflush(report->f);
}

int
report_close(struct report *report)
{
	int rc;

	if (report->format == PERF_FORMAT_TEXT)
		table_foot(&report->table, report->f);
	rc = fflush(report->f) != 0 || ferror(report->f) ? -EIO : 0;
	if (report->f != stdout && fclose(report->f) != 0)
		rc = -errno;
	if (rc != 0)
		fprintf(stderr, "comch-perf: write the report: %s\n", strerror(-rc));
	free(report);
	return rc;
}
