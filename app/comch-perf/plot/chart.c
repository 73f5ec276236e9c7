/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What gnuplot reads: the figures of a test as series, and how to draw them. */

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "plot/plot.h"

#define MAX_SERIES 16
#define SERIES_SIZE 96
/* Bars of a histogram, from the minimum to twice p99. */
#define NB_BARS 100

/* What the values of a test are, and how they are shown. */
struct axis {
	const char *label;
	double scale;   /* of what is shown, by value */
};

static const struct axis latency = { "one way, ns (p50)", 1 };
static const struct axis rate = { "messages per second, millions", 1e-6 };
static const struct axis bandwidth = { "GB/s", 1e-9 };

static const struct axis *
axis_of(const struct report_row *r)
{
	if (r->test->hops > 0)
		return &latency;
	return floor_unit(r->floor) == FLOOR_BYTES ? &bandwidth : &rate;
}

static double
value_of(const struct report_row *r)
{
	const struct axis *axis = axis_of(r);

	return axis == &latency ? r->p50_ns : axis == &rate ? r->msgs_per_s : r->bytes_per_s;
}

/* The parameter that varies: bursts if there are several, or else the size. */
static bool
is_over_burst(const struct report_row *rows, uint32_t nb)
{
	uint32_t i;

	for (i = 1; i < nb; i++)
		if (rows[i].params.burst != rows[0].params.burst)
			return (rows->test->options & PERF_OPT_BURST) != 0;
	return false;
}

/*
 * What a series has in common: what identifies a row, without the parameter that varies.
 * Without commas, which separate the columns.
 */
static const char *
series_of(const struct report_row *r, bool over_burst, char *buf, size_t size)
{
	char *comma;

	report_what(r, over_burst ? PERF_OPT_BURST : PERF_OPT_SIZE, buf, size);
	if (buf[0] == '\0')
		snprintf(buf, size, "%s", r->test->name);
	while ((comma = strchr(buf, ',')) != NULL)
		memmove(comma, comma + 1, strlen(comma));
	return buf;
}

/* Text between double quotes. */
static void
quote(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', f);
		fputc(*text, f);
	}
	fputc('"', f);
}

static void
script_head(FILE *f, const char *title, const char *setting)
{
	fputs("set datafile separator ','\n"
		"set datafile missing 'nan'\n"
		"set encoding utf8\n"
		"set grid back linecolor rgb '#d0d0d0'\n"
		"set border 3\n"
		"set tics nomirror\n"
		"set key outside right top noenhanced\n"
		"set yrange [0:*]\n"
		"set style line 1 linecolor rgb '#1f5fa8' pointtype 7 linewidth 2\n"
		"set style line 2 linecolor rgb '#c8501e' pointtype 5 linewidth 2\n"
		"set style line 3 linecolor rgb '#2f8a4c' pointtype 9 linewidth 2\n"
		"set style line 4 linecolor rgb '#7d4fa0' pointtype 11 linewidth 2\n"
		"set style line 10 linecolor rgb '#505050' dashtype 2 linewidth 1.5\n", f);
	fputs("set title ", f);
	quote(f, title);
	fputs(" noenhanced\nset label 1 ", f);
	quote(f, setting);
	fputs(" at screen 0.01,0.02 font ',9' textcolor rgb '#606060' noenhanced\n"
		"set bmargin 5\n", f);
}

/* Draw to both files: what DRAW is, the caller has written. */
static void
script_foot(FILE *f, const char *name)
{
	fprintf(f, "set terminal svg size 900,540 background rgb 'white' font 'sans,12'\n"
		"set output '%s.svg'\n"
		"@DRAW\n"
		"set terminal pngcairo size 1350,810 background rgb 'white' font 'sans,15'\n"
		"set output '%s.png'\n"
		"@DRAW\n", name, name);
}

/* Find the series, and the first of each kind of floor. */
static uint32_t
find_series(const struct report_row *rows, uint32_t nb, bool over_burst,
		char names[][SERIES_SIZE], enum floor_kind *floors)
{
	char name[SERIES_SIZE];
	uint32_t i, k, nb_series = 0;

	for (i = 0; i < nb && nb_series < MAX_SERIES; i++) {
		series_of(&rows[i], over_burst, name, sizeof(name));
		for (k = 0; k < nb_series && strcmp(names[k], name) != 0; k++)
			;
		if (k < nb_series)
			continue;
		memcpy(names[nb_series], name, sizeof(name));
		floors[nb_series] = rows[i].floor;
		for (k = 0; k < nb_series; k++)
			if (floors[k] == rows[i].floor)
				floors[nb_series] = FLOOR_NONE;
		nb_series++;
	}
	return nb_series;
}

static void
csv_row(FILE *f, const struct report_row *r, const char *series, bool over_burst)
{
	const double scale = axis_of(r)->scale, v = value_of(r) * scale;

	fprintf(f, "%s,%llu,%.6g,%.6g,%.6g,%.6g\n", series,
		(unsigned long long)(over_burst ? r->params.burst : r->params.size), v,
		(r->floor_value + r->floor_after) / 2 * scale, v * r->ratio_min / r->ratio,
		v * r->ratio_max / r->ratio);
}

