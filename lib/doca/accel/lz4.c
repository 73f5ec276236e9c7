/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* LZ4, by liblz4 and libxxhash: a block at a time. */

#include <stdlib.h>
#include <string.h>

#include <libdeflate.h>
#include <lz4.h>
#include <xxhash.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include "accel/compress.h"

/* The largest block of a frame, and what it may be longer when it does not get shorter. */
#define MAX_BLOCK (UINT32_C(4) << 20)
#define MAX_SOURCE LZ4_COMPRESSBOUND(MAX_BLOCK)
/* Before a block: its size, and whether it is not compressed. */
#define IS_STORED (UINT32_C(1) << 31)
/* How far back a block may refer. */
#define WINDOW (64 * 1024)
/* Work on a byte takes as long as to copy COST of them; each block takes as long as LEAST more. */
#define COST 4
#define LEAST 256
/* The most bytes that one byte of a block becomes. */
#define MAX_RATIO 255

struct impl_lz4 {
	XXH32_state_t *xxh;
	size_t left;       /* of the source */
	size_t size;       /* of `block` */
	uint8_t *block;    /* a block of the source, copied */
};

void
impl_lz4_free(struct impl_lz4 *lz4)
{
	if (lz4 == NULL)
		return;
	XXH32_freeState(lz4->xxh);
	free(lz4->block);
	free(lz4);
}

/* NULL: no memory. */
static struct impl_lz4 *
lz4_new(void)
{
	struct impl_lz4 *lz4 = calloc(1, sizeof(*lz4));

	if (lz4 == NULL)
		return NULL;
	lz4->xxh = XXH32_createState();
	if (lz4->xxh != NULL)
		return lz4;
	impl_lz4_free(lz4);
	return NULL;
}

/* Take what an earlier task has left, or another one. */
doca_error_t
impl_lz4_begin(struct impl_accel_task *task)
{
	struct impl_compress_task *t = impl_compress_task_of(task);

	t->lz4 = impl_compress_exchange_idle(t, IMPL_LZ4, NULL);
	if (t->lz4 == NULL)
		t->lz4 = lz4_new();
	if (t->lz4 == NULL)
		return DOCA_ERROR_NO_MEMORY;
	t->lz4->left = impl_list_data(task->src);
	XXH32_reset(t->lz4->xxh, 0);
	return DOCA_SUCCESS;
}

void
impl_lz4_end(struct impl_accel_task *task)
{
	struct impl_compress_task *t = impl_compress_task_of(task);

	/* That of one large block is not kept. */
	if (t->lz4->size > MAX_SOURCE)
		impl_lz4_free(t->lz4);
	else
		impl_lz4_free(impl_compress_exchange_idle(t, IMPL_LZ4, t->lz4));
}

/* The source */

/* Copy the next bytes. False: there are less. */
static bool
read_bytes(struct impl_compress_task *t, void *to, size_t len)
{
	const uint8_t *data;
	size_t n;

	if (len > t->lz4->left)
		return false;
	t->lz4->left -= len;
	/* The program may have changed the list. */
	while (len > 0) {
		n = RTE_MIN(len, impl_place_data(&t->place, &data));
		if (n == 0)
			return false;
		memcpy(to, data, n);
		to = (uint8_t *)to + n;
		t->place.off += n;
		len -= n;
	}
	return true;
}

static bool
read_number(struct impl_compress_task *t, uint32_t *number)
{
	rte_le32_t value;

	if (!read_bytes(t, &value, sizeof(value)))
		return false;
	*number = rte_le_to_cpu_32(value);
	return true;
}

static doca_error_t
read_block(struct impl_compress_task *t, size_t len)
{
	struct impl_lz4 *lz4 = t->lz4;
	uint8_t *block;

	if (len > lz4->left)
		return DOCA_ERROR_IO_FAILED;
	if (len > lz4->size) {
		block = realloc(lz4->block, len);
		if (block == NULL)
			return DOCA_ERROR_NO_MEMORY;
		lz4->block = block;
		lz4->size = len;
	}
	return read_bytes(t, lz4->block, len) ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
}

/* The result */

static void
add(struct impl_compress_task *t, size_t len)
{
	const uint8_t *made = t->out + t->len;

	t->crc = libdeflate_crc32(t->crc, made, len);
	XXH32_update(t->lz4->xxh, made, len);
	t->len += len;
}

/* The bytes of the checksum are in the reverse order: see doca_compress.h. */
static doca_error_t
finish(struct impl_compress_task *t)
{
	t->xxh = rte_bswap32(XXH32_digest(t->lz4->xxh));
	return DOCA_SUCCESS;
}

