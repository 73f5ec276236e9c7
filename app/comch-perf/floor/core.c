/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The speed of a core: see floor/core.h. */

#include "base/window.h"
#include "floor/core.h"

#define ROUNDS_EVERY 8192 /* between two clock reads */

/* Six additions, and the two instructions of the loop: as many as a core starts in two cycles. */
static void
run_rounds(uint64_t sums[6])
{
	uint64_t a = sums[0], b = sums[1], c = sums[2], d = sums[3], e = sums[4], f = sums[5];
	uint32_t i;

	for (i = 0; i < ROUNDS_EVERY; i++) {
		a += 1;
		b += 2;
		c += 3;
		d += 4;
		e += 5;
		f += 6;
		/* Keeps the compiler from doing many rounds at once. */
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
	}
	sums[0] = a;
	sums[1] = b;
	sums[2] = c;
	sums[3] = d;
	sums[4] = e;
	sums[5] = f;
}

double
floor_core_rounds(uint32_t ms)
{
	uint64_t sums[6] = { 0 }, rounds = 0;
	struct window w;

	window_init(&w, clock_tsc(), ms * UINT64_C(1000), false);
	do {
		run_rounds(sums);
		rounds += ROUNDS_EVERY;
		window_update(&w, clock_tsc(), rounds);
	} while (!w.closed);
	return (double)window_msgs(&w) * 1e9 / (double)window_ns(&w);
}
