/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>

#include <rte_malloc.h>
#include <rte_memory.h>

#include "t_pair.h"

#define T_FLOW_SIZE (64 * 1024)

static void *
mem_get(enum rte_comch_mem_kind kind, size_t len)
{
	switch (kind) {
	case RTE_COMCH_MEM_SEALED:
		return rte_comch_mem_alloc(len, SOCKET_ID_ANY);
	case RTE_COMCH_MEM_EAL:
		return rte_zmalloc("t_mem", len, RTE_CACHE_LINE_SIZE);
	default:
		return calloc(1, len);
	}
}

void
t_mem_new(struct t_mem *m, enum rte_comch_mem_kind kind, size_t len, uint32_t flags)
{
	struct rte_comch_mr_info info;

	m->kind = kind;
	m->len = len;
	m->addr = mem_get(kind, len);
	if (m->addr == NULL)
		T_FAIL("no %s memory of %zu bytes: %s", rte_comch_mem_kind_name(kind),
				len, strerror(rte_errno));
	m->mr = rte_comch_mem_register(m->addr, len, flags);
	if (m->mr == NULL)
		T_FAIL("mem_register: %s", strerror(rte_errno));
	T_EQ(rte_comch_mem_info_get(m->mr, &info), 0);
	T_EQ(info.kind, kind);
}

void
t_mem_free(struct t_mem *m)
{
	if (m->addr == NULL)
		return;
	T_EQ(rte_comch_mem_unregister(m->mr), 0);
	if (m->kind == RTE_COMCH_MEM_SEALED)
		T_EQ(rte_comch_mem_free(m->addr), 0);
	else if (m->kind == RTE_COMCH_MEM_EAL)
		rte_free(m->addr);
	else
		free(m->addr);
	m->addr = NULL;
}

struct rte_comch_consumer *
t_consumer_new(struct rte_comch_conn *conn, const struct rte_comch_consumer_conf *base,
		struct rte_comch_mr *mr)
{
	struct rte_comch_consumer_conf conf = { 0 };
	struct rte_comch_consumer *cons;

	if (base != NULL)
		conf = *base;
	conf.conf_size = sizeof(conf);
	if (conf.nb_mrs == 0 && mr != NULL) {
		conf.mrs = &mr;
		conf.nb_mrs = 1;
	}
	cons = rte_comch_consumer_create(conn, &conf);
	if (cons == NULL)
		T_FAIL("consumer_create: %s", strerror(rte_errno));
	t_born(cons);
	T_EQ(rte_comch_consumer_state(cons), RTE_COMCH_STATE_IDLE);
	return cons;
}

struct rte_comch_producer *
t_producer_new(struct rte_comch_conn *conn, const struct rte_comch_producer_conf *base)
{
	struct rte_comch_producer_conf conf = { 0 };
	struct rte_comch_producer *prod;

	if (base != NULL)
		conf = *base;
	conf.conf_size = sizeof(conf);
	prod = rte_comch_producer_create(conn, &conf);
	if (prod == NULL)
		T_FAIL("producer_create: %s", strerror(rte_errno));
	t_born(prod);
	T_EQ(rte_comch_producer_state(prod), RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_producer_start(prod), 0);
	T_EQ(rte_comch_producer_state(prod), RTE_COMCH_STATE_RUNNING);
	return prod;
}

void
t_consumer_run(struct rte_comch_consumer *cons)
{
	T_EQ(rte_comch_consumer_start(cons), -EINPROGRESS);
	T_UNTIL(rte_comch_consumer_state(cons) != RTE_COMCH_STATE_STARTING);
	T_EQ(rte_comch_consumer_state(cons), RTE_COMCH_STATE_RUNNING);
}

bool
t_knows_consumer(const struct t_node *node, const struct rte_comch_conn *conn,
		uint32_t id)
{
	const struct t_ev *ev;
	unsigned int i;

	for (i = 0; ; i++) {
		ev = t_find(node, RTE_COMCH_EVENT_CONSUMER_NEW, conn, i);
		if (ev == NULL)
			return false;
		if (ev->e.consumer.id == id)
			return true;
	}
}

