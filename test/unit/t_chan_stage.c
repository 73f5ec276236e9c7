/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The staging ring: messages that fit, that fill it, that stream through it. */

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "u_chan.h"

#define DEPTH 8
#define RING 1024
#define MEM 65536

static struct u_chan *u;

static void
setup(void)
{
	u = u_chan_create(&(struct u_conf){
		.depth = DEPTH, .staging_size = RING, .mem_size = MEM, .nb_prods = 2,
		.timeout_cycles = UINT64_MAX / 4,
	});
}

static void
teardown(void)
{
	u_chan_free(u);
}

TestSuite(chan_stage, .init = setup, .fini = teardown);

static void
check_recv(uint64_t cookie, size_t to, size_t from, uint32_t len)
{
	struct rte_comch_cpl cpl;

	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.cookie, cookie);
	cr_assert_eq(cpl.status, 0);
	cr_assert_eq(cpl.len, len);
	cr_assert_eq(cpl.copies, 1);
	cr_assert_arr_eq(u->staged.addr + to, u->src.addr + from, len);
}

Test(chan_stage, fits)
{
	cr_assert(u_post(u, U_MR_STAGED, 100, 200, 1));
	cr_assert_eq(u_send(u, 3, 150, 1), 1);
	cr_assert_eq(u_done_status(u), 0);
	cr_assert_eq(u->rec->staging_head, 192u, "a message begins on a line");
	check_recv(1, 100, 3, 150);
	cr_assert_eq(u->post->staging_tail, 192u);
	cr_assert_eq(u->c.rx.stats.staged, 1u);
	cr_assert_eq(u->prod[0].tx.stats.staged, 1u);
	cr_assert_eq(u->staged.addr[250], 0, "not a byte more");
}

Test(chan_stage, exactly_the_ring)
{
	uint32_t i;

	for (i = 0; i < 5; i++) {
		cr_assert(u_post(u, U_MR_STAGED, 0, RING, i));
		cr_assert_eq(u_send(u, i, RING, i), 1);
		cr_assert_null(u->prod[0].stream);
		check_recv(i, 0, i, RING);
	}
}

Test(chan_stage, immediate_and_empty)
{
	struct rte_comch_op op = u_op(u, 0, 7, 1);
	struct rte_comch_cpl cpl;

	cr_assert(u_post(u, U_MR_STAGED, 0, 16, 1));
	cr_assert(u_post(u, U_MR_STAGED, 16, 16, 2));
	op.imm = "abc";
	op.imm_len = 3;
	cr_assert_eq(comch_chan_send(&u->prod[0], &op, 1), 1);
	op.len = 0;
	cr_assert_eq(comch_chan_send(&u->prod[0], &op, 1), 1);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.len, 7u);
	cr_assert_eq(cpl.imm_len, 3);
	cr_assert_arr_eq(cpl.imm, "abc", 3);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.len, 0u);
	cr_assert_eq(cpl.copies, 0);
}

/* No room for it now: nothing is claimed, and later it goes. */
Test(chan_stage, full)
{
	u_post_many(u, U_MR_STAGED, 4, 600);
	cr_assert_eq(u_send(u, 0, 600, 1), 1);
	cr_assert_eq(u_send(u, 0, 600, 2), 0);
	cr_assert_eq(u->rec->claim, 1u);
	cr_assert_eq(u->rc.streaming, 0u);
	/* 384 bytes are left. */
	cr_assert_eq(u_send(u, 0, 385, 2), 0);
	cr_assert_eq(u_send(u, 0, 384, 2), 1);
	cr_assert_eq(u_send(u, 0, 1, 3), 0);
	check_recv(0, 0, 0, 600);
	cr_assert_eq(u_send(u, 0, 600, 3), 1);
	check_recv(1, 600, 0, 384);
	check_recv(2, 1200, 0, 600);
}

/* Send n messages of these lengths by one call, cookies from 0; the number accepted. */
static uint16_t
send_burst(const uint32_t *lens, uint16_t n)
{
	struct rte_comch_op ops[DEPTH];
	uint16_t i;

	for (i = 0; i < n; i++)
		ops[i] = u_op(u, i, lens[i], i);
	return comch_chan_send(&u->prod[0], ops, n);
}

