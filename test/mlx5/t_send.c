/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Producers of the driver for RDMA, with its consumers, on fake verbs. */

#include <poll.h>
#include <stdlib.h>

#include <rte_random.h>

#include "u_path.h"

/* Content depends on the message, so that a wrong one is noticed. */
static void
fill(struct u_path *u, uint32_t off, uint32_t len, uint64_t seed)
{
	t_fill(u->mr[1].addr + off, len, seed);
}

static void
expect(struct u_path *u, uint32_t off, uint32_t len, uint64_t cookie)
{
	struct rte_comch_cpl cpl;

	T_AWAIT(u_recv(u, &cpl, 1) == 1);
	T_EQ(cpl.status, 0);
	T_EQ(cpl.cookie, cookie);
	T_EQ(cpl.len, len);
	T_VERIFY(u->mr[0].addr + off, len, cookie);
}

static void
expect_done(struct u_path *u, uint32_t prod, uint64_t cookie, int status)
{
	struct rte_comch_cpl cpl;

	T_AWAIT(u_done(u, prod, &cpl, 1) == 1);
	T_EQ(cpl.cookie, cookie);
	T_EQ(cpl.status, status);
}

/* Send a burst of equal messages; count its work requests. */
static void
burst(struct u_path *u, uint32_t n, uint32_t len, uint16_t imm_len, struct mlx5_qp_stats *st)
{
	uint8_t imm[RTE_COMCH_IMM_SIZE] = { 1, 2, 3 };
	struct mlx5_remote *r = u_remote(u);
	struct rte_comch_op ops[32];
	uint32_t i;

	for (i = 0; i < n; i++) {
		T_EQ(u_post(u, i * len, len, i), 1);
		fill(u, i * len, len, i);
		ops[i] = u_op(u, i * len, len, i);
		ops[i].imm = imm;
		ops[i].imm_len = imm_len;
	}
	/* The first use of the memory registers it. */
	T_AWAIT(u_send(u, 0, ops, 1) == 1);
	expect(u, 0, len, 0);
	expect_done(u, 0, 0, 0);
	T_EQ(u_post(u, 0, len, 0), 1);
	memset(st, 0, sizeof(*st));
	r->qp.stats = *st;
	/* The posts arrived one by one. */
	for (i = 1; i < n; i++)
		ops[i - 1] = ops[i];
	ops[n - 1] = u_op(u, 0, len, 0);
	ops[n - 1].imm = imm;
	ops[n - 1].imm_len = imm_len;
	T_EQ(u_send(u, 0, ops, (uint16_t)n), n);
	for (i = 1; i <= n; i++)
		expect(u, (i % n) * len, len, i % n);
	for (i = 1; i <= n; i++)
		expect_done(u, 0, i % n, 0);
	*st = r->qp.stats;
	T_EQ(st->rnr, 0);
	T_EQ(st->doorbells, 1);
	T_EQ(st->signalled, 1);
}

T_CASE(short_messages_share_work_requests)
{
	struct mlx5_qp_stats st;
	struct u_path u;

	t_eal_start(1);
	u_path_open(&u, &(struct u_path_conf){ 0 });
	burst(&u, 32, 64, 0, &st);
	T_EQ(st.sends, 5);
	T_EQ(st.writes, 0);
	burst(&u, 32, 64, 32, &st);
	T_EQ(st.sends, 8);
	burst(&u, 32, 8, 0, &st);
	T_EQ(st.sends, 1);
	u_path_close(&u);
	t_eal_stop();
}

T_CASE(long_messages_are_written)
{
	struct rte_comch_producer_stats *ps;
	struct mlx5_qp_stats st;
	struct u_path u;

	t_eal_start(1);
	u_path_open(&u, &(struct u_path_conf){ 0 });
	burst(&u, 32, 4096, 0, &st);
	T_EQ(st.writes, 32);
	/* 12 to a record. */
	T_EQ(st.sends, 1);
	burst(&u, 32, 4096, 1, &st);
	T_EQ(st.writes, 32);
	T_EQ(st.sends, 4);
	ps = u.prod[0]->stats;
	T_EQ(ps->copies, 0);
	T_EQ(ps->msgs, 66);
	u_path_close(&u);
	t_eal_stop();
}

