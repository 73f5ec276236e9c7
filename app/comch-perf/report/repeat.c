/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <math.h>
#include <stdlib.h>

#include "report/repeat.h"

static double
key(const struct report_row *r)
{
	if (!isnan(r->ratio))
		return r->ratio;
	return r->test->hops > 0 ? r->p50_ns : r->msgs_per_s;
}

/* The stable ones first, each group in ascending order. */
static int
compare(const void *a, const void *b)
{
	const struct report_row *x = a, *y = b;

	if (x->stable != y->stable)
		return x->stable ? -1 : 1;
	return (key(x) > key(y)) - (key(x) < key(y));
}

/* Are ascending ones close to each other? */
static bool
are_close(const struct report_row *rows, uint32_t nb)
{
	return !(key(&rows[nb - 1]) > key(&rows[0]) * (1 + REPORT_SPREAD));
}

static struct report_mode
mode_of(const struct report_row *rows, uint32_t nb)
{
	return (struct report_mode){ .ratio = rows[(nb - 1) / 2].ratio, .nb = nb };
}

/* Divide ascending ones into two modes, if each is close. */
static void
find_modes(const struct report_row *rows, uint32_t nb, struct report_mode *modes)
{
	uint32_t i;

	for (i = 1; i < nb; i++) {
		if (are_close(&rows[i - 1], 2))
			continue;
		if (!are_close(rows, i) || !are_close(&rows[i], nb - i))
			return;
		modes[0] = mode_of(rows, i);
		modes[1] = mode_of(&rows[i], nb - i);
		return;
	}
}

struct report_row *
repeat_median(struct report_row *rows, uint32_t nb)
{
	uint32_t nb_stable = 0, nb_used;
	struct report_row *median;
	uint32_t i;

	qsort(rows, nb, sizeof(*rows), compare);
	for (i = 0; i < nb; i++)
		nb_stable += rows[i].stable;
	nb_used = nb_stable > 0 ? nb_stable : nb;
	median = &rows[(nb_used - 1) / 2];
	median->repeats = nb;
	median->nb_stable = nb_stable;
	median->ratio_min = rows[0].ratio;
	median->ratio_max = rows[nb_used - 1].ratio;
	median->settled = are_close(rows, nb_used);
	if (!median->settled)
		find_modes(rows, nb_used, median->modes);
	return median;
}
