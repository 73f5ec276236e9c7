/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* One producer and one consumer, step by step: order, laps, batches, refusals. */

#include <stdlib.h>

#include <criterion/criterion.h>

#include "u_chan.h"

#define DEPTH 16
#define LEN 64

static struct u_chan *u;

static void
setup(void)
{
	u = u_chan_create(&(struct u_conf){ .depth = DEPTH });
}

static void
teardown(void)
{
	u_chan_free(u);
}

TestSuite(chan_order, .init = setup, .fini = teardown);

Test(chan_order, one_message)
{
	struct rte_comch_cpl cpl;

	cr_assert_eq(u_send(u, 0, 10, 1), 0, "nothing is posted");
	cr_assert(!u_recv(u, &cpl));
	cr_assert(u_post(u, U_MR_DIRECT, 128, LEN, 99));
	cr_assert(!u_recv(u, &cpl));
	cr_assert_eq(u_send(u, 5, 10, 1), 1);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.cookie, 99u);
	cr_assert_eq(cpl.status, 0);
	cr_assert_eq(cpl.len, 10u);
	cr_assert_eq(cpl.peer_id, 100u);
	cr_assert_eq(cpl.imm_len, 0);
	cr_assert_eq(cpl.copies, 0);
	cr_assert_arr_eq(u->direct.addr + 128, u->src.addr + 5, 10);
	cr_assert_eq(u->direct.addr[138], 0, "not a byte more");
	cr_assert_eq(comch_chan_done(&u->prod[0], &cpl, 1), 1);
	cr_assert_eq(cpl.cookie, 1u);
	cr_assert_eq(cpl.status, 0);
	cr_assert_eq(cpl.len, 10u);
	cr_assert_eq(cpl.peer_id, (uint32_t)U_CONS_ID);
	cr_assert_eq(cpl.copies, 1);
	cr_assert(!u_recv(u, &cpl));
	cr_assert_eq(u->c.rx.stats.msgs, 1u);
	cr_assert_eq(u->c.rx.stats.bytes, 10u);
	cr_assert_eq(u->prod[0].tx.stats.msgs, 1u);
	cr_assert_eq(u->prod[0].tx.stats.later, 1u);
}

/* Fewer come back than were offered, on either side. */
Test(chan_order, short_counts)
{
	struct rte_comch_buf bufs[DEPTH + 3];
	struct rte_comch_op ops[DEPTH + 3];
	struct rte_comch_cpl cpls[DEPTH + 3];
	uint16_t i;

	for (i = 0; i < RTE_DIM(bufs); i++) {
		bufs[i] = (struct rte_comch_buf){
			.addr = u->direct.addr + i * LEN, .mr = &u->direct, .len = LEN, .cookie = i,
		};
		ops[i] = u_op(u, i, 1, i);
	}
	cr_assert_eq(comch_chan_post(&u->c, bufs, 0), 0);
	cr_assert_eq(comch_chan_send(&u->prod[0], ops, 0), 0);
	cr_assert_eq(comch_chan_recv(&u->c, cpls, 0), 0);
	cr_assert_eq(comch_chan_done(&u->prod[0], cpls, 0), 0);
	cr_assert_eq(comch_chan_post(&u->c, bufs, DEPTH + 3), DEPTH);
	cr_assert_eq(comch_chan_post(&u->c, bufs, 1), 0);
	cr_assert_eq(comch_chan_send(&u->prod[0], ops, 3), 3);
	cr_assert_eq(comch_chan_send(&u->prod[0], ops + 3, DEPTH), DEPTH - 3);
	cr_assert_eq(comch_chan_recv(&u->c, cpls, DEPTH + 3), DEPTH);
	for (i = 0; i < DEPTH; i++) {
		cr_assert_eq(cpls[i].cookie, i);
		cr_assert_eq(u->direct.addr[i * LEN], u->src.addr[i]);
	}
	cr_assert_eq(comch_chan_done(&u->prod[0], cpls, DEPTH + 3), DEPTH);
	for (i = 0; i < DEPTH; i++)
		cr_assert_eq(cpls[i].cookie, i);
}

/* What the n-th message is: its length and its immediate data. */
static uint32_t
msg_len(uint64_t n)
{
	return (uint32_t)(n * 7 % (LEN + 1));
}

static uint16_t
msg_imm(uint64_t n)
{
	return n % 5 == 0 ? (uint16_t)(n % RTE_COMCH_IMM_SIZE + 1) : 0;
}

static void
check_msg(const struct rte_comch_cpl *cpl, uint64_t n)
{
	uint8_t imm[RTE_COMCH_IMM_SIZE];

	cr_assert_eq(cpl->status, 0);
	cr_assert_eq(cpl->cookie, n);
	cr_assert_eq(cpl->len, msg_len(n));
	cr_assert_eq(cpl->imm_len, msg_imm(n));
	memset(imm, (int)n, sizeof(imm));
	cr_assert_arr_eq(cpl->imm, imm, msg_imm(n));
	cr_assert_arr_eq(u->direct.addr + n % DEPTH * LEN, u->src.addr + n % 999, cpl->len);
}

