/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_POLL_H
#define COMCH_POLL_H

/*
 * The poll, as the rest of the library sees it. It does not know what it is run
 * for: whoever has something to be done in a run registers it.
 *
 *   object  (comch_obj.h)  is served when noted, and has events
 *   task    does something in each run, for many objects at once
 *   fd      is looked at once a millisecond, and after a wake-up
 *   guest   is asked about only when the poll wants to sleep
 *
 * A run, in this order: free what was buried a run ago; look at the descriptors if
 * that is due; serve the noted objects; run the tasks.
 */

#include <pthread.h>
#include <bsd/sys/queue.h>

#include "rte_comch_poll.h"
#include "base/comch_obj.h"
#include "base/comch_registry.h"

/* A descriptor that wakes the poll. Lives in the object that owns it. */
struct comch_fd {
	int fd;              /* -1: not in the set */
	uint32_t classes;    /* RTE_COMCH_POLL_*: whom it may wake */
	/*
	 * True: readable until ready() has read it. False: reported once for each
	 * change; a peer that holds the other end could keep it readable for ever.
	 */
	bool is_level;
	void (*ready)(struct comch_fd *cfd);
	TAILQ_ENTRY(comch_fd) next;
};

/* Something that can become ready without a descriptor: asked when the poll sleeps. */
struct comch_poll_guest {
	uint32_t classes;    /* RTE_COMCH_POLL_* */
	/*
	 * It is woken by rte_comch_poll_notify() of a thread of this process that made
	 * a light fence only (comch_asym.h): arming makes the heavy one.
	 */
	bool is_light;
	void (*arm)(struct comch_poll_guest *guest);
	bool (*pending)(struct comch_poll_guest *guest);
	TAILQ_ENTRY(comch_poll_guest) next;
};

struct comch_poll_task;

/* The poll's thread, all but init. */
struct comch_poll_task_ops {
	size_t size;         /* of the structure that begins with the task */
	void (*init)(struct comch_poll_task *task, struct rte_comch_poll *poll);
	/* The last thing in each run. */
	void (*run)(struct comch_poll_task *task, struct comch_run *run);
	/*
	 * Descriptors were looked at: all that were readable, or not all. True: it waits
	 * for something, so look again soon.
	 */
	bool (*look)(struct comch_poll_task *task, uint64_t now, bool all);
	/* The poll is about to sleep. True: it waits, so wake the poll in a while. */
	bool (*arm)(struct comch_poll_task *task, uint32_t classes);
	/* Is there anything to run for? After arm(). */
	bool (*pending)(const struct comch_poll_task *task);
};

struct comch_poll_task {
	const struct comch_poll_task_ops *ops;
	struct comch_poll_task *next;
};

TAILQ_HEAD(comch_poll_guest_list, comch_poll_guest);
STAILQ_HEAD(comch_obj_list, comch_obj);
TAILQ_HEAD(comch_fd_list, comch_fd);

#define COMCH_POLL_NB_CLASSES 3
/* As a rule; more often while a task waits for something. */
#define COMCH_POLL_LOOKS_PER_S 1000
/* Bytes of messages that one run returns at most, beside the last one. */
#define COMCH_POLL_ARENA (UINT32_C(256) << 10)

