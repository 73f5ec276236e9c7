/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef APP_TEXT_H
#define APP_TEXT_H

/**
 * @file
 * Numbers as text: what users type, and what they read; text of a peer.
 */

#include <stddef.h>
#include <stdint.h>

/**
 * Parse a number with an optional suffix k, m or g (powers of 1024).
 *
 * @param[in,out] text
 *   Moved behind the number.
 * @return 0 or -EINVAL
 */
int app_number(const char **text, uint64_t *value);

/** Parse seconds, a decimal number from *min* to *max*. @return 0 or -EINVAL */
int app_seconds(const char *text, double min, double max, double *seconds);

/** Format 1234567.0 as "1.23 M". @return buf */
const char *app_si(double value, char *buf, size_t size);

/** Format a size in the largest unit that divides it: "64 B", "1 MiB". @return buf */
const char *app_size(uint64_t size, char *buf, size_t len);

/**
 * Copy bytes of a peer, which must not control the terminal: what is not printable ASCII
 * becomes \\xNN. What does not fit is left out.
 *
 * @return buf
 */
const char *app_printable(const void *data, size_t len, char *buf, size_t size);

#endif /* APP_TEXT_H */
