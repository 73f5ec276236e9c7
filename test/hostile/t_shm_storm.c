/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Values that change while the victim works with them. */

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "victim.h"

V_SUITE(storm);

#define DEPTH 64
#define MEM_LEN 65536
#define STORM_MS 2000

/* Words of one region, and what to write over them. */
struct storm {
	uint64_t *word;
	size_t nb;
	uint64_t x;
};

/* Mostly values that nearly fit: those come furthest. */
static uint64_t
next_value(struct storm *s, uint64_t old)
{
	s->x ^= s->x << 13;
	s->x ^= s->x >> 7;
	s->x ^= s->x << 17;
	switch (s->x >> 60) {
	case 0:
		return s->x;
	case 1:
		return UINT64_MAX - (s->x & 0xff);
	case 2:
		return (s->x & 0xffff) << 48 | (s->x >> 16 & 0xfffff);
	case 3:
		return UINT64_C(3) << 48 | (s->x & 0x1ffff);
	case 4:
		return s->x & 0xff;
	default:
		return old + (s->x >> 8 & 3) - 1;
	}
}

static void
storm(void *arg)
{
	struct storm *s = arg;
	uint64_t *w;
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		w = &s->word[next_value(s, 0) % s->nb];
		__atomic_store_n(w, next_value(s, *w), __ATOMIC_RELAXED);
	}
}

/* The attacker's own ring is rewritten while it is read. */
Test(storm, ring)
{
	struct storm s = { .x = 88172645463325252 };
	struct v_thread t;
	struct raw_peer a;
	struct victim v;
	uint64_t end = t_now_ms() + STORM_MS;
	unsigned int i;

	v_open(&v, NULL);
	while (t_now_ms() < end) {
		v_connect(&v, &a);
		s.word = (uint64_t *)a.own;
		s.nb = a.own_len / sizeof(uint64_t);
		v_thread_start(&t, storm, &s);
		for (i = 0; i < 200; i++) {
			raw_try(&a, &(struct raw_send){ .type = COMCH_WIRE_MSG });
			t_step_all();
		}
		v_thread_stop(&t);
		raw_close(&a);
		t_forget(v.p.dpu);
	}
	v_close(&v);
}

/* Announce memory and a consumer; take the record region. */
static void
show(struct raw_peer *a, struct raw_cons *c, struct raw_mem *m, uint32_t id)
{
	struct raw_frame f;
	int32_t status;

	raw_mem_new(m, MEM_LEN, MFD_ALLOW_SEALING, RAW_SEALS_PAYLOAD);
	for (;;) {
		raw_send_mr_add(a, 3, 0, MEM_LEN, m->fd);
		status = v_hear_status(a, COMCH_WIRE_MR_ACK);
		if (status != -EBUSY)
			break;
		/*
		 * A sender that does not get to run holds on to all that the victim has.
		 * It may need long on a busy machine: rest, for thousands of refusals
		 * would end the connection.
		 */
		rte_delay_us_sleep(20 * 1000);
	}
	T_EQ(status, 0);
	raw_cons_new(c, id, DEPTH, DEPTH, 4096);
	raw_cons_announce(a, c);
	v_hear(a, &f, COMCH_WIRE_CONSUMER_ACK);
	raw_frame_free(&f);
}

static void
send_some(struct rte_comch_producer *prod, const struct t_mem *src, uint32_t id)
{
	struct rte_comch_op ops[32];
	struct rte_comch_cpl cpls[32];
	unsigned int i;

	memset(ops, 0, sizeof(ops));
	for (i = 0; i < RTE_DIM(ops); i++) {
		ops[i].addr = src->addr;
		ops[i].mr = src->mr;
		ops[i].len = 1 + i * 100;
		ops[i].consumer_id = id;
	}
	rte_comch_producer_send_burst(prod, ops, RTE_DIM(ops));
	rte_comch_producer_done_burst(prod, cpls, RTE_DIM(cpls));
}

static void
post_storm(struct victim *v, const struct t_mem *src, struct storm *s)
{
	struct rte_comch_producer *prod;
	struct rte_comch_conn *conn;
	struct v_thread t;
	struct raw_cons c;
	struct raw_peer a;
	struct raw_mem m;
	unsigned int i;

	conn = v_connect(v, &a);
	show(&a, &c, &m, 1);
	prod = t_producer_new(conn, NULL);
	for (i = 0; i < DEPTH; i++)
		raw_cons_post(&c, 3, i * 64, 4096);
	s->word = (uint64_t *)c.shared;
	s->nb = 24 + 2 * DEPTH;
	v_thread_start(&t, storm, s);
	for (i = 0; i < 300; i++) {
		send_some(prod, src, 1);
		t_step(v->p.dpu);
	}
	v_thread_stop(&t);
	raw_close(&a);
	t_producer_end(prod);
	t_settle();
	raw_cons_free(&c);
	raw_mem_free(&m);
	t_forget(v->p.dpu);
}

Test(storm, posted)
{
	struct storm s = { .x = 88172645463325252 };
	struct victim v;
	struct t_mem src;
	uint64_t end;

	v_open(&v, NULL);
	t_mem_new(&src, RTE_COMCH_MEM_SEALED, MEM_LEN, 0);
	end = t_now_ms() + STORM_MS;
	while (t_now_ms() < end)
		post_storm(&v, &src, &s);
	v.nb_fds++; /* the source memory's */
	v_check(&v);
	t_mem_free(&src);
	v.nb_fds--;
	v_close(&v);
}