/* A random message of the producers' memory, as one segment or three. */
static struct rte_comch_op
random_op(struct u_path *u, struct rte_comch_sge sges[3], uint32_t off, uint32_t max, uint64_t i)
{
	uint32_t len = (uint32_t)rte_rand_max(max), a, b;
	struct rte_comch_op op;

	if (rte_rand_max(3) == 0)
		len %= 300;
	op = u_op(u, off, len, i);
	fill(u, off, len, i);
	if (rte_rand_max(4) != 0 || len == 0)
		return op;
	a = (uint32_t)rte_rand_max(len + 1);
	b = (uint32_t)rte_rand_max(len + 1 - a);
	sges[0] = (struct rte_comch_sge){ &u->mr[1], u->mr[1].addr + off, a };
	sges[1] = (struct rte_comch_sge){ &u->mr[1], u->mr[1].addr + off + a, b };
	sges[2] = (struct rte_comch_sge){ &u->mr[1], u->mr[1].addr + off + a + b, len - a - b };
	op.addr = sges;
	op.mr = NULL;
	op.nb_sges = 3;
	op.flags = RTE_COMCH_OP_F_SGL;
	return op;
}

#define LANES 32

/* Messages of all sizes in bursts of all sizes: each arrives once, in order, whole. */
static void
all_sizes(const struct u_path_conf *conf, uint32_t max, uint32_t nb)
{
	const uint32_t lane = U_MEM / LANES / 8 * 8;
	uint8_t imm[RTE_COMCH_IMM_SIZE];
	struct rte_comch_cpl cpl;
	uint64_t posted = 0, sent = 0, got = 0, done = 0;
	struct rte_comch_sge sges[LANES][3];
	struct rte_comch_op ops[LANES];
	struct t_wait wait = t_wait_begin(__FILE__, __LINE__, "all messages arrive");
	uint32_t n_ready = 0, n;
	struct u_path u;

	rte_srand(1);
	u_path_open(&u, conf);
	while (done < nb || got < nb) {
		t_wait_check(&wait);
		while (posted < nb && posted < got + LANES &&
				u_post(&u, (uint32_t)(posted % LANES) * lane, max, posted) == 1)
			posted++;
		/* A lane is free when its last message is done. */
		while (n_ready < LANES && sent + n_ready < nb && sent + n_ready < done + LANES) {
			const uint64_t i = sent + n_ready;

			ops[i % LANES] = random_op(&u, sges[i % LANES],
				(uint32_t)(i % LANES) * lane, max, i);
			ops[i % LANES].imm = imm;
			ops[i % LANES].imm_len = (uint16_t)(i % 5 == 0 ? i % 33 : 0);
			n_ready++;
		}
		n = (uint32_t)rte_rand_max(RTE_MIN(n_ready, LANES - (uint32_t)(sent % LANES)) + 1);
		n = u_send(&u, 0, &ops[sent % LANES], (uint16_t)n);
		sent += n;
		n_ready -= n;
		while (u_recv(&u, &cpl, 1) == 1) {
			T_EQ(cpl.status, 0);
			T_EQ(cpl.cookie, got);
			T_EQ(cpl.imm_len, got % 5 == 0 ? got % 33 : 0);
			T_VERIFY(u.mr[0].addr + (got % LANES) * lane, cpl.len, got);
			got++;
		}
		while (u_done(&u, 0, &cpl, 1) == 1) {
			T_EQ(cpl.status, 0);
			T_EQ(cpl.cookie, done);
			done++;
		}
	}
	T_EQ(got, nb);
	T_EQ(u.side[0].fault, 0);
	T_EQ(u.side[1].fault, 0);
	T_EQ(u_remote(&u)->qp.stats.rnr, 0);
	u_path_close(&u);
}

