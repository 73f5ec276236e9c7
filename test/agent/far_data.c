/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Producers and consumers of both ends. */

#include <stdlib.h>

#include "far.h"
#include "far_wrap.h"

FAR_WRAP(struct rte_comch_producer *, rte_comch_producer_create, struct rte_comch_conn *conn,
		const struct rte_comch_producer_conf *conf)
{
	struct rte_comch_producer *p;
	uint64_t poll = 0, handle;
	struct wire *w;

	if (!far_is(conn)) {
		p = __real_rte_comch_producer_create(conn, conf);
		if (p != NULL)
			far_poll_near(conf->poll);
		return p;
	}
	if (conf != NULL)
		poll = far_poll(conf->poll);
	w = far_begin(CALL_PRODUCER_CREATE);
	wire_u64(w, far_handle(conn));
	wire_u64(w, conf != NULL);
	if (conf != NULL) {
		wire_put(w, conf, sizeof(*conf));
		wire_u64(w, poll);
	}
	handle = (uint64_t)far_do(w);
	far_end();
	return (void *)far_obj_new(RTE_COMCH_OBJ_PRODUCER, handle);
}

static struct rte_comch_consumer *
consumer_create(struct rte_comch_conn *conn, const struct rte_comch_consumer_conf *conf)
{
	const uint16_t nb = conf == NULL || conf->mrs == NULL ? 0 : conf->nb_mrs;
	uint64_t mrs[FAR_BURST] = { 0 }, poll = 0, handle;
	struct wire *w;
	uint16_t i;

	T_LE(nb, RTE_DIM(mrs));
	for (i = 0; i < nb; i++)
		mrs[i] = far_mem_handle(far_mem(conf->mrs[i]));
	if (conf != NULL)
		poll = far_poll(conf->poll);
	w = far_begin(CALL_CONSUMER_CREATE);
	wire_u64(w, far_handle(conn));
	wire_u64(w, conf != NULL);
	if (conf != NULL) {
		wire_put(w, conf, sizeof(*conf));
		wire_u64(w, poll);
		wire_put(w, mrs, conf->nb_mrs * sizeof(mrs[0]));
	}
	handle = (uint64_t)far_do(w);
	far_end();
	return (void *)far_obj_new(RTE_COMCH_OBJ_CONSUMER, handle);
}

FAR_WRAP(struct rte_comch_consumer *, rte_comch_consumer_create, struct rte_comch_conn *conn,
		const struct rte_comch_consumer_conf *conf)
{
	struct rte_comch_consumer *c;

	if (far_is(conn))
		return consumer_create(conn, conf);
	c = __real_rte_comch_consumer_create(conn, conf);
	if (c != NULL)
		far_poll_near(conf->poll);
	return c;
}

FAR_WRAP(int, rte_comch_consumer_mr_add, struct rte_comch_consumer *cons,
		struct rte_comch_mr *mr)
{
	uint64_t handle;

	if (!far_is(cons))
		return __real_rte_comch_consumer_mr_add(cons, mr);
	handle = far_mem_handle(far_mem(mr));
	return (int)far_call2(CALL_CONSUMER_MR_ADD, far_handle(cons), handle);
}

/* Have the twin hold what is to be sent, and name it as the agent does. */
static void
sge_to_far(struct rte_comch_sge *sge)
{
	struct far_mem *m = far_mem(sge->mr);

	far_mem_push(m, sge->addr, sge->len);
	sge->addr = (void *)(uintptr_t)far_mem_addr(m, sge->addr);
	sge->mr = (void *)(uintptr_t)far_mem_handle(m);
}

static void
put_op(struct wire *w, const struct rte_comch_op *op, const struct rte_comch_sge *sges)
{
	const bool has_sges = (op->flags & RTE_COMCH_OP_F_SGL) != 0;

	wire_put(w, op, sizeof(*op));
	/* No more of it is ever read. */
	wire_bytes(w, op->imm, RTE_MIN(op->imm_len, RTE_COMCH_IMM_SIZE));
	if (!has_sges)
		return;
	wire_u64(w, op->addr != NULL);
	if (op->addr != NULL)
		wire_put(w, sges, op->nb_sges * sizeof(*sges));
}

