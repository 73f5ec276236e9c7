/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_COMMON_DEFINES_H
#define DOCA_COMMON_DEFINES_H

/**
 * @file
 * Branch hints for the compiler.
 */

/** x is usually true. */
#define doca_likely(x) __builtin_expect(!!(x), 1)
/** x is usually false. */
#define doca_unlikely(x) __builtin_expect(!!(x), 0)

#endif /* DOCA_COMMON_DEFINES_H */
