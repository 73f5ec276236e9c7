/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_DMA_H
#define DOCA_DMA_H

/**
 * @file
 * DOCA DMA: an accelerator that copies memory, of this process and of the other side.
 *
 *     doca_dma_create(dev, &dma)
 *     doca_pe_connect_ctx(), ..._task_memcpy_set_conf()
 *     doca_ctx_start()          SUCCESS, RUNNING
 *     ..._task_memcpy_alloc_init(), doca_task_submit()
 *     doca_pe_progress()        copies, and calls back
 *     doca_ctx_stop(), doca_dma_destroy()
 *
 * A task copies the data of its source to where the data of its destination ends, and
 * then the destination's data is as much longer. Both can be lists of buffers.
 *
 * With comch:
 *   - doca_pe_progress() copies, up to 1 MiB each time;
 *   - memory of the other side (doca_mmap_create_from_export()) is copied by both processes, by way
 *     of memory that they share: the exporter's part is done by a thread of the library there, so
 *     the exporting program need not do anything. A task waits for an exporter that is stopped;
 *   - tasks complete in the order of their submits;
 *   - doca_task_submit() checks lengths only. Other errors are those of the task, which then
 *     has stopped the context: it is STOPPING after the error callback, and IDLE when all tasks
 *     are freed. doca_task_try_submit() refuses such a task instead.
 *
 * Errors of a task:
 *   - DOCA_ERROR_INVALID_VALUE: no data in the source, not enough room in the destination,
 *     memory that both have, a buffer that was freed, or the mmap stopped
 *   - DOCA_ERROR_NOT_PERMITTED: the destination is in an mmap of
 *     #DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, or was exported with #DOCA_ACCESS_FLAG_PCI_READ_ONLY
 *   - DOCA_ERROR_NOT_CONNECTED: the process that has exported the memory is gone, or its mmap
 *   - DOCA_ERROR_IO_FAILED: that process has unmapped the memory
 *   - DOCA_ERROR_NOT_SUPPORTED: that process is on another machine
 *   - DOCA_ERROR_SHUTDOWN: the context was stopped
 *
 * The destination's length is unchanged then, and its contents are undefined.
 *
 * Threads: as for all contexts, that of the progress engine.
 *
 * Errors of functions: DOCA_ERROR_INVALID_VALUE for a NULL argument; each names its others.
 *
 * Reference: DOCA DMA guide 3.1.
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
/** An object that copies. */
struct doca_dma;
/** The same for a GPU. */
struct doca_gpu_dma;
/** A copy. */
struct doca_dma_task_memcpy;

/** A copy has completed, or failed: see doca_task_get_status(). */
typedef void (*doca_dma_task_memcpy_completion_cb_t)(struct doca_dma_task_memcpy *task,
		union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Create an object, which uses the device until it is destroyed. Until DOCA 2.2,
 * doca_ctx_dev_add() adds the device.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: not an open device
 *   - DOCA_ERROR_NO_MEMORY
 */
#if COMCH_DOCA_GENERATION < 205
DOCA_EXPERIMENTAL
doca_error_t doca_dma_create(struct doca_dma **dma) COMCH_DOCA_SYMBOL(doca_dma_create_200);
#else
DOCA_EXPERIMENTAL
doca_error_t doca_dma_create(struct doca_dev *dev, struct doca_dma **dma);
#endif

/** Destroy an object. @return DOCA_ERROR_IN_USE: not IDLE. */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_destroy(struct doca_dma *dma);

/** The object as a context; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma);

#if COMCH_DOCA_GENERATION >= 205

/** @name Capabilities
 * @{
 */
/** Whether the device copies memory: all devices of both sides do. */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_cap_task_memcpy_is_supported(const struct doca_devinfo *devinfo);
/** Longest copy, in bytes. */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_cap_task_memcpy_get_max_buf_size(const struct doca_devinfo *devinfo,
		uint64_t *max_buf_size);
/** Maximum number of buffers of a task, those of its source and of its destination together. */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_cap_task_memcpy_get_max_buf_list_len(const struct doca_devinfo *devinfo,
		uint32_t *max_buf_list_len);
/** Maximum number of tasks of the object. */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_cap_get_max_num_tasks(struct doca_dma *dma, uint32_t *max_num_tasks);
/** @} */

/**
 * Configure tasks; mandatory. The two callbacks can be the same.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no tasks, or more than the capability
 *   - DOCA_ERROR_BAD_STATE: not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_task_memcpy_set_conf(struct doca_dma *dma,
		doca_dma_task_memcpy_completion_cb_t task_completion_cb,
		doca_dma_task_memcpy_completion_cb_t task_error_cb, uint32_t num_tasks);

/**
 * Have callbacks in the order of the submits, which they are in any case.
 *
 * @return DOCA_ERROR_BAD_STATE: not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_set_ordered_completions(struct doca_dma *dma, uint8_t enable);

/** The object for a GPU. @return DOCA_ERROR_NOT_SUPPORTED */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_get_gpu_handle(struct doca_dma *dma, struct doca_gpu_dma **gpu_dma);

/**
 * Allocate a task. Its buffers are looked at when it is submitted; the caller keeps them, and
 * must not change or free them until it has completed.
 *
 * @param dma
 *   The object, not IDLE.
 * @param src
 *   A buffer, or the first one of a list: their data is copied.
 * @param dst
 *   A buffer, or the first one of a list, where the copy is appended.
 * @param user_data
 *   For the callback.
 * @param[out] task
 *   The task; it can be submitted again after each completion.
 * @return
 *   - DOCA_ERROR_BAD_STATE: IDLE
 *   - DOCA_ERROR_NO_MEMORY: all tasks are allocated
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_task_memcpy_alloc_init(struct doca_dma *dma, const struct doca_buf *src,
		struct doca_buf *dst, union doca_data user_data,
		struct doca_dma_task_memcpy **task);

/** The task as a doca_task; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_dma_task_memcpy_as_task(struct doca_dma_task_memcpy *task);

/** The task's source. */
DOCA_EXPERIMENTAL
const struct doca_buf *doca_dma_task_memcpy_get_src(const struct doca_dma_task_memcpy *task);

/** The task's destination. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_dma_task_memcpy_get_dst(const struct doca_dma_task_memcpy *task);

/** Set the source of the next submit. */
DOCA_EXPERIMENTAL
void doca_dma_task_memcpy_set_src(struct doca_dma_task_memcpy *task, const struct doca_buf *src);

/** Set the destination of the next submit. */
DOCA_EXPERIMENTAL
void doca_dma_task_memcpy_set_dst(struct doca_dma_task_memcpy *task, struct doca_buf *dst);
#endif

#ifdef __cplusplus
}
#endif

#if COMCH_DOCA_GENERATION < 205
#include <comch_doca_dma_200.h>
#endif

#endif /* DOCA_DMA_H */
