/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ENGINE_COUNTERS_H
#define ENGINE_COUNTERS_H

/**
 * @file
 * Counters of the drivers of one side, such as work requests, over a run. They are the
 * sums over all devices that are open, or those of one device if the process has both
 * sides. Both sides have the same driver: a counter has the same number on both.
 */

#include <stdbool.h>
#include <stdint.h>

/** Most counters of a driver; more are left out. */
#define COUNTERS_MAX 32
/** Sum up all devices. */
#define COUNTERS_ANY_DEV (-1)

struct counters {
	uint32_t nb;                  /**< 0: the driver has none. */
	uint32_t reserved;
	uint64_t value[COUNTERS_MAX];
};

/** Read all counters of a device, or of COUNTERS_ANY_DEV. */
void counters_read(struct counters *now, int16_t dev_id);

/** Replace values from before by what was counted since; a level is that of now. */
void counters_since(struct counters *before, int16_t dev_id);

/** Get the name of a counter; NULL: no such counter. */
const char *counters_name(uint32_t number);

/** Whether a counter is a level, such as bytes registered, which is not counted by message. */
bool counters_is_level(uint32_t number);

#endif /* ENGINE_COUNTERS_H */