/* The victim's consumer, its memory, and the attacker's records for it. */
static void
rec_storm(struct victim *v, struct t_mem *dst, struct storm *s)
{
	struct rte_comch_consumer_conf cc = { .queue_size = DEPTH, .staging_size = 4096 };
	struct rte_comch_buf b = { .addr = dst->addr + 4096, .mr = dst->mr, .len = 256 };
	struct rte_comch_consumer *cons;
	struct rte_comch_cpl cpl[8];
	struct v_thread t;
	struct raw_frame f;
	struct raw_peer a;
	struct raw_mem rec;
	unsigned int i;

	cons = t_consumer_new(v_connect(v, &a), &cc, dst->mr);
	T_EQ(rte_comch_consumer_start(cons), -EINPROGRESS);
	v_hear(&a, &f, COMCH_WIRE_CONSUMER_NEW);
	raw_frame_free(&f);
	raw_mem_new(&rec, (comch_chan_rec_len(DEPTH, 4096) + 4095) & ~UINT64_C(4095),
		MFD_ALLOW_SEALING, RAW_SEALS);
	raw_send_status(&a, COMCH_WIRE_CONSUMER_ACK, 1, 0, rec.fd);
	T_UNTIL(rte_comch_consumer_state(cons) == RTE_COMCH_STATE_RUNNING);
	s->word = rec.addr;
	s->nb = 24 + 8 * 8;
	v_thread_start(&t, storm, s);
	for (i = 0; i < 2000; i++) {
		rte_comch_consumer_post_burst(cons, &b, 1);
		rte_comch_consumer_recv_burst(cons, cpl, RTE_DIM(cpl));
		t_step(v->p.dpu);
	}
	v_thread_stop(&t);
	raw_close(&a);
	T_UNTIL(rte_comch_consumer_state(cons) != RTE_COMCH_STATE_RUNNING);
	T_UNTIL(rte_comch_consumer_recv_burst(cons, cpl, 1) == 0 &&
		rte_comch_consumer_state(cons) == RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_consumer_destroy(cons), 0);
	raw_mem_free(&rec);
	t_settle();
	t_forget(v->p.dpu);
	/* Nothing but the posted buffer was written. */
	T_VERIFY(dst->addr, 4096, 77);
	T_VERIFY(dst->addr + 8192, 4096, 78);
	for (i = 256; i < 4096; i++)
		T_EQ(dst->addr[4096 + i], 0);
}

Test(storm, records)
{
	struct storm s = { .x = 88172645463325252 };
	struct victim v;
	struct t_mem dst;
	uint64_t end;

	v_open(&v, NULL);
	t_mem_new(&dst, RTE_COMCH_MEM_HEAP, MEM_LEN, 0);
	t_fill(dst.addr, 4096, 77);
	t_fill(dst.addr + 8192, 4096, 78);
	end = t_now_ms() + STORM_MS;
	while (t_now_ms() < end)
		rec_storm(&v, &dst, &s);
	t_mem_free(&dst);
	v_close(&v);
}

/* A producer on a thread of its own. */
struct sender {
	struct rte_comch_producer *prod;
	struct t_mem src;
	uint32_t id;
};

static void
sender_loop(void *arg)
{
	struct sender *s = arg;

	send_some(s->prod, &s->src, __atomic_load_n(&s->id, __ATOMIC_RELAXED));
}

/* Memory and consumers that go while a thread sends to them. */
static void
gone_while_sending(uint32_t region)
{
	struct rte_comch_conn *conn;
	struct sender s = { .id = 1 };
	struct v_thread t;
	struct raw_cons c;
	struct raw_peer a;
	struct raw_mem m;
	struct victim v;
	uint64_t end;
	uint32_t id = 1;
	unsigned int i;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	t_mem_new(&s.src, RTE_COMCH_MEM_SEALED, MEM_LEN, 0);
	s.prod = t_producer_new(conn, NULL);
	v_thread_start(&t, sender_loop, &s);
	end = t_now_ms() + STORM_MS;
	while (t_now_ms() < end) {
		show(&a, &c, &m, id);
		__atomic_store_n(&s.id, id, __ATOMIC_RELAXED);
		for (i = 0; i < DEPTH; i++)
			raw_cons_post(&c, region, 0, 8192);
		t_steps(v.p.dpu, id % 7);
		raw_send_id(&a, COMCH_WIRE_CONSUMER_GONE, id++);
		raw_send_id(&a, COMCH_WIRE_MR_DEL, 3);
		t_steps(v.p.dpu, 20);
		raw_cons_free(&c);
		raw_mem_free(&m);
		t_forget(v.p.dpu);
	}
	v_thread_stop(&t);
	raw_close(&a);
	t_producer_end(s.prod);
	t_mem_free(&s.src);
	v_close(&v);
}

Test(storm, gone_while_sending)
{
	gone_while_sending(3);
}

Test(storm, gone_while_staging)
{
	gone_while_sending(COMCH_REGION_STAGED);
}
