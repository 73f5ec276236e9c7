/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_DPA_H
#define DOCA_DPA_H

/**
 * @file
 * The data-path accelerator (DPA), from the host's side. What device code can do is
 * in doca_dpa_dev.h; objects that only some applications need are in
 * comch_doca_dpa_objects.h, which this header includes.
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
 *   - the application is what comch-dpacc has compiled;
 *   - the accelerator is emulated: a DPA thread is a thread of this process, pinned
 *     to a CPU that the device table names (`dpa_cpus`), which it shares if there
 *     are fewer CPUs than threads. Its memory is memory of this process;
 *   - device code that does what a card would answer with a fault (use of the handle
 *     of a destroyed object, of memory outside its mmap) ends;
 *     doca_dpa_peek_at_last_error() then reports it until the context is destroyed.
 *
 * Threads: any thread may call any function, and two at the same time for two
 * objects. One object is set up, started, stopped and destroyed by one thread at a
 * time.
 *
 * All functions return #DOCA_ERROR_INVALID_VALUE for a NULL argument, unless it
 * says that it may be NULL. #DOCA_ERROR_BAD_STATE of those that need a started
 * context is also that of one that is stopped.
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
/** Nothing in this library makes one. */
struct doca_sync_event;
/** A context of the accelerator. */
struct doca_dpa;
/** Code for the accelerator: comch-dpacc defines it, under the name it is told. */
struct doca_dpa_app;
/** A hash table for device code. */
struct doca_dpa_hash_table;
/** Where a thread runs. */
struct doca_dpa_eu_affinity;
/** A thread of the accelerator. */
struct doca_dpa_thread;
/** Threads with ranks. */
struct doca_dpa_tg;
/** A queue of what device code has had done. */
struct doca_dpa_completion;
/** Copies by device code. */
struct doca_dpa_async_ops;
/** Activates a thread, without an element. */
struct doca_dpa_notification_completion;

/** Bits of the user data that an element of a completion tells. */
#define DOCA_DPA_COMPLETION_LOG_MAX_USER_DATA (24)

/**
 * A function of the accelerator's application, whatever its arguments. The host
 * declares `extern doca_dpa_func_t name;` and passes *name* on; it never calls it.
 */
typedef void(doca_dpa_func_t)(void);

/** @name Context
 * @{
 */

/**
 * Is there an accelerator on a device? Here there is, on all devices of both sides.
 * Elsewhere DOCA_ERROR_NOT_SUPPORTED says that there is none.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_cap_is_supported(const struct doca_devinfo *devinfo);

/**
 * Create a context.
 *
 * @param dev
 *   The device; it cannot be closed for good until the context is destroyed.
 * @param[out] dpa
 *   The context; doca_dpa_destroy() frees it.
 * @return
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_create(struct doca_dev *dev, struct doca_dpa **dpa);

/**
 * Destroy a context. It is stopped before; its memory that was not freed goes along.
 *
 * @return
 *   - DOCA_ERROR_IN_USE: an object of it exists, or an extended context
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
 *   - DOCA_ERROR_DRIVER: the application is of another version of comch-dpacc, or a
 *     file for log or trace lines does not open
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_start(struct doca_dpa *dpa);

/**
 * Stop a context, when the kernels that were launched have ended.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: not started
 *   - DOCA_ERROR_IN_USE: an object of it exists, or an extended context
 *   - DOCA_ERROR_DRIVER: a kernel that was launched does not end
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_stop(struct doca_dpa *dpa);

/** Set the application. Mandatory. @return DOCA_ERROR_BAD_STATE: started, or extended. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_set_app(struct doca_dpa *dpa, struct doca_dpa_app *app);

/** The application that was set. @return DOCA_ERROR_INVALID_VALUE: also, none was. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_app(struct doca_dpa *dpa, struct doca_dpa_app **app);

/**
 * The name of an application.
 *
 * @param app
 *   The application.
 * @param[out] app_name
 *   Its name, with a NUL; NULL: only its length is asked.
 * @param[in,out] app_name_len
 *   Bytes of *app_name*; then those of the name with its NUL.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also, there is too little room; the length is told
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_app_get_name(struct doca_dpa_app *app, char *app_name,
		uint32_t *app_name_len);

/**
 * Set which log lines of device code are written; INFO by default.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also, no such level
 *   - DOCA_ERROR_BAD_STATE: started
 *   - DOCA_ERROR_NOT_PERMITTED: an extended context, which has its base's level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_set_log_level(struct doca_dpa *dpa, doca_dpa_dev_log_level_t log_level);

/** Which log lines are written. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_log_level(struct doca_dpa *dpa, doca_dpa_dev_log_level_t *log_level);

/**
 * Set the file that log lines of device code go to, and not to the program's log:
 * emptied at start; or "stdout" or "stderr".
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: started
 *   - DOCA_ERROR_NOT_PERMITTED: an extended context
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_log_file_set_path(struct doca_dpa *dpa, const char *file_path);

/**
 * The file of log lines. Arguments as of doca_dpa_app_get_name(); without a file
 * the name is empty.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also, there is too little room; the length is told
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_log_file_get_path(struct doca_dpa *dpa, char *file_path,
		uint32_t *file_path_len);

/** Set the file of doca_dpa_dev_trace(), likewise. Else these are lines of level DEBUG. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_trace_file_set_path(struct doca_dpa *dpa, const char *file_path);

/** The file of doca_dpa_dev_trace(). As doca_dpa_log_file_get_path(). */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_trace_file_get_path(struct doca_dpa *dpa, char *file_path,
		uint32_t *file_path_len);

