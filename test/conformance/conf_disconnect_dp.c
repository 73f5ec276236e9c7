/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Ends of consumers, producers and their connections; group disconnect: what
 * was published is delivered first, then what is outstanding is flushed with
 * an error each.
 */

#include "conf.h"
#include "t_figures.h"

/* With producers or consumers, nothing ends and nothing has changed. */
void
conf_disconnect_busy(void)
{
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	T_EQ(rte_comch_client_stop(p.client), -EBUSY);
	T_EQ(rte_comch_server_stop(p.server), -EBUSY);
	T_EQ(rte_comch_conn_disconnect(p.sconn, NULL), -EBUSY);
	T_EQ(rte_comch_client_state(p.client), RTE_COMCH_STATE_RUNNING);
	T_EQ(rte_comch_server_state(p.server), RTE_COMCH_STATE_RUNNING);
	t_flow_once(&f, 1000, 1);
	/* IDLE ones count as well: it is their existence that matters. */
	t_producer_stop(f.prod);
	T_EQ(rte_comch_client_stop(p.client), -EBUSY);
	t_flow_close(&f);
	T_EQ(rte_comch_client_stop(p.client), -EINPROGRESS);
	t_pair_close(&p);
}

/* Receive what was published, then each posted buffer flushed. */
static void
expect_drain(struct t_flow *f, unsigned int whole, unsigned int flushed)
{
	struct rte_comch_cpl cpl;
	unsigned int i;

	for (i = 0; i < whole; i++) {
		t_recv(f->cons, &cpl);
		T_EQ(cpl.status, 0);
		T_EQ(cpl.cookie, i);
		T_EQ(cpl.len, 64);
		T_VERIFY(f->dst.addr + i * 64, 64, i);
	}
	for (; i < whole + flushed; i++) {
		t_recv(f->cons, &cpl);
		T_EQ(cpl.status, -ECANCELED);
		T_EQ(cpl.cookie, i);
	}
	T_CHECK(t_no_recv(f->cons));
}

static void
publish(struct t_flow *f, unsigned int posted, unsigned int sent)
{
	unsigned int i;

	for (i = 0; i < posted; i++)
		T_EQ(t_post(f, i * 64, 64, i), 1);
	for (i = 0; i < sent; i++) {
		t_fill(f->src.addr + i * 64, 64, i);
		t_submit(f, i * 64, 64, i);
	}
}

/* The first n operations are done: their messages are published, whatever comes now. */
static void
published(struct t_flow *f, unsigned int n)
{
	struct rte_comch_cpl cpl;
	unsigned int i;

	for (i = 0; i < n; i++) {
		t_done(f->prod, &cpl);
		T_EQ(cpl.cookie, i);
		T_EQ(cpl.status, 0);
	}
}

static void
consumer_stop(enum rte_comch_mem_kind kind)
{
	struct t_flow_conf fc = { .kind = kind };
	struct rte_comch_cpl cpl;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, &fc);
	publish(&f, 10, 3);
	published(&f, 3);
	T_EQ(rte_comch_consumer_stop(f.cons), -EINPROGRESS);
	t_settle();
	/* Not IDLE before all is taken. */
	T_EQ(rte_comch_consumer_state(f.cons), RTE_COMCH_STATE_STOPPING);
	T_EQ(rte_comch_consumer_destroy(f.cons), -EBUSY);
	expect_drain(&f, 3, 7);
	T_UNTIL(rte_comch_consumer_state(f.cons) == RTE_COMCH_STATE_IDLE);
	T_UNTIL(t_state_is(f.cons_node, f.cons, RTE_COMCH_STATE_IDLE));
	/* The peer's producers cannot reach it any more. */
	T_UNTIL(t_count(f.prod_node, RTE_COMCH_EVENT_CONSUMER_GONE, NULL) == 1);
	t_submit(&f, 0, 8, 77);
	t_done(f.prod, &cpl);
	T_EQ(cpl.status, -ENOENT);
	t_flow_close(&f);
	t_pair_close(&p);
}

CONF_CASE(disconnect, consumer_stop, consumer_stop(RTE_COMCH_MEM_SEALED))
CONF_CASE(disconnect, consumer_stop_staged, consumer_stop(RTE_COMCH_MEM_HEAP))

