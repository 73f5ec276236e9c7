/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Large payloads that a DMA device copies: order, contents, failures, and what waits for a copy
 * in flight. The device is dma_skeleton, with the queue of t_dmadev.h.
 */

#include <pthread.h>
#include <sched.h>

#include <rte_dev.h>
#include <rte_dmadev.h>

#include "comch_dma.h"
#include "t_dmadev.h"
#include "t_main.h"
#include "u_chan.h"

#define DEPTH 64
#define LARGE 256
#define MEM (DEPTH * LARGE)
#define RING 1024

/* Within a burst: is this one idle? */
static struct comch_chan_prod *asked;
static bool said_idle;

struct dma_case {
	struct u_chan *u;
	struct comch_dma dma;
};

static void
ask(void)
{
	said_idle = comch_chan_prod_idle(asked);
}

static void
begin(struct dma_case *d)
{
	char why[128];

	t_eal_start(1);
	T_EQ(rte_eal_hotplug_add("vdev", "dma_skeleton0", ""), 0);
	*d = (struct dma_case){ .dma = { .min = LARGE, .max = 2 * LARGE } };
	T_EQ(comch_dma_open(&d->dma, "dma_skeleton0", why, sizeof(why)), 0);
	t_dmadev_attach(d->dma.id);
	d->u = u_chan_create(&(struct u_conf){
		.depth = DEPTH, .staging_size = RING, .mem_size = MEM, .nb_prods = 2,
		.timeout_cycles = UINT64_MAX / 4,
	});
	T_EQ(comch_chan_dma_attach(&d->u->prod[0], &d->dma, SOCKET_ID_ANY), 0);
	T_EQ(comch_chan_dma_attach(&d->u->prod[1], &d->dma, SOCKET_ID_ANY), 0);
}

static void
end(struct dma_case *d)
{
	T_CHECK(comch_chan_prod_idle(&d->u->prod[0]));
	T_EQ(d->u->prod[0].tx.epoch.now & 1, 0u);
	comch_chan_dma_detach(&d->u->prod[0]);
	comch_chan_dma_detach(&d->u->prod[1]);
	u_chan_free(d->u);
	comch_dma_close(&d->dma);
	T_EQ(rte_eal_hotplug_remove("vdev", "dma_skeleton0"), 0);
	t_eal_stop();
}

#define DMA_CASE(name) T_CASE_OF(struct dma_case, begin, end, name, d)

static uint16_t
send_by(struct u_chan *u, uint32_t prod, size_t off, uint32_t len, uint64_t cookie)
{
	struct rte_comch_op op = u_op(u, off, len, cookie);

	return comch_chan_dma_send(&u->prod[prod], &op, 1);
}

/* Takes the next completion, which is that of cookie. */
static void
check_done(struct u_chan *u, uint32_t prod, uint64_t cookie, int status, uint32_t copies)
{
	struct rte_comch_cpl cpl;

	T_EQ(comch_chan_dma_done(&u->prod[prod], &cpl, 1), 1);
	T_EQ(cpl.cookie, cookie);
	T_EQ(cpl.status, status);
	T_EQ(cpl.copies, copies);
}

static void
check_none_done(struct u_chan *u, uint32_t prod)
{
	struct rte_comch_cpl cpl;

	T_EQ(comch_chan_dma_done(&u->prod[prod], &cpl, 1), 0);
}

/* Receives the message from src + from in the buffer of that cookie. */
static void
check_recv(struct u_chan *u, uint64_t cookie, size_t from, uint32_t len)
{
	struct rte_comch_cpl cpl;

	T_CHECK(u_recv(u, &cpl));
	T_EQ(cpl.cookie, cookie);
	T_EQ(cpl.status, 0);
	T_EQ(cpl.len, len);
	T_CHECK(memcmp(u->direct.addr + cookie * LARGE, u->src.addr + from, len) == 0);
}

static void
check_none_received(struct u_chan *u)
{
	struct rte_comch_cpl cpl;

	T_CHECK(!u_recv(u, &cpl));
}

