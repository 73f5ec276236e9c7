/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The fast path: what goes right. What goes wrong: conf_dp_err.c; starts and
 * stops: conf_dp_states.c.
 */

#include <stdlib.h>

#include "conf.h"

static void
check_sizes(bool to_host, enum rte_comch_mem_kind kind)
{
	static const uint32_t sizes[] = {
		0, 1, 63, 64, 65, 127, 128, 129, 4095, 4096, 65535, 65536,
		1024 * 1024 - 1, 1024 * 1024,
	};
	struct t_flow_conf fc = {
		.to_host = to_host, .kind = kind, .size = 1024 * 1024,
	};
	struct t_flow f;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, &fc);
	for (i = 0; i < RTE_DIM(sizes); i++)
		t_flow_once(&f, sizes[i], 100 + i);
	t_flow_close(&f);
	t_pair_close(&p);
}

CONF_CASE(dp, sizes_to_dpu, check_sizes(false, RTE_COMCH_MEM_SEALED))
CONF_CASE(dp, sizes_to_host, check_sizes(true, RTE_COMCH_MEM_SEALED))
CONF_CASE(dp, sizes_staged,
	check_sizes(false, RTE_COMCH_MEM_HEAP);
	check_sizes(true, RTE_COMCH_MEM_HEAP))

/* Payload goes where the buffer is, and nowhere else. */
void
conf_dp_exact_place(void)
{
	struct rte_comch_cpl cpl;
	struct t_flow f;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	for (i = 0; i < 64; i++) {
		memset(f.dst.addr, 0xee, 1024);
		t_fill(f.src.addr + i, 100, i);
		T_EQ(t_post(&f, 200 + i, 300, i), 1);
		t_submit(&f, i, 100, i);
		t_recv(f.cons, &cpl);
		T_EQ(cpl.len, 100);
		T_VERIFY(f.dst.addr + 200 + i, 100, i);
		T_EQ(f.dst.addr[200 + i - 1], 0xee);
		T_EQ(f.dst.addr[200 + i + 100], 0xee);
		t_done(f.prod, &cpl);
	}
	t_flow_close(&f);
	t_pair_close(&p);
}

/** Messages that go through one flow, 512 bytes at most, eight at a time. */
struct wrap {
	struct t_flow f;
	uint64_t total, posted, sent, done, got;
};

static void
wrap_send(struct wrap *w)
{
	uint32_t len;

	while (w->sent < w->total && w->sent - w->done < 8) {
		len = (uint32_t)(w->sent * 37 % 513);
		t_fill(w->f.src.addr + w->sent % 8 * 512, len, w->sent);
		if (t_put(&w->f, w->sent % 8 * 512, len, w->sent) == 0)
			return;
		w->sent++;
	}
}

static void
wrap_recv(struct wrap *w)
{
	struct rte_comch_cpl cpls[5];
	uint16_t i, n;

	n = rte_comch_consumer_recv_burst(w->f.cons, cpls, (uint16_t)(w->got % 5 + 1));
	T_LE(n, w->got % 5 + 1);
	for (i = 0; i < n; i++, w->got++) {
		T_EQ(cpls[i].status, 0);
		T_EQ(cpls[i].cookie, w->got);
		T_EQ(cpls[i].len, w->got * 37 % 513);
		T_VERIFY(w->f.dst.addr + w->got % 8 * 512, cpls[i].len, w->got);
	}
}

/* Do what can be done; is that all? */
static bool
wrap_turn(struct wrap *w)
{
	struct rte_comch_cpl cpls[5];
	uint16_t i, n;

	while (w->posted < w->total &&
			t_post(&w->f, w->posted % 8 * 512, 512, w->posted) == 1)
		w->posted++;
	T_LE(w->posted - w->got, 8);
	wrap_send(w);
	n = rte_comch_producer_done_burst(w->f.prod, cpls, RTE_DIM(cpls));
	for (i = 0; i < n; i++, w->done++) {
		T_EQ(cpls[i].status, 0);
		T_EQ(cpls[i].cookie, w->done);
	}
	wrap_recv(w);
	return w->got == w->total && w->done == w->total;
}

