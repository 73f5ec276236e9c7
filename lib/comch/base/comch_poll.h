/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_POLL_H
#define COMCH_POLL_H

/*
 * The poll: the interface to the rest of the library, which registers its work:
 *
 *   object  (comch_obj.h)  is serviced when noted, and returns events
 *   task    runs in each run, for many objects at once
 *   fd      is scanned once a millisecond, and after a wake-up; more often if the poll is idle,
 *           or a scan has just found something
 *   source  is armed and checked only when the poll goes to sleep
 *
 * A run, in this order: free the objects that the last run released; scan the
 * descriptors if that is due; service the noted objects; run the tasks.
 */

#include <pthread.h>
#include <bsd/sys/queue.h>

#include <rte_cycles.h>

#include "rte_comch_poll.h"
#include "base/comch_obj.h"
#include "base/comch_registry.h"

/* A descriptor that wakes the poll. Embedded in the object that owns it. */
struct comch_fd {
	int fd;              /* -1: not in the set */
	uint32_t classes;    /* RTE_COMCH_POLL_*: the class descriptors that it makes readable */
	bool hung_up;        /* or an error; for ready() */
	/*
	 * True: level-triggered, ready() reads it. False: edge-triggered, for descriptors
	 * that a peer could otherwise keep readable for ever.
	 */
	bool is_level;
	void (*ready)(struct comch_fd *cfd);
	TAILQ_ENTRY(comch_fd) next;
};

/* A source of wake-ups without events: armed and checked before the poll sleeps. */
struct comch_poll_source {
	uint32_t classes;    /* RTE_COMCH_POLL_* */
	/*
	 * A thread of this process wakes it by rte_comch_poll_notify(), with only a light
	 * fence (comch_asym.h): arming the poll needs the heavy one.
	 */
	bool light_fence;
	/* True: the poll's fence must be comch_fence_sleep(). */
	bool (*arm)(struct comch_poll_source *source);
	/* Optional. The poll has not slept for a while: see comch_armed_rest(). */
	void (*rest)(struct comch_poll_source *source);
	bool (*pending)(struct comch_poll_source *source);
	TAILQ_ENTRY(comch_poll_source) next;
};

struct comch_poll_task;

/* All but init run in the poll's thread. */
struct comch_poll_task_ops {
	size_t size;         /* of the structure whose first member is the task */
	void (*init)(struct comch_poll_task *task, struct rte_comch_poll *poll);
	/* Called at the end of each run. */
	void (*run)(struct comch_poll_task *task, struct comch_run *run);
	/*
	 * Called after a scan of the descriptors; all: no readable one is left. True: the
	 * task waits for something, so scan again soon.
	 */
	bool (*scanned)(struct comch_poll_task *task, uint64_t now, bool all);
	/*
	 * The poll is about to sleep. True: the task needs a run within some ms. Sets *heavy if
	 * the poll's fence must be comch_fence_sleep().
	 */
	bool (*arm)(struct comch_poll_task *task, uint32_t classes, bool *heavy);
	/* The poll has not slept for a while: see comch_armed_rest(). */
	void (*rest)(struct comch_poll_task *task);
	/* Called after arm(): has the task anything to do? */
	bool (*pending)(struct comch_poll_task *task);
};

struct comch_poll_task {
	const struct comch_poll_task_ops *ops;
	struct comch_poll_task *next;
};

TAILQ_HEAD(comch_poll_source_list, comch_poll_source);
STAILQ_HEAD(comch_obj_list, comch_obj);
TAILQ_HEAD(comch_fd_list, comch_fd);

#define COMCH_POLL_NB_CLASSES 3
/* Scans of the descriptors; more often while a task waits for something. */
#define COMCH_POLL_SCANS_PER_S 1000
/* How long links may leave wake-ups unread, ms. */
#define COMCH_POLL_UNREAD_MS 10
/* Of scans, without a sleep in between: then publishers need not fence for the sleeps. */
#define COMCH_POLL_REST_SCANS 10
/* Size of the arena of received messages. */
#define COMCH_POLL_ARENA (UINT32_C(256) << 10)
/*
 * What a run uses of it, unless a connection's messages may be larger. Copying takes time, in
 * which others wait, and a run costs little.
 */
#define COMCH_POLL_RUN_BYTES (UINT32_C(32) << 10)

/* Kinds of slow work, each with a time limit: comch_poll_has_time(). */
enum comch_poll_slow {
	COMCH_POLL_SETUP,
	COMCH_POLL_FREE,
	COMCH_POLL_NB_SLOW,
};

/*
 * The time limit of one kind: starts with its first use in a run and ends with the run. TSC,
 * except run.
 */
struct comch_poll_budget {
	uint64_t run;
	uint64_t end;
	uint64_t not_before; /* once that was used up */
};

