/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* How producers of the driver for RDMA end: stops, failures, and links that go DOWN. */

#include "u_flow.h"

/* The final position says what arrived. */
static void
stop_in_flight(const char *verbs)
{
	struct rte_comch_cpl cpl;
	struct rte_comch_op op;
	uint64_t final, i;
	struct fv_conf fc;
	struct u_path u;

	t_eal_start(1);
	fv_conf_default(&fc);
	T_EQ(fv_conf_parse(&fc, verbs), 0);
	fv_configure(&fc);
	u_path_open(&u, &(struct u_path_conf){ 0 });
	for (i = 0; i < 64; i++)
		T_EQ(u_post(&u, (uint32_t)i * 4096, 4096, i), 1);
	for (i = 0; i < 40; i++) {
		fill(&u, (uint32_t)i * 4096, 4096, i);
		op = u_op(&u, (uint32_t)i * 4096, i % 2 == 0 ? 4096 : 100, i);
		T_AWAIT(u_send(&u, 0, &op, 1) == 1);
	}
	final = u_stop_cons(&u);
	T_LE(final, 40);
	for (i = 0; i < 40; i++)
		expect_done(&u, 0, i, i < final ? 0 : -ENOENT);
	/* Messages to it fail from now on. */
	op = u_op(&u, 0, 8, 77);
	T_EQ(u_send(&u, 0, &op, 1), 1);
	expect_done(&u, 0, 77, -ENOENT);
	T_AWAIT(mlx5_data_ops.remote_free(&u.side[1].link.base, u.remote) == 0);
	u.remote = NULL;
	T_EQ(u.side[1].fault, 0);
	T_EQ(u.side[0].fault, 0);
	for (i = 0; i < final; i++)
		T_VERIFY(u.mr[0].addr + i * 4096, i % 2 == 0 ? 4096 : 100, i);
	T_EQ(u_done(&u, 0, &cpl, 1), 0);
	u_path_close(&u);
	t_eal_stop();
}

T_CASE(stop_of_a_consumer_is_exact)
{
	stop_in_flight("");
}

T_CASE(stop_of_a_consumer_is_exact_late)
{
	stop_in_flight("delay_us=300,jitter_us=100");
}

/* The link goes DOWN: each message completes once. */
T_CASE(down_completes_all)
{
	struct rte_comch_op op;
	struct rte_comch_cpl cpl;
	struct u_path u;
	uint64_t i;

	t_eal_start(1);
	u_path_open(&u, &(struct u_path_conf){ .nb_prods = 2 });
	for (i = 0; i < 20; i++)
		T_EQ(u_post(&u, (uint32_t)i * 4096, 4096, i), 1);
	op = u_op(&u, 0, 4096, 1000);
	T_AWAIT(u_send(&u, 0, &op, 1) == 1);
	expect_done(&u, 0, 1000, 0);
	fv_hold();
	for (i = 0; i < 10; i++) {
		op = u_op(&u, (uint32_t)i * 4096, i % 2 == 0 ? 4096 : 64, i);
		T_EQ(u_send(&u, (uint32_t)i % 2, &op, 1), 1);
	}
	T_EQ(u_done(&u, 0, &cpl, 1), 0);
	T_CHECK(!mlx5_data_ops.prod_idle(u.prod[0]));
	u_path_down(&u);
	for (i = 0; i < 10; i++)
		expect_done(&u, (uint32_t)i % 2, i, -ECONNRESET);
	T_CHECK(mlx5_data_ops.prod_idle(u.prod[0]));
	T_CHECK(mlx5_data_ops.prod_idle(u.prod[1]));
	op = u_op(&u, 0, 8, 77);
	T_EQ(u_send(&u, 0, &op, 1), 1);
	expect_done(&u, 0, 77, -ECONNRESET);
	fv_release();
	u_path_close(&u);
	t_eal_stop();
}

/* A producer that ends without taking its completions. */
T_CASE(abort_completes_all)
{
	struct rte_comch_op op;
	struct u_path u;
	uint64_t i;

	t_eal_start(1);
	u_path_open(&u, &(struct u_path_conf){ 0 });
	for (i = 0; i < 20; i++)
		T_EQ(u_post(&u, (uint32_t)i * 4096, 4096, i), 1);
	op = u_op(&u, 0, 4096, 0);
	T_AWAIT(u_send(&u, 0, &op, 1) == 1);
	fv_hold();
	for (i = 0; i < 10; i++)
		T_EQ(u_send(&u, 0, &op, 1), 1);
	u_path_down(&u);
	T_CHECK(mlx5_data_ops.prod_abort(u.prod[0], -ECONNRESET));
	T_CHECK(mlx5_data_ops.prod_idle(u.prod[0]));
	fv_release();
	u_path_close(&u);
	t_eal_stop();
}