/* A stopped consumer has a fresh start under an id of its own. */
void
conf_disconnect_consumer_restart(void)
{
	struct t_flow f;
	struct t_pair p;
	uint32_t id;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	publish(&f, 4, 2);
	published(&f, 2);
	T_EQ(rte_comch_consumer_stop(f.cons), -EINPROGRESS);
	expect_drain(&f, 2, 2);
	T_UNTIL(rte_comch_consumer_state(f.cons) == RTE_COMCH_STATE_IDLE);
	id = f.id;
	t_consumer_run(f.cons);
	f.id = rte_comch_consumer_id(f.cons);
	T_NE(f.id, id);
	T_UNTIL(t_knows_consumer(f.prod_node, f.prod_conn, f.id));
	t_flow_once(&f, 1000, 5);
	t_flow_close(&f);
	t_pair_close(&p);
}

/* The producer's side ends the connection while the consumer has buffers out. */
static void
peer_leaves(enum rte_comch_mem_kind kind, bool to_host)
{
	struct t_flow_conf fc = { .kind = kind, .to_host = to_host };
	const struct t_ev *ev;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, &fc);
	publish(&f, 10, 4);
	published(&f, 4);
	t_producer_end(f.prod);
	f.prod = NULL;
	t_send(f.prod_conn, "bye", 3, 0);
	if (to_host)
		T_EQ(rte_comch_conn_disconnect(p.sconn, NULL), -EINPROGRESS);
	else
		T_EQ(rte_comch_client_stop(p.client), -EINPROGRESS);
	t_settle();
	expect_drain(&f, 4, 6);
	T_UNTIL(rte_comch_consumer_state(f.cons) == RTE_COMCH_STATE_IDLE);
	T_UNTIL(t_count(f.cons_node, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	T_EQ(t_count(f.cons_node, RTE_COMCH_EVENT_MSG, NULL), 1);
	T_UNTIL(t_state_is(f.cons_node, f.cons, RTE_COMCH_STATE_IDLE));
	ev = t_state_ev(f.cons_node, f.cons);
	T_LE(ev->e.status, 0);
	conf_check_last(f.cons_node, f.cons_conn);
	T_EQ(rte_comch_consumer_start(f.cons), -ECONNRESET);
	t_flow_close(&f);
	t_pair_close(&p);
}

CONF_CASE(disconnect, peer_leaves_consumer,
	peer_leaves(RTE_COMCH_MEM_SEALED, false);
	peer_leaves(RTE_COMCH_MEM_SEALED, true))

CONF_CASE(disconnect, peer_leaves_consumer_staged, peer_leaves(RTE_COMCH_MEM_HEAP, false))

/* The consumer's side ends the connection; the producer is told. */
void
conf_disconnect_peer_leaves_producer(void)
{
	struct rte_comch_producer *late;
	struct rte_comch_cpl cpl;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	late = rte_comch_producer_create(f.prod_conn,
			&(struct rte_comch_producer_conf){
				.conf_size = sizeof(struct rte_comch_producer_conf) });
	T_CHECK(late != NULL);
	publish(&f, 4, 4);
	t_settle();
	t_consumer_end(f.cons);
	f.cons = NULL;
	T_EQ(rte_comch_conn_disconnect(p.sconn, NULL), -EINPROGRESS);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	t_settle();
	/* What was done stays done. */
	published(&f, 4);
	t_submit(&f, 0, 8, 77);
	t_done(f.prod, &cpl);
	T_EQ(cpl.cookie, 77);
	T_EQ(cpl.status, -ECONNRESET);
	T_EQ(rte_comch_producer_start(late), -ECONNRESET);
	T_EQ(rte_comch_producer_destroy(late), 0);
	t_producer_end(f.prod);
	f.prod = NULL;
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE);
	t_flow_close(&f);
	t_pair_connect(&p);
	t_pair_close(&p);
}

static unsigned int
nb_done(struct rte_comch_producer *prod)
{
	struct rte_comch_cpl cpls[32];

	return rte_comch_producer_done_burst(prod, cpls, RTE_DIM(cpls));
}

