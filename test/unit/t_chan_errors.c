/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What a send refuses, with which status, and that nothing moves by it. */

#include <criterion/criterion.h>

#include "u_chan.h"

#define DEPTH 8
#define LEN 100

static struct u_chan *u;

static void
setup(void)
{
	u = u_chan_create(&(struct u_conf){ .depth = DEPTH, .imm_size = 16, .done_size = 6 });
}

static void
teardown(void)
{
	u_chan_free(u);
}

TestSuite(chan_errors, .init = setup, .fini = teardown);

/* The operation is taken and comes back with that status; the buffer stays. */
static void
check_refused(const struct rte_comch_op *op, int status)
{
	uint64_t claim = u->rec->claim;
	struct rte_comch_cpl cpl;

	cr_assert_eq(comch_chan_send(&u->prod[0], op, 1), 1);
	cr_assert_eq(comch_chan_done(&u->prod[0], &cpl, 1), 1);
	cr_assert_eq(cpl.status, status, "%d, not %d", cpl.status, status);
	cr_assert_eq(cpl.cookie, op->cookie);
	cr_assert_eq(cpl.copies, 0);
	cr_assert_eq(u->rec->claim, claim);
	cr_assert(!u_recv(u, &cpl));
	cr_assert_eq(u->prod_faults, 0u);
}

Test(chan_errors, too_long)
{
	struct rte_comch_op op = u_op(u, 0, LEN + 1, 1);
	struct rte_comch_cpl cpl;

	cr_assert(u_post(u, U_MR_DIRECT, 0, LEN, 5));
	check_refused(&op, -EMSGSIZE);
	op.len = COMCH_MAX_MSG_LEN + 1;
	check_refused(&op, -EMSGSIZE);
	op.len = UINT32_MAX;
	check_refused(&op, -EMSGSIZE);
	/* The buffer is still next in line. */
	cr_assert_eq(u_send(u, 0, LEN, 2), 1);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.cookie, 5u);
	cr_assert_eq(u->prod[0].tx.stats.errors, 3u);
}

/* Also without any buffer: it could never succeed. */
Test(chan_errors, without_a_buffer)
{
	struct rte_comch_op op = u_op(u, u->mem_size, 1, 1);

	check_refused(&op, -EFAULT);
	op = u_op(u, 0, 1, 1);
	cr_assert_eq(comch_chan_send(&u->prod[0], &op, 1), 0);
}

Test(chan_errors, immediate)
{
	struct rte_comch_op op = u_op(u, 0, 1, 1);

	cr_assert(u_post(u, U_MR_DIRECT, 0, LEN, 5));
	op.imm = "0123456789abcdefg";
	op.imm_len = 17;
	check_refused(&op, -EMSGSIZE);
	op.imm_len = UINT16_MAX;
	check_refused(&op, -EMSGSIZE);
	op.imm_len = 1;
	op.imm = NULL;
	check_refused(&op, -EINVAL);
}

Test(chan_errors, source_memory)
{
	struct rte_comch_op op;

	cr_assert(u_post(u, U_MR_DIRECT, 0, LEN, 5));
	op = u_op(u, u->mem_size - 4, 5, 1);
	check_refused(&op, -EFAULT);
	op = u_op(u, 0, 4, 1);
	op.addr = u->src.addr - 1;
	check_refused(&op, -EFAULT);
	op = u_op(u, 0, 4, 1);
	op.mr = NULL;
	check_refused(&op, -EINVAL);
	op = u_op(u, 0, 4, 1);
	op.addr = NULL;
	check_refused(&op, -EINVAL);
	op = u_op(u, 0, 4, 1);
	op.flags = UINT16_C(1) << 2;
	check_refused(&op, -EINVAL);
	/* Nothing is read of a message without payload. */
	op = u_op(u, 0, 0, 1);
	op.addr = NULL;
	op.mr = NULL;
	cr_assert_eq(comch_chan_send(&u->prod[0], &op, 1), 1);
	cr_assert_eq(u_done_status(u), 0);
	cr_assert_eq(u_recv_all(u, 0), 1u);
}