static doca_error_t
store(struct impl_compress_task *t, size_t len)
{
	if (len > t->room - t->len)
		return DOCA_ERROR_TOO_BIG;
	memcpy(t->out + t->len, t->lz4->block, len);
	add(t, len);
	return DOCA_SUCCESS;
}

/* Decompress the block of that many bytes; it may refer to what was done before. -1: an error. */
static int
unpack(const struct impl_compress_task *t, size_t len, uint8_t *to, size_t room)
{
	const size_t before = t->is_linked ? RTE_MIN(t->len, (size_t)WINDOW) : 0;
	const uint8_t *done = t->out + t->len - before;

	return LZ4_decompress_safe_usingDict((const char *)t->lz4->block, (char *)to, (int)len,
		(int)room, (const char *)done, (int)before);
}

/* Whether a block was refused only because it is too large: one that refers to others... */
static bool
is_good_linked(const struct impl_compress_task *t, size_t len, size_t most)
{
	uint8_t *enough = malloc(most);
	bool is_good = enough != NULL && unpack(t, len, enough, most) >= 0;

	free(enough);
	return is_good;
}

/* ... and one that does not, of which as much is taken as there is room for. */
static bool
is_good_alone(const struct impl_compress_task *t, size_t len, size_t room)
{
	int made = LZ4_decompress_safe_partial((const char *)t->lz4->block,
		(char *)t->out + t->len, (int)len, (int)room, (int)room);

	return made >= 0 && (size_t)made == room;
}

/* Decompress a block of that many bytes, which may become *most*. */
static doca_error_t
decompress(struct impl_compress_task *t, size_t len, size_t most)
{
	const size_t room = RTE_MIN(t->room - t->len, most);
	int made = unpack(t, len, t->out + t->len, room);

	if (made >= 0) {
		add(t, (size_t)made);
		return DOCA_SUCCESS;
	}
	/* liblz4 does not tell whether the block is corrupt or the room too small. */
	if (room < most && (t->is_linked ? is_good_linked(t, len, most) :
			is_good_alone(t, len, room)))
		return DOCA_ERROR_TOO_BIG;
	return DOCA_ERROR_IO_FAILED;
}

/* Kinds */

static bool
is_as_stated(const struct impl_compress_task *t, size_t len, uint32_t stated)
{
	return XXH32(t->lz4->block, len, 0) == stated;
}

/* The next block of a stream, whose size was read. */
static doca_error_t
next_block(struct impl_compress_task *t, uint32_t size)
{
	const uint32_t len = size & ~IS_STORED;
	uint32_t stated;
	doca_error_t ret;

	if (len == 0 || len > MAX_SOURCE)
		return DOCA_ERROR_IO_FAILED;
	ret = read_block(t, len);
	if (ret != DOCA_SUCCESS)
		return ret;
	if (t->has_block_checksum &&
			(!read_number(t, &stated) || !is_as_stated(t, len, stated)))
		return DOCA_ERROR_IO_FAILED;
	return (size & IS_STORED) != 0 ? store(t, len) : decompress(t, len, MAX_BLOCK);
}

doca_error_t
impl_lz4_stream_run(struct impl_accel_task *task)
{
	struct impl_compress_task *t = impl_compress_task_of(task);
	const uint8_t *data;
	doca_error_t ret;
	uint32_t size;
	size_t before;

	/* A block at a time, of 4 MiB at most. */
	while (impl_place_data(&t->place, &data) > 0) {
		if (task->budget == 0)
			return DOCA_ERROR_IN_PROGRESS;
		before = t->len;
		ret = read_number(t, &size) ? next_block(t, size) : DOCA_ERROR_IO_FAILED;
		if (ret != DOCA_SUCCESS)
			return ret;
		/* What makes little costs something, too. */
		impl_accel_pay(task, t->len - before + LEAST, COST);
	}
	return finish(t);
}

doca_error_t
impl_lz4_block_run(struct impl_accel_task *task)
{
	struct impl_compress_task *t = impl_compress_task_of(task);
	const size_t len = impl_list_data(task->src);
	doca_error_t ret;

	/* In one turn, however long it takes: liblz4 does not stop in a block. */
	ret = read_block(t, len);
	if (ret == DOCA_SUCCESS)
		ret = decompress(t, len, RTE_MIN(len * MAX_RATIO, (size_t)LZ4_MAX_INPUT_SIZE));
	impl_accel_pay(task, t->len + LEAST, COST);
	return ret == DOCA_SUCCESS ? finish(t) : ret;
}