/* Work requests that fail. */
static void
failure(enum ibv_wc_status status, int fault)
{
	struct rte_comch_op op;
	struct u_path u;
	uint64_t i;

	t_eal_start(1);
	u_path_open(&u, &(struct u_path_conf){ 0 });
	for (i = 0; i < 20; i++)
		T_EQ(u_post(&u, (uint32_t)i * 4096, 4096, i), 1);
	op = u_op(&u, 0, 4096, 100);
	T_AWAIT(u_send(&u, 0, &op, 1) == 1);
	expect_done(&u, 0, 100, 0);
	fv_fail_wr(&(struct fv_fault){
		.qp = u_remote(&u)->qp.qp, .opcode = -1, .nth = 2, .status = status });
	/* Of each message: a write, a record. */
	for (i = 0; i < 2; i++) {
		op.cookie = i;
		T_EQ(u_send(&u, 0, &op, 1), 1);
	}
	expect_done(&u, 0, 0, 0);
	T_WAIT((u_done(&u, 0, &(struct rte_comch_cpl){ 0 }, 0),
		mlx5_data_check(&u.side[1].link, t_now_ms())), u.side[1].fault != 0);
	T_EQ(u.side[1].fault, fault);
	T_CHECK(u.side[1].fault_text != NULL);
	u_path_down(&u);
	expect_done(&u, 0, 1, -ECONNRESET);
	u_path_close(&u);
	t_eal_stop();
}

T_CASE(remote_access_error_ends_the_link)
{
	failure(IBV_WC_REM_ACCESS_ERR, -EPROTO);
}

T_CASE(remote_operation_error_ends_the_link)
{
	failure(IBV_WC_REM_OP_ERR, -EPROTO);
}

T_CASE(retries_exceeded_end_the_link)
{
	failure(IBV_WC_RETRY_EXC_ERR, -ETIMEDOUT);
}

T_CASE(rnr_retries_exceeded_end_the_link)
{
	failure(IBV_WC_RNR_RETRY_EXC_ERR, -ETIMEDOUT);
}

T_CASE(local_error_ends_the_link)
{
	failure(IBV_WC_LOC_QP_OP_ERR, -EIO);
}

T_CASE(missing_completion_ends_the_link)
{
	struct rte_comch_op op;
	struct u_path u;

	t_eal_start(1);
	u_path_open(&u, &(struct u_path_conf){ 0 });
	T_EQ(u_post(&u, 0, 4096, 1), 1);
	op = u_op(&u, 0, 64, 0);
	T_AWAIT(u_remote(&u)->post->tail == 1 || u_done(&u, 0, &(struct rte_comch_cpl){ 0 }, 0) ||
		(mlx5_data_check(&u.side[1].link, t_now_ms()), false));
	fv_hold();
	T_EQ(u_send(&u, 0, &op, 1), 1);
	T_WAIT(mlx5_data_check(&u.side[1].link, t_now_ms()), u.side[1].fault != 0);
	T_EQ(u.side[1].fault, -ETIMEDOUT);
	T_STR_HAS(u.side[1].fault_text, "consumer 7");
	fv_release();
	u_path_down(&u);
	u_path_close(&u);
	t_eal_stop();
}

/* Time counts from the first look at a work request, also if it is the first of all. */
T_CASE(missing_completion_gets_its_time)
{
	struct rte_comch_op op;
	struct u_path u;

	t_eal_start(1);
	u_path_open(&u, &(struct u_path_conf){ 0 });
	u.side[1].dev.dead_ms = 60000;
	T_EQ(u_post(&u, 0, 4096, 1), 1);
	op = u_op(&u, 0, 64, 0);
	fv_hold();
	T_AWAIT(u_send(&u, 0, &op, 1) == 1);
	mlx5_data_check(&u.side[1].link, t_now_ms() + 100000);
	T_EQ(u.side[1].fault, 0);
	mlx5_data_check(&u.side[1].link, t_now_ms() + 150000);
	T_EQ(u.side[1].fault, 0);
	mlx5_data_check(&u.side[1].link, t_now_ms() + 170000);
	T_EQ(u.side[1].fault, -ETIMEDOUT);
	fv_release();
	u_path_down(&u);
	u_path_close(&u);
	t_eal_stop();
}

/*
 * A stopped consumer whose application does not take its messages: its final position
 * comes late, and a producer that stops does not wait for it, nor end the link.
 */
T_CASE(stop_of_a_producer_gives_up_a_stopped_consumer)
{
	struct rte_comch_op op, ops[3];
	struct u_path u;
	uint64_t i;

	t_eal_start(1);
	u_path_open(&u, &(struct u_path_conf){ 0 });
	for (i = 0; i < 8; i++)
		T_EQ(u_post(&u, 0, 64, i), 1);
	op = u_op(&u, 0, 64, 0);
	T_AWAIT(u_send(&u, 0, &op, 1) == 1);
	expect_done(&u, 0, 0, 0);
	mlx5_data_ops.cons_halt(u.cons, RTE_COMCH_HALT_STOP);
	/* At once, as the first failure stops the rest. */
	for (i = 1; i < 4; i++)
		ops[i - 1] = u_op(&u, 0, 64, i);
	T_EQ(u_send(&u, 0, ops, 3), 3);
	mlx5_data_peer_halted(&u.side[1].link, U_CONS_ID);
	mlx5_data_ops.prod_halt(u.prod[0], RTE_COMCH_HALT_STOP);
	T_CHECK(!mlx5_data_ops.prod_idle(u.prod[0]));
	T_AWAIT(mlx5_data_ops.prod_abort(u.prod[0], -ECANCELED));
	for (i = 1; i < 4; i++)
		expect_done(&u, 0, i, -ECANCELED);
	T_EQ(u.side[1].fault, 0);
	u_stop_cons(&u);
	T_AWAIT(mlx5_data_ops.remote_free(&u.side[1].link.base, u.remote) == 0);
	u.remote = NULL;
	T_EQ(u.side[1].fault, 0);
	u_path_close(&u);
	t_eal_stop();
}

