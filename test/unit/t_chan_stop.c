/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* How a consumer ends: drain, wait for what is claimed, flush. */

#include <criterion/criterion.h>

#include <rte_cycles.h>

#include "u_chan.h"

#define DEPTH 16
#define LEN 64
/* Longer than any test. */
#define NEVER (UINT64_MAX / 4)

static struct u_chan *u;

static void
setup(void)
{
	u = u_chan_create(&(struct u_conf){
		.depth = DEPTH, .staging_size = 256, .timeout_cycles = NEVER,
	});
}

static void
teardown(void)
{
	u_chan_free(u);
}

TestSuite(chan_stop, .init = setup, .fini = teardown);

Test(chan_stop, drain_then_flush)
{
	struct rte_comch_cpl cpls[DEPTH];
	uint16_t i;

	u_post_many(u, U_MR_DIRECT, 6, LEN);
	for (i = 0; i < 4; i++)
		cr_assert_eq(u_send(u, 0, 1, i), 1);
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_STOP);
	cr_assert_eq(u->post->closed, 1u);
	cr_assert(comch_chan_cons_pending(&u->c));
	cr_assert_eq(comch_chan_recv(&u->c, cpls, DEPTH), 6);
	for (i = 0; i < 6; i++) {
		cr_assert_eq(cpls[i].cookie, i);
		cr_assert_eq(cpls[i].status, i < 4 ? 0 : -ECANCELED);
	}
	cr_assert_eq(u->nb_drained, 1u);
	cr_assert_eq(u->c.rx.drained, 1u);
	cr_assert(!comch_chan_cons_pending(&u->c));
	cr_assert_eq(comch_chan_recv(&u->c, cpls, DEPTH), 0);
	cr_assert_eq(u->nb_drained, 1u);
	cr_assert_eq(u->cons_faults, 0u);
}

/* The same in bursts of one; more than one record is still to be read. */
Test(chan_stop, drain_then_flush_one_by_one)
{
	struct rte_comch_cpl cpl;
	uint16_t i;

	u_post_many(u, U_MR_DIRECT, 6, LEN);
	for (i = 0; i < 4; i++)
		cr_assert_eq(u_send(u, 0, 1, i), 1);
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_STOP);
	for (i = 0; i < 6; i++) {
		cr_assert_eq(u->nb_drained, 0u);
		cr_assert(u_recv(u, &cpl));
		cr_assert_eq(cpl.status, i < 4 ? 0 : -ECANCELED);
	}
	cr_assert_eq(u->nb_drained, 1u);
}

Test(chan_stop, refusals_among_the_flushed)
{
	struct rte_comch_cpl cpls[4];

	cr_assert(u_post(u, U_MR_DIRECT, 0, LEN, 0));
	cr_assert(u_post(u, U_MR_DIRECT, u->mem_size, LEN, 1));
	cr_assert(u_post(u, U_MR_DIRECT, 0, LEN, 2));
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_STOP);
	/* Posted after the stop. */
	cr_assert(u_post(u, U_MR_DIRECT, 0, LEN, 3));
	cr_assert_eq(u->post->tail, 2u);
	cr_assert_eq(comch_chan_recv(&u->c, cpls, 4), 4);
	cr_assert_eq(cpls[0].status, -ECANCELED);
	cr_assert_eq(cpls[1].status, -EFAULT);
	cr_assert_eq(cpls[2].status, -ECANCELED);
	cr_assert_eq(cpls[3].status, -EBADFD);
	cr_assert_eq(u->nb_drained, 1u);
	/* And when the regions are gone. */
	cr_assert(u_post(u, U_MR_DIRECT, 0, LEN, 4));
	cr_assert(comch_chan_cons_pending(&u->c));
	cr_assert_eq(u_recv_all(u, -EBADFD), 1u);
}

Test(chan_stop, nothing_posted)
{
	comch_chan_cons_drain_empty(&u->c);
	cr_assert_eq(u->nb_drained, 0u, "it runs");
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_STOP);
	comch_chan_cons_drain_empty(&u->c);
	cr_assert_eq(u->nb_drained, 1u);
	comch_chan_cons_drain_empty(&u->c);
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_DOWN);
	cr_assert_eq(u->nb_drained, 1u);
}