/* Messages that the core copies do not overtake those of the device, nor do their completions. */
DMA_CASE(order)
{
	struct u_chan *u = d->u;

	u_post_many(u, U_MR_DIRECT, 4, LARGE);
	T_EQ(send_by(u, 0, 10, LARGE, 1), 1);
	T_EQ(send_by(u, 0, 20, LARGE - 1, 2), 1);
	T_EQ(send_by(u, 0, 30, LARGE, 3), 1);
	T_EQ(send_by(u, 0, 40, 0, 4), 1);
	T_CHECK(comch_chan_prod_pending(&u->prod[0]));
	check_none_received(u);
	check_none_done(u, 0);
	t_dmadev_make(1, true);
	check_none_received(u);
	check_done(u, 0, 1, 0, 0);
	check_recv(u, 0, 10, LARGE);
	check_recv(u, 1, 20, LARGE - 1);
	check_none_received(u);
	check_done(u, 0, 2, 0, 1);
	check_none_done(u, 0);
	t_dmadev_make(1, true);
	check_done(u, 0, 3, 0, 0);
	check_done(u, 0, 4, 0, 0);
	check_recv(u, 2, 30, LARGE);
	check_recv(u, 3, 40, 0);
	T_CHECK(!comch_chan_prod_pending(&u->prod[0]));
	T_EQ(d->dma.copies, 2u);
	T_EQ(d->dma.bytes, 2u * LARGE);
	T_EQ(u->prod[0].tx.stats.msgs, 4u);
	T_EQ(u->prod[0].tx.stats.copies, 1u);
}

/* One call to the device's doorbell for a burst; and a look at the first burst after. */
DMA_CASE(burst)
{
	struct rte_comch_op ops[8];
	struct u_chan *u = d->u;
	uint32_t i;

	u_post_many(u, U_MR_DIRECT, 8, LARGE);
	for (i = 0; i < 8; i++)
		ops[i] = u_op(u, i, i < 5 ? LARGE : 16, i);
	T_EQ(comch_chan_dma_send(&u->prod[0], ops, 8), 8);
	T_EQ(t_dmadev.submitted, 5u);
	T_EQ(u->copies_started, 1u);
	t_dmadev_make(5, true);
	T_EQ(comch_chan_dma_send(&u->prod[0], ops, 0), 0);
	for (i = 0; i < 8; i++) {
		check_recv(u, i, i, i < 5 ? LARGE : 16);
		check_done(u, 0, i, 0, i >= 5);
	}
}

/* The caller's immediate data is copied at the send; a silent send has no completion. */
DMA_CASE(immediate_and_silent)
{
	struct u_chan *u = d->u;
	struct rte_comch_op op = u_op(u, 0, LARGE, 1);
	struct rte_comch_cpl cpl;
	char imm[] = "abc";

	u_post_many(u, U_MR_DIRECT, 1, LARGE);
	op.imm = imm;
	op.imm_len = 3;
	op.flags = RTE_COMCH_OP_F_SILENT;
	T_EQ(comch_chan_dma_send(&u->prod[0], &op, 1), 1);
	imm[0] = 'x';
	T_CHECK(comch_chan_prod_pending(&u->prod[0]));
	t_dmadev_make(1, true);
	check_none_done(u, 0);
	T_CHECK(u_recv(u, &cpl));
	T_EQ(cpl.imm_len, 3);
	T_CHECK(memcmp(cpl.imm, "abc", 3) == 0);
	T_EQ(u->prod[0].tx.stats.imm_msgs, 1u);
}

/*
 * The payload of a silent send may be used again when a later one is done, so that one waits: be it
 * short, or an error.
 */
DMA_CASE(behind_a_silent_one)
{
	struct u_chan *u = d->u;
	struct rte_comch_op op = u_op(u, 0, LARGE, 1);

	u_post_many(u, U_MR_DIRECT, 5, LARGE);
	T_EQ(send_by(u, 0, 0, 8, 0), 1);
	op.flags = RTE_COMCH_OP_F_SILENT;
	T_EQ(comch_chan_dma_send(&u->prod[0], &op, 1), 1);
	T_EQ(send_by(u, 0, 1, 8, 1), 1);
	T_EQ(comch_chan_dma_send(&u->prod[0], &op, 1), 1);
	T_EQ(send_by(u, 0, 2, 8, 2), 1);
	T_EQ(send_by(u, 0, MEM - 1, 8, 3), 1);
	check_done(u, 0, 0, 0, 1);
	check_none_done(u, 0);
	t_dmadev_make(1, true);
	check_done(u, 0, 1, 0, 1);
	check_none_done(u, 0);
	t_dmadev_make(1, false);
	check_done(u, 0, 2, 0, 1);
	check_done(u, 0, 3, -EFAULT, 0);
	T_EQ(u_recv_all(u, 0), 5u);
}

