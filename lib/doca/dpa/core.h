/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DPA_CORE_H
#define IMPL_DPA_CORE_H

/*
 * What the files of the DPA's core share: contexts, and who runs device code.
 *
 * Locks, the outer one first: a context's (that of its base, if it is
 * extended), the list of those who run device code (exec.c), the log's. Device
 * calls take none of the first kind: who holds it may wait for them.
 */

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>

#include <bsd/sys/queue.h>

#include <comch_doca_dpa_app.h>

#include "dpa/dpa.h"

/** What a thread may take to end if the table sets no limit, milliseconds. */
#define IMPL_DPA_STOP_MS 12000

/* What runs. */
enum impl_dpa_role {
	IMPL_DPA_HOST,    /* a host thread that calls a device function */
	IMPL_DPA_THREAD, /* a kernel of a DPA thread */
	IMPL_DPA_LAUNCH, /* a kernel of a launch */
	IMPL_DPA_RPC,
};

/* How a function of device code ended. */
enum impl_dpa_end {
	IMPL_DPA_RETURNED,
	IMPL_DPA_RESCHEDULED,
	IMPL_DPA_FINISHED,
	IMPL_DPA_OVER,    /* it was to end */
	IMPL_DPA_FAULT,
};

struct impl_dpa_self {
	/* Odd within a device call. Written by the owner; who destroys a handle waits. */
	_Atomic uint32_t calls;
	atomic_bool over;
	enum impl_dpa_role role;
	struct doca_dpa *dpa;             /* NULL: IMPL_DPA_HOST */
	struct doca_dpa_thread *thread;   /* of IMPL_DPA_THREAD */
	const struct comch_doca_dpa_func *func;
	_Atomic uint32_t rank, nb_threads;
	sigjmp_buf *end;
	_Atomic uint64_t begin_ms;        /* when the function began; 0: none runs */
	/* The watchdog's. */
	uint64_t seen_ms, report_ms;
	LIST_ENTRY(impl_dpa_self) next;
};

/* exec.c */

/* Set up who will run device code: dpa, role, func and rank are there. Host. */
void impl_dpa_self_add(struct impl_dpa_self *self);
/* Host, once it runs nothing. */
void impl_dpa_self_remove(struct impl_dpa_self *self);
/* The calling thread is that from now on; who it was. */
struct impl_dpa_self *impl_dpa_self_become(struct impl_dpa_self *self);
/* Who the calling thread is; NULL: has not called any device function. */
struct impl_dpa_self *impl_dpa_self_now(void);
/* Call self's function; *ret is what it returned, if it returned. */
enum impl_dpa_end impl_dpa_self_call(struct impl_dpa_self *self, const void *args,
		uint64_t *ret);
/* End the kernel from within a device call, which is left. */
void impl_dpa_self_end(struct impl_dpa_self *self, enum impl_dpa_end end)
	__attribute__((noreturn));
static inline bool
impl_dpa_self_is_device(const struct impl_dpa_self *self)
{
	return self->role != IMPL_DPA_HOST;
}
/* It must be a kernel of a DPA thread: else a fault, and false. */
bool impl_dpa_self_need_thread(struct impl_dpa_self *self, const char *what);
/* "DPA thread dpa-NAME (kernel NAME)" */
const char *impl_dpa_self_print(const struct impl_dpa_self *self, char *text, size_t size);
/* Report kernels that run for too long. */
void impl_dpa_self_watch(void);
uint64_t impl_dpa_now_ms(void);

/* watch.c: while contexts are started */

/* limit_ms: of this context; 0: none. DOCA_ERROR_NO_MEMORY: no thread. */
doca_error_t impl_dpa_watch_begin(uint32_t limit_ms);
void impl_dpa_watch_end(uint32_t limit_ms);

/* spawn.c: threads */

struct impl_dpa_spawn {
	struct doca_dpa *dpa;
	int eu;            /* an execution unit, or -1: the next one */
	const char *name;  /* of the kernel */
	void *(*run)(void *arg);
	void *arg;
};

doca_error_t impl_dpa_spawn(const struct impl_dpa_spawn *how, pthread_t *thread);
/* In the thread, at its begin and end. */
void impl_dpa_spawn_begin(void);
void impl_dpa_spawn_end(void);
/* A condition for waits with an end; 0 or an errno. */
int impl_dpa_cond_init(pthread_cond_t *cond);
/* Wait for cond until flag is set or ms milliseconds are over; is it? */
bool impl_dpa_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, const bool *flag,
		uint32_t ms);

/* thread.c */

/* What doca_dpa_thread_set_local_storage() set. Also within a device call. */
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

/* Free what the host did not. */
void impl_dpa_mem_fini(struct impl_dpa_mem *mem);

/* log.c */

/* Where log or trace lines go; no path: to the log of the process. */
struct impl_dpa_sink {
	char *path;
	FILE *file;
};

doca_error_t impl_dpa_sink_open(struct impl_dpa_sink *sink);
void impl_dpa_sink_close(struct impl_dpa_sink *sink);
void impl_dpa_sink_fini(struct impl_dpa_sink *sink);

/* A text to a caller's room, whose size is in and out: DOCA_ERROR_INVALID_VALUE with
 * the size that is needed if it is too small.
 */
doca_error_t impl_dpa_copy_text(const char *text, char *room, uint32_t *size);

/* launch.c */

struct impl_dpa_launch;
LIST_HEAD(impl_dpa_launches, impl_dpa_launch);

/* Wait for all kernels, and end those that do not end. DOCA_ERROR_DRIVER: one is
 * left. The context's lock is held, and given up meanwhile.
 */
doca_error_t impl_dpa_launch_end_all(struct doca_dpa *dpa);

/* dpa.c */

struct doca_dpa {
	struct doca_dpa *root;           /* the base of an extended one; else itself */
	struct doca_dev *dev;
	uint64_t handle;                 /* while it is started */
	atomic_bool is_started;
	bool is_stopping;
	unsigned int nb_users;           /* objects, extended contexts, RPCs that run */
	/* Of the root only. */
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

/* Started, and without a fault? */
bool impl_dpa_is_usable(const struct doca_dpa *dpa);
/* How long to wait for a kernel that is to end, milliseconds. */
uint32_t impl_dpa_stop_ms(const struct doca_dpa *dpa);

/* affinity.c */

/* Where the process may run, as it was when the library was loaded; none: not known. */
const cpu_set_t *impl_dpa_process_cpus(void);

#endif /* IMPL_DPA_CORE_H */
