/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_SHA_H
#define DOCA_SHA_H

/**
 * @file
 * DOCA SHA: an accelerator that computes digests of memory.
 *
 *     doca_sha_create(dev, &sha)
 *     doca_pe_connect_ctx(), ..._task_hash_set_conf(), ..._task_partial_hash_set_conf()
 *     doca_ctx_start()          SUCCESS, RUNNING
 *     ..._task_hash_alloc_init(), doca_task_submit()
 *     doca_pe_progress()        computes, and calls back
 *     doca_ctx_stop(), doca_sha_destroy()
 *
 * A hash task computes the digest of the data of its source, which can be a list of buffers, and
 * writes it to where the data of its destination begins. Then that data is the digest.
 *
 * A partial hash task does the same with a message in several parts. It is submitted once for each,
 * one after the other, with another source; the last one is marked before its submit:
 *
 *     ..._task_partial_hash_alloc_init(sha, algorithm, src, dst, ...)
 *     submit, callback
 *     ..._task_partial_hash_set_src(task, src), submit, callback     as often as needed
 *     ..._task_partial_hash_set_src(task, src)
 *     ..._task_partial_hash_set_is_final_buf(task), submit, callback: the digest
 *
 * All parts but the last have a multiple of the algorithm's block size. The next submit begins
 * another message.
 *
 * With comch:
 *   - doca_pe_progress() computes, up to 256 KiB each time, with the instructions that the CPU has
 *     for it;
 *   - the digest of an empty message can be computed as well;
 *   - tasks complete in the order of their submits;
 *   - doca_task_submit() checks lengths only. Other errors are those of the task, which then has
 *     stopped the context: it is STOPPING after the error callback, and IDLE when all tasks are
 *     freed. doca_task_try_submit() refuses such a task instead.
 *
 * Errors of a task, and the first of its submit:
 *   - DOCA_ERROR_INVALID_VALUE: the source is larger than doca_sha_cap_get_max_src_buf_size(), the
 *     destination has less room than doca_sha_cap_get_min_dst_buf_size() or is a list, or a part
 *     that is not the last is empty or no multiple of the block size
 *   - DOCA_ERROR_INVALID_VALUE: a buffer that was freed, the mmap stopped, or the destination made
 *     too small meanwhile
 *   - DOCA_ERROR_NOT_PERMITTED: the destination is in an mmap of
 *     #DOCA_ACCESS_FLAG_LOCAL_READ_ONLY
 *   - DOCA_ERROR_NOT_SUPPORTED: memory of the other side: copy it first (doca_dma.h)
 *   - DOCA_ERROR_DRIVER: libcrypto has failed
 *   - DOCA_ERROR_SHUTDOWN: the context was stopped
 *
 * The destination is unchanged then.
 *
 * Threads: as for all contexts, that of the progress engine.
 *
 * Errors of functions: DOCA_ERROR_INVALID_VALUE for a NULL argument, and DOCA_ERROR_NOT_SUPPORTED
 * for an unknown algorithm, or one that libcrypto is configured without; each names its others.
 *
 * Reference: DOCA SHA guide 2.9; FIPS 180-4.
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
/** An object that computes digests. */
struct doca_sha;

/**
 * Create an object, which uses the device until it is destroyed. Until DOCA 2.2,
 * doca_ctx_dev_add() adds the device.
 *
 * @return DOCA_ERROR_NO_MEMORY
 */
#if COMCH_DOCA_GENERATION < 205
DOCA_EXPERIMENTAL
doca_error_t doca_sha_create(struct doca_sha **sha) COMCH_DOCA_SYMBOL(doca_sha_create_200);
#else
DOCA_EXPERIMENTAL
doca_error_t doca_sha_create(struct doca_dev *dev, struct doca_sha **sha);
#endif

/** Destroy an object. @return DOCA_ERROR_IN_USE: not IDLE */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_destroy(struct doca_sha *sha);

/** The object as a context; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_sha_as_ctx(struct doca_sha *sha);

#if COMCH_DOCA_GENERATION >= 205
/** Algorithms. */
enum doca_sha_algorithm {
	DOCA_SHA_ALGORITHM_SHA1,   /**< A digest of 20 bytes, blocks of 64. */
	DOCA_SHA_ALGORITHM_SHA256, /**< 32, 64. */
	DOCA_SHA_ALGORITHM_SHA512, /**< 64, 128. */
};

