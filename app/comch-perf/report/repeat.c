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
	return median;
}
