/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Which of several measurements of a row comch-perf reports. */

#include <math.h>

#include "report/repeat.h"
#include "t_main.h"

static const struct perf_test rate = { .name = "rate" };
static const struct perf_test lat = { .name = "lat", .hops = 2 };

static struct report_row
row_of(double ratio, bool stable)
{
	return (struct report_row){ .test = &rate, .ratio = ratio, .stable = stable };
}

T_CASE(one)
{
	struct report_row row = row_of(1.5, false);
	const struct report_row *r = repeat_median(&row, 1);

	T_EQ(r->repeats, 1);
	T_EQ(r->nb_stable, 0);
	T_CHECK(r->ratio_min == 1.5 && r->ratio_max == 1.5);
}

/* Unstable measurements do not count, however good. */
T_CASE(stable_ones)
{
	struct report_row rows[] = {
		row_of(0.9, false), row_of(1.4, true), row_of(1.1, true), row_of(1.2, true),
		row_of(9.0, false),
	};
	const struct report_row *r = repeat_median(rows, RTE_DIM(rows));

	T_CHECK(r->ratio == 1.2 && r->stable);
	T_EQ(r->repeats, 5);
	T_EQ(r->nb_stable, 3);
	T_CHECK(r->ratio_min == 1.1 && r->ratio_max == 1.4);
}

T_CASE(none_stable)
{
	struct report_row rows[] = { row_of(3, false), row_of(1, false), row_of(2, false) };
	const struct report_row *r = repeat_median(rows, RTE_DIM(rows));

	T_CHECK(r->ratio == 2 && !r->stable);
	T_EQ(r->nb_stable, 0);
	T_CHECK(r->ratio_min == 1 && r->ratio_max == 3);
}

T_CASE(even_number)
{
	struct report_row rows[] = {
		row_of(4, true), row_of(1, true), row_of(3, true), row_of(2, true),
	};

	T_CHECK(repeat_median(rows, RTE_DIM(rows))->ratio == 2);
}

/* Not a figure: one way in three runs, another in two. */
T_CASE(two_modes)
{
	struct report_row rows[] = {
		row_of(0.97, true), row_of(0.50, true), row_of(0.52, true), row_of(1.02, true),
		row_of(0.53, true),
	};
	const struct report_row *r = repeat_median(rows, RTE_DIM(rows));

	T_CHECK(!r->settled);
	T_EQ(r->modes[0].nb, 3);
	T_EQ(r->modes[1].nb, 2);
	T_CHECK(r->modes[0].ratio == 0.52 && r->modes[1].ratio == 0.97);
}

T_CASE(scattered)
{
	struct report_row rows[] = {
		row_of(1.0, true), row_of(1.1, true), row_of(1.2, true), row_of(1.5, true),
		row_of(1.8, true),
	};
	const struct report_row *r = repeat_median(rows, RTE_DIM(rows));

	T_CHECK(!r->settled);
	T_EQ(r->modes[0].nb, 0);
}

/* Up to 15 %; and what is unstable does not count. */
T_CASE(settled)
{
	struct report_row rows[] = {
		row_of(1.0, true), row_of(1.07, true), row_of(1.14, true), row_of(3, false),
	};
	const struct report_row *r = repeat_median(rows, RTE_DIM(rows));

	T_CHECK(r->settled);
	T_EQ(r->modes[0].nb, 0);
}

/* By latency or rate. */
T_CASE(no_floor)
{
	struct report_row rows[3];
	unsigned int i;

	for (i = 0; i < RTE_DIM(rows); i++) {
		rows[i] = row_of(NAN, true);
		rows[i].msgs_per_s = 10 + (i + 1) % 3;
		rows[i].p50_ns = 20 + (i + 2) % 3;
	}
	T_CHECK(repeat_median(rows, RTE_DIM(rows))->msgs_per_s == 11);
	for (i = 0; i < RTE_DIM(rows); i++)
		rows[i].test = &lat;
	T_CHECK(repeat_median(rows, RTE_DIM(rows))->p50_ns == 21);
}
