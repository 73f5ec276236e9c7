/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_RECV_POST_H
#define COMCH_RECV_POST_H

/* Posts of buffers, for transports with comch_recv.h. */

#include "sdk/comch_recv.h"

/* Write the descriptor of a position. */
typedef void (*comch_recv_put_t)(struct comch_recv *rx, uint64_t pos, uint64_t where, uint32_t len);
/* Publish rx->tail to the peer. */
typedef void (*comch_recv_publish_t)(struct comch_recv *rx);

/* Find a registration in the consumer's table. */
static inline const struct comch_cons_mr *
comch_recv_find_mr(const struct comch_recv *rx, const struct rte_comch_mr *mr)
{
	/* Acquire: pairs with the release that publishes a new entry. Model: publish.pml, find. */
	uint32_t i, n = comch_load_acquire(&rx->mrs->nb);

	for (i = 0; i < n; i++)
		if (rx->mrs->mr[i].mr == mr)
			return &rx->mrs->mr[i];
	return NULL;
}

/* The next buffers are of this registration. False: it is not one of the consumer's, or not yet. */
static __rte_noinline bool
comch_recv_use_mr(struct comch_recv *rx, const struct rte_comch_mr *mr)
{
	const struct comch_cons_mr *m = mr != NULL ? comch_recv_find_mr(rx, mr) : NULL;

	/* Acquire: pairs with mrs_ready() and step_live(). Model: publish.pml, find. */
	if (m == NULL || comch_load_acquire(&m->ready) == 0)
		return false;
	rx->last = (struct comch_recv_mr){
		.mr = mr, .addr = (uintptr_t)m->addr, .len = m->len,
		.where = (uint64_t)m->region << COMCH_DESC_OFF_BITS,
		.is_staged = m->region == COMCH_REGION_STAGED,
	};
	return true;
}

/* Set *where for the buffer's descriptor. Returns its room, or why it is refused. */
static __rte_always_inline int32_t
comch_recv_place(struct comch_recv *rx, const struct rte_comch_buf *buf, uint64_t *where)
{
	const struct comch_recv_mr *last = &rx->last;
	uint64_t off;

	if (unlikely(buf->addr == NULL)) {
		*where = (uint64_t)COMCH_REGION_NONE << COMCH_DESC_OFF_BITS;
		return buf->len == 0 ? 0 : -EINVAL;
	}
	if (unlikely((buf->mr != last->mr || buf->mr == NULL) && !comch_recv_use_mr(rx, buf->mr)))
		return -EINVAL;
	off = (uint64_t)((uintptr_t)buf->addr - last->addr);
	if (unlikely(off > last->len || buf->len > last->len - off))
		return -EFAULT;
	*where = last->where;
	if (last->is_staged)
		return 0;
	*where |= off;
	return (int32_t)RTE_MIN(buf->len, (uint32_t)INT32_MAX);
}

static __rte_always_inline uint16_t
comch_recv_post(struct comch_recv *rx, const struct rte_comch_buf *bufs, uint16_t n,
		comch_recv_put_t put, comch_recv_publish_t publish)
{
	bool halted = comch_load_acquire(&rx->halt) != RTE_COMCH_HALT_NONE; /* publish.pml, find */
	uint64_t room = rx->depth - (rx->entry_tail - rx->entry_head);
	uint64_t tail = rx->tail, entry_tail = rx->entry_tail, where = 0;
	const uint32_t mask = rx->mask;
	struct comch_posted *e;
	uint16_t i;

	n = (uint16_t)RTE_MIN((uint64_t)n, room);
	for (i = 0; i < n; i++) {
		e = &rx->entry[entry_tail++ & mask];
		e->cookie = bufs[i].cookie;
		e->addr = bufs[i].addr;
		e->len = bufs[i].len;
		e->room = unlikely(halted) ? -EBADFD : comch_recv_place(rx, &bufs[i], &where);
		if (unlikely(e->room < 0)) {
			rx->nb_refused++;
			continue;
		}
		put(rx, tail++, where, bufs[i].len);
	}
	rx->entry_tail = entry_tail;
	if (rx->tail != tail) {
		comch_count(&rx->stats.posted, tail - rx->tail);
		rx->tail = tail;
		publish(rx);
	}
	return n;
}

/* Number of buffers that a post would accept. */
static inline uint32_t
comch_recv_room(const struct comch_recv *rx)
{
	if (comch_load_relaxed(&rx->halt) != RTE_COMCH_HALT_NONE)
		return 0;
	return rx->depth - (uint32_t)(rx->entry_tail - rx->entry_head);
}

#endif /* COMCH_RECV_POST_H */
