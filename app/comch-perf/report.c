/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/clock.h"
#include "report.h"

#define MAX_NOTES PERF_MAX_TESTS

struct report {
	enum perf_format format;
	FILE *f;
	uint32_t nb_rows;
	bool unstable;
	bool crowded;
	/* Tests and floors in the table, to be explained below it. */
	const struct perf_test *tests[MAX_NOTES];
	uint32_t nb_tests;
	bool floors[FLOOR_NONE + 1];
};

/* A field of CSV and JSON: their only list. */
struct field {
	const char *name;
	enum { FIELD_TEXT, FIELD_COUNT, FIELD_REAL, FIELD_BOOL } type;
	union {
		const char *text;
		uint64_t count;
		double real;
		bool yes;
	};
};

#define TEXT(n, v)  { .name = (n), .type = FIELD_TEXT, .text = (v) }
#define COUNT(n, v) { .name = (n), .type = FIELD_COUNT, .count = (v) }
#define REAL(n, v)  { .name = (n), .type = FIELD_REAL, .real = (v) }
#define BOOL(n, v)  { .name = (n), .type = FIELD_BOOL, .yes = (v) }

#define NB_FIELDS 27

/* Does the row have what only producers and consumers have? */
static bool
is_data(const struct report_row *row)
{
	return (row->test->options & PERF_OPT_MEMORY) != 0;
}

/* ... and which calls were measured? Control messages have but one native way. */
static const char *
api_name(const struct report_row *row)
{
	return is_data(row) || row->test->place == PERF_PROCESS ||
		row->params.api >= PERF_API_DOCA ? perf_api_name(row->params.api) : NULL;
}

static void
make_fields(const struct report_row *r, struct field fields[NB_FIELDS])
{
	const struct perf_params *p = &r->params;
	const struct field all[NB_FIELDS] = {
		TEXT("test", r->test->name),
		TEXT("api", api_name(r)),
		TEXT("driver", r->driver),
		TEXT("memory", is_data(r) ? perf_memory_name(p->memory) : NULL),
		TEXT("wait", perf_wait_name(p->wait)),
		COUNT("size", p->size),
		COUNT("burst", p->burst),
		COUNT("queue", p->queue),
		COUNT("producers", p->producers),
		COUNT("consumers", p->consumers),
		COUNT("connections", p->connections),
		COUNT("messages", r->messages),
		REAL("seconds", r->seconds),
		REAL("msgs_per_s", r->msgs_per_s),
		REAL("bytes_per_s", r->bytes_per_s),
		REAL("p50_ns", r->p50_ns),
		REAL("p90_ns", r->p90_ns),
		REAL("p99_ns", r->p99_ns),
		REAL("p999_ns", r->p999_ns),
		REAL("max_ns", r->max_ns),
		REAL("copies", r->copies),
		TEXT("floor", floor_name(r->floor)),
		REAL("floor_value", r->floor_value),
		REAL("floor_after", r->floor_after),
		REAL("ratio", r->ratio),
		BOOL("stable", r->stable),
		COUNT("errors", r->errors),
	};

	memcpy(fields, all, sizeof(all));
}

static void
csv_head(FILE *f)
{
	static const struct perf_test none = { .name = "" };
	const struct report_row row = { .test = &none, .driver = "" };
	struct field fields[NB_FIELDS];
	uint32_t i;

	make_fields(&row, fields);
	for (i = 0; i < NB_FIELDS; i++)
		fprintf(f, "%s%s", i == 0 ? "" : ",", fields[i].name);
	fprintf(f, "\n");
}

static void
csv_field(FILE *f, const struct field *field)
{
	switch (field->type) {
	case FIELD_TEXT:
		fprintf(f, "%s", field->text != NULL ? field->text : "");
		break;
	case FIELD_COUNT:
		fprintf(f, "%llu", (unsigned long long)field->count);
		break;
	case FIELD_REAL:
		if (!isnan(field->real))
			fprintf(f, "%.9g", field->real);
		break;
	case FIELD_BOOL:
		fprintf(f, "%s", field->yes ? "true" : "false");
		break;
	}
}

static void
csv_row(FILE *f, const struct report_row *row)
{
	struct field fields[NB_FIELDS];
	uint32_t i;

	make_fields(row, fields);
	for (i = 0; i < NB_FIELDS; i++) {
		if (i > 0)
			fputc(',', f);
		csv_field(f, &fields[i]);
	}
	fputc('\n', f);
}

static json_t *
json_field(const struct field *field)
{
	switch (field->type) {
	case FIELD_TEXT:
		return field->text != NULL ? json_string(field->text) : json_null();
	case FIELD_COUNT:
		return json_integer((json_int_t)field->count);
	case FIELD_REAL:
		return isnan(field->real) ? json_null() : json_real(field->real);
	default:
		return json_boolean(field->yes);
	}
}

static void
json_row(FILE *f, const struct report_row *row)
{
	struct field fields[NB_FIELDS];
	json_t *object = json_object();
	uint32_t i;

	make_fields(row, fields);
	for (i = 0; i < NB_FIELDS; i++)
		json_object_set_new(object, fields[i].name, json_field(&fields[i]));
	json_dumpf(object, f, JSON_REAL_PRECISION(9));
	fputc('\n', f);
	json_decref(object);
}

