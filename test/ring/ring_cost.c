/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * What handing mbufs over costs beside a bare rte_ring: a measurement, not a test.
 *
 * One thread allocates bursts and sends them, another receives and frees them, each on a CPU
 * of its own: over an rte_ring with a single producer and a single consumer, and over the
 * ring driver, by turns. Printed are the medians of both, and their ratio.
 *
 * usage: ring_cost [turns [milliseconds [burst]]]
 */

#include <sched.h>
#include <stdlib.h>

#include <rte_ring.h>

#include "u_ring.h"

#define BURST_MAX 64
#define QUEUE 1024
#define NB_MBUFS 4095
#define CACHE 256
#define MAX_TURNS 101

struct way {
	const char *name;
	uint16_t (*send)(struct way *w, struct rte_mbuf **mbufs, uint16_t n);
	uint16_t (*recv)(struct way *w, struct rte_mbuf **mbufs, uint16_t n);
	struct rte_ring *ring;
	struct u_ring *u;
	double rates[MAX_TURNS];
};

static uint16_t burst = 32;
static struct rte_mempool *pool;
static uint32_t stop;

static uint16_t
bare_send(struct way *w, struct rte_mbuf **mbufs, uint16_t n)
{
	return (uint16_t)rte_ring_sp_enqueue_burst(w->ring, (void **)mbufs, n, NULL);
}

static uint16_t
bare_recv(struct way *w, struct rte_mbuf **mbufs, uint16_t n)
{
	return (uint16_t)rte_ring_sc_dequeue_burst(w->ring, (void **)mbufs, n, NULL);
}

static uint16_t
comch_send(struct way *w, struct rte_mbuf **mbufs, uint16_t n)
{
	return rte_comch_tx_burst(w->u->prod, w->u->id, mbufs, n);
}

static uint16_t
comch_recv(struct way *w, struct rte_mbuf **mbufs, uint16_t n)
{
	return rte_comch_rx_burst(w->u->cons, mbufs, n);
}

static void
pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	/* With one CPU both share it. */
	(void)sched_setaffinity(0, sizeof(set), &set);
}

/* The sender: 64 bytes in each mbuf, as much as the receiver takes. */
static void *
send_all(void *arg)
{
	struct rte_mbuf *mbufs[BURST_MAX];
	struct way *w = arg;
	uint16_t n = 0, took, i;

	pin(0);
	T_EQ(rte_thread_register(), 0);
	while (__atomic_load_n(&stop, __ATOMIC_RELAXED) == 0) {
		if (n == 0 && rte_pktmbuf_alloc_bulk(pool, mbufs, burst) == 0) {
			for (i = 0; i < burst; i++)
				mbufs[i]->data_len = (uint16_t)(mbufs[i]->pkt_len = 64);
			n = burst;
		}
		took = w->send(w, &mbufs[burst - n], n);
		n -= took;
	}
	rte_pktmbuf_free_bulk(&mbufs[burst - n], n);
	rte_thread_unregister();
	return NULL;
}

/* Receive for a while. Returns mbufs per second. */
static double
turn(struct way *w, uint64_t ms)
{
	uint64_t begin = t_now_ms(), now = begin, nb = 0;
	struct rte_mbuf *mbufs[BURST_MAX];
	unsigned int rounds;
	pthread_t sender;
	uint16_t n;

	stop = 0;
	T_EQ(pthread_create(&sender, NULL, send_all, w), 0);
	while (now - begin < ms) {
		for (rounds = 0; rounds < 1000; rounds++) {
			n = w->recv(w, mbufs, burst);
			rte_pktmbuf_free_bulk(mbufs, n);
			nb += n;
		}
		now = t_now_ms();
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	T_EQ(pthread_join(sender, NULL), 0);
	while ((n = w->recv(w, mbufs, burst)) > 0)
		rte_pktmbuf_free_bulk(mbufs, n);
	return (double)nb * 1000 / (double)(now - begin);
}

static int
compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double
median(struct way *w, unsigned int turns)
{
	qsort(w->rates, turns, sizeof(w->rates[0]), compare);
	printf("%-12s %8.2f M mbufs/s, from %.2f to %.2f\n", w->name, w->rates[turns / 2] / 1e6,
		w->rates[0] / 1e6, w->rates[turns - 1] / 1e6);
	return w->rates[turns / 2];
}

static unsigned int
argument(int argc, char **argv, int i, unsigned int least, unsigned int most,
		unsigned int by_default)
{
	unsigned long value = argc > i ? strtoul(argv[i], NULL, 0) : by_default;

	if (value >= least && value <= most)
		return (unsigned int)value;
	fprintf(stderr, "ring_cost: argument %d: '%s' is not a number from %u to %u\n"
		"usage: ring_cost [turns [milliseconds [burst]]]\n", i, argv[i], least, most);
	exit(2);
}

int
main(int argc, char **argv)
{
	const unsigned int turns = argument(argc, argv, 1, 1, MAX_TURNS, 9);
	const unsigned int ms = argument(argc, argv, 2, 1, 60000, 300);
	struct way bare = { .name = "rte_ring", .send = bare_send, .recv = bare_recv };
	struct way comch = { .name = "comch_ring", .send = comch_send, .recv = comch_recv };
	struct u_ring u;
	unsigned int i;
	double floor;

	burst = (uint16_t)argument(argc, argv, 3, 1, BURST_MAX, 32);
	t_dir();
	u_ring_open(&u, QUEUE, 0);
	pool = rte_pktmbuf_pool_create("cost", NB_MBUFS, CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
			SOCKET_ID_ANY);
	bare.ring = rte_ring_create("cost", QUEUE, SOCKET_ID_ANY,
			RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	T_CHECK(pool != NULL && bare.ring != NULL);
	comch.u = &u;
	pin(1);
	for (i = 0; i < turns; i++) {
		bare.rates[i] = turn(&bare, ms);
		comch.rates[i] = turn(&comch, ms);
	}
	floor = median(&bare, turns);
	printf("ratio %.2f, burst %u\n", median(&comch, turns) / floor, burst);
	rte_ring_free(bare.ring);
	rte_mempool_free(pool);
	u_ring_close(&u);
	t_dir_remove();
	return 0;
}
