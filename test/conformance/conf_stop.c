/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Stops in the middle of things; group disconnect. */

#include "conf.h"

/* Large messages under way. */

#define NB_LARGE 4
/* Each message begins so much later in the same source, and so differs. */
#define SHIFT 8

/** Large messages from one source, each to a buffer of its own. */
struct large {
	struct t_flow f;
	uint32_t len;
	uint64_t sent;     /* operations that were taken */
	uint64_t done;     /* completions of the producer */
	uint64_t done_ok;  /* those with status 0 */
	uint64_t back;     /* buffers that the consumer has returned */
	uint64_t received; /* those with a message */
};

static void
large_open(struct large *l, const struct t_pair *p, enum rte_comch_mem_kind kind, uint32_t len)
{
	const struct t_flow_conf fc = { .kind = kind, .size = (size_t)NB_LARGE * len };
	uint64_t i;

	*l = (struct large){ .len = len };
	t_flow_open(&l->f, p, &fc);
	t_fill(l->f.src.addr, len + NB_LARGE * SHIFT, 1);
	for (i = 0; i < NB_LARGE; i++)
		T_EQ(t_post(&l->f, i * len, len, i), 1);
}

/* Offer the messages that are left; have all been taken? */
static bool
large_put(struct large *l)
{
	while (l->sent < NB_LARGE && t_put(&l->f, l->sent * SHIFT, l->len, l->sent) == 1)
		l->sent++;
	return l->sent == NB_LARGE;
}

/* Have all operations completed? Each does so once, in order. */
static bool
large_done(struct large *l)
{
	struct rte_comch_cpl cpl;

	while (rte_comch_producer_done_burst(l->f.prod, &cpl, 1) == 1) {
		T_LT(l->done, l->sent);
		T_EQ(cpl.cookie, l->done);
		T_LE(cpl.status, 0);
		l->done++;
		l->done_ok += cpl.status == 0;
	}
	return l->done == l->sent;
}

/* Take what the consumer returns: whole messages, then buffers that were not used. */
static void
large_recv(struct large *l)
{
	struct rte_comch_cpl cpl;

	while (rte_comch_consumer_recv_burst(l->f.cons, &cpl, 1) == 1) {
		T_LT(l->back, NB_LARGE);
		T_EQ(cpl.cookie, l->back);
		if (cpl.status == 0) {
			T_LT(l->back, l->sent);
			T_EQ(cpl.len, l->len);
			T_EQ(memcmp(l->f.dst.addr + l->back * l->len,
				l->f.src.addr + l->back * SHIFT, l->len), 0);
			l->received++;
		} else {
			T_EQ(cpl.status, -ECANCELED);
		}
		l->back++;
	}
}

/* The producer has stopped, with an event if it did not at once. */
static bool
large_stopped(struct large *l, bool event)
{
	return large_done(l) && rte_comch_producer_state(l->f.prod) == RTE_COMCH_STATE_IDLE &&
		(!event || t_state_is(l->f.prod_node, l->f.prod, RTE_COMCH_STATE_IDLE));
}

/*
 * A producer is stopped with large messages under way. The receiver either goes on, or
 * does nothing until the producer has stopped.
 */
static void
producer_stop(enum rte_comch_mem_kind kind, uint32_t len, bool receives)
{
	struct large l;
	struct t_pair p;
	bool event;
	int rc;

	t_pair_open(&p, NULL);
	large_open(&l, &p, kind, len);
	/* A stream to memory that is not shareable may hold the messages behind it. */
	T_UNTIL(large_put(&l) || (kind == RTE_COMCH_MEM_HEAP && l.sent > 0));
	rc = rte_comch_producer_stop(l.f.prod);
	event = rc == -EINPROGRESS;
	if (!event)
		T_EQ(rc, 0);
	T_UNTIL((receives ? large_recv(&l) : (void)0, large_stopped(&l, event)));
	/* What is done is delivered, without help of the producer. */
	T_UNTIL((large_recv(&l), l.received >= l.done_ok));
	T_EQ(rte_comch_consumer_stop(l.f.cons), -EINPROGRESS);
	T_UNTIL((large_recv(&l), l.back == NB_LARGE));
	T_UNTIL(rte_comch_consumer_state(l.f.cons) == RTE_COMCH_STATE_IDLE);
	T_CHECK(t_no_recv(l.f.cons));
	T_CHECK(t_no_done(l.f.prod));
	/* Neither has harmed the connection. */
	t_no_end(l.f.prod_node, NULL);
	t_no_end(l.f.cons_node, NULL);
	t_flow_close(&l.f);
	t_pair_close(&p);
}

CONF_CASE(disconnect, producer_stop_large,
	producer_stop(RTE_COMCH_MEM_SEALED, 64 * 1024 * 1024, true))
CONF_CASE(disconnect, producer_stop_large_idle,
	producer_stop(RTE_COMCH_MEM_SEALED, 64 * 1024 * 1024, false))
/* A driver may keep a copy of each. */
CONF_CASE(disconnect, producer_stop_large_staged,
	producer_stop(RTE_COMCH_MEM_HEAP, 16 * 1024 * 1024, true);
	producer_stop(RTE_COMCH_MEM_HEAP, 16 * 1024 * 1024, false))

/* Post, message, stop. */

#define NB_BUFS 8

