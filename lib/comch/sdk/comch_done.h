/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DONE_H
#define COMCH_DONE_H

/*
 * Completions of a producer, in the order of sending.
 *
 * A transport that carries a message out within the send puts its completion in by
 * comch_done_put(). One that does so later opens it by comch_done_open(), and closes
 * it with its status when it knows; it may close them in any order, and from another
 * thread. Both take out what is closed, in the order in which it was put in.
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

/* No status: the transport still works on it. */
#define COMCH_DONE_OPEN 1

struct comch_done_ring {
	uint32_t mask;
	uint32_t size;
	uint64_t tail; /* completions put in */
	uint64_t head; /* completions taken out */
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

/* Operations that it has room for. */
static inline uint32_t
comch_done_room(const struct comch_done_ring *r)
{
	return r->size - (uint32_t)(r->tail - r->head);
}

/* An operation is over, or open. There is room. */
static __rte_always_inline struct comch_done *
comch_done_put(struct comch_done_ring *r, const struct rte_comch_op *op, int status)
{
	struct comch_done *d = &r->ring[r->tail & r->mask];

	d->cookie = op->cookie;
	d->status = status;
	d->len = op->len;
	d->consumer_id = op->consumer_id;
	/* Release: pairs with comch_done_ready(); the poll's thread may put one in, too. */
	comch_store_release(&r->tail, r->tail + 1);
	return d;
}

/* The transport knows what became of it. Any thread. */
static inline void
comch_done_close(struct comch_done *d, int status)
{
	/* Release: pairs with comch_done_closed(); the payload was read before. */
	comch_store_release(&d->status, status);
}

/* How many of n may be taken, if none is ever open. */
static inline uint16_t
comch_done_ready(const struct comch_done_ring *r, uint16_t n)
{
	return (uint16_t)RTE_MIN((uint64_t)n, comch_load_acquire(&r->tail) - r->head);
}

/* The same, up to the first that is open. */
static inline uint16_t
comch_done_closed(const struct comch_done_ring *r, uint16_t n)
{
	uint16_t i, most = comch_done_ready(r, n);

	for (i = 0; i < most; i++)
		/* Acquire: pairs with comch_done_close(). */
		if (comch_load_acquire(&r->ring[(r->head + i) & r->mask].status) ==
				COMCH_DONE_OPEN)
			break;
	return i;
}

/* Take n that may be taken. copies: of each payload that was sent, by the CPU. */
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
