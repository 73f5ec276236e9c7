/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The fake verbs with a thread for each end, so that TSan sees what the wire's thread and
 * they share: queues, buffers, events.
 */

#include <pthread.h>

#include "u_fv.h"

#define PAIRS 3
#define MSGS 300
#define SLOT 64

struct pair {
	struct u_ends ends;
	pthread_t sender, receiver;
	unsigned int index;
	uint64_t nb_done; /* completions; atomic */
};

static void
configure(const char *text)
{
	struct fv_conf conf;

	fv_conf_default(&conf);
	T_EQ(fv_conf_parse(&conf, text), 0);
	fv_configure(&conf);
}

/* Arm, look again, sleep. */
static struct ibv_wc
sleep_wc(struct u_end *e)
{
	struct ibv_wc wc;
	struct ibv_cq *cq;
	void *ctx;

	while (fv_glue.poll_cq(e->cq, 1, &wc) == 0) {
		T_EQ(fv_glue.req_notify_cq(e->cq, 0), 0);
		if (fv_glue.poll_cq(e->cq, 1, &wc) == 1)
			break;
		if (!t_readable(e->ch->fd, T_TIMEOUT_MS))
			T_FAIL("a wake-up was lost");
		T_EQ(fv_glue.get_cq_event(e->ch, &cq, &ctx), 0);
		fv_glue.ack_cq_events(cq, 1);
	}
	return wc;
}

static uint64_t
seed_of(const struct pair *p, uint64_t msg)
{
	return p->index * 1000000u + msg;
}

/* A chain of a payload by WRITE and a message by SEND, the latter signalled. */
static void
send_msg(struct pair *p, uint64_t msg)
{
	struct u_end *e = &p->ends.a, *peer = &p->ends.b;
	const size_t at = msg % (U_WRS / 2) * SLOT;
	struct ibv_sge sge = { (uintptr_t)e->buf + at, SLOT, e->mr->lkey };
	struct ibv_sge inl = { (uintptr_t)&msg, sizeof(msg), 0 };
	struct ibv_send_wr send = { .wr_id = msg, .sg_list = &inl, .num_sge = 1,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE };
	struct ibv_send_wr write = { .next = &send, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)peer->buf + 1024 + at, peer->mr->rkey } };
	struct ibv_send_wr *bad;

	t_fill(e->buf + at, SLOT, seed_of(p, msg));
	T_EQ(fv_glue.post_send(e->qp, &write, &bad), 0);
}

static void *
run_sender(void *arg)
{
	struct pair *p = arg;
	uint64_t sent = 0, done = 0;

	/* A window of a quarter: there is always a receive, and a free payload buffer. */
	while (done < MSGS) {
		while (sent < MSGS && sent - done < U_WRS / 4)
			send_msg(p, sent++);
		const struct ibv_wc wc = sleep_wc(&p->ends.a);

		T_EQ(wc.status, IBV_WC_SUCCESS);
		T_EQ(wc.wr_id, done);
		done++;
	}
	return NULL;
}

static void *
run_receiver(void *arg)
{
	struct pair *p = arg;
	struct u_end *e = &p->ends.b;
	uint64_t msg, got;

	for (msg = 0; msg < MSGS; msg++) {
		const struct ibv_wc wc = sleep_wc(e);

		T_EQ(wc.status, IBV_WC_SUCCESS);
		T_EQ(wc.wr_id, msg);
		memcpy(&got, e->buf + msg % U_WRS * SLOT, sizeof(got));
		T_EQ(got, msg);
		T_EQ(u_recv(e, msg + U_WRS, msg % U_WRS * SLOT, SLOT), 0);
	}
	return NULL;
}

static void
run_pairs(const char *conf)
{
	struct pair pairs[PAIRS];
	unsigned int i, k;

	memset(pairs, 0, sizeof(pairs));
	configure(conf);
	for (i = 0; i < PAIRS; i++) {
		struct pair *p = &pairs[i];

		p->index = i;
		u_end_open(&p->ends.a, "fv0");
		u_end_open(&p->ends.b, "fv1");
		u_connect(&p->ends, 7);
		for (k = 0; k < U_WRS; k++)
			T_EQ(u_recv(&p->ends.b, k, k * SLOT, SLOT), 0);
		T_EQ(pthread_create(&p->receiver, NULL, run_receiver, p), 0);
		T_EQ(pthread_create(&p->sender, NULL, run_sender, p), 0);
	}
	for (i = 0; i < PAIRS; i++) {
		struct pair *p = &pairs[i];

		T_EQ(pthread_join(p->sender, NULL), 0);
		T_EQ(pthread_join(p->receiver, NULL), 0);
		/* What was written lasts: the slot of the last message. */
		T_VERIFY(p->ends.b.buf + 1024 + (MSGS - 1) % (U_WRS / 2) * SLOT, SLOT,
				seed_of(p, MSGS - 1));
		u_end_close(&p->ends.a);
		u_end_close(&p->ends.b);
	}
	fv_reset();
}

T_CASE(at_once)
{
	run_pairs("");
}

T_CASE(delayed)
{
	run_pairs("delay_us=5,jitter_us=50");
}

T_CASE(late_and_with_events_for_nothing)
{
	run_pairs("delay_us=1,jitter_us=20,late_recv=1,late_write=1,spurious=30");
}

static void *
run_breaker(void *arg)
{
	struct pair *p = arg;

	/* Some have completed, others are under way. */
	T_AWAIT(__atomic_load_n(&p->nb_done, __ATOMIC_RELAXED) >= 20);
	T_EQ(u_set_state(p->ends.a.qp, IBV_QPS_ERR), 0);
	return NULL;
}

/* Each work request completes once, whenever the queue pair breaks. */
T_CASE(broken_in_between)
{
	struct pair p = { 0 };
	uint64_t sent = 0, done = 0;
	pthread_t breaker;
	unsigned int k;
	bool flushed = false;

	configure("delay_us=20,jitter_us=20");
	u_open(&p.ends);
	for (k = 0; k < U_WRS; k++)
		T_EQ(u_recv(&p.ends.b, k, k * SLOT, SLOT), 0);
	T_EQ(pthread_create(&breaker, NULL, run_breaker, &p), 0);
	while (!flushed || done < sent) {
		struct ibv_wc wc;

		if (!flushed && sent - done < U_WRS / 4)
			T_EQ(u_write(&p.ends.a, &p.ends.b, sent++, 0, 8, 1024,
					IBV_SEND_SIGNALED), 0);
		if (fv_glue.poll_cq(p.ends.a.cq, 1, &wc) == 0)
			continue;
		T_EQ(wc.wr_id, done);
		done++;
		__atomic_store_n(&p.nb_done, done, __ATOMIC_RELAXED);
		T_CHECK(wc.status == IBV_WC_SUCCESS ? !flushed :
				wc.status == IBV_WC_WR_FLUSH_ERR);
		flushed = wc.status == IBV_WC_WR_FLUSH_ERR;
	}
	T_EQ(pthread_join(breaker, NULL), 0);
	T_CHECK(u_is_empty(&p.ends.a));
	u_close(&p.ends);
}