Test(chan_errors, no_such_consumer)
{
	static const uint32_t ids[] = { 0, 1, U_CONS_ID + 1, U_CONS_ID + COMCH_MAX_CONSUMERS,
		UINT32_MAX };
	struct rte_comch_op op = u_op(u, 0, 1, 1);
	unsigned int i;

	cr_assert(u_post(u, U_MR_DIRECT, 0, LEN, 5));
	for (i = 0; i < RTE_DIM(ids); i++) {
		op.consumer_id = ids[i];
		check_refused(&op, -ENOENT);
	}
}

Test(chan_errors, empty_buffer)
{
	struct rte_comch_buf empty = { .cookie = 9 };
	struct rte_comch_op op = u_op(u, 0, 1, 1);
	struct rte_comch_cpl cpl;

	cr_assert_eq(comch_chan_post(&u->c, &empty, 1), 1);
	check_refused(&op, -EMSGSIZE);
	op.len = 0;
	op.imm = "imm";
	op.imm_len = 3;
	cr_assert_eq(comch_chan_send(&u->prod[0], &op, 1), 1);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.cookie, 9u);
	cr_assert_eq(cpl.len, 0u);
	cr_assert_eq(cpl.imm_len, 3);
	cr_assert_arr_eq(cpl.imm, "imm", 3);
}

/* However many a burst takes. */
static void
send_all(const struct rte_comch_op *ops, uint16_t n)
{
	uint16_t took = 0, k;

	while (took < n) {
		k = comch_chan_send(&u->prod[0], &ops[took], (uint16_t)(n - took));
		cr_assert(k > 0);
		took += k;
	}
}

/* A bad one in the middle: what is before goes, what is behind goes too, in order. */
Test(chan_errors, within_a_burst)
{
	struct rte_comch_op ops[5];
	struct rte_comch_cpl cpls[5];
	uint16_t i;

	u_post_many(u, U_MR_DIRECT, DEPTH, LEN);
	for (i = 0; i < 5; i++)
		ops[i] = u_op(u, 0, i, i);
	ops[2].len = LEN + 1;
	send_all(ops, 5);
	cr_assert_eq(comch_chan_done(&u->prod[0], cpls, 5), 5);
	for (i = 0; i < 5; i++) {
		cr_assert_eq(cpls[i].cookie, i);
		cr_assert_eq(cpls[i].status, i == 2 ? -EMSGSIZE : 0);
		cr_assert_eq(cpls[i].copies, i != 0 && i != 2, "only of a payload that was sent");
	}
	cr_assert_eq(comch_chan_recv(&u->c, cpls, 5), 4);
	for (i = 0; i < 4; i++)
		cr_assert_eq(cpls[i].len, i < 2 ? i : i + 1u);
}

/* Of each operation the source is checked, and may be of another registration. */
Test(chan_errors, sources_within_a_burst)
{
	static const int32_t status[] = { 0, 0, -EINVAL, -EFAULT, -EFAULT, 0 };
	struct rte_comch_op ops[RTE_DIM(status)];
	struct rte_comch_cpl cpls[RTE_DIM(status)];
	struct rte_comch_mr other = u->src;
	uint16_t i;

	other.addr += 100;
	other.len = 50;
	u_post_many(u, U_MR_DIRECT, DEPTH, LEN);
	for (i = 0; i < RTE_DIM(ops); i++)
		ops[i] = u_op(u, 100, 50, i);
	ops[1].mr = &other;
	ops[2].mr = NULL;
	ops[3].mr = &other;
	ops[3].len = 51;
	ops[4].addr = u->src.addr + u->src.len - 49;
	send_all(ops, RTE_DIM(ops));
	cr_assert_eq(comch_chan_done(&u->prod[0], cpls, RTE_DIM(cpls)), RTE_DIM(cpls));
	for (i = 0; i < RTE_DIM(cpls); i++) {
		cr_assert_eq(cpls[i].cookie, i);
		cr_assert_eq(cpls[i].status, status[i]);
	}
	cr_assert_eq(comch_chan_recv(&u->c, cpls, RTE_DIM(cpls)), 3);
	for (i = 0; i < 3; i++)
		cr_assert_arr_eq(u->direct.addr + i * LEN, u->src.addr + 100, 50);
}