struct rte_comch_poll {
	/* accessed by any thread */
	struct comch_obj *mailbox;   /* atomic stack */
	uint32_t sleeping;           /* 1: notes write the eventfd; atomic */
	uint32_t notified;           /* 1: rte_comch_poll_notify() requests a run; atomic */
	uint32_t nb_attached;        /* objects not freed; atomic */
	uint32_t nb_cannot_wake;     /* of them; atomic */
	uint32_t nb_sources;         /* atomic */
	uint32_t nb_light_fence;     /* sources with light_fence; atomic */
	struct comch_poll_task *tasks; /* never removed before destroy; atomic */
	/* the poll's thread */
	uint64_t run_no __rte_cache_aligned;
	uint32_t guard;              /* see comch_guard.h */
	uint64_t next_look;          /* TSC: see poll_look(); next_scan at the latest */
	uint64_t next_scan;          /* TSC of the next scan of the descriptors */
	uint64_t scan_not_before;    /* TSC; see comch_poll_scan() */
	uint64_t long_since;         /* TSC */
	bool may_be_long;            /* measure this run */
	uint64_t scan_cycles;
	struct comch_obj_list work;
	struct comch_obj_list later; /* waits for comch_poll_has_time() */
	uint64_t later_at;           /* TSC; UINT64_MAX: nothing waits */
	bool needs_time;             /* comch_poll_has_time() has refused */
	/* work of this run that peers caused, see comch_poll_allow_frees() */
	uint64_t alloc_run;
	uint64_t alloc_bytes;
	uint64_t free_run;
	uint32_t nb_freed;
	bool free_again;             /* a run exceeded its limit of frees */
	struct comch_poll_budget slow[COMCH_POLL_NB_SLOW];
	struct comch_poll_source_list sources; /* guarded by lock */
	struct comch_obj *reap;      /* dead objects, freed in the next run */
	uint8_t *arena;              /* data of the messages that this run returns */
	uint32_t arena_used;
	uint32_t arena_size;         /* that a run may use */
	bool sleeps;                 /* in rte_comch_poll_wait(): links may leave wake-ups unread */
	uint32_t nb_unread;          /* links that did */
	uint64_t unread_until;       /* TSC; they may not any more, if nb_unread > 0 */
	bool armed;
	bool asks_fences;            /* publishers fence for its sleeps: comch_armed.h */
	uint64_t rest_at;            /* TSC; then no more, if it has not slept until then */
	bool has_slept;              /* may have: armed since the last run */
	bool timer_is_set;           /* since the last arming: tasks waited */
	bool idle;                   /* in the last millisecond: see is_idle() */
	uint64_t idle_until;         /* TSC of the next judgement */
	uint64_t idle_runs;          /* stats.runs and stats.busy_runs at the last one */
	uint64_t idle_busy_runs;
	uint64_t brisk_until;        /* TSC; after a scan that found something */
	int unread_ms;               /* COMCH_POLL_UNREAD_MS, but in tests */
	int event_fd;                /* wakes a sleeping poll */
	struct comch_fd mailbox_fd;
	struct comch_fd timer_fd;    /* wakes a sleeping poll for tasks that wait */
	int epoll_fd;                /* all classes */
	int class_fd[COMCH_POLL_NB_CLASSES]; /* -1 until requested */
	struct comch_fd_list fds;    /* guarded by lock */
	pthread_mutex_t lock;        /* tasks, sources, fds: other threads add them */
	int socket_id;
	char name[RTE_COMCH_DEV_NAME_SIZE];
	struct rte_comch_poll_stats stats;
	struct comch_registry_entry entry;
};

extern struct comch_registry_type comch_poll_registry;

/* Request that the object's poll services it. Any thread. */
void comch_poll_note_as(struct comch_obj *obj, uint32_t bits);
/*
 * The steps of a note, for threads with another descriptor table: note without a
 * wake-up; does the poll sleep; wake it if it does.
 */
void comch_poll_note_quietly(struct comch_obj *obj);
bool comch_poll_sleeps(struct rte_comch_poll *poll);
bool comch_poll_wake(struct rte_comch_poll *poll);

static inline void
comch_poll_note(struct comch_obj *obj)
{
	comch_poll_note_as(obj, COMCH_NOTE_IN);
}

static inline void
comch_poll_scan_at(struct rte_comch_poll *poll, uint64_t tsc)
{
	poll->next_scan = tsc;
	poll->next_look = RTE_MIN(poll->next_look, tsc);
}

/* Scan the descriptors as soon as the last scan allows. The poll's thread. */
static inline void
comch_poll_scan_soon(struct rte_comch_poll *poll)
{
	comch_poll_scan_at(poll, poll->scan_not_before);
}

/* Measure this run: it may take long. Reading the clock in every run costs too much. */
static inline void
comch_poll_mark_long(struct rte_comch_poll *poll)
{
	if (poll->may_be_long)
		return;
	poll->may_be_long = true;
	poll->long_since = rte_rdtsc();
}

