/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_DPA_DEV_H
#define DOCA_DPA_DEV_H

/**
 * @file
 * Device code: what runs on the accelerator (DPA). Build it with comch-dpacc.
 *
 * A function marked `__dpa_global__` is a kernel: the host names it to
 * doca_dpa_thread_set_func_arg(), or to doca_dpa_kernel_launch_update_set(). One
 * marked `__dpa_rpc__` is called by doca_dpa_rpc() and returns a uint64_t.
 *
 * The kernel of a DPA thread runs once per activation, from its beginning:
 *
 *     host: doca_dpa_thread_run()
 *     an element on a completion that was asked for a notification,
 *     or doca_dpa_dev_thread_notify()
 *         -> kernel(arg) ... doca_dpa_dev_thread_reschedule()
 *     another one
 *         -> kernel(arg) ... doca_dpa_dev_thread_finish()      never again
 *
 * A thread that serves a completion takes all elements, acknowledges them, asks
 * for a notification and ends the activation. An element that came before the
 * request activates it just as well: no wake-up is lost.
 *
 *     while (doca_dpa_dev_get_completion(comp, &element)) {
 *         ...
 *         doca_dpa_dev_completion_ack(comp, 1);
 *     }
 *     doca_dpa_dev_completion_request_notification(comp);
 *     doca_dpa_dev_thread_reschedule();
 *
 * With comch:
 *   - the accelerator is emulated by threads of the program: device code is
 *     ordinary code and sees all memory;
 *   - what a card answers with a fault (a bad handle, a range outside its mmap, too
 *     many elements) ends the kernel, is logged, and reported to the host by
 *     doca_dpa_peek_at_last_error();
 *   - a kernel ends within any of these functions once its thread is being stopped,
 *     so it must not hold locks of its own over one.
 *
 * Thread rule: any device code may call any function, unless it says otherwise.
 * A completion, a producer or async ops belong to one thread at a time.
 *
 * Reference: DOCA DPA guide 2.10, section "Device-Side API".
 */

#ifndef DOCA_DPA_DEVICE
/** This is code of the accelerator. */
#define DOCA_DPA_DEVICE
#endif

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <comch_doca_dpa_types.h>

/* comch-dpacc finds functions by these marks; to the compiler they say nothing. */
#ifndef __dpa_global__
/** A kernel. */
#define __dpa_global__
#endif
#ifndef __dpa_rpc__
/** A function for doca_dpa_rpc(). */
#define __dpa_rpc__
#endif
#ifndef __forceinline
/** Inlined in any case. */
#define __forceinline static inline __attribute__((always_inline))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** An element of a completion: good until it is acknowledged. */
typedef uint64_t doca_dpa_dev_completion_element_t;

/** What has completed. */
typedef enum {
	DOCA_DPA_DEV_COMP_SEND = 0x0,                /**< What the device code posted. */
	DOCA_DPA_DEV_COMP_RECV_RDMA_WRITE_IMM = 0x1, /**< RDMA: not here. */
	DOCA_DPA_DEV_COMP_RECV_SEND = 0x2,           /**< RDMA: not here. */
	DOCA_DPA_DEV_COMP_RECV_SEND_IMM = 0x3,       /**< RDMA: not here. */
	DOCA_DPA_DEV_COMP_SEND_ERR = 0xD,            /**< What was posted has failed. */
	DOCA_DPA_DEV_COMP_RECV_ERR = 0xE,            /**< RDMA: not here. */
} doca_dpa_dev_completion_type_t;

/**
 * How to submit an operation. Each one has an element on the completion, in the
 * order of submission.
 */
enum doca_dpa_dev_submit_flag {
	/** A card may wait with it until a later one is flushed; here it goes at once. */
	DOCA_DPA_DEV_SUBMIT_FLAG_NONE = 0U,
	/** Begin now, with all those before it. */
	DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH = (1U << 0),
	/** Its element may wait for that of a later operation without this flag. */
	DOCA_DPA_DEV_SUBMIT_FLAG_OPTIMIZE_REPORTS = (1U << 1),
};

/**
 * Choose the context whose resources follow. Needed only with extended contexts
 * (doca_dpa_device_extend()), on a card; here a handle says its context itself, so
 * it is checked and has no other effect.
 *
 * @param dpa_handle
 *   From doca_dpa_get_dpa_handle().
 */
void doca_dpa_dev_device_set(doca_dpa_dev_t dpa_handle);

/** The running thread's number in its launch or its thread group; 0 without one. */
unsigned int doca_dpa_dev_thread_rank(void);

/** Threads of the launch or the thread group; 1 without one. */
unsigned int doca_dpa_dev_num_threads(void);

