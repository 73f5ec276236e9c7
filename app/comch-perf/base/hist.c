/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Quantiles and printing of the log-linear histogram. */

#include <string.h>

#include "base/hist.h"

/* Target number of lines of hist_print(), and the width of its bars. */
#define PRINT_LINES 24
#define PRINT_WIDTH 50

/* Coarsest clock step that quantiles interpolate over, cycles. */
#define CLOCK_STEP 32.0

void
hist_reset(struct hist *h)
{
	memset(h, 0, sizeof(*h));
}

uint64_t
hist_bucket_low(uint32_t index)
{
	uint32_t shift;

	if (index < 2 * HIST_SUBS)
		return index;
	shift = (index >> HIST_SUB_BITS) - 1;
	return (uint64_t)(index - (shift << HIST_SUB_BITS)) << shift;
}

/* Middle of a bucket. */
static double
middle(uint32_t index)
{
	return ((double)hist_bucket_low(index) + (double)hist_bucket_low(index + 1) - 1) / 2;
}

/* Half the distance from a bucket to the next non-empty one; *step* is 1 or -1.
 * Half the bucket's width if that one is farther away than CLOCK_STEP.
 */
static double
half_gap(const struct hist *h, uint32_t index, int step)
{
	double half = (double)(hist_bucket_low(index + 1) - hist_bucket_low(index)) / 2;
	double gap = 0;
	int64_t i;

	for (i = (int64_t)index + step; i >= 0 && i < HIST_BUCKETS - 1; i += step) {
		gap = middle((uint32_t)i) - middle(index);
		gap = gap < 0 ? -gap : gap;
		if (gap > CLOCK_STEP)
			break;
		if (h->buckets[i] != 0)
			return gap / 2;
	}
	return half;
}

double
hist_quantile(const struct hist *h, double fraction)
{
	double rank = fraction * (double)h->count;
	double seen = 0;
	double here = 0;
	double low;
	double high;
	double value;
	uint32_t i;

	if (h->count == 0)
		return 0;
	for (i = 0; i < HIST_BUCKETS - 1; i++) {
		here = (double)h->buckets[i];
		if (here > 0 && seen + here >= rank)
			break;
		seen += here;
	}
	if (i == HIST_BUCKETS - 1)
		return (double)h->max;
	low = middle(i) - half_gap(h, i, -1);
	high = middle(i) + half_gap(h, i, 1);
	value = low + (high - low) * (rank - seen) / here;
	return value > (double)h->max ? (double)h->max : value;
}

static void
print_line(const struct hist *h, uint32_t first, uint32_t end, uint64_t count,
		double scale, const char *unit, FILE *f)
{
	int width = (int)((double)count * PRINT_WIDTH / (double)h->count + 0.5);
	double low = (double)hist_bucket_low(first) * scale;
	double high = (double)hist_bucket_low(end) * scale;

	fprintf(f, "  %10.1f .. %10.1f %s %12llu %6.2f %% %.*s\n", low, high, unit,
			(unsigned long long)count,
			100.0 * (double)count / (double)h->count, width,
			"##################################################");
}

void
hist_print(const struct hist *h, double scale, const char *unit, FILE *f)
{
	uint32_t first = 0;
	uint32_t last = 0;
	uint32_t step;
	uint32_t i;

	if (h->count == 0)
		return;
	while (h->buckets[first] == 0)
		first++;
	/* Values above p99.9 share one line: scaled to a single outlier, all
	 * others would fall into the first line.
	 */
	last = hist_index((uint64_t)hist_quantile(h, 0.999));
	step = (last - first) / PRINT_LINES + 1;
	for (i = first; i < HIST_BUCKETS - 1; ) {
		uint32_t end = i <= last ? i + step : HIST_BUCKETS - 1;
		uint64_t count = 0;
		uint32_t k;

		if (end > HIST_BUCKETS - 1)
			end = HIST_BUCKETS - 1;
		for (k = i; k < end; k++)
			count += h->buckets[k];
		if (count > 0)
			print_line(h, i, i <= last ? end : hist_index(h->max),
					count, scale, unit, f);
		i = end;
	}
}