/*
 * Limit the regions of peers that one run frees: each is a syscall, and peers decide
 * how many there are. True: this run may free n more. False: retry in the next run.
 */
bool comch_poll_allow_frees(struct rte_comch_poll *poll, uint32_t n);
/* Give back n frees that were allowed and not made. */
static inline void
comch_poll_return_frees(struct rte_comch_poll *poll, uint32_t n)
{
	poll->nb_freed -= n;
}
/*
 * Limit the bytes that one run allocates at the request of peers. True: this run may
 * allocate len more; its first request is always allowed.
 */
bool comch_poll_allow_alloc(struct rte_comch_poll *poll, uint64_t len);

/*
 * Limit the time that a run, and all runs together, spend on system calls that cost peers
 * little: handshakes, and freeing connections, each by itself. True: there is time for one
 * more. False: an object whose service() then returns true is served when there is.
 */
bool comch_poll_has_time(struct rte_comch_poll *poll, enum comch_poll_slow what);

/* What waited for time is served in this run. */
static inline void
comch_poll_take_later(struct rte_comch_poll *poll)
{
	poll->later_at = UINT64_MAX;
	STAILQ_CONCAT(&poll->work, &poll->later);
}

/* Count the objects of a poll: one with objects is not destroyed. Any thread. */
static inline void
comch_poll_attach(struct rte_comch_poll *poll)
{
	__atomic_fetch_add(&poll->nb_attached, 1, __ATOMIC_RELAXED);
}
static inline void
comch_poll_detach(struct rte_comch_poll *poll)
{
	__atomic_fetch_sub(&poll->nb_attached, 1, __ATOMIC_RELAXED);
}
/*
 * The object's device has no event descriptors: the poll cannot sleep while the object exists.
 */
static inline void
comch_poll_cannot_wake(struct comch_obj *obj)
{
	obj->cannot_wake = true;
	__atomic_fetch_add(&obj->poll->nb_cannot_wake, 1, __ATOMIC_RELAXED);
}
/* The poll's task with these operations, created on first use; NULL: no memory. Any thread. */
struct comch_poll_task *comch_poll_task_get(struct rte_comch_poll *poll,
		const struct comch_poll_task_ops *ops);
/* Add a descriptor. Returns 0 or a negative errno. Any thread. */
int comch_poll_fd_add(struct rte_comch_poll *poll, struct comch_fd *cfd);
/*
 * Between these two calls the descriptor may come to refer to another file. Otherwise events of
 * the old one would arrive as long as any process has it open, even after *cfd* was freed.
 * resume returns 0 or a negative errno. Any thread.
 */
void comch_poll_fd_suspend(struct rte_comch_poll *poll, const struct comch_fd *cfd);
int comch_poll_fd_resume(struct rte_comch_poll *poll, struct comch_fd *cfd);
void comch_poll_fd_del(struct rte_comch_poll *poll, struct comch_fd *cfd);
/* Any thread. */
void comch_poll_source_add(struct rte_comch_poll *poll, struct comch_poll_source *source);
void comch_poll_source_del(struct rte_comch_poll *poll, struct comch_poll_source *source);
/* The next size bytes of the arena, valid until the next run; NULL: the arena is full. */
static inline void *
comch_poll_arena_get(struct rte_comch_poll *poll, uint32_t size)
{
	return (uint64_t)poll->arena_used + size <= poll->arena_size ?
		poll->arena + poll->arena_used : NULL;
}
/* There will be frames of this size, at most COMCH_POLL_ARENA. */
static inline void
comch_poll_arena_want(struct rte_comch_poll *poll, uint32_t size)
{
	poll->arena_size = RTE_MAX(poll->arena_size, size);
}
/* Keep the first bytes of the last comch_poll_arena_get(). */
static inline void
comch_poll_arena_keep(struct rte_comch_poll *poll, uint32_t used)
{
	poll->arena_used += RTE_ALIGN_CEIL(used, (uint32_t)RTE_CACHE_LINE_SIZE);
}

/* comch_poll_sleep.c, for comch_poll.c */
/* A run ends the sleep. */
void comch_poll_disarm(struct rte_comch_poll *poll);
/* It has been awake for long: publishers need no fences for its sake until it sleeps again. */
void comch_poll_rest(struct rte_comch_poll *poll);

/* comch_poll_fd.c, for comch_poll.c and comch_poll_sleep.c */
/* Scan the descriptors, and call ready() of readable ones. True: any was readable. */
bool comch_poll_scan(struct rte_comch_poll *poll, uint64_t now);
/* Scan the descriptors, and make the class descriptors unreadable. */
void comch_poll_drain_fds(struct rte_comch_poll *poll);
/* Sleep until a descriptor is readable, and serve it. Their number, or a negative errno. */
int comch_poll_sleep(struct rte_comch_poll *poll, int timeout_ms);

#endif /* COMCH_POLL_H */