/* A producer whose connection is lost is IDLE once all that it has taken is complete. */
void
conf_disconnect_idle_is_complete(void)
{
	const unsigned int nb = 8;
	unsigned int n = 0;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	publish(&f, nb, nb);
	p.host->paused = true;
	t_consumer_end(f.cons);
	f.cons = NULL;
	T_EQ(rte_comch_conn_disconnect(p.sconn, NULL), -EINPROGRESS);
	T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	p.host->paused = false;
	T_UNTIL((n += nb_done(f.prod),
		rte_comch_producer_state(f.prod) == RTE_COMCH_STATE_IDLE));
	n += nb_done(f.prod);
	T_EQ(n, nb);
	t_flow_close(&f);
	t_pair_close(&p);
}

/* Stop a producer in the middle of a message: it waits for the rest. */
static bool
stop_in_stream(struct rte_comch_producer *prod)
{
	int rc = rte_comch_producer_stop(prod);

	/* Without a staging ring there may be no rest. */
	if (rc == 0 && !t_stages_heap())
		return false;
	T_EQ(rc, -EINPROGRESS);
	T_EQ(rte_comch_producer_state(prod), RTE_COMCH_STATE_STOPPING);
	return true;
}

/* A stream of a staged message that the consumer's stop cuts off. */
void
conf_disconnect_stream_cut(void)
{
	struct t_flow_conf fc = {
		.kind = RTE_COMCH_MEM_HEAP, .size = 512 * 1024,
		.cons.staging_size = 16 * 1024,
	};
	struct rte_comch_cpl in, out;
	struct t_flow f;
	struct t_pair p;
	bool in_stream;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, &fc);
	T_EQ(t_post(&f, 0, 400000, 1), 1);
	t_submit(&f, 0, 400000, 1);
	in_stream = stop_in_stream(f.prod);
	/* done_burst() and recv_burst() carry it on. */
	t_both(&f, &in, &out);
	T_EQ(in.status, 0);
	T_EQ(in.len, 400000);
	T_EQ(out.status, 0);
	T_UNTIL(rte_comch_producer_state(f.prod) == RTE_COMCH_STATE_IDLE);
	if (in_stream) {
		T_UNTIL(t_state_ev(f.prod_node, f.prod) != NULL);
		T_EQ(t_state_ev(f.prod_node, f.prod)->e.obj_type, RTE_COMCH_OBJ_PRODUCER);
	}
	/* No call continues this one: the producer gives up, the stop ends. */
	T_EQ(rte_comch_producer_start(f.prod), 0);
	T_EQ(t_post(&f, 0, 400000, 2), 1);
	t_submit(&f, 0, 400000, 2);
	stop_in_stream(f.prod);
	T_UNTIL(rte_comch_producer_state(f.prod) == RTE_COMCH_STATE_IDLE ||
			rte_comch_producer_done_burst(f.prod, &out, 1) == 1);
	t_producer_end(f.prod);
	f.prod = NULL;
	t_flow_close(&f);
	t_pair_close(&p);
}

/* Coming and going leaves nothing behind. */
void
conf_disconnect_no_leak(void)
{
	const unsigned int rounds = t_repeat(150);
	unsigned int fds = 0, i;
	uint64_t rss = 0;
	struct t_flow f;
	struct t_pair p;

	t_pair_ends(&p, NULL);
	for (i = 0; i < rounds; i++) {
		t_forget(p.dpu);
		t_forget(p.host);
		t_pair_connect(&p);
		t_flow_open(&f, &p, &(struct t_flow_conf){ .size = 4096,
			.to_host = i % 2 == 0,
			.kind = i % 3 == 0 ? RTE_COMCH_MEM_HEAP : RTE_COMCH_MEM_SEALED });
		t_flow_once(&f, 4096, i);
		t_flow_close(&f);
		t_pair_disconnect(&p);
		t_settle();
		if (i == rounds / 3) {
			/* Not those that a thread of the driver is about to close. */
			fds = t_figures_least().fds;
			rss = t_rss_kb();
		}
	}
	T_UNTIL(t_fd_count() == fds);
	if (!t_sanitized() && !t_emulated())
		T_LT(t_rss_kb(), rss + 2048);
	t_pair_close(&p);
}