/* What fails on the device, or cannot be started there, the core copies. */
DMA_CASE(failures)
{
	struct u_chan *u = d->u;
	uint32_t i;

	u_post_many(u, U_MR_DIRECT, 4, LARGE);
	for (i = 0; i < 3; i++)
		T_EQ(send_by(u, 0, i, LARGE, i), 1);
	t_dmadev_make(1, true);
	t_dmadev_make(1, false);
	t_dmadev_make(1, true);
	t_dmadev.refuses = true;
	T_EQ(send_by(u, 0, 3, LARGE, 3), 1);
	for (i = 0; i < 4; i++) {
		check_recv(u, i, i, LARGE);
		check_done(u, 0, i, 0, i % 2);
	}
	T_EQ(d->dma.copies, 2u);
	T_EQ(d->dma.errors, 2u);
	T_EQ(u->prod[0].tx.stats.errors, 0u);
}

/* The core makes one copy at a time that failed, so that no look takes long. */
DMA_CASE(many_failures)
{
	struct u_chan *u = d->u;
	uint32_t i;

	u_post_many(u, U_MR_DIRECT, 3, LARGE);
	for (i = 0; i < 3; i++)
		T_EQ(send_by(u, 0, i, LARGE, i), 1);
	t_dmadev_make(3, false);
	for (i = 0; i < 3; i++) {
		T_EQ(comch_chan_prod_idle(&u->prod[0]), i == 2);
		check_recv(u, i, i, LARGE);
		check_none_received(u);
	}
	for (i = 0; i < 3; i++)
		check_done(u, 0, i, 0, 1);
}

/* A burst that began before a halt may still start a copy: then the producer is not idle. */
DMA_CASE(idle_during_a_burst)
{
	struct u_chan *u = d->u;

	u_post_many(u, U_MR_DIRECT, 1, LARGE);
	asked = &u->prod[0];
	said_idle = true;
	t_dmadev.on_look = ask;
	T_EQ(send_by(u, 0, 0, LARGE, 0), 1);
	t_dmadev.on_look = NULL;
	T_CHECK(!said_idle);
	t_dmadev_make(1, true);
	check_done(u, 0, 0, 0, 0);
	check_recv(u, 0, 0, LARGE);
}

/* The queue belongs to one producer while a copy of it is in flight. */
DMA_CASE(busy)
{
	struct u_chan *u = d->u;

	u_post_many(u, U_MR_DIRECT, 3, LARGE);
	T_EQ(send_by(u, 0, 0, LARGE, 0), 1);
	T_EQ(send_by(u, 1, 1, LARGE, 1), 1);
	check_done(u, 1, 1, 0, 1);
	T_EQ(d->dma.busy, 1u);
	t_dmadev_make(1, true);
	check_done(u, 0, 0, 0, 0);
	check_recv(u, 0, 0, LARGE);
	check_recv(u, 1, 1, LARGE);
	T_EQ(send_by(u, 1, 2, LARGE, 2), 1);
	t_dmadev_make(1, true);
	check_done(u, 1, 2, 0, 0);
	check_recv(u, 2, 2, LARGE);
	T_EQ(d->dma.busy, 1u);
}

/* As many as a producer has room for, and as the device has: the rest waits. */
DMA_CASE(full)
{
	struct rte_comch_op ops[COMCH_SEND_GROUP + 2];
	struct u_chan *u = d->u;
	uint32_t i;

	u_post_many(u, U_MR_DIRECT, DEPTH, LARGE);
	for (i = 0; i < RTE_DIM(ops); i++)
		ops[i] = u_op(u, i, LARGE, i);
	T_EQ(comch_chan_dma_send(&u->prod[0], ops, RTE_DIM(ops)), COMCH_SEND_GROUP);
	T_EQ(send_by(u, 0, 0, LARGE, 0), 0);
	T_CHECK(comch_chan_prod_pending(&u->prod[0]));
	/* A short one fits. */
	T_EQ(send_by(u, 0, 7, 8, COMCH_SEND_GROUP), 1);
	t_dmadev_make(1, true);
	T_EQ(send_by(u, 0, 9, LARGE, COMCH_SEND_GROUP + 1), 1);
	t_dmadev_make(COMCH_SEND_GROUP, true);
	for (i = 0; i < COMCH_SEND_GROUP; i++)
		check_done(u, 0, i, 0, 0);
	check_done(u, 0, i, 0, 1);
	check_done(u, 0, i + 1, 0, 0);
	for (i = 0; i < COMCH_SEND_GROUP; i++)
		check_recv(u, i, i, LARGE);
	check_recv(u, i, 7, 8);
	check_recv(u, i + 1, 9, LARGE);
}

