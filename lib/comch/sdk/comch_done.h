/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DONE_H
#define COMCH_DONE_H

/*
 * The ring of a producer's completions, in the order of sends.
 *
 * A synchronous transport adds a completion with its status by comch_done_put(). An
 * asynchronous one adds it with COMCH_DONE_OPEN and calls comch_done_close() when the
 * status is known, in any order and from any thread. Closed completions are taken in
 * the order of sends.
 */

#include <errno.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_malloc.h>

#include "rte_comch_dp.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_rec.h"

/* A send that waits for done_burst(). */
struct comch_done {
	uint64_t cookie;
	int32_t status; /* or COMCH_DONE_OPEN */
	uint32_t len;
	uint32_t consumer_id;
};

/* Status of an operation that is in progress. */
#define COMCH_DONE_OPEN 1

struct comch_done_ring {
	uint32_t mask;
	uint32_t size;
	uint64_t tail; /* completions added */
	uint64_t head; /* completions taken */
	struct comch_done *ring;
};

static inline int
comch_done_init(struct comch_done_ring *r, uint32_t queue_size, int socket_id)
{
	uint32_t size = rte_align32pow2(queue_size);

	r->ring = rte_zmalloc_socket("comch_done", size * sizeof(*r->ring), COMCH_LINE,
			socket_id);
	if (r->ring == NULL)
		return -ENOMEM;
	r->mask = size - 1;
	r->size = queue_size;
	return 0;
}

static inline void
comch_done_fini(struct comch_done_ring *r)
{
	rte_free(r->ring);
}

/* Number of operations that fit. */
static inline uint32_t
comch_done_room(const struct comch_done_ring *r)
{
	return r->size - (uint32_t)(r->tail - r->head);
}

/* Add a completion: a status, or COMCH_DONE_OPEN. The caller has checked for room. */
static __rte_always_inline struct comch_done *
comch_done_put(struct comch_done_ring *r, const struct rte_comch_op *op, int status)
{
	struct comch_done *d = &r->ring[r->tail & r->mask];

	d->cookie = op->cookie;
	d->status = status;
	d->len = op->len;
	d->consumer_id = op->consumer_id;
	/*
	 * Release: pairs with comch_done_ready(); the poll's thread may also add one.
	 * Model: publish.pml, publish.
	 */
	comch_store_release(&r->tail, r->tail + 1);
	return d;
}

/* Set the status of an open completion. Any thread. */
static inline void
comch_done_close(struct comch_done *d, int status)
{
	/*
	 * Release: pairs with comch_done_closed(); reads of the payload come before.
	 * Model: done.pml, close.
	 */
	comch_store_release(&d->status, status);
}

/* The number of completions to take, at most n, for a synchronous transport. */
static inline uint16_t
comch_done_ready(const struct comch_done_ring *r, uint16_t n)
{
	/* Pairs with comch_done_put(). Model: publish.pml, find. */
	return (uint16_t)RTE_MIN((uint64_t)n, comch_load_acquire(&r->tail) - r->head);
}

/* The same for an asynchronous transport: stops at the first open completion. */
static inline uint16_t
comch_done_closed(const struct comch_done_ring *r, uint16_t n)
{
	uint16_t i, most = comch_done_ready(r, n);

	for (i = 0; i < most; i++)
		/* Acquire: pairs with comch_done_close(). Model: done.pml, closed. */
		if (comch_load_acquire(&r->ring[(r->head + i) & r->mask].status) ==
				COMCH_DONE_OPEN)
			break;
	return i;
}

/* Take n completions. copies: how often the CPU copied each payload. */
static __rte_always_inline void
comch_done_take(struct comch_done_ring *r, struct rte_comch_cpl *cpls, uint16_t n,
		uint16_t copies)
{
	const struct comch_done *d;
	uint16_t i;

	for (i = 0; i < n; i++) {
		d = &r->ring[r->head++ & r->mask];
		cpls[i].cookie = d->cookie;
		cpls[i].status = d->status;
		cpls[i].len = d->len;
		cpls[i].peer_id = d->consumer_id;
		cpls[i].imm_len = 0;
		cpls[i].copies = d->status == 0 && d->len > 0 ? copies : 0;
	}
}

#endif /* COMCH_DONE_H */
