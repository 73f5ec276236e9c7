/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>

#include <rte_cycles.h>

#include "siege.h"
#include "t.h"

void
times_add(struct times *t, uint64_t ns)
{
	if (t->nb == t->cap) {
		t->cap = RTE_MAX(2 * t->cap, 4096u);
		t->ns = realloc(t->ns, t->cap * sizeof(t->ns[0]));
		T_CHECK(t->ns != NULL);
	}
	t->ns[t->nb++] = ns;
}

static int
by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

void
times_sort(struct times *t)
{
	if (t->nb > 0)
		qsort(t->ns, t->nb, sizeof(t->ns[0]), by_value);
}

uint64_t
times_at(const struct times *t, unsigned int permille)
{
	if (t->nb == 0)
		return 0;
	return t->ns[RTE_MIN((uint64_t)t->nb * permille / 1000, t->nb - UINT64_C(1))];
}

uint64_t
times_ns_of(uint64_t cycles)
{
	return (uint64_t)((double)cycles * 1e9 / (double)rte_get_tsc_hz());
}

struct span
span_begin(void)
{
	const uint64_t wait = t_cpu_wait_ns();

	return (struct span){ .wait = wait, .tsc = rte_rdtsc() };
}

uint64_t
span_end(const struct span *s)
{
	const uint64_t ns = times_ns_of(rte_rdtsc() - s->tsc), wait = t_cpu_wait_ns() - s->wait;

	return ns > wait ? ns - wait : 0;
}
