/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Deflate, by zlib; the checksums by libdeflate, which computes them several times as fast. */

#include <stdlib.h>
#include <string.h>

#include <libdeflate.h>
#include <zlib.h>

#include <rte_common.h>

#include "accel/compress.h"

/*
 * Work on a byte takes as long as to copy this many: a core compresses some 50 MB of a source
 * a second, and makes some 400 MB of a result. A source of tables without data takes longer.
 */
#define DEFLATE_COST 128
#define INFLATE_SOURCE_COST 64
#define INFLATE_RESULT_COST 16

struct impl_zstream {
	z_stream z;
	enum impl_compress_state which;
	uint8_t piece[IMPL_ACCEL_BUDGET / DEFLATE_COST]; /* of a source to be compressed */
};

/* Streams */

static doca_error_t
err_of(int ret)
{
	return ret == Z_OK ? DOCA_SUCCESS : ret == Z_MEM_ERROR ? DOCA_ERROR_NO_MEMORY :
		DOCA_ERROR_DRIVER;
}

/* A stream without a header and a trailer, with a window of 32 KiB. */
static int
init(struct impl_zstream *zstream)
{
	return zstream->which == IMPL_INFLATE ? inflateInit2(&zstream->z, -MAX_WBITS) :
		deflateInit2(&zstream->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS,
			MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY);
}

static doca_error_t
create(enum impl_compress_state which, struct impl_zstream **zstream)
{
	struct impl_zstream *z = calloc(1, sizeof(*z));
	doca_error_t ret;

	if (z == NULL)
		return DOCA_ERROR_NO_MEMORY;
	z->which = which;
	ret = err_of(init(z));
	if (ret != DOCA_SUCCESS)
		free(z);
	else
		*zstream = z;
	return ret;
}

void
impl_zstream_free(struct impl_zstream *zstream)
{
	if (zstream == NULL)
		return;
	if (zstream->which == IMPL_INFLATE)
		inflateEnd(&zstream->z);
	else
		deflateEnd(&zstream->z);
	free(zstream);
}

static doca_error_t
reset(struct impl_zstream *zstream)
{
	return err_of(zstream->which == IMPL_INFLATE ? inflateReset(&zstream->z) :
		deflateReset(&zstream->z));
}

/* Take the one that an earlier task has left, or another one. */
static doca_error_t
begin(struct impl_accel_task *task, enum impl_compress_state which)
{
	struct impl_compress_task *t = impl_compress_task_of(task);
	doca_error_t ret;

	t->adler = 1;
	t->zstream = impl_compress_exchange_idle(t, which, NULL);
	if (t->zstream == NULL)
		return create(which, &t->zstream);
	ret = reset(t->zstream);
	if (ret != DOCA_SUCCESS)
		impl_zstream_free(t->zstream);
	return ret;
}

doca_error_t
impl_deflate_begin(struct impl_accel_task *task)
{
	return begin(task, IMPL_DEFLATE);
}

doca_error_t
impl_inflate_begin(struct impl_accel_task *task)
{
	return begin(task, IMPL_INFLATE);
}

void
impl_zstream_end(struct impl_accel_task *task)
{
	struct impl_compress_task *t = impl_compress_task_of(task);

	impl_zstream_free(impl_compress_exchange_idle(t, t->zstream->which, t->zstream));
}

/* What is not compressed. */
void
impl_deflate_checksum(struct impl_compress_task *t, const uint8_t *data, size_t len)
{
	t->crc = libdeflate_crc32(t->crc, data, len);
	t->adler = libdeflate_adler32(t->adler, data, len);
}

/* Bytes that may be worked on now, which cost that much each. */
static size_t
affordable(const struct impl_compress_task *t, size_t len, size_t cost)
{
	return RTE_MIN(len, t->base.budget / cost);
}

static bool
is_full(const struct impl_compress_task *t)
{
	return t->len == t->room;
}

/*
 * Give zlib room for up to *most* bytes, and return how many it got. When the destination is full,
 * it gets a byte of ours: the end of a stream needs none, and whatever else it writes is too much.
 */
static size_t
give_room(struct impl_compress_task *t, size_t most, uint8_t *beyond)
{
	z_stream *z = &t->zstream->z;

	z->next_out = is_full(t) ? beyond : t->out + t->len;
	z->avail_out = is_full(t) ? 1 :
		(uInt)RTE_MIN(RTE_MIN(t->room - t->len, most), (size_t)UINT32_MAX);
	return z->avail_out;
}

