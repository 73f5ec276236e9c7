/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Producers in threads of their own, while the consumer receives, is stopped and started,
 * or loses its connection: each mbuf that was accepted is received or counted as an error,
 * and all are back in their pools.
 */

#include <pthread.h>
#include <sys/socket.h>

#include "u_ring.h"

#define NB_PRODS 2
#define BURST 16

struct sender {
	struct u_ring *u;
	struct rte_comch_producer *prod;
	uint64_t accepted;
	uint64_t numbers;  /* the next message's */
	uint32_t *id;      /* atomic: the consumer's; 0: none */
	uint32_t *stop;    /* atomic */
};

static struct rte_mbuf *
numbered(struct sender *s)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(s->u->tx_pool);

	if (m == NULL)
		return NULL;
	*(uint64_t *)rte_pktmbuf_append(m, sizeof(uint64_t)) = s->numbers++;
	m->port = (uint16_t)rte_comch_producer_id(s->prod);
	return m;
}

static void *
send_until_stop(void *arg)
{
	struct sender *s = arg;
	struct rte_mbuf *mbufs[BURST];
	uint16_t n, took;

	while (__atomic_load_n(s->stop, __ATOMIC_ACQUIRE) == 0) {
		for (n = 0; n < BURST; n++) {
			mbufs[n] = numbered(s);
			if (mbufs[n] == NULL)
				break;
		}
		took = rte_comch_tx_burst(s->prod, __atomic_load_n(s->id, __ATOMIC_ACQUIRE),
				mbufs, n);
		s->accepted += took;
		s->numbers -= n - took;
		rte_pktmbuf_free_bulk(&mbufs[took], n - took);
		if (took == 0)
			sched_yield();
	}
	return NULL;
}

struct race {
	struct u_ring u;
	struct sender s[NB_PRODS];
	pthread_t thread[NB_PRODS];
	uint64_t received;
	uint64_t next[NB_PRODS + 1]; /* by id of the producer: no number comes back */
	uint32_t id;
	uint32_t stop;
};

static void
race_open(struct race *r)
{
	unsigned int i;

	memset(r, 0, sizeof(*r));
	u_ring_open(&r->u, 32, 0);
	r->id = r->u.id;
	for (i = 0; i < NB_PRODS; i++) {
		r->s[i] = (struct sender){
			.u = &r->u, .id = &r->id, .stop = &r->stop,
			.prod = i == 0 ? r->u.prod : t_producer_new(r->u.p.cconn, NULL),
		};
		T_EQ(pthread_create(&r->thread[i], NULL, send_until_stop, &r->s[i]), 0);
	}
}

static void
race_join(struct race *r)
{
	unsigned int i;

	__atomic_store_n(&r->stop, 1, __ATOMIC_RELEASE);
	for (i = 0; i < NB_PRODS; i++)
		T_EQ(pthread_join(r->thread[i], NULL), 0);
}

/* Receive, check and free. False: there was nothing. */
static bool
take(struct race *r)
{
	struct rte_mbuf *mbufs[BURST];
	uint16_t i, n = rte_comch_rx_burst(r->u.cons, mbufs, BURST);
	uint64_t number;

	for (i = 0; i < n; i++) {
		number = *rte_pktmbuf_mtod(mbufs[i], uint64_t *);
		T_CHECK(mbufs[i]->port >= 1 && mbufs[i]->port <= NB_PRODS);
		T_GE(number, r->next[mbufs[i]->port]);
		r->next[mbufs[i]->port] = number + 1;
	}
	rte_pktmbuf_free_bulk(mbufs, n);
	r->received += n;
	return n > 0;
}

/* Every mbuf that was accepted has one end. */
static void
race_check(struct race *r)
{
	struct rte_comch_producer_stats st;
	uint64_t accepted = 0, errors = 0, msgs = 0;
	unsigned int i;

	for (i = 0; i < NB_PRODS; i++) {
		T_EQ(rte_comch_producer_stats_get(r->s[i].prod, &st), 0);
		accepted += r->s[i].accepted;
		errors += st.errors;
		msgs += st.msgs;
	}
	T_EQ(msgs, r->received);
	T_EQ(accepted, msgs + errors);
	T_CHECK(rte_mempool_full(r->u.tx_pool));
}

static void
race_close(struct race *r)
{
	t_producer_end(r->s[1].prod);
	u_ring_close(&r->u);
}

T_CASE(many_producers)
{
	struct race r;

	race_open(&r);
	T_UNTIL((take(&r), r.received >= t_repeat(100000)));
	race_join(&r);
	T_UNTIL(!take(&r));
	race_check(&r);
	T_EQ(r.next[1] + r.next[2], r.received);
	race_close(&r);
}

/* Does the consumer's stop end, with its messages received before? */
static bool
stopped(struct race *r)
{
	return !take(r) && rte_comch_consumer_state(r->u.cons) == RTE_COMCH_STATE_IDLE;
}

T_CASE(stops)
{
	struct race r;
	unsigned int i;
	uint64_t before;

	race_open(&r);
	for (i = 0; i < t_repeat(100); i++) {
		before = r.received;
		T_UNTIL((take(&r), r.received > before + 100));
		T_EQ(rte_comch_consumer_stop(r.u.cons), -EINPROGRESS);
		T_UNTIL(stopped(&r));
		u_ring_run(&r.u);
		__atomic_store_n(&r.id, r.u.id, __ATOMIC_RELEASE);
	}
	race_join(&r);
	T_UNTIL(!take(&r));
	race_check(&r);
	race_close(&r);
}

/* Shut down the sockets of all connections: each end takes the other for dead. */
static void
cut_connections(void)
{
	socklen_t len = sizeof(int);
	int fd, type;

	for (fd = 0; fd < 1024; fd++)
		if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
				type == SOCK_SEQPACKET)
			shutdown(fd, SHUT_RDWR);
}

/* The connection ends under the producers' bursts. */
T_CASE(disconnect)
{
	struct race r;

	race_open(&r);
	T_UNTIL((take(&r), r.received > 1000));
	cut_connections();
	T_UNTIL(stopped(&r));
	T_UNTIL(t_count(r.u.p.host, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	race_join(&r);
	race_check(&r);
	race_close(&r);
}
