/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_DPA_DEV_H
#define DOCA_DPA_DEV_H

/**
 * @file
 * Device code, which runs on the accelerator (DPA). Build it with comch-dpacc.
 *
 * A function marked `__dpa_global__` is a kernel, for the host's
 * doca_dpa_thread_set_func_arg() or doca_dpa_kernel_launch_update_set(). A function
 * marked `__dpa_rpc__` returns a uint64_t to the host's doca_dpa_rpc().
 *
 * The kernel of a DPA thread runs once per activation, from its beginning:
 *
 *     host: doca_dpa_thread_run()
 *     an element on a completion whose notification was requested,
 *     or doca_dpa_dev_thread_notify()
 *         -> kernel(arg) ... doca_dpa_dev_thread_reschedule()
 *     the next activation
 *         -> kernel(arg) ... doca_dpa_dev_thread_finish()      never again
 *
 * A thread that serves a completion takes and acknowledges all elements, requests a
 * notification and ends the activation. An element that arrived before the request
 * activates it, too: no wake-up is lost.
 *
 *     while (doca_dpa_dev_get_completion(comp, &element)) {
 *         ...
 *         doca_dpa_dev_completion_ack(comp, 1);
 *     }
 *     doca_dpa_dev_completion_request_notification(comp);
 *     doca_dpa_dev_thread_reschedule();
 *
 * With comch:
 *   - the accelerator is emulated by threads of the program: device code is ordinary
 *     code and can access all of its memory;
 *   - what is a fault on hardware (an invalid handle, a range outside its mmap, too
 *     many elements) ends the kernel and is logged. The host's
 *     doca_dpa_peek_at_last_error() reports it;
 *   - when a thread is stopped, its kernel ends within any of these functions. Do not
 *     hold a lock across a call.
 *
 * Threads: any device code may call any function unless it says otherwise. A
 * completion, a producer or async ops belong to one thread at a time.
 *
 * Reference: DOCA DPA guide 2.10, section "Device-Side API".
 */

#ifndef DOCA_DPA_DEVICE
/** Defined in device code. */
#define DOCA_DPA_DEVICE
#endif

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <comch_doca_dpa_types.h>

/* comch-dpacc finds functions by these markers; they expand to nothing. */
#ifndef __dpa_global__
/** Marks a kernel. */
#define __dpa_global__
#endif
#ifndef __dpa_rpc__
/** Marks a function for doca_dpa_rpc(). */
#define __dpa_rpc__
#endif
#ifndef __forceinline
/** Always inline. */
#define __forceinline static inline __attribute__((always_inline))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** An element of a completion, valid until it is acknowledged. */
typedef uint64_t doca_dpa_dev_completion_element_t;

/** Type of a completion element. Those of RDMA do not occur with comch. */
typedef enum {
	DOCA_DPA_DEV_COMP_SEND = 0x0,                /**< A posted operation completed. */
	DOCA_DPA_DEV_COMP_RECV_RDMA_WRITE_IMM = 0x1, /**< RDMA. */
	DOCA_DPA_DEV_COMP_RECV_SEND = 0x2,           /**< RDMA. */
	DOCA_DPA_DEV_COMP_RECV_SEND_IMM = 0x3,       /**< RDMA. */
	DOCA_DPA_DEV_COMP_SEND_ERR = 0xD,            /**< A posted operation failed. */
	DOCA_DPA_DEV_COMP_RECV_ERR = 0xE,            /**< RDMA. */
} doca_dpa_dev_completion_type_t;

/** How to submit an operation. Each has a completion element, in the order of submission. */
enum doca_dpa_dev_submit_flag {
	/** Hardware may delay it until a later one is flushed; comch submits it at once. */
	DOCA_DPA_DEV_SUBMIT_FLAG_NONE = 0U,
	/** Submit it now, with all earlier ones. */
	DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH = (1U << 0),
	/** Its element may be delayed until that of a later operation without this flag. */
	DOCA_DPA_DEV_SUBMIT_FLAG_OPTIMIZE_REPORTS = (1U << 1),
};

/**
 * Select the context of the resources used next, needed on hardware with extended
 * contexts (doca_dpa_device_extend()). With comch a handle identifies its context
 * itself: the argument is checked, with no other effect.
 *
 * @param dpa_handle
 *   From doca_dpa_get_dpa_handle().
 */
void doca_dpa_dev_device_set(doca_dpa_dev_t dpa_handle);

/** Rank of the running thread in its launch or thread group; 0 without one. */
unsigned int doca_dpa_dev_thread_rank(void);

/** Number of threads of the launch or thread group; 1 without one. */
unsigned int doca_dpa_dev_num_threads(void);