/** What doca_dpa_thread_set_local_storage() set; 0: nothing. Kernels of DPA threads only. */
doca_dpa_dev_uintptr_t doca_dpa_dev_thread_get_local_storage(void);

/** Let another thread run. Kernels of a launch only. */
void doca_dpa_dev_yield(void);

/**
 * End this activation; the next one begins the kernel anew. Does not return. A
 * kernel that returns does the same. Kernels of DPA threads only.
 */
void doca_dpa_dev_thread_reschedule(void);

/** End for good: no activation begins the kernel again. Does not return. Likewise. */
void doca_dpa_dev_thread_finish(void);

/**
 * Activate the thread of a notification completion. Notifications that arrive
 * before its kernel begins are one.
 */
void doca_dpa_dev_thread_notify(doca_dpa_dev_notification_completion_t comp_handle);

/**
 * Write a log line, if the context's level (doca_dpa_set_log_level()) has it.
 *
 * @param log_level
 *   Level.
 * @param format
 *   As the C library's formats.
 */
void doca_dpa_dev_log(doca_dpa_dev_log_level_t log_level, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

/** Write five numbers to the trace file (doca_dpa_trace_file_set_path()). */
void doca_dpa_dev_trace(uint64_t arg1, uint64_t arg2, uint64_t arg3, uint64_t arg4,
		uint64_t arg5);

/** Have all trace lines in the file when this returns. */
void doca_dpa_dev_trace_flush(void);

/** @name Hash tables
 * Any number of threads may use one at the same time.
 * @{
 */
/**
 * Add a key, or give the one that is there another value. A table with as many
 * keys as doca_dpa_hash_table_create() was told is full: a fault.
 */
void doca_dpa_dev_hash_table_add(doca_dpa_dev_hash_table_t ht_handle, uint32_t key,
		uint64_t value);
/** Remove a key. No effect if it is not there. */
void doca_dpa_dev_hash_table_remove(doca_dpa_dev_hash_table_t ht_handle, uint32_t key);
/** Find a key: 1, and its value; or 0, and *value* stays as it was. */
int doca_dpa_dev_hash_table_find(doca_dpa_dev_hash_table_t ht_handle, uint32_t key,
		uint64_t *value);
/** @} */

/**
 * Take the next element of a completion.
 *
 * @param dpa_comp_handle
 *   From doca_dpa_completion_get_dpa_handle().
 * @param[out] comp_element
 *   The element, until it is acknowledged.
 * @return
 *   1, or 0: there is none.
 */
int doca_dpa_dev_get_completion(doca_dpa_dev_completion_t dpa_comp_handle,
		doca_dpa_dev_completion_element_t *comp_element);

/** What has completed. */
doca_dpa_dev_completion_type_t doca_dpa_dev_get_completion_type(
		doca_dpa_dev_completion_element_t comp_element);

/** The user data of the async ops, or of the producer's context: the low 24 bits. */
uint32_t doca_dpa_dev_get_completion_user_data(doca_dpa_dev_completion_element_t comp_element);

/** Immediate data of an RDMA receive; else 0. */
uint32_t doca_dpa_dev_get_completion_immediate(doca_dpa_dev_completion_element_t comp_element);

/**
 * Give back the room of elements, the oldest first.
 *
 * @param dpa_comp_handle
 *   The completion.
 * @param num_comp
 *   How many; not more than were taken.
 */
void doca_dpa_dev_completion_ack(doca_dpa_dev_completion_t dpa_comp_handle, uint64_t num_comp);

/**
 * Have the completion's thread activated once, when there is an element that was
 * not taken: now, or when the next one arrives. A completion that is started has
 * asked for that.
 */
void doca_dpa_dev_completion_request_notification(doca_dpa_dev_completion_t dpa_comp_handle);

/** @name Log lines
 * @{
 */
/** Of an error. */
#define DOCA_DPA_DEV_LOG_ERR(...) doca_dpa_dev_log(DOCA_DPA_DEV_LOG_LEVEL_ERROR, __VA_ARGS__)
/** A warning. */
#define DOCA_DPA_DEV_LOG_WARN(...) doca_dpa_dev_log(DOCA_DPA_DEV_LOG_LEVEL_WARNING, __VA_ARGS__)
/** Of what goes on. */
#define DOCA_DPA_DEV_LOG_INFO(...) doca_dpa_dev_log(DOCA_DPA_DEV_LOG_LEVEL_INFO, __VA_ARGS__)
/** For finding errors. */
#define DOCA_DPA_DEV_LOG_DBG(...) doca_dpa_dev_log(DOCA_DPA_DEV_LOG_LEVEL_DEBUG, __VA_ARGS__)
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DPA_DEV_H */