/* A message that the device holds, and a stop of its producer. */
static void
stop_held(struct u_path *u, uint32_t dead_ms)
{
	struct rte_comch_op op;

	u_path_open(u, &(struct u_path_conf){ 0 });
	u->side[1].dev.dead_ms = dead_ms;
	T_EQ(u_post(u, 0, 64, 0), 1);
	op = u_op(u, 0, 64, 0);
	mlx5_data_check(&u->side[1].link, t_now_ms());
	fv_hold();
	T_AWAIT(u_send(u, 0, &op, 1) == 1);
	mlx5_data_ops.prod_halt(u->prod[0], RTE_COMCH_HALT_STOP);
}

/* A large write on a slow line moves nothing that can be seen until its end. */
T_CASE(stop_of_a_producer_waits_for_the_device)
{
	struct u_path u;
	uint64_t begin;

	t_eal_start(1);
	stop_held(&u, 10 * MLX5_STALL_MS);
	begin = t_now_ms();
	T_AWAIT(mlx5_data_ops.prod_abort(u.prod[0], -ECANCELED) ||
		t_now_ms() - begin > 2 * MLX5_STALL_MS);
	T_EQ(u.side[1].fault, 0);
	fv_release();
	T_AWAIT(mlx5_data_ops.prod_abort(u.prod[0], -ECANCELED));
	expect_done(&u, 0, 0, 0);
	T_EQ(u.side[1].fault, 0);
	u_path_close(&u);
	t_eal_stop();
}

T_CASE(stop_of_a_producer_without_progress)
{
	struct u_path u;
	uint64_t begin;

	t_eal_start(1);
	/* The driver's watch starts within. */
	begin = t_now_ms();
	stop_held(&u, 2 * MLX5_STALL_MS);
	T_AWAIT(mlx5_data_ops.prod_abort(u.prod[0], -ECANCELED) || u.side[1].fault != 0);
	T_GE(t_now_ms() - begin, 2 * MLX5_STALL_MS);
	T_EQ(u.side[1].fault, -ETIMEDOUT);
	fv_release();
	u_path_down(&u);
	u_path_close(&u);
	t_eal_stop();
}

/* A staged message that its consumer does not take: the stop aborts it, and only it. */
T_CASE(stop_of_a_producer_aborts_a_stream)
{
	struct rte_comch_cpl cpl;
	struct rte_comch_op op;
	struct u_path u;
	uint32_t round;

	t_eal_start(1);
	u_path_open(&u, &(struct u_path_conf){ .hides_memory = true, .staging_size = 4096 });
	for (round = 0; round < 3; round++) {
		T_EQ(u_post(&u, 0, 300000, 1), 1);
		T_EQ(u_post(&u, 0, 300000, 2), 1);
		fill(&u, 0, 300000, 2);
		op = u_op(&u, 0, 300000, 1);
		T_AWAIT(u_send(&u, 0, &op, 1) == 1);
		T_EQ(u_done(&u, 0, &cpl, 1), 0);
		mlx5_data_ops.prod_halt(u.prod[0], RTE_COMCH_HALT_STOP);
		T_CHECK(!mlx5_data_ops.prod_idle(u.prod[0]));
		T_AWAIT(mlx5_data_ops.prod_abort(u.prod[0], -ECANCELED));
		expect_done(&u, 0, 1, -ECANCELED);
		T_AWAIT(u_recv(&u, &cpl, 1) == 1);
		T_EQ(cpl.cookie, 1);
		T_EQ(cpl.status, -ECANCELED);
		mlx5_data_ops.prod_begin(u.prod[0], 1);
		op.cookie = 2;
		T_AWAIT(u_send(&u, 0, &op, 1) == 1);
		T_WAIT(u_done(&u, 0, &cpl, 0), u_recv(&u, &cpl, 1) == 1);
		T_EQ(cpl.cookie, 2);
		T_EQ(cpl.status, 0);
		T_VERIFY(u.mr[0].addr, 300000, 2);
		expect_done(&u, 0, 2, 0);
	}
	T_EQ(u.side[0].fault, 0);
	T_EQ(u.side[1].fault, 0);
	T_EQ(u_remote(&u)->qp.stats.rnr, 0);
	u_path_close(&u);
	t_eal_stop();
}