/* One claim for all; the space is published once, by the end of the burst. */
Test(chan_stage, burst)
{
	static const uint32_t lens[] = { 1, 64, 65, 100, 128 };
	struct rte_comch_cpl cpl[DEPTH];
	unsigned int i;

	u_post_many(u, U_MR_STAGED, 5, 200);
	cr_assert_eq(send_burst(lens, 5), 5);
	cr_assert_eq(u->rec->claim, 5u);
	cr_assert_eq(u->rec->staging_head, 64u + 64 + 128 + 128 + 128);
	for (i = 0; i < 5; i++)
		cr_assert_eq(u_done_status(u), 0);
	cr_assert_eq(comch_chan_recv(&u->c, cpl, DEPTH), 5);
	for (i = 0; i < 5; i++) {
		cr_assert_eq(cpl[i].cookie, i);
		cr_assert_eq(cpl[i].status, 0);
		cr_assert_eq(cpl[i].len, lens[i]);
		cr_assert_arr_eq(u->staged.addr + 200 * i, u->src.addr + i, lens[i]);
	}
	cr_assert_eq(u->post->staging_tail, 512u);
	cr_assert_eq(u->prod_wakes, 0u);
	cr_assert_eq(u->prod[0].tx.stats.staged, 5u);
}

/* A burst ends where the ring does, and goes on once there is room. */
Test(chan_stage, burst_that_fills_the_ring)
{
	static const uint32_t lens[] = { 400, 400, 129, 128 };

	u_post_many(u, U_MR_STAGED, 4, 400);
	/* 448 + 448 of 1,024: 128 are left. */
	cr_assert_eq(send_burst(lens, 4), 2);
	cr_assert_eq(u->rec->claim, 2u);
	cr_assert_eq(u->rc.streaming, 0u);
	check_recv(0, 0, 0, 400);
	cr_assert_eq(u_send(u, 5, 129, 2), 1);
	check_recv(1, 400, 1, 400);
	check_recv(2, 800, 5, 129);
}

/* One of a burst is too long for its buffer, one is empty, one goes to shared memory. */
Test(chan_stage, burst_of_all_kinds)
{
	static const uint32_t lens[] = { 10, 300, 0, 20, 30, 40 };
	static const int statuses[] = { 0, -EMSGSIZE, 0, 0, 0, 0 };
	static const uint32_t got[] = { 10, 0, 20, 30, 40 };
	struct rte_comch_cpl cpl[DEPTH];
	unsigned int i;

	for (i = 0; i < 5; i++)
		cr_assert(u_post(u, i == 2 ? U_MR_DIRECT : U_MR_STAGED, 200 * i, 200, i));
	cr_assert_eq(send_burst(lens, 6), 6);
	for (i = 0; i < 6; i++)
		cr_assert_eq(u_done_status(u), statuses[i]);
	cr_assert_eq(comch_chan_recv(&u->c, cpl, DEPTH), 5);
	for (i = 0; i < 5; i++) {
		cr_assert_eq(cpl[i].cookie, i);
		cr_assert_eq(cpl[i].len, got[i]);
	}
	cr_assert_arr_eq(u->staged.addr, u->src.addr, 10);
	cr_assert_arr_eq(u->direct.addr + 400, u->src.addr + 3, 20);
	cr_assert_arr_eq(u->staged.addr + 800, u->src.addr + 5, 40);
}

/* The consumer has closed: all that were claimed end, and none is lost. */
Test(chan_stage, burst_after_the_end)
{
	static const uint32_t lens[] = { 10, 20, 30 };
	unsigned int i;

	u_post_many(u, U_MR_STAGED, 3, 200);
	u->post->closed = 1;
	cr_assert_eq(send_burst(lens, 3), 3);
	for (i = 0; i < 3; i++) {
		cr_assert_eq(u_done_status(u), -ENOENT);
		cr_assert_eq(u_rec(u, i)->head.kind, COMCH_REC_ABORT);
	}
	cr_assert_eq(u->rc.streaming, 0u);
	cr_assert_eq(u->rec->staging_head, 0u);
}

/* All lengths, so that heads and wraps fall everywhere. */
Test(chan_stage, wraps)
{
	uint32_t i, len;

	for (i = 0; i < 3000; i++) {
		len = 1 + i * 37 % RING;
		cr_assert(u_post(u, U_MR_STAGED, i % 100, len, i));
		cr_assert_eq(u_send(u, i % 77, len, i), 1);
		cr_assert_eq(u_done_status(u), 0);
		check_recv(i, i % 100, i % 77, len);
	}
}

