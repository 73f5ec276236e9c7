/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DEV_DOCA_H
#define DEV_DOCA_H

/**
 * @file
 * What all tests of DOCA's calls share: their device, and what they say when a
 * call fails.
 *
 * The device is the first of this side in the device table, and on the DPU
 * side its first representor.
 */

#include <stdbool.h>

#include <doca_dev.h>
#include <doca_error.h>

struct perf_run;

/** A device of one side. */
struct dev_doca {
	struct doca_dev *dev;
	struct doca_dev_rep *rep; /**< DPU side. */
};

/** Open it; 0 or perf_run_fail(). */
int dev_doca_open(struct perf_run *run, struct dev_doca *d, bool host);

/** Close what is open. */
void dev_doca_close(struct dev_doca *d);

/** Did it succeed, or begin to? Else perf_run_fail() with a sentence. */
bool dev_doca_ok(struct perf_run *run, doca_error_t ret, const char *what);

#endif /* DEV_DOCA_H */