/* 1234567.0 as "1.23 M". */
static const char *
si(double value, char *buf, size_t size)
{
	static const char *const units[] = { "", "k", "M", "G", "T" };
	uint32_t i = 0;

	while (value >= 999.5 && i < 4) {
		value /= 1000;
		i++;
	}
	snprintf(buf, size, "%.3g %s", value, units[i]);
	return buf;
}

/* Nanoseconds for people. */
static const char *
ns_text(double ns, char *buf, size_t size)
{
	if (ns < 9999.5)
		snprintf(buf, size, "%.4g ns", ns);
	else if (ns < 9999500)
		snprintf(buf, size, "%.4g us", ns / 1e3);
	else
		snprintf(buf, size, "%.4g ms", ns / 1e6);
	return buf;
}

static void
floor_text(enum floor_kind kind, double value, char *buf, size_t size)
{
	char number[32];

	switch (kind) {
	case FLOOR_LINE:
	case FLOOR_WAKE:
		snprintf(buf, size, "%s %s", floor_name(kind),
				ns_text(value, number, sizeof(number)));
		break;
	case FLOOR_SLOT:
		snprintf(buf, size, "slot %s/s", si(value, number, sizeof(number)));
		break;
	case FLOOR_MEMCPY:
		snprintf(buf, size, "memcpy %sB/s", si(value, number, sizeof(number)));
		break;
	default:
		snprintf(buf, size, "-");
		break;
	}
}

/* A size in the largest unit that divides it, "64 B", "1 MiB". */
static const char *
size_text(uint64_t size, char *buf, size_t len)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB" };
	uint32_t i = 0;

	while (i < 3 && size != 0 && size % 1024 == 0) {
		size /= 1024;
		i++;
	}
	snprintf(buf, len, "%llu %s", (unsigned long long)size, units[i]);
	return buf;
}

/* Words with commas between them, as far as they fit: a row is a line. */
struct words {
	char *buf;
	size_t size;
	size_t len;
};

__attribute__((format(printf, 2, 3)))
static void
add_words(struct words *w, const char *format, ...)
{
	va_list ap;

	if (w->len > 0 && w->len + 2 < w->size)
		w->len += (size_t)snprintf(w->buf + w->len, w->size - w->len, ", ");
	if (w->len + 1 >= w->size)
		return;
	va_start(ap, format);
	w->len += (size_t)vsnprintf(w->buf + w->len, w->size - w->len, format, ap);
	va_end(ap);
}

static void
add_size(struct words *w, const struct report_row *r)
{
	const struct perf_params *p = &r->params;
	char number[32];

	if (r->test->label != NULL)
		add_words(w, "%s", r->test->label(p));
	if ((r->test->options & (PERF_OPT_SIZE | PERF_OPT_IMM)) == 0 ||
			(perf_test_is_floor(r->test) && r->floor != FLOOR_MEMCPY))
		return;
	if (p->imm == 0)
		add_words(w, "%s", size_text(p->size, number, sizeof(number)));
	else if (p->size == 0)
		add_words(w, "imm %u B", p->imm);
	else
		add_words(w, "%s + imm %u B", size_text(p->size, number,
				sizeof(number)), p->imm);
}

/* "64 B, desc, shared, burst 32": what sets a row apart. */
static void
what_text(const struct report_row *r, char *buf, size_t size)
{
	const struct perf_params *p = &r->params;
	struct words w = { .buf = buf, .size = size };

	buf[0] = '\0';
	add_size(&w, r);
	if (api_name(r) != NULL)
		add_words(&w, "%s", api_name(r));
	if (is_data(r))
		add_words(&w, "%s", perf_memory_name(p->memory));
	if ((r->test->options & PERF_OPT_BURST) != 0)
		add_words(&w, "burst %u", p->burst);
	if (p->producers > 1 || p->consumers > 1)
		add_words(&w, "%u->%u", p->producers, p->consumers);
	if (p->connections > 1)
		add_words(&w, "%u conns", p->connections);
	if (p->bidir)
		add_words(&w, "bidir");
	if (p->wait == PERF_WAIT_EVENT)
		add_words(&w, "event");
	if (p->verify)
		add_words(&w, "verify");
}

static void
result_text(const struct report_row *r, char *buf, size_t size)
{
	char a[32];
	char b[32];

	if (r->error[0] != '\0') {
		snprintf(buf, size, "failed");
	} else if (perf_test_is_floor(r->test)) {
		floor_text(r->floor, r->ratio * (r->floor_value + r->floor_after) / 2,
				a, sizeof(a));
		snprintf(buf, size, "%s", strchr(a, ' ') + 1);
	} else if (r->test->hops > 0) {
		snprintf(buf, size, "p50 %s, p99.9 %s",
				ns_text(r->p50_ns, a, sizeof(a)),
				ns_text(r->p999_ns, b, sizeof(b)));
	} else if (r->floor == FLOOR_MEMCPY ||
			(r->floor == FLOOR_NONE && r->params.size >= 65536)) {
		snprintf(buf, size, "%sB/s", si(r->bytes_per_s, a, sizeof(a)));
	} else {
		snprintf(buf, size, "%s/s, %sB/s", si(r->msgs_per_s, a, sizeof(a)),
				si(r->bytes_per_s, b, sizeof(b)));
	}
}