Test(chan_stage, segments)
{
	struct rte_comch_sge sge[3] = {
		{ &u->src, u->src.addr + 100, 900 },
		{ &u->src, u->src.addr, 0 },
		{ &u->src, u->src.addr + 7, 1500 },
	};
	struct rte_comch_op op = u_op(u, 0, 2400, 1);
	struct rte_comch_cpl cpl, done;

	op.addr = sge;
	op.nb_sges = 3;
	op.flags = RTE_COMCH_OP_F_SGL;
	cr_assert(u_post(u, U_MR_STAGED, 0, 2400, 1));
	cr_assert_eq(comch_chan_send(&u->prod[0], &op, 1), 1);
	while (!u_recv(u, &cpl))
		(void)comch_chan_done(&u->prod[0], &done, 1);
	cr_assert_eq(cpl.len, 2400u);
	cr_assert_arr_eq(u->staged.addr, u->src.addr + 100, 900);
	cr_assert_arr_eq(u->staged.addr + 900, u->src.addr + 7, 1500);
}

/* Longer than the ring; pushed by done, pulled by recv. */
static void
stream_one(uint32_t len, uint64_t cookie)
{
	struct rte_comch_cpl cpl, done;
	uint32_t steps = 0, nb_done = 0;

	cr_assert(u_post(u, U_MR_STAGED, 5, len, cookie));
	cr_assert_eq(u_send(u, 9, len, cookie), 1);
	while (!u_recv(u, &cpl)) {
		nb_done += comch_chan_done(&u->prod[0], &done, 1);
		cr_assert(++steps < 10 * len / RING + 10);
	}
	cr_assert_eq(cpl.cookie, cookie);
	cr_assert_eq(cpl.status, 0);
	cr_assert_eq(cpl.len, len);
	cr_assert_arr_eq(u->staged.addr + 5, u->src.addr + 9, len);
	nb_done += comch_chan_done(&u->prod[0], &done, 1);
	cr_assert_eq(nb_done, 1u);
	cr_assert_eq(done.status, 0);
	cr_assert_eq(done.cookie, cookie);
	cr_assert_eq(done.len, len);
	cr_assert_eq(u->rc.streaming, 0u);
	memset(u->staged.addr, 0, MEM);
}

Test(chan_stage, streams)
{
	static const uint32_t lens[] = { RING + 1, RING + 63, RING + 64, 2 * RING,
		2 * RING + 1, 10 * RING - 1, 50 * RING + 17 };
	unsigned int i, round;

	for (round = 0; round < 20; round++)
		for (i = 0; i < RTE_DIM(lens); i++)
			stream_one(lens[i] + round, round * 100 + i);
	cr_assert_eq(u->cons_faults + u->prod_faults, 0u);
}

/* A stream waits for an empty ring, and nothing overtakes it. */
Test(chan_stage, stream_and_others)
{
	struct rte_comch_op big = u_op(u, 0, 3000, 2), small = u_op(u, 1, 10, 3);
	struct rte_comch_cpl cpl, done;

	cr_assert(u_post(u, U_MR_STAGED, 0, 10, 1));
	cr_assert(u_post(u, U_MR_STAGED, 1000, 3000, 2));
	cr_assert(u_post(u, U_MR_STAGED, 5000, 10, 3));
	cr_assert_eq(comch_chan_send(&u->prod[0], &small, 1), 1);
	cr_assert_eq(comch_chan_send(&u->prod[0], &big, 1), 0);
	check_recv(1, 0, 1, 10);
	cr_assert_eq(comch_chan_send(&u->prod[0], &big, 1), 1);
	cr_assert_eq(comch_chan_send(&u->prod[0], &small, 1), 0, "behind our own stream");
	cr_assert_eq(comch_chan_send(&u->prod[1], &small, 1), 0, "behind another's stream");
	cr_assert_eq(comch_chan_done(&u->prod[0], &done, 1), 1, "the first message");
	while (!u_recv(u, &cpl))
		cr_assert(comch_chan_done(&u->prod[0], &done, 1) <= 1);
	cr_assert_eq(cpl.cookie, 2u);
	cr_assert_arr_eq(u->staged.addr + 1000, u->src.addr, 3000);
	cr_assert_eq(comch_chan_send(&u->prod[1], &small, 1), 1);
	check_recv(3, 5000, 1, 10);
}