/* Small queues that go around thousands of times, in odd bursts. */
static void
wrap(const struct t_flow_conf *fc)
{
	struct wrap w = { .total = t_repeat(20000) };
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&w.f, &p, fc);
	T_GE(w.f.dst.len, 8 * 512);
	T_UNTIL(wrap_turn(&w));
	t_flow_close(&w.f);
	t_pair_close(&p);
}

CONF_CASE(dp, wrap, wrap(&(struct t_flow_conf){
	.cons.queue_size = 8, .prod.queue_size = 8 }))
CONF_CASE(dp, wrap_staged, wrap(&(struct t_flow_conf){
	.to_host = true, .kind = RTE_COMCH_MEM_HEAP,
	.cons = { .queue_size = 8, .staging_size = 4096 }, .prod.queue_size = 8 }))

void
conf_dp_nothing_posted(void)
{
	struct rte_comch_producer_stats st;
	struct rte_comch_cpl cpl;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	T_NEVER(t_put(&f, 0, 8, 1) != 0);
	T_CHECK(t_no_done(f.prod));
	T_CHECK(t_no_recv(f.cons));
	T_EQ(rte_comch_producer_stats_get(f.prod, &st), 0);
	T_GE(st.later, 1);
	T_EQ(st.msgs, 0);
	T_EQ(st.errors, 0);
	T_EQ(t_post(&f, 0, 8, 7), 1);
	t_submit(&f, 0, 8, 2);
	T_NEVER(t_put(&f, 0, 8, 3) != 0);
	t_recv(f.cons, &cpl);
	T_EQ(cpl.cookie, 7);
	t_done(f.prod, &cpl);
	T_EQ(cpl.cookie, 2);
	t_flow_close(&f);
	t_pair_close(&p);
}

/* Offer n operations, again and again: room_for of them are taken, no more. */
static void
offer_all(struct rte_comch_producer *prod, const struct rte_comch_op *ops, uint16_t n,
		uint16_t room_for)
{
	uint16_t took = 0;

	T_UNTIL((took = (uint16_t)(took +
		rte_comch_producer_send_burst(prod, ops + took, n - took))) >= room_for);
	T_EQ(took, room_for);
	T_NEVER(rte_comch_producer_send_burst(prod, ops + took, n - took) != 0);
}

/* Full queues on both sides: short counts at their very size. */
static void
fill_queues(uint32_t flags)
{
	struct t_flow_conf fc = {
		.cons.queue_size = 16, .prod = { .queue_size = 4, .flags = flags },
	};
	struct rte_comch_buf bufs[20];
	struct rte_comch_cpl cpls[20];
	struct rte_comch_op ops[20];
	struct t_flow f;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, &fc);
	memset(bufs, 0, sizeof(bufs));
	memset(ops, 0, sizeof(ops));
	for (i = 0; i < RTE_DIM(bufs); i++) {
		bufs[i].addr = f.dst.addr + i * 8;
		bufs[i].mr = f.dst.mr;
		bufs[i].len = 8;
		bufs[i].cookie = i;
		ops[i].addr = f.src.addr;
		ops[i].mr = f.src.mr;
		ops[i].len = 8;
		ops[i].cookie = i;
		ops[i].consumer_id = f.id;
	}
	T_EQ(rte_comch_consumer_post_burst(f.cons, bufs, 0), 0);
	T_EQ(rte_comch_consumer_post_burst(f.cons, bufs, 20), 16);
	T_EQ(rte_comch_consumer_post_burst(f.cons, bufs, 4), 0);
	T_EQ(rte_comch_producer_send_burst(f.prod, ops, 0), 0);
	offer_all(f.prod, ops, 20, 4);
	t_done_n(f.prod, cpls, 3);
	offer_all(f.prod, ops + 4, 16, 3);
	t_done_n(f.prod, cpls, 4);
	T_EQ(cpls[0].cookie, 3);
	T_EQ(cpls[3].cookie, 6);
	T_CHECK(t_no_done(f.prod));
	T_EQ(rte_comch_consumer_recv_burst(f.cons, cpls, 0), 0);
	t_recv_n(f.cons, cpls, 7);
	for (i = 0; i < 7; i++)
		T_EQ(cpls[i].cookie, i);
	T_CHECK(t_no_recv(f.cons));
	T_EQ(rte_comch_consumer_post_burst(f.cons, bufs + 16, 4), 4);
	t_flow_close(&f);
	t_pair_close(&p);
}