static uint16_t
post_some(uint64_t n, uint16_t k)
{
	struct rte_comch_buf bufs[DEPTH];
	uint16_t i;

	for (i = 0; i < k; i++)
		bufs[i] = (struct rte_comch_buf){
			.addr = u->direct.addr + (n + i) % DEPTH * LEN, .mr = &u->direct,
			.len = LEN, .cookie = n + i,
		};
	return comch_chan_post(&u->c, bufs, k);
}

static uint16_t
send_some(uint64_t n, uint16_t k)
{
	uint8_t imm[DEPTH][RTE_COMCH_IMM_SIZE];
	struct rte_comch_op ops[DEPTH];
	uint16_t i;

	for (i = 0; i < k; i++) {
		memset(imm[i], (int)(n + i), RTE_COMCH_IMM_SIZE);
		ops[i] = u_op(u, (n + i) % 999, msg_len(n + i), n + i);
		ops[i].imm = imm[i];
		ops[i].imm_len = msg_imm(n + i);
	}
	return comch_chan_send(&u->prod[0], ops, k);
}

static uint64_t
take_done(uint64_t from)
{
	struct rte_comch_cpl cpls[5];
	uint16_t i, k;

	while ((k = comch_chan_done(&u->prod[0], cpls, RTE_DIM(cpls))) > 0) {
		for (i = 0; i < k; i++) {
			cr_assert_eq(cpls[i].cookie, from);
			cr_assert_eq(cpls[i].status, 0);
			from++;
		}
	}
	return from;
}

/* Burst sizes that never fit the depth: laps, wraps, records cut by short receives. */
Test(chan_order, many_laps)
{
	uint64_t posted = 0, sent = 0, got = 0, done = 0, step;
	struct rte_comch_cpl cpls[DEPTH];
	uint16_t i, k;

	for (step = 0; got < 20000; step++) {
		posted += post_some(posted, (uint16_t)(step % DEPTH + 1));
		sent += send_some(sent, (uint16_t)(step * 5 % DEPTH + 1));
		done = take_done(done);
		cr_assert_eq(done, sent);
		k = comch_chan_recv(&u->c, cpls, (uint16_t)(step * 3 % DEPTH + 1));
		for (i = 0; i < k; i++)
			check_msg(&cpls[i], got++);
		cr_assert(got <= sent && sent <= posted);
	}
	cr_assert_eq(u->cons_faults + u->prod_faults, 0u);
	cr_assert_eq(u->c.rx.stats.msgs, got);
	cr_assert_eq(u->prod[0].tx.stats.msgs, sent);
}

/* One record speaks for up to a dozen; what has immediate data speaks for itself. */
Test(chan_order, batches_and_immediates)
{
	static const uint8_t counts[DEPTH] = { 3, 0, 0, 1, 1, 11 };
	struct rte_comch_op ops[DEPTH];
	struct rte_comch_cpl cpl;
	uint16_t i;

	u_post_many(u, U_MR_DIRECT, DEPTH, LEN);
	for (i = 0; i < DEPTH; i++)
		ops[i] = u_op(u, i, i, i);
	ops[3].imm = ops[4].imm = "abcd";
	ops[3].imm_len = ops[4].imm_len = 4;
	cr_assert_eq(comch_chan_send(&u->prod[0], ops, DEPTH), DEPTH);
	for (i = 0; i < DEPTH; i++) {
		cr_assert_eq(u_rec(u, i)->head.count, counts[i], "%u", i);
		cr_assert_eq(u_rec(u, i)->seq, counts[i] > 0 ? i + 1u : 0u);
	}
	for (i = 0; i < DEPTH; i++) {
		cr_assert(u_recv(u, &cpl));
		cr_assert_eq(cpl.cookie, i);
		cr_assert_eq(cpl.len, i);
		cr_assert_eq(cpl.imm_len, i == 3 || i == 4 ? 4 : 0);
	}
	/* Next lap: 12 and 4, at positions whose records were written before. */
	u_post_many(u, U_MR_DIRECT, DEPTH, LEN);
	ops[3].imm_len = ops[4].imm_len = 0;
	cr_assert_eq(comch_chan_send(&u->prod[0], ops, DEPTH), DEPTH);
	cr_assert_eq(u_rec(u, 0)->head.count, COMCH_REC_BATCH);
	cr_assert_eq(u_rec(u, COMCH_REC_BATCH)->head.count, DEPTH - COMCH_REC_BATCH);
	cr_assert_eq(u_recv_all(u, 0), (uint32_t)DEPTH);
}

