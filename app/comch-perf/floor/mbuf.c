/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* main() of comch-perf-floor-mbuf, which measures the floors of mbufs that are handed over:
 * two lcores with bare rte_rings between them. The loops allocate, stamp, read and free mbufs
 * as those of the tests do, in the same order, and never call librte_comch.
 */

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "app_eal.h"
#include "base/pool.h"
#include "base/window.h"
#include "floor/floor.h"

#define PROGRAM "comch-perf-floor-mbuf"

#define BURST_MAX   256
#define DATA_MAX   (UINT16_MAX - RTE_PKTMBUF_HEADROOM)
#define LCORE_B     1
/* Bursts between two clock reads. */
#define CLOCK_EVERY 64
/* Idle looks between two that ask for the end, or of an lcore that shares its CPU. */
#define SPINS       64
/* EAL memory, beside the mbufs. */
#define BASE_MB     32
#define MBUF_BYTES  (sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM + 2 * RTE_CACHE_LINE_SIZE)

/* One way of messages: from this pool, through this ring. */
struct way {
	struct rte_ring *ring;
	struct rte_mempool *pool;
};

/* One measurement. Nothing but the last two fields is written while it runs. */
struct job {
	struct floor_req req;
	bool crowded;         /* Both lcores share a CPU: yield. */
	struct way to_b;
	struct way to_a;      /* FLOOR_RING_LAT */
	_Atomic bool running __rte_cache_aligned; /* Lcore B has started. */
	_Atomic bool over;
};

/* What was read, so that the compiler must read it. */
static _Atomic uint64_t sink;

/* An idle look. @return false: the measurement is over */
static inline bool
relax(struct job *job, uint32_t *spins)
{
	if (likely(++*spins % SPINS != 0))
		return true;
	if (job->crowded)
		sched_yield();
	return !atomic_load_explicit(&job->over, memory_order_relaxed);
}

static inline void
fill(struct rte_mbuf *m, uint64_t size, uint64_t stamp)
{
	m->data_len = (uint16_t)size;
	m->pkt_len = m->data_len;
	memcpy(rte_pktmbuf_mtod(m, void *), &stamp, RTE_MIN(size, sizeof(stamp)));
}

/* Read what a receiver reads: the lengths, the stamp and the last byte. */
static inline uint64_t
look_at(const struct rte_mbuf *m)
{
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);
	uint64_t stamp = 0;

	memcpy(&stamp, data, RTE_MIN(m->pkt_len, sizeof(stamp)));
	return stamp + m->nb_segs + *(const volatile uint8_t *)(data + m->pkt_len - 1);
}

static uint32_t
alloc_burst(struct job *job, struct rte_mbuf **mbufs, uint64_t pos)
{
	uint32_t burst = job->req.burst;
	uint32_t i;

	if (rte_pktmbuf_alloc_bulk(job->to_b.pool, mbufs, burst) != 0)
		return 0;
	for (i = 0; i < burst; i++)
		fill(mbufs[i], job->req.size, pos + i);
	return burst;
}

/* Not inlined, to keep the loop tight. @return true: time is up */
static __rte_noinline bool
window_is_over(struct window *w, uint64_t pos)
{
	window_update(w, clock_tsc(), pos);
	return w->closed;
}

static double
ring_a(struct job *job)
{
	struct rte_mbuf *mbufs[BURST_MAX];
	uint32_t ready = 0, head = 0, loops = 0, spins = 0, n;
	struct window w;
	uint64_t pos = 0;

	window_init(&w, clock_tsc(), job->req.ms * UINT64_C(1000), false);
	for (;;) {
		if (ready == 0) {
			ready = alloc_burst(job, mbufs, pos);
			head = 0;
		}
		n = rte_ring_sp_enqueue_burst(job->to_b.ring, (void **)&mbufs[head], ready, NULL);
		head += n;
		ready -= n;
		pos += n;
		if (n == 0)
			relax(job, &spins);
		if (++loops % CLOCK_EVERY == 0 && window_is_over(&w, pos))
			break;
	}
	return (double)window_msgs(&w) * 1e9 / (double)window_ns(&w);
}

static void
ring_b(struct job *job)
{
	struct rte_mbuf *mbufs[BURST_MAX];
	uint32_t spins = 0, n, i;
	uint64_t sum = 0;

	for (;;) {
		n = rte_ring_sc_dequeue_burst(job->to_b.ring, (void **)mbufs, job->req.burst,
				NULL);
		if (n == 0 && !relax(job, &spins))
			break;
		for (i = 0; i < n; i++)
			sum += look_at(mbufs[i]);
		rte_pktmbuf_free_bulk(mbufs, n);
	}
	atomic_store_explicit(&sink, sum, memory_order_relaxed);
}

/* Allocate and stamp the next message. @return NULL: there is no mbuf */
static inline struct rte_mbuf *
prepare(struct job *job, struct way *way)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(way->pool);

	if (likely(m != NULL))
		fill(m, job->req.size, 0);
	return m;
}

/* @return NULL: the measurement is over */
static inline struct rte_mbuf *
wait_for(struct job *job, struct way *way)
{
	uint32_t spins = 0;
	void *m;

	while (rte_ring_sc_dequeue(way->ring, &m) != 0) {
		if (!relax(job, &spins))
			return NULL;
	}
	return m;
}