#define SIZES_CASE(name, conf, max, nb, verbs) \
	T_CASE(name) \
	{ \
		struct fv_conf fc; \
		t_eal_start(1); \
		fv_conf_default(&fc); \
		T_EQ(fv_conf_parse(&fc, verbs), 0); \
		fv_configure(&fc); \
		all_sizes(conf, max, nb); \
		t_eal_stop(); \
	}

SIZES_CASE(all_sizes_arrive, (&(struct u_path_conf){ 0 }), 20000, 3000, "")
SIZES_CASE(all_sizes_arrive_late, (&(struct u_path_conf){ 0 }), 20000, 2000,
	"delay_us=20,jitter_us=20,late_recv=1,late_write=1")
/* Each message is a stream of many RDMA WRITEs. */
SIZES_CASE(long_writes_continue, (&(struct u_path_conf){ .depth = 4 }), 120000, 100,
	"max_msg_sz=1024,delay_us=20")
SIZES_CASE(few_work_requests, (&(struct u_path_conf){ .depth = 4, .max_tx = 21 }), 20000, 300,
	"max_msg_sz=512,max_sge=1,max_inline=0,delay_us=20")
SIZES_CASE(staged_messages_arrive, (&(struct u_path_conf){
	.hides_memory = true, .staging_size = 16384 }), 20000, 300, "")
SIZES_CASE(staged_messages_arrive_late, (&(struct u_path_conf){
	.hides_memory = true, .staging_size = 1024, .slot = 256 }), 3000, 300,
	"delay_us=20,jitter_us=20,late_recv=1")
SIZES_CASE(depth_of_one, (&(struct u_path_conf){ .depth = 1 }), 2000, 500, "")

/* Silent messages free each other's places, and a stop finds them all. */
T_CASE(silent_messages_complete)
{
	struct rte_comch_producer_stats *ps;
	struct rte_comch_cpl cpl;
	struct rte_comch_op op;
	struct u_path u;
	uint32_t i;

	t_eal_start(1);
	u_path_open(&u, &(struct u_path_conf){ .depth = 16 });
	ps = u.prod[0]->stats;
	op = u_op(&u, 0, 64, 0);
	op.flags = RTE_COMCH_OP_F_SILENT;
	for (i = 0; i < 100; i++) {
		T_EQ(u_post(&u, 0, 64, i), 1);
		T_AWAIT(u_send(&u, 0, &op, 1) == 1);
		T_AWAIT(u_recv(&u, &cpl, 1) == 1);
	}
	/* Fewer than one in three asked for a completion. */
	T_LT(u_remote(&u)->qp.stats.signalled, 34);
	T_EQ(u_done(&u, 0, &cpl, 1), 0);
	mlx5_data_ops.prod_halt(u.prod[0], RTE_COMCH_HALT_STOP);
	T_AWAIT(mlx5_data_ops.prod_idle(u.prod[0]));
	T_EQ(ps->msgs, 100);
	u_path_close(&u);
	t_eal_stop();
}

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

/* Two producers sleep on one queue pair's completions. */
T_CASE(sleepers_are_woken)
{
	struct rte_comch_cpl cpl;
	struct rte_comch_op op;
	struct fv_conf fc;
	struct u_path u;
	uint32_t i, round, n[2] = { 0, 0 };
	bool pending;

	t_eal_start(1);
	fv_conf_default(&fc);
	T_EQ(fv_conf_parse(&fc, "delay_us=100,jitter_us=100"), 0);
	fv_configure(&fc);
	u_path_open(&u, &(struct u_path_conf){ .nb_prods = 2 });
	for (round = 0; round < 100; round++) {
		for (i = 0; i < 2; i++) {
			T_EQ(u_post(&u, 0, 64, i), 1);
			op = u_op(&u, 0, 64, round);
			T_AWAIT(u_send(&u, i, &op, 1) == 1);
			n[i] = 0;
		}
		while (n[0] + n[1] < 2) {
			for (i = 0; i < 2; i++) {
				if (n[i] > 0)
					continue;
				mlx5_data_ops.dq_clear(u.prod[i]);
				mlx5_data_ops.dq_arm(u.prod[i]);
			}
			for (i = 0; i < 2; i++) {
				if (n[i] > 0)
					continue;
				/* The other one may take the event first, and then wakes us. */
				pending = mlx5_data_ops.dq_pending(u.prod[i]);
				T_CHECK(pending ||
					t_readable(mlx5_data_ops.dq_fd(u.prod[i]), 10000));
				mlx5_data_ops.dq_clear(u.prod[i]);
				n[i] += u_done(&u, i, &cpl, 1);
			}
		}
		for (i = 0; i < 2; i++)
			T_AWAIT(u_recv(&u, &cpl, 1) == 1);
	}
	u_path_close(&u);
	t_eal_stop();
}