/* Another lcore's direct message passes a stream's producer, not its place. */
Test(chan_stage, direct_behind_a_stream)
{
	struct rte_comch_op big = u_op(u, 0, 3000, 2), small = u_op(u, 1, 10, 3);
	struct rte_comch_cpl cpl, done;

	cr_assert(u_post(u, U_MR_STAGED, 1000, 3000, 1));
	cr_assert(u_post(u, U_MR_DIRECT, 0, 10, 2));
	cr_assert_eq(comch_chan_send(&u->prod[0], &big, 1), 1);
	cr_assert_eq(comch_chan_send(&u->prod[1], &small, 1), 1);
	while (!u_recv(u, &cpl))
		(void)comch_chan_done(&u->prod[0], &done, 1);
	cr_assert_eq(cpl.cookie, 1u);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.cookie, 2u);
	cr_assert_eq(cpl.peer_id, 101u);
}

/* The peer dies in the middle of a stream: what is complete behind it is delivered. */
Test(chan_stage, direct_behind_a_stream_of_a_dead_peer)
{
	struct rte_comch_op big = u_op(u, 0, 3000, 2), small = u_op(u, 1, 10, 3);
	struct rte_comch_cpl cpl;

	cr_assert(u_post(u, U_MR_STAGED, 1000, 3000, 1));
	cr_assert(u_post(u, U_MR_DIRECT, 0, 10, 2));
	cr_assert(u_post(u, U_MR_STAGED, 5000, 10, 3));
	cr_assert(u_post(u, U_MR_DIRECT, 64, 10, 4));
	cr_assert_eq(comch_chan_send(&u->prod[0], &big, 1), 1);
	cr_assert_eq(comch_chan_send(&u->prod[1], &small, 1), 1);
	cr_assert_eq(comch_chan_done(&u->prod[1], &cpl, 1), 1);
	cr_assert_eq(cpl.status, 0);
	/* Only one that lies sends this. */
	u_publish(u, 2, COMCH_REC_STAGED, 1, 10);
	cr_assert(!u_recv(u, &cpl));
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_DOWN);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.cookie, 1u);
	cr_assert_eq(cpl.status, -ECANCELED);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.cookie, 2u);
	cr_assert_eq(cpl.status, 0, "%d", cpl.status);
	cr_assert_arr_eq(u->direct.addr, u->src.addr + 1, 10);
	cr_assert_eq(u_recv_all(u, -ECANCELED), 2u);
	cr_assert_eq(u->cons_faults, 0u);
	cr_assert_eq(u->nb_drained, 1u);
}

/* The end, while a live peer streams: what it was told of the ring is not taken back. */
Test(chan_stage, tail_of_a_stream_at_the_end)
{
	struct rte_comch_op big = u_op(u, 0, 3000, 1);
	struct rte_comch_cpl cpl;

	cr_assert(u_post(u, U_MR_STAGED, 0, 3000, 1));
	cr_assert(u_post(u, U_MR_STAGED, 4000, 10, 2));
	cr_assert(u_post(u, U_MR_STAGED, 5000, 10, 3));
	cr_assert_eq(comch_chan_send(&u->prod[0], &big, 1), 1);
	cr_assert(!u_recv(u, &cpl));
	cr_assert_eq(u->post->staging_tail, RING);
	/* More comes with the end, and the burst has no room for all buffers. */
	cr_assert_eq(comch_chan_done(&u->prod[0], &cpl, 1), 0);
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_DOWN);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.status, -ECANCELED);
	cr_assert_eq(u->post->staging_tail, 2 * RING);
	cr_assert_eq(comch_chan_done(&u->prod[0], &cpl, 1), 1);
	cr_assert_eq(cpl.status, 0, "it fits what is left");
	cr_assert_eq(u->prod_faults, 0u);
	cr_assert_eq(u_recv_all(u, -ECANCELED), 2u);
}

static void
stream_half(void)
{
	struct rte_comch_cpl cpl;

	cr_assert(u_post(u, U_MR_STAGED, 0, 5000, 1));
	cr_assert(u_post(u, U_MR_STAGED, 6000, 5000, 2));
	cr_assert_eq(u_send(u, 0, 5000, 1), 1);
	cr_assert(!u_recv(u, &cpl));
	cr_assert_eq(comch_chan_done(&u->prod[0], &cpl, 1), 0);
	cr_assert(!u_recv(u, &cpl));
	cr_assert_eq(u->c.pulled, 2u * RING);
}

