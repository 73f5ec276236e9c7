/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The helper thread of the driver for RDMA: with a device that is slow to register memory,
 * and to make and destroy queue pairs, each run of a poll stays short.
 */

#include <unistd.h>

#include "mlx5_private.h"
#include "u_ctrl.h"

#define SLOW_MS 100
/* A run may take so long, without the time that the thread waits for a CPU. */
#define RUN_MS 50
#define MIB (UINT32_C(1) << 20)
#define NB_EXIT_MRS 8

struct u_helper {
	struct t_pair p;
	uint64_t longest_run_ns;  /* run of a poll */
};

static void
begin(struct u_helper *u)
{
	memset(u, 0, sizeof(*u));
	u_ctrl_begin(&u->p);
}

static void
end(struct u_helper *u)
{
	u_ctrl_end(&u->p);
}

#define HELPER_CASE(name) T_CASE_OF(struct u_helper, begin, end, name, u)

static void
step(struct u_helper *u)
{
	struct t_node *nodes[] = { u->p.dpu, u->p.host };
	uint64_t start;
	unsigned int i;

	for (i = 0; i < RTE_DIM(nodes); i++) {
		start = t_own_ns();
		t_step(nodes[i]);
		u->longest_run_ns = RTE_MAX(u->longest_run_ns, t_own_since(start));
	}
	/* The helper may run on this CPU. */
	sched_yield();
}

/* Step until the condition holds; no run was long. */
#define SHORT_UNTIL(u, cond) \
	do { \
		T_WAIT(step(u), cond); \
		T_TIME_LE((u)->longest_run_ns / 1000000, RUN_MS); \
	} while (0)

static bool
is_in(const struct rte_comch_consumer *cons, enum rte_comch_state state)
{
	return rte_comch_consumer_state(cons) == state;
}

/* Both ends of the link fail. */
static void
ports_go_down(void)
{
	fv_event_port("fv0", IBV_EVENT_PORT_ERR);
	fv_event_port("fv1", IBV_EVENT_PORT_ERR);
}

/* A client connects and leaves. */
HELPER_CASE(connection)
{
	t_pair_ends(&u->p, NULL);
	fv_slow_call(FV_CALL_REG_MR, SLOW_MS);
	fv_slow_call(FV_CALL_CREATE_QP, SLOW_MS);
	fv_slow_call(FV_CALL_DESTROY_QP, SLOW_MS);
	fv_slow_call(FV_CALL_DESTROY_ID, SLOW_MS);
	T_EQ(rte_comch_client_start(u->p.client), -EINPROGRESS);
	SHORT_UNTIL(u, rte_comch_client_state(u->p.client) == RTE_COMCH_STATE_RUNNING &&
		rte_comch_server_nb_conns(u->p.server) == 1);
	T_EQ(rte_comch_client_stop(u->p.client), -EINPROGRESS);
	SHORT_UNTIL(u, rte_comch_client_state(u->p.client) == RTE_COMCH_STATE_IDLE &&
		rte_comch_server_nb_conns(u->p.server) == 0);
}

/* A consumer shows memory, receives, and hides it; the peer makes its end, and a key. */
HELPER_CASE(memory_and_queues)
{
	struct rte_comch_consumer *cons;
	struct rte_comch_producer *prod;
	struct rte_comch_mr *mrs[8];
	struct t_mem mem[8], src;
	struct rte_comch_op op;
	struct rte_comch_cpl cpl;
	struct rte_comch_buf buf;
	uint64_t before;
	unsigned int i;

	t_pair_open(&u->p, NULL);
	before = u_counter(u->p.dpu_dev, "pinned");
	for (i = 0; i < RTE_DIM(mem); i++) {
		t_mem_new(&mem[i], RTE_COMCH_MEM_HEAP, MIB, 0);
		mrs[i] = mem[i].mr;
	}
	t_mem_new(&src, RTE_COMCH_MEM_HEAP, MIB, 0);
	fv_slow_call(FV_CALL_REG_MR, SLOW_MS);
	fv_slow_call(FV_CALL_DEREG_MR, SLOW_MS);
	fv_slow_call(FV_CALL_CREATE_QP, SLOW_MS);
	fv_slow_call(FV_CALL_DESTROY_QP, SLOW_MS);
	cons = t_consumer_new(u->p.sconn, &(struct rte_comch_consumer_conf){
		.mrs = mrs, .nb_mrs = RTE_DIM(mrs) }, NULL);
	prod = t_producer_new(u->p.cconn, NULL);
	T_EQ(rte_comch_consumer_start(cons), -EINPROGRESS);
	step(u);
	/* All of it is counted before the first is registered. */
	T_GE(u_counter(u->p.dpu_dev, "pinned") - before, RTE_DIM(mem) * MIB);
	SHORT_UNTIL(u, is_in(cons, RTE_COMCH_STATE_RUNNING));
	buf = (struct rte_comch_buf){ .addr = mem[7].addr, .mr = mem[7].mr, .len = MIB };
	T_EQ(rte_comch_consumer_post(cons, &buf, 1), 1);
	t_fill(src.addr, MIB, 1);
	op = (struct rte_comch_op){ .addr = src.addr, .mr = src.mr, .len = MIB,
		.consumer_id = rte_comch_consumer_id(cons) };
	SHORT_UNTIL(u, rte_comch_producer_send(prod, &op, 1) == 1);
	SHORT_UNTIL(u, rte_comch_consumer_recv(cons, &cpl, 1) == 1);
	T_EQ(cpl.status, 0);
	T_VERIFY(mem[7].addr, MIB, 1);
	SHORT_UNTIL(u, rte_comch_producer_done_burst(prod, &cpl, 1) == 1);
	T_EQ(rte_comch_consumer_stop(cons), -EINPROGRESS);
	SHORT_UNTIL(u, (rte_comch_consumer_recv(cons, &cpl, 1),
		is_in(cons, RTE_COMCH_STATE_IDLE)));
	/* The peer's access is over. */
	T_LT(u_counter(u->p.dpu_dev, "pinned") - before, RTE_DIM(mem) * MIB);
	fv_slow_call(FV_CALL_DESTROY_QP, 0);
	t_consumer_end(cons);
	t_producer_end(prod);
	for (i = 0; i < RTE_DIM(mem); i++)
		t_mem_free(&mem[i]);
	t_mem_free(&src);
}