CONF_CASE(dp, full_queues,
	fill_queues(0);
	fill_queues(RTE_COMCH_PRODUCER_F_PAUSES))

void
conf_dp_imm(void)
{
	struct rte_comch_op op = { 0 };
	struct rte_comch_buf empty = { .cookie = 1 };
	uint8_t imm[RTE_COMCH_IMM_SIZE];
	struct rte_comch_cpl cpl;
	struct t_flow f;
	struct t_pair p;
	uint16_t i;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	t_fill(f.src.addr, 4096, 9);
	for (i = 0; i <= RTE_COMCH_IMM_SIZE; i++) {
		/* Immediate data alone, to an empty buffer. */
		t_fill(imm, i, i);
		op = (struct rte_comch_op){ .imm = i == 0 ? NULL : imm, .imm_len = i,
			.consumer_id = f.id, .cookie = i };
		T_EQ(rte_comch_consumer_post_burst(f.cons, &empty, 1), 1);
		t_submit_ops(f.prod, &op, 1);
		memset(imm, 0, sizeof(imm)); /* it was copied */
		t_recv(f.cons, &cpl);
		T_EQ(cpl.status, 0);
		T_EQ(cpl.cookie, 1);
		T_EQ(cpl.len, 0);
		T_EQ(cpl.imm_len, i);
		T_VERIFY(cpl.imm, i, i);
		t_done(f.prod, &cpl);
		T_EQ(cpl.status, 0);
		/* Together with payload. */
		t_fill(imm, i, i + 100);
		op.addr = f.src.addr;
		op.mr = f.src.mr;
		op.len = 4096;
		T_EQ(t_post(&f, 0, 4096, 2), 1);
		t_submit_ops(f.prod, &op, 1);
		t_recv(f.cons, &cpl);
		T_EQ(cpl.status, 0);
		T_EQ(cpl.cookie, 2);
		T_EQ(cpl.len, 4096);
		T_EQ(cpl.imm_len, i);
		T_VERIFY(cpl.imm, i, i + 100);
		T_VERIFY(f.dst.addr, 4096, 9);
		t_done(f.prod, &cpl);
		T_EQ(cpl.status, 0);
	}
	t_flow_close(&f);
	t_pair_close(&p);
}

void
conf_dp_sgl(void)
{
	struct rte_comch_sge sges[4];
	struct rte_comch_op op = { 0 };
	struct rte_comch_cpl cpl;
	struct t_mem other;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	t_mem_new(&other, RTE_COMCH_MEM_SEALED, 4096, 0);
	t_fill(f.src.addr, 8192, 1);
	t_fill(other.addr, 4096, 2);
	sges[0] = (struct rte_comch_sge){ f.src.mr, f.src.addr, 100 };
	sges[1] = (struct rte_comch_sge){ other.mr, other.addr, 1 };
	sges[2] = (struct rte_comch_sge){ f.src.mr, f.src.addr + 100, 0 };
	sges[3] = (struct rte_comch_sge){ f.src.mr, f.src.addr, 5000 };
	op.addr = sges;
	op.len = 5101;
	op.flags = RTE_COMCH_OP_F_SGL;
	op.nb_sges = RTE_DIM(sges);
	op.consumer_id = f.id;
	op.cookie = 3;
	T_EQ(t_post(&f, 0, 8192, 4), 1);
	t_submit_ops(f.prod, &op, 1);
	t_recv(f.cons, &cpl);
	T_EQ(cpl.status, 0);
	T_EQ(cpl.len, 5101);
	T_VERIFY(f.dst.addr, 100, 1);
	T_VERIFY(f.dst.addr + 100, 1, 2);
	T_VERIFY(f.dst.addr + 101, 5000, 1);
	t_done(f.prod, &cpl);
	T_EQ(cpl.status, 0);
	T_EQ(cpl.len, 5101);
	/* One segment. */
	op.nb_sges = 1;
	op.len = 100;
	T_EQ(t_post(&f, 0, 100, 5), 1);
	t_submit_ops(f.prod, &op, 1);
	t_recv(f.cons, &cpl);
	T_EQ(cpl.len, 100);
	T_VERIFY(f.dst.addr, 100, 1);
	t_flow_close(&f);
	t_mem_free(&other);
	t_pair_close(&p);
}