/* Buffers of several sizes: each message is checked against its own. */
Test(chan_errors, buffers_of_several_sizes)
{
	struct rte_comch_op ops[3] = { u_op(u, 0, 10, 0), u_op(u, 0, 20, 1), u_op(u, 0, 5, 2) };
	struct rte_comch_cpl cpls[3];

	cr_assert(u_post(u, U_MR_DIRECT, 0, 10, 0));
	cr_assert(u_post(u, U_MR_DIRECT, 100, 19, 1));
	cr_assert_eq(comch_chan_send(&u->prod[0], ops, 3), 3);
	cr_assert_eq(comch_chan_done(&u->prod[0], cpls, 3), 3);
	cr_assert_eq(cpls[0].status, 0);
	cr_assert_eq(cpls[1].status, -EMSGSIZE);
	cr_assert_eq(cpls[2].status, 0);
	cr_assert_eq(comch_chan_recv(&u->c, cpls, 3), 2);
	cr_assert_eq(cpls[0].len, 10u);
	cr_assert_eq(cpls[1].len, 5u);
}

Test(chan_errors, segments)
{
	struct rte_comch_sge sge[4] = {
		{ &u->src, u->src.addr + 10, 3 },
		{ NULL, NULL, 0 },
		{ &u->src, u->src.addr, 1 },
		{ &u->src, u->src.addr + 50, 20 },
	};
	struct rte_comch_op op = u_op(u, 0, 24, 1);
	struct rte_comch_cpl cpl;

	cr_assert(u_post(u, U_MR_DIRECT, 0, LEN, 5));
	op.flags = RTE_COMCH_OP_F_SGL;
	op.addr = sge;
	op.mr = NULL;
	check_refused(&op, -EINVAL); /* no segments */
	op.nb_sges = 4;
	op.len = 23;
	check_refused(&op, -EINVAL);
	op.len = 25;
	check_refused(&op, -EINVAL);
	op.len = 24;
	sge[3].mr = NULL;
	check_refused(&op, -EINVAL);
	sge[3].mr = &u->src;
	sge[3].addr = NULL;
	check_refused(&op, -EINVAL);
	sge[3].addr = u->src.addr + u->mem_size - 19;
	check_refused(&op, -EFAULT);
	sge[3].addr = u->src.addr + 50;
	cr_assert_eq(comch_chan_send(&u->prod[0], &op, 1), 1);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.len, 24u);
	cr_assert_arr_eq(u->direct.addr, u->src.addr + 10, 3);
	cr_assert_eq(u->direct.addr[3], u->src.addr[0]);
	cr_assert_arr_eq(u->direct.addr + 4, u->src.addr + 50, 20);
}

/* Two segments of 2 GiB each are not 0 bytes. */
Test(chan_errors, segment_sum_does_not_wrap)
{
	struct rte_comch_mr big = { .addr = u->src.addr, .len = SIZE_MAX / 2 };
	struct rte_comch_sge sge[3] = {
		{ &big, u->src.addr, UINT32_C(1) << 31 },
		{ &big, u->src.addr, UINT32_C(1) << 31 },
		{ &big, u->src.addr, 8 },
	};
	struct rte_comch_op op = u_op(u, 0, 8, 1);

	cr_assert(u_post(u, U_MR_DIRECT, 0, LEN, 5));
	op.flags = RTE_COMCH_OP_F_SGL;
	op.addr = sge;
	op.nb_sges = 3;
	check_refused(&op, -EINVAL);
}

