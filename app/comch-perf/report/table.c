/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The text report: a table with one line per row. */

#include <math.h>
#include <string.h>

#include "app_mem.h"
#include "app_text.h"
#include "base/clock.h"
#include "report/report.h"

const char *
report_ns(double ns, char *buf, size_t size)
{
	if (ns < 9999.5)
		snprintf(buf, size, "%.4g ns", ns);
	else if (ns < 9999500)
		snprintf(buf, size, "%.4g us", ns / 1e3);
	else
		snprintf(buf, size, "%.4g ms", ns / 1e6);
	return buf;
}

/* Format a figure in the unit of a floor. */
static const char *
figure_text(enum floor_kind kind, double value, char *buf, size_t size)
{
	char number[32];

	if (floor_unit(kind) == FLOOR_MSGS)
		snprintf(buf, size, "%s/s", app_si(value, number, sizeof(number)));
	else if (floor_unit(kind) == FLOOR_BYTES)
		snprintf(buf, size, "%sB/s", app_si(value, number, sizeof(number)));
	else
		report_ns(value, buf, size);
	return buf;
}

static void
print_size(FILE *f, const struct report_row *r)
{
	const struct perf_params *p = &r->params;
	char number[32];

	if ((r->test->options & (PERF_OPT_SIZE | PERF_OPT_IMM)) == 0 ||
			(perf_test_is_floor(r->test) && !floor_has_size(r->floor)))
		return;
	app_size(p->size, number, sizeof(number));
	if (p->imm == 0)
		fprintf(f, ", %s", number);
	else if (p->size == 0)
		fprintf(f, ", imm %u B", p->imm);
	else
		fprintf(f, ", %s + imm %u B", number, p->imm);
	if (p->stride > 0 && p->size > 0)
		fprintf(f, " every %s", app_size(p->stride, number, sizeof(number)));
}

static void
print_lines(FILE *f, const struct report_row *r)
{
	double lines = report_lines(r);

	if (!isnan(lines))
		fprintf(f, ", %g line%s", lines, lines > 1 ? "s" : "");
}

/* Print the parameters that identify a row, each after a comma: ", 64 B, desc, shared". */
static void
print_what(FILE *f, const struct report_row *r, uint32_t omit)
{
	const struct perf_params *p = &r->params;

	if (r->test->label != NULL)
		fprintf(f, ", %s", r->test->label(p));
	print_lines(f, r);
	if ((omit & PERF_OPT_SIZE) == 0)
		print_size(f, r);
	if (report_api(r) != NULL)
		fprintf(f, ", %s", report_api(r));
	if (report_is_data(r))
		fprintf(f, ", %s", app_memory_names[p->memory]);
	if ((r->test->options & PERF_OPT_BURST & ~omit) != 0)
		fprintf(f, ", burst %u", p->burst);
	if (p->producers > 1 || p->consumers > 1)
		fprintf(f, ", %u->%u", p->producers, p->consumers);
	if (p->connections > 1)
		fprintf(f, ", %u conns", p->connections);
	if (p->bidir)
		fprintf(f, ", bidir");
	if (p->wait != PERF_WAIT_POLL)
		fprintf(f, ", %s", perf_wait_names[p->wait]);
	if (p->verify)
		fprintf(f, ", verify");
}

const char *
report_what(const struct report_row *r, uint32_t omit, char *buf, size_t size)
{
	FILE *f = fmemopen(buf, size, "w");

	memset(buf, 0, size);
	if (f != NULL) {
		print_what(f, r, omit);
		fclose(f);
	}
	buf[size - 1] = '\0';
	if (buf[0] == ',')
		memmove(buf, buf + 2, size - 2);
	return buf;
}

static void
result_text(const struct report_row *r, char *buf, size_t size)
{
	double mean = (r->floor_value + r->floor_after) / 2;
	char a[32], b[32];

	if (r->error[0] != '\0')
		snprintf(buf, size, "failed");
	else if (perf_test_is_floor(r->test))
		figure_text(r->floor, r->ratio * mean, buf, size);
	else if (r->test->hops > 0)
		snprintf(buf, size, "p50 %s, p99.9 %s", report_ns(r->p50_ns, a, sizeof(a)),
				report_ns(r->p999_ns, b, sizeof(b)));
	else if (floor_unit(r->floor) == FLOOR_BYTES ||
			(r->floor == FLOOR_NONE && r->params.size >= 65536))
		snprintf(buf, size, "%sB/s", app_si(r->bytes_per_s, a, sizeof(a)));
	else
		snprintf(buf, size, "%s/s, %sB/s", app_si(r->msgs_per_s, a, sizeof(a)),
				app_si(r->bytes_per_s, b, sizeof(b)));
}

/* Record what the foot must explain. */
static void
note(struct table *table, const struct report_row *row)
{
	uint32_t i;

	table->floors[row->floor] = true;
	table->crowded |= row->crowded;
	table->repeated |= row->repeats > 1;
	table->tails |= row->test->hops > 0 && !isnan(row->floor_p999_ns);
	table->unsettled |= row->repeats > 1 && !row->settled;
	table->unstable |= !row->stable && !row->crowded && row->floor != FLOOR_NONE;
	for (i = 0; i < table->nb_tests; i++) {
		if (table->tests[i] == row->test)
			return;
	}
	if (table->nb_tests < RTE_DIM(table->tests))
		table->tests[table->nb_tests++] = row->test;
}

