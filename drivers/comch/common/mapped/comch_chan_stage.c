/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The staging ring carries messages to buffers in memory that is not exported to the
 * peer.
 *
 * The producers' side writes the ring; the consumer copies from it. A message begins
 * at a multiple of COMCH_LINE, at an offset that both sides compute from the messages
 * before it. One producer at a time owns the ring; others do not wait but return a
 * short count. A message that fits is written by one call. A longer one streams, and its
 * producer owns the ring until the end of the message.
 */

#include <errno.h>

#include <rte_common.h>
#include <rte_prefetch.h>

#include "sdk/comch_asym.h"
#include "comch_chan.h"
#include "sdk/comch_dir.h"
#include "sdk/comch_peer.h"

/*
 * A large message passes through the staging ring in pieces of at most this size, which stay in
 * the caches of both ends: measured from 32 KiB to 512 KiB, see RATIONALE.
 */
#define COMCH_STAGE_PIECE (UINT32_C(64) << 10)
/* Copying that much takes longer than a line from one end to the other. */
#define COMCH_STAGE_SHORT (UINT32_C(4) << 10)

/* Free bytes of the ring, or -EPROTO if the peer's position is out of range. */
static int64_t
stage_space(const struct comch_chan_remote *rc, uint64_t head)
{
	/* S: stage.pml, space */
	uint64_t peer_tail = peer_load_acquire_u64(&rc->to.post_shared->staging_tail);
	uint64_t used = head - peer_tail;

	if (used > rc->to.base.staging_size)
		return -EPROTO;
	return (int64_t)(rc->to.base.staging_size - used);
}

/*
 * The same for the ring's owner, who looks again only if less than *need* was free: the consumer
 * writes its position after each burst, and each look takes that line from it.
 */
static int64_t
stage_owner_space(struct comch_chan_remote *rc, uint32_t need)
{
	int64_t space = (int64_t)(rc->stage_limit - rc->stage_head);

	if (space >= (int64_t)need)
		return space;
	space = stage_space(rc, rc->stage_head);
	if (space >= 0)
		rc->stage_limit = rc->stage_head + (uint64_t)space;
	return space;
}

bool
comch_stage_can_continue(const struct comch_chan_remote *rc, uint32_t len)
{
	switch (comch_load_relaxed(&rc->streaming)) {
	case COMCH_STAGE_FREE:
		return comch_stage_has_space(rc, len);
	case COMCH_STAGE_OWNED:
		/* Taken after comch_stage_await(), so its owner would not wake us: try again. */
		return true;
	default:
		return false;
	}
}

bool
comch_stage_has_space(const struct comch_chan_remote *rc, uint32_t len)
{
	/*
	 * Not stage_head: only the ring's owner may read it.
	 * No model: a stale value costs a retry.
	 */
	int64_t space = stage_space(rc, comch_load_acquire(&rc->rec->staging_head));

	return space < 0 || space >= (int64_t)len;
}

/* Write len bytes at the head; may wrap around. */
static __rte_always_inline void
stage_put(struct comch_chan_remote *rc, struct comch_gather *g, uint32_t len)
{
	uint32_t at = (uint32_t)(rc->stage_head & (rc->to.base.staging_size - 1));
	uint32_t first = RTE_MIN(len, rc->to.base.staging_size - at);

	comch_gather_copy(g, rc->staging + at, first);
	comch_gather_copy(g, rc->staging, len - first);
	rc->stage_head += len;
}

static void
stage_publish(struct comch_chan_remote *rc)
{
	comch_store_release(&rc->rec->staging_head, rc->stage_head); /* H: stage.pml, put */
}

/* Align the head, where the next message begins. */
static void
stage_align(struct comch_chan_remote *rc)
{
	rc->stage_head = RTE_ALIGN_CEIL(rc->stage_head, (uint64_t)COMCH_LINE);
}

/* The last use of rc: a retired one may be freed after it. */
static void
stage_release(struct comch_chan_prod *p, struct comch_chan_remote *rc)
{
	/* Release: the next owner's acquire sees stage_head. Model: lock.pml, unlock. */
	if (unlikely(__atomic_exchange_n(&rc->streaming, COMCH_STAGE_FREE, __ATOMIC_RELEASE) ==
			COMCH_STAGE_AWAITED))
		p->wake_others(p);
}