struct rte_comch_poll {
	/* read by anyone, written by anyone */
	struct comch_obj *mailbox;   /* atomic stack */
	uint32_t sleeping;           /* 1: notes write the eventfd; atomic */
	uint32_t notified;           /* 1: a run is wanted; atomic */
	uint32_t nb_attached;        /* objects not destroyed; atomic */
	uint32_t nb_light;           /* guests that are light; atomic */
	struct comch_poll_task *tasks; /* only added to: atomic */
	/* the poll's thread */
	uint64_t run_no __rte_cache_aligned;
	uint32_t guard;              /* see comch_guard.h */
	uint64_t next_look;          /* TSC of the next look at descriptors */
	uint64_t look_cycles;
	struct comch_obj_list work;
	/* what this run did on the word of peers, see comch_poll_may_free() */
	uint64_t made_run;
	uint64_t made_bytes;
	uint64_t free_run;
	uint32_t nb_freed;
	bool free_again;             /* a run could not free all */
	struct comch_poll_guest_list guests; /* guarded by lock */
	struct comch_obj *reap;      /* buried, freed in the next run */
	uint8_t *arena;              /* messages of this run */
	uint32_t arena_used;
	uint32_t arena_size;
	bool armed;
	int event_fd;                /* private: mailbox while sleeping */
	struct comch_fd mailbox_fd;
	struct comch_fd timer_fd;    /* wakes it in a while */
	int epoll_fd;                /* all classes */
	int class_fd[COMCH_POLL_NB_CLASSES]; /* -1 until asked for */
	struct comch_fd_list fds;    /* guarded by lock */
	pthread_mutex_t lock;        /* tasks, guests, fds: other threads add them */
	int socket_id;
	char name[RTE_COMCH_DEV_NAME_SIZE];
	struct rte_comch_poll_stats stats;
	struct comch_registry_entry entry;
};

extern struct comch_registry_type comch_poll_registry;

/* Ask the object's poll to serve it. Any thread. */
void comch_poll_note_as(struct comch_obj *obj, uint32_t bits);
/*
 * Note without waking, for threads with another descriptor table; does the
 * poll sleep; wake it if it does.
 */
void comch_poll_note_quietly(struct comch_obj *obj);
bool comch_poll_sleeps(struct rte_comch_poll *poll);
bool comch_poll_wake(struct rte_comch_poll *poll);

static inline void
comch_poll_note(struct comch_obj *obj)
{
	comch_poll_note_as(obj, COMCH_NOTE_IN);
}

/* Look at the descriptors in the next run. The poll's thread. */
static inline void
comch_poll_look_soon(struct rte_comch_poll *poll)
{
	poll->next_look = 0;
}

/*
 * May this run free n regions of peers more? They are syscalls, and peers decide
 * how many there are. False: call again in the next run.
 */
bool comch_poll_may_free(struct rte_comch_poll *poll, uint32_t n);
/* It was allowed, and was not done. */
static inline void
comch_poll_not_freed(struct rte_comch_poll *poll, uint32_t n)
{
	poll->nb_freed -= n;
}
/* May this run allocate len bytes more because a peer says so? One is always allowed. */
bool comch_poll_may_make(struct rte_comch_poll *poll, uint64_t len);

/* Count an object in and out, so that a poll in use is not destroyed. Any thread. */
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
/* The poll's task with these operations, made if there is none; NULL: no memory. Any thread. */
struct comch_poll_task *comch_poll_task_get(struct rte_comch_poll *poll,
		const struct comch_poll_task_ops *ops);
/* Add a descriptor. Returns 0 or a negative errno. Any thread. */
int comch_poll_fd_add(struct rte_comch_poll *poll, struct comch_fd *cfd);
void comch_poll_fd_del(struct rte_comch_poll *poll, struct comch_fd *cfd);
/* Any thread. */
void comch_poll_guest_add(struct rte_comch_poll *poll, struct comch_poll_guest *guest);
void comch_poll_guest_del(struct rte_comch_poll *poll, struct comch_poll_guest *guest);
/* Room for size bytes until the next run, or NULL: no more in this run. */
static inline void *
comch_poll_room(struct rte_comch_poll *poll, uint32_t size)
{
	return size <= poll->arena_size - poll->arena_used ? poll->arena + poll->arena_used : NULL;
}
/* Keep what was put there. */
static inline void
comch_poll_keep(struct rte_comch_poll *poll, uint32_t used)
{
	poll->arena_used += RTE_ALIGN_CEIL(used, (uint32_t)RTE_CACHE_LINE_SIZE);
}

/* comch_poll_fd.c, for comch_poll.c */
/* Look at the descriptors: connections, deaths, wake-ups. Were there any? */
bool comch_poll_look(struct rte_comch_poll *poll, uint64_t now);
/* The same, and take back what made the descriptors of classes readable. */
void comch_poll_harvest(struct rte_comch_poll *poll);

#endif /* COMCH_POLL_H */
