/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>
#include <string.h>

#include <lz4frame.h>
#include <zlib.h>

#include <rte_byteorder.h>

#include "accel/packer.h"
#include "t_main.h"

/* A frame of LZ4 without the size of its content; after its blocks: an end mark and a checksum. */
#define FRAME_HEAD 7
#define FRAME_TAIL 8

static void
note(struct packer *p, struct doca_task *task, union doca_data task_data)
{
	T_EQ(task_data.u64, 5);
	p->status = doca_task_get_status(task);
	if (p->status == DOCA_SUCCESS)
		p->nb_done++;
	else
		p->nb_errors++;
}

#define CALLBACK(name, sum) \
	static void \
	on_##name(struct doca_compress_task_##name *task, union doca_data task_data, \
			union doca_data ctx_data) \
	{ \
		struct doca_task *t = doca_compress_task_##name##_as_task(task); \
		struct packer *p = ctx_data.ptr; \
		note(p, t, task_data); \
		p->crc = doca_compress_task_##name##_get_crc_cs(task); \
		p->sum = doca_compress_task_##name##_get_##sum##_cs(task); \
		T_CHECK(doca_compress_task_##name##_get_src(task) != NULL); \
		T_CHECK(doca_compress_task_##name##_get_dst(task) != NULL); \
		if (!p->keep_tasks) \
			doca_task_free(t); \
	}

CALLBACK(compress_deflate, adler)
CALLBACK(decompress_deflate, adler)
CALLBACK(decompress_lz4_stream, xxh)
CALLBACK(decompress_lz4_block, xxh)

void
packer_create(struct packer *p)
{
	memset(p, 0, sizeof(*p));
	p->dev = dev_open("dpu", "03:00.0");
	T_OK(doca_compress_create(p->dev, &p->compress));
	p->ctx = doca_compress_as_ctx(p->compress);
	T_OK(doca_pe_create(&p->pe));
	T_OK(doca_pe_connect_ctx(p->pe, p->ctx));
	T_OK(doca_ctx_set_user_data(p->ctx, (union doca_data){ .ptr = p }));
	T_OK(doca_ctx_set_state_changed_cb(p->ctx, state_log_note));
	memory_create_new(&p->src, p->dev, PACKER_SIZE);
	memory_create_new(&p->dst, p->dev, PACKER_SIZE);
	p->in = memory_buf(&p->src, 0, PACKER_SIZE, true);
	p->out = memory_buf(&p->dst, 0, PACKER_SIZE, false);
}

void
packer_open(struct packer *p)
{
	packer_create(p);
	T_OK(doca_compress_task_compress_deflate_set_conf(p->compress, on_compress_deflate,
		on_compress_deflate, 2));
	T_OK(doca_compress_task_decompress_deflate_set_conf(p->compress, on_decompress_deflate,
		on_decompress_deflate, 2));
	T_OK(doca_compress_task_decompress_lz4_stream_set_conf(p->compress,
		on_decompress_lz4_stream, on_decompress_lz4_stream, 1));
	T_OK(doca_compress_task_decompress_lz4_block_set_conf(p->compress,
		on_decompress_lz4_block, on_decompress_lz4_block, 1));
	/* It is where a stop leads to. */
	T_OK(doca_ctx_stop(p->ctx));
	T_EQ(p->states.nb, 0);
	T_OK(doca_ctx_start(p->ctx));
	T_CHECK(ctx_is_running(p->ctx));
	T_EQ(p->states.nb, 1);
}

void
packer_close(struct packer *p)
{
	doca_error_t ret = doca_ctx_stop(p->ctx);

	if (ret != DOCA_SUCCESS)
		T_IS(ret, DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(p->pe), ctx_is_idle(p->ctx));
	T_OK(doca_buf_dec_refcount(p->in, NULL));
	T_OK(doca_buf_dec_refcount(p->out, NULL));
	T_OK(doca_compress_destroy(p->compress));
	T_OK(doca_pe_destroy(p->pe));
	memory_destroy(&p->src);
	memory_destroy(&p->dst);
	T_OK(doca_dev_close(p->dev));
}

void
packer_set_source(struct packer *p, const void *data, size_t len)
{
	T_LE(len, PACKER_SIZE);
	if (data != NULL)
		memcpy(p->src.addr, data, len);
	T_OK(doca_buf_set_data(p->in, p->src.addr, len));
	T_OK(doca_buf_set_data(p->out, p->dst.addr, 0));
}

void
fill_half(uint8_t *to, size_t len)
{
	size_t i;

	t_fill(to, len, 1);
	for (i = 0; i < len; i++)
		to[i] &= 0x0f;
}

size_t
packer_out_len(const struct packer *p)
{
	size_t len;

	T_OK(doca_buf_get_data_len(p->out, &len));
	return len;
}

doca_error_t
packer_finish(struct packer *p, struct doca_task *task)
{
	unsigned int nb = p->nb_done + p->nb_errors;

	T_OK(doca_task_submit(task));
	T_WAIT(doca_pe_progress(p->pe), p->nb_done + p->nb_errors > nb);
	return p->status;
}

struct doca_task *
packer_compress(struct packer *p)
{
	struct doca_compress_task_compress_deflate *task;

	T_OK(doca_compress_task_compress_deflate_alloc_init(p->compress, p->in, p->out, USER_DATA,
		&task));
	return doca_compress_task_compress_deflate_as_task(task);
}

struct doca_task *
packer_decompress(struct packer *p)
{
	struct doca_compress_task_decompress_deflate *task;

	T_OK(doca_compress_task_decompress_deflate_alloc_init(p->compress, p->in, p->out, USER_DATA,
		&task));
	return doca_compress_task_decompress_deflate_as_task(task);
}

struct doca_task *
packer_stream(struct packer *p, bool has_checksums, bool is_independent)
{
	struct doca_compress_task_decompress_lz4_stream *task;

	T_OK(doca_compress_task_decompress_lz4_stream_alloc_init(p->compress, has_checksums,
		is_independent, p->in, p->out, USER_DATA, &task));
	return doca_compress_task_decompress_lz4_stream_as_task(task);
}

struct doca_task *
packer_block(struct packer *p)
{
	struct doca_compress_task_decompress_lz4_block *task;

	T_OK(doca_compress_task_decompress_lz4_block_alloc_init(p->compress, p->in, p->out,
		USER_DATA, &task));
	return doca_compress_task_decompress_lz4_block_as_task(task);
}

size_t
zlib_pack(const void *data, size_t len, void *to, size_t room, int level)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)len,
		.next_out = to, .avail_out = (uInt)room };

	T_EQ(deflateInit2(&z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
	T_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
	T_EQ(deflateEnd(&z), Z_OK);
	return z.total_out;
}

size_t
zlib_unpack(const void *data, size_t len, void *to, size_t room)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)len,
		.next_out = to, .avail_out = (uInt)room };

	T_EQ(inflateInit2(&z, -15), Z_OK);
	T_EQ(inflate(&z, Z_FINISH), Z_STREAM_END);
	T_EQ(z.avail_in, 0);
	T_EQ(inflateEnd(&z), Z_OK);
	return z.total_out;
}