static bool
consumer_idle(struct rte_comch_consumer *cons)
{
	struct rte_comch_cpl cpls[32];

	rte_comch_consumer_recv_burst(cons, cpls, RTE_DIM(cpls));
	return rte_comch_consumer_state(cons) == RTE_COMCH_STATE_IDLE;
}

void
t_consumer_end(struct rte_comch_consumer *cons)
{
	enum rte_comch_state state = rte_comch_consumer_state(cons);
	int rc;

	if (state == RTE_COMCH_STATE_RUNNING || state == RTE_COMCH_STATE_STARTING) {
		rc = rte_comch_consumer_stop(cons);
		/* It may be on its way to IDLE after a disconnect. */
		if (rc != -EINPROGRESS)
			T_EQ(rc, -EBADFD);
	}
	T_UNTIL(consumer_idle(cons));
	t_step_all();
	T_EQ(rte_comch_consumer_destroy(cons), 0);
	t_step_all();
}

static bool
producer_idle(struct rte_comch_producer *prod)
{
	struct rte_comch_cpl cpls[32];

	rte_comch_producer_done_burst(prod, cpls, RTE_DIM(cpls));
	return rte_comch_producer_state(prod) == RTE_COMCH_STATE_IDLE;
}

/* It may take a moment. */
static void
producer_begin_stop(struct rte_comch_producer *prod)
{
	int rc = rte_comch_producer_stop(prod);

	if (rc != 0)
		T_EQ(rc, -EINPROGRESS);
}

void
t_producer_stop(struct rte_comch_producer *prod)
{
	producer_begin_stop(prod);
	T_UNTIL(rte_comch_producer_state(prod) == RTE_COMCH_STATE_IDLE);
}

void
t_producer_end(struct rte_comch_producer *prod)
{
	if (rte_comch_producer_state(prod) == RTE_COMCH_STATE_RUNNING)
		producer_begin_stop(prod);
	T_UNTIL(producer_idle(prod));
	t_step_all();
	T_EQ(rte_comch_producer_destroy(prod), 0);
	t_step_all();
}

void
t_flow_open(struct t_flow *f, const struct t_pair *p, const struct t_flow_conf *conf)
{
	static const struct t_flow_conf none;
	size_t size;

	if (conf == NULL)
		conf = &none;
	memset(f, 0, sizeof(*f));
	size = conf->size == 0 ? T_FLOW_SIZE : conf->size;
	f->cons_node = conf->to_host ? p->host : p->dpu;
	f->prod_node = conf->to_host ? p->dpu : p->host;
	f->cons_conn = conf->to_host ? p->cconn : p->sconn;
	f->prod_conn = conf->to_host ? p->sconn : p->cconn;
	t_mem_new(&f->dst, conf->kind, size, 0);
	t_mem_new(&f->src, RTE_COMCH_MEM_HEAP, size, 0);
	f->prod = t_producer_new(f->prod_conn, &conf->prod);
	f->cons = t_consumer_new(f->cons_conn, &conf->cons, f->dst.mr);
	t_consumer_run(f->cons);
	f->id = rte_comch_consumer_id(f->cons);
	T_UNTIL(t_knows_consumer(f->prod_node, f->prod_conn, f->id));
}

void
t_flow_close(struct t_flow *f)
{
	if (f->prod != NULL)
		t_producer_end(f->prod);
	if (f->cons != NULL)
		t_consumer_end(f->cons);
	/* The peer lets go of what it imported in its own time, but our claim ends. */
	t_mem_free(&f->dst);
	t_mem_free(&f->src);
}

/* The condition of a wait may be work. */
static uint16_t
moved(uint16_t n)
{
	if (n > 0)
		t_relax(true);
	return n;
}