/* Buffers that are not exported, lists and invalid sends: as without the device. */
DMA_CASE(not_for_the_device)
{
	struct u_chan *u = d->u;
	struct rte_comch_sge sge[2] = {
		{ .addr = u->src.addr, .mr = &u->src, .len = LARGE },
		{ .addr = u->src.addr + LARGE, .mr = &u->src, .len = LARGE },
	};
	struct rte_comch_op op = u_op(u, 0, 2 * LARGE, 3);
	struct rte_comch_cpl cpl;

	d->dma.max = LARGE;
	T_EQ(send_by(u, 0, 0, LARGE, 0), 0);
	T_CHECK(u_post(u, U_MR_STAGED, 0, 4 * LARGE, 0));
	T_CHECK(u_post(u, U_MR_DIRECT, 0, LARGE, 1));
	T_CHECK(u_post(u, U_MR_DIRECT, LARGE, 2 * LARGE, 2));
	T_CHECK(u_post(u, U_MR_DIRECT, 3 * LARGE, 2 * LARGE, 3));
	T_EQ(send_by(u, 0, 5, 2 * RING, 0), 1);
	check_done(u, 0, 0, -EMSGSIZE, 0);
	T_EQ(send_by(u, 0, 5, RING, 1), 1);
	check_done(u, 0, 1, 0, 1);
	T_EQ(send_by(u, 0, MEM - 1, LARGE, 2), 1);
	check_done(u, 0, 2, -EFAULT, 0);
	T_CHECK(u_recv(u, &cpl));
	T_CHECK(memcmp(u->staged.addr, u->src.addr + 5, RING) == 0);
	T_EQ(send_by(u, 0, 1, LARGE, 2), 1);
	op.addr = sge;
	op.nb_sges = 2;
	op.flags = RTE_COMCH_OP_F_SGL;
	T_EQ(comch_chan_dma_send(&u->prod[0], &op, 1), 1);
	T_EQ(send_by(u, 0, 0, LARGE + 1, 4), 1);
	t_dmadev_make(1, true);
	check_done(u, 0, 2, 0, 0);
	check_done(u, 0, 3, 0, 1);
	check_done(u, 0, 4, 0, 1);
	T_EQ(d->dma.copies, 1u);
	T_EQ(u_recv_all(u, 0), 3u);
}

/* A message that streams through the ring holds back the others, as without the device. */
DMA_CASE(stream)
{
	struct u_chan *u = d->u;
	struct rte_comch_cpl cpl;

	T_CHECK(u_post(u, U_MR_DIRECT, 0, LARGE, 0));
	T_CHECK(u_post(u, U_MR_STAGED, 0, 2 * RING, 1));
	T_CHECK(u_post(u, U_MR_DIRECT, 2 * LARGE, LARGE, 2));
	T_EQ(send_by(u, 0, 0, LARGE, 0), 1);
	T_EQ(send_by(u, 0, 3, 2 * RING, 1), 1);
	T_EQ(send_by(u, 0, 0, LARGE, 2), 0);
	t_dmadev_make(1, true);
	check_done(u, 0, 0, 0, 0);
	check_recv(u, 0, 0, LARGE);
	check_none_received(u);
	check_done(u, 0, 1, 0, 1);
	T_CHECK(u_recv(u, &cpl));
	T_CHECK(memcmp(u->staged.addr, u->src.addr + 3, 2 * RING) == 0);
	T_EQ(send_by(u, 0, 4, LARGE, 2), 1);
	t_dmadev_make(1, true);
	check_done(u, 0, 2, 0, 0);
	check_recv(u, 2, 4, LARGE);
}

/* A consumer that stops waits for the copy, which the poll's thread finds complete. */
DMA_CASE(consumer_stops)
{
	struct u_chan *u = d->u;

	u_post_many(u, U_MR_DIRECT, 2, LARGE);
	T_EQ(send_by(u, 0, 0, LARGE, 0), 1);
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_STOP);
	T_EQ(u_recv_all(u, -ECANCELED), 0u);
	T_EQ(u->nb_drained, 0u);
	T_EQ(send_by(u, 0, 1, LARGE, 1), 1);
	t_dmadev_make(1, true);
	T_CHECK(comch_chan_prod_idle(&u->prod[0]));
	check_recv(u, 0, 0, LARGE);
	check_done(u, 0, 0, 0, 0);
	check_done(u, 0, 1, -ENOENT, 0);
	T_EQ(u_recv_all(u, -ECANCELED), 1u);
	T_EQ(u->nb_drained, 1u);
}

