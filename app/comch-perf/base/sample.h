/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef BASE_SAMPLE_H
#define BASE_SAMPLE_H

/**
 * @file
 * What accelerators and the libraries beneath them work on: words, which deflate
 * makes a fifth of, and LZ4 less than a half.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Fill memory; the same bytes each time. */
void sample_fill(uint8_t *to, size_t len);

/** Most bytes that sample_deflate() and sample_lz4() make of *len* bytes; 0: they cannot. */
size_t sample_bound(size_t len);

/** Compress it to raw deflate, or to a block of LZ4. @return the length of the result; 0: failed */
size_t sample_deflate(const uint8_t *data, size_t len, uint8_t *to, size_t room);
size_t sample_lz4(const uint8_t *data, size_t len, uint8_t *to, size_t room);

/** Is *packed* raw deflate of this memory, and nothing else? */
bool sample_is_inflated(const uint8_t *data, size_t len, const uint8_t *packed, size_t packed_len);

/** Compute a digest, by its name in libcrypto. @return false: it failed */
bool sample_digest(const char *name, const uint8_t *data, size_t len, uint8_t *digest);

#endif /* BASE_SAMPLE_H */
