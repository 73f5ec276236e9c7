/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Arm, look again, sleep; publish, look whether armed, wake. The sleeper
 * really sleeps on its socket, so a lost wake-up is a hang.
 */

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "t_main.h"
#include "u_chan.h"

#include "sdk/comch_asym.h"

#define DEPTH 4
#define CELL 64
#define RUN_MS 1500
#define MAX_ROUNDS 5000000
/* After every 16th nap, the consumer withdraws its request for fences. */
#define NAPS_TO_REST 16
#define NO_MEMBARRIER "membarrier(2) has no MEMBARRIER_CMD_GLOBAL_EXPEDITED here"

static struct u_chan *u;
static uint32_t stop;
/* Of each producer: an eventfd of its own, as each has a socket of its own. */
static int prod_fd[U_MAX_PRODS];
static uint64_t cons_naps, prod_naps;

static void
wake_producers(struct comch_chan_cons *c)
{
	uint64_t one = 1;
	uint32_t i;

	RTE_SET_USED(c);
	for (i = 0; i < u->nb_prods; i++)
		if (write(prod_fd[i], &one, sizeof(one)) != sizeof(one))
			T_FAIL("eventfd: %s", strerror(errno));
}

static void
nap(int fd)
{
	uint64_t buf;

	if (!t_readable(fd, T_TIMEOUT_MS))
		T_FAIL("no wake-up arrived");
	while (read(fd, &buf, sizeof(buf)) > 0)
		;
}

/* As rte_comch_poll_arm() does. */
static void
fence(bool heavy)
{
	if (heavy)
		comch_fence_sleep();
	else
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void
producer_sleep(struct comch_chan_prod *p)
{
	fence(comch_chan_prod_arm(p));
	if (comch_chan_prod_pending(p) || comch_load_relaxed(&stop) != 0)
		return;
	nap(prod_fd[p - u->prod]);
	__atomic_fetch_add(&prod_naps, 1, __ATOMIC_RELAXED);
}

static void *
produce(void *arg)
{
	struct comch_chan_prod *p = arg;
	struct rte_comch_cpl cpls[DEPTH];
	struct rte_comch_op op;
	uint64_t n = 0;

	while (comch_load_relaxed(&stop) == 0) {
		op = u_op(u, 0, 8, n);
		if (comch_chan_send(p, &op, 1) == 1)
			n++;
		else
			producer_sleep(p);
		(void)comch_chan_done(p, cpls, DEPTH);
	}
	return NULL;
}

static void
consumer_sleep(void)
{
	fence(comch_chan_cons_arm(&u->c));
	if (comch_chan_cons_pending(&u->c))
		return;
	nap(u->wake_fd);
	/* As if it had been busy for long. */
	if (cons_naps++ % NAPS_TO_REST == 0)
		comch_chan_cons_rest(&u->c);
}

static void
make(uint32_t nb_prods, uint32_t depth)
{
	uint32_t i;

	u = u_chan_create(&(struct u_conf){
		.depth = depth, .staging_size = 4096, .nb_prods = nb_prods, .mem_size = 4096,
	});
	for (i = 0; i < nb_prods; i++) {
		prod_fd[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		T_GE(prod_fd[i], 0);
	}
	u->c.wake_peer = wake_producers;
	T_EQ(fcntl(u->wake_fd, F_SETFL, O_NONBLOCK), 0);
}

static void
run(uint32_t nb_prods, uint32_t kind, uint32_t depth, uint8_t fences)
{
	pthread_t t[U_MAX_PRODS];
	struct rte_comch_cpl cpl;
	uint64_t n = 0, end;
	uint32_t i;

	make(nb_prods, depth);
	u->c.fences = u->rc.fences = fences;
	for (i = 0; i < nb_prods; i++)
		T_EQ(pthread_create(&t[i], NULL, produce, &u->prod[i]), 0);
	for (end = t_now_ms() + RUN_MS; n < MAX_ROUNDS && t_now_ms() < end; ) {
		while (u_post(u, kind, 0, CELL, n))
			;
		if (u_recv(u, &cpl))
			n++;
		else
			consumer_sleep();
	}
	comch_store_relaxed(&stop, 1);
	wake_producers(NULL);
	for (i = 0; i < nb_prods; i++) {
		pthread_join(t[i], NULL);
		close(prod_fd[i]);
	}
	printf("   %llu messages, %llu naps of the consumer, %llu of producers\n",
		(unsigned long long)n, (unsigned long long)cons_naps,
		(unsigned long long)prod_naps);
	T_GT(n, 0);
	u_chan_free(u);
}

static void
one_producer(void)
{
	run(1, U_MR_DIRECT, DEPTH, 0);
}

/* Publishers without a fence: the sleeper makes up for it. */
static void
one_producer_light(void)
{
	if (!comch_asym_global)
		t_skip(NO_MEMBARRIER);
	run(1, U_MR_DIRECT, DEPTH, comch_armed_fences(true, false));
}

/* They fence while a sleeper asks for it. */
static void
one_producer_asked(void)
{
	if (!comch_asym_global)
		t_skip(NO_MEMBARRIER);
	run(1, U_MR_DIRECT, DEPTH, comch_armed_fences(true, true));
}

static void
three_producers(void)
{
	run(3, U_MR_DIRECT, 1, comch_armed_fences(comch_asym_global, true));
}

static void
one_staged(void)
{
	run(1, U_MR_STAGED, DEPTH, comch_armed_fences(comch_asym_global, true));
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "one_producer", one_producer },
		{ "one_producer_light", one_producer_light },
		{ "one_producer_asked", one_producer_asked },
		{ "three_producers", three_producers },
		{ "one_staged", one_staged },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
