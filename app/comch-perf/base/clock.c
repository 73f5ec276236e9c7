/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* TSC frequency calibration and the monotonic clock. */

#include <time.h>

#include "base/clock.h"

#define CALIBRATE_NS 20000000

static uint64_t hz = 1;

uint64_t
clock_mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void
clock_calibrate(void)
{
	uint64_t ns0 = clock_mono_ns();
	uint64_t tsc0 = clock_tsc();
	uint64_t ns1;
	uint64_t tsc1;

	do {
		ns1 = clock_mono_ns();
		tsc1 = clock_tsc();
	} while (ns1 - ns0 < CALIBRATE_NS);
	hz = (uint64_t)((double)(tsc1 - tsc0) * 1e9 / (double)(ns1 - ns0));
}

uint64_t
clock_hz(void)
{
	return hz;
}

void
clock_set_hz(uint64_t new_hz)
{
	hz = new_hz;
}
