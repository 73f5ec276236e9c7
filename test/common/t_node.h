/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef T_NODE_H
#define T_NODE_H

/*
 * A node is a poll and the record of all events that came out of it. Tests
 * step nodes by hand, one run at a time, and so choose the interleaving; or
 * they wait for a condition with T_UNTIL(), which steps all nodes of the
 * thread in turn.
 */

#include <rte_comch.h>
#include <rte_comch_poll.h>

#include "t.h"

/** Room of one run, in events. */
#define T_BURST 32

/** A recorded event. The message and the text are copies. */
struct t_ev {
	struct rte_comch_event e; /**< Its pointers are for comparing only. */
	uint8_t *data;
	uint32_t len;
	char text[RTE_COMCH_REASON_SIZE * 2]; /**< Empty if there was none. */
};

struct t_node {
	struct rte_comch_poll *poll;
	struct t_ev *evs;
	unsigned int nb_evs;
	unsigned int cap;
	unsigned int nb_of[RTE_COMCH_EVENT_MR_ADDED + 1]; /**< Of each type. */
	bool paused;             /**< T_UNTIL() leaves it out. */
	void (*hook)(struct t_node *node, const struct rte_comch_event *ev);
	void *hook_arg;
	struct t_node *next;
};

/* Nodes are known to the thread that made them. */
struct t_node *t_node_new(void);
/* The poll must be free of objects. */
void t_node_free(struct t_node *node);

/* One run with room for max events; they are recorded. */
uint16_t t_step_max(struct t_node *node, uint16_t max);
uint16_t t_step(struct t_node *node);
void t_steps(struct t_node *node, unsigned int n);
/* Step all nodes of this thread that are not paused, once. */
uint16_t t_step_all(void);

void t_forget(struct t_node *node);

/* The i-th recorded event of a type, of a connection (NULL: of any); or NULL. */
const struct t_ev *t_find(const struct t_node *node, enum rte_comch_event_type type,
		const struct rte_comch_conn *conn, unsigned int i);
unsigned int t_count(const struct t_node *node, enum rte_comch_event_type type,
		const struct rte_comch_conn *conn);
/* The connection (NULL: each one) has not ended; if it has, fail with the reason. */
void t_no_end(const struct t_node *node, const struct rte_comch_conn *conn);
/* Position in the record of an event found by t_find(). */
unsigned int t_pos(const struct t_node *node, const struct t_ev *ev);
/* An object was created: events of one that had its address are no longer found by it. */
void t_born(const void *obj);
/* The last STATE event of an object, or NULL. */
const struct t_ev *t_state_ev(const struct t_node *node, const void *obj);
/* Did the last STATE event of an object say so? */
bool t_state_is(const struct t_node *node, const void *obj, enum rte_comch_state next);
/* Only what the headers promise came out of the poll; messages have up to max_len bytes. */
void t_check_events(const struct t_node *node, uint32_t max_len);
/* Write the record to stderr, for people. */
void t_node_dump(const struct t_node *node);

/* Step all nodes; show the record of each if the deadline is over. */
void t_until_step(const struct t_wait *wait);

/* Step all nodes until the condition holds. */
#define T_UNTIL(cond) T_WAIT_STEP(t_until_step, cond)

/* Step all nodes; false: what was on its way has arrived. */
bool t_settle_step(struct t_settling *s);

/* Step all nodes until what is on its way has arrived: before checking that
 * something did NOT happen, or an exact count. Counts runs, and a span of time
 * for the control sockets, which are looked at every so often.
 */
void t_settle(void);

/* The same, and the condition must stay false. A burst call is a condition to
 * look at in each run: what it takes may need several calls to arrive.
 */
#define T_NEVER(cond) \
	do { \
		struct t_settling s_ = t_settle_begin(); \
		do { \
			if (cond) \
				T_FAIL("unexpected: %s", #cond); \
		} while (t_settle_step(&s_)); \
	} while (0)

/*
 * Event-driven: run all nodes until nothing comes, arm them, sleep on their
 * fds until one is readable, and so on until the condition holds. A lost
 * wake-up shows as a time-out.
 */
void t_sleep_step(const struct t_wait *wait);

#define T_SLEEP_UNTIL(cond) T_WAIT_STEP(t_sleep_step, cond)

#endif /* T_NODE_H */
