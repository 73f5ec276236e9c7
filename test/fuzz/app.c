/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <rte_comch_dp.h>

#include "app.h"

#define MEM_LEN 16384
#define BUF_LEN 512u

enum step {
	STEP_SEND,
	STEP_ACCEPT,
	STEP_CONSUMER,
	STEP_START,
	STEP_POST,
	STEP_RECEIVE,
	STEP_STOP,
	STEP_PRODUCER,
	STEP_PRODUCE,
	STEP_DONE,
	STEP_DISCONNECT,
	STEP_SLEEP,
	NB_STEPS
};

static void
hook(struct t_node *node, const struct rte_comch_event *ev)
{
	struct app *a = node->hook_arg;

	switch (ev->type) {
	case RTE_COMCH_EVENT_CONNECTED:
		a->conn = ev->conn;
		a->request = NULL;
		break;
	case RTE_COMCH_EVENT_CONNECT_REQUEST:
		a->request = ev->conn;
		break;
	case RTE_COMCH_EVENT_DISCONNECTED:
		T_CHECK(ev->conn == a->conn || ev->conn == a->request);
		a->conn = a->request = NULL;
		break;
	case RTE_COMCH_EVENT_CONSUMER_NEW:
		a->peer_cons = ev->consumer.id;
		break;
	default:
		break;
	}
}

void
app_begin(struct app *a, struct t_node *node, struct fuzz_in *in)
{
	memset(a, 0, sizeof(*a));
	a->in = in;
	a->node = node;
	t_forget(node);
	node->hook = hook;
	node->hook_arg = a;
}

static void
send_msg(struct app *a, uint8_t how)
{
	static const uint8_t data[256];
	const struct rte_comch_msg msg = { .data = data, .len = how };

	rte_comch_conn_send_burst(a->conn, &msg, 1);
}

static struct t_mem *
mem_of(struct app *a, uint8_t how)
{
	struct t_mem *m = &a->mem[how & 1];

	if (m->addr == NULL)
		t_mem_new(m, how & 1 ? RTE_COMCH_MEM_HEAP : RTE_COMCH_MEM_SEALED, MEM_LEN, 0);
	return m;
}

static void
make_consumer(struct app *a, uint8_t how)
{
	struct rte_comch_consumer_conf conf = {
		.conf_size = sizeof(conf), .queue_size = 1u << (how >> 1) % 6,
		.mrs = &mem_of(a, how)->mr, .nb_mrs = 1,
	};
	uint32_t i;

	for (i = 0; i < APP_MAX && a->cons[i] != NULL; i++)
		;
	/* None: the connection is about to end, or has no fast path. */
	if (i < APP_MAX)
		a->cons[i] = rte_comch_consumer_create(a->conn, &conf);
}

static void
post(struct rte_comch_consumer *cons, struct t_mem *m, uint8_t how)
{
	const struct rte_comch_buf buf = {
		.addr = m->addr + how % 16 * BUF_LEN, .mr = m->mr, .len = 2u * how,
	};

	rte_comch_consumer_post_burst(cons, &buf, 1);
}

static void
receive(struct rte_comch_consumer *cons)
{
	struct rte_comch_cpl cpls[8];
	uint16_t i, n;

	n = rte_comch_consumer_recv_burst(cons, cpls, RTE_DIM(cpls));
	for (i = 0; i < n; i++) {
		T_LE(cpls[i].status, 0);
		T_LE(cpls[i].len, BUF_LEN);
		T_LE(cpls[i].imm_len, RTE_COMCH_IMM_SIZE);
	}
}

static void
make_producer(struct app *a)
{
	const struct rte_comch_producer_conf conf = { .conf_size = sizeof(conf) };
	uint32_t i;

	for (i = 0; i < APP_MAX && a->prod[i] != NULL; i++)
		;
	if (i == APP_MAX)
		return;
	a->prod[i] = rte_comch_producer_create(a->conn, &conf);
	if (a->prod[i] != NULL)
		(void)rte_comch_producer_start(a->prod[i]);
}

static void
produce(struct app *a, struct rte_comch_producer *prod, uint8_t how)
{
	struct t_mem *m = mem_of(a, 1);
	struct rte_comch_op ops[4];
	uint16_t i;

	for (i = 0; i < RTE_DIM(ops); i++)
		ops[i] = (struct rte_comch_op){
			.addr = m->addr, .mr = m->mr, .len = how & 1 ? how : 40u * how,
			.consumer_id = how & 4 ? a->peer_cons : 1u + how % 4,
		};
	rte_comch_producer_send_burst(prod, ops, 1u + how % RTE_DIM(ops));
}

static void
answer(struct app *a, uint8_t how)
{
	struct rte_comch_conn *conn = a->request;

	a->request = NULL;
	if (how & 1)
		rte_comch_conn_reject(conn, "not today");
	else
		rte_comch_conn_accept(conn);
}

static void
step_consumer(struct app *a, enum step step, struct rte_comch_consumer *cons,
		uint8_t how)
{
	if (step == STEP_START)
		rte_comch_consumer_start(cons);
	else if (step == STEP_POST)
		post(cons, mem_of(a, how), how);
	else if (step == STEP_RECEIVE)
		receive(cons);
	else if (step == STEP_STOP)
		rte_comch_consumer_stop(cons);
}

static void
step_producer(struct app *a, enum step step, struct rte_comch_producer *prod,
		uint8_t how)
{
	struct rte_comch_cpl cpls[8];

	if (step == STEP_PRODUCE)
		produce(a, prod, how);
	else if (step == STEP_DONE)
		rte_comch_producer_done_burst(prod, cpls, RTE_DIM(cpls));
}

void
app_step(struct app *a)
{
	const enum step step = fuzz_u8(a->in) % NB_STEPS;
	const uint8_t how = fuzz_u8(a->in);
	const uint32_t i = (how >> 6) % APP_MAX;

	if (step == STEP_ACCEPT && a->request != NULL)
		answer(a, how);
	else if (step == STEP_SLEEP)
		(void)rte_comch_poll_arm(a->node->poll, RTE_COMCH_POLL_ANY);
	if (a->cons[i] != NULL)
		step_consumer(a, step, a->cons[i], how);
	if (a->prod[i] != NULL)
		step_producer(a, step, a->prod[i], how);
	if (a->conn == NULL)
		return;
	if (step == STEP_SEND)
		send_msg(a, how);
	else if (step == STEP_CONSUMER)
		make_consumer(a, how);
	else if (step == STEP_PRODUCER)
		make_producer(a);
	else if (step == STEP_DISCONNECT)
		rte_comch_conn_disconnect(a->conn, "enough");
}

void
app_end_queues(struct app *a)
{
	uint32_t i;

	for (i = 0; i < APP_MAX; i++) {
		if (a->prod[i] != NULL)
			t_producer_end(a->prod[i]);
		if (a->cons[i] != NULL)
			t_consumer_end(a->cons[i]);
		a->prod[i] = NULL;
		a->cons[i] = NULL;
	}
}

void
app_end(struct app *a)
{
	app_end_queues(a);
	T_UNTIL(a->conn == NULL);
	t_mem_free(&a->mem[0]);
	t_mem_free(&a->mem[1]);
	a->node->hook = NULL;
}
