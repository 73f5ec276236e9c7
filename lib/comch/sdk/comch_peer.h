/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_PEER_H
#define COMCH_PEER_H

/*
 * The only way to read memory that a peer can write.
 *
 * Each byte is read once, into private memory; the code decides on the copy. Atomic
 * loads keep the compiler from repeating or splitting a load. Variables with values
 * that are not checked yet are named peer_*.
 */

#include <stdint.h>
#include <string.h>

#include <rte_atomic.h>
#include <rte_common.h>

#include "sdk/comch_compat.h"

static inline uint64_t
peer_load_acquire_u64(const uint64_t *p)
{
	return comch_load_acquire(p);
}

static inline uint32_t
peer_load_acquire_u32(const uint32_t *p)
{
	return comch_load_acquire(p);
}

static inline uint64_t
peer_load_relaxed_u64(const uint64_t *p)
{
	return comch_load_relaxed(p);
}

static inline uint32_t
peer_load_relaxed_u32(const uint32_t *p)
{
	return comch_load_relaxed(p);
}

/* Copy len bytes; the caller checks the contents. */
static inline void
peer_copy(void *dst, const void *src, size_t len)
{
	memcpy(dst, src, len);
	/* From here on, the compiler must use the copy and not read src again. */
	rte_compiler_barrier();
}

/* Copy n 64-bit words that lie in one cache line. */
static inline void
peer_copy_words(uint64_t *dst, const uint64_t *src, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		dst[i] = comch_load_relaxed(&src[i]);
}

#endif /* COMCH_PEER_H */
