/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_OBJ_H
#define COMCH_OBJ_H

/*
 * The base of all objects: a state, a poll, queued events, and a note, by which any
 * thread requests service.
 *
 * A note pushes the object on the poll's mailbox, a lockless stack that the poll
 * takes as a whole. An object is on it at most once. The poll then calls the
 * object's service function in its own thread.
 */

#include <stdbool.h>
#include <stdint.h>
#include <bsd/sys/queue.h>

#include <rte_spinlock.h>

#include "rte_comch.h"
#include "sdk/comch_compat.h"

struct comch_obj;
struct comch_run;

/* A change of state whose event is not returned yet. */
struct comch_obj_ev {
	uint8_t prev;
	uint8_t next;
	int32_t status;
	const char *text; /* static, or lives as long as the object */
};

/* STARTING->RUNNING, RUNNING->STOPPING, STOPPING->IDLE, and one spare. */
#define COMCH_OBJ_EVS 4

/*
 * Both flags are in one word, so that an object is marked dead and noted in one step:
 * between two steps, the poll could service an older note and free the object.
 */
#define COMCH_NOTE_IN   UINT32_C(1) /* in the mailbox */
#define COMCH_NOTE_DEAD UINT32_C(2) /* destroyed: the poll frees it */

struct comch_obj {
	/* The order leaves no gaps: thousands of connections are such objects. */
	enum rte_comch_obj_type type;
	uint32_t state;               /* enum rte_comch_state; atomic */
	void *self;                   /* the object as the application knows it */
	struct rte_comch_poll *poll;
	uint64_t user_data;           /* atomic */
	/*
	 * Process the object and add events. True: call again in the next run.
	 * Called in the poll's thread after a note.
	 */
	bool (*service)(struct comch_obj *obj, struct comch_run *run);
	/* Free the object; called one run after it was marked dead. */
	void (*free)(struct comch_obj *obj);
	uint32_t noted;               /* COMCH_NOTE_*; atomic */
	bool cannot_wake;             /* counted in poll->nb_cannot_wake */
	bool working;                 /* in poll->work */
	struct comch_obj *note_next;
	STAILQ_ENTRY(comch_obj) work; /* in poll->work, the objects to service */
	rte_spinlock_t ev_lock;
	uint32_t nb_evs;
	struct comch_obj_ev ev[COMCH_OBJ_EVS];
};

/* A call of rte_comch_poll_run(). */
struct comch_run {
	struct rte_comch_poll *poll;
	struct rte_comch_event *events;
	uint16_t n;
	uint16_t max;
};

static inline bool
comch_run_full(const struct comch_run *run)
{
	return run->n == run->max;
}

void comch_obj_init(struct comch_obj *obj, enum rte_comch_obj_type type, void *self,
		struct rte_comch_poll *poll, uint64_t user_data);

static inline bool
comch_obj_is_dead(const struct comch_obj *obj)
{
	/* No model: poll_take_mailbox() has acquired it. */
	return (comch_load_acquire(&obj->noted) & COMCH_NOTE_DEAD) != 0;
}

static inline enum rte_comch_state
comch_obj_state(const struct comch_obj *obj)
{
	/* Pairs with comch_obj_state_set(). Model: publish.pml, find. */
	return (enum rte_comch_state)comch_load_acquire(&obj->state);
}

/* Change the state without an event: the API call returns it. */
void comch_obj_state_set(struct comch_obj *obj, enum rte_comch_state next);
/* Change the state and queue a STATE event. Any thread. */
void comch_obj_state_event(struct comch_obj *obj, enum rte_comch_state next,
		int status, const char *text);
/* Return queued STATE events until the run is full. True: none is left. */
bool comch_obj_events(struct comch_obj *obj, struct comch_run *run,
		struct rte_comch_conn *conn);
/* The next free event, with its common fields set. The run must not be full. */
struct rte_comch_event *comch_run_add(struct comch_run *run, enum rte_comch_event_type type,
		struct comch_obj *obj, struct rte_comch_conn *conn);
/* Mark an object dead: its poll frees it one run later. The caller's last access. */
void comch_obj_free_later(struct comch_obj *obj);

/* Is a change of state legal? */
bool comch_obj_may(enum rte_comch_state prev, enum rte_comch_state next);

/*
 * Copy a configuration of an application that may be compiled against an older or
 * newer header: missing members are zero, and members that are not known must be.
 */
int comch_obj_conf(void *dst, size_t size, const void *src, const char *what);

#endif /* COMCH_OBJ_H */
