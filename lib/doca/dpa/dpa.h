/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DPA_DPA_H
#define IMPL_DPA_DPA_H

/*
 * The DPA, emulated: its threads are threads of this process, its memory is memory of
 * this process, its code is ordinary code.
 *
 * A DPA thread sleeps until it is activated and then calls its kernel. It is pinned to
 * a CPU if the device table names some; threads share CPUs if there are too few. A
 * kernel ends by returning, by doca_dpa_dev_thread_reschedule() or _finish(), or within
 * any device call once its thread is being stopped. So a kernel that polls forever can
 * be stopped.
 *
 * Device calls bracket themselves:
 *
 *     struct impl_dpa_self *self = impl_dpa_enter();
 *     struct doca_dpa_completion *comp =
 *         impl_dpa_object(self, IMPL_DPA_COMPLETION, handle, __func__);
 *     if (comp == NULL)
 *         return;                    the fault has left the call
 *     ...
 *     impl_dpa_leave(self);
 *
 * Calls do not nest. The object stays valid between the two: its destruction invalidates
 * the handle and then waits until all running calls have ended. A call that waits must
 * check impl_dpa_is_over(), and leave, enter and look up its handles again.
 *
 * What is a fault on hardware (the handle of a destroyed object, a length over the
 * limit) is a fault here: it is logged, doca_dpa_peek_at_last_error() of the context
 * reports it from then on, and the kernel ends.
 *
 * Threads: any host thread may create, start and destroy contexts, threads, completions
 * and so on, which takes the context's lock.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_dpa.h>
#include <doca_dpa_dev.h>

struct doca_dev;
struct doca_mmap;
/* A thread in device code: a DPA thread, a thread of a kernel launch, or a host thread in
 * an RPC.
 */
struct impl_dpa_self;

/* Kinds of handles. A handle has a generation, so that it is not valid for a later object. */
enum impl_dpa_kind {
	IMPL_DPA_CONTEXT = 1,
	IMPL_DPA_COMPLETION,
	IMPL_DPA_NOTIFICATION,
	IMPL_DPA_ASYNC_OPS,
	IMPL_DPA_HASH_TABLE,
	IMPL_DPA_CONSUMER,
	IMPL_DPA_CONSUMER_COMPLETION,
	IMPL_DPA_PRODUCER,
	IMPL_DPA_SYNC_EVENT,
	IMPL_DPA_NB_KINDS,
};

/* handle.c */

/* Create a handle for an object; 0: out of memory. Any host thread. */
uint64_t impl_dpa_handle_create(enum impl_dpa_kind kind, void *obj);
/* Invalidate a handle and wait for device calls that use its object. 0: no effect. */
void impl_dpa_handle_destroy(uint64_t handle);
/* Find an object in a device call; NULL if the handle is invalid, which is not a fault. */
void *impl_dpa_handle_find(enum impl_dpa_kind kind, uint64_t handle);

/* exec.c: device calls */

/* Begin a device call. Does not return if the kernel must end. Host threads may call
 * device functions, too.
 */
struct impl_dpa_self *impl_dpa_enter(void);
void impl_dpa_leave(struct impl_dpa_self *self);
/* Whether the kernel must end. For calls that wait. */
bool impl_dpa_is_over(const struct impl_dpa_self *self);
/* The object of a handle. An invalid handle is a fault in the function *what*: this does
 * not return in a kernel or an RPC; elsewhere it leaves the call and returns NULL.
 */
void *impl_dpa_object(struct impl_dpa_self *self, enum impl_dpa_kind kind, uint64_t handle,
		const char *what);
/* Raise a fault: "what: text". Always leaves the call; does not return in a kernel or an
 * RPC.
 */