/* The next message begins where the given-up one left off. */
static void
check_after_abort(int status)
{
	struct rte_comch_cpl cpl;

	cr_assert_eq(u_done_status(u), status);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.cookie, 1u);
	cr_assert_eq(cpl.status, -ECANCELED);
	cr_assert_eq(u->rc.streaming, 0u);
	cr_assert_eq(u_send(u, 77, 500, 2), 1);
	cr_assert_eq(u_done_status(u), 0);
	check_recv(2, 6000, 77, 500);
	stream_one(3 * RING, 3);
	cr_assert_eq(u->cons_faults, 0u);
}

Test(chan_stage, abort_with_all_pulled)
{
	stream_half();
	comch_chan_prod_abort(&u->prod[0], -ECANCELED);
	check_after_abort(-ECANCELED);
}

Test(chan_stage, abort_with_some_unpulled)
{
	struct rte_comch_cpl cpl;

	stream_half();
	cr_assert_eq(comch_chan_done(&u->prod[0], &cpl, 1), 0);
	comch_chan_prod_abort(&u->prod[0], -ECANCELED);
	check_after_abort(-ECANCELED);
}

Test(chan_stage, abort_before_the_first_pull)
{
	cr_assert(u_post(u, U_MR_STAGED, 0, 5000, 1));
	cr_assert(u_post(u, U_MR_STAGED, 6000, 5000, 2));
	cr_assert_eq(u_send(u, 0, 5000, 1), 1);
	comch_chan_prod_abort(&u->prod[0], -ECANCELED);
	check_after_abort(-ECANCELED);
}

/* The message behind an aborted one is in the ring when the consumer looks again. */
Test(chan_stage, abort_and_the_next_message_before_a_pull)
{
	struct rte_comch_cpl cpl;

	stream_half();
	comch_chan_prod_abort(&u->prod[0], -ECANCELED);
	cr_assert_eq(u_done_status(u), -ECANCELED);
	cr_assert_eq(u_send(u, 77, 500, 2), 1);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.cookie, 1u);
	cr_assert_eq(cpl.status, -ECANCELED);
	check_recv(2, 6000, 77, 500);
	cr_assert_eq(u->cons_faults, 0u);
}

/* Nothing streams: nothing to give up. */
Test(chan_stage, abort_without_a_stream)
{
	struct rte_comch_cpl cpl;

	comch_chan_prod_abort(&u->prod[0], -ECANCELED);
	cr_assert_eq(comch_chan_done(&u->prod[0], &cpl, 1), 0);
}

Test(chan_stage, connection_goes_down)
{
	struct rte_comch_cpl cpl;

	stream_half();
	u->prod[0].tx.halt = RTE_COMCH_HALT_DOWN;
	cr_assert_eq(comch_chan_done(&u->prod[0], &cpl, 1), 1);
	cr_assert_eq(cpl.status, -ECONNRESET);
	cr_assert_eq(cpl.cookie, 1u);
	cr_assert_null(u->prod[0].stream);
}

Test(chan_stage, consumer_retires)
{
	struct rte_comch_cpl cpl;

	stream_half();
	u->rc.retired = 1;
	cr_assert_eq(comch_chan_done(&u->prod[0], &cpl, 1), 1);
	cr_assert_eq(cpl.status, -ENOENT);
	cr_assert_eq(u->rc.streaming, 0u);
}

/* A stop of the producer lets the stream end. */
Test(chan_stage, producer_stops)
{
	struct rte_comch_cpl cpl, done;

	stream_half();
	u->prod[0].tx.halt = RTE_COMCH_HALT_STOP;
	while (!u_recv(u, &cpl))
		(void)comch_chan_done(&u->prod[0], &done, 1);
	cr_assert_eq(cpl.status, 0);
	cr_assert_arr_eq(u->staged.addr, u->src.addr, 5000);
}

