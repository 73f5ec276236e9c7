/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The bursts of consumers: posts go out, messages come in.
 *
 * A message is read once its completion was fetched: then its slot is ours, and the peer
 * cannot change it. All records of a message are checked and copied to a private ring
 * by position, eager payloads and pieces are copied into their buffers, and the slot is
 * posted again. The rest is comch_recv.h.
 *
 * Records arrive in the order of their positions. The pieces of a long message arrive
 * in order as well, but records of other producers may come in between.
 */

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>

#include "sdk/comch_guard.h"
#include "mlx5_cons.h"

/* What a record's pad says in the private ring: the CPU copied the payloads. */
#define PAD_COPIED 1

static __rte_always_inline struct mlx5_cons *
cons_of(const struct comch_recv *rx)
{
	return (struct mlx5_cons *)(uintptr_t)container_of(rx, const struct mlx5_cons, rx);
}

void
mlx5_recv_begin(struct mlx5_cons *c)
{
	memset(c->ring, 0, c->rx.depth * sizeof(*c->ring));
	memset(&c->stream, 0, sizeof(c->stream));
	c->aborted = 0;
	c->post = NULL;
	c->nb_descs = 0;
	c->arrived = 0;
	c->arrived_entry = 0;
	c->published = 0;
	c->told_tail = 0;
	c->taken = 0;
	c->told_taken = 0;
	c->final = 0;
	c->is_bad = false;
	c->has_failed = false;
	c->is_flushed = false;
	c->is_closing = 0;
}

/* The queue pair has failed: the link ends. */
static void
fail(struct mlx5_cons *c, enum ibv_wc_status status)
{
	/* Pairs with mlx5_cons_halt(). Model: publish.pml, find. */
	if (c->has_failed || comch_load_acquire(&c->is_closing) != 0)
		return;
	c->has_failed = true;
	mlx5_link_fault(mlx5_link_of(c->dq.base.link), mlx5_qp_status_errno(status),
		mlx5_qp_status_text(status));
}

/* Posts */

/* Complete the message under construction. */
static void
end_post(struct mlx5_cons *c)
{
	c->post->count = (uint16_t)c->nb_descs;
	c->post->reserved = 0;
	c->post->taken = c->taken;
	c->told_taken = c->taken;
	mlx5_qp_send(&c->qp, sizeof(*c->post) + c->nb_descs * sizeof(struct comch_desc));
	c->nb_descs = 0;
}

static void
flush_posts(struct mlx5_cons *c)
{
	if (mlx5_qp_flush(&c->qp, c->qp.tx_tail - c->qp.tx_signalled >= MLX5_CONS_SIGNAL) != 0)
		fail(c, IBV_WC_GENERAL_ERR);
}

/* Begin a message that starts at a position. See MLX5_CONS_TX_SPARE: there is room. */
static void
begin_post(struct mlx5_cons *c, uint64_t pos)
{
	if (unlikely(c->qp.nb_chain == MLX5_QP_CHAIN))
		flush_posts(c);
	c->post = mlx5_qp_tx_buf(&c->qp);
	c->post->first = pos;
}

static __rte_always_inline void
put_desc(struct comch_recv *rx, uint64_t pos, uint64_t where, uint32_t len)
{
	struct mlx5_cons *c = cons_of(rx);
	struct comch_desc *desc;

	if (c->nb_descs == 0)
		begin_post(c, pos);
	desc = (struct comch_desc *)(c->post + 1) + c->nb_descs;
	*desc = (struct comch_desc){ .where = where, .len = len };
	if (++c->nb_descs == MLX5_POST_MAX)
		end_post(c);
}

static void
publish(struct comch_recv *rx)
{
	struct mlx5_cons *c = cons_of(rx);

	if (c->nb_descs > 0)
		end_post(c);
	flush_posts(c);
	/*
	 * Release: pairs with mlx5_cons_needs(), which tells the peer to wait for them.
	 * Model: publish.pml, publish.
	 */
	comch_store_release(&c->published, rx->tail);
}