void
chart_csv(FILE *f, const struct report_row *rows, uint32_t nb)
{
	const bool over_burst = is_over_burst(rows, nb);
	char names[MAX_SERIES][SERIES_SIZE], name[SERIES_SIZE];
	enum floor_kind floors[MAX_SERIES];
	uint32_t i, k, nb_series = find_series(rows, nb, over_burst, names, floors);

	fputs("series,x,value,floor,low,high\n", f);
	/* Lines are drawn from point to point. */
	for (k = 0; k < nb_series; k++)
		for (i = 0; i < nb; i++)
			if (strcmp(series_of(&rows[i], over_burst, name, sizeof(name)),
					names[k]) == 0)
				csv_row(f, &rows[i], name, over_burst);
}

void
chart_script(FILE *f, const char *name, const char *setting, const struct report_row *rows,
		uint32_t nb)
{
	const bool over_burst = is_over_burst(rows, nb);
	char names[MAX_SERIES][SERIES_SIZE], title[160];
	enum floor_kind floors[MAX_SERIES];
	const char *separator = "plot ";
	uint32_t nb_series, i;

	nb_series = find_series(rows, nb, over_burst, names, floors);
	snprintf(title, sizeof(title), "%s: %s", rows->test->name, rows->test->what);
	script_head(f, title, setting);
	fprintf(f, "set xlabel '%s'\nset ylabel '%s'\n", over_burst ? "burst, messages per call" :
			"size, bytes", axis_of(rows)->label);
	fputs("set logscale x 2\n", f);
	if (!over_burst)
		fputs("set format x '%.0b%B'\n", f);
	fputs("DRAW = \"", f);
	for (i = 0; i < nb_series; i++) {
		fprintf(f, "%s'%s.csv' every ::1 using (stringcolumn(1) eq '%s' ? $2 : NaN):3:5:6 "
			"with yerrorlines linestyle %u title '%s'", separator, name, names[i],
			i % 4 + 1, names[i]);
		separator = ", ";
		if (floors[i] != FLOOR_NONE)
			fprintf(f, ", '%s.csv' every ::1 using (stringcolumn(1) eq '%s' ? $2 : NaN)"
				":4 with lines linestyle 10 title 'floor: %s'", name, names[i],
				floor_name(floors[i]));
	}
	fputs("\"\n", f);
	script_foot(f, name);
}

/* Latencies, ns, from *low* on in steps of *step*. */
struct bars {
	double low;
	double step;
	double share[NB_BARS]; /* percent */
};

static void
bars_fill(struct bars *b, const struct report_row *r)
{
	const double scale = clock_cycles_to_ns(1) / r->test->hops;
	const struct hist *h = r->hist;
	uint32_t i, first = 0, bar;
	double ns;

	*b = (struct bars){ 0 };
	while (first < HIST_BUCKETS - 1 && h->buckets[first] == 0)
		first++;
	b->low = (double)hist_bucket_low(first) * scale;
	b->step = (2 * hist_quantile(h, 0.99) * scale - b->low) / NB_BARS;
	for (i = first; i < HIST_BUCKETS - 1 && b->step > 0; i++) {
		ns = (double)hist_bucket_low(i) * scale;
		bar = (uint32_t)((ns - b->low) / b->step);
		if (bar >= NB_BARS)
			break;
		b->share[bar] += 100.0 * (double)h->buckets[i] / (double)h->count;
	}
}

void
chart_histogram_csv(FILE *f, const struct report_row *row)
{
	struct bars b;
	uint32_t i;

	bars_fill(&b, row);
	fputs("ns,share\n", f);
	for (i = 0; i < NB_BARS; i++)
		fprintf(f, "%.6g,%.6g\n", b.low + (i + 0.5) * b.step, b.share[i]);
}

void
chart_histogram_script(FILE *f, const char *name, const char *setting,
		const struct report_row *row)
{
	const double floor = (row->floor_value + row->floor_after) / 2;
	char what[SERIES_SIZE], title[256], p50[32], p999[32];
	struct bars b;

	bars_fill(&b, row);
	report_what(row, 0, what, sizeof(what));
	snprintf(title, sizeof(title), "%s, %s: %llu round trips, p50 %s, p99.9 %s",
			row->test->name, what, (unsigned long long)row->hist->count,
			report_ns(row->p50_ns, p50, sizeof(p50)),
			report_ns(row->p999_ns, p999, sizeof(p999)));
	script_head(f, title, setting);
	fputs("set xlabel 'one way, ns'\nset ylabel 'share of the round trips, %'\n"
		"set style fill solid 0.8 noborder\n", f);
	if (row->floor != FLOOR_NONE && !isnan(floor))
		fprintf(f, "set arrow 1 from first %.6g, graph 0 to first %.6g, graph 1 nohead "
			"linestyle 10\nset label 2 'floor: %s' at first %.6g, graph 1 center "
			"offset 0,0.6 textcolor rgb '#505050'\nset xrange [%.6g:*]\n", floor, floor,
			floor_name(row->floor), floor, RTE_MIN(floor, b.low) * 0.9);
	fprintf(f, "DRAW = \"plot '%s.csv' every ::1 using 1:2 with boxes linestyle 1 notitle\"\n",
			name);
	script_foot(f, name);
}