static uint16_t
far_send(void *queue, const struct rte_comch_op *ops, uint16_t n)
{
	struct rte_comch_sge sges[FAR_BURST][8];
	struct rte_comch_op far_ops[FAR_BURST];
	struct rte_comch_sge whole;
	struct wire *w;
	int64_t taken;
	uint16_t i, k;

	T_LE(n, FAR_BURST);
	for (i = 0; i < n; i++) {
		far_ops[i] = ops[i];
		if ((ops[i].flags & RTE_COMCH_OP_F_SGL) == 0) {
			whole = (struct rte_comch_sge){ ops[i].mr, ops[i].addr, ops[i].len };
			sge_to_far(&whole);
			far_ops[i].mr = whole.mr;
			far_ops[i].addr = whole.addr;
			continue;
		}
		T_LE(ops[i].nb_sges, RTE_DIM(sges[i]));
		far_ops[i].mr = NULL;
		for (k = 0; k < ops[i].nb_sges && ops[i].addr != NULL; k++) {
			sges[i][k] = ((const struct rte_comch_sge *)ops[i].addr)[k];
			sge_to_far(&sges[i][k]);
		}
	}
	w = far_begin(CALL_SEND);
	wire_u64(w, far_handle(queue));
	wire_u64(w, n);
	for (i = 0; i < n; i++)
		put_op(w, &far_ops[i], sges[i]);
	taken = far_do(w);
	far_end();
	return (uint16_t)taken;
}

static uint16_t
take(enum call call, const void *o, struct rte_comch_cpl *cpls, uint16_t n)
{
	struct wire *w = far_begin(call);
	int64_t got;

	wire_u64(w, far_handle(o));
	wire_u64(w, n);
	got = far_do(w);
	wire_get(w, cpls, (size_t)got * sizeof(*cpls));
	far_end();
	return (uint16_t)got;
}

static uint16_t
far_done(void *queue, struct rte_comch_cpl *cpls, uint16_t n)
{
	return take(CALL_DONE, queue, cpls, n);
}

/* Make the ring longer; its first entry becomes number 0. */
static void
posted_grow(struct far_obj *o)
{
	const uint32_t cap = o->cap == 0 ? 64 : o->cap * 2;
	struct far_buf *ring = calloc(cap, sizeof(*ring));
	uint32_t i;

	if (ring == NULL)
		T_FAIL("no memory");
	for (i = 0; i < o->nb_posted; i++)
		ring[i] = o->posted[(o->head + i) % o->cap];
	free(o->posted);
	o->posted = ring;
	o->cap = cap;
	o->head = 0;
}

static void
posted_add(struct far_obj *o, const struct far_buf *buf)
{
	if (o->nb_posted == o->cap)
		posted_grow(o);
	o->posted[(o->head + o->nb_posted++) % o->cap] = *buf;
}

static uint16_t
far_post(void *queue, const struct rte_comch_buf *bufs, uint16_t n)
{
	struct rte_comch_buf far_bufs[FAR_BURST];
	struct far_mem *mem[FAR_BURST];
	struct wire *w;
	int64_t taken;
	uint16_t i;

	T_LE(n, FAR_BURST);
	for (i = 0; i < n; i++) {
		mem[i] = far_mem(bufs[i].mr);
		far_bufs[i] = bufs[i];
		far_bufs[i].addr = (void *)(uintptr_t)far_mem_addr(mem[i], bufs[i].addr);
		far_bufs[i].mr = (void *)(uintptr_t)far_mem_handle(mem[i]);
	}
	w = far_begin(CALL_POST);
	wire_u64(w, far_handle(queue));
	wire_u64(w, n);
	wire_put(w, far_bufs, n * sizeof(far_bufs[0]));
	taken = far_do(w);
	for (i = 0; i < taken; i++)
		posted_add(queue, &(struct far_buf){ mem[i], bufs[i].addr });
	far_end();
	return (uint16_t)taken;
}

/* Completions come in the order of posting, each for the oldest buffer. Near memory gets
 * the message and no more: what is beside it in the twin was never written here.
 */
static uint16_t
far_recv(void *queue, struct rte_comch_cpl *cpls, uint16_t n)
{
	const uint16_t got = take(CALL_RECV, queue, cpls, n);
	struct far_obj *o = queue;
	struct far_buf buf;
	uint16_t i;

	for (i = 0; i < got; i++) {
		if (o->nb_posted == 0)
			T_FAIL("a completion without a buffer, cookie %#lx",
					(unsigned long)cpls[i].cookie);
		buf = o->posted[o->head];
		o->head = (o->head + 1) % o->cap;
		o->nb_posted--;
		if (cpls[i].status == 0)
			far_mem_pull(buf.mem, buf.addr, cpls[i].len);
	}
	return got;
}

void
far_data_init(struct far_obj *o)
{
	if (o->type == RTE_COMCH_OBJ_PRODUCER)
		o->producer = (struct rte_comch_producer_core){
			.send = far_send, .done = far_done, .queue = o,
		};
	else if (o->type == RTE_COMCH_OBJ_CONSUMER)
		o->consumer = (struct rte_comch_consumer_core){
			.post = far_post, .recv = far_recv, .queue = o,
		};
}
