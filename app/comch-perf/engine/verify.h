/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ENGINE_VERIFY_H
#define ENGINE_VERIFY_H

/**
 * @file
 * What messages carry so that their receiver can tell that all arrived, in
 * order and whole.
 *
 * A *stamp* is the first eight bytes: its sender and its number. It is always
 * written and always checked. With --verify all other bytes are filled too,
 * by a sequence that starts anywhere for each message: a byte of another
 * message, or of a former one in the same buffer, is noticed.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/** Bits of a stamp that are the number; the sender is above. */
#define VERIFY_SEQ_BITS 48
#define VERIFY_SEQ_MASK ((UINT64_C(1) << VERIFY_SEQ_BITS) - 1)

/** A sender on the host side; those on the DPU side add this. */
#define VERIFY_DPU_SENDER 0x8000u

/** The stamp of a message. */
static inline uint64_t
verify_stamp(uint32_t sender, uint64_t seq)
{
	return (uint64_t)sender << VERIFY_SEQ_BITS | (seq & VERIFY_SEQ_MASK);
}

/** The bits of a stamp that fit into a short message. */
static inline uint64_t
verify_stamp_mask(uint64_t len)
{
	return len >= sizeof(uint64_t) ? UINT64_MAX :
			len == 0 ? 0 : (UINT64_C(1) << (8 * len)) - 1;
}

/** Write a stamp, as much as fits. */
static inline void
verify_stamp_put(void *data, uint64_t len, uint64_t stamp)
{
	if (len >= sizeof(stamp))
		memcpy(data, &stamp, sizeof(stamp));
	else
		memcpy(data, &stamp, len);
}

/** Read a stamp, as much as is there. */
static inline uint64_t
verify_stamp_get(const void *data, uint64_t len)
{
	uint64_t stamp = 0;

	if (len >= sizeof(stamp))
		memcpy(&stamp, data, sizeof(stamp));
	else
		memcpy(&stamp, data, len);
	return stamp;
}

/** Where the filling starts of a message to the consumer with number *to*. */
static inline uint64_t
verify_seed(uint64_t stamp, uint32_t to)
{
	uint64_t x = stamp ^ (uint64_t)to << 40;

	/* Numbers that differ in a bit shall differ in many. */
	x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
	return x ^ x >> 29;
}

/** Fill a message behind its stamp, that is, from byte *from* on. */
void verify_fill(void *data, uint64_t len, uint64_t from, uint64_t seed);

/** Is a message filled so? */
bool verify_check(const void *data, uint64_t len, uint64_t from, uint64_t seed);

#endif /* ENGINE_VERIFY_H */
