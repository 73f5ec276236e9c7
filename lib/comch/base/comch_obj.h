/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_OBJ_H
#define COMCH_OBJ_H

/*
 * What all objects have in common: a state, a poll, events that wait, and a
 * note by which any thread asks the poll to look at the object.
 *
 * A note is a place in the poll's mailbox, a stack that many threads push on
 * without locks and the poll takes whole. An object is on it at most once.
 * The poll then calls the object's service function in its own thread.
 */

#include <stdbool.h>
#include <stdint.h>
#include <bsd/sys/queue.h>

#include <rte_spinlock.h>

#include "rte_comch.h"
#include "sdk/comch_compat.h"

struct comch_obj;
struct comch_run;

/* A change of state that was not returned yet. */
struct comch_obj_ev {
	uint8_t prev;
	uint8_t next;
	int32_t status;
	const char *text; /* static, or lives as long as the object */
};

/* STARTING->RUNNING, RUNNING->STOPPING, STOPPING->IDLE, and one to spare. */
#define COMCH_OBJ_EVS 4

/*
 * One word, so that an object is declared dead and handed to its poll in one
 * step: between two, the poll could serve an older note and free it.
 */
#define COMCH_NOTE_IN   UINT32_C(1) /* in the mailbox */
#define COMCH_NOTE_DEAD UINT32_C(2) /* destroyed: the poll frees it */

struct comch_obj {
	enum rte_comch_obj_type type;
	void *self;                   /* the object as the application knows it */
	uint32_t state;               /* enum rte_comch_state; atomic */
	struct rte_comch_poll *poll;
	uint64_t user_data;           /* atomic */
	/*
	 * Do what there is to do and add events. True: there is more, call again.
	 * Called in the poll's thread after a note.
	 */
	bool (*service)(struct comch_obj *obj, struct comch_run *run);
	/* Free the object; a run after it was declared dead. */
	void (*free)(struct comch_obj *obj);
	uint32_t noted;               /* COMCH_NOTE_*; atomic */
	struct comch_obj *note_next;
	STAILQ_ENTRY(comch_obj) work; /* in the poll's list of what to serve */
	bool working;                 /* is in that list */
	rte_spinlock_t ev_lock;
	struct comch_obj_ev ev[COMCH_OBJ_EVS];
	uint32_t nb_evs;
};

/* A poll_run() under way. */
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
	return (comch_load_acquire(&obj->noted) & COMCH_NOTE_DEAD) != 0;
}

static inline enum rte_comch_state
comch_obj_state(const struct comch_obj *obj)
{
	return (enum rte_comch_state)comch_load_acquire(&obj->state);
}

/* Change the state without an event: the caller's return value tells. */
void comch_obj_state_set(struct comch_obj *obj, enum rte_comch_state next);
/* Change the state and queue an event that says so. Any thread. */
void comch_obj_state_event(struct comch_obj *obj, enum rte_comch_state next,
		int status, const char *text);
/* Return queued state events while there is room. True: none is left. */
bool comch_obj_events(struct comch_obj *obj, struct comch_run *run,
		struct rte_comch_conn *conn);
/* The next free event, its common fields set. There must be room. */
struct rte_comch_event *comch_run_add(struct comch_run *run, enum rte_comch_event_type type,
		struct comch_obj *obj, struct rte_comch_conn *conn);
/* Declare an object dead; its poll frees it. The last use by the caller. */
void comch_obj_bury(struct comch_obj *obj);

/* Legal state changes; all others are refused with a log line. */
bool comch_obj_may(enum rte_comch_state prev, enum rte_comch_state next);

/*
 * Copy a configuration that the application may have compiled against an
 * older or newer header: what it does not have is zero.
 */
int comch_obj_conf(void *dst, size_t size, const void *src, const char *what);

#endif /* COMCH_OBJ_H */