/** Value of doca_dpa_thread_set_local_storage(); 0 if not set. Kernels of DPA threads only. */
doca_dpa_dev_uintptr_t doca_dpa_dev_thread_get_local_storage(void);

/** Yield the CPU to another thread. Kernels of a launch only. */
void doca_dpa_dev_yield(void);

/**
 * End this activation, as returning from the kernel does. The next one calls the kernel
 * again. Does not return. Kernels of DPA threads only.
 */
void doca_dpa_dev_thread_reschedule(void);

/**
 * End the thread: later activations do not call the kernel. Does not return. Kernels of
 * DPA threads only.
 */
void doca_dpa_dev_thread_finish(void);

/**
 * Activate the thread of a notification completion. Notifications that arrive before
 * its kernel starts are merged into one.
 */
void doca_dpa_dev_thread_notify(doca_dpa_dev_notification_completion_t comp_handle);

/**
 * Write a log line if the context's level (doca_dpa_set_log_level()) includes it.
 *
 * @param log_level
 *   Level.
 * @param format
 *   As for printf.
 */
void doca_dpa_dev_log(doca_dpa_dev_log_level_t log_level, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

/** Write five numbers to the trace file (doca_dpa_trace_file_set_path()). */
void doca_dpa_dev_trace(uint64_t arg1, uint64_t arg2, uint64_t arg3, uint64_t arg4,
		uint64_t arg5);

/** Write all trace lines to the file before returning. */
void doca_dpa_dev_trace_flush(void);

/** @name Hash tables
 * Any number of threads may use a table at the same time.
 * @{
 */
/**
 * Add a key, or replace its value. Adding to a full table
 * (doca_dpa_hash_table_create()) is a fault.
 */
void doca_dpa_dev_hash_table_add(doca_dpa_dev_hash_table_t ht_handle, uint32_t key,
		uint64_t value);
/** Remove a key. No effect if the table does not have it. */
void doca_dpa_dev_hash_table_remove(doca_dpa_dev_hash_table_t ht_handle, uint32_t key);
/** Find a key. @return 1 and its value in *value*; or 0, and *value* is unchanged. */
int doca_dpa_dev_hash_table_find(doca_dpa_dev_hash_table_t ht_handle, uint32_t key,
		uint64_t *value);
/** @} */

/**
 * Take the next element of a completion.
 *
 * @param dpa_comp_handle
 *   From doca_dpa_completion_get_dpa_handle().
 * @param[out] comp_element
 *   The element, valid until it is acknowledged.
 * @return 1, or 0 if there is none.
 */
int doca_dpa_dev_get_completion(doca_dpa_dev_completion_t dpa_comp_handle,
		doca_dpa_dev_completion_element_t *comp_element);

/** Type of an element. */
doca_dpa_dev_completion_type_t doca_dpa_dev_get_completion_type(
		doca_dpa_dev_completion_element_t comp_element);

/** User data of the async ops or of the producer's context: the low 24 bits. */
uint32_t doca_dpa_dev_get_completion_user_data(doca_dpa_dev_completion_element_t comp_element);

/** Immediate data of an RDMA receive; otherwise 0. */
uint32_t doca_dpa_dev_get_completion_immediate(doca_dpa_dev_completion_element_t comp_element);

/**
 * Acknowledge elements, the oldest first, which frees their place in the queue.
 *
 * @param dpa_comp_handle
 *   The completion.
 * @param num_comp
 *   Number of elements; not more than were taken.
 */
void doca_dpa_dev_completion_ack(doca_dpa_dev_completion_t dpa_comp_handle, uint64_t num_comp);

/**
 * Activate the completion's thread once: now if there is an element not yet taken,
 * otherwise when the next one arrives. The start of a completion requests this itself.
 */
void doca_dpa_dev_completion_request_notification(doca_dpa_dev_completion_t dpa_comp_handle);

/** @name Log lines
 * @{
 */
/** Log an error. */
#define DOCA_DPA_DEV_LOG_ERR(...) doca_dpa_dev_log(DOCA_DPA_DEV_LOG_LEVEL_ERROR, __VA_ARGS__)
/** Log a warning. */
#define DOCA_DPA_DEV_LOG_WARN(...) doca_dpa_dev_log(DOCA_DPA_DEV_LOG_LEVEL_WARNING, __VA_ARGS__)
/** Log information. */
#define DOCA_DPA_DEV_LOG_INFO(...) doca_dpa_dev_log(DOCA_DPA_DEV_LOG_LEVEL_INFO, __VA_ARGS__)
/** Log information for debugging. */
#define DOCA_DPA_DEV_LOG_DBG(...) doca_dpa_dev_log(DOCA_DPA_DEV_LOG_LEVEL_DEBUG, __VA_ARGS__)
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DPA_DEV_H */
