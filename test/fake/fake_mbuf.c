/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Bursts that pass mbufs to the peer without a copy, for devices with the key mbufs=1. */

#include <stdlib.h>

#include <rte_mbuf.h>

#include "fake_private.h"

struct fake_mbuf_queue {
	uint32_t mask;
	uint32_t head;
	uint32_t tail;
	struct {
		struct rte_mbuf *mbuf;
		uint64_t due;
	} slot[];
};

static uint64_t nb_sent, nb_received;

uint64_t
fake_mbufs_sent(void)
{
	return comch_load_relaxed(&nb_sent);
}

uint64_t
fake_mbufs_received(void)
{
	return comch_load_relaxed(&nb_received);
}

struct fake_mbuf_queue *
fake_mbuf_queue_new(uint32_t depth)
{
	struct fake_mbuf_queue *q = calloc(1, sizeof(*q) + depth * sizeof(q->slot[0]));

	if (q != NULL)
		q->mask = depth - 1;
	return q;
}

bool
fake_mbuf_queue_is_empty(const struct fake_mbuf_queue *q)
{
	return q == NULL || q->head == q->tail;
}

void
fake_mbuf_queue_free(struct fake_mbuf_queue *q)
{
	if (q == NULL)
		return;
	for (; q->head != q->tail; q->head++)
		rte_pktmbuf_free(q->slot[q->head & q->mask].mbuf);
	free(q);
}

/* The queue of a consumer; NULL: the consumer accepts no more messages. */
static struct fake_mbuf_queue *
find_queue(struct fake_prod *p, uint32_t consumer_id)
{
	uint32_t slot = 0;
	struct comch_send_remote *to = comch_send_find(&p->tx, consumer_id, &slot);
	struct fake_cons *c;

	if (to == NULL || p->tx.halt != RTE_COMCH_HALT_NONE)
		return NULL;
	c = container_of(to, struct fake_remote, to)->cons;
	return c == NULL || c->closed ? NULL : c->mbufs;
}

/* All mbufs are the sender's. */
int
fake_rx_setup(struct rte_comch_dq *dq __rte_unused, struct rte_mempool *mp __rte_unused,
		bool takes_chains __rte_unused)
{
	return 0;
}

int
fake_send_mbufs(struct rte_comch_dq *dq, uint32_t consumer_id,
		struct rte_comch_mr *mr __rte_unused, struct rte_mbuf **mbufs, uint16_t n,
		uint16_t *done)
{
	struct fake_prod *p = container_of(dq, struct fake_prod, dq.base);
	struct fake_mbuf_queue *q;
	uint16_t i = 0;

	pthread_mutex_lock(&fake_lock);
	q = find_queue(p, consumer_id);
	if (q == NULL) {
		comch_count(&p->tx.stats.errors, n);
		rte_pktmbuf_free_bulk(mbufs, n);
		i = n;
	}
	for (; i < n && q->tail - q->head <= q->mask; i++, q->tail++) {
		q->slot[q->tail & q->mask].mbuf = mbufs[i];
		q->slot[q->tail & q->mask].due = fake_due(dq->link);
		comch_count(&p->tx.stats.msgs, 1);
		comch_count(&nb_sent, 1);
	}
	pthread_mutex_unlock(&fake_lock);
	*done = i;
	return 0;
}

int
fake_recv_mbufs(struct rte_comch_dq *dq, struct rte_mbuf **mbufs, uint16_t n, uint16_t *done)
{
	struct fake_cons *c = container_of(dq, struct fake_cons, dq.base);
	struct fake_mbuf_queue *q = c->mbufs;
	uint16_t i;

	pthread_mutex_lock(&fake_lock);
	for (i = 0; i < n && q->head != q->tail; i++, q->head++) {
		if (q->slot[q->head & q->mask].due > fake_now)
			break;
		mbufs[i] = q->slot[q->head & q->mask].mbuf;
		comch_count(&c->rx.stats.msgs, 1);
		comch_count(&nb_received, 1);
	}
	fake_poll_again(fake_dev_of(dq->link), &c->dq.empty[0], i > 0);
	if (q->head == q->tail)
		fake_cons_drain(c);
	pthread_mutex_unlock(&fake_lock);
	*done = i;
	return 0;
}