void
conf_dp_silent(void)
{
	struct rte_comch_producer_stats st;
	struct rte_comch_op op = { 0 };
	struct rte_comch_cpl cpl;
	struct t_flow f;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	op.addr = f.src.addr;
	op.mr = f.src.mr;
	op.len = 8;
	op.consumer_id = f.id;
	op.flags = RTE_COMCH_OP_F_SILENT;
	for (i = 0; i < 10; i++)
		T_EQ(t_post(&f, 0, 8, i), 1);
	for (i = 0; i < 5; i++) {
		op.cookie = i;
		t_submit_ops(f.prod, &op, 1);
	}
	/* Silent in failure, too; but counted. */
	op.len = 9;
	t_submit_ops(f.prod, &op, 1);
	t_submit(&f, 0, 8, 77);
	for (i = 0; i < 6; i++) {
		t_recv(f.cons, &cpl);
		T_EQ(cpl.cookie, i);
		T_EQ(cpl.status, 0);
	}
	t_done(f.prod, &cpl);
	T_EQ(cpl.cookie, 77);
	T_CHECK(t_no_done(f.prod));
	T_EQ(rte_comch_producer_stats_get(f.prod, &st), 0);
	T_EQ(st.msgs, 6);
	T_EQ(st.errors, 1);
	t_flow_close(&f);
	t_pair_close(&p);
}

/* Several consumers; a message goes to the one that it names. */
void
conf_dp_several_consumers(void)
{
	enum { NB = 5 };
	struct t_flow f[NB];
	struct rte_comch_cpl cpl;
	unsigned int i, k;
	struct t_pair p;

	t_pair_open(&p, NULL);
	for (i = 0; i < NB; i++)
		t_flow_open(&f[i], &p, NULL);
	for (k = 0; k < 50; k++)
		for (i = 0; i < NB; i++)
			t_flow_once(&f[i], 1000 + k, i * 1000 + k);
	/* Any producer may send to any consumer. */
	for (i = 0; i < NB; i++) {
		T_EQ(t_post(&f[i], 0, 8, i), 1);
		k = f[0].id;
		f[0].id = f[i].id;
		t_submit(&f[0], 0, 8, i);
		f[0].id = k;
		t_recv(f[i].cons, &cpl);
		T_EQ(cpl.cookie, i);
		T_EQ(cpl.peer_id, rte_comch_producer_id(f[0].prod));
		t_done(f[0].prod, &cpl);
		T_EQ(cpl.peer_id, f[i].id);
	}
	for (i = 0; i < NB; i++)
		t_flow_close(&f[i]);
	t_pair_close(&p);
}

/* Both ways at once; ids of the two sides do not mix. */
void
conf_dp_both_ways(void)
{
	struct t_flow_conf back = { .to_host = true };
	struct t_flow a, b;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	t_flow_open(&a, &p, NULL);
	t_flow_open(&b, &p, &back);
	T_EQ(a.id, b.id);
	for (i = 0; i < 200; i++) {
		t_flow_once(&a, i, i);
		t_flow_once(&b, 4096 - i, i + 7777);
	}
	t_flow_close(&a);
	t_flow_close(&b);
	t_pair_close(&p);
}

/* The calls that are not inline do the same. */
void
conf_dp_plain_functions(void)
{
	struct rte_comch_op op;
	struct rte_comch_cpl cpl;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	op = (struct rte_comch_op){
		.addr = f.src.addr, .mr = f.src.mr, .len = 8, .cookie = 2,
		.consumer_id = f.id,
	};
	T_EQ(rte_comch_consumer_post(f.cons, &(struct rte_comch_buf){
		.addr = f.dst.addr, .mr = f.dst.mr, .len = 8, .cookie = 1 }, 1), 1);
	T_UNTIL(rte_comch_producer_send(f.prod, &op, 1) == 1);
	T_UNTIL(rte_comch_consumer_recv(f.cons, &cpl, 1) == 1);
	T_EQ(cpl.cookie, 1);
	T_UNTIL(rte_comch_producer_done(f.prod, &cpl, 1) == 1);
	T_EQ(cpl.cookie, 2);
	t_flow_close(&f);
	t_pair_close(&p);
}

