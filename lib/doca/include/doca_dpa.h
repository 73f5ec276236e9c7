/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_DPA_H
#define DOCA_DPA_H

/**
 * @file
 * The data-path accelerator (DPA), from the host's side. doca_dpa_dev.h has the
 * functions for device code. This header includes comch_doca_dpa_objects.h, which has
 * the objects that only some applications need.
 *
 *     doca_dpa_create(), _set_app(), _start()
 *     doca_dpa_mem_alloc(), doca_dpa_h2d_memcpy()
 *     doca_dpa_thread_create(), _set_func_arg(), _start()
 *     doca_dpa_completion_create(), _set_thread(), _start(), _get_dpa_handle()
 *     doca_dpa_thread_run()     from now on events run the thread's kernel
 *     ...
 *     doca_dpa_completion_stop(), _destroy(); doca_dpa_thread_stop(), _destroy()
 *     doca_dpa_mem_free(); doca_dpa_stop(), doca_dpa_destroy()
 *
 * With comch:
 *   - the application is compiled by comch-dpacc;
 *   - the accelerator is emulated: a DPA thread is a thread of this process, pinned to
 *     one of the CPUs in the device table (`dpa_cpus`). Threads share CPUs if there are
 *     too few. Device memory is memory of this process;
 *   - what is a fault on hardware (use of a destroyed object's handle, or of memory
 *     outside an mmap) ends the kernel. doca_dpa_peek_at_last_error() then reports it
 *     until the context is destroyed.
 *
 * Threads: any thread may call any function, also in parallel for different objects.
 * Each object is set up, started, stopped and destroyed by one thread at a time.
 *
 * Errors: functions return DOCA_SUCCESS, or #DOCA_ERROR_INVALID_VALUE for a NULL
 * argument unless NULL is allowed; each names its other errors. Where it says that the
 * context is not started, a stopped one counts as well.
 *
 * Reference: DOCA DPA guide 2.10, section "Host-Side API".
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <comch_doca_dpa_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_devinfo;
struct doca_dev;
struct doca_buf;
/** A sync event: doca_sync_event.h. */
struct doca_sync_event;
/** A DPA context. */
struct doca_dpa;
/** Device code. comch-dpacc defines it, with the name given to it. */
struct doca_dpa_app;
/** A hash table for device code. */
struct doca_dpa_hash_table;
/** Execution unit that a thread is bound to. */
struct doca_dpa_eu_affinity;
/** A DPA thread. */
struct doca_dpa_thread;
/** A group of threads, with ranks. */
struct doca_dpa_tg;
/** A completion queue of device code. */
struct doca_dpa_completion;
/** A copy queue of device code. */
struct doca_dpa_async_ops;
/** Activates a thread without a queue element. */
struct doca_dpa_notification_completion;

/** Bits of user data in an element of a completion. */
#define DOCA_DPA_COMPLETION_LOG_MAX_USER_DATA (24)

/**
 * A function of device code, whatever its arguments. Host code declares `extern
 * doca_dpa_func_t name;` and passes *name*; it never calls it.
 */
typedef void(doca_dpa_func_t)(void);

/** @name Context
 * @{
 */