/** @name Capabilities: the same for all devices, of both sides
 * @{
 */
/** Whether hash tasks can use an algorithm. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_task_hash_get_supported(const struct doca_devinfo *devinfo,
		enum doca_sha_algorithm algorithm);
/** Whether partial hash tasks can use an algorithm. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_task_partial_hash_get_supported(const struct doca_devinfo *devinfo,
		enum doca_sha_algorithm algorithm);
/** Most bytes of a source: 2 GiB, or `limit.sha_max_src_buf_size` of the device table. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_max_src_buf_size(const struct doca_devinfo *devinfo,
		uint64_t *max_src_buf_size);
/** Bytes that a destination must have from its data on: the digest's. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_min_dst_buf_size(const struct doca_devinfo *devinfo,
		enum doca_sha_algorithm algorithm, uint32_t *min_dst_buf_size);
/** What the parts of a message but the last are a multiple of. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_partial_hash_block_size(const struct doca_devinfo *devinfo,
		enum doca_sha_algorithm algorithm, uint32_t *block_size);
/** @} */

/** @name Hash tasks
 * @{
 */
/** A digest of one source. */
struct doca_sha_task_hash;
/** It has completed: see doca_task_get_status(). */
typedef void (*doca_sha_task_hash_completion_cb_t)(struct doca_sha_task_hash *task,
		union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Set the callbacks, which can be the same, and the number of tasks. In state IDLE.
 *
 * @param sha
 *   The object.
 * @param task_completion_cb, task_error_cb
 *   Not NULL.
 * @param log_num_tasks
 *   The number's logarithm to the base 2: 0 is one task; at most 16.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: too many
 *   - DOCA_ERROR_BAD_STATE: not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_set_conf(struct doca_sha *sha,
		doca_sha_task_hash_completion_cb_t task_completion_cb,
		doca_sha_task_hash_completion_cb_t task_error_cb, uint32_t log_num_tasks);

/**
 * Allocate a task. Its buffers are looked at when it is submitted; *dst* is not a list.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: IDLE
 *   - DOCA_ERROR_NO_MEMORY: all are allocated, or there is none for its state
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_alloc_init(struct doca_sha *sha, enum doca_sha_algorithm algorithm,
		const struct doca_buf *src, struct doca_buf *dst, union doca_data user_data,
		struct doca_sha_task_hash **task);
/** The task as a doca_task; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_sha_task_hash_as_task(struct doca_sha_task_hash *task);
/** Use another source, or the same again, for the next submit. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_set_src(struct doca_sha_task_hash *task,
		const struct doca_buf *src);
/** @} */

/** @name Partial hash tasks
 * @{
 */
/** A digest of a message in several parts. */
struct doca_sha_task_partial_hash;
/** A part has completed: see doca_task_get_status(). */
typedef void (*doca_sha_task_partial_hash_completion_cb_t)(
		struct doca_sha_task_partial_hash *task, union doca_data task_user_data,
		union doca_data ctx_user_data);

/** As doca_sha_task_hash_set_conf(). */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_conf(struct doca_sha *sha,
		doca_sha_task_partial_hash_completion_cb_t task_completion_cb,
		doca_sha_task_partial_hash_completion_cb_t task_error_cb, uint32_t log_num_tasks);
/** As doca_sha_task_hash_alloc_init(). A task has one message at a time. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_alloc_init(struct doca_sha *sha,
		enum doca_sha_algorithm algorithm, const struct doca_buf *src,
		struct doca_buf *dst, union doca_data user_data,
		struct doca_sha_task_partial_hash **task);
/** The task as a doca_task; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_sha_task_partial_hash_as_task(struct doca_sha_task_partial_hash *task);
/** The source of the next part. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_src(struct doca_sha_task_partial_hash *task,
		const struct doca_buf *src);
/** The next part is the last. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_is_final_buf(
		struct doca_sha_task_partial_hash *task);
/** @} */
#endif

#ifdef __cplusplus
}
#endif

#if COMCH_DOCA_GENERATION < 205
#include <comch_doca_sha_200.h>
#endif

#endif /* DOCA_SHA_H */