/* A record is taken in parts, with other calls in between. */
Test(chan_order, batch_taken_in_parts)
{
	struct rte_comch_cpl cpls[DEPTH];
	uint16_t got = 0, i, k;

	u_post_many(u, U_MR_DIRECT, DEPTH, LEN);
	cr_assert_eq(send_some(1, 4) + send_some(6, 4), 8);
	while (got < 8) {
		cr_assert(comch_chan_cons_pending(&u->c));
		k = comch_chan_recv(&u->c, cpls, (uint16_t)(1 + got % 3));
		cr_assert(k > 0);
		for (i = 0; i < k; i++)
			cr_assert_eq(cpls[i].cookie, got++);
		cr_assert(u_post(u, U_MR_DIRECT, 0, LEN, 1000));
	}
	cr_assert(!comch_chan_cons_pending(&u->c));
}

/* What cannot be posted comes back in its turn, and takes no position. */
Test(chan_order, refused_posts_in_order)
{
	struct rte_comch_mr other = { .addr = u->direct.addr, .len = u->mem_size };
	struct rte_comch_buf bufs[] = {
		{ .addr = u->direct.addr, .mr = &u->direct, .len = LEN },
		{ .addr = u->direct.addr, .mr = &u->direct, .len = (uint32_t)u->mem_size + 1 },
		{ .addr = u->direct.addr + u->mem_size, .mr = &u->direct, .len = 1 },
		{ .addr = u->direct.addr - 1, .mr = &u->direct, .len = 1 },
		{ .addr = u->direct.addr, .mr = &other, .len = LEN },
		{ .addr = u->direct.addr, .mr = NULL, .len = LEN },
		{ .addr = NULL, .mr = &u->direct, .len = 1 },
		{ .addr = NULL, .mr = NULL, .len = 0 },
		{ .addr = u->direct.addr + u->mem_size, .mr = &u->direct, .len = 0 },
		{ .addr = u->direct.addr + 1, .mr = &u->direct, .len = UINT32_MAX },
		{ .addr = u->direct.addr, .mr = &u->direct, .len = (uint32_t)u->mem_size },
	};
	static const int want[] = {
		0, -EFAULT, -EFAULT, -EFAULT, -EINVAL, -EINVAL, -EINVAL, 0, 0, -EFAULT, 0,
	};
	static const uint32_t lens[] = { 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100 };
	struct rte_comch_cpl cpls[RTE_DIM(bufs)];
	uint16_t i, k = 0;

	for (i = 0; i < RTE_DIM(bufs); i++)
		bufs[i].cookie = 50 + i;
	cr_assert_eq(comch_chan_post(&u->c, bufs, RTE_DIM(bufs)), RTE_DIM(bufs));
	cr_assert_eq(u->post->tail, 4u);
	/* Refusals at the front would come at once; the first has to be received before. */
	cr_assert_eq(comch_chan_recv(&u->c, cpls, RTE_DIM(cpls)), 0);
	for (i = 0; i < RTE_DIM(bufs); i++)
		if (want[i] == 0)
			cr_assert_eq(u_send(u, 0, lens[i], i), 1);
	/* In parts of three: a part may begin or end with a refusal. */
	while (k < RTE_DIM(bufs))
		k += comch_chan_recv(&u->c, &cpls[k], (uint16_t)RTE_MIN(3u, RTE_DIM(bufs) - k));
	for (i = 0; i < RTE_DIM(bufs); i++) {
		cr_assert_eq(cpls[i].cookie, 50u + i);
		cr_assert_eq(cpls[i].status, want[i], "%u: %d", i, cpls[i].status);
		cr_assert_eq(cpls[i].len, lens[i]);
	}
	cr_assert_eq(u->c.rx.stats.errors, 7u);
	cr_assert_eq(u->c.rx.stats.posted, 4u);
}

Test(chan_order, refused_behind_a_batch)
{
	struct rte_comch_cpl cpls[8];
	uint16_t i;

	for (i = 0; i < 6; i++)
		cr_assert(u_post(u, U_MR_DIRECT, i % 2 == 0 ? 0 : u->mem_size, LEN, i));
	cr_assert_eq(send_some(1, 3), 3);
	cr_assert_eq(comch_chan_recv(&u->c, cpls, 8), 6);
	for (i = 0; i < 6; i++) {
		cr_assert_eq(cpls[i].cookie, i);
		cr_assert_eq(cpls[i].status, i % 2 == 0 ? 0 : -EFAULT);
	}
}