void impl_dpa_fault(struct impl_dpa_self *self, const char *what, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Log a use that hardware does not support. */
void impl_dpa_warn(struct impl_dpa_self *self, const char *what, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Wait for the device calls now running. For objects without a handle, call this after
 * they were made unreachable. Not in a device call.
 */
void impl_dpa_gate_wait(void);
/* Yield the CPU in a call that waits. */
void impl_dpa_pause(struct impl_dpa_self *self);

/* dpa.c: the context */

/* Use a started context: doca_dpa_stop() returns IN_USE until impl_dpa_drop().
 * DOCA_ERROR_BAD_STATE: not started. Not in a device call.
 */
doca_error_t impl_dpa_join(struct doca_dpa *dpa);
/* As impl_dpa_join(), for objects that may exist before the start. */
void impl_dpa_hold(struct doca_dpa *dpa);
void impl_dpa_drop(struct doca_dpa *dpa);
bool impl_dpa_is_started(const struct doca_dpa *dpa);
/* The device; for an extended context, the other device. */
struct doca_dev *impl_dpa_dev(const struct doca_dpa *dpa);
/* Whether two contexts have the same accelerator: a base and its extended contexts. */
bool impl_dpa_is_same(const struct doca_dpa *dpa, const struct doca_dpa *other);
/* Look up a function of the application; NULL: not found. */
const struct comch_doca_dpa_func *impl_dpa_func(const struct doca_dpa *dpa,
		doca_dpa_func_t *func);

/* thread.c */

/* Call the kernel once, after doca_dpa_thread_run(). Activations before the kernel starts
 * are merged into one. Any thread.
 */
void impl_dpa_thread_activate(struct doca_dpa_thread *thread);
bool impl_dpa_thread_is_started(const struct doca_dpa_thread *thread);
struct doca_dpa *impl_dpa_thread_dpa(const struct doca_dpa_thread *thread);
/* A completion or group starts to use the thread, and ends. */
void impl_dpa_thread_hold(struct doca_dpa_thread *thread);
void impl_dpa_thread_drop(struct doca_dpa_thread *thread);
/* Set doca_dpa_dev_thread_rank() and _num_threads(); 0 and 1 at first. */
void impl_dpa_thread_set_rank(struct doca_dpa_thread *thread, unsigned int rank,
		unsigned int nb_threads);

/* affinity.c */

/* The execution unit, or -1 if not set. */
int impl_dpa_affinity_eu(const struct doca_dpa_eu_affinity *affinity);
/* Number of execution units of a context, and the CPU of one; -1: any CPU. */
unsigned int impl_dpa_nb_eus(const struct doca_dpa *dpa);
int impl_dpa_eu_cpu(const struct doca_dpa *dpa, unsigned int eu);

/* completion.c */

/* Attach a producer or async ops to a started completion. Its stop returns IN_USE until
 * they are detached.
 */
doca_error_t impl_dpa_completion_attach(struct doca_dpa_completion *comp);
void impl_dpa_completion_detach(struct doca_dpa_completion *comp);
struct doca_dpa *impl_dpa_completion_dpa(const struct doca_dpa_completion *comp);
/* Add an element, and activate the thread if requested. Any number of threads at once.
 * False: the completion is full.
 */
bool impl_dpa_completion_push(struct doca_dpa_completion *comp,
		doca_dpa_dev_completion_type_t type, uint32_t user_data, uint32_t immediate);

/* Number of elements to push for an operation, whose flags may delay its element: its own
 * and the delayed ones, or 0 if it is delayed as well. At most max are delayed.
 */
static inline uint32_t
impl_dpa_nb_elements(uint32_t *nb_deferred, uint32_t flags, uint32_t max)
{
	uint32_t nb = __atomic_add_fetch(nb_deferred, 1, __ATOMIC_RELAXED);

	if ((flags & DOCA_DPA_DEV_SUBMIT_FLAG_OPTIMIZE_REPORTS) != 0 && nb < max)
		return 0;
	return __atomic_exchange_n(nb_deferred, 0, __ATOMIC_RELAXED);
}

/* mmap.c */

/* [addr, addr + len) of an mmap, checked against its range and permissions. NULL: a fault,
 * as for impl_dpa_object().
 */
void *impl_dpa_mmap_range(struct impl_dpa_self *self, doca_dpa_dev_mmap_t mmap, uint64_t addr,
		size_t len, bool write, const char *what);

#endif /* IMPL_DPA_DPA_H */