void
comch_stage_await(struct comch_chan_remote *rc)
{
	uint32_t owned = COMCH_STAGE_OWNED;

	/* If it is free by now, the caller sees that before it sleeps. Model: await.pml. */
	__atomic_compare_exchange_n(&rc->streaming, &owned, COMCH_STAGE_AWAITED, false,
		__ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void
stage_count(struct comch_chan_prod *p, uint32_t len, uint32_t imm_len)
{
	comch_count(&p->tx.stats.msgs, 1);
	comch_count(&p->tx.stats.bytes, len);
	comch_count(&p->tx.stats.imm_msgs, imm_len > 0);
	comch_count(&p->tx.stats.copies, 1);
	comch_count(&p->tx.stats.staged, 1);
}

static void
stream_begin(struct comch_chan_prod *p, struct comch_chan_remote *rc,
		const struct rte_comch_op *op, uint64_t pos)
{
	comch_gather_init(&p->stream_from, op);
	p->stream_left = op->len;
	p->stream_pos = pos;
	p->stream_silent = (op->flags & RTE_COMCH_OP_F_SILENT) != 0;
	p->stream_done = (struct comch_done){
		.cookie = op->cookie, .len = op->len, .consumer_id = op->consumer_id,
	};
	comch_chan_commit_one(p, rc, pos, op, COMCH_REC_STAGED);
	/* After the record, in which an abort stores stop_at. Model: abort.pml, begin. */
	comch_store_release(&p->stream, rc);
	stage_count(p, op->len, op->imm_len);
	comch_stage_push(p);
}

/*
 * Publish the record and all pieces of a message but the last: the peer copies them while we
 * write the next ones. Returns the bytes left.
 */
static __rte_noinline uint32_t
put_pieces(struct comch_chan_prod *p, struct comch_chan_remote *rc,
		const struct rte_comch_op *op, uint64_t pos, struct comch_gather *g)
{
	uint32_t left;

	for (left = op->len; left > COMCH_STAGE_PIECE; left -= COMCH_STAGE_PIECE) {
		stage_put(rc, g, COMCH_STAGE_PIECE);
		stage_publish(rc);
		if (left == op->len)
			comch_chan_commit_one(p, rc, pos, op, COMCH_REC_STAGED);
		comch_chan_wake(p, rc);
	}
	return left;
}

/* Write a message that fits. True: its record is published already. */
static __rte_always_inline bool
put_message(struct comch_chan_prod *p, struct comch_chan_remote *rc,
		const struct rte_comch_op *op, uint64_t pos)
{
	uint32_t left = op->len;
	struct comch_gather g;

	comch_gather_init(&g, op);
	if (unlikely(left > COMCH_STAGE_PIECE))
		left = put_pieces(p, rc, op, pos, &g);
	stage_put(rc, &g, left);
	stage_align(rc);
	return left < op->len;
}

/*
 * The number of operations, from the first one on, that are short, go to the staging ring, and
 * fit its free bytes. The first one does.
 */
static uint32_t
short_group(struct comch_chan_prod *p, struct comch_chan_remote *rc,
		const struct rte_comch_op *ops, uint32_t n, uint64_t pos, uint64_t space)
{
	struct comch_import_cache cache = { .region = UINT32_MAX };
	/* Not positive: the peer has moved its tail out of range meanwhile. */
	const int64_t posted = comch_send_posted(&rc->to, pos, n);
	const struct comch_desc *desc;
	uint64_t used = 0;
	uint8_t *none;
	uint32_t i;

	if (ops[0].len > COMCH_STAGE_SHORT)
		return 1;
	for (i = 1; i < n && (int64_t)i < posted; i++) {
		used += RTE_ALIGN_CEIL(ops[i - 1].len, (uint32_t)COMCH_LINE);
		if (comch_send_check_op(&rc->to, &ops[i]) != 0 || ops[i].len == 0 ||
				ops[i].len > COMCH_STAGE_SHORT || used + ops[i].len > space)
			break;
		desc = comch_send_desc(&p->tx.ahead, &rc->to, pos + i, (uint32_t)posted - i);
		if (comch_send_check_desc(&rc->to, desc, ops[i].len, &cache, &none) !=
				COMCH_SEND_STAGED)
			break;
	}
	return i;
}

/* Where the byte of the ring is that has this number. */
static __rte_always_inline uint8_t *
stage_at(const struct comch_chan_remote *rc, uint64_t byte)
{
	return rc->staging + (byte & (rc->to.base.staging_size - 1));
}

/* The first lines of n messages at pos, as if all were as long as the first. */
static __rte_always_inline void
fetch_group(const struct comch_chan_remote *rc, uint64_t pos, uint32_t n, uint32_t len)
{
	const uint32_t step = RTE_ALIGN_CEIL(len, (uint32_t)COMCH_LINE);
	uint64_t byte = rc->stage_head;
	uint32_t i;

	for (i = 0; i < n; i++, byte += step) {
		comch_chan_fetch_rec(rc, pos + i);
		comch_prefetch_write(stage_at(rc, byte));
	}
}

/* After a message of len bytes at pos, as if those that follow were as long. */
static __rte_always_inline void
fetch_next(const struct comch_chan_remote *rc, uint64_t pos, uint32_t len)
{
	const uint32_t step = RTE_ALIGN_CEIL(len, (uint32_t)COMCH_LINE);
	const uint64_t next = pos + 1;
	uint64_t byte, end;

	if (!comch_chan_fetch_pos(rc, &pos, len))
		return;
	comch_chan_fetch_rec(rc, pos);
	byte = rc->stage_head + (pos - next) * step;
	for (end = byte + len; byte < end; byte += COMCH_LINE)
		comch_prefetch_write(stage_at(rc, byte));
}

/* Messages that fit, at positions that are claimed. Returns their number. */
static int
put_group(struct comch_chan_prod *p, struct comch_chan_remote *rc,
		const struct rte_comch_op *ops, uint32_t n, uint64_t pos)
{
	bool published = false;
	uint32_t i;

	for (i = 0; i < n; i++)
		published = put_message(p, rc, &ops[i], pos + i);
	/* Once for all: the consumer reads that line. */
	stage_publish(rc);
	for (i = 0; i < n && !published; i++)
		comch_chan_commit_one(p, rc, pos + i, &ops[i], COMCH_REC_STAGED);
	comch_chan_wake(p, rc);
	for (i = 0; i < n; i++) {
		stage_count(p, ops[i].len, ops[i].imm_len);
		comch_send_done(&p->tx, &ops[i], 0, 1);
	}
	if (n == 1)
		fetch_next(rc, pos, ops[0].len);
	return (int)n;
}

int
comch_stage_send(struct comch_chan_prod *p, struct comch_chan_remote *rc,
		const struct rte_comch_op *ops, uint32_t n, uint64_t pos)
{
	uint32_t free = COMCH_STAGE_FREE;
	int64_t space;
	int ret;

	p->short_space = RTE_MIN(ops[0].len, rc->to.base.staging_size);
	/* Pairs with stage_release(). Model: lock.pml, lock. */
	if (!__atomic_compare_exchange_n(&rc->streaming, &free, COMCH_STAGE_OWNED, false,
			__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return 0;
	space = stage_owner_space(rc, p->short_space);
	ret = space < 0 ? -EPROTO : 0;
	if (space < (int64_t)p->short_space)
		goto release;
	/* Each claim drains the stores before it, which go to lines of the peer: few claims. */
	if (n > 1) {
		n = short_group(p, rc, ops, n, pos, (uint64_t)space);
		/* Before the claim, which rarely fails: the ring is ours. */
		fetch_group(rc, pos, n, ops[0].len);
	}
	if (!comch_chan_claim(rc, pos, n))
		goto release;
	p->short_space = 0;
	if (peer_load_relaxed_u32(&rc->to.post_shared->closed) != 0) { /* C */
		comch_chan_abort_group(p, rc, pos, ops, n);
		ret = (int)n;
		goto release;
	}
	if (ops[0].len > rc->to.base.staging_size) {
		stream_begin(p, rc, ops, pos);
		return 1;
	}
	ret = put_group(p, rc, ops, n, pos);
release:
	stage_release(p, rc);
	return ret;
}

/* End the stream: complete or aborted. */
static void
stream_end(struct comch_chan_prod *p, int status)
{
	struct rte_comch_op op = {
		.cookie = p->stream_done.cookie,
		.len = p->stream_done.len,
		.consumer_id = p->stream_done.consumer_id,
		.flags = p->stream_silent ? RTE_COMCH_OP_F_SILENT : 0,
	};
	struct comch_chan_remote *rc = p->stream;

	stage_align(rc);
	stage_publish(rc);
	comch_chan_wake(p, rc);
	comch_send_done(&p->tx, &op, status, 1);
	/*
	 * Release: pairs with the acquire in comch_chan_is_streaming().
	 * Model: leave.pml, leave.
	 */
	comch_store_release(&p->stream, NULL);
	stage_release(p, rc);
}

/*
 * The producer's thread advances the stream, and the poll's thread aborts it when a
 * stop times out. The lock serializes them; a thread that fails to lock tries again in
 * a later call.
 */
static bool
stream_trylock(struct comch_chan_prod *p)
{
	/* Acquire: pairs with the release in stream_unlock(). Model: lock.pml, lock. */
	return __atomic_exchange_n(&p->stream_locked, 1, __ATOMIC_ACQUIRE) == 0;
}

static void
stream_unlock(struct comch_chan_prod *p)
{
	/* Release: pairs with the acquire in stream_trylock(). Model: lock.pml, unlock. */
	comch_store_release(&p->stream_locked, 0);
}

/* Called with the stream locked. */
static void
stream_abort(struct comch_chan_prod *p, int err)
{
	struct comch_rec *rec = &p->stream->rec->rec[p->stream_pos & p->stream->to.mask];

	/*
	 * The record is not reused before the consumer has passed it.
	 * Pair A; the release of H orders it. Model: stage.pml, put.
	 */
	comch_store_release(&rec->stop_at, COMCH_REC_STOPPED |
		RTE_ALIGN_CEIL(p->stream->stage_head, (uint64_t)COMCH_LINE));
	stream_end(p, err);
}

/* Write what fits. 1: complete, 0: more to write, or the errno that ends the stream. */
static int
stream_put(struct comch_chan_prod *p, struct comch_chan_remote *rc)
{
	int64_t space;
	uint32_t k;

	/* Pairs with comch_map_prod_halt(). Model: publish.pml, find. */
	if (comch_load_acquire(&p->tx.halt) == RTE_COMCH_HALT_DOWN)
		return -ECONNRESET;
	if (comch_load_relaxed(&rc->retired) != 0)
		return -ENOENT;
	while (p->stream_left > 0) {
		space = stage_owner_space(rc, RTE_MIN(p->stream_left, COMCH_STAGE_PIECE));
		if (space <= 0)
			return (int)space;
		k = (uint32_t)RTE_MIN((uint64_t)space, RTE_MIN(p->stream_left, COMCH_STAGE_PIECE));
		stage_put(rc, &p->stream_from, k);
		stage_publish(rc);
		p->stream_left -= k;
		comch_chan_wake(p, rc);
	}
	return 1;
}

bool
comch_stage_push(struct comch_chan_prod *p)
{
	int ret = 1;

	if (!stream_trylock(p))
		return false;
	if (comch_load_relaxed(&p->stream) != NULL) {
		ret = stream_put(p, p->stream);
		if (ret == -EPROTO)
			p->tx.fault(p->tx.ctx, -EPROTO, "peer's staging position is out of range");
		if (ret < 0)
			stream_abort(p, ret);
		else if (ret > 0)
			stream_end(p, 0);
	}
	stream_unlock(p);
	return ret != 0;
}

bool
comch_stage_abort(struct comch_chan_prod *p, int err)
{
	if (!stream_trylock(p))
		return false;
	/* Pairs with stream_begin(), which has no lock. Model: abort.pml, found. */
	if (comch_load_acquire(&p->stream) != NULL)
		stream_abort(p, err);
	stream_unlock(p);
	return true;
}

/* Copy len bytes of the message at head, from offset `from`. */
static void
stage_get(const struct comch_chan_cons *c, uint8_t *dst, uint32_t from, uint32_t len)
{
	uint32_t at = (uint32_t)((c->stage_tail + from) & (c->staging_size - 1));
	uint32_t first = RTE_MIN(len, c->staging_size - at);

	peer_copy(dst, c->staging + at, first);
	peer_copy(dst + first, c->staging, len - first);
}

/* Publish the tail in whole lines, see stage_align(). The end of the burst wakes producers. */
static void
stage_consumed(struct comch_chan_cons *c, uint64_t pos)
{
	comch_store_release(&c->post->staging_tail,
		RTE_ALIGN_FLOOR(pos, (uint64_t)COMCH_LINE)); /* S: stage.pml, consumed */
	c->has_freed_space = true;
}

void
comch_stage_free_space(struct comch_chan_cons *c)
{
	/* Of a message in pieces, each has published more; also if its rest never comes. */
	if (!c->pulling && !c->stage_lost)
		stage_consumed(c, c->stage_tail);
}

/*
 * The bytes from the tail on that the ring has. The head is read only if those that were there
 * earlier do not suffice: the producers write that line for each burst. A message that may be
 * aborted is longer than the ring, so it looks each time.
 */
static uint64_t
stage_ready(struct comch_chan_cons *c, uint32_t len)
{
	uint64_t ready = c->stage_filled - c->stage_tail;

	if (ready >= len && ready <= c->staging_size)
		return ready;
	/* H: stage.pml, get */
	c->stage_filled = peer_load_acquire_u64(&c->rec_shared->staging_head);
	return c->stage_filled - c->stage_tail;
}

/* The message at head is copied, or skipped. */
static void
stage_next(struct comch_chan_cons *c, uint32_t len)
{
	c->pulling = false;
	c->stage_tail = RTE_ALIGN_CEIL(c->stage_tail + len, (uint64_t)COMCH_LINE);
	/* Of short messages, the end of the burst publishes it, once. */
	if (len > COMCH_STAGE_SHORT)
		stage_consumed(c, c->stage_tail);
	else
		c->has_freed_space = true;
}

/* If the producer aborted the message at head, skip what it wrote. */
static int
pull_stopped(struct comch_chan_cons *c)
{
	const struct comch_rec *rec = &c->rec_shared->rec[c->rx.head & c->rx.mask];
	uint64_t peer_stop = peer_load_acquire_u64(&rec->stop_at); /* A: stage.pml, get */
	uint64_t skip;

	if (peer_stop == 0)
		return 0;
	skip = (peer_stop & ~COMCH_REC_STOPPED) - c->stage_tail;
	if (skip < c->pulled || skip % COMCH_LINE != 0 ||
			skip - RTE_ALIGN_FLOOR(c->pulled, (uint32_t)COMCH_LINE) > c->staging_size)
		return -EPROTO;
	c->stage_tail += skip;
	c->pulling = false;
	stage_consumed(c, c->stage_tail);
	return -ECANCELED;
}

int
comch_stage_pull(struct comch_chan_cons *c, const struct comch_posted *e, uint32_t len)
{
	/*
	 * Before the peer's positions are read, so that its last writes are seen.
	 * Model: stop.pml, halted.
	 */
	const bool is_down = comch_load_acquire(&c->rx.halt) == RTE_COMCH_HALT_DOWN;
	uint64_t ready;
	uint32_t k;
	int ret;

	/* The position of the next staged message is unknown. */
	if (c->stage_lost)
		return -ECANCELED;
	if (!c->pulling) {
		c->pulling = true;
		c->pulled = 0;
	}
	/* Both lines come from the peer at the same time: the message's first, and the head. */
	rte_prefetch0(c->staging + (c->stage_tail & (c->staging_size - 1)));
	ready = stage_ready(c, len);
	/* The ring's limit counts from the published tail, which is rounded down to a line. */
	if (ready < c->pulled || ready - RTE_ALIGN_FLOOR(c->pulled, (uint32_t)COMCH_LINE) >
			c->staging_size)
		return -EPROTO;
	/* Check for an abort before copying: the bytes may belong to the next message. */
	ret = len > c->staging_size || ready < len ? pull_stopped(c) : 0;
	if (ret != 0)
		return ret;
	k = (uint32_t)RTE_MIN((uint64_t)(len - c->pulled), ready - c->pulled);
	if (k > 0) {
		stage_get(c, e->addr + c->pulled, c->pulled, k);
		c->pulled += k;
		if (c->pulled < len)
			stage_consumed(c, c->stage_tail + c->pulled);
	}
	if (c->pulled < len) {
		/*
		 * The rest never comes. Messages behind it may be complete: they did not need
		 * the ring.
		 */
		c->stage_lost = is_down;
		c->pulling &= !is_down;
		return is_down ? -ECANCELED : 0;
	}
	stage_next(c, len);
	return 1;
}
