/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ENGINE_VERIFY_H
#define ENGINE_VERIFY_H

/**
 * @file
 * Message contents by which the receiver checks that all messages arrive, in
 * order and intact.
 *
 * The *stamp* is the first eight bytes: sender and sequence number. It is always
 * written and checked. --verify also fills all other bytes, with a sequence that
 * has a different start for each message: the check detects a byte of another
 * message, or of an earlier one in the same buffer.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/** Bits of the sequence number in a stamp; the sender has the higher bits. */
#define VERIFY_SEQ_BITS 48
#define VERIFY_SEQ_MASK ((UINT64_C(1) << VERIFY_SEQ_BITS) - 1)

/** Offset of sender numbers of the DPU side; the host side starts at 0. */
#define VERIFY_DPU_SENDER 0x8000u

/** The stamp of a message. */
static inline uint64_t
verify_stamp(uint32_t sender, uint64_t seq)
{
	return (uint64_t)sender << VERIFY_SEQ_BITS | (seq & VERIFY_SEQ_MASK);
}

/** Mask of the stamp bits that fit into a message of *len* bytes. */
static inline uint64_t
verify_stamp_mask(uint64_t len)
{
	return len >= sizeof(uint64_t) ? UINT64_MAX :
			len == 0 ? 0 : (UINT64_C(1) << (8 * len)) - 1;
}

/** Write a stamp, truncated to *len* bytes. */
static inline void
verify_stamp_put(void *data, uint64_t len, uint64_t stamp)
{
	if (len >= sizeof(stamp))
		memcpy(data, &stamp, sizeof(stamp));
	else
		memcpy(data, &stamp, len);
}

/** Read a stamp, truncated to *len* bytes. */
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

/** Start value of the fill sequence of a message to consumer number *to*. */
static inline uint64_t
verify_seed(uint64_t stamp, uint32_t to)
{
	uint64_t x = stamp ^ (uint64_t)to << 40;

	/* Mix, so that inputs that differ in one bit give seeds that differ in many. */
	x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
	return x ^ x >> 29;
}

/** Fill a message from byte *from* on, after its stamp. */
void verify_fill(void *data, uint64_t len, uint64_t from, uint64_t seed);

/** Does a message have the contents that verify_fill() writes? */
bool verify_check(const void *data, uint64_t len, uint64_t from, uint64_t seed);

#endif /* ENGINE_VERIFY_H */
