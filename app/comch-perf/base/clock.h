/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/**
 * @file
 * Time. All measuring is done in TSC cycles; the frequency is found once,
 * before any process is forked, so that both sides use the same figure.
 */

#include <stdint.h>

#include <rte_cycles.h>

/** Find the frequency of the TSC. Takes about 20 ms; once, before forking. */
void clock_calibrate(void);

/** Cycles a second; what another process has found. */
uint64_t clock_hz(void);
void clock_set_hz(uint64_t hz);

/** Now, ns of CLOCK_MONOTONIC. */
uint64_t clock_mono_ns(void);

/** The time in so many ms, as clock_mono_ns() tells it; never, if that is negative. */
static inline uint64_t
clock_deadline(int ms)
{
	return ms < 0 ? UINT64_MAX : clock_mono_ns() + (uint64_t)ms * 1000000;
}

/** Now, in cycles. */
static inline uint64_t
clock_tsc(void)
{
	return rte_rdtsc();
}

/** Microseconds in cycles. */
static inline uint64_t
clock_us_to_cycles(uint64_t us)
{
	return (uint64_t)((double)us * (double)clock_hz() / 1e6);
}

/** Cycles in nanoseconds. */
static inline double
clock_cycles_to_ns(double cycles)
{
	return cycles * 1e9 / (double)clock_hz();
}

#endif /* BASE_CLOCK_H */
