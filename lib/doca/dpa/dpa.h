/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DPA_DPA_H
#define IMPL_DPA_DPA_H

/*
 * The DPA, emulated: its threads are threads of this process, its memory is
 * ours, its code is ordinary code.
 *
 * A DPA thread is a plain thread, pinned to a CPU of the device table if that
 * names some (several share one if there are fewer), which sleeps until it is
 * activated and then calls its kernel. A kernel ends by returning, by
 * doca_dpa_dev_thread_reschedule() or _finish(), or within any device call once
 * its thread is to stop: so a kernel that polls for ever can be stopped.
 *
 * Device calls bracket themselves:
 *
 *     struct impl_dpa_self *self = impl_dpa_enter();
 *     struct doca_dpa_completion *comp =
 *         impl_dpa_object(self, IMPL_DPA_COMPLETION, handle, __func__);
 *     if (comp == NULL)
 *         return;                    a fault has left the call
 *     ...
 *     impl_dpa_leave(self);
 *
 * Calls do not nest. Between the two the object stays: who destroys it takes the handle away and
 * waits until no call is in the middle of anything. A call that waits for
 * something has to look at impl_dpa_is_over() and whether its handles are
 * still good, leave and enter again.
 *
 * What a card would answer with a fault (a handle of something destroyed, a
 * length over the limit) is a fault here: it is logged, the context's
 * doca_dpa_peek_at_last_error() says so from then on, and the kernel ends.
 *
 * Threads: contexts, threads, completions and so on are created, started and
 * destroyed by any host thread, under the context's lock.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_dpa.h>
#include <doca_dpa_dev.h>

struct doca_dev;
struct doca_mmap;
/* One that runs device code: a DPA thread, a thread of a kernel launch, or a
 * host thread in an RPC.
 */
struct impl_dpa_self;

/* Kinds of handles. One has a generation, so that it dies with its object. */
enum impl_dpa_kind {
	IMPL_DPA_CONTEXT = 1,
	IMPL_DPA_COMPLETION,
	IMPL_DPA_NOTIFICATION,
	IMPL_DPA_ASYNC_OPS,
	IMPL_DPA_HASH_TABLE,
	IMPL_DPA_CONSUMER,
	IMPL_DPA_CONSUMER_COMPLETION,
	IMPL_DPA_PRODUCER,
	IMPL_DPA_NB_KINDS,
};

/* handle.c */

/* A handle for an object, never 0; 0: no memory. Any host thread. */
uint64_t impl_dpa_handle_create(enum impl_dpa_kind kind, void *obj);
/* From here on the handle is bad, and no device call still uses the object. 0: nothing. */
void impl_dpa_handle_destroy(uint64_t handle);
/* The object, in a device call; NULL if the handle is bad: no fault. */
void *impl_dpa_handle_find(enum impl_dpa_kind kind, uint64_t handle);

/* exec.c: device calls */

/* Begin a device call. Does not return if the kernel is to end. Outside device
 * code (a host thread that calls a device function) this works as well.
 */
struct impl_dpa_self *impl_dpa_enter(void);
void impl_dpa_leave(struct impl_dpa_self *self);
/* Is the kernel to end? For calls that wait. */
bool impl_dpa_is_over(const struct impl_dpa_self *self);
/* The object of a handle. If it is bad: a fault, which names the call *what*; it
 * does not return in a kernel or an RPC, and returns NULL elsewhere, out of the call.
 */
void *impl_dpa_object(struct impl_dpa_self *self, enum impl_dpa_kind kind, uint64_t handle,
		const char *what);
/* A fault of the device code: "what: text". Returns only outside of a kernel and an
 * RPC; leaves the call in any case.
 */
void impl_dpa_fault(struct impl_dpa_self *self, const char *what, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Something that a card does not promise to bear: a log line. */
void impl_dpa_warn(struct impl_dpa_self *self, const char *what, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Wait for the calls that are under way: who takes something away from device code
 * that is not found by a handle of the above, does this afterwards. Not in a call.
 */
void impl_dpa_gate_wait(void);
/* Give the CPU to another one of our threads, in a call that waits. */
void impl_dpa_pause(struct impl_dpa_self *self);

/* dpa.c: the context */

/* An object of a started context begins: doca_dpa_stop() says IN_USE until it leaves.
 * DOCA_ERROR_BAD_STATE: not started. Not within a device call.
 */
doca_error_t impl_dpa_join(struct doca_dpa *dpa);
/* The same for objects that may be there before the start. */
void impl_dpa_hold(struct doca_dpa *dpa);
void impl_dpa_drop(struct doca_dpa *dpa);
bool impl_dpa_is_started(const struct doca_dpa *dpa);
/* The device; of an extended context the other one. */
struct doca_dev *impl_dpa_dev(const struct doca_dpa *dpa);
/* Do they belong to one accelerator? Extended contexts and their base do. */
bool impl_dpa_is_same(const struct doca_dpa *dpa, const struct doca_dpa *other);
/* What the application says of a function that the host names; NULL: not its own. */
const struct comch_doca_dpa_func *impl_dpa_func(const struct doca_dpa *dpa,
		doca_dpa_func_t *func);

/* thread.c */

/* Run the kernel once more, or for the first time, once the thread has been run by
 * the host. Activations that come while the kernel has not begun are one. Any thread.
 */
void impl_dpa_thread_activate(struct doca_dpa_thread *thread);
bool impl_dpa_thread_is_started(const struct doca_dpa_thread *thread);
struct doca_dpa *impl_dpa_thread_dpa(const struct doca_dpa_thread *thread);
/* A completion is attached, and no more. */
void impl_dpa_thread_hold(struct doca_dpa_thread *thread);
void impl_dpa_thread_drop(struct doca_dpa_thread *thread);
/* What doca_dpa_dev_thread_rank() and _num_threads() say in it; 0 of 1 at first. */
void impl_dpa_thread_set_rank(struct doca_dpa_thread *thread, unsigned int rank,
		unsigned int nb_threads);

/* affinity.c */

/* The execution unit that is set, or -1. */
int impl_dpa_affinity_eu(const struct doca_dpa_eu_affinity *affinity);
/* Of a context: how many execution units there are, and the CPU of one; -1: any CPU. */
unsigned int impl_dpa_nb_eus(const struct doca_dpa *dpa);
int impl_dpa_eu_cpu(const struct doca_dpa *dpa, unsigned int eu);

/* completion.c */

/* Attach what completes (a producer, async ops): the completion must be started.
 * Until the detach its stop says IN_USE.
 */
doca_error_t impl_dpa_completion_attach(struct doca_dpa_completion *comp);
void impl_dpa_completion_detach(struct doca_dpa_completion *comp);
struct doca_dpa *impl_dpa_completion_dpa(const struct doca_dpa_completion *comp);
/* Add an element, and activate the thread if it asked for that. Any thread, several
 * at once. False: it is full, nothing was added.
 */
bool impl_dpa_completion_push(struct doca_dpa_completion *comp,
		doca_dpa_dev_completion_type_t type, uint32_t user_data, uint32_t immediate);

/* How many elements an operation brings whose reports may be deferred by its flags: its
 * own and those that have waited for it; 0: it waits for a later one. No more wait
 * than max.
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

/* Memory of an mmap by its handle: [addr, addr + len), which lies in it and may be
 * read, and written if *write*. NULL: a fault as of impl_dpa_object().
 */
void *impl_dpa_mmap_range(struct impl_dpa_self *self, doca_dpa_dev_mmap_t mmap, uint64_t addr,
		size_t len, bool write, const char *what);

#endif /* IMPL_DPA_DPA_H */