/* A registration that the peer does not have yet is none. */
Test(chan_order, registration_not_ready)
{
	struct rte_comch_cpl cpl;

	u->mrs.nb = 0;
	cr_assert(u_post(u, U_MR_DIRECT, 0, LEN, 1));
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.status, -EINVAL);
	u->mrs.nb = 2;
	u->mrs.mr[U_MR_DIRECT].ready = 0;
	cr_assert(u_post(u, U_MR_DIRECT, 0, LEN, 2));
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.status, -EINVAL);
	u->mrs.mr[U_MR_DIRECT].ready = 1;
	cr_assert(u_post(u, U_MR_DIRECT, 0, LEN, 3));
	cr_assert(!u_recv(u, &cpl));
	cr_assert_eq(u_send(u, 0, 1, 1), 1);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.cookie, 3u);
	cr_assert_eq(cpl.status, 0);
}

/* A consumer that starts again shows its memory as another region, or does not. */
Test(chan_order, region_of_a_new_start)
{
	const struct comch_desc *desc = u->post->desc;

	cr_assert(u_post(u, U_MR_DIRECT, 4, LEN, 1));
	cr_assert_eq(desc[0].where, (uint64_t)U_REGION << COMCH_DESC_OFF_BITS | 4);
	u->mrs.mr[U_MR_DIRECT].region = U_REGION + 1;
	comch_chan_cons_bind(&u->c, u->post, u->rec, 0);
	cr_assert(u_post(u, U_MR_DIRECT, 4, LEN, 2));
	cr_assert_eq(desc[0].where, (uint64_t)(U_REGION + 1) << COMCH_DESC_OFF_BITS | 4);
	u->mrs.mr[U_MR_DIRECT].region = COMCH_REGION_STAGED;
	comch_chan_cons_bind(&u->c, u->post, u->rec, 0);
	cr_assert(u_post(u, U_MR_DIRECT, 4, LEN, 3));
	cr_assert_eq(desc[0].where, (uint64_t)COMCH_REGION_STAGED << COMCH_DESC_OFF_BITS);
}

/* Two producers share the positions; each one's messages stay in order. */
Test(chan_order, two_producers)
{
	struct rte_comch_op op;
	struct rte_comch_cpl cpl;
	uint32_t i;

	u->prod[1] = u->prod[0];
	u->prod[1].tx.id = 101;
	u->prod[1].tx.done.ring = calloc(64, sizeof(struct comch_done));
	for (i = 0; i < 1000; i++) {
		cr_assert(u_post(u, U_MR_DIRECT, 0, LEN, i));
		op = u_op(u, 0, i % LEN, i);
		cr_assert_eq(comch_chan_send(&u->prod[i & 1], &op, 1), 1);
		cr_assert_eq(comch_chan_done(&u->prod[i & 1], &cpl, 1), 1);
		cr_assert(u_recv(u, &cpl));
		cr_assert_eq(cpl.peer_id, 100 + (i & 1));
		cr_assert_eq(cpl.cookie, i);
		cr_assert_eq(cpl.len, i % LEN);
	}
	free(u->prod[1].tx.done.ring);
}

/* The depth of one: every position has the same descriptor and record. */
Test(chan_order, depth_of_one)
{
	struct u_chan *one = u_chan_create(&(struct u_conf){ .depth = 1 });
	struct rte_comch_cpl cpl;
	uint32_t i;

	for (i = 0; i < 100; i++) {
		cr_assert(u_post(one, U_MR_DIRECT, 0, LEN, i));
		cr_assert(!u_post(one, U_MR_DIRECT, 0, LEN, i));
		cr_assert_eq(u_send(one, 0, 3, i), 1);
		cr_assert_eq(u_send(one, 0, 3, i), 0);
		cr_assert_eq(u_done_status(one), 0);
		cr_assert(u_recv(one, &cpl));
		cr_assert_eq(cpl.cookie, i);
	}
	u_chan_free(one);
}

/* A second life of the same queue over fresh regions begins at position 0. */
Test(chan_order, bound_again)
{
	struct rte_comch_cpl cpl;

	u_post_many(u, U_MR_DIRECT, 5, LEN);
	cr_assert_eq(send_some(1, 3), 3);
	cr_assert(u_recv(u, &cpl));
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_DOWN);
	cr_assert_eq(comch_chan_recv(&u->c, &cpl, 1), 1);
	cr_assert_eq(comch_chan_recv(&u->c, &cpl, 1), 1);
	cr_assert_eq(u_recv_all(u, -ECANCELED), 2u);
	cr_assert_eq(u->nb_drained, 1u);
	memset(u->post, 0, comch_chan_post_len(DEPTH));
	memset(u->rec, 0, comch_chan_rec_len(DEPTH, 0));
	u->rc.to.tail_seen = 0;
	comch_chan_cons_bind(&u->c, u->post, u->rec, 0);
	cr_assert(u_post(u, U_MR_DIRECT, 0, LEN, 77));
	cr_assert_eq(u_send(u, 0, 4, 1), 1);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.cookie, 77u);
	cr_assert_eq(cpl.status, 0);
}