/** Whether a device has an accelerator: all do. DOCA_ERROR_NOT_SUPPORTED never occurs. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_cap_is_supported(const struct doca_devinfo *devinfo);

/**
 * Create a context; doca_dpa_destroy() frees it. The device cannot be closed before
 * that.
 *
 * @return DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_create(struct doca_dev *dev, struct doca_dpa **dpa);

/**
 * Destroy a context. It is stopped first; memory that was not freed is freed.
 *
 * @return
 *   - DOCA_ERROR_IN_USE: it has objects, located sync events or extended contexts
 *   - DOCA_ERROR_DRIVER: as doca_dpa_stop()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_destroy(struct doca_dpa *dpa);

/**
 * Start a context.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no application is set
 *   - DOCA_ERROR_BAD_STATE: started already
 *   - DOCA_ERROR_DRIVER: the application was built by another version of comch-dpacc,
 *     or the log or trace file cannot be opened
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_start(struct doca_dpa *dpa);

/**
 * Stop a context, after its launched kernels have ended.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: not started
 *   - DOCA_ERROR_IN_USE: it has objects or extended contexts
 *   - DOCA_ERROR_DRIVER: a launched kernel does not end
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_stop(struct doca_dpa *dpa);

/** Set the application. Mandatory. @return DOCA_ERROR_BAD_STATE: started, or extended. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_set_app(struct doca_dpa *dpa, struct doca_dpa_app *app);

/** The application. @return DOCA_ERROR_INVALID_VALUE: not set. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_app(struct doca_dpa *dpa, struct doca_dpa_app **app);

/**
 * The name of an application, with a NUL. *app_name_len* is the size of *app_name* in
 * bytes, and becomes the length of the name with its NUL. With *app_name* NULL only the
 * length is set.
 *
 * @return DOCA_ERROR_INVALID_VALUE: *app_name* is too small; the length is set
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_app_get_name(struct doca_dpa_app *app, char *app_name,
		uint32_t *app_name_len);

/**
 * Set which log lines of device code are written; default INFO.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: unknown level
 *   - DOCA_ERROR_BAD_STATE: started
 *   - DOCA_ERROR_NOT_PERMITTED: an extended context, which has the level of its base
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_set_log_level(struct doca_dpa *dpa, doca_dpa_dev_log_level_t log_level);

/** The log level of device code. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_log_level(struct doca_dpa *dpa, doca_dpa_dev_log_level_t *log_level);

/**
 * Write log lines of device code to a file instead of the program's log. The start
 * truncates it. May be "stdout" or "stderr".
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: started
 *   - DOCA_ERROR_NOT_PERMITTED: an extended context
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_log_file_set_path(struct doca_dpa *dpa, const char *file_path);

/**
 * Path of the log file, empty without one. Arguments as of doca_dpa_app_get_name().
 *
 * @return DOCA_ERROR_INVALID_VALUE: *file_path* is too small; the length is set
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_log_file_get_path(struct doca_dpa *dpa, char *file_path,
		uint32_t *file_path_len);

/**
 * Set the file of doca_dpa_dev_trace(), which otherwise logs at level DEBUG. As
 * doca_dpa_log_file_set_path().
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_trace_file_set_path(struct doca_dpa *dpa, const char *file_path);

/** Path of the trace file. As doca_dpa_log_file_get_path(). */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_trace_file_get_path(struct doca_dpa *dpa, char *file_path,
		uint32_t *file_path_len);

/**
 * Create a context for another device of the same accelerator, from its started base.
 * It is started already, and must be destroyed before its base.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: *dpa* is not started, or extended itself
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_device_extend(struct doca_dpa *dpa, struct doca_dev *other_dev,
		struct doca_dpa **extended_dpa);

/** Handle for doca_dpa_dev_device_set(). @return DOCA_ERROR_BAD_STATE: not started. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_dpa_handle(struct doca_dpa *dpa, doca_dpa_dev_t *handle);

/** Maximum number of threads of a kernel launch. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_max_threads_per_kernel(const struct doca_dpa *dpa,
		unsigned int *value);

/** Maximum run time of a kernel in seconds. Hardware ends longer ones; comch logs them. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_kernel_max_run_time(const struct doca_dpa *dpa,
		unsigned long long *value);

/**
 * Whether there has been a fault: DOCA_SUCCESS if not, otherwise DOCA_ERROR_BAD_STATE
 * until the context is destroyed.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_peek_at_last_error(const struct doca_dpa *dpa);
/** @} */

/** @name Running code
 * @{
 */

/**
 * Launch a kernel, and set an event when it is done. Returns at once; the kernel runs once in each
 * thread. A stop of the context waits for launches, and ends those whose event has not come.
 *
 * An event of a launch cannot be stopped until the kernels run (*wait_event*), or have run
 * (*comp_event*). With comch, a kernel that a fault or a stop has ended does not update it.
 *
 * @param dpa
 *   The context, started.
 * @param wait_event, wait_threshold
 *   The kernels start once the event is greater; its subscriber is this DPA. NULL: at once.
 * @param comp_event, comp_count
 *   The event is set so after the last kernel has returned; its publisher is this DPA. Or NULL.
 * @param num_threads
 *   Number of threads, up to doca_dpa_get_max_threads_per_kernel().
 * @param func
 *   The kernel, marked `__dpa_global__`.
 * @param ...
 *   Its arguments, with exactly the types of its parameters.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: not a kernel of the application, *num_threads* is out of
 *     range, or an event has no such location
 *   - DOCA_ERROR_BAD_STATE: the context or an event is not started, or the context has a fault
 *   - DOCA_ERROR_DRIVER: no threads available
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_kernel_launch_update_set(struct doca_dpa *dpa,
		struct doca_sync_event *wait_event, uint64_t wait_threshold,
		struct doca_sync_event *comp_event, uint64_t comp_count,
		unsigned int num_threads, doca_dpa_func_t *func, ...);

/** As doca_dpa_kernel_launch_update_set(), but adds *comp_count* to the event. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_kernel_launch_update_add(struct doca_dpa *dpa,
		struct doca_sync_event *wait_event, uint64_t wait_threshold,
		struct doca_sync_event *comp_event, uint64_t comp_count,
		unsigned int num_threads, doca_dpa_func_t *func, ...);

/**
 * Call a function of device code and wait until it returns.
 *
 * @param dpa
 *   The context, started.
 * @param func
 *   The function, marked `__dpa_rpc__`.
 * @param[out] retval
 *   Its return value.
 * @param ...
 *   Its arguments, with exactly the types of its parameters.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: not an RPC of the application
 *   - DOCA_ERROR_BAD_STATE: the context is not started, or called from device code
 *   - DOCA_ERROR_DRIVER: a fault, in this call or before
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_rpc(struct doca_dpa *dpa, doca_dpa_func_t *func, uint64_t *retval, ...);
/** @} */