/* A copy cannot be aborted. The end says whether the message may have arrived. */
DMA_CASE(ends)
{
	struct u_chan *u = d->u;
	struct comch_chan_prod *p = &u->prod[0];

	u_post_many(u, U_MR_DIRECT, 3, LARGE);
	T_EQ(send_by(u, 0, 0, LARGE, 0), 1);
	T_EQ(send_by(u, 0, 1, LARGE, 1), 1);
	T_CHECK(!comch_chan_prod_idle(p));
	comch_store_relaxed(&u->rc.retired, 1);
	t_dmadev_make(1, true);
	T_CHECK(!comch_chan_prod_abort(p, -ECANCELED));
	check_done(u, 0, 0, -ENOENT, 0);
	comch_store_release(&p->tx.halt, RTE_COMCH_HALT_DOWN);
	T_EQ(send_by(u, 0, 2, LARGE, 2), 1);
	check_none_done(u, 0);
	t_dmadev_make(1, true);
	T_CHECK(comch_chan_prod_abort(p, -ECANCELED));
	T_CHECK(comch_chan_prod_idle(p));
	check_done(u, 0, 1, -ECONNRESET, 0);
	check_done(u, 0, 2, -ECONNRESET, 0);
	T_EQ(u_recv_all(u, 0), 2u);
}

/* A peer that has not seen our end receives the message: all of it, if the device failed, too. */
DMA_CASE(failure_at_the_end)
{
	struct u_chan *u = d->u;
	struct comch_chan_prod *p = &u->prod[0];

	u_post_many(u, U_MR_DIRECT, 1, LARGE);
	T_EQ(send_by(u, 0, 5, LARGE, 0), 1);
	comch_store_release(&p->tx.halt, RTE_COMCH_HALT_DOWN);
	t_dmadev_make(1, false);
	T_CHECK(comch_chan_prod_idle(p));
	check_recv(u, 0, 5, LARGE);
	check_done(u, 0, 0, -ECONNRESET, 0);
}

/* What the peer takes back stays mapped while a copy is in flight; no new one is started then. */
DMA_CASE(memory_stays)
{
	struct u_chan *u = d->u;
	struct comch_epoch *e = &u->prod[0].tx.epoch;

	u_post_many(u, U_MR_DIRECT, 4, LARGE);
	T_EQ(send_by(u, 0, 0, LARGE, 0), 1);
	T_EQ(send_by(u, 0, 1, LARGE, 1), 1);
	comch_epoch_watch(e);
	t_dmadev_make(1, true);
	check_done(u, 0, 0, 0, 0);
	T_CHECK(!comch_epoch_passed(e));
	T_EQ(send_by(u, 0, 2, LARGE, 2), 0);
	T_CHECK(!comch_epoch_passed(e));
	t_dmadev_make(1, true);
	check_done(u, 0, 1, 0, 0);
	T_CHECK(comch_epoch_passed(e));
	/* The same burst that finds a copy complete may start the next one. */
	T_EQ(send_by(u, 0, 2, LARGE, 2), 1);
	comch_epoch_watch(e);
	t_dmadev_make(1, true);
	T_EQ(send_by(u, 0, 3, LARGE, 3), 1);
	T_CHECK(comch_epoch_passed(e));
	t_dmadev_make(1, true);
	check_done(u, 0, 2, 0, 0);
	check_done(u, 0, 3, 0, 0);
	T_EQ(u_recv_all(u, 0), 4u);
}

#define MSGS 3000

static void *
send_all(void *arg)
{
	struct u_chan *u = arg;
	struct rte_comch_cpl cpl[8];
	uint32_t sent = 0, done = 0;
	uint16_t i, k;

	while (done < MSGS) {
		if (sent < MSGS)
			sent += send_by(u, 0, sent % 97, sent % 3 == 0 ? 16 : LARGE, sent);
		k = comch_chan_dma_done(&u->prod[0], cpl, RTE_DIM(cpl));
		for (i = 0; i < k; i++)
			T_EQ(cpl[i].cookie, done++);
		if (k == 0)
			sched_yield();
	}
	comch_store_release(&u->others_woken, 1);
	return NULL;
}

