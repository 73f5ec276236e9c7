/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * What each kind of pipeline must do: forward all in order, count exactly, and neither lose
 * nor leak an mbuf when the peer is slow, stops or disconnects.
 */

#include <rte_comch_stats.h>

#include "t_main.h"
#include "u_pipe.h"

#define NB_ECHO 10000

/** A pipeline of a kind, with its pair. */
struct rig {
	struct u_pipe u;
	const struct u_pipe_kind *kind;
	void *pl;
};

static void
rig_open(struct rig *r, const struct u_pipe_kind *kind, uint32_t posted, uint32_t queue_size)
{
	r->kind = kind;
	u_pipe_open(&r->u, posted);
	r->pl = kind->create(&r->u, queue_size);
	T_CHECK(r->pl != NULL);
}

static void
rig_close(struct rig *r)
{
	if (r->pl != NULL)
		r->kind->free(r->pl);
	u_pipe_close(&r->u);
}

/* Once: the pipeline and all polls. */
static uint16_t
step(struct rig *r)
{
	r->kind->run(r->pl);
	return t_step_all();
}

/* Send until the pipeline has received n mbufs in all; the host receives nothing. */
static void
feed(struct rig *r, uint64_t n)
{
	while (r->u.sent < n) {
		u_pipe_send(&r->u, (uint16_t)RTE_MIN(n - r->u.sent, 32u));
		step(r);
	}
	T_WAIT(step(r), r->u.in.nb_received == n);
}

/* Receive until the host has n mbufs in all. */
static void
drain(struct rig *r, uint64_t n)
{
	T_WAIT(step(r) + u_pipe_recv(&r->u), r->u.got >= n);
	T_SETTLE(step(r) + u_pipe_recv(&r->u));
	T_EQ(r->u.got, n);
}

static void
check_stats(struct rig *r, uint64_t received, uint64_t sent, uint64_t dropped)
{
	struct u_pipe_stats st = { 0 };

	T_EQ(r->u.in.nb_received, received);
	T_EQ(r->u.out.nb_sent, sent);
	T_EQ(r->u.out.nb_dropped, dropped);
	T_EQ(r->u.out.nb_pending, received - sent - dropped);
	r->kind->stats(r->pl, &st);
	T_EQ(st.received, received);
	T_EQ(st.sent, sent);
	T_EQ(st.dropped, dropped);
}

/* behind each case: its kind */

static void
echo(const struct u_pipe_kind *kind)
{
	struct u_pipe_stats st = { 0 };
	struct rte_comch_producer_stats ps;
	struct rig r;

	rig_open(&r, kind, U_PIPE_POSTED, 0);
	while (r.u.got < NB_ECHO) {
		if (r.u.sent < NB_ECHO && r.u.sent - r.u.got < U_PIPE_POSTED)
			u_pipe_send(&r.u, (uint16_t)RTE_MIN(NB_ECHO - r.u.sent,
					1 + r.u.sent % 50));
		T_WAIT(step(&r), r.u.in.nb_received == r.u.sent);
		u_pipe_recv(&r.u);
	}
	check_stats(&r, NB_ECHO, NB_ECHO, 0);
	T_EQ(rte_comch_producer_stats_get(r.u.dpu_prod, &ps), 0);
	T_EQ(ps.errors, 0);
	if (kind->counts_bytes) {
		kind->stats(r.pl, &st);
		T_EQ(st.rx_bytes, r.u.sent_bytes);
		T_EQ(st.tx_bytes, r.u.got_bytes);
	}
	rig_close(&r);
}

/* The peer has posted few buffers: the rest waits, and nothing is dropped. */
static void
short_bursts(const struct u_pipe_kind *kind)
{
	struct rig r;

	rig_open(&r, kind, 32, 0);
	feed(&r, 200);
	T_SETTLE(step(&r));
	check_stats(&r, 200, 32, 0);
	T_EQ(r.u.out.nb_pending, 168);
	drain(&r, 200);
	check_stats(&r, 200, 200, 0);
	rig_close(&r);
}

/* More than the queue holds: the latest are dropped and counted. */
static void
full_queue(const struct u_pipe_kind *kind)
{
	struct rig r;

	rig_open(&r, kind, 32, 64);
	feed(&r, 150);
	T_SETTLE(step(&r));
	check_stats(&r, 150, 32, 150 - 32 - 64);
	drain(&r, 32 + 64);
	check_stats(&r, 150, 32 + 64, 150 - 32 - 64);
	rig_close(&r);
}

/* The pipeline ends while mbufs wait: they are freed. */
static void
freed_early(const struct u_pipe_kind *kind)
{
	struct rig r;

	rig_open(&r, kind, 32, 0);
	feed(&r, 200);
	T_SETTLE(step(&r));
	check_stats(&r, 200, 32, 0);
	kind->free(r.pl);
	r.pl = NULL;
	T_EQ(r.u.out.nb_pending, 0);
	T_EQ(r.u.out.nb_dropped, 168);
	rig_close(&r);
}