/** @name Memory
 * Addresses of device memory are valid in device code and in these functions, which are
 * synchronous and need a started context. Sizes are in bytes and not 0.
 * @{
 */

/**
 * Allocate device memory, aligned to 64 bytes and not zeroed. *dev_ptr* is 0 on
 * failure.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: the context is not started
 *   - DOCA_ERROR_DRIVER: out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_mem_alloc(struct doca_dpa *dpa, size_t size,
		doca_dpa_dev_uintptr_t *dev_ptr);

/**
 * Free device memory.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: the context is not started
 *   - DOCA_ERROR_DRIVER: not an address from doca_dpa_mem_alloc()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_mem_free(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dev_ptr);

/**
 * Copy from host memory to device memory.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: the context is not started
 *   - DOCA_ERROR_DRIVER: not within one allocation of device memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_h2d_memcpy(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dst_ptr,
		void *src_ptr, size_t size);

/** Copy from device memory to host memory. As doca_dpa_h2d_memcpy(). */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_d2h_memcpy(struct doca_dpa *dpa, void *dst_ptr,
		doca_dpa_dev_uintptr_t src_ptr, size_t size);

/**
 * Copy the first *size* bytes of a buffer's data to device memory. The buffer must not
 * be a chain or of an imported mmap.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: unsuitable buffer, or *size* exceeds its data
 *   - DOCA_ERROR_BAD_STATE, DOCA_ERROR_DRIVER: as doca_dpa_h2d_memcpy()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_h2d_buf_memcpy(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dst_ptr,
		struct doca_buf *buf, size_t size);

/**
 * Copy from device memory to the start of a buffer's data, whose length grows if
 * needed. The buffer must have that room, and its mmap
 * #DOCA_ACCESS_FLAG_LOCAL_READ_WRITE. As doca_dpa_h2d_buf_memcpy().
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_d2h_buf_memcpy(struct doca_dpa *dpa, struct doca_buf *buf,
		doca_dpa_dev_uintptr_t src_ptr, size_t size);

/** Fill device memory with a byte value. As doca_dpa_h2d_memcpy(). */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_memset(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dev_ptr, int value,
		size_t size);
/** @} */

/** @name Threads
 * A thread runs a kernel with one uint64_t parameter, once per activation: by an
 * element of a completion whose notification was requested, or by
 * doca_dpa_dev_thread_notify(). See doca_dpa_dev.h.
 * @{
 */

/** Create a thread; the context may be started later. @return DOCA_ERROR_NO_MEMORY. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_create(struct doca_dpa *dpa, struct doca_dpa_thread **dpa_thread);

/**
 * Destroy a thread; it is stopped first.
 *
 * @return DOCA_ERROR_BAD_STATE: a completion or thread group uses it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_destroy(struct doca_dpa_thread *dpa_thread);

/**
 * Set the kernel and its argument. Mandatory.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: not a kernel of the application. If the context is not
 *     started yet, doca_dpa_thread_start() returns it instead.
 *   - DOCA_ERROR_BAD_STATE: started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_set_func_arg(struct doca_dpa_thread *dpa_thread,
		doca_dpa_func_t *func, uint64_t arg);

/** The kernel and its argument; NULL and 0 at first. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_get_func_arg(struct doca_dpa_thread *dpa_thread,
		doca_dpa_func_t **func, uint64_t *arg);

/**
 * Set the value of doca_dpa_dev_thread_get_local_storage(). @return
 * DOCA_ERROR_BAD_STATE: started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_set_local_storage(struct doca_dpa_thread *dpa_thread,
		doca_dpa_dev_uintptr_t dev_ptr);

/** The local storage; 0 at first. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_get_local_storage(struct doca_dpa_thread *dpa_thread,
		doca_dpa_dev_uintptr_t *dev_ptr);

/**
 * Set the execution unit. The affinity must exist until the thread is started.
 *
 * @return DOCA_ERROR_BAD_STATE: started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_set_affinity(struct doca_dpa_thread *dpa_thread,
		const struct doca_dpa_eu_affinity *affinity);

/** The affinity; NULL at first. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_get_affinity(struct doca_dpa_thread *dpa_thread,
		const struct doca_dpa_eu_affinity **affinity);

/**
 * Start a thread, which sleeps until doca_dpa_thread_run().
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: not a kernel of the application
 *   - DOCA_ERROR_BAD_STATE: started, the context is not started, or no kernel is set
 *   - DOCA_ERROR_DRIVER: no threads available
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_start(struct doca_dpa_thread *dpa_thread);

/**
 * Stop a thread and wait until its kernel has ended. A running kernel ends in its next
 * device call.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: not started
 *   - DOCA_ERROR_DRIVER: its kernel does not end; call again to retry
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_stop(struct doca_dpa_thread *dpa_thread);

/**
 * Let activations run the kernel from now on, including one that came before. Call it
 * after the thread's completion or notification completion is set up.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: the thread or its context is not started
 *   - DOCA_ERROR_DRIVER: there was a fault
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_run(struct doca_dpa_thread *dpa_thread);
/** @} */

