/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Both ends of a connection of the driver for RDMA, on fake verbs: the input changes some of
 * what passes between them, from the private data of the connection request on, and says what
 * the applications do. Afterwards both ends connect again, and a message arrives.
 */

#include <stdatomic.h>
#include <stdlib.h>

#include "app.h"
#include "fv.h"
#include "u_driver.h"

#define MAX_CHANGES 6
#define MAX_DATA 56

/* The message with this number, counted from the connection request. */
struct change {
	uint8_t nth;
	uint8_t off;
	uint8_t how; /* 0: it ends there; else these bits change */
};

static struct t_pair pair;
static struct mlx5_glue table;
static struct change changes[MAX_CHANGES];
static unsigned int nb_changes;
static _Atomic unsigned int nb_passed;
static unsigned int nb_live; /* objects of the device, without a connection */

/* Change len bytes that are about to be sent; returns their number. */
static uint32_t
pass(uint8_t *bytes, uint32_t len)
{
	const unsigned int nth = atomic_fetch_add(&nb_passed, 1);
	const struct change *c;

	for (c = changes; c < changes + nb_changes; c++) {
		if (c->nth != nth || len == 0)
			continue;
		if (c->how == 0)
			len = c->off % len;
		else
			bytes[c->off % len] ^= c->how;
	}
	return len;
}

/* The private data of a request or an answer. */
static void
pass_param(struct rdma_conn_param *param, uint8_t copy[MAX_DATA])
{
	T_LE(param->private_data_len, MAX_DATA);
	memcpy(copy, param->private_data, param->private_data_len);
	param->private_data_len = (uint8_t)pass(copy, param->private_data_len);
	param->private_data = copy;
}

static int
connect_id(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct rdma_conn_param p = *param;
	uint8_t copy[MAX_DATA];

	pass_param(&p, copy);
	return fv_glue.connect(id, &p);
}

static int
accept_id(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct rdma_conn_param p = *param;
	uint8_t copy[MAX_DATA];

	pass_param(&p, copy);
	return fv_glue.accept(id, &p);
}

static int
reject_id(struct rdma_cm_id *id, const void *data, uint8_t len)
{
	uint8_t copy[MAX_DATA];

	T_LE(len, MAX_DATA);
	memcpy(copy, data, len);
	return fv_glue.reject(id, copy, (uint8_t)pass(copy, len));
}

/* Messages are in the sender's buffers, which are its own until they are sent. */
static int
post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct ibv_send_wr *w;

	for (w = wr; w != NULL; w = w->next)
		if (w->opcode == IBV_WR_SEND && w->num_sge == 1)
			w->sg_list[0].length = pass((uint8_t *)(uintptr_t)w->sg_list[0].addr,
				w->sg_list[0].length);
	return fv_glue.post_send(qp, wr, bad);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	RTE_SET_USED(argc);
	RTE_SET_USED(argv);
	table = fv_glue;
	table.connect = connect_id;
	table.accept = accept_id;
	table.reject = reject_id;
	table.post_send = post_send;
	mlx5_verbs = &table;
	/* An end that waits for the other in vain gives up soon. */
	u_dead_ms = 1000;
	t_driver = &u_driver;
	t_eal_start(1);
	t_pair_ends(&pair, NULL);
	nb_live = fv_nb_live(FV_ALL);
	return 0;
}

static void
read_changes(struct fuzz_in *in)
{
	const unsigned int n = fuzz_u8(in) % (MAX_CHANGES + 1);
	unsigned int i;

	for (i = 0; i < n; i++) {
		changes[i].nth = fuzz_u8(in);
		changes[i].off = fuzz_u8(in);
		changes[i].how = fuzz_u8(in);
	}
	nb_passed = 0;
	nb_changes = n;
}

/* Until nothing happens for some runs: a helper thread may be at work. */
static void
settle(unsigned int quiet)
{
	unsigned int i;

	for (i = 0; i < quiet; i++) {
		if (t_step_all() > 0)
			i = 0;
		sched_yield();
	}
}

static void
run(struct fuzz_in *in)
{
	struct app apps[2];
	uint8_t how;

	app_begin(&apps[0], pair.dpu, in);
	app_begin(&apps[1], pair.host, in);
	T_EQ(rte_comch_client_start(pair.client), -EINPROGRESS);
	/* The library says how it ends. */
	T_UNTIL(rte_comch_client_state(pair.client) != RTE_COMCH_STATE_STARTING);
	while (in->left > 0) {
		how = fuzz_u8(in);
		app_step(&apps[how & 1]);
		settle(how >> 4);
	}
	nb_changes = 0;
	app_end_queues(&apps[0]);
	app_end_queues(&apps[1]);
	t_pair_disconnect(&pair);
	app_end(&apps[0]);
	app_end(&apps[1]);
	T_UNTIL(rte_comch_server_nb_conns(pair.server) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };

	read_changes(&in);
	run(&in);
	t_forget(pair.dpu);
	t_forget(pair.host);
	t_pair_connect(&pair);
	t_send(pair.cconn, "again", 5, 1);
	T_UNTIL(t_count(pair.dpu, RTE_COMCH_EVENT_MSG, pair.sconn) == 1);
	t_pair_disconnect(&pair);
	T_UNTIL(rte_comch_server_nb_conns(pair.server) == 0);
	/* The helper thread destroys them. */
	T_UNTIL(fv_nb_live(FV_ALL) == nb_live);
	/* What ended is freed in one of the next runs. */
	t_steps(pair.dpu, 4);
	t_steps(pair.host, 4);
	t_forget(pair.dpu);
	t_forget(pair.host);
	return 0;
}

void
fuzz_end(void)
{
	t_pair_close(&pair);
	T_EQ(fv_nb_live(FV_ALL), 0);
}
