/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA Compress: tasks, and what becomes of them. */

#include <stdlib.h>
#include <string.h>

#include <lz4.h>
#include <zlib.h>

#include "accel/packer.h"
#include "accel/text.h"
#include "t_main.h"

static void
check_refused(struct doca_task *task)
{
	T_INVALID(doca_task_try_submit(task));
	doca_task_free(task);
}

/* behaviour: Z6 */
PACKER_CASE(refused)
{
	struct doca_task *task = packer_compress(p);
	struct memory fixed;
	struct doca_buf *more;

	more = memory_buf(&p->dst, 0, 64, false);
	T_OK(doca_buf_chain_list(p->out, more));
	T_INVALID(doca_task_submit(task));
	T_OK(doca_buf_unchain_list(p->out, more));
	T_OK(doca_buf_dec_refcount(more, NULL));
	doca_task_free(task);

	memory_create(&fixed, p->dev, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	T_OK(doca_buf_dec_refcount(p->out, NULL));
	p->out = memory_buf(&fixed, 0, 4096, false);
	T_OK(doca_buf_set_data(p->in, p->src.addr, 10));
	task = packer_compress(p);
	T_IS(doca_task_try_submit(task), DOCA_ERROR_NOT_PERMITTED);
	T_IS(packer_finish(p, task), DOCA_ERROR_NOT_PERMITTED);
	T_WAIT(doca_pe_progress(p->pe), ctx_is_idle(p->ctx));
	T_OK(doca_buf_dec_refcount(p->out, NULL));
	memory_destroy(&fixed);
	p->out = memory_buf(&p->dst, 0, PACKER_SIZE, false);
}

/* The result would be written over the source. behaviour: Z6 */
PACKER_CASE(overlaps)
{
	T_OK(doca_buf_dec_refcount(p->out, NULL));
	p->out = memory_buf(&p->src, 50, 100, false);
	T_OK(doca_buf_set_data(p->in, p->src.addr, 51));
	check_refused(packer_compress(p));
	T_OK(doca_buf_set_data(p->in, p->src.addr + 149, 51));
	check_refused(packer_decompress(p));
	/* Before it, and behind it. */
	T_OK(doca_buf_set_data(p->in, p->src.addr, 50));
	T_OK(packer_finish(p, packer_compress(p)));
}

/* Tasks of all kinds in a row, which are done in their order. */
PACKER_CASE(in_a_row)
{
	struct doca_compress_task_decompress_deflate *back;
	struct doca_buf *there = memory_buf(&p->src, PACKER_SIZE / 2, PACKER_SIZE / 2, false);
	size_t len;

	fill_half(p->src.addr, 100000);
	packer_set_source(p, NULL, 100000);
	T_OK(doca_compress_task_decompress_deflate_alloc_init(p->compress, p->out, there, USER_DATA,
		&back));
	T_OK(doca_task_submit(packer_compress(p)));
	T_OK(packer_finish(p, doca_compress_task_decompress_deflate_as_task(back)));
	T_WAIT(doca_pe_progress(p->pe), p->nb_done == 2);
	T_GETS(doca_buf_get_data_len(there, &len), len, 100000);
	T_EQ(memcmp(p->src.addr, p->src.addr + PACKER_SIZE / 2, 100000), 0);
	T_OK(doca_buf_dec_refcount(there, NULL));
}

/* Have one of each kind that takes several turns, in the middle. */
static void
begin_long(struct packer *p, unsigned int kind, struct doca_task **task)
{
	uint8_t *data = malloc(PACKER_SIZE / 2);

	T_CHECK(data != NULL);
	fill_half(data, PACKER_SIZE / 2);
	switch (kind) {
	case 0:
		packer_set_source(p, data, PACKER_SIZE / 2);
		*task = packer_compress(p);
		break;
	case 1:
		packer_set_source(p, NULL, zlib_pack(data, PACKER_SIZE / 2, p->src.addr,
			PACKER_SIZE, 1));
		*task = packer_decompress(p);
		break;
	default:
		packer_set_frame(p, data, PACKER_SIZE / 2, false, false);
		*task = packer_stream(p, false, false);
	}
	free(data);
	T_OK(doca_task_submit(*task));
	T_EQ(doca_pe_progress(p->pe), 0);
}

/* behaviour: Z12 */
PACKER_CASE(stopped_in_the_middle)
{
	struct doca_task *task;
	unsigned int kind;

	for (kind = 0; kind < 3; kind++) {
		begin_long(p, kind, &task);
		T_IS(doca_ctx_stop(p->ctx), DOCA_ERROR_IN_PROGRESS);
		T_WAIT(doca_pe_progress(p->pe), ctx_is_idle(p->ctx));
		T_EQ(p->nb_errors, kind + 1);
		T_IS(p->status, DOCA_ERROR_SHUTDOWN);
		T_EQ(packer_out_len(p), 0);
		T_OK(doca_ctx_start(p->ctx));
	}
}

PACKER_CASE(freed_in_the_middle)
{
	struct doca_task *task;
	uint8_t packed[256];
	unsigned int kind;

	for (kind = 0; kind < 3; kind++) {
		begin_long(p, kind, &task);
		doca_task_free(task);
		/* The next one is done. */
		memcpy(p->src.addr, TEXT, strlen(TEXT));
		packer_compresses(p, strlen(TEXT));
		packer_set_source(p, packed, zlib_pack(TEXT, strlen(TEXT), packed, sizeof(packed),
			6));
		T_OK(packer_finish(p, packer_decompress(p)));
		T_EQ(memcmp(p->dst.addr, TEXT, strlen(TEXT)), 0);
	}
	T_EQ(p->nb_errors, 0);
}

/* A task can be submitted again, with another source: it begins anew. */
static void
check_again(struct packer *p, struct doca_task *task, const void *packed, size_t len,
		const void *expected, size_t expected_len)
{
	packer_set_source(p, packed, len);
	T_OK(packer_finish(p, task));
	T_EQ(packer_out_len(p), expected_len);
	T_EQ(memcmp(p->dst.addr, expected, expected_len), 0);
	T_EQ(p->crc, crc32(0, expected, (uInt)expected_len));
}

PACKER_CASE(submitted_again)
{
	struct doca_task *task = packer_decompress(p);
	uint8_t packed[256];
	unsigned int i;
	char block[256];
	int len;

	p->keep_tasks = true;
	for (i = 100; i < 102; i++)
		check_again(p, task, packed, zlib_pack(TEXT, i, packed, sizeof(packed), 6), TEXT,
			i);
	doca_task_free(task);
	task = packer_block(p);
	for (i = 100; i < 102; i++) {
		len = LZ4_compress_default(TEXT, block, (int)i, sizeof(block));
		check_again(p, task, block, (size_t)len, TEXT, i);
	}
	doca_task_free(task);
	task = packer_stream(p, false, false);
	for (i = 100; i < 102; i++) {
		packer_set_frame(p, (const uint8_t *)TEXT, i, false, false);
		T_OK(packer_finish(p, task));
		T_EQ(packer_out_len(p), i);
		T_EQ(memcmp(p->dst.addr, TEXT, i), 0);
	}
	doca_task_free(task);
	task = packer_compress(p);
	for (i = 100; i < 102; i++) {
		packer_set_source(p, TEXT, i);
		T_OK(packer_finish(p, task));
		T_EQ(zlib_unpack(p->dst.addr, packer_out_len(p), packed, sizeof(packed)), i);
		T_EQ(memcmp(packed, TEXT, i), 0);
		T_EQ(p->adler, adler32(1, (const Bytef *)TEXT, i));
	}
	doca_task_free(task);
}

/* The source changes while it is worked on, and the destination has other data. */
PACKER_CASE(changed_in_the_middle)
{
	struct doca_task *task;
	unsigned int kind;

	for (kind = 0; kind < 3; kind++) {
		begin_long(p, kind, &task);
		t_fill(p->src.addr, PACKER_SIZE, 1);
		T_WAIT(doca_pe_progress(p->pe), p->nb_done + p->nb_errors > 0);
		/* Noise can be compressed. What it is as a stream depends on the library. */
		if (kind == 0)
			T_EQ(p->nb_done, 1);
		if (p->nb_errors > 0) {
			T_EQ(packer_out_len(p), 0);
			T_WAIT(doca_pe_progress(p->pe), ctx_is_idle(p->ctx));
			T_OK(doca_ctx_start(p->ctx));
		}
		p->nb_done = p->nb_errors = 0;
	}
	begin_long(p, 0, &task);
	T_OK(doca_buf_set_data(p->out, p->dst.addr, PACKER_SIZE));
	T_WAIT(doca_pe_progress(p->pe), p->nb_errors > 0);
	T_IS(p->status, DOCA_ERROR_INVALID_VALUE);
}