/** A consumer that is stopped right after it posted, and its peer. */
struct hasty {
	struct t_flow f;
	bool sends;        /* the peer sends as soon as it has the message */
	uint64_t sent;
	uint64_t done;
	uint64_t done_ok;
	uint64_t back;
	uint64_t received;
};

/* The peer's next move: once it knows of the message, it may use the buffers. */
static void
hasty_peer(struct hasty *h)
{
	struct rte_comch_cpl cpl;

	if (h->sends && h->sent < NB_BUFS &&
			t_count(h->f.prod_node, RTE_COMCH_EVENT_MSG, h->f.prod_conn) == 1 &&
			t_put(&h->f, h->sent * 64, 64, h->sent) == 1)
		h->sent++;
	while (rte_comch_producer_done_burst(h->f.prod, &cpl, 1) == 1) {
		T_LT(h->done, h->sent);
		T_EQ(cpl.cookie, h->done);
		T_LE(cpl.status, 0);
		h->done++;
		h->done_ok += cpl.status == 0;
	}
}

/* Messages come before the buffers that are canceled. */
static void
hasty_recv(struct hasty *h)
{
	struct rte_comch_cpl cpl;

	while (rte_comch_consumer_recv_burst(h->f.cons, &cpl, 1) == 1) {
		T_LT(h->back, NB_BUFS);
		T_EQ(cpl.cookie, h->back);
		if (cpl.status == 0) {
			T_EQ(h->received, h->back);
			T_VERIFY(h->f.dst.addr + h->back * 64, 64, h->back);
			h->received++;
		} else {
			T_EQ(cpl.status, -ECANCELED);
		}
		h->back++;
	}
}

/* Has the consumer ended on both sides, and has each operation? */
static bool
hasty_ended(struct hasty *h)
{
	hasty_peer(h);
	hasty_recv(h);
	return rte_comch_consumer_state(h->f.cons) == RTE_COMCH_STATE_IDLE &&
		t_count(h->f.prod_node, RTE_COMCH_EVENT_CONSUMER_GONE, NULL) == 1 &&
		h->done == h->sent;
}

/* Post, send and stop without a run between, or with some on either side. */
static void
hasty_stop(struct hasty *h, unsigned int runs)
{
	unsigned int i;

	for (i = 0; i < NB_BUFS; i++)
		T_EQ(t_post(&h->f, i * 64, 64, i), 1);
	t_send(h->f.cons_conn, "posted", 6, 1);
	for (i = 0; i < (runs & 3); i++)
		t_step(h->f.cons_node);
	for (i = 0; i < runs >> 2; i++) {
		t_step(h->f.prod_node);
		hasty_peer(h);
	}
	T_EQ(rte_comch_consumer_stop(h->f.cons), -EINPROGRESS);
}

static void
hasty_check(const struct hasty *h)
{
	const struct t_ev *msg, *gone;

	T_EQ(h->back, NB_BUFS);
	T_GE(h->received, h->done_ok);
	T_LE(h->received, h->sent);
	/* The message was sent before the stop. */
	T_EQ(t_count(h->f.prod_node, RTE_COMCH_EVENT_MSG, NULL), 1);
	msg = t_find(h->f.prod_node, RTE_COMCH_EVENT_MSG, NULL, 0);
	gone = t_find(h->f.prod_node, RTE_COMCH_EVENT_CONSUMER_GONE, NULL, 0);
	T_LT(t_pos(h->f.prod_node, msg), t_pos(h->f.prod_node, gone));
	T_EQ(msg->len, 6);
	T_EQ(gone->e.consumer.id, h->f.id);
}

/* A fresh start for the next round. */
static void
hasty_restart(struct hasty *h)
{
	T_UNTIL(t_count(h->f.cons_node, RTE_COMCH_EVENT_SENT, NULL) == 1);
	T_UNTIL(t_state_is(h->f.cons_node, h->f.cons, RTE_COMCH_STATE_IDLE));
	t_forget(h->f.cons_node);
	t_forget(h->f.prod_node);
	h->sent = h->done = h->done_ok = h->back = h->received = 0;
	t_consumer_run(h->f.cons);
	h->f.id = rte_comch_consumer_id(h->f.cons);
	T_UNTIL(t_knows_consumer(h->f.prod_node, h->f.prod_conn, h->f.id));
}

static void
post_message_stop(bool to_host, bool sends, bool sleepy)
{
	const struct t_flow_conf fc = { .to_host = to_host };
	struct hasty h = { .sends = sends };
	unsigned int i, runs;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&h.f, &p, &fc);
	for (i = 0; i < NB_BUFS; i++)
		t_fill(h.f.src.addr + i * 64, 64, i);
	t_forget(h.f.prod_node);
	t_forget(h.f.cons_node);
	for (runs = 0; runs < 16; runs++) {
		hasty_stop(&h, runs);
		if (sleepy)
			T_SLEEP_UNTIL(hasty_ended(&h));
		else
			T_UNTIL(hasty_ended(&h));
		hasty_check(&h);
		hasty_restart(&h);
	}
	t_flow_close(&h.f);
	t_pair_close(&p);
}

CONF_CASE(disconnect, post_message_stop,
	post_message_stop(false, false, false);
	post_message_stop(true, false, false))
CONF_CASE(disconnect, post_message_stop_used,
	post_message_stop(false, true, false);
	post_message_stop(true, true, false))
CONF_CASE(disconnect, post_message_stop_asleep,
	post_message_stop(false, false, true);
	post_message_stop(true, true, true))
