/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* A ring of Concurrency Kit in shared memory, with one producer and one consumer: a queue of
 * messages of 64 bytes, without connections, and between processes that trust each other.
 */

#include <string.h>

#include "bare.h"

#if __has_include(<ck_ring.h>)
#include <ck_ring.h>

/* As many as comch-perf posts by default. */
#define RING_SIZE 1024
#define END       UINT64_MAX

struct message {
	uint64_t number;
	uint8_t data[56];
};

CK_RING_PROTOTYPE(message, message)

struct one_way {
	ck_ring_t ring;
	struct message slot[RING_SIZE];
} __attribute__((aligned(64)));

struct shared {
	struct one_way way[2]; /* from A, from B */
	uint64_t ready __attribute__((aligned(64)));
};

static void
put(struct one_way *way, const struct message *m)
{
	while (!ck_ring_enqueue_spsc_message(&way->ring, way->slot, (struct message *)m))
		;
}

static void
get(struct one_way *way, struct message *m)
{
	while (!ck_ring_dequeue_spsc_message(&way->ring, way->slot, m))
		;
}

/* A makes the rings, B waits for them. */
static struct shared *
begin(const struct bare_job *job, bool is_a)
{
	struct shared *s = job->shared;

	if (is_a) {
		ck_ring_init(&s->way[0].ring, RING_SIZE);
		ck_ring_init(&s->way[1].ring, RING_SIZE);
		/* Pairs with the acquire below. */
		__atomic_store_n(&s->ready, 1, __ATOMIC_RELEASE);
	}
	while (__atomic_load_n(&s->ready, __ATOMIC_ACQUIRE) == 0)
		;
	return s;
}

static double
lat_a(struct bare_job *job)
{
	struct shared *s = begin(job, true);
	struct message m = { 0 };
	static struct hist hist;
	struct laps laps;

	laps_init(&laps, &hist, job->ms * UINT64_C(1000), 0);
	do {
		put(&s->way[0], &m);
		get(&s->way[1], &m);
		m.number++;
	} while (!laps_round(&laps));
	m.number = END;
	put(&s->way[0], &m);
	return bare_one_way(&hist);
}

static bool
lat_b(struct bare_job *job)
{
	struct shared *s = begin(job, false);
	struct message m;

	for (;;) {
		get(&s->way[0], &m);
		if (m.number == END)
			return true;
		put(&s->way[1], &m);
	}
}

static double
rate_a(struct bare_job *job)
{
	struct shared *s = begin(job, true);
	struct message m = { 0 };
	struct window w;

	memset(m.data, 1, sizeof(m.data));
	window_init(&w, clock_tsc(), job->ms * UINT64_C(1000), false);
	while (!w.closed) {
		do {
			put(&s->way[0], &m);
		} while (++m.number % BARE_BURST != 0);
		window_update(&w, clock_tsc(), m.number);
	}
	m.number = END;
	put(&s->way[0], &m);
	return bare_per_second(&w);
}

static bool
rate_b(struct bare_job *job)
{
	struct shared *s = begin(job, false);
	uint64_t pos = 0;
	struct message m;

	for (;;) {
		get(&s->way[0], &m);
		if (m.number == END)
			return true;
		if (m.number != pos++)
			return false;
	}
}

const struct bare_test bare_ck_tests[] = {
	{ "ck-lat", sizeof(struct shared), 0, 0, lat_a, lat_b },
	{ "ck-rate", sizeof(struct shared), 0, 0, rate_a, rate_b },
	{ 0 },
};
#else
const struct bare_test bare_ck_tests[] = { { 0 } };
#endif