uint16_t
mlx5_recv_post(void *queue, const struct rte_comch_buf *bufs, uint16_t n)
{
	struct mlx5_cons *c = queue;

	comch_guard_enter(&c->rx.guard, "bursts of a consumer");
	n = comch_recv_post(&c->rx, bufs, n, put_desc, publish);
	comch_guard_leave(&c->rx.guard);
	return n;
}

/* How many more messages may be delivered: see MLX5_CONS_TX_SPARE. */
static __rte_always_inline uint32_t
tx_slack(const struct mlx5_cons *c)
{
	const struct comch_recv *rx = &c->rx;
	uint32_t under_way = (uint32_t)(c->qp.tx_tail - c->qp.tx_head);
	uint32_t free = rx->depth - (uint32_t)(rx->tail - rx->head);

	return c->qp.conf.nb_tx - under_way - free;
}

/* Tell the producers about pieces taken, if no post does so soon enough. */
static void
return_pieces(struct mlx5_cons *c)
{
	if (comch_load_relaxed(&c->rx.halt) != RTE_COMCH_HALT_NONE || tx_slack(c) == 0)
		return;
	begin_post(c, c->rx.tail);
	end_post(c);
	flush_posts(c);
}

/* Arrivals */

/* The entry of the next position to arrive. One is posted, as the caller has checked. */
static struct comch_posted *
next_entry(struct mlx5_cons *c)
{
	struct comch_recv *rx = &c->rx;
	struct comch_posted *e;

	/* Refused buffers have no position, and may have been returned meanwhile. */
	if ((int64_t)(c->arrived_entry - rx->entry_head) < 0)
		c->arrived_entry = rx->entry_head;
	do {
		e = &rx->entry[c->arrived_entry++ & rx->mask];
	} while (e->room < 0);
	return e;
}

/* Copy an eager payload into its buffer. False: it does not fit. */
static bool
take_eager(struct mlx5_cons *c, const uint8_t *payload, uint32_t left, uint32_t len)
{
	struct comch_posted *e = next_entry(c);

	if (len > left || len > e->len)
		return false;
	if (len > 0)
		memcpy(e->addr, payload, len);
	/* Memory that is not shown has no room for the peer, but for us. */
	e->room = RTE_MAX(e->room, (int32_t)len);
	return true;
}

/* Returns the bytes of payload, or -EPROTO. */
static int64_t
take_eagers(struct mlx5_cons *c, struct comch_rec *rec, const uint8_t *payload, uint32_t left)
{
	uint32_t i, len, off = 0;

	if (rec->head.count > COMCH_REC_BATCH)
		return -EPROTO;
	for (i = 0; i < rec->head.count; i++) {
		len = rec->len[i];
		off = RTE_MIN(RTE_ALIGN_CEIL(off, MLX5_EAGER_ALIGN), left);
		if (!take_eager(c, payload + off, left - off, len))
			return -EPROTO;
		off += len;
	}
	rec->head.kind = COMCH_REC_DIRECT;
	rec->head.pad = PAD_COPIED;
	return off;
}

/* Returns 0 or -EPROTO. */
static int
begin_stream(struct mlx5_cons *c, const struct comch_rec *rec)
{
	const struct comch_posted *e = next_entry(c);

	if (rec->head.count != 1 || c->stream.seq != 0 || c->window == 0 || rec->len0 > e->len)
		return -EPROTO;
	if (rec->len0 > 0)
		c->stream = (struct mlx5_arrival){
			.seq = rec->seq, .addr = e->addr, .len = rec->len0,
		};
	return 0;
}

/* A piece, or the end of a message without the rest. Returns its bytes, or -EPROTO. */
static int64_t
take_piece(struct mlx5_cons *c, const struct comch_rec *rec, const uint8_t *payload,
		uint32_t left)
{
	struct mlx5_arrival *s = &c->stream;

	if (s->seq == 0 || rec->seq != s->seq)
		return -EPROTO;
	c->taken++;
	if (rec->head.kind == COMCH_REC_ABORT) {
		c->aborted = s->seq;
		s->seq = 0;
		return 0;
	}
	if (rec->len0 == 0 || rec->len0 > left || rec->len0 > s->len - s->got)
		return -EPROTO;
	memcpy(s->addr + s->got, payload, rec->len0);
	s->got += rec->len0;
	if (s->got == s->len)
		s->seq = 0;
	return rec->len0;
}