/**
 * A context for another device of the same accelerator. It is started, and to be
 * destroyed before its base.
 *
 * @param dpa
 *   The base: started, not extended itself.
 * @param other_dev
 *   The other device.
 * @param[out] extended_dpa
 *   The context.
 * @return
 *   - DOCA_ERROR_BAD_STATE: *dpa* is not started, or extended itself
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_device_extend(struct doca_dpa *dpa, struct doca_dev *other_dev,
		struct doca_dpa **extended_dpa);

/** The handle, for doca_dpa_dev_device_set(). @return DOCA_ERROR_BAD_STATE: not started. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_dpa_handle(struct doca_dpa *dpa, doca_dpa_dev_t *handle);

/** Threads of one kernel launch, at most. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_max_threads_per_kernel(const struct doca_dpa *dpa,
		unsigned int *value);

/**
 * How long a kernel may run, in seconds. A card ends one that takes longer; here
 * it is logged.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_kernel_max_run_time(const struct doca_dpa *dpa,
		unsigned long long *value);

/**
 * Has there been a fault? Once there was one, there always is: only destroy the
 * context then.
 *
 * @return
 *   - DOCA_SUCCESS: no
 *   - DOCA_ERROR_BAD_STATE: yes
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_peek_at_last_error(const struct doca_dpa *dpa);
/** @} */

/** @name Running code
 * @{
 */

/**
 * Launch a kernel that sets an event when it is done. Returns at once; the kernel
 * runs once in each of its threads. Contexts stop when their launches are done.
 *
 * @param dpa
 *   The context, started.
 * @param wait_event
 *   Wait for it before; NULL: not. There are none in this library.
 * @param wait_threshold
 *   The value to wait for.
 * @param comp_event
 *   Set it after all threads are done; NULL: none.
 * @param comp_count
 *   The value that it is set to.
 * @param num_threads
 *   Threads, up to doca_dpa_get_max_threads_per_kernel().
 * @param func
 *   The kernel, marked `__dpa_global__`.
 * @param ...
 *   Its arguments, of exactly their types.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also, not a kernel of the application, no threads
 *     or too many
 *   - DOCA_ERROR_BAD_STATE: the context is not started, or there was a fault
 *   - DOCA_ERROR_NOT_SUPPORTED: an event
 *   - DOCA_ERROR_DRIVER: no threads of the system
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_kernel_launch_update_set(struct doca_dpa *dpa,
		struct doca_sync_event *wait_event, uint64_t wait_threshold,
		struct doca_sync_event *comp_event, uint64_t comp_count,
		unsigned int num_threads, doca_dpa_func_t *func, ...);

/** The same, but *comp_count* is added to the event. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_kernel_launch_update_add(struct doca_dpa *dpa,
		struct doca_sync_event *wait_event, uint64_t wait_threshold,
		struct doca_sync_event *comp_event, uint64_t comp_count,
		unsigned int num_threads, doca_dpa_func_t *func, ...);

/**
 * Call a function of the accelerator and wait until it returns.
 *
 * @param dpa
 *   The context, started.
 * @param func
 *   The function, marked `__dpa_rpc__`.
 * @param[out] retval
 *   What it returned.
 * @param ...
 *   Its arguments, of exactly their types.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also, not an RPC of the application
 *   - DOCA_ERROR_BAD_STATE: the context is not started, or this is device code
 *   - DOCA_ERROR_DRIVER: a fault, in it or before
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_rpc(struct doca_dpa *dpa, doca_dpa_func_t *func, uint64_t *retval, ...);
/** @} */