/* "-> host, per message: sends 0.156, doorbells 0.031" */
static void
print_counters(FILE *f, const struct report_row *r, uint32_t side)
{
	const struct counters *c = &r->counters[side];
	const char *sep = "";
	uint32_t i;

	fprintf(f, "           -> %s%s: ", report_sides[side],
			r->counted > 0 ? ", per message" : "");
	for (i = 0; i < c->nb; i++) {
		if (c->value[i] == 0)
			continue;
		if (r->counted > 0 && !counters_is_level(i))
			fprintf(f, "%s%s %.3g", sep, counters_name(i),
					(double)c->value[i] / (double)r->counted);
		else
			fprintf(f, "%s%s %llu%s", sep, counters_name(i),
					(unsigned long long)c->value[i],
					r->counted > 0 ? " in all" : "");
		sep = ", ";
	}
	fputc('\n', f);
}

void
table_head(FILE *f, const char *setting)
{
	fprintf(f, "%s\n\n%-10s %-36s %-28s %-17s %7s %7s\n", setting, "test", "messages",
			"result", "floor", "ratio", "copies");
}

/*
 * "4/5 stable, 1.21 to 1.27", "5/5 stable, no figure: 0.52 (3 times) or 0.97 (2)", or "5/5 stable,
 * no figure: 0.52 to 0.97".
 */
static void
print_spread(const struct report_row *r, FILE *f)
{
	fprintf(f, "%u/%u stable, %s", r->nb_stable, r->repeats,
		r->settled ? "" : "no figure: ");
	if (r->modes[0].nb > 0)
		fprintf(f, "%.2f (%u times) or %.2f (%u)", r->modes[0].ratio, r->modes[0].nb,
			r->modes[1].ratio, r->modes[1].nb);
	else
		fprintf(f, "%.2f to %.2f", r->ratio_min, r->ratio_max);
}

/* "stable", or the spread of repeated measurements. */
static void
print_state(const struct report_row *r, FILE *f)
{
	const char *state = r->crowded ? "crowded" : r->floor == FLOOR_NONE ? "" :
			r->stable ? "stable" : "unstable";

	if (r->error[0] != '\0')
		state = "";
	if (r->repeats > 1 && !r->crowded && r->floor != FLOOR_NONE)
		print_spread(r, f);
	else
		fputs(state, f);
	if (r->test->hops > 0 && !isnan(r->floor_p999_ns))
		fprintf(f, ", p99.9 %.2f", r->p999_ns / r->floor_p999_ns);
	fputc('\n', f);
}

void
table_row(struct table *table, FILE *f, const struct report_row *r)
{
	char what[82], result[80], number[32], floor[48] = "-", ratio[16] = "-", copies[16] = "-";
	double mean = (r->floor_value + r->floor_after) / 2;
	uint32_t i;

	note(table, r);
	result_text(r, result, sizeof(result));
	if (r->floor != FLOOR_NONE)
		snprintf(floor, sizeof(floor), "%s %s", floor_name(r->floor),
				figure_text(r->floor, mean, number, sizeof(number)));
	if (!isnan(r->ratio))
		snprintf(ratio, sizeof(ratio), "%.2f", r->ratio);
	if (!isnan(r->copies))
		snprintf(copies, sizeof(copies), "%.2f", r->copies);
	fprintf(f, "%-10s %-36s %-28s %-17s %7s %7s  ", r->test->name,
			report_what(r, 0, what, sizeof(what)), result, floor, ratio, copies);
	print_state(r, f);
	if (r->error[0] != '\0')
		fprintf(f, "           -> %s\n", r->error);
	else if (r->errors > 0)
		fprintf(f, "           -> %llu messages lost, out of order or damaged\n",
				(unsigned long long)r->errors);
	for (i = 0; i < RTE_DIM(report_sides) && r->counters[0].nb > 0; i++)
		print_counters(f, r, i);
	if (table->histograms && r->hist != NULL)
		hist_print(r->hist, clock_cycles_to_ns(1) / r->test->hops, "ns", f);
}

void
table_foot(const struct table *table, FILE *f)
{
	uint32_t i;

	fprintf(f, "\nTests\n");
	for (i = 0; i < table->nb_tests; i++)
		fprintf(f, "  %-10s %s\n", table->tests[i]->name, table->tests[i]->what);
	fprintf(f, "Floors, measured just before and after each row on the same CPUs\n");
	for (i = 0; i < FLOOR_NONE; i++) {
		if (table->floors[i])
			fprintf(f, "  %-10s %s\n", floor_name((enum floor_kind)i),
					floor_what((enum floor_kind)i));
	}
	fprintf(f, "Columns\n"
		"  ratio      result / mean of the two floors. Latencies (p50): lower is better,\n"
		"             1 is the optimum. Rates and bandwidths: higher is better.\n"
		"  copies     CPU copies per message, both sides together.\n"
		"  unstable   the machine changed: the two floors differ by more than 15 %%,\n"
		"             other programs had the CPU for more than 10 %% of the time, or a\n"
		"             CPU did less than 85 %% of its best, because it shares its core.\n");
	if (table->tails)
		fprintf(f, "  p99.9      that of the result / that of the floors.\n");
	if (table->repeated)
		fprintf(f, "  N/M stable how many of the M measurements were stable, and their "
			"smallest and\n             largest ratio; the row is their median.\n");
	if (table->unsettled)
		fprintf(f, "  no figure  the stable measurements differ by more than %.0f %%: a "
			"median of them\n             says little. Two groups are two ways to go "
			"of the machine, or of the\n             two sides: see doc/guides/"
			"performance.md.\n", REPORT_SPREAD * 100);
	if (table->unstable)
		fprintf(f, "             Such rows are unreliable: run them again.\n");
	if (table->crowded)
		fprintf(f, "  crowded    several threads shared a CPU: the figures show how the\n"
			"             scheduler divides it. Give each thread its own CPU.\n");
}
