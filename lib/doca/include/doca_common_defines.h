/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_COMMON_DEFINES_H
#define DOCA_COMMON_DEFINES_H

/**
 * @file
 * Hints for the compiler.
 */

/** x is true as a rule. */
#define doca_likely(x) __builtin_expect(!!(x), 1)
/** x is false as a rule. */
#define doca_unlikely(x) __builtin_expect(!!(x), 0)

#endif /* DOCA_COMMON_DEFINES_H */