/* A short send sleeps until a buffer is posted. */
T_CASE(sleeper_waits_for_a_post)
{
	struct rte_comch_cpl cpl;
	struct rte_comch_op op;
	struct u_path u;
	uint32_t i;

	t_eal_start(1);
	u_path_open(&u, &(struct u_path_conf){ 0 });
	op = u_op(&u, 0, 64, 0);
	for (i = 0; i < 50; i++) {
		T_EQ(u_send(&u, 0, &op, 1), 0);
		mlx5_data_ops.dq_clear(u.prod[0]);
		mlx5_data_ops.dq_arm(u.prod[0]);
		T_CHECK(!mlx5_data_ops.dq_pending(u.prod[0]));
		T_CHECK(!t_readable(mlx5_data_ops.dq_fd(u.prod[0]), 0));
		T_EQ(u_post(&u, 0, 64, i), 1);
		T_CHECK(t_readable(mlx5_data_ops.dq_fd(u.prod[0]), 10000));
		mlx5_data_ops.dq_clear(u.prod[0]);
		T_CHECK(mlx5_data_ops.dq_pending(u.prod[0]));
		T_EQ(u_send(&u, 0, &op, 1), 1);
		T_AWAIT(u_recv(&u, &cpl, 1) == 1);
		expect_done(&u, 0, 0, 0);
	}
	/* The consumer's end wakes it, too. */
	T_EQ(u_send(&u, 0, &op, 1), 0);
	mlx5_data_ops.dq_arm(u.prod[0]);
	T_CHECK(!mlx5_data_ops.dq_pending(u.prod[0]));
	u_stop_cons(&u);
	T_CHECK(t_readable(mlx5_data_ops.dq_fd(u.prod[0]), 10000));
	mlx5_data_ops.dq_clear(u.prod[0]);
	T_CHECK(mlx5_data_ops.dq_pending(u.prod[0]));
	T_EQ(u_send(&u, 0, &op, 1), 1);
	expect_done(&u, 0, 0, -ENOENT);
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

/* A stop waits while there is progress, and ends the link when there is none. */
T_CASE(stop_of_a_producer_without_progress)
{
	struct rte_comch_op op;
	struct u_path u;
	uint64_t begin;

	t_eal_start(1);
	u_path_open(&u, &(struct u_path_conf){ 0 });
	T_EQ(u_post(&u, 0, 64, 0), 1);
	op = u_op(&u, 0, 64, 0);
	mlx5_data_check(&u.side[1].link, t_now_ms());
	fv_hold();
	T_AWAIT(u_send(&u, 0, &op, 1) == 1);
	begin = t_now_ms();
	mlx5_data_ops.prod_halt(u.prod[0], RTE_COMCH_HALT_STOP);
	T_AWAIT(mlx5_data_ops.prod_abort(u.prod[0], -ECANCELED) || u.side[1].fault != 0);
	T_GE(t_now_ms() - begin, MLX5_STALL_MS);
	T_EQ(u.side[1].fault, -ETIMEDOUT);
	fv_release();
	u_path_down(&u);
	u_path_close(&u);
	t_eal_stop();
}

/* Threads: producers, a consumer, and the connection's, which checks and sleeps. */

#define NB_THREADS 3
#define NB_MSGS (t_sanitized() ? 1000 : 5000)

/* Poll for a while, then let the others run: there may be fewer CPUs than threads. */
static void
idle(uint32_t *polls)
{
	if (++*polls % 256 == 0)
		sched_yield();
	else
		rte_pause();
}

struct sender {
	struct u_path *u;
	uint32_t prod;
	pthread_t thread;
};

static uint32_t threads_end;

static void *
send_all(void *arg)
{
	struct sender *s = arg;
	struct rte_comch_cpl cpl[32];
	struct rte_comch_op ops[16];
	uint32_t sent = 0, done = 0, polls = 0, i, n;
	const uint32_t nb = NB_MSGS;

	while (done < nb) {
		n = RTE_MIN(nb - sent, 1 + sent % 16);
		for (i = 0; i < n; i++) {
			ops[i] = u_op(s->u, (s->prod * 16 + i) * 1024, (sent + i) % 1000,
				sent + i);
			if ((sent + i) % 7 == 3 && sent + i + 1 != nb)
				ops[i].flags = RTE_COMCH_OP_F_SILENT;
		}
		sent += s->u->core[s->prod].send(s->u->core[s->prod].queue, ops, (uint16_t)n);
		n = s->u->core[s->prod].done(s->u->core[s->prod].queue, cpl, 32);
		for (i = 0; i < n; i++) {
			if (done % 7 == 3)
				done++;
			T_EQ(cpl[i].status, 0);
			T_EQ(cpl[i].cookie, done);
			done++;
		}
		if (n == 0)
			idle(&polls);
	}
	return NULL;
}

static void *
connection(void *arg)
{
	struct u_path *u = arg;
	uint32_t polls = 0, i;

	while (comch_load_acquire(&threads_end) == 0) {
		mlx5_mem_service(mlx5_data_of(&u->side[1].link));
		mlx5_data_check(&u->side[1].link, t_now_ms());
		for (i = 0; i < NB_THREADS; i++) {
			(void)mlx5_data_ops.prod_idle(u->prod[i]);
			mlx5_data_ops.dq_clear(u->prod[i]);
		}
		mlx5_prod_wake_all(mlx5_data_of(&u->side[1].link));
		idle(&polls);
	}
	return NULL;
}

T_CASE(producers_share_a_consumer)
{
	const uint32_t all = NB_THREADS * (uint32_t)NB_MSGS;
	uint32_t next[NB_THREADS + 1] = { 0 }, got = 0, posted = 0, polls = 0;
	struct sender senders[NB_THREADS];
	struct rte_comch_cpl cpl;
	struct u_path u;
	pthread_t conn;
	uint32_t i;

	t_eal_start(1);
	u_path_open(&u, &(struct u_path_conf){ .nb_prods = NB_THREADS });
	T_EQ(pthread_create(&conn, NULL, connection, &u), 0);
	for (i = 0; i < NB_THREADS; i++) {
		senders[i] = (struct sender){ .u = &u, .prod = i };
		T_EQ(pthread_create(&senders[i].thread, NULL, send_all, &senders[i]), 0);
	}
	while (got < all) {
		while (posted < all && u_post(&u, posted % 64 * 1024, 1024, posted) == 1)
			posted++;
		if (u_recv(&u, &cpl, 1) == 0) {
			idle(&polls);
			continue;
		}
		T_EQ(cpl.status, 0);
		T_EQ(cpl.cookie, got);
		/* Of one producer, in order. */
		T_EQ(cpl.len, next[cpl.peer_id - 1] % 1000);
		next[cpl.peer_id - 1]++;
		got++;
	}
	for (i = 0; i < NB_THREADS; i++)
		pthread_join(senders[i].thread, NULL);
	comch_store_release(&threads_end, 1);
	pthread_join(conn, NULL);
	T_EQ(u.side[0].fault, 0);
	T_EQ(u.side[1].fault, 0);
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
