/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Data to be digested, compressed and decompressed. */

#include <stdlib.h>
#include <string.h>

#include <lz4.h>
#include <openssl/evp.h>
#include <zlib.h>

#include <rte_common.h>

#include "base/sample.h"

void
sample_fill(uint8_t *to, size_t len)
{
	size_t i, k = 0, word_len = 0;
	uint32_t x = 1, word = 0;

	/* Words of 3 to 10 letters, of 128 different ones, at random. */
	for (i = 0; i < len; i++, k++) {
		if (k == word_len) {
			to[i] = ' ';
			x = x * 1103515245 + 12345;
			word = x >> 25;
			word_len = 4 + word % 8;
			k = 0;
		} else {
			to[i] = (uint8_t)('a' + (word * (k + 7) + k * k) % 26);
		}
	}
}

size_t
sample_bound(size_t len)
{
	return len > LZ4_MAX_INPUT_SIZE ? 0 :
		RTE_MAX((size_t)compressBound(len), (size_t)LZ4_compressBound((int)len));
}

size_t
sample_deflate(const uint8_t *data, size_t len, uint8_t *to, size_t room)
{
	z_stream z = {
		.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)len,
		.next_out = to, .avail_out = (uInt)room,
	};
	int ret;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL - 1,
			Z_DEFAULT_STRATEGY) != Z_OK)
		return 0;
	ret = deflate(&z, Z_FINISH);
	deflateEnd(&z);
	return ret == Z_STREAM_END ? z.total_out : 0;
}

size_t
sample_lz4(const uint8_t *data, size_t len, uint8_t *to, size_t room)
{
	int made = LZ4_compress_default((const char *)data, (char *)to, (int)len, (int)room);

	return made > 0 ? (size_t)made : 0;
}

/* Into *to*, which has room for one byte more than is right. */
static bool
inflates_to(uint8_t *to, const uint8_t *data, size_t len, const uint8_t *packed, size_t packed_len)
{
	z_stream z = {
		.next_in = (Bytef *)(uintptr_t)packed, .avail_in = (uInt)packed_len,
		.next_out = to, .avail_out = (uInt)len + 1,
	};
	int ret;

	if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
		return false;
	ret = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	return ret == Z_STREAM_END && z.avail_in == 0 && z.total_out == len &&
		memcmp(to, data, len) == 0;
}

bool
sample_is_inflated(const uint8_t *data, size_t len, const uint8_t *packed, size_t packed_len)
{
	uint8_t *to = malloc(len + 1);
	bool same = to != NULL && inflates_to(to, data, len, packed, packed_len);

	free(to);
	return same;
}

bool
sample_digest(const char *name, const uint8_t *data, size_t len, uint8_t *digest)
{
	return EVP_Q_digest(NULL, name, NULL, data, len, digest, NULL) == 1;
}
