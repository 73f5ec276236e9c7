/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef BASE_HIST_H
#define BASE_HIST_H

/**
 * @file
 * A log-linear histogram: exact up to 511; above, each power of two has 256
 * equal buckets, which limits the error to 0.2 %. Adding a value takes a few
 * instructions and touches one bucket.
 *
 * The clock may be coarser: the TSC of some machines advances in steps of
 * 10 ns. Quantiles are therefore interpolated between neighbouring values that
 * occurred.
 */

#include <stdint.h>
#include <stdio.h>

#define HIST_SUB_BITS 8
#define HIST_SUBS     (1u << HIST_SUB_BITS)
/** Values from 2^40 on share the last bucket (the maximum stays exact). */
#define HIST_MAX_BITS 40
#define HIST_BUCKETS  ((HIST_MAX_BITS - HIST_SUB_BITS + 1) * HIST_SUBS)

/** Value counts. Starts zeroed. */
struct hist {
	uint64_t count;
	uint64_t max;
	uint64_t buckets[HIST_BUCKETS];
};

/** Index of the bucket of a value. */
static inline uint32_t
hist_index(uint64_t value)
{
	uint32_t shift;

	if (value < 2 * HIST_SUBS)
		return (uint32_t)value;
	if (value >> HIST_MAX_BITS != 0)
		return HIST_BUCKETS - 1;
	shift = 63 - (uint32_t)__builtin_clzll(value) - HIST_SUB_BITS;
	return (shift << HIST_SUB_BITS) + (uint32_t)(value >> shift);
}

/** Count one value. */
static inline void
hist_add(struct hist *h, uint64_t value)
{
	h->buckets[hist_index(value)]++;
	h->count++;
	if (value > h->max)
		h->max = value;
}

/** Clear the histogram. */
void hist_reset(struct hist *h);

/** Smallest value of a bucket. */
uint64_t hist_bucket_low(uint32_t index);

/**
 * The quantile *fraction* (0 to 1), at most the maximum; 0 for an empty
 * histogram.
 */
double hist_quantile(const struct hist *h, double fraction);

/** Print it as a bar chart; values are multiplied by *scale* and labelled *unit*. */
void hist_print(const struct hist *h, double scale, const char *unit, FILE *f);

#endif /* BASE_HIST_H */
