/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* comch-perf floor --lines: its values, the lengths of its messages, and its rows. */

#include <getopt.h>
#include <stdlib.h>

#include "floor/lines.h"
#include "plan/plan.h"
#include "t_main.h"

T_CASE(values)
{
	static const struct {
		const char *text;
		uint32_t lines;
	} good[] = {
		{ "1", 1000 }, { "1.0", 1000 }, { "1.001", 1001 }, { "1.6", 1600 },
		{ "2.25", 2250 }, { "15.999", 15999 }, { "16", 16000 }, { "16.000", 16000 },
	};
	static const char *const bad[] = {
		"", "0", "-1", "0.999", "16.001", "17", "1.0005", "2.3333333", "nan", "inf",
		"1e300", "1,5", "2x", "2 ", "lines",
	};
	uint32_t lines, i;

	for (i = 0; i < RTE_DIM(good); i++) {
		T_EQ(floor_lines_parse(good[i].text, &lines), 0);
		T_EQ(lines, good[i].lines);
	}
	for (i = 0; i < RTE_DIM(bad); i++)
		T_EQ(floor_lines_parse(bad[i], &lines), -EINVAL);
}

/* Three of two lines and one of three make 2.25. */
T_CASE(alternate)
{
	struct floor_lengths lengths = floor_lengths_init(2250);
	uint32_t i;

	for (i = 0; i < 400; i++)
		T_EQ(floor_lengths_next(&lengths), i % 4 == 3 ? 3 : 2);
}

/* After 1,000 messages, the mean is exact. */
T_CASE(mean)
{
	struct floor_lengths lengths;
	uint32_t lines, i, n, sum;

	for (lines = FLOOR_ONE_LINE; lines <= FLOOR_MAX_LINES * FLOOR_ONE_LINE; lines++) {
		lengths = floor_lengths_init(lines);
		for (sum = i = 0; i < FLOOR_ONE_LINE; i++) {
			n = floor_lengths_next(&lengths);
			T_LE(lines / FLOOR_ONE_LINE, n);
			T_LE(n, (lines + FLOOR_ONE_LINE - 1) / FLOOR_ONE_LINE);
			sum += n;
		}
		T_EQ(sum, lines);
	}
}

static int
make(struct plan *plan, const char *a, const char *b, const char *c, const char *d, const char *e)
{
	const char *const words[] = { "comch-perf", a, b, c, d, e, NULL };
	static struct options opts;
	char *argv[RTE_DIM(words)];
	int argc = 0;

	for (; words[argc] != NULL; argc++)
		argv[argc] = (char *)(uintptr_t)words[argc];
	argv[argc] = NULL;
	optind = 0;
	return options_parse(&opts, argc, argv) == 0 ? plan_make(plan, &opts) : -EINVAL;
}

/* The floors of libraries have no rows of their own. */
#define NB_FLOORS FLOOR_SHA1

/* Without --lines all floors, and slot with a line; with it, only slot. */
T_CASE(rows)
{
	struct plan all, one;
	uint32_t i, nb = 0;

	T_EQ(make(&all, "floor", NULL, NULL, NULL, NULL), 0);
	T_EQ(all.nb_rows, NB_FLOORS);
	for (i = 0; i < all.nb_rows; i++) {
		if (all.rows[i].params.kind != FLOOR_SLOT)
			continue;
		T_EQ(all.rows[i].params.lines, FLOOR_ONE_LINE);
		T_EQ(all.rows[i].params.size, 64);
		nb++;
	}
	T_EQ(nb, 1);
	T_EQ(make(&one, "--lines", "2.25", "--duration", "0.1", "floor"), 0);
	T_EQ(one.nb_rows, 1);
	T_EQ(one.rows->params.kind, FLOOR_SLOT);
	T_EQ(one.rows->params.lines, 2250);
	T_EQ(one.rows->params.size, 144);
	T_EQ(one.rows->params.duration_us, 100000);
	free(all.rows);
	free(one.rows);
}

/* The other options choose rows as before. */
T_CASE(sizes)
{
	unsigned int nb[NB_FLOORS] = { 0 }, i;
	struct plan plan;

	T_EQ(make(&plan, "--size", "4K,8K", "floor", NULL, NULL), 0);
	for (i = 0; i < plan.nb_rows; i++)
		nb[plan.rows[i].params.kind]++;
	for (i = 0; i < NB_FLOORS; i++)
		if (i != FLOOR_VM_READV)
			T_EQ(nb[i], floor_has_size((enum floor_kind)i) ? 2u : 1u);
	/* Or none, where the system call is refused. */
	T_CHECK(nb[FLOOR_VM_READV] == 2 || nb[FLOOR_VM_READV] == 0);
	free(plan.rows);
	T_EQ(make(&plan, "--size", "0", "floor", NULL, NULL), 0);
	T_EQ(plan.nb_rows, NB_FLOORS - 3);
	free(plan.rows);
}

T_CASE(refused)
{
	struct plan plan;

	T_EQ(make(&plan, "--lines", "17", "floor", NULL, NULL), -EINVAL);
	T_EQ(make(&plan, "--lines", "2", "data-rate", NULL, NULL), -EINVAL);
	T_EQ(make(&plan, "--lines", "2", "--size", "64", "floor"), -EINVAL);
	T_EQ(make(&plan, "--lines", "2", NULL, NULL, NULL), -EINVAL);
}