Test(chan_errors, silent)
{
	struct rte_comch_op op = u_op(u, 0, 1, 1);
	struct rte_comch_cpl cpl;
	unsigned int i;

	for (i = 0; i < 50; i++) {
		cr_assert(u_post(u, U_MR_DIRECT, 0, LEN, i));
		op.flags = RTE_COMCH_OP_F_SILENT;
		cr_assert_eq(comch_chan_send(&u->prod[0], &op, 1), 1);
		cr_assert_eq(comch_chan_done(&u->prod[0], &cpl, 1), 0);
		cr_assert(u_recv(u, &cpl));
	}
	op.consumer_id = 1;
	cr_assert_eq(comch_chan_send(&u->prod[0], &op, 1), 1);
	cr_assert_eq(comch_chan_done(&u->prod[0], &cpl, 1), 0);
	cr_assert_eq(u->prod[0].tx.stats.errors, 1u);
	cr_assert_eq(u->prod[0].tx.stats.msgs, 50u);
}

/* Every third one tells that it, and those before it, are done. */
Test(chan_errors, silent_within_a_burst)
{
	struct rte_comch_op ops[DEPTH];
	struct rte_comch_cpl cpls[DEPTH];
	uint16_t i;

	u_post_many(u, U_MR_DIRECT, DEPTH, LEN);
	for (i = 0; i < DEPTH; i++) {
		ops[i] = u_op(u, i, i + 1, i);
		ops[i].flags = i % 3 == 2 ? 0 : RTE_COMCH_OP_F_SILENT;
	}
	/* As many as can be done at a time, silent or not. */
	cr_assert_eq(comch_chan_send(&u->prod[0], ops, DEPTH), 6);
	cr_assert_eq(comch_chan_send(&u->prod[0], &ops[6], 2), 2);
	cr_assert_eq(comch_chan_done(&u->prod[0], cpls, DEPTH), DEPTH / 3);
	for (i = 0; i < DEPTH / 3; i++) {
		cr_assert_eq(cpls[i].cookie, 3u * i + 2);
		cr_assert_eq(cpls[i].len, 3u * i + 3);
	}
	cr_assert_eq(comch_chan_recv(&u->c, cpls, DEPTH), DEPTH);
	for (i = 0; i < DEPTH; i++)
		cr_assert_eq(cpls[i].len, i + 1u);
	cr_assert_eq(u->prod[0].tx.stats.msgs, DEPTH);
}

/* Six completions wait at most; failures count as well. */
Test(chan_errors, done_queue_full)
{
	struct rte_comch_op ops[DEPTH];
	struct rte_comch_cpl cpls[DEPTH];
	uint16_t i;

	u_post_many(u, U_MR_DIRECT, DEPTH, LEN);
	for (i = 0; i < DEPTH; i++)
		ops[i] = u_op(u, 0, 1, i);
	ops[1].consumer_id = 1;
	cr_assert_eq(comch_chan_send(&u->prod[0], ops, DEPTH), 6);
	cr_assert_eq(comch_chan_send(&u->prod[0], ops + 6, 2), 0);
	cr_assert(comch_chan_prod_pending(&u->prod[0]));
	cr_assert_eq(comch_chan_done(&u->prod[0], cpls, 1), 1);
	cr_assert_eq(comch_chan_send(&u->prod[0], ops + 6, 2), 1);
	cr_assert_eq(comch_chan_done(&u->prod[0], cpls, DEPTH), 6);
	for (i = 0; i < 6; i++) {
		cr_assert_eq(cpls[i].cookie, i + 1u);
		cr_assert_eq(cpls[i].status, i == 0 ? -ENOENT : 0);
	}
}

Test(chan_errors, halted_producer)
{
	struct rte_comch_op op = u_op(u, 0, 1, 1);

	cr_assert(u_post(u, U_MR_DIRECT, 0, LEN, 5));
	u->prod[0].tx.halt = RTE_COMCH_HALT_STOP;
	check_refused(&op, -EBADFD);
	u->prod[0].tx.halt = RTE_COMCH_HALT_DOWN;
	check_refused(&op, -ECONNRESET);
}
