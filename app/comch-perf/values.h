/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef VALUES_H
#define VALUES_H

/**
 * @file
 * Numbers and sizes in text.
 */

#include <stdint.h>

/** The most sizes of one list. */
#define PERF_MAX_SIZES 1024

/** Write a sentence to *error*, PERF_ERROR_SIZE bytes. @return -EINVAL */
int values_refuse(char *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** A whole number with an optional suffix; moves *text* behind it. 0 or -EINVAL. */
int values_number(const char **text, uint64_t *value);

/**
 * Parse `N`, `A,B,C`, `A:B`, `A:B:xM` or `A:B:+N` with K, M and G suffixes.
 *
 * @return
 *   How many sizes were written, or -EINVAL with a sentence in *error*.
 */
int values_sizes(const char *text, uint64_t *sizes, char *error);

#endif /* VALUES_H */