Test(chan_stage, silent_stream)
{
	struct rte_comch_op op = u_op(u, 0, 5000, 1);
	struct rte_comch_cpl cpl, done;

	op.flags = RTE_COMCH_OP_F_SILENT;
	cr_assert(u_post(u, U_MR_STAGED, 0, 5000, 1));
	cr_assert_eq(comch_chan_send(&u->prod[0], &op, 1), 1);
	while (!u_recv(u, &cpl))
		cr_assert_eq(comch_chan_done(&u->prod[0], &done, 1), 0);
	cr_assert_eq(cpl.status, 0);
}

/* A side with pending work must not fall asleep. */
Test(chan_stage, pending)
{
	struct rte_comch_cpl cpl;

	stream_half();
	cr_assert(comch_chan_prod_pending(&u->prod[0]), "the ring is empty");
	cr_assert(!comch_chan_cons_pending(&u->c), "nothing new to pull");
	cr_assert_eq(comch_chan_done(&u->prod[0], &cpl, 1), 0);
	cr_assert(!comch_chan_prod_pending(&u->prod[0]), "the ring is full");
	cr_assert(comch_chan_cons_pending(&u->c), "a ring full to pull");
	cr_assert(!u_recv(u, &cpl));
	cr_assert(comch_chan_prod_pending(&u->prod[0]));
}

/* Given up before the consumer asked for a wake-up: it has to see that itself. */
Test(chan_stage, pending_after_an_abort)
{
	stream_half();
	cr_assert(!comch_chan_cons_pending(&u->c));
	comch_chan_prod_abort(&u->prod[0], -ECANCELED);
	comch_chan_cons_arm(&u->c);
	cr_assert(comch_chan_cons_pending(&u->c), "the end of the stream is a lost wake-up");
}

/* The consumer that a burst waits for is not the one that it staged a message for. */
Test(chan_stage, pending_behind_a_staged_message)
{
	struct u_chan *other = u_chan_create(&(struct u_conf){ .depth = DEPTH });
	struct rte_comch_op ops[2] = { u_op(u, 0, 150, 1), u_op(u, 0, 150, 2) };

	other->rc.to.base.id = ops[1].consumer_id = U_CONS_ID + 1;
	cr_assert_eq(comch_dir_add(&u->dir, &other->rc.to.base), 0);
	cr_assert(u_post(u, U_MR_STAGED, 0, 200, 1));
	cr_assert_eq(comch_chan_send(&u->prod[0], ops, 2), 1);
	cr_assert_eq(u_done_status(u), 0);
	cr_assert(!comch_chan_prod_pending(&u->prod[0]), "nothing is posted");
	cr_assert(u_post(other, U_MR_DIRECT, 0, 200, 1));
	cr_assert(comch_chan_prod_pending(&u->prod[0]), "a posted buffer is a lost wake-up");
	u_chan_free(other);
}

/* A send that waits for the ring waits for more than a posted buffer. */
Test(chan_stage, pending_while_the_ring_is_full)
{
	struct rte_comch_cpl cpl;

	u_post_many(u, U_MR_STAGED, 4, 600);
	cr_assert_eq(u_send(u, 0, 600, 1), 1);
	cr_assert_eq(u_send(u, 0, 600, 2), 0);
	cr_assert_eq(comch_chan_done(&u->prod[0], &cpl, 1), 1);
	cr_assert(!comch_chan_prod_pending(&u->prod[0]), "a poll that never sleeps");
	comch_chan_prod_arm(&u->prod[0]);
	check_recv(0, 0, 0, 600);
	cr_assert_eq(u->prod_wakes, 1u);
	cr_assert_eq(u->c.rx.stats.wakes, 1u);
	cr_assert(comch_chan_prod_pending(&u->prod[0]));
}

/* Two producers of this process: one sleeps until the other has left the ring. */
Test(chan_stage, pending_while_another_has_the_ring)
{
	struct rte_comch_op op = u_op(u, 0, 600, 9);
	struct rte_comch_cpl cpl;

	u_post_many(u, U_MR_STAGED, 2, 4000);
	cr_assert_eq(u_send(u, 0, 4000, 1), 1, "it streams");
	cr_assert_eq(comch_chan_send(&u->prod[1], &op, 1), 0);
	cr_assert(comch_chan_prod_pending(&u->prod[1]), "its owner would not wake us");
	comch_chan_prod_arm(&u->prod[1]);
	cr_assert(!comch_chan_prod_pending(&u->prod[1]), "a poll that never sleeps");
	while (u->prod[0].stream != NULL) {
		cr_assert_eq(u->others_woken, 0u);
		u_recv(u, &cpl);
		comch_chan_done(&u->prod[0], &cpl, 1);
	}
	cr_assert_eq(u->others_woken, 1u, "a lost wake-up");
	u_recv(u, &cpl);
	cr_assert(comch_chan_prod_pending(&u->prod[1]));
	cr_assert_eq(comch_chan_send(&u->prod[1], &op, 1), 1);
	cr_assert_eq(u->others_woken, 1u, "no producer was waiting");
}

