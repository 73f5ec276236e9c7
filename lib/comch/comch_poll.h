/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_POLL_H
#define COMCH_POLL_H

/*
 * The poll, as the rest of the library sees it.
 *
 * What it does in a run, in this order: free what was buried a run ago; take
 * the mailbox; serve noted objects; once a millisecond (or woken) look at the
 * descriptors; make consumers that earlier runs put off; then receive frames
 * from the hot connections, all of them, and from a few cold ones in turn; and
 * from all that are ordered.
 */

#include <pthread.h>
#include <bsd/sys/queue.h>

#include "rte_comch_poll.h"
#include "comch_obj.h"
#include "comch_order.h"

/* What a descriptor in the poll's epoll set stands for. */
enum comch_fd_type {
	COMCH_FD_MAILBOX,
	COMCH_FD_TIMER,    /* of handshakes, while asleep */
	COMCH_FD_LISTENER, /* of a server */
	COMCH_FD_WATCH,    /* of a server: can clients find it? */
	COMCH_FD_LINK,     /* of a connection */
	COMCH_FD_QUEUE,    /* wake socket of a producer or consumer */
};

/* Lives in the object that owns the descriptor. */
struct comch_fd {
	enum comch_fd_type type;
	int fd;              /* -1: not in the set */
	uint32_t classes;    /* RTE_COMCH_POLL_*: whom it may wake */
	struct comch_obj *obj;
	TAILQ_ENTRY(comch_fd) next;
};

/*
 * Something else that the poll sleeps for: an end of a MsgQ. It has no events and
 * no descriptor; who wakes it calls rte_comch_poll_notify(), after a light fence.
 */
struct comch_poll_guest {
	uint32_t classes;    /* RTE_COMCH_POLL_* */
	void (*arm)(struct comch_poll_guest *guest);
	bool (*pending)(struct comch_poll_guest *guest);
	TAILQ_ENTRY(comch_poll_guest) next;
};

TAILQ_HEAD(comch_poll_guest_list, comch_poll_guest);
STAILQ_HEAD(comch_obj_list, comch_obj);
TAILQ_HEAD(comch_fd_list, comch_fd);
TAILQ_HEAD(comch_conn_list, rte_comch_conn);
TAILQ_HEAD(comch_queue_list, comch_queue);

#define COMCH_POLL_NB_CLASSES 3
/* Bytes of messages that one run returns at most, beside the last one. */
#define COMCH_POLL_ARENA (UINT32_C(256) << 10)

struct rte_comch_poll {
	/* read by anyone, written by anyone */
	struct comch_obj *mailbox;   /* atomic stack */
	uint32_t sleeping;           /* 1: notes write the eventfd; atomic */
	uint32_t notified;           /* 1: a run is wanted; atomic */
	uint32_t nb_attached;        /* objects not destroyed; atomic */
	uint32_t nb_guests;          /* of them in guests; atomic */
	/* the poll's thread */
	uint64_t run_no __rte_cache_aligned;
	uint32_t guard;              /* see comch_guard.h */
	uint64_t next_look;          /* TSC of the next look at descriptors */
	uint64_t look_cycles;
	struct comch_obj_list work;
	struct comch_conn_list hot;
	struct comch_conn_list cold;
	struct comch_order_poll order;   /* has connections that are neither */
	struct comch_conn_list owing;    /* connections that owe the peer a credit */
	struct comch_conn_list waiting;  /* handshakes and others with a deadline */
	struct comch_conn_list new_cons; /* have a new consumer that was put off */
	uint64_t region_run;             /* the run that made a record region last */
	uint64_t region_bytes;           /* of those that it made */
	uint64_t free_run;               /* the run that nb_freed counts in */
	uint32_t nb_freed;               /* regions freed in it */
	bool free_again;                 /* there were more */
	struct comch_queue_list queues;  /* guarded by lock */
	struct comch_poll_guest_list guests; /* guarded by lock */
	struct comch_obj *reap;          /* buried, freed in the next run */
	uint8_t *arena;                  /* messages of this run */
	uint32_t arena_used;
	uint32_t arena_size;
	bool accept_again;               /* a listener has more, or had no descriptor */
	bool armed;
	uint32_t armed_classes;
	int event_fd;                    /* private: mailbox while sleeping */
	struct comch_fd mailbox_fd;
	struct comch_fd timer_fd;
	int epoll_fd;                    /* all classes */
	int class_fd[COMCH_POLL_NB_CLASSES]; /* -1 until asked for */
	struct comch_fd_list fds;
	pthread_mutex_t lock;            /* queues, guests, fds: other threads attach them */
	int socket_id;
	char name[RTE_COMCH_DEV_NAME_SIZE];
	struct rte_comch_poll_stats stats;
	TAILQ_ENTRY(rte_comch_poll) next; /* all polls; see comch_stats.c */
};

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

/*
 * May this run free n regions of peers more? They are syscalls, and peers decide
 * how many there are. False: call again in the next run.
 */
bool comch_poll_may_free(struct rte_comch_poll *poll, uint32_t n);
/* It was allowed, and could not be. */
static inline void
comch_poll_not_freed(struct rte_comch_poll *poll, uint32_t n)
{
	poll->nb_freed -= n;
}

/* Count an object in and out, so that a poll in use is not destroyed. */
void comch_poll_attach(struct rte_comch_poll *poll);
/* Add a descriptor. Returns 0 or a negative errno. */
int comch_poll_fd_add(struct rte_comch_poll *poll, struct comch_fd *cfd);
void comch_poll_fd_del(struct rte_comch_poll *poll, struct comch_fd *cfd);
void comch_poll_guest_add(struct rte_comch_poll *poll, struct comch_poll_guest *guest);
void comch_poll_guest_del(struct rte_comch_poll *poll, struct comch_poll_guest *guest);
/* Room for size bytes until the next run, or NULL: no more in this run. */
void *comch_poll_room(struct rte_comch_poll *poll, uint32_t size);
/* Keep what was put there. */
void comch_poll_keep(struct rte_comch_poll *poll, uint32_t used);

#endif /* COMCH_POLL_H */