/** @name Completions
 * The operations of device code complete on a completion: those of async ops, and the
 * sends of producers (doca_comch_producer_dpa_completion_attach()).
 * @{
 */

/**
 * Create a completion. *queue_size* is the maximum number of elements: 1 to 2^24,
 * rounded up to a power of two. The context may be started later.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: *queue_size* is out of range
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_create(struct doca_dpa *dpa, unsigned int queue_size,
		struct doca_dpa_completion **dpa_comp);

/** Destroy a completion; it is stopped first. @return DOCA_ERROR_BAD_STATE: in use. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_destroy(struct doca_dpa_completion *dpa_comp);

/** Maximum number of elements: a power of two. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_get_queue_size(struct doca_dpa_completion *dpa_comp,
		unsigned int *queue_size);

/**
 * Set the thread that the completion activates: at its first element, then whenever
 * device code has requested it (doca_dpa_dev_completion_request_notification()).
 * Without a thread the completion is polled.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: a thread of another context
 *   - DOCA_ERROR_BAD_STATE: started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_set_thread(struct doca_dpa_completion *dpa_comp,
		struct doca_dpa_thread *dpa_thread);

/** The thread; NULL if there is none. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_get_thread(struct doca_dpa_completion *dpa_comp,
		struct doca_dpa_thread **dpa_thread);

/**
 * Start a completion.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: started, or the context or thread is not started
 *   - DOCA_ERROR_DRIVER: out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_start(struct doca_dpa_completion *dpa_comp);

/**
 * Stop a completion. Its handle becomes invalid and its elements are lost.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: not started
 *   - DOCA_ERROR_IN_USE: async ops or a producer use it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_stop(struct doca_dpa_completion *dpa_comp);

/** Handle for device code. @return DOCA_ERROR_BAD_STATE: not started. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_get_dpa_handle(struct doca_dpa_completion *dpa_comp,
		doca_dpa_dev_completion_t *handle);
/** @} */

/** @name Notification completions
 * Device code activates a thread with one: doca_dpa_dev_thread_notify().
 * @{
 */

/**
 * Create a notification completion, which activates *dpa_thread*. The context may be
 * started later.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: a thread of another context
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_notification_completion_create(struct doca_dpa *dpa,
		struct doca_dpa_thread *dpa_thread,
		struct doca_dpa_notification_completion **notify_comp);

/** Destroy a notification completion; it is stopped first. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_notification_completion_destroy(
		struct doca_dpa_notification_completion *notify_comp);

/** The thread that it activates. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_notification_completion_get_thread(
		struct doca_dpa_notification_completion *notify_comp,
		struct doca_dpa_thread **dpa_thread);

/**
 * Start a notification completion.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: started, or the context or thread is not started
 *   - DOCA_ERROR_DRIVER: out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_notification_completion_start(
		struct doca_dpa_notification_completion *notify_comp);

/** Stop it. Its handle becomes invalid. @return DOCA_ERROR_BAD_STATE: not started. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_notification_completion_stop(
		struct doca_dpa_notification_completion *notify_comp);

/** Handle for device code. @return DOCA_ERROR_BAD_STATE: not started. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_notification_completion_get_dpa_handle(
		struct doca_dpa_notification_completion *notify_comp,
		doca_dpa_dev_notification_completion_t *handle);
/** @} */

#ifdef __cplusplus
}
#endif

#include <comch_doca_dpa_objects.h>

#endif /* DOCA_DPA_H */