/* A record for the next positions. Returns the bytes of payload, or -EPROTO. */
static int64_t
take_rec(struct mlx5_cons *c, struct comch_rec *rec, const uint8_t *payload, uint32_t left)
{
	uint32_t i, count = rec->head.count;
	int64_t n = 0;

	if (rec->seq != c->arrived + 1 || count == 0 || count > c->rx.tail - c->arrived)
		return -EPROTO;
	rec->head.pad = 0;
	switch (rec->head.kind) {
	case COMCH_REC_DIRECT:
		for (i = 0; i < count; i++)
			next_entry(c);
		break;
	case MLX5_REC_EAGER:
		n = take_eagers(c, rec, payload, left);
		break;
	case COMCH_REC_STAGED:
		n = begin_stream(c, rec);
		break;
	default:
		return -EPROTO;
	}
	if (n < 0)
		return n;
	c->ring[c->arrived & c->rx.mask] = *rec;
	c->arrived += count;
	return n;
}

/* Take all records of a message. False: the peer broke the protocol. */
static bool
take_message(struct mlx5_cons *c, const uint8_t *msg, uint32_t len)
{
	struct comch_rec rec;
	uint32_t off = 0;
	int64_t n;

	do {
		if (len - off < sizeof(rec))
			return false;
		memcpy(&rec, msg + off, sizeof(rec));
		off += sizeof(rec);
		if (rec.head.kind == MLX5_REC_PIECE || rec.head.kind == COMCH_REC_ABORT)
			n = take_piece(c, &rec, msg + off, len - off);
		else
			n = take_rec(c, &rec, msg + off, len - off);
		if (n < 0)
			return false;
		/* The last payload need not be padded. */
		off = RTE_MIN(off + RTE_ALIGN_CEIL((uint32_t)n, MLX5_EAGER_ALIGN), len);
	} while (off < len);
	return true;
}

/* Take the next message of the queue pair. False: there is none. */
static bool
take_next(struct mlx5_cons *c)
{
	const struct ibv_wc *wc;

	/* A valid peer sends less than this, a flood does not hold up the application. */
	if (c->budget == 0)
		return false;
	c->budget--;
	while ((wc = mlx5_qp_next(&c->qp)) != NULL) {
		if (unlikely(wc->status != IBV_WC_SUCCESS)) {
			c->is_flushed |= mlx5_qp_is_recv(wc);
			fail(c, c->qp.status);
			continue;
		}
		if (!mlx5_qp_is_recv(wc))
			continue;
		/* Another operation with an immediate value writes nothing to the slot. */
		if (unlikely(c->is_bad || wc->opcode != IBV_WC_RECV ||
				!take_message(c, mlx5_qp_slot(&c->qp, wc), wc->byte_len)))
			c->is_bad = true;
		mlx5_qp_repost(&c->qp, wc->wr_id);
		return true;
	}
	return false;
}

/* Steps of comch_recv.h */

static __rte_always_inline bool
has_rec(const struct comch_recv *rx)
{
	return cons_of(rx)->ring[rx->head & rx->mask].seq == rx->head + 1;
}

static bool
is_committed(const struct comch_recv *rx)
{
	struct mlx5_cons *c = cons_of(rx);

	while (!has_rec(rx))
		if (c->is_bad || !take_next(c))
			return c->is_bad;
	return true;
}

static const struct comch_rec *
at_head(const struct comch_recv *rx)
{
	/* It covers no position, which is a violation. */
	static const struct comch_rec bad;

	return has_rec(rx) ? &cons_of(rx)->ring[rx->head & rx->mask] : &bad;
}

/* Pieces are copied as they arrive: has the last one? */
static int
pull(struct comch_recv *rx, const struct comch_posted *e __rte_unused, uint32_t len __rte_unused)
{
	struct mlx5_cons *c = cons_of(rx);

	while (c->stream.seq == rx->head + 1)
		if (c->is_bad || !take_next(c))
			return c->is_bad ? -EPROTO : 0;
	return unlikely(c->aborted == rx->head + 1) ? -ECANCELED : 1;
}

