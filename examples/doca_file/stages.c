/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "../doca_common/engine.h"
#include "stages.h"

/* A task has ended: its user data is the number of the piece. */
static void
end(struct doca_task *task, enum stage stage, union doca_data task_data, union doca_data ctx_data)
{
	const struct stages *stages = ctx_data.ptr;
	doca_error_t status = doca_task_get_status(task);

	doca_task_free(task);
	stages->on_end(stages->user, (uint32_t)task_data.u64, stage, status);
}

/* Completion and error callback of each type of task; they differ in that type only. */

static void
on_copied(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	end(doca_dma_task_memcpy_as_task(task), STAGE_COPY, task_data, ctx_data);
}

static void
on_unpacked(struct doca_compress_task_decompress_deflate *task, union doca_data task_data,
		union doca_data ctx_data)
{
	end(doca_compress_task_decompress_deflate_as_task(task), STAGE_UNPACK, task_data, ctx_data);
}

static void
on_packed(struct doca_compress_task_compress_deflate *task, union doca_data task_data,
		union doca_data ctx_data)
{
	end(doca_compress_task_compress_deflate_as_task(task), STAGE_PACK, task_data, ctx_data);
}

static void
on_hashed(struct doca_sha_task_hash *task, union doca_data task_data, union doca_data ctx_data)
{
	end(doca_sha_task_hash_as_task(task), STAGE_HASH, task_data, ctx_data);
}

static doca_error_t
open_dma(struct stages *stages, struct doca_dev *dev, uint32_t nb)
{
	doca_error_t result;

	result = doca_dma_create(dev, &stages->dma);
	if (result == DOCA_SUCCESS)
		result = doca_dma_task_memcpy_set_conf(stages->dma, on_copied, on_copied, nb);
	return result == DOCA_SUCCESS ?
		engine_start(stages->pe, doca_dma_as_ctx(stages->dma), stages) : result;
}

static doca_error_t
open_compress(struct stages *stages, struct doca_dev *dev, uint32_t set, uint32_t nb)
{
	doca_error_t result;

	result = doca_compress_create(dev, &stages->compress);
	if (result == DOCA_SUCCESS && (set & 1u << STAGE_UNPACK) != 0)
		result = doca_compress_task_decompress_deflate_set_conf(stages->compress,
				on_unpacked, on_unpacked, nb);
	if (result == DOCA_SUCCESS && (set & 1u << STAGE_PACK) != 0)
		result = doca_compress_task_compress_deflate_set_conf(stages->compress,
				on_packed, on_packed, nb);
	return result == DOCA_SUCCESS ?
		engine_start(stages->pe, doca_compress_as_ctx(stages->compress), stages) : result;
}

static doca_error_t
open_sha(struct stages *stages, struct doca_dev *dev, uint32_t nb)
{
	uint32_t log_nb = 0;
	doca_error_t result;

	/* Unlike the others, it asks for the logarithm. */
	while ((UINT32_C(1) << log_nb) < nb)
		log_nb++;
	result = doca_sha_create(dev, &stages->sha);
	if (result == DOCA_SUCCESS)
		result = doca_sha_task_hash_set_conf(stages->sha, on_hashed, on_hashed, log_nb);
	return result == DOCA_SUCCESS ?
		engine_start(stages->pe, doca_sha_as_ctx(stages->sha), stages) : result;
}

doca_error_t
stages_open(struct stages *stages, struct doca_dev *dev, uint32_t set, uint32_t nb_pieces)
{
	doca_error_t result = DOCA_SUCCESS;

	if ((set & 1u << STAGE_COPY) != 0)
		result = open_dma(stages, dev, nb_pieces);
	if (result == DOCA_SUCCESS && (set & (1u << STAGE_UNPACK | 1u << STAGE_PACK)) != 0)
		result = open_compress(stages, dev, set, nb_pieces);
	if (result == DOCA_SUCCESS && (set & 1u << STAGE_HASH) != 0)
		result = open_sha(stages, dev, nb_pieces);
	return result;
}

/* Allocate the task of a stage. */
static doca_error_t
make_task(const struct stages *stages, union doca_data piece, enum stage stage,
		const struct doca_buf *src, struct doca_buf *dst, struct doca_task **task)
{
	struct doca_dma_task_memcpy *copy = NULL;
	struct doca_compress_task_decompress_deflate *unpack = NULL;
	struct doca_compress_task_compress_deflate *pack = NULL;
	struct doca_sha_task_hash *hash = NULL;
	doca_error_t result;

	switch (stage) {
	case STAGE_COPY:
		result = doca_dma_task_memcpy_alloc_init(stages->dma, src, dst, piece, &copy);
		*task = doca_dma_task_memcpy_as_task(copy);
		return result;
	case STAGE_UNPACK:
		result = doca_compress_task_decompress_deflate_alloc_init(stages->compress, src,
				dst, piece, &unpack);
		*task = doca_compress_task_decompress_deflate_as_task(unpack);
		return result;
	case STAGE_PACK:
		result = doca_compress_task_compress_deflate_alloc_init(stages->compress, src, dst,
				piece, &pack);
		*task = doca_compress_task_compress_deflate_as_task(pack);
		return result;
	default:
		result = doca_sha_task_hash_alloc_init(stages->sha, DOCA_SHA_ALGORITHM_SHA256, src,
				dst, piece, &hash);
		*task = doca_sha_task_hash_as_task(hash);
		return result;
	}
}

doca_error_t
stages_begin(struct stages *stages, uint32_t piece, enum stage stage, const struct doca_buf *src,
		struct doca_buf *dst)
{
	struct doca_task *task;
	doca_error_t result;

	result = doca_buf_reset_data_len(dst);
	if (result == DOCA_SUCCESS)
		result = make_task(stages, (union doca_data){ .u64 = piece }, stage, src, dst,
				&task);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_task_submit(task);
	if (result != DOCA_SUCCESS)
		doca_task_free(task);
	return result;
}

void
stages_close(struct stages *stages)
{
	if (stages->dma != NULL) {
		engine_stop(stages->pe, doca_dma_as_ctx(stages->dma));
		doca_dma_destroy(stages->dma);
	}
	if (stages->compress != NULL) {
		engine_stop(stages->pe, doca_compress_as_ctx(stages->compress));
		doca_compress_destroy(stages->compress);
	}
	if (stages->sha != NULL) {
		engine_stop(stages->pe, doca_sha_as_ctx(stages->sha));
		doca_sha_destroy(stages->sha);
	}
}
