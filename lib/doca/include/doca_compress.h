/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_COMPRESS_H
#define DOCA_COMPRESS_H

/**
 * @file
 * DOCA Compress: an accelerator that compresses and decompresses memory.
 *
 *     doca_compress_create(dev, &compress)
 *     doca_pe_connect_ctx(), ..._task_..._set_conf() of each kind of task
 *     doca_ctx_start()          SUCCESS, RUNNING
 *     ..._task_..._alloc_init(), doca_task_submit()
 *     doca_pe_progress()        works, and calls back
 *     doca_ctx_stop(), doca_compress_destroy()
 *
 * A task works on the data of its source, which can be a list of buffers, and writes to where the
 * data of its destination ends, which is one buffer. Then the destination's data is as much longer.
 *
 * Formats:
 *   - deflate: a stream as in RFC 1951, without the header and the trailer of zlib or gzip; what
 *     follows its end is ignored;
 *   - LZ4 stream: the blocks of an LZ4 frame, each with its size before it, and, where the frame
 *     has them, with its checksum behind it; without the header of the frame, its end mark and its
 *     checksum;
 *   - LZ4 block: a block without anything.
 *
 * Each task computes checksums of what is not compressed: CRC-32 as zlib's crc32(), Adler-32 as its
 * adler32(), or xxHash-32 with the seed 0, whose bytes are in the reverse order. They are valid in
 * the completion callback, and until the task is submitted again or freed.
 *
 * With comch:
 *   - doca_pe_progress() mostly works for a fraction of a millisecond each time, but on an LZ4
 *     block as long as it takes: 4 MiB at most of a stream; of a task for one block all, which may
 *     be as large as the destination;
 *   - an empty source can be compressed;
 *   - tasks complete in the order of their submits;
 *   - doca_task_submit() checks lengths only. Other errors are those of the task, which then has
 *     stopped the context: it is STOPPING after the error callback, and IDLE when all tasks are
 *     freed. doca_task_try_submit() refuses such a task instead. What is wrong with the bytes of a
 *     source shows at its end only: if a peer's must not end the tasks of others, give it a context
 *     of its own.
 *
 * Errors of a task, and the first of its submit:
 *   - DOCA_ERROR_INVALID_VALUE: the source has more bytes or buffers than the capabilities say, or
 *     the destination is a list
 *   - DOCA_ERROR_INVALID_VALUE: no data to decompress, a buffer that was freed, the mmap stopped, a
 *     destination whose room has a byte of the source's data, or which was changed meanwhile
 *   - DOCA_ERROR_NOT_PERMITTED: the destination is in an mmap of
 *     #DOCA_ACCESS_FLAG_LOCAL_READ_ONLY
 *   - DOCA_ERROR_NOT_SUPPORTED: memory of the other side: copy it first (doca_dma.h)
 *   - DOCA_ERROR_TOO_BIG: the result does not fit into the destination; if the source is corrupt as
 *     well, what is met first
 *   - DOCA_ERROR_IO_FAILED: the source is corrupt, incomplete, or of another format
 *   - DOCA_ERROR_NO_MEMORY, DOCA_ERROR_DRIVER: the library that works for it fails so
 *   - DOCA_ERROR_SHUTDOWN: the context was stopped
 *
 * The destination's length is unchanged then, its contents are undefined, and nothing is written
 * beyond it.
 *
 * Threads: as for all contexts, that of the progress engine.
 *
 * Errors of functions: DOCA_ERROR_INVALID_VALUE for a NULL argument; each names its others.
 *
 * Reference: DOCA Compress guide 2.9; RFC 1951; LZ4 block and frame formats.
 */

#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_task;
/** An object that compresses and decompresses. */
struct doca_compress;

/**
 * Create an object, which uses the device until it is destroyed. Until DOCA 2.2,
 * doca_ctx_dev_add() adds the device.
 *
 * @return DOCA_ERROR_NO_MEMORY
 */
#if COMCH_DOCA_GENERATION < 205
DOCA_EXPERIMENTAL
doca_error_t doca_compress_create(struct doca_compress **compress)
	COMCH_DOCA_SYMBOL(doca_compress_create_200);
#else
DOCA_EXPERIMENTAL
doca_error_t doca_compress_create(struct doca_dev *dev, struct doca_compress **compress);
#endif

/** Destroy an object. @return DOCA_ERROR_IN_USE: not IDLE */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_destroy(struct doca_compress *compress);

