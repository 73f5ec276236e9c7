/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef FLOOR_CORE_H
#define FLOOR_CORE_H

/**
 * @file
 * How fast the cores of the two CPUs are now: each counts rounds of instructions that wait neither
 * for one another nor for memory. A CPU that shares its core with a busy one, of this machine or
 * of another virtual machine, does half to three quarters of them, while the transfers of cache
 * lines that the other floors measure stay the same.
 */

#include <stdint.h>

/** @return rounds that this CPU does in a second, measured for *ms* milliseconds */
double floor_core_rounds(uint32_t ms);

#endif /* FLOOR_CORE_H */