static uint16_t
copies(const struct comch_rec_head *head)
{
	return head->pad;
}

/*
 * A stop waits for the last completion that the queue pair had received: all slots
 * complete, by a message or flushed. What comes before it was delivered.
 */
static bool
in_flight(struct comch_recv *rx)
{
	struct mlx5_cons *c = cons_of(rx);

	if (!c->is_flushed && rx->entry_head != rx->entry_tail) {
		/* At least one slot must be posted to be flushed. */
		mlx5_qp_repost_flush(&c->qp);
		if (rte_rdtsc() < comch_load_relaxed(&c->halt_deadline))
			return true;
		rx->fault(rx->ctx, -EIO, "the device does not flush a queue pair");
	}
	c->final = rx->head;
	return false;
}

static void
halt(struct comch_recv *rx, enum rte_comch_halt why)
{
	mlx5_cons_halt(&cons_of(rx)->dq.base, why);
}

static const struct comch_recv_steps steps = {
	.at_head = at_head,
	.is_committed = is_committed,
	.pull = pull,
	.copies = copies,
	.in_flight = in_flight,
	.halt = halt,
};

static __rte_noinline uint16_t
recv_all(struct comch_recv *rx, struct rte_comch_cpl *cpls, uint16_t n)
{
	return comch_recv_all(rx, cpls, n, &steps);
}

/* Fetch completions of posts, as some have been in flight for long. Returns the slack. */
static __rte_noinline uint32_t
make_slack(struct mlx5_cons *c)
{
	if (comch_load_acquire(&c->rx.halt) != RTE_COMCH_HALT_NONE) /* stop.pml, halted */
		return UINT32_MAX;
	/* Ahead of those of the messages that wait: the ring holds all that can arrive. */
	while (!c->is_bad && take_next(c))
		;
	return tx_slack(c);
}

static __rte_always_inline uint16_t
take(struct mlx5_cons *c, struct rte_comch_cpl *cpls, uint16_t n)
{
	uint32_t slack;

	/* Drained: the queue pair may be gone. Model: leave.pml, left. */
	if (unlikely(comch_load_acquire(&c->rx.drained) != 0))
		return comch_recv_refused(&c->rx, cpls, n);
	/* The poll of another thread looks at the queue pair: later. */
	if (unlikely(!mlx5_cons_try_reap(c)))
		return 0;
	c->budget = c->qp.conf.nb_rx;
	slack = tx_slack(c);
	if (unlikely(slack < n))
		slack = make_slack(c);
	n = comch_recv_burst(&c->rx, cpls, (uint16_t)RTE_MIN((uint32_t)n, slack), &steps,
			recv_all);
	/* At half of the window, which is one piece less: see mlx5_stream.c. */
	if (unlikely(c->taken - c->told_taken > (c->window - (c->window > 0)) / 2))
		return_pieces(c);
	mlx5_cons_end_reap(c);
	return n;
}

uint16_t
mlx5_recv_take(void *queue, struct rte_comch_cpl *cpls, uint16_t n)
{
	struct mlx5_cons *c = queue;

	comch_guard_enter(&c->rx.guard, "bursts of a consumer");
	n = take(c, cpls, n);
	comch_guard_leave(&c->rx.guard);
	return n;
}

void
mlx5_recv_drain_empty(struct mlx5_cons *c)
{
	/* Model: stop.pml, halted. */
	if (comch_load_relaxed(&c->rx.drained) == 0)
		comch_recv_drain(&c->rx, NULL, 0, comch_load_acquire(&c->rx.halt), &steps);
}

bool
mlx5_recv_has_work(struct mlx5_cons *c)
{
	const struct comch_recv *rx = &c->rx;

	/* A message whose pieces have not arrived gives a burst nothing to do. */
	if (c->stream.seq != rx->head + 1 &&
			(rx->rec_idx != rx->cur.head.count || has_rec(rx)))
		return true;
	/* The completion of a post is nothing to wake for. */
	return c->is_bad || mlx5_qp_skip_sends(&c->qp);
}