/* Count what it has made there. */
static doca_error_t
count_made(struct impl_compress_task *t, size_t made)
{
	if (made > t->room - t->len)
		return DOCA_ERROR_TOO_BIG;
	t->len += made;
	return DOCA_SUCCESS;
}

/* Compress */

/* Compress these bytes, of which none is left; 0 of them: the end. */
static doca_error_t
feed(struct impl_compress_task *t, const uint8_t *data, size_t len)
{
	z_stream *z = &t->zstream->z;
	doca_error_t ret;
	uint8_t beyond;
	size_t room;
	int status;

	z->next_in = (Bytef *)(uintptr_t)data;
	z->avail_in = (uInt)len;
	do {
		room = give_room(t, SIZE_MAX, &beyond);
		status = deflate(z, len == 0 ? Z_FINISH : Z_NO_FLUSH);
		ret = count_made(t, room - z->avail_out);
		if (ret == DOCA_SUCCESS && status != Z_OK && status != Z_STREAM_END)
			ret = DOCA_ERROR_DRIVER;
	} while (ret == DOCA_SUCCESS && (len == 0 ? status != Z_STREAM_END : z->avail_in > 0));
	return ret;
}

doca_error_t
impl_deflate_run(struct impl_accel_task *task)
{
	struct impl_compress_task *t = impl_compress_task_of(task);
	uint8_t *piece = t->zstream->piece;
	const uint8_t *data = NULL;
	doca_error_t ret;
	size_t left, len;

	while ((left = impl_place_data(&t->place, &data)) > 0) {
		len = affordable(t, left, DEFLATE_COST);
		if (len == 0)
			return DOCA_ERROR_IN_PROGRESS;
		/* The checksums are of what is compressed, whatever a peer does meanwhile. */
		memcpy(piece, data, len);
		impl_deflate_checksum(t, piece, len);
		ret = feed(t, piece, len);
		if (ret != DOCA_SUCCESS)
			return ret;
		t->place.off += len;
		impl_accel_pay(task, len, DEFLATE_COST);
	}
	return feed(t, NULL, 0);
}

/* Decompress */

/*
 * A turn of zlib, which never has more than the budget, not even of what becomes nothing.
 * DOCA_SUCCESS: the end of the stream.
 */
static doca_error_t
inflate_some(struct impl_compress_task *t)
{
	const uint8_t *out = t->out + t->len, *data = NULL;
	z_stream *z = &t->zstream->z;
	size_t given, room, taken, made;
	doca_error_t ret;
	uint8_t beyond;
	int status;

	given = affordable(t, impl_place_data(&t->place, &data), INFLATE_SOURCE_COST);
	z->next_in = (Bytef *)(uintptr_t)data;
	z->avail_in = (uInt)given;
	room = give_room(t, t->base.budget / INFLATE_RESULT_COST, &beyond);
	status = inflate(z, Z_NO_FLUSH);
	taken = given - z->avail_in;
	made = room - z->avail_out;
	t->place.off += taken;
	/* Before the status: it can have made too much, and then met what is corrupt. */
	ret = count_made(t, made);
	if (ret != DOCA_SUCCESS)
		return ret;
	if (status == Z_MEM_ERROR)
		return DOCA_ERROR_NO_MEMORY;
	if (status != Z_OK && status != Z_BUF_ERROR && status != Z_STREAM_END)
		return DOCA_ERROR_IO_FAILED;
	impl_deflate_checksum(t, out, made);
	impl_accel_pay(&t->base, taken, INFLATE_SOURCE_COST);
	impl_accel_pay(&t->base, made, INFLATE_RESULT_COST);
	if (status == Z_STREAM_END)
		return DOCA_SUCCESS;
	/* Neither: it wants more than there is. */
	return taken + made > 0 ? DOCA_ERROR_IN_PROGRESS : DOCA_ERROR_IO_FAILED;
}

doca_error_t
impl_inflate_run(struct impl_accel_task *task)
{
	struct impl_compress_task *t = impl_compress_task_of(task);
	doca_error_t ret = DOCA_ERROR_IN_PROGRESS;

	while (ret == DOCA_ERROR_IN_PROGRESS && task->budget >= INFLATE_SOURCE_COST)
		ret = inflate_some(t);
	return ret;
}