uint16_t
t_post(struct t_flow *f, size_t off, uint32_t len, uint64_t cookie)
{
	const struct rte_comch_buf buf = {
		.addr = f->dst.addr + off, .mr = f->dst.mr, .len = len,
		.cookie = cookie,
	};

	return moved(rte_comch_consumer_post_burst(f->cons, &buf, 1));
}

uint16_t
t_put(struct t_flow *f, size_t off, uint32_t len, uint64_t cookie)
{
	const struct rte_comch_op op = {
		.addr = f->src.addr + off, .mr = f->src.mr, .len = len,
		.cookie = cookie, .consumer_id = f->id,
	};

	return moved(rte_comch_producer_send_burst(f->prod, &op, 1));
}

void
t_submit_ops(struct rte_comch_producer *prod, const struct rte_comch_op *ops, uint16_t n)
{
	uint16_t took = 0;

	T_UNTIL((took = (uint16_t)(took +
		rte_comch_producer_send_burst(prod, ops + took, n - took))) == n);
}

void
t_submit(struct t_flow *f, size_t off, uint32_t len, uint64_t cookie)
{
	T_UNTIL(t_put(f, off, len, cookie) == 1);
}

void
t_recv_n(struct rte_comch_consumer *cons, struct rte_comch_cpl *cpls, uint16_t n)
{
	uint16_t got = 0;

	memset(cpls, 0xa5, n * sizeof(*cpls));
	T_UNTIL((got = (uint16_t)(got +
		rte_comch_consumer_recv_burst(cons, cpls + got, n - got))) == n);
}

void
t_done_n(struct rte_comch_producer *prod, struct rte_comch_cpl *cpls, uint16_t n)
{
	uint16_t got = 0;

	memset(cpls, 0xa5, n * sizeof(*cpls));
	T_UNTIL((got = (uint16_t)(got +
		rte_comch_producer_done_burst(prod, cpls + got, n - got))) == n);
}

void
t_recv(struct rte_comch_consumer *cons, struct rte_comch_cpl *cpl)
{
	t_recv_n(cons, cpl, 1);
}

void
t_done(struct rte_comch_producer *prod, struct rte_comch_cpl *cpl)
{
	t_done_n(prod, cpl, 1);
}

bool
t_no_recv(struct rte_comch_consumer *cons)
{
	struct t_settling s = t_settle_begin();
	struct rte_comch_cpl cpl;

	do {
		if (rte_comch_consumer_recv_burst(cons, &cpl, 1) != 0)
			return false;
	} while (t_settle_step(&s));
	return true;
}

bool
t_no_done(struct rte_comch_producer *prod)
{
	struct t_settling s = t_settle_begin();
	struct rte_comch_cpl cpl;

	do {
		if (rte_comch_producer_done_burst(prod, &cpl, 1) != 0)
			return false;
	} while (t_settle_step(&s));
	return true;
}

void
t_both(struct t_flow *f, struct rte_comch_cpl *in, struct rte_comch_cpl *out)
{
	bool got = false, done = false;

	memset(in, 0xa5, sizeof(*in));
	memset(out, 0xa5, sizeof(*out));
	T_UNTIL((done = done || rte_comch_producer_done_burst(f->prod, out, 1) == 1,
		got = got || rte_comch_consumer_recv_burst(f->cons, in, 1) == 1,
		done && got));
}

void
t_flow_once(struct t_flow *f, uint32_t len, uint64_t seed)
{
	struct rte_comch_cpl in, out;

	t_fill(f->src.addr, len, seed);
	T_EQ(t_post(f, 0, len, seed), 1);
	t_submit(f, 0, len, seed + 1);
	t_both(f, &in, &out);
	T_EQ(out.status, 0);
	T_EQ(out.cookie, seed + 1);
	T_EQ(out.peer_id, f->id);
	T_EQ(out.len, len);
	T_EQ(in.status, 0);
	T_EQ(in.cookie, seed);
	T_EQ(in.len, len);
	T_EQ(in.peer_id, rte_comch_producer_id(f->prod));
	T_EQ(in.imm_len, 0);
	T_VERIFY(f->dst.addr, len, seed);
}