/* The peer's consumer ends while mbufs wait: they are accepted, and counted as errors. */
static void
peer_stopped(const struct u_pipe_kind *kind)
{
	struct rte_comch_producer_stats ps;
	struct rig r;

	rig_open(&r, kind, 32, 0);
	feed(&r, 200);
	T_SETTLE(step(&r));
	u_pipe_host_stop(&r.u);
	T_WAIT(step(&r), r.u.out.nb_pending == 0);
	check_stats(&r, 200, 200, 0);
	T_EQ(rte_comch_producer_stats_get(r.u.dpu_prod, &ps), 0);
	T_EQ(ps.msgs, 32);
	T_EQ(ps.errors, 168);
	rig_close(&r);
}

/* The connection ends while mbufs wait and the ends are not told yet; then they are. */
static void
disconnect(const struct u_pipe_kind *kind)
{
	struct rig r;

	rig_open(&r, kind, 32, 0);
	feed(&r, 200);
	T_SETTLE(step(&r));
	u_pipe_host_stop(&r.u);
	T_EQ(rte_comch_client_stop(r.u.p.client), -EINPROGRESS);
	T_UNTIL(t_count(r.u.p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	check_stats(&r, 200, 32, 0);
	T_SETTLE(step(&r));
	check_stats(&r, 200, 200, 0);
	r.u.in.consumer = NULL;
	r.u.out.producer = NULL;
	T_SETTLE(step(&r));
	check_stats(&r, 200, 200, 0);
	rig_close(&r);
}

/* Ends without consumer and producer; then they get them. */
static void
reconnect(const struct u_pipe_kind *kind)
{
	struct rig r;

	rig_open(&r, kind, U_PIPE_POSTED, 0);
	r.u.in.consumer = NULL;
	r.u.out.producer = NULL;
	while (r.u.sent < 100)
		u_pipe_send(&r.u, 32), step(&r);
	T_SETTLE(step(&r));
	check_stats(&r, 0, 0, 0);
	r.u.in.consumer = r.u.dpu_cons;
	T_WAIT(step(&r), r.u.in.nb_received == r.u.sent);
	check_stats(&r, r.u.sent, 0, 0);
	T_EQ(rte_comch_pipe_flush(&r.u.out), r.u.sent);
	r.u.out.producer = r.u.dpu_prod;
	drain(&r, r.u.sent);
	check_stats(&r, r.u.sent, r.u.sent, 0);
	rig_close(&r);
}

/* What waits for a peer that is gone is dropped; the next one gets what comes then. */
static void
drop(const struct u_pipe_kind *kind)
{
	struct rig r;

	rig_open(&r, kind, 32, 0);
	feed(&r, 100);
	T_SETTLE(step(&r));
	check_stats(&r, 100, 32, 0);
	r.u.out.producer = NULL;
	T_EQ(rte_comch_pipe_drop(&r.u.out), 68);
	T_EQ(rte_comch_pipe_drop(&r.u.out), 0);
	check_stats(&r, 100, 32, 68);
	drain(&r, 32);
	r.u.out.producer = r.u.dpu_prod;
	r.u.got = 100;
	feed(&r, 150);
	drain(&r, 150);
	check_stats(&r, 150, 82, 68);
	rig_close(&r);
}

/* An end has one port or node at a time. */
static void
busy_end(const struct u_pipe_kind *kind)
{
	struct rig r;

	rig_open(&r, kind, 32, 0);
	T_CHECK(kind->create(&r.u, 0) == NULL);
	/* The refused one has changed nothing. */
	feed(&r, 20);
	drain(&r, 20);
	rig_close(&r);
}

static void
bad_queue_size(const struct u_pipe_kind *kind)
{
	struct rig r = { .kind = kind };

	u_pipe_open(&r.u, 32);
	T_CHECK(kind->create(&r.u, 32769) == NULL);
	T_CHECK(r.u.out.reserved == NULL);
	rig_close(&r);
}

#define CASES(kind) \
	X(kind, echo) X(kind, short_bursts) X(kind, full_queue) X(kind, freed_early) \
	X(kind, peer_stopped) X(kind, disconnect) X(kind, reconnect) X(kind, drop) \
	X(kind, busy_end) X(kind, bad_queue_size)
#define KINDS CASES(port) CASES(swx) CASES(node)

#define X(kind, name) \
	static void kind##_##name(void) { name(&u_pipe_##kind); }
KINDS
#undef X

int
main(int argc, char **argv)
{
#define X(kind, name) { #kind "_" #name, kind##_##name },
	static const struct t_case cases[] = { KINDS };
#undef X

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
