/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/**
 * @file
 * Time. All measurements are in TSC cycles. The TSC frequency is measured once,
 * before the first fork, so that both sides use the same value.
 */

#include <stdint.h>

#include <rte_cycles.h>

/** Measure the TSC frequency, about 20 ms; call once, before forking. */
void clock_calibrate(void);

/** TSC frequency, Hz: get it, or set the one that another process measured. */
uint64_t clock_hz(void);
void clock_set_hz(uint64_t hz);

/** Current time, ns of CLOCK_MONOTONIC. */
uint64_t clock_mono_ns(void);

/** Deadline *ms* from now, on the clock of clock_mono_ns(); negative: never. */
static inline uint64_t
clock_deadline(int ms)
{
	return ms < 0 ? UINT64_MAX : clock_mono_ns() + (uint64_t)ms * 1000000;
}

/** Current time, TSC cycles. */
static inline uint64_t
clock_tsc(void)
{
	return rte_rdtsc();
}

/** Convert microseconds to cycles. */
static inline uint64_t
clock_us_to_cycles(uint64_t us)
{
	return (uint64_t)((double)us * (double)clock_hz() / 1e6);
}

/** Convert cycles to nanoseconds. */
static inline double
clock_cycles_to_ns(double cycles)
{
	return cycles * 1e9 / (double)clock_hz();
}

#endif /* BASE_CLOCK_H */