/* What the connection's thread does at any time: it looks, and waits for the epoch. */
static void *
look_on(void *arg)
{
	struct u_chan *u = arg;

	while (comch_load_acquire(&u->others_woken) == 0) {
		comch_epoch_watch(&u->prod[0].tx.epoch);
		while (!comch_epoch_passed(&u->prod[0].tx.epoch))
			(void)comch_chan_prod_idle(&u->prod[0]);
		sched_yield();
	}
	return NULL;
}

DMA_CASE(threads)
{
	struct u_chan *u = d->u;
	pthread_t sender, looker;
	struct rte_comch_cpl cpl;
	uint32_t i, got = 0;

	t_dmadev.instant = true;
	u_post_many(u, U_MR_DIRECT, DEPTH, LARGE);
	T_EQ(pthread_create(&sender, NULL, send_all, u), 0);
	T_EQ(pthread_create(&looker, NULL, look_on, u), 0);
	while (got < MSGS) {
		if (!u_recv(u, &cpl)) {
			sched_yield();
			continue;
		}
		T_EQ(cpl.cookie, got % DEPTH);
		T_EQ(cpl.len, got % 3 == 0 ? 16u : LARGE);
		i = got % DEPTH;
		T_CHECK(memcmp(u->direct.addr + i * LARGE, u->src.addr + got % 97, cpl.len) == 0);
		T_CHECK(u_post(u, U_MR_DIRECT, i * LARGE, LARGE, i));
		got++;
	}
	T_EQ(pthread_join(sender, NULL), 0);
	T_EQ(pthread_join(looker, NULL), 0);
}

/* Several may name the device, which starts and stops once. */
DMA_CASE(shared)
{
	struct comch_dma second = { .min = 1, .max = 1 }, none = second;
	struct rte_comch_xstat x[COMCH_DMA_XSTATS];
	char why[128];

	T_EQ(comch_dma_open(&second, "dma_skeleton0", why, sizeof(why)), 0);
	T_EQ(second.dev == d->dma.dev, 1);
	T_EQ(comch_eal_dev_take_queue(second.dev), 0);
	T_EQ(comch_eal_dev_take_queue(d->dma.dev), -EBUSY);
	comch_eal_dev_give_queue(second.dev, 0);
	T_EQ(comch_eal_dev_take_queue(d->dma.dev), 0);
	comch_eal_dev_give_queue(d->dma.dev, 0);
	comch_dma_close(&second);
	T_EQ(comch_dma_open(&none, "dma_skeleton7", why, sizeof(why)), -ENODEV);
	T_CHECK(strstr(why, "dma_skeleton0") != NULL);
	T_CHECK(none.dev == NULL);
	comch_dma_close(&none);
	T_EQ(comch_dma_xstats(&none, NULL, 0), 0u);
	T_EQ(comch_dma_xstats(&d->dma, x, 1), COMCH_DMA_XSTATS);
	T_EQ(comch_dma_xstats(&d->dma, x, COMCH_DMA_XSTATS), COMCH_DMA_XSTATS);
	T_CHECK(strcmp(x[3].name, "dma_busy") == 0);
}

/* A device that someone else has started is refused. */
DMA_CASE(not_ours)
{
	struct comch_dma other = { .min = 1 };
	struct rte_dma_conf conf = { .nb_vchans = 1 };
	struct rte_dma_vchan_conf vchan = { .direction = RTE_DMA_DIR_MEM_TO_MEM, .nb_desc = 32 };
	char why[128];
	int16_t id;

	RTE_SET_USED(d);
	T_EQ(rte_eal_hotplug_add("vdev", "dma_skeleton1", ""), 0);
	id = (int16_t)rte_dma_get_dev_id_by_name("dma_skeleton1");
	T_EQ(rte_dma_configure(id, &conf), 0);
	T_EQ(rte_dma_vchan_setup(id, 0, &vchan), 0);
	T_EQ(rte_dma_start(id), 0);
	T_EQ(comch_dma_open(&other, "dma_skeleton1", why, sizeof(why)), -EBUSY);
	T_CHECK(strstr(why, "something else") != NULL);
	T_EQ(rte_dma_stop(id), 0);
	T_EQ(comch_dma_open(&other, "dma_skeleton1", why, sizeof(why)), 0);
	comch_dma_close(&other);
	T_EQ(rte_eal_hotplug_remove("vdev", "dma_skeleton1"), 0);
}