size_t
packer_compresses(struct packer *p, size_t len)
{
	uint8_t *back = malloc(len + 1);

	T_CHECK(back != NULL);
	packer_set_source(p, NULL, len);
	T_OK(packer_finish(p, packer_compress(p)));
	T_EQ(zlib_unpack(p->dst.addr, packer_out_len(p), back, len + 1), len);
	T_EQ(memcmp(back, p->src.addr, len), 0);
	T_EQ(p->crc, crc32(0, p->src.addr, (uInt)len));
	T_EQ(p->adler, adler32(1, p->src.addr, (uInt)len));
	free(back);
	return packer_out_len(p);
}

void
packer_fails(struct packer *p, struct doca_task *task, size_t room, doca_error_t expected)
{
	const uint8_t *beyond = p->dst.addr + room;

	memset(p->dst.addr, 0xee, PACKER_SIZE);
	T_IS(packer_finish(p, task), expected);
	T_EQ(packer_out_len(p), 0);
	if (room < PACKER_SIZE) {
		T_EQ(beyond[0], 0xee);
		T_EQ(memcmp(beyond, beyond + 1, PACKER_SIZE - room - 1), 0);
	}
	T_WAIT(doca_pe_progress(p->pe), ctx_is_idle(p->ctx));
	memset(&p->states, 0, sizeof(p->states));
	T_OK(doca_ctx_start(p->ctx));
}

void
packer_set_room(struct packer *p, size_t room)
{
	T_OK(doca_buf_dec_refcount(p->out, NULL));
	p->out = memory_buf(&p->dst, 0, room, false);
}

uint32_t
packer_set_frame(struct packer *p, const uint8_t *data, size_t len, bool has_checksums,
		bool is_independent)
{
	const LZ4F_preferences_t prefs = { .frameInfo = {
		.blockSizeID = LZ4F_max64KB,
		.blockMode = is_independent ? LZ4F_blockIndependent : LZ4F_blockLinked,
		.contentChecksumFlag = LZ4F_contentChecksumEnabled,
		.blockChecksumFlag = has_checksums ? LZ4F_blockChecksumEnabled :
			LZ4F_noBlockChecksum,
	} };
	const size_t room = LZ4F_compressFrameBound(len, &prefs);
	uint8_t *whole = malloc(room);
	rte_le32_t checksum;
	size_t n;

	T_CHECK(whole != NULL);
	n = LZ4F_compressFrame(whole, room, data, len, &prefs);
	T_CHECK(!LZ4F_isError(n));
	packer_set_source(p, whole + FRAME_HEAD, n - FRAME_HEAD - FRAME_TAIL);
	memcpy(&checksum, whole + n - sizeof(checksum), sizeof(checksum));
	free(whole);
	return rte_le_to_cpu_32(checksum);
}
