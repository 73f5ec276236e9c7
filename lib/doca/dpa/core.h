/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DPA_CORE_H
#define IMPL_DPA_CORE_H

/*
 * Shared by the files of this folder: contexts, and threads that run device code.
 *
 * Lock order: a context's (for an extended one, that of its base), the list of threads
 * that run device code (exec.c), the log's. Device calls never take a context's lock,
 * since its holder may wait for them.
 */

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>

#include <bsd/sys/queue.h>

#include <comch_doca_dpa_app.h>

#include "dpa/dpa.h"

struct impl_sync_word;

/** Time for a thread to end if the table sets no limit, milliseconds. */
#define IMPL_DPA_STOP_MS 12000

/* Kinds of threads in device code. */
enum impl_dpa_role {
	IMPL_DPA_HOST,   /* a host thread that calls a device function */
	IMPL_DPA_THREAD, /* a kernel of a DPA thread */
	IMPL_DPA_LAUNCH, /* a kernel of a launch */
	IMPL_DPA_RPC,
};

/* How a function of device code ended. */
enum impl_dpa_end {
	IMPL_DPA_RETURNED,
	IMPL_DPA_RESCHEDULED,
	IMPL_DPA_FINISHED,
	IMPL_DPA_OVER,    /* ended by a stop */
	IMPL_DPA_FAULT,
};

struct impl_dpa_self {
	/* Odd within a device call. Written by the owner, read by impl_dpa_gate_wait(). */
	_Atomic uint32_t calls;
	atomic_bool over;
	enum impl_dpa_role role;
	struct doca_dpa *dpa;             /* NULL: IMPL_DPA_HOST */
	struct doca_dpa_thread *thread;   /* of IMPL_DPA_THREAD */
	const struct comch_doca_dpa_func *func;
	_Atomic uint32_t rank, nb_threads;
	sigjmp_buf *end;
	_Atomic uint64_t begin_ms;        /* when the function was called; 0: not running */
	/* Of the watchdog. */
	uint64_t seen_ms, report_ms;
	LIST_ENTRY(impl_dpa_self) next;
};

/* exec.c */

/* Register a thread for device code; dpa, role, func and rank are set. Host. */
void impl_dpa_self_add(struct impl_dpa_self *self);
/* Unregister it when it runs nothing. Host. */
void impl_dpa_self_remove(struct impl_dpa_self *self);
/* Set what the calling thread is; returns the previous value. */
struct impl_dpa_self *impl_dpa_self_become(struct impl_dpa_self *self);
/* What the calling thread is; NULL: it has not called any device function. */
struct impl_dpa_self *impl_dpa_self_now(void);
/* Call self's function; *ret is its return value if it returns. */
enum impl_dpa_end impl_dpa_self_call(struct impl_dpa_self *self, const void *args,
		uint64_t *ret);
/* Leave the current device call and end the kernel. */
void impl_dpa_self_end(struct impl_dpa_self *self, enum impl_dpa_end end)
	__attribute__((noreturn));
static inline bool
impl_dpa_self_is_device(const struct impl_dpa_self *self)
{
	return self->role != IMPL_DPA_HOST;
}
/* Require a kernel of a DPA thread; otherwise a fault, and false. */
bool impl_dpa_self_need_thread(struct impl_dpa_self *self, const char *what);
/* "DPA thread dpa-NAME (kernel NAME)" */
const char *impl_dpa_self_print(const struct impl_dpa_self *self, char *text, size_t size);
/* Log kernels that run for too long. */
void impl_dpa_self_watch(void);
uint64_t impl_dpa_now_ms(void);

/* watch.c: while contexts are started */

/* limit_ms: of this context, 0 for none. DOCA_ERROR_NO_MEMORY: cannot create a thread. */
doca_error_t impl_dpa_watch_begin(uint32_t limit_ms);
void impl_dpa_watch_end(uint32_t limit_ms);

/* spawn.c: threads */

struct impl_dpa_spawn {
	struct doca_dpa *dpa;
	int eu;            /* an execution unit; -1: the next one */
	const char *name;  /* of the kernel */
	void *(*run)(void *arg);
	void *arg;
};

doca_error_t impl_dpa_spawn(const struct impl_dpa_spawn *how, pthread_t *thread);
/* Called in the thread when it starts and ends. */
void impl_dpa_spawn_begin(void);
void impl_dpa_spawn_end(void);
/* Initialize a condition for timed waits; 0 or an errno. */
int impl_dpa_cond_init(pthread_cond_t *cond);
/* Wait for cond until flag is set, at most ms milliseconds; returns flag. */
bool impl_dpa_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, const bool *flag,
		uint32_t ms);