#define NB_CONS 64

/* The link of many consumers ends. */
HELPER_CASE(many_consumers_end)
{
	struct rte_comch_consumer *cons[NB_CONS];
	struct rte_comch_cpl cpl;
	struct t_mem mem;
	unsigned int i, nb_idle = 0;

	t_pair_open(&u->p, NULL);
	t_mem_new(&mem, RTE_COMCH_MEM_HEAP, MIB, 0);
	for (i = 0; i < NB_CONS; i++) {
		cons[i] = t_consumer_new(u->p.sconn, &(struct rte_comch_consumer_conf){
			.queue_size = 8 }, mem.mr);
		t_consumer_run(cons[i]);
	}
	fv_slow_call(FV_CALL_DESTROY_QP, 20);
	fv_slow_call(FV_CALL_DESTROY_ID, SLOW_MS);
	ports_go_down();
	while (nb_idle < NB_CONS) {
		SHORT_UNTIL(u, true);
		step(u);
		for (i = nb_idle = 0; i < NB_CONS; i++) {
			(void)rte_comch_consumer_recv(cons[i], &cpl, 1);
			nb_idle += is_in(cons[i], RTE_COMCH_STATE_IDLE);
		}
	}
	for (i = 0; i < NB_CONS; i++)
		T_EQ(rte_comch_consumer_destroy(cons[i]), 0);
	SHORT_UNTIL(u, rte_comch_client_state(u->p.client) == RTE_COMCH_STATE_IDLE &&
		rte_comch_server_nb_conns(u->p.server) == 0);
	fv_slow_call(FV_CALL_DESTROY_QP, 0);
	fv_slow_call(FV_CALL_DESTROY_ID, 0);
	t_mem_free(&mem);
	/* The devices are closed with jobs left. */
}

/* The link ends while memory is being registered, then the devices are closed. */
HELPER_CASE(link_ends_with_jobs)
{
	struct rte_comch_consumer *cons;
	struct rte_comch_mr *mrs[4];
	struct rte_comch_cpl cpl;
	struct t_mem mem[4];
	unsigned int i;

	t_pair_open(&u->p, NULL);
	for (i = 0; i < RTE_DIM(mem); i++) {
		t_mem_new(&mem[i], RTE_COMCH_MEM_HEAP, MIB, 0);
		mrs[i] = mem[i].mr;
	}
	fv_slow_call(FV_CALL_REG_MR, SLOW_MS);
	cons = t_consumer_new(u->p.sconn, &(struct rte_comch_consumer_conf){
		.mrs = mrs, .nb_mrs = RTE_DIM(mrs) }, NULL);
	T_EQ(rte_comch_consumer_start(cons), -EINPROGRESS);
	for (i = 0; i < 5; i++)
		step(u);
	ports_go_down();
	SHORT_UNTIL(u, (rte_comch_consumer_recv(cons, &cpl, 1),
		is_in(cons, RTE_COMCH_STATE_IDLE)));
	T_EQ(rte_comch_consumer_destroy(cons), 0);
	for (i = 0; i < RTE_DIM(mem); i++)
		t_mem_free(&mem[i]);
}