/* The peer takes its consumer back, and frees no more space. */
Test(chan_stage, pending_when_the_consumer_is_gone)
{
	u_post_many(u, U_MR_STAGED, 1, 4000);
	cr_assert_eq(u_send(u, 0, 4000, 1), 1, "it streams");
	comch_chan_prod_arm(&u->prod[0]);
	cr_assert(!comch_chan_prod_pending(&u->prod[0]));
	comch_store_relaxed(&u->rc.retired, 1);
	cr_assert(comch_chan_prod_pending(&u->prod[0]), "a producer that sleeps for ever");
	cr_assert_eq(u_done_status(u), -ENOENT);
	cr_assert_eq(u->rc.streaming, (uint32_t)COMCH_STAGE_FREE);
}

/*
 * The send reads its source page by page: where it meets one that may not be read, the test looks
 * at what the consumer has by then.
 */
#define WIDE_RING (1u << 20)
#define PIECE (64u << 10)

static struct {
	uint8_t *page;
	uint64_t head;
	bool got_all;
	int faults;
} stop;

static void
on_stop(int sig)
{
	struct rte_comch_cpl cpl;

	(void)sig;
	if (stop.faults++ > 0)
		_exit(1); /* another fault, which would come back for ever */
	stop.head = u->rec->staging_head;
	stop.got_all = u_recv(u, &cpl);
	mprotect(stop.page, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE);
}

static void
setup_wide(void)
{
	u = u_chan_create(&(struct u_conf){
		.depth = DEPTH, .staging_size = WIDE_RING, .mem_size = 2 * WIDE_RING,
		.nb_prods = 1,
	});
}

TestSuite(chan_stage_wide, .init = setup_wide, .fini = teardown);

/* The consumer copies a message while the rest of it is written, also if it fits the ring. */
Test(chan_stage_wide, begins_before_the_end)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const struct sigaction sa = { .sa_handler = on_stop };

	/* In the fifth piece. */
	stop.page = (uint8_t *)RTE_ALIGN_CEIL((uintptr_t)u->src.addr + 4 * PIECE, page);
	cr_assert_eq(sigaction(SIGSEGV, &sa, NULL), 0);
	cr_assert_eq(mprotect(stop.page, page, PROT_NONE), 0);
	cr_assert(u_post(u, U_MR_STAGED, 0, WIDE_RING, 1));
	cr_assert_eq(u_send(u, 0, WIDE_RING, 1), 1);
	cr_assert_eq(stop.faults, 1);
	cr_assert_eq(stop.head, 4 * PIECE);
	cr_assert(!stop.got_all);
	cr_assert_eq(u->c.pulled, 4 * PIECE);
	cr_assert_null(u->prod[0].stream, "what fits is sent by one call");
	cr_assert_eq(u_done_status(u), 0);
	check_recv(1, 0, 0, WIDE_RING);
	cr_assert_eq(u->post->staging_tail, WIDE_RING);
}

/* Up to one piece, a message is there or not. */
Test(chan_stage_wide, one_piece)
{
	uint32_t i;

	for (i = 0; i < 40; i++) {
		cr_assert(u_post(u, U_MR_STAGED, i, PIECE, i));
		cr_assert_eq(u_send(u, 2 * i, PIECE, i), 1);
		check_recv(i, i, 2 * i, PIECE);
	}
}

/* Lengths around the ends of pieces, and wraps everywhere. */
Test(chan_stage_wide, pieces)
{
	uint32_t i, len;

	for (i = 0; i < 200; i++) {
		len = (1 + i % 16) * PIECE - 2 + i % 5;
		len = RTE_MIN(len, WIDE_RING);
		cr_assert(u_post(u, U_MR_STAGED, i, len, i));
		cr_assert_eq(u_send(u, 3 * i, len, i), 1);
		cr_assert_eq(u_done_status(u), 0);
		check_recv(i, i, 3 * i, len);
	}
}
