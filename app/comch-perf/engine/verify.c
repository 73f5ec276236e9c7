/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Fill and check the bytes of messages for --verify. */

#include <rte_common.h>

#include "engine/verify.h"

#define WORD   sizeof(uint64_t)
/* Words per loop iteration; independent, so that the CPU computes them in parallel. */
#define BLOCK  8
/* Odd, so that all words of a message differ. */
#define STRIDE UINT64_C(0xd1342543de82ef95)

/*
 * Not inlined, even with LTO: gcc would warn (-Wstringop-overflow), because it does
 * not see that len is within the caller's buffer.
 */
__rte_noinline void
verify_fill(void *data, uint64_t len, uint64_t from, uint64_t seed)
{
	uint8_t *p = (uint8_t *)data + from;
	uint64_t left = len - from;
	uint64_t words[BLOCK];
	unsigned int i;

	for (; left >= sizeof(words); left -= sizeof(words)) {
		for (i = 0; i < BLOCK; i++)
			words[i] = seed + i * STRIDE;
		memcpy(p, words, sizeof(words));
		seed += BLOCK * STRIDE;
		p += sizeof(words);
	}
	for (; left >= WORD; left -= WORD) {
		memcpy(p, &seed, WORD);
		seed += STRIDE;
		p += WORD;
	}
	memcpy(p, &seed, left);
}

bool
verify_check(const void *data, uint64_t len, uint64_t from, uint64_t seed)
{
	const uint8_t *p = (const uint8_t *)data + from;
	uint64_t left = len - from;
	uint64_t words[BLOCK];
	uint64_t wrong = 0;
	unsigned int i;

	for (; left >= sizeof(words); left -= sizeof(words)) {
		memcpy(words, p, sizeof(words));
		for (i = 0; i < BLOCK; i++)
			wrong |= words[i] ^ (seed + i * STRIDE);
		seed += BLOCK * STRIDE;
		p += sizeof(words);
	}
	for (; left >= WORD; left -= WORD) {
		memcpy(words, p, WORD);
		wrong |= words[0] ^ seed;
		seed += STRIDE;
		p += WORD;
	}
	return wrong == 0 && memcmp(p, &seed, left) == 0;
}