/* Exit status. */
#define EXIT_IN_USE 3

static bool exits;

/* As a verbs library: it is finalized after the driver, and then must not be called. */
static void __attribute__((destructor(101)))
verbs_end(void)
{
	unsigned int begun, done, later, unused;

	if (!exits)
		return;
	fv_slow_calls(FV_CALL_REG_MR, &begun, &done);
	usleep(2 * SLOW_MS * 1000);
	fv_slow_calls(FV_CALL_REG_MR, &later, &unused);
	if (begun == 0 || begun == NB_EXIT_MRS || done != begun || later != begun)
		_exit(EXIT_IN_USE);
}

/* Of the leak sanitizer, if there is one. */
void __lsan_disable(void) __attribute__((weak));

/* The job in progress completes; those that wait are dropped. */
HELPER_CASE(process_exits_with_jobs)
{
	struct rte_comch_consumer *cons;
	struct rte_comch_mr *mrs[NB_EXIT_MRS];
	struct t_mem mem[NB_EXIT_MRS];
	unsigned int i, begun, done;

	/* The process exits without freeing anything, on purpose: do not report leaks. */
	if (__lsan_disable != NULL)
		__lsan_disable();
	t_pair_open(&u->p, NULL);
	for (i = 0; i < RTE_DIM(mem); i++) {
		t_mem_new(&mem[i], RTE_COMCH_MEM_HEAP, MIB, 0);
		mrs[i] = mem[i].mr;
	}
	fv_slow_call(FV_CALL_REG_MR, SLOW_MS);
	cons = t_consumer_new(u->p.sconn, &(struct rte_comch_consumer_conf){
		.mrs = mrs, .nb_mrs = RTE_DIM(mrs) }, NULL);
	T_EQ(rte_comch_consumer_start(cons), -EINPROGRESS);
	T_WAIT(step(u), (fv_slow_calls(FV_CALL_REG_MR, &begun, &done), begun > done));
	t_dir_remove();
	exits = true;
	exit(0);
}

/* A registration ends while the key to send from it is being made. */
HELPER_CASE(key_is_not_wanted_any_more)
{
	struct rte_comch_op op;
	struct t_mem src;
	struct t_flow f;
	uint64_t before;

	t_pair_open(&u->p, NULL);
	t_flow_open(&f, &u->p, NULL);
	t_mem_new(&src, RTE_COMCH_MEM_HEAP, MIB, 0);
	T_EQ(t_post(&f, 0, 4096, 1), 1);
	t_settle();
	before = u_counter(u->p.host_dev, "pinned");
	fv_slow_call(FV_CALL_REG_MR, SLOW_MS);
	op = (struct rte_comch_op){ .addr = src.addr, .mr = src.mr, .len = 4096,
		.consumer_id = f.id };
	SHORT_UNTIL(u, (rte_comch_producer_send(f.prod, &op, 1),
		u_counter(u->p.host_dev, "pinned") == before + MIB));
	fv_slow_call(FV_CALL_REG_MR, 0);
	t_mem_free(&src);
	T_EQ(u_counter(u->p.host_dev, "pinned"), before);
	t_flow_close(&f);
}

/* Memory is counted against the limit when the job is put, not when it is done. */
HELPER_CASE(limit_of_pinned_memory)
{
	struct rte_comch_consumer *cons;
	struct rte_comch_mr *mrs[2];
	struct t_mem mem[2];
	unsigned int i;

	t_pair_open(&u->p, &(struct t_pair_conf){ .dpu_args = ",max_pinned=25165824" });
	for (i = 0; i < RTE_DIM(mem); i++) {
		t_mem_new(&mem[i], RTE_COMCH_MEM_HEAP, 16 * MIB, 0);
		mrs[i] = mem[i].mr;
	}
	fv_slow_call(FV_CALL_REG_MR, SLOW_MS);
	cons = t_consumer_new(u->p.sconn, &(struct rte_comch_consumer_conf){
		.mrs = mrs, .nb_mrs = RTE_DIM(mrs) }, NULL);
	T_EQ(rte_comch_consumer_start(cons), -EINPROGRESS);
	step(u);
	T_GE(u_counter(u->p.dpu_dev, "pinned"), 16 * MIB);
	T_LE(u_counter(u->p.dpu_dev, "pinned"), 24 * MIB);
	SHORT_UNTIL(u, is_in(cons, RTE_COMCH_STATE_RUNNING));
	T_LE(u_counter(u->p.dpu_dev, "pinned"), 24 * MIB);
	fv_slow_call(FV_CALL_REG_MR, 0);
	t_consumer_end(cons);
	for (i = 0; i < RTE_DIM(mem); i++)
		t_mem_free(&mem[i]);
}
