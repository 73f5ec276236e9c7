/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_OUTQ_H
#define COMCH_OUTQ_H

/*
 * The queue of an output end, which all kinds of ports and nodes share: mbufs that wait for
 * a full burst or for a peer without posted buffers. The array is filled from the front;
 * at its end, the remaining mbufs move to the front. It has one place more than the queue, so
 * that a single mbuf is stored without a look at the room.
 */

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_log.h>
#include <rte_mbuf.h>

#include "rte_comch_pipe.h"

/* Default size of a queue. */
#define COMCH_OUTQ_SIZE     512u
#define COMCH_OUTQ_SIZE_MAX 32768u
/* Default mbufs per send or receive. */
#define COMCH_PIPE_BURST    32u

extern int comch_pipe_logtype;

#define COMCH_PIPE_LOG(level, fmt, ...) \
	rte_log(RTE_LOG_##level, comch_pipe_logtype, "COMCH: " fmt "\n", ##__VA_ARGS__)

struct comch_outq {
	struct rte_comch_pipe_out *out;
	uint32_t burst; /* a power of 2 */
	uint32_t size;
	uint32_t head;  /* the first of count mbufs; head + count <= size */
	uint32_t count;
	uint32_t due;   /* count with which single mbufs make a burst, or reach the end */
	uint64_t dropped_bytes;
	struct rte_mbuf *mbufs[];
};

/* Takes over the end. what: for the log. Returns NULL with rte_errno. */
struct comch_outq *comch_outq_create(struct rte_comch_pipe_out *out, uint32_t burst,
		uint32_t size, int socket_id, const char *what);
/* Send what the peer takes, free the rest, and release the end. */
void comch_outq_free(struct comch_outq *q);
/* The same, but keep the end. */
void comch_outq_clear(struct comch_outq *q);

/* A single mbuf was queued, and count is due. */
void comch_outq_attend(struct comch_outq *q);

/* Take over an input end. Returns 0, or -EINVAL or -EBUSY after logging. */
int comch_in_take(struct rte_comch_pipe_in *in, void *owner, const char *what);

/* A counter with one writer, which any thread may read. */
static inline void
comch_pipe_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + n,
			__ATOMIC_RELAXED);
}

static inline uint16_t
comch_in_recv(struct rte_comch_pipe_in *in, struct rte_mbuf **mbufs, uint16_t n)
{
	/* Without a consumer this is 0. */
	n = rte_comch_rx_burst(in->consumer, mbufs, n);
	comch_pipe_count(&in->nb_received, n);
	return n;
}

/* Send as many of n mbufs as the peer takes. */
static inline uint32_t
comch_outq_tx(struct comch_outq *q, struct rte_mbuf **mbufs, uint32_t n)
{
	struct rte_comch_pipe_out *out = q->out;

	/* Without a producer this is 0. */
	n = rte_comch_tx_burst(out->producer, out->consumer_id, mbufs,
			(uint16_t)RTE_MIN(n, COMCH_OUTQ_SIZE_MAX));
	comch_pipe_count(&out->nb_sent, n);
	return n;
}

static inline void
comch_outq_set_count(struct comch_outq *q, uint32_t count)
{
	q->count = count;
	q->due = RTE_MIN((count | (q->burst - 1)) + 1, q->size + 1 - q->head);
	__atomic_store_n(&q->out->nb_pending, count, __ATOMIC_RELAXED);
}

/* Send what is queued. An empty burst lets the library free completed mbufs. */
static inline void
comch_outq_flush(struct comch_outq *q)
{
	uint32_t n = comch_outq_tx(q, &q->mbufs[q->head], q->count);

	q->head = n == q->count ? 0 : q->head + n;
	comch_outq_set_count(q, q->count - n);
}

/* Move what is queued to the front of the array. */
static inline void
comch_outq_to_front(struct comch_outq *q)
{
	memmove(q->mbufs, &q->mbufs[q->head], q->count * sizeof(q->mbufs[0]));
	q->head = 0;
}

/* Queue mbufs. Returns the number for which there is room. */
static inline uint32_t
comch_outq_add(struct comch_outq *q, struct rte_mbuf **mbufs, uint32_t n)
{
	n = RTE_MIN(n, q->size - q->count);
	if (unlikely(q->head + q->count + n > q->size))
		comch_outq_to_front(q);
	memcpy(&q->mbufs[q->head + q->count], mbufs, n * sizeof(q->mbufs[0]));
	comch_outq_set_count(q, q->count + n);
	return n;
}

static inline void
comch_outq_drop(struct comch_outq *q, struct rte_mbuf **mbufs, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		q->dropped_bytes += mbufs[i]->pkt_len;
	rte_pktmbuf_free_bulk(mbufs, n);
	comch_pipe_count(&q->out->nb_dropped, n);
}

/* Send n mbufs, or queue them while there are fewer than a burst or the peer is slow. */
static inline void
comch_outq_send(struct comch_outq *q, struct rte_mbuf **mbufs, uint32_t n)
{
	uint32_t k;

	if (likely(q->count == 0 && n >= q->burst)) {
		k = comch_outq_tx(q, mbufs, n);
	} else {
		k = comch_outq_add(q, mbufs, n);
		if (q->count >= q->burst)
			comch_outq_flush(q);
	}
	if (likely(k == n))
		return;
	k += comch_outq_add(q, &mbufs[k], n - k);
	if (unlikely(k < n))
		comch_outq_drop(q, &mbufs[k], n - k);
}

static inline void
comch_outq_send_one(struct comch_outq *q, struct rte_mbuf *mbuf)
{
	const uint32_t count = q->count + 1;

	q->mbufs[q->head + count - 1] = mbuf;
	q->count = count;
	__atomic_store_n(&q->out->nb_pending, count, __ATOMIC_RELAXED);
	if (unlikely(count == q->due))
		comch_outq_attend(q);
}

#endif /* COMCH_OUTQ_H */