/* The producer looked before, and claims after the door was closed. */
Test(chan_stop, closed_between_look_and_claim)
{
	struct rte_comch_op ops[3] = { u_op(u, 0, 8, 0), u_op(u, 0, 8, 1), u_op(u, 0, 8, 2) };
	struct rte_comch_cpl cpls[5];
	uint16_t i;

	u_post_many(u, U_MR_DIRECT, 5, LEN);
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_STOP);
	cr_assert_eq(comch_chan_send(&u->prod[0], ops, 3), 3);
	for (i = 0; i < 3; i++) {
		cr_assert_eq(u_rec(u, i)->head.kind, COMCH_REC_ABORT);
		cr_assert_eq(u_done_status(u), -ENOENT);
	}
	cr_assert_eq(u->direct.addr[0], 0, "no payload behind a closed door");
	cr_assert_eq(comch_chan_recv(&u->c, cpls, 5), 5);
	for (i = 0; i < 5; i++)
		cr_assert_eq(cpls[i].status, -ECANCELED);
	cr_assert_eq(u->cons_faults, 0u);
	cr_assert_eq(u->prod_faults, 0u);
}

Test(chan_stop, closed_before_staged)
{
	struct rte_comch_cpl cpl;

	u_post_many(u, U_MR_STAGED, 2, LEN);
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_STOP);
	cr_assert_eq(u_send(u, 0, 8, 1), 1);
	cr_assert_eq(u_done_status(u), -ENOENT);
	cr_assert_eq(u->rc.streaming, 0u);
	cr_assert_eq(u->rec->staging_head, 0u);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.status, -ECANCELED);
	cr_assert_eq(u_recv_all(u, -ECANCELED), 1u);
}

/* Sends to a closed consumer while it flushes one by one: nothing is mixed up. */
Test(chan_stop, sends_while_it_flushes)
{
	struct rte_comch_cpl cpl;
	uint32_t i;

	u_post_many(u, U_MR_DIRECT, 10, LEN);
	cr_assert_eq(u_send(u, 0, 8, 0), 1);
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_STOP);
	for (i = 0; i < 10; i++) {
		cr_assert(u_recv(u, &cpl));
		cr_assert_eq(cpl.cookie, i);
		cr_assert_eq(cpl.status, i == 0 ? 0 : -ECANCELED);
		(void)u_send(u, 0, 8, i);
		(void)u_send(u, 0, 8, i);
	}
	cr_assert_eq(u_recv_all(u, 0), 0u);
	cr_assert_eq(u->nb_drained, 1u);
	cr_assert_eq(u->cons_faults, 0u);
}

/*
 * All posted buffers came back, with messages: an application that then stops
 * receiving, as it may, still sees the end of the stop.
 */
Test(chan_stop, all_came_back_is_the_end)
{
	struct rte_comch_cpl cpls[4];

	u_post_many(u, U_MR_DIRECT, 4, LEN);
	cr_assert_eq(u_send(u, 0, 8, 0) + u_send(u, 0, 8, 1) + u_send(u, 0, 8, 2) +
		u_send(u, 0, 8, 3), 4);
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_STOP);
	cr_assert_eq(comch_chan_recv(&u->c, cpls, 4), 4);
	cr_assert_eq(cpls[3].status, 0);
	cr_assert_eq(u->nb_drained, 1u, "IDLE would never come");
}

/* A producer is between claim and commit: the consumer waits for it. */
Test(chan_stop, claimed_is_waited_for)
{
	struct rte_comch_cpl cpl;

	u_post_many(u, U_MR_DIRECT, 3, LEN);
	cr_assert(comch_chan_claim(&u->rc, 0, 2));
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_STOP);
	cr_assert(!u_recv(u, &cpl));
	cr_assert(!u_recv(u, &cpl));
	cr_assert(comch_chan_cons_pending(&u->c), "it must not fall asleep");
	u_publish(u, 0, COMCH_REC_DIRECT, 1, 4);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.status, 0);
	cr_assert(!u_recv(u, &cpl));
	u_publish(u, 1, COMCH_REC_ABORT, 1, 0);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.status, -ECANCELED);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(u->nb_drained, 1u);
	cr_assert_eq(u->cons_faults, 0u);
}

Test(chan_stop, claimed_and_never_committed)
{
	u->c.timeout_cycles = 0;
	u_post_many(u, U_MR_DIRECT, 3, LEN);
	cr_assert(comch_chan_claim(&u->rc, 0, 1));
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_STOP);
	cr_assert_eq(u_recv_all(u, -ECANCELED), 3u);
	cr_assert_eq(u->cons_faults, 1u);
	cr_assert_eq(u->last_fault, -ETIMEDOUT);
	cr_assert_eq(u->nb_drained, 1u);
}

/* The connection goes down: what was published comes, claims are not waited for. */
Test(chan_stop, down_flushes_at_once)
{
	struct rte_comch_cpl cpls[4];

	u_post_many(u, U_MR_DIRECT, 4, LEN);
	cr_assert_eq(u_send(u, 0, 8, 0), 1);
	cr_assert(comch_chan_claim(&u->rc, 1, 2));
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_DOWN);
	cr_assert_eq(comch_chan_recv(&u->c, cpls, 4), 4);
	cr_assert_eq(cpls[0].status, 0);
	cr_assert_eq(cpls[1].status, -ECANCELED);
	cr_assert_eq(cpls[3].status, -ECANCELED);
	cr_assert_eq(u->cons_faults, 0u);
	cr_assert_eq(u->nb_drained, 1u);
}