/** @name Memory
 * Addresses of device memory are good in device code and in these calls, which
 * return when all is done.
 * @{
 */

/**
 * Allocate device memory: not zeroed, aligned to 64 bytes.
 *
 * @param dpa
 *   The context, started.
 * @param size
 *   Bytes; not 0.
 * @param[out] dev_ptr
 *   Its address; 0 after an error.
 * @return
 *   - DOCA_ERROR_BAD_STATE: the context is not started
 *   - DOCA_ERROR_DRIVER: no memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_mem_alloc(struct doca_dpa *dpa, size_t size,
		doca_dpa_dev_uintptr_t *dev_ptr);

/**
 * Free device memory.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: the context is not started
 *   - DOCA_ERROR_DRIVER: not what doca_dpa_mem_alloc() gave
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_mem_free(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dev_ptr);

/**
 * Copy to device memory.
 *
 * @param dpa
 *   The context, started.
 * @param dst_ptr
 *   In device memory.
 * @param src_ptr
 *   Memory of the host.
 * @param size
 *   Bytes; not 0.
 * @return
 *   - DOCA_ERROR_BAD_STATE: the context is not started
 *   - DOCA_ERROR_DRIVER: not a range of one allocation
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_h2d_memcpy(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dst_ptr,
		void *src_ptr, size_t size);

/** Copy from device memory. As doca_dpa_h2d_memcpy(). */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_d2h_memcpy(struct doca_dpa *dpa, void *dst_ptr,
		doca_dpa_dev_uintptr_t src_ptr, size_t size);

/**
 * Copy the first bytes of a buf's data to device memory.
 *
 * @param dpa
 *   The context, started.
 * @param dst_ptr
 *   In device memory.
 * @param buf
 *   The buf: not a chain, of memory of this process.
 * @param size
 *   Bytes, up to the buf's data length; not 0.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also a buf that does not do
 *   - DOCA_ERROR_BAD_STATE, DOCA_ERROR_DRIVER: as doca_dpa_h2d_memcpy()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_h2d_buf_memcpy(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dst_ptr,
		struct doca_buf *buf, size_t size);

/**
 * Copy from device memory to where a buf's data begins, which grows if it was
 * shorter. The buf has room for that, and its mmap
 * #DOCA_ACCESS_FLAG_LOCAL_READ_WRITE. As doca_dpa_h2d_buf_memcpy().
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_d2h_buf_memcpy(struct doca_dpa *dpa, struct doca_buf *buf,
		doca_dpa_dev_uintptr_t src_ptr, size_t size);

/** Fill device memory with a byte. As doca_dpa_h2d_memcpy(). */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_memset(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dev_ptr, int value,
		size_t size);
/** @} */

/** @name Threads
 * A thread runs a kernel of one argument, a uint64_t, once per activation: for an
 * element of a completion that was asked for a notification, or by
 * doca_dpa_dev_thread_notify(). See doca_dpa_dev.h.
 * @{
 */

/** Create a thread; the context may be started later. @return DOCA_ERROR_NO_MEMORY. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_create(struct doca_dpa *dpa, struct doca_dpa_thread **dpa_thread);

/** Destroy a thread, stopped before. @return DOCA_ERROR_BAD_STATE: a completion or group has it. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_destroy(struct doca_dpa_thread *dpa_thread);

/**
 * Set the kernel and its argument. Mandatory.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also, not a kernel of the application, if the
 *     context is started; else the thread's start says so
 *   - DOCA_ERROR_BAD_STATE: started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_set_func_arg(struct doca_dpa_thread *dpa_thread,
		doca_dpa_func_t *func, uint64_t arg);

/** The kernel and its argument; NULL and 0 at first. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_get_func_arg(struct doca_dpa_thread *dpa_thread,
		doca_dpa_func_t **func, uint64_t *arg);

/** Set what doca_dpa_dev_thread_get_local_storage() says. @return DOCA_ERROR_BAD_STATE: started. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_set_local_storage(struct doca_dpa_thread *dpa_thread,
		doca_dpa_dev_uintptr_t dev_ptr);

/** What was set; 0 at first. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_get_local_storage(struct doca_dpa_thread *dpa_thread,
		doca_dpa_dev_uintptr_t *dev_ptr);

/**
 * Set where it runs. The affinity must exist until the thread is started.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_set_affinity(struct doca_dpa_thread *dpa_thread,
		const struct doca_dpa_eu_affinity *affinity);

/** The affinity; NULL at first. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_get_affinity(struct doca_dpa_thread *dpa_thread,
		const struct doca_dpa_eu_affinity **affinity);

/**
 * Start a thread: it sleeps, until doca_dpa_thread_run().
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also, not a kernel of the application
 *   - DOCA_ERROR_BAD_STATE: started, the context is not, or no kernel is set
 *   - DOCA_ERROR_DRIVER: no thread of the system
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_start(struct doca_dpa_thread *dpa_thread);

/**
 * Stop a thread, and wait until its kernel has ended: one that runs on ends within
 * its next device call.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: not started
 *   - DOCA_ERROR_DRIVER: its kernel does not end; it may be tried again
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_stop(struct doca_dpa_thread *dpa_thread);

/**
 * Let a thread run: from now on, activations run its kernel. One that came before
 * does so now. To be called after a completion or notification completion is set up
 * for it.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: the thread or its context is not started
 *   - DOCA_ERROR_DRIVER: there was a fault
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_run(struct doca_dpa_thread *dpa_thread);
/** @} */

