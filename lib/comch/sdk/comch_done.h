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

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_malloc.h>

#include "rte_comch_dp.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_rec.h"

/*
 * A send that waits for done_burst(). It is as a completion begins, and written and read by words:
 * often a program takes it at once, and a load of what several stores wrote would wait until each
 * store before them, also to lines of the peer, is out of the CPU.
 */
struct comch_done {
	uint64_t cookie;
	union {
		struct {
			int32_t status; /* or COMCH_DONE_OPEN */
			uint32_t len;
		};
		uint64_t result;
	};
	union {
		struct {
			uint32_t consumer_id;
			uint16_t imm_len; /* 0 */
			uint16_t copies;
		};
		uint64_t origin;
	};
};
static_assert(sizeof(struct comch_done) == 3 * sizeof(uint64_t) &&
	sizeof(struct comch_done) == offsetof(struct rte_comch_cpl, imm) &&
	offsetof(struct comch_done, status) == offsetof(struct rte_comch_cpl, status) &&
	offsetof(struct comch_done, len) == offsetof(struct rte_comch_cpl, len) &&
	offsetof(struct comch_done, consumer_id) == offsetof(struct rte_comch_cpl, peer_id) &&
	offsetof(struct comch_done, imm_len) == offsetof(struct rte_comch_cpl, imm_len) &&
	offsetof(struct comch_done, copies) == offsetof(struct rte_comch_cpl, copies),
	"the beginning of a completion");

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

static inline uint64_t
comch_done_result(int status, uint32_t len)
{
	return (uint32_t)status | (uint64_t)len << 32;
}

static __rte_always_inline void
comch_done_fill(struct comch_done *d, const struct rte_comch_op *op, int status, uint16_t copies)
{
	d->cookie = op->cookie;
	d->result = comch_done_result(status, op->len);
	d->origin = op->consumer_id | (uint64_t)copies << 48;
}

/*
 * Add a completion: a status, or COMCH_DONE_OPEN. copies: how often the CPU copies the payload, if
 * the send succeeds. The caller has checked for room.
 */
static __rte_always_inline struct comch_done *
comch_done_put(struct comch_done_ring *r, const struct rte_comch_op *op, int status,
		uint16_t copies)
{
	struct comch_done *d = &r->ring[r->tail & r->mask];

	comch_done_fill(d, op, status, status >= 0 && op->len > 0 ? copies : 0);
	/*
	 * Release: pairs with comch_done_ready(); the poll's thread may also add one.
	 * Model: publish.pml, publish.
	 */
	comch_store_release(&r->tail, r->tail + 1);
	return d;
}

/* The same for n operations that have payloads. None is silent. */
static __rte_always_inline void
comch_done_put_all(struct comch_done_ring *r, const struct rte_comch_op *ops, uint32_t n,
		int status, uint16_t copies)
{
	const uint64_t tail = r->tail;
	uint32_t i;

	for (i = 0; i < n; i++)
		comch_done_fill(&r->ring[(tail + i) & r->mask], &ops[i], status, copies);
	/* Release: as comch_done_put(). Model: publish.pml, publish. */
	comch_store_release(&r->tail, tail + n);
}

/* Set the status of an open completion. Any thread. */
static inline void
comch_done_close(struct comch_done *d, int status)
{
	if (unlikely(status != 0))
		d->copies = 0;
	/*
	 * Release: pairs with comch_done_closed(); reads of the payload come before.
	 * Model: done.pml, close.
	 */
	comch_store_release(&d->result, comch_done_result(status, d->len));
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
		if ((int32_t)comch_load_acquire(&r->ring[(r->head + i) & r->mask].result) ==
				COMCH_DONE_OPEN)
			break;
	return i;
}

/* Copy a word. Atomic, or the compiler reads two at once. */
static __rte_always_inline void
comch_done_copy(void *dst, const uint64_t *src)
{
	const uint64_t word = comch_load_relaxed(src);

	memcpy(dst, &word, sizeof(word));
}

/* Take n completions. */
static __rte_always_inline void
comch_done_take(struct comch_done_ring *r, struct rte_comch_cpl *cpls, uint16_t n)
{
	const uint64_t head = r->head;
	const struct comch_done *d;
	uint16_t i;

	for (i = 0; i < n; i++) {
		d = &r->ring[(head + i) & r->mask];
		comch_done_copy(&cpls[i].cookie, &d->cookie);
		comch_done_copy(&cpls[i].status, &d->result);
		comch_done_copy(&cpls[i].peer_id, &d->origin);
	}
	r->head = head + n;
}

#endif /* COMCH_DONE_H */