/** The object as a context; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_compress_as_ctx(struct doca_compress *compress);

#if COMCH_DOCA_GENERATION >= 205
/** @name Tasks
 *
 * The functions of each kind of task are alike:
 *   - doca_compress_cap_task_..._is_supported(): all devices of both sides run them.
 *   - ..._cap_task_..._get_max_buf_size(): most bytes of a source, 128 MiB, or
 *     `limit.compress_max_buf_size` of the device table.
 *   - ..._cap_task_..._get_max_buf_list_len(): most buffers of a source, 64, or
 *     `limit.compress_max_buf_list_len`.
 *   - ..._set_conf(), while IDLE: the callbacks, which can be the same, and the number of tasks.
 *     DOCA_ERROR_INVALID_VALUE: 0, or more than 65536; DOCA_ERROR_BAD_STATE: not IDLE.
 *   - ..._alloc_init(): a task, which can be submitted again after each completion. Its buffers are
 *     looked at when it is submitted. DOCA_ERROR_BAD_STATE: IDLE; DOCA_ERROR_NO_MEMORY: all are
 *     allocated.
 *   - ..._as_task(), ..._get_src(), ..._get_dst(): NULL for NULL.
 *   - ..._get_crc_cs(), ..._get_adler_cs(), ..._get_xxh_cs(): a checksum; 0 for NULL.
 * @{
 */
/** A task that compresses a source into a deflate stream. */
struct doca_compress_task_compress_deflate;
/** It has completed: see doca_task_get_status(). */
typedef void (*doca_compress_task_compress_deflate_completion_cb_t)(
		struct doca_compress_task_compress_deflate *task, union doca_data task_user_data,
		union doca_data ctx_user_data);
/** Whether a device runs such tasks. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_compress_deflate_is_supported(
		const struct doca_devinfo *devinfo);
/** Most bytes of its source. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_compress_deflate_get_max_buf_size(
		const struct doca_devinfo *devinfo, uint64_t *max_buf_size);
/** Most buffers of its source. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_compress_deflate_get_max_buf_list_len(
		const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);
/** Configure such tasks. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_task_compress_deflate_set_conf(struct doca_compress *compress,
		doca_compress_task_compress_deflate_completion_cb_t task_completion_cb,
		doca_compress_task_compress_deflate_completion_cb_t task_error_cb,
		uint32_t num_tasks);
/** Allocate such a task. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_task_compress_deflate_alloc_init(struct doca_compress *compress,
		const struct doca_buf *src, struct doca_buf *dst, union doca_data user_data,
		struct doca_compress_task_compress_deflate **task);
/** Such a task as a doca_task. */
DOCA_EXPERIMENTAL
struct doca_task *doca_compress_task_compress_deflate_as_task(
		struct doca_compress_task_compress_deflate *task);
/** Its source. */
DOCA_EXPERIMENTAL
const struct doca_buf *doca_compress_task_compress_deflate_get_src(
		const struct doca_compress_task_compress_deflate *task);
/** Its destination. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_compress_task_compress_deflate_get_dst(
		const struct doca_compress_task_compress_deflate *task);
/** CRC-32. */
DOCA_EXPERIMENTAL
uint32_t doca_compress_task_compress_deflate_get_crc_cs(
		const struct doca_compress_task_compress_deflate *task);
/** Adler-32. */
DOCA_EXPERIMENTAL
uint32_t doca_compress_task_compress_deflate_get_adler_cs(
		const struct doca_compress_task_compress_deflate *task);

/** A task that decompresses a deflate stream. */
struct doca_compress_task_decompress_deflate;
/** It has completed: see doca_task_get_status(). */
typedef void (*doca_compress_task_decompress_deflate_completion_cb_t)(
		struct doca_compress_task_decompress_deflate *task, union doca_data task_user_data,
		union doca_data ctx_user_data);
/** Whether a device runs such tasks. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_decompress_deflate_is_supported(
		const struct doca_devinfo *devinfo);
/** Most bytes of its source. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_decompress_deflate_get_max_buf_size(
		const struct doca_devinfo *devinfo, uint64_t *max_buf_size);
/** Most buffers of its source. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_decompress_deflate_get_max_buf_list_len(
		const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);
/** Configure such tasks. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_task_decompress_deflate_set_conf(struct doca_compress *compress,
		doca_compress_task_decompress_deflate_completion_cb_t task_completion_cb,
		doca_compress_task_decompress_deflate_completion_cb_t task_error_cb,
		uint32_t num_tasks);
/** Allocate such a task. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_task_decompress_deflate_alloc_init(struct doca_compress *compress,
		const struct doca_buf *src, struct doca_buf *dst, union doca_data user_data,
		struct doca_compress_task_decompress_deflate **task);
/** Such a task as a doca_task. */
DOCA_EXPERIMENTAL
struct doca_task *doca_compress_task_decompress_deflate_as_task(
		struct doca_compress_task_decompress_deflate *task);
/** Its source. */
DOCA_EXPERIMENTAL
const struct doca_buf *doca_compress_task_decompress_deflate_get_src(
		const struct doca_compress_task_decompress_deflate *task);
/** Its destination. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_compress_task_decompress_deflate_get_dst(
		const struct doca_compress_task_decompress_deflate *task);
/** CRC-32. */
DOCA_EXPERIMENTAL
uint32_t doca_compress_task_decompress_deflate_get_crc_cs(
		const struct doca_compress_task_decompress_deflate *task);
/** Adler-32. */
DOCA_EXPERIMENTAL
uint32_t doca_compress_task_decompress_deflate_get_adler_cs(
		const struct doca_compress_task_decompress_deflate *task);

