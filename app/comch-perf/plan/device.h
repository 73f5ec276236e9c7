/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef PLAN_DEVICE_H
#define PLAN_DEVICE_H

/**
 * @file
 * Device strings: --dev, and what comch-perf adds for a side. The only place that knows
 * drivers by name, for what must be decided before a device is open.
 */

#include <stdbool.h>
#include <stddef.h>

struct options;

/** A side, as far as its device string depends on it. */
struct device_side {
	bool host;
	bool shares_eal; /**< Receive buffers are in EAL memory. */
	const char *dir; /**< Private directory; NULL: none. */
};

/** Must both ends of this device be in one EAL? */
bool device_needs_one_eal(const char *dev);

/**
 * Make the device string of a side: --dev or the default, with the keys that it lacks. If
 * both sides are in one process, the host side's device gets another name.
 */
void device_string(const struct options *opts, const struct device_side *side, char *buf,
		size_t size);

#endif /* PLAN_DEVICE_H */