static void
text_row(struct report *report, const struct report_row *r)
{
	char what[80];
	char result[80];
	char floor[48];
	char ratio[16] = "-";
	char copies[16] = "-";
	const char *state = r->crowded ? "crowded" : r->floor == FLOOR_NONE ? "" :
			r->stable ? "stable" : "unstable";

	what_text(r, what, sizeof(what));
	result_text(r, result, sizeof(result));
	floor_text(r->floor, (r->floor_value + r->floor_after) / 2, floor,
			sizeof(floor));
	if (!isnan(r->ratio))
		snprintf(ratio, sizeof(ratio), "%.2f", r->ratio);
	if (!isnan(r->copies))
		snprintf(copies, sizeof(copies), "%.2f", r->copies);
	fprintf(report->f, "%-10s %-36s %-28s %-17s %7s %7s  %s\n", r->test->name,
			what, result, floor, ratio, copies,
			r->error[0] != '\0' ? "" : state);
	if (r->error[0] != '\0')
		fprintf(report->f, "           -> %s\n", r->error);
	else if (r->errors > 0)
		fprintf(report->f, "           -> %llu messages lost, out of order or "
				"damaged\n", (unsigned long long)r->errors);
	if (r->hist != NULL)
		hist_print(r->hist, clock_cycles_to_ns(1) / r->test->hops, "ns", report->f);
}

/* Remember what has to be explained. */
static void
note(struct report *report, const struct report_row *row)
{
	uint32_t i;

	report->floors[row->floor] = true;
	report->crowded |= row->crowded;
	report->unstable |= !row->stable && !row->crowded && row->floor != FLOOR_NONE;
	for (i = 0; i < report->nb_tests; i++) {
		if (report->tests[i] == row->test)
			return;
	}
	if (report->nb_tests < MAX_NOTES)
		report->tests[report->nb_tests++] = row->test;
}

static void
explain(const struct report *report)
{
	FILE *f = report->f;
	uint32_t i;

	fprintf(f, "\nTests\n");
	for (i = 0; i < report->nb_tests; i++)
		fprintf(f, "  %-10s %s\n", report->tests[i]->name,
				report->tests[i]->what);
	fprintf(f, "Floors, measured just before and after each row on the same CPUs\n");
	for (i = 0; i < FLOOR_NONE; i++) {
		if (report->floors[i])
			fprintf(f, "  %-10s %s\n", floor_name((enum floor_kind)i),
					floor_what((enum floor_kind)i));
	}
	fprintf(f, "Columns\n"
		"  ratio      result / mean of the two floors. Latencies (p50): 1 is the best\n"
		"             there is, lower is better. Rates and bandwidths: higher is better.\n"
		"  copies     CPU copies a message, both sides together.\n"
		"  unstable   the two floors differ by more than 15 %%, or other programs had the\n"
		"             CPU for more than 10 %% of the time: the machine changed.\n");
	if (report->unstable)
		fprintf(f, "             Such rows tell little: run them again.\n");
	if (report->crowded)
		fprintf(f, "  crowded    threads took turns on a CPU: the figures tell\n"
			"             how the system shares it out. Give each a CPU of its own.\n");
}

struct report *
report_open(enum perf_format format, const char *path, const char *setting)
{
	struct report *report = calloc(1, sizeof(*report));

	if (report == NULL)
		return NULL;
	report->format = format;
	report->f = path == NULL ? stdout : fopen(path, "we");
	if (report->f == NULL) {
		fprintf(stderr, "comch-perf: --output %s: %s\n", path, strerror(errno));
		free(report);
		return NULL;
	}
	if (format == PERF_FORMAT_CSV)
		csv_head(report->f);
	if (format == PERF_FORMAT_TEXT)
		fprintf(report->f, "%s\n\n%-10s %-36s %-28s %-17s %7s %7s\n", setting,
				"test", "messages", "result", "floor", "ratio", "copies");
	fflush(report->f);
	return report;
}

void
report_row(struct report *report, const struct report_row *row)
{
	note(report, row);
	switch (report->format) {
	case PERF_FORMAT_CSV:
		csv_row(report->f, row);
		break;
	case PERF_FORMAT_JSON:
		json_row(report->f, row);
		break;
	default:
		text_row(report, row);
		break;
	}
	fflush(report->f);
}

int
report_close(struct report *report)
{
	int rc;

	if (report->format == PERF_FORMAT_TEXT)
		explain(report);
	rc = fflush(report->f) != 0 || ferror(report->f) ? -EIO : 0;
	if (report->f != stdout && fclose(report->f) != 0)
		rc = -errno;
	if (rc != 0)
		fprintf(stderr, "comch-perf: the report could not be written\n");
	free(report);
	return rc;
}