/* CPU time of a thread, ns; 0: it has ended. */
uint64_t impl_dpa_spawn_ran_ns(pthread_t thread);
/*
 * The same for threads that end in their next device call, until one of them has run for ms
 * milliseconds without any: has_run() tells. Threads that get no CPU are waited for, but not
 * longer than IMPL_DPA_STOP_MS.
 */
bool impl_dpa_cond_wait_end(pthread_cond_t *cond, pthread_mutex_t *lock, const bool *flag,
		uint32_t ms, bool (*has_run)(const void *arg, uint64_t ns), const void *arg);

/* thread.c */

/* Value of doca_dpa_thread_set_local_storage(); may be called in a device call. */
doca_dpa_dev_uintptr_t impl_dpa_thread_storage(const struct doca_dpa_thread *thread);

/* mem.c */

/* Sorted by address. */
struct impl_dpa_mem {
	struct impl_dpa_range {
		uintptr_t addr;
		size_t size;
	} *ranges;
	size_t nb, room;
};

/* Free the allocations that are left. */
void impl_dpa_mem_fini(struct impl_dpa_mem *mem);

/* log.c */

/* Destination of log or trace lines; without a path, the program's log. */
struct impl_dpa_sink {
	char *path;
	FILE *file;
};

doca_error_t impl_dpa_sink_open(struct impl_dpa_sink *sink);
void impl_dpa_sink_close(struct impl_dpa_sink *sink);
void impl_dpa_sink_fini(struct impl_dpa_sink *sink);

/* Copy a text to a buffer of *size bytes and set *size to the text's:
 * DOCA_ERROR_INVALID_VALUE if the buffer is too small.
 */
doca_error_t impl_dpa_copy_text(const char *text, char *room, uint32_t *size);

/* sync.c */

/* What a launch waits for, and what it updates when it is done. */
struct impl_dpa_sync {
	struct impl_sync_word *wait, *comp;  /* held; NULL: none */
	uint64_t threshold, count;
	bool is_add;                         /* add the count, or set it */
};

/*
 * Hold these events for a launch, or NULL. DOCA_ERROR_INVALID_VALUE: an event has no location on
 * this accelerator; DOCA_ERROR_BAD_STATE: one is not started.
 */
doca_error_t impl_dpa_sync_hold(struct impl_dpa_sync *sync, const struct doca_dpa *dpa,
		struct doca_sync_event *wait, struct doca_sync_event *comp);
/* Wait for the event; false: the kernel must end before. */
bool impl_dpa_sync_wait(const struct impl_dpa_self *self, const struct impl_dpa_sync *sync);
/* Whether there is nothing to wait for, or no more. */
bool impl_dpa_sync_has_come(const struct impl_dpa_sync *sync);
/* Let go of each, if it is held. */
void impl_dpa_sync_drop_wait(struct impl_dpa_sync *sync);
/* is_done: update it. */
void impl_dpa_sync_drop_comp(struct impl_dpa_sync *sync, bool is_done);

/* launch.c */

struct impl_dpa_launch;
LIST_HEAD(impl_dpa_launches, impl_dpa_launch);

/* Wait for all kernels, then force those left to end. DOCA_ERROR_DRIVER: one still runs.
 * Called with the context's lock, which is released while waiting.
 */
doca_error_t impl_dpa_launch_end_all(struct doca_dpa *dpa);

/* dpa.c */

struct doca_dpa {
	struct doca_dpa *root;           /* the base of an extended context, else itself */
	struct doca_dev *dev;
	uint64_t handle;                 /* while it is started */
	atomic_bool is_started;
	bool is_stopping;
	unsigned int nb_users;           /* objects, extended contexts, running RPCs */
	int nb_located;                  /* locations of sync events */
	/* Used in the root only. */
	pthread_mutex_t lock;
	atomic_bool fault;
	_Atomic uint32_t level;          /* doca_dpa_dev_log_level_t */
	atomic_uint next_eu;
	uint32_t max_run_ms;             /* 0: no limit */
	struct doca_dpa_app *app;
	struct impl_dpa_mem mem;
	struct impl_dpa_sink log, trace;
	struct impl_dpa_launches launches;
};

/*
 * A sync event is located on the context (1), or not any more (-1): it may be stopped, which ends
 * the launches that use the event, but not be destroyed.
 */
void impl_dpa_locate(struct doca_dpa *dpa, int nb);
/* Whether it is started and has no fault. */
bool impl_dpa_is_usable(const struct doca_dpa *dpa);
/* How long to wait for a kernel to end, milliseconds. */
uint32_t impl_dpa_stop_ms(const struct doca_dpa *dpa);

#endif /* IMPL_DPA_CORE_H */