/* A send that was done is in the buffer: the receiver needs no help. */
void
conf_dp_done_is_delivered(void)
{
	struct rte_comch_cpl cpl;
	struct t_flow f;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	for (i = 0; i < 5; i++)
		T_EQ(t_post(&f, i * 64, 64, i), 1);
	for (i = 0; i < 5; i++) {
		t_fill(f.src.addr, 64, i);
		t_submit(&f, 0, 64, i);
		t_done(f.prod, &cpl);
		T_EQ(cpl.status, 0);
	}
	/* The producer is gone before anything was received. */
	t_producer_end(f.prod);
	f.prod = NULL;
	f.prod_node->paused = true;
	for (i = 0; i < 5; i++) {
		t_recv(f.cons, &cpl);
		T_EQ(cpl.status, 0);
		T_EQ(cpl.cookie, i);
		T_VERIFY(f.dst.addr + i * 64, 64, i);
	}
	f.prod_node->paused = false;
	t_flow_close(&f);
	t_pair_close(&p);
}

/* A buffer that was posted before a control message is there for its receiver. */
void
conf_dp_post_then_message(void)
{
	struct rte_comch_cpl cpl;
	struct t_flow f;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	for (i = 0; i < 100; i++) {
		T_EQ(t_post(&f, 0, 8, i), 1);
		t_send(p.sconn, "posted", 6, i);
		T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_MSG, NULL) == i + 1);
		/* At once. */
		T_EQ(t_put(&f, 0, 8, i), 1);
		t_recv(f.cons, &cpl);
		t_done(f.prod, &cpl);
	}
	t_flow_close(&f);
	t_pair_close(&p);
}

/* Copies of the table in rte_comch_mem.h; else none, or one on each side. */
static void
check_copies(const struct rte_comch_producer_stats *ps, const struct rte_comch_consumer_stats *cs,
		uint64_t msgs)
{
	if (t_driver->maps_memory) {
		T_EQ(ps->copies, msgs * t_direct_copies());
		T_EQ(ps->staged, 0);
		T_EQ(cs->copies, 0);
		T_EQ(cs->staged, 0);
	}
	T_LE(ps->copies, msgs);
	T_LE(cs->copies, msgs);
}

void
conf_dp_stats(void)
{
	struct rte_comch_producer_stats ps;
	struct rte_comch_consumer_stats cs;
	struct rte_comch_cpl cpl;
	struct t_flow f;
	struct t_pair p;
	unsigned int i;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	T_EQ(rte_comch_producer_stats_get(NULL, &ps), -EINVAL);
	T_EQ(rte_comch_producer_stats_get(f.prod, NULL), -EINVAL);
	T_EQ(rte_comch_consumer_stats_get(NULL, &cs), -EINVAL);
	T_EQ(rte_comch_consumer_stats_get(f.cons, NULL), -EINVAL);
	for (i = 0; i < 50; i++)
		t_flow_once(&f, 100 + i, i);
	T_EQ(t_post(&f, 0, 0, 1), 1);
	t_submit(&f, f.src.len, 8, 2);
	t_done(f.prod, &cpl);
	T_EQ(cpl.status, -EFAULT);
	t_settle();
	T_EQ(rte_comch_producer_stats_get(f.prod, &ps), 0);
	T_EQ(ps.msgs, 50);
	T_EQ(ps.bytes, 50 * 100 + 49 * 25);
	T_EQ(ps.imm_msgs, 0);
	T_EQ(ps.errors, 1);
	T_EQ(rte_comch_consumer_stats_get(f.cons, &cs), 0);
	T_EQ(cs.posted, 51);
	T_EQ(cs.msgs, 50);
	T_EQ(cs.bytes, 50 * 100 + 49 * 25);
	T_EQ(cs.imm_msgs, 0);
	T_EQ(cs.errors, 0);
	check_copies(&ps, &cs, 50);
	t_flow_close(&f);
	t_pair_close(&p);
}