static double
ring_lat_a(struct job *job)
{
	struct rte_mbuf *next = prepare(job, &job->to_b);
	struct rte_mbuf *m = NULL;
	static struct hist hist;
	struct laps laps;
	uint64_t sum = 0;

	laps_init(&laps, &hist, job->req.ms * UINT64_C(1000), 0);
	do {
		if (next == NULL || rte_ring_sp_enqueue(job->to_b.ring, next) != 0)
			return -1;
		/* While the message is on its way. */
		rte_pktmbuf_free_bulk(&m, m != NULL);
		next = prepare(job, &job->to_b);
		m = wait_for(job, &job->to_a);
		if (m == NULL)
			return -1; /* lcore B has failed */
		sum += look_at(m);
	} while (!laps_round(&laps));
	atomic_store_explicit(&sink, sum, memory_order_relaxed);
	return floor_one_way(&hist);
}

static void
ring_lat_b(struct job *job)
{
	struct rte_mbuf *next = prepare(job, &job->to_a);
	struct rte_mbuf *m;
	uint64_t sum = 0;

	for (;;) {
		m = wait_for(job, &job->to_b);
		if (m == NULL)
			break;
		sum += look_at(m);
		if (next == NULL || rte_ring_sp_enqueue(job->to_a.ring, next) != 0)
			break;
		rte_pktmbuf_free_bulk(&m, 1);
		next = prepare(job, &job->to_a);
	}
	atomic_store_explicit(&sink, sum, memory_order_relaxed);
}

/* A sends and returns the figure, B receives. */
static const struct {
	double (*a)(struct job *job);
	void (*b)(struct job *job);
} bodies[] = {
	[FLOOR_RING] = { ring_a, ring_b },
	[FLOOR_RING_LAT] = { ring_lat_a, ring_lat_b },
};

static int
run_b(void *arg)
{
	struct job *job = arg;

	atomic_store_explicit(&job->running, true, memory_order_relaxed);
	bodies[job->req.kind].b(job);
	/* Ends the wait of lcore A, if this one has failed. */
	atomic_store_explicit(&job->over, true, memory_order_relaxed);
	return 0;
}

static uint32_t
nb_mbufs(const struct floor_req *req)
{
	return pool_mbufs_to_send(req->queue, req->burst, 1);
}

static int
start_eal(const struct floor_req *req, const char *prefix)
{
	/* EAL keeps pointers to its arguments, and overwrites one. */
	static struct app_eal_args args;
	uint32_t mb = (uint32_t)(2 * nb_mbufs(req) * (req->size + MBUF_BYTES) >> 20) + BASE_MB;
	int rc;

	app_eal_add(&args, PROGRAM);
	app_eal_add(&args, "--file-prefix=%s", prefix);
	app_eal_add(&args, "--lcores=0@%d,%d@%d", req->cpu_a, LCORE_B, req->cpu_b);
	app_eal_add_defaults(&args);
	app_eal_add_memory(&args, mb, mb, false);
	rc = app_eal_start(&args);
	if (rc != 0)
		fprintf(stderr, PROGRAM ": start EAL: %s\n", rte_strerror(-rc));
	return rc;
}

static int
way_open(struct way *way, const struct floor_req *req, const char *name)
{
	way->ring = rte_ring_create(name, req->queue, SOCKET_ID_ANY,
			RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	way->pool = rte_pktmbuf_pool_create(name, nb_mbufs(req), POOL_CACHE, 0,
			(uint16_t)(RTE_PKTMBUF_HEADROOM + req->size), SOCKET_ID_ANY);
	if (way->ring != NULL && way->pool != NULL)
		return 0;
	fprintf(stderr, PROGRAM ": create a ring and a pool of %u mbufs: %s\n", nb_mbufs(req),
			rte_strerror(rte_errno));
	return -1;
}

/* Run both halves. @return the figure, or negative */
static double
run(struct job *job)
{
	double value;

	if (way_open(&job->to_b, &job->req, "to_b") != 0 ||
			way_open(&job->to_a, &job->req, "to_a") != 0 ||
			rte_eal_remote_launch(run_b, job, LCORE_B) != 0)
		return -1;
	while (!atomic_load_explicit(&job->running, memory_order_relaxed))
		sched_yield();
	value = bodies[job->req.kind].a(job);
	atomic_store_explicit(&job->over, true, memory_order_relaxed);
	rte_eal_wait_lcore(LCORE_B);
	return value;
}

static double
measure(const struct floor_req *req)
{
	static struct job job;
	char prefix[64];
	double value;

	job.req = *req;
	job.crowded = req->cpu_a == req->cpu_b;
	if (req->size == 0 || req->size > DATA_MAX || req->burst == 0 ||
			req->burst > BURST_MAX || req->queue == 0) {
		fprintf(stderr, PROGRAM ": size, burst or queue out of range\n");
		return -1;
	}
	snprintf(prefix, sizeof(prefix), PROGRAM "-%d", getpid());
	value = start_eal(req, prefix) == 0 ? run(&job) : -1;
	rte_eal_cleanup();
	app_eal_clean(prefix);
	return value;
}

int
main(int argc, char **argv)
{
	return floor_main(argc, argv, PROGRAM, measure);
}
