/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DFACE_DPA_CORE_H
#define DFACE_DPA_CORE_H

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

#include "dface_dpa.h"

/** What a thread may take to end if the table sets no limit, milliseconds. */
#define DFACE_DPA_STOP_MS 12000

/* What runs. */
enum dface_dpa_role {
	DFACE_DPA_HOST,   /* a host thread that calls a device function */
	DFACE_DPA_THREAD, /* a kernel of a DPA thread */
	DFACE_DPA_LAUNCH, /* a kernel of a launch */
	DFACE_DPA_RPC,
};

/* How a function of device code ended. */
enum dface_dpa_end {
	DFACE_DPA_RETURNED,
	DFACE_DPA_RESCHEDULED,
	DFACE_DPA_FINISHED,
	DFACE_DPA_OVER,   /* it was to end */
	DFACE_DPA_FAULT,
};

struct dface_dpa_self {
	/* Odd within a device call. Written by the owner; who destroys a handle waits. */
	_Atomic uint32_t calls;
	atomic_bool over;
	enum dface_dpa_role role;
	struct doca_dpa *dpa;             /* NULL: DFACE_DPA_HOST */
	struct doca_dpa_thread *thread;   /* of DFACE_DPA_THREAD */
	const struct comch_doca_dpa_func *func;
	_Atomic uint32_t rank, nb_threads;
	sigjmp_buf *end;
	_Atomic uint64_t begin_ms;        /* when the function began; 0: none runs */
	/* The watchdog's. */
	uint64_t seen_ms, report_ms;
	LIST_ENTRY(dface_dpa_self) next;
};

/* exec.c */

/* Set up who will run device code: dpa, role, func and rank are there. Host. */
void dface_dpa_self_add(struct dface_dpa_self *self);
/* Host, once it runs nothing. */
void dface_dpa_self_remove(struct dface_dpa_self *self);
/* The calling thread is that from now on; who it was. */
struct dface_dpa_self *dface_dpa_self_become(struct dface_dpa_self *self);
/* Who the calling thread is; NULL: has not called any device function. */
struct dface_dpa_self *dface_dpa_self_now(void);
/* Call self's function; *ret is what it returned, if it returned. */
enum dface_dpa_end dface_dpa_self_call(struct dface_dpa_self *self, const void *args,
		uint64_t *ret);
/* End the kernel from within a device call, which is left. */
void dface_dpa_self_end(struct dface_dpa_self *self, enum dface_dpa_end end)
	__attribute__((noreturn));
static inline bool
dface_dpa_self_is_device(const struct dface_dpa_self *self)
{
	return self->role != DFACE_DPA_HOST;
}
/* It must be a kernel of a DPA thread: else a fault, and false. */
bool dface_dpa_self_need_thread(struct dface_dpa_self *self, const char *what);
/* "DPA thread dpa-NAME (kernel NAME)" */
const char *dface_dpa_self_print(const struct dface_dpa_self *self, char *text, size_t size);
/* Report kernels that run for too long. */
void dface_dpa_self_watch(void);
uint64_t dface_dpa_now_ms(void);

/* watch.c: while contexts are started */

/* limit_ms: of this context; 0: none. DOCA_ERROR_NO_MEMORY: no thread. */
doca_error_t dface_dpa_watch_begin(uint32_t limit_ms);
void dface_dpa_watch_end(uint32_t limit_ms);

/* spawn.c: threads */

struct dface_dpa_spawn {
	struct doca_dpa *dpa;
	int eu;            /* an execution unit, or -1: the next one */
	const char *name;  /* of the kernel */
	void *(*run)(void *arg);
	void *arg;
};

doca_error_t dface_dpa_spawn(const struct dface_dpa_spawn *how, pthread_t *thread);
/* In the thread, at its begin and end. */
void dface_dpa_spawn_begin(void);
void dface_dpa_spawn_end(void);
/* A condition for waits with an end; 0 or an errno. */
int dface_dpa_cond_init(pthread_cond_t *cond);
/* Wait for cond until flag is set or ms milliseconds are over; is it? */
bool dface_dpa_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, const bool *flag,
		uint32_t ms);

/* thread.c */

/* What doca_dpa_thread_set_local_storage() set. Also within a device call. */
doca_dpa_dev_uintptr_t dface_dpa_thread_storage(const struct doca_dpa_thread *thread);

/* mem.c */

/* Sorted by address. */
struct dface_dpa_mem {
	struct dface_dpa_range {
		uintptr_t addr;
		size_t size;
	} *ranges;
	size_t nb, room;
};

/* Free what the host did not. */
void dface_dpa_mem_fini(struct dface_dpa_mem *mem);

/* log.c */

/* Where log or trace lines go; no path: to the log of the process. */
struct dface_dpa_sink {
	char *path;
	FILE *file;
};

doca_error_t dface_dpa_sink_open(struct dface_dpa_sink *sink);
void dface_dpa_sink_close(struct dface_dpa_sink *sink);
void dface_dpa_sink_fini(struct dface_dpa_sink *sink);

/* A text to a caller's room, whose size is in and out: DOCA_ERROR_INVALID_VALUE with
 * the size that is needed if it is too small.
 */
doca_error_t dface_dpa_copy_text(const char *text, char *room, uint32_t *size);

/* launch.c */

struct dface_dpa_launch;
LIST_HEAD(dface_dpa_launches, dface_dpa_launch);

/* Wait for all kernels, and end those that do not end. DOCA_ERROR_DRIVER: one is
 * left. The context's lock is held, and given up meanwhile.
 */
doca_error_t dface_dpa_launch_end_all(struct doca_dpa *dpa);

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
	struct dface_dpa_mem mem;
	struct dface_dpa_sink log, trace;
	struct dface_dpa_launches launches;
};

/* Started, and without a fault? */
bool dface_dpa_is_usable(const struct doca_dpa *dpa);
/* How long to wait for a kernel that is to end, milliseconds. */
uint32_t dface_dpa_stop_ms(const struct doca_dpa *dpa);

/* affinity.c */

/* Where the process may run, as it was when the library was loaded; none: not known. */
const cpu_set_t *dface_dpa_process_cpus(void);

#endif /* DFACE_DPA_CORE_H */