/** @name Completions
 * What device code has had done is told by elements of a completion: of async ops,
 * and of producers (doca_comch_producer_dpa_completion_attach()).
 * @{
 */

/**
 * Create a completion.
 *
 * @param dpa
 *   The context, which may be started later.
 * @param queue_size
 *   Elements that it has room for, up to 2^24; rounded up to a power of two. Not 0.
 * @param[out] dpa_comp
 *   The completion.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also, no elements or too many
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_create(struct doca_dpa *dpa, unsigned int queue_size,
		struct doca_dpa_completion **dpa_comp);

/** Destroy a completion, stopped before. @return DOCA_ERROR_BAD_STATE: as IN_USE of stop. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_destroy(struct doca_dpa_completion *dpa_comp);

/** Room for elements: a power of two. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_get_queue_size(struct doca_dpa_completion *dpa_comp,
		unsigned int *queue_size);

/**
 * Set the thread that it activates: for the first element, then when device code
 * has asked for that (doca_dpa_dev_completion_request_notification()). Without one
 * it is polled.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also, a thread of another context
 *   - DOCA_ERROR_BAD_STATE: started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_set_thread(struct doca_dpa_completion *dpa_comp,
		struct doca_dpa_thread *dpa_thread);

/** The thread; NULL: none. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_get_thread(struct doca_dpa_completion *dpa_comp,
		struct doca_dpa_thread **dpa_thread);

/**
 * Start a completion.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: started; the context or the thread is not
 *   - DOCA_ERROR_DRIVER: no memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_start(struct doca_dpa_completion *dpa_comp);

/**
 * Stop a completion. Its handle is bad from now on; elements are gone.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: not started
 *   - DOCA_ERROR_IN_USE: async ops or a producer use it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_stop(struct doca_dpa_completion *dpa_comp);

/** The handle for device code. @return DOCA_ERROR_BAD_STATE: not started. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_completion_get_dpa_handle(struct doca_dpa_completion *dpa_comp,
		doca_dpa_dev_completion_t *handle);
/** @} */

/** @name Notification completions
 * By one, any device code activates a thread: doca_dpa_dev_thread_notify().
 * @{
 */

/**
 * Create a notification completion.
 *
 * @param dpa
 *   The context, which may be started later.
 * @param dpa_thread
 *   The thread that it activates; of the same context.
 * @param[out] notify_comp
 *   The notification completion.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also, a thread of another context
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_notification_completion_create(struct doca_dpa *dpa,
		struct doca_dpa_thread *dpa_thread,
		struct doca_dpa_notification_completion **notify_comp);

/** Destroy a notification completion. It is stopped before. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_notification_completion_destroy(
		struct doca_dpa_notification_completion *notify_comp);

/** Its thread. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_notification_completion_get_thread(
		struct doca_dpa_notification_completion *notify_comp,
		struct doca_dpa_thread **dpa_thread);

/**
 * Start a notification completion.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: started; the context or the thread is not
 *   - DOCA_ERROR_DRIVER: no memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_notification_completion_start(
		struct doca_dpa_notification_completion *notify_comp);

/** Stop it. Its handle is bad from now on. @return DOCA_ERROR_BAD_STATE: not started. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_notification_completion_stop(
		struct doca_dpa_notification_completion *notify_comp);

/** The handle for device code. @return DOCA_ERROR_BAD_STATE: not started. */
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