/** A task that decompresses the blocks of an LZ4 frame. */
struct doca_compress_task_decompress_lz4_stream;
/** It has completed: see doca_task_get_status(). */
typedef void (*doca_compress_task_decompress_lz4_stream_completion_cb_t)(
		struct doca_compress_task_decompress_lz4_stream *task,
		union doca_data task_user_data, union doca_data ctx_user_data);
/** Whether a device runs such tasks. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_decompress_lz4_stream_is_supported(
		const struct doca_devinfo *devinfo);
/** Most bytes of its source. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_decompress_lz4_stream_get_max_buf_size(
		const struct doca_devinfo *devinfo, uint64_t *max_buf_size);
/** Most buffers of its source. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_decompress_lz4_stream_get_max_buf_list_len(
		const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);
/** Configure such tasks. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_task_decompress_lz4_stream_set_conf(struct doca_compress *compress,
		doca_compress_task_decompress_lz4_stream_completion_cb_t task_completion_cb,
		doca_compress_task_decompress_lz4_stream_completion_cb_t task_error_cb,
		uint32_t num_tasks);
/**
 * Allocate such a task. *has_block_checksum*: each block has its checksum behind it, which is
 * checked. *are_blocks_independent*: no block refers to those before it.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_task_decompress_lz4_stream_alloc_init(struct doca_compress *compress,
		uint8_t has_block_checksum, uint8_t are_blocks_independent,
		const struct doca_buf *src, struct doca_buf *dst, union doca_data user_data,
		struct doca_compress_task_decompress_lz4_stream **task);
/** Such a task as a doca_task. */
DOCA_EXPERIMENTAL
struct doca_task *doca_compress_task_decompress_lz4_stream_as_task(
		struct doca_compress_task_decompress_lz4_stream *task);
/** Its source. */
DOCA_EXPERIMENTAL
const struct doca_buf *doca_compress_task_decompress_lz4_stream_get_src(
		const struct doca_compress_task_decompress_lz4_stream *task);
/** Its destination. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_compress_task_decompress_lz4_stream_get_dst(
		const struct doca_compress_task_decompress_lz4_stream *task);
/** CRC-32. */
DOCA_EXPERIMENTAL
uint32_t doca_compress_task_decompress_lz4_stream_get_crc_cs(
		const struct doca_compress_task_decompress_lz4_stream *task);
/** xxHash-32, its bytes reversed. */
DOCA_EXPERIMENTAL
uint32_t doca_compress_task_decompress_lz4_stream_get_xxh_cs(
		const struct doca_compress_task_decompress_lz4_stream *task);

/** A task that decompresses one LZ4 block. */
struct doca_compress_task_decompress_lz4_block;
/** It has completed: see doca_task_get_status(). */
typedef void (*doca_compress_task_decompress_lz4_block_completion_cb_t)(
		struct doca_compress_task_decompress_lz4_block *task,
		union doca_data task_user_data, union doca_data ctx_user_data);
/** Whether a device runs such tasks. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_decompress_lz4_block_is_supported(
		const struct doca_devinfo *devinfo);
/** Most bytes of its source. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_decompress_lz4_block_get_max_buf_size(
		const struct doca_devinfo *devinfo, uint64_t *max_buf_size);
/** Most buffers of its source. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_decompress_lz4_block_get_max_buf_list_len(
		const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);
/** Configure such tasks. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_task_decompress_lz4_block_set_conf(struct doca_compress *compress,
		doca_compress_task_decompress_lz4_block_completion_cb_t task_completion_cb,
		doca_compress_task_decompress_lz4_block_completion_cb_t task_error_cb,
		uint32_t num_tasks);
/** Allocate such a task. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_task_decompress_lz4_block_alloc_init(struct doca_compress *compress,
		const struct doca_buf *src, struct doca_buf *dst, union doca_data user_data,
		struct doca_compress_task_decompress_lz4_block **task);
/** Such a task as a doca_task. */
DOCA_EXPERIMENTAL
struct doca_task *doca_compress_task_decompress_lz4_block_as_task(
		struct doca_compress_task_decompress_lz4_block *task);
/** Its source. */
DOCA_EXPERIMENTAL
const struct doca_buf *doca_compress_task_decompress_lz4_block_get_src(
		const struct doca_compress_task_decompress_lz4_block *task);
/** Its destination. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_compress_task_decompress_lz4_block_get_dst(
		const struct doca_compress_task_decompress_lz4_block *task);
/** CRC-32. */
DOCA_EXPERIMENTAL
uint32_t doca_compress_task_decompress_lz4_block_get_crc_cs(
		const struct doca_compress_task_decompress_lz4_block *task);
/** xxHash-32, its bytes reversed. */
DOCA_EXPERIMENTAL
uint32_t doca_compress_task_decompress_lz4_block_get_xxh_cs(
		const struct doca_compress_task_decompress_lz4_block *task);
/** @} */
#endif

#ifdef __cplusplus
}
#endif

#if COMCH_DOCA_GENERATION < 205
#include <comch_doca_compress_200.h>
#endif

#endif /* DOCA_COMPRESS_H */