Test(chan_stop, down_ends_the_wait_of_a_stop)
{
	struct rte_comch_cpl cpl;

	u_post_many(u, U_MR_DIRECT, 2, LEN);
	cr_assert(comch_chan_claim(&u->rc, 0, 1));
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_STOP);
	cr_assert(!u_recv(u, &cpl));
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_DOWN);
	/* A stop that comes later changes nothing. */
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_STOP);
	cr_assert_eq(u_recv_all(u, -ECANCELED), 2u);
	cr_assert_eq(u->cons_faults, 0u);
}

/*
 * Messages that arrive while the flush is under way belong to buffers that
 * were given back: nothing is delivered after the first flushed one.
 */
Test(chan_stop, down_delivers_nothing_after_the_first_flushed)
{
	struct rte_comch_cpl cpl;

	u_post_many(u, U_MR_DIRECT, 3, LEN);
	cr_assert(comch_chan_claim(&u->rc, 0, 2));
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_DOWN);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.status, -ECANCELED);
	u_publish(u, 0, COMCH_REC_DIRECT, 1, 4);
	u_publish(u, 1, COMCH_REC_DIRECT, 1, 4);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.status, -ECANCELED, "%d", cpl.status);
}

/* The connection goes down while a message streams, the producer goes on. */
Test(chan_stop, down_within_a_stream)
{
	struct rte_comch_cpl cpl, done;

	cr_assert(u_post(u, U_MR_STAGED, 0, 400, 1));
	cr_assert(u_post(u, U_MR_STAGED, 1024, 400, 2));
	cr_assert_eq(u_send(u, 0, 400, 1), 1);
	cr_assert(!u_recv(u, &cpl));
	cr_assert(u->c.pulling);
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_DOWN);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.cookie, 1u);
	cr_assert_eq(cpl.status, -ECANCELED);
	/* The rest of the message for buffer 1 must not become that of buffer 2. */
	cr_assert_eq(comch_chan_done(&u->prod[0], &done, 1), 1);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.cookie, 2u);
	cr_assert_eq(cpl.status, -ECANCELED, "%d: half a message", cpl.status);
	cr_assert_eq(u->nb_drained, 1u);
}

/* A stop that gave up waiting for a stream is the same. */
Test(chan_stop, deadline_within_a_stream)
{
	struct rte_comch_cpl cpl, done;

	u->c.timeout_cycles = 0;
	cr_assert(u_post(u, U_MR_STAGED, 0, 400, 1));
	cr_assert(u_post(u, U_MR_STAGED, 1024, 400, 2));
	cr_assert_eq(u_send(u, 0, 400, 1), 1);
	cr_assert(!u_recv(u, &cpl));
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_STOP);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.status, -ECANCELED);
	cr_assert_eq(u->last_fault, -ETIMEDOUT);
	(void)comch_chan_done(&u->prod[0], &done, 1);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.status, -ECANCELED, "%d: half a message", cpl.status);
}

/* An orderly stop waits for the stream to its end. */
Test(chan_stop, stop_within_a_stream)
{
	struct rte_comch_cpl cpl, done;

	cr_assert(u_post(u, U_MR_STAGED, 0, 400, 1));
	cr_assert(u_post(u, U_MR_STAGED, 1024, 400, 2));
	cr_assert_eq(u_send(u, 0, 400, 1), 1);
	cr_assert(!u_recv(u, &cpl));
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_STOP);
	cr_assert(!u_recv(u, &cpl));
	cr_assert_eq(comch_chan_done(&u->prod[0], &done, 1), 1);
	cr_assert_eq(done.status, 0);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.status, 0);
	cr_assert_arr_eq(u->staged.addr, u->src.addr, 400);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.status, -ECANCELED);
	cr_assert_eq(u->nb_drained, 1u);
}

/*
 * An honest consumer stopped, and its memory was taken back, while a producer
 * was about to send: that is -ENOENT, not a peer that breaks the rules.
 */
Test(chan_stop, retired_memory_is_no_fault)
{
	u_post_many(u, U_MR_DIRECT, 3, LEN);
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_STOP);
	cr_assert_eq(u_recv_all(u, -ECANCELED), 3u);
	/* As CONSUMER_GONE and MR_DEL do, while the producer holds the entry. */
	u->rc.retired = 1;
	u->imports[U_REGION] = NULL;
	cr_assert_eq(u_send(u, 0, 8, 1), 1);
	cr_assert_eq(u_done_status(u), -ENOENT);
	cr_assert_eq(u->prod_faults, 0u);
}
