/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Deflate and LZ4: the source of a task of DOCA Compress, which may be a peer's. The input is what
 * to do, the room for the result, the work of a turn, where the source is cut in two, and the
 * source.
 */

#include <stdlib.h>

#include <lz4.h>
#include <xxhash.h>
#include <zlib.h>

#include <rte_byteorder.h>

#include <doca_error.h>

#include "accel/compress.h"
#include "fuzz.h"

#define MAX_ROOM 65536

static struct doca_compress object;

void
fuzz_end(void)
{
	impl_compress_free_idle(&object);
}

/* A copy that ends where the data ends: a sanitizer sees a longer read. */
static struct doca_buf
buf_of(const uint8_t *data, size_t len)
{
	struct doca_buf buf = { .head = malloc(len), .len = len, .data_len = len };

	T_CHECK(buf.head != NULL || len == 0);
	if (len > 0)
		memcpy(buf.head, data, len);
	buf.data = buf.head;
	return buf;
}

/* What zlib makes of the whole source, in one call. -1: it is no stream, or not whole. */
static int
inflate_whole(const uint8_t *data, size_t len, uint8_t *to, size_t room, size_t *made)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)len,
		.next_out = to, .avail_out = (uInt)room };
	int ret;

	T_EQ(inflateInit2(&z, -MAX_WBITS), Z_OK);
	ret = inflate(&z, Z_FINISH);
	*made = z.total_out;
	T_EQ(inflateEnd(&z), Z_OK);
	return ret == Z_STREAM_END ? 0 : -1;
}

/* As zlib does it at once, in whatever pieces it was done. */
static void
check_inflate(const struct impl_compress_task *t, doca_error_t ret, const uint8_t *data, size_t len)
{
	uint8_t *whole = malloc(MAX_ROOM + 1);
	size_t made;
	int status;

	T_CHECK(whole != NULL);
	status = inflate_whole(data, len, whole, t->room + 1, &made);
	if (ret == DOCA_SUCCESS) {
		T_EQ(status, 0);
		T_EQ(t->len, made);
		T_EQ(memcmp(t->out, whole, made), 0);
	} else if (ret == DOCA_ERROR_TOO_BIG) {
		T_EQ(made, t->room + 1);
	} else {
		T_EQ(ret, DOCA_ERROR_IO_FAILED);
		T_EQ(status, -1);
		T_LE(made, t->room);
	}
	free(whole);
}

static void
check_deflate(const struct impl_compress_task *t, doca_error_t ret, const uint8_t *data, size_t len)
{
	uint8_t *back;
	size_t made;

	if (ret != DOCA_SUCCESS) {
		T_EQ(ret, DOCA_ERROR_TOO_BIG);
		T_LT(t->room, deflateBound(NULL, len));
		return;
	}
	back = malloc(len + 1);
	T_CHECK(back != NULL);
	T_EQ(inflate_whole(t->out, t->len, back, len + 1, &made), 0);
	T_EQ(made, len);
	T_EQ(memcmp(back, data, len), 0);
	free(back);
}

/* As liblz4 does it at once. */
static void
check_block(const struct impl_compress_task *t, doca_error_t ret, const uint8_t *data, size_t len)
{
	char *whole = malloc(t->room + 1);
	int made;

	T_CHECK(whole != NULL);
	made = LZ4_decompress_safe((const char *)data, whole, (int)len, (int)t->room);
	T_EQ(ret == DOCA_SUCCESS, made >= 0);
	if (made >= 0) {
		T_EQ(t->len, made);
		T_EQ(memcmp(t->out, whole, t->len), 0);
	}
	free(whole);
}

static void
check(const struct impl_compress_task *t, unsigned int kind, doca_error_t ret,
		const uint8_t *data, size_t len)
{
	T_LE(t->len, t->room);
	if (kind == IMPL_COMPRESS_DEFLATE)
		check_deflate(t, ret, data, len);
	else if (kind == IMPL_DECOMPRESS_DEFLATE)
		check_inflate(t, ret, data, len);
	else
		T_CHECK(ret == DOCA_SUCCESS || ret == DOCA_ERROR_TOO_BIG ||
			ret == DOCA_ERROR_IO_FAILED);
	if (kind == IMPL_DECOMPRESS_LZ4_BLOCK)
		check_block(t, ret, data, len);
	if (ret == DOCA_SUCCESS && kind != IMPL_COMPRESS_DEFLATE)
		T_EQ(t->crc, crc32(0, t->out, (uInt)t->len));
	if (ret == DOCA_SUCCESS && kind >= IMPL_DECOMPRESS_LZ4_STREAM)
		T_EQ(t->xxh, rte_bswap32(XXH32(t->out, t->len, 0)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };
	const uint8_t how = fuzz_u8(&in);
	const unsigned int kind = how % IMPL_COMPRESS_KINDS;
	const struct impl_compress_format *format = &impl_compress_formats[kind];
	const size_t room = fuzz_u16(&in), turn = 1 + fuzz_u32(&in), cut = fuzz_u8(&in);
	struct doca_buf src[2], dst = { .data = NULL };
	struct impl_compress_task t;
	doca_error_t ret;

	src[0] = buf_of(in.at, RTE_MIN(cut, in.left));
	src[1] = buf_of(in.at + src[0].len, in.left - src[0].len);
	src[0].next = &src[1];
	t = (struct impl_compress_task){
		.base = { .task.ctx = &object.accel.ctx, .src = src, .dst = &dst },
		.has_block_checksum = how & 0x40,
		.is_linked = how & 0x80,
		.place = { .buf = src },
		.out = malloc(room),
		.room = room,
	};
	T_EQ(format->begin(&t.base), DOCA_SUCCESS);
	/* At least what a byte costs, or it would never come to its end. */
	do {
		t.base.budget = RTE_MAX(turn, (size_t)128);
		ret = format->run(&t.base);
	} while (ret == DOCA_ERROR_IN_PROGRESS);
	check(&t, kind, ret, in.at, in.left);
	format->end(&t.base);
	free(t.out);
	free(src[0].head);
	free(src[1].head);
	return 0;
}
