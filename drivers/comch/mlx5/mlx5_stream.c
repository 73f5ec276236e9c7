/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Messages that do not fit in one burst: long ones, which take many RDMA WRITEs, lists
 * of segments, and staged ones, which are copied to the consumer through its slots.
 *
 * A message that was begun is sent to its end, as room permits, by any thread that
 * reaps the remote; meanwhile the remote accepts no other message. A producer has one
 * stream at a time.
 *
 * Staged: the record, then pieces of one slot each, of which up to r->window are under
 * way. The consumer returns them in its posts. If the producer gives up while it waits
 * for that, a record of kind ABORT takes the place of the next piece. It counts as a
 * piece, and its slot is the one that the consumer has beyond the window.
 */

#include <errno.h>
#include <string.h>

#include "mlx5_send.h"

static void
walk_init(struct mlx5_walk *w, const struct rte_comch_op *op)
{
	bool is_list = (op->flags & RTE_COMCH_OP_F_SGL) != 0;

	*w = (struct mlx5_walk){
		.sge = is_list ? op->addr : NULL, .nb_sges = is_list ? op->nb_sges : 0,
		.addr = is_list ? NULL : op->addr, .left = is_list ? 0 : op->len,
		.mr = is_list ? NULL : op->mr,
	};
}

/* Segments of the next RDMA WRITE. Returns their number; 0: a key is missing. */
static uint32_t
walk_next(struct mlx5_remote *r, struct ibv_sge *sge, uint32_t *bytes)
{
	struct mlx5_tx_stream *s = &r->stream;
	struct mlx5_walk *w = &s->walk;
	uint32_t lkey, k, n = 0;

	*bytes = 0;
	while (n < r->qp.max_sges && *bytes < RTE_MIN(s->left, r->max_write)) {
		if (w->left == 0) {
			/* Only if the application has changed its list. */
			if (w->nb_sges == 0)
				break;
			w->mr = w->sge->mr;
			w->addr = w->sge->addr;
			w->left = w->sge->len;
			w->sge++;
			w->nb_sges--;
			continue;
		}
		if (!mlx5_mem_lkey(r->data, w->mr, &lkey))
			break;
		k = RTE_MIN(w->left, r->max_write - *bytes);
		sge[n++] = (struct ibv_sge){
			.addr = (uintptr_t)w->addr, .length = k, .lkey = lkey,
		};
		w->addr += k;
		w->left -= k;
		*bytes += k;
	}
	return n;
}

/* Are all registrations of a message known to the device? */
static bool
has_keys(struct mlx5_remote *r, const struct rte_comch_op *op)
{
	const struct rte_comch_sge *sge = op->addr;
	bool all = true;
	uint32_t lkey;
	uint16_t i;

	if ((op->flags & RTE_COMCH_OP_F_SGL) == 0)
		return mlx5_mem_lkey(r->data, op->mr, &lkey);
	/* Without a stop at the first miss: one registration run serves all. */
	for (i = 0; i < op->nb_sges; i++)
		if (sge[i].len > 0 && !mlx5_mem_lkey(r->data, sge[i].mr, &lkey))
			all = false;
	return all;
}

/* Room for a work request; posts what was prepared if that is what takes the room. */
static bool
has_room(struct mlx5_remote *r)
{
	if (mlx5_qp_tx_room(&r->qp) == 0)
		mlx5_remote_flush(r, true);
	return mlx5_qp_tx_room(&r->qp) > 0 && !mlx5_remote_is_err(r);
}

/* Note the positions that the last work request completes. */
static void
set_pos(struct mlx5_remote *r, uint64_t number, bool is_last)
{
	/* The stream's position is the last one. */
	r->wr_pos[number & r->wr_mask] = is_last ? r->claim : r->claim - 1;
}

/* Send a record with len bytes behind it. */
static void
send_rec(struct mlx5_remote *r, const struct comch_rec *rec, uint32_t len, bool is_last)
{
	uint8_t *buf = mlx5_qp_tx_buf(&r->qp);

	memcpy(buf, rec, sizeof(*rec));
	if (len > 0)
		comch_gather_copy(&r->stream.gather, buf + sizeof(*rec), len);
	set_pos(r, mlx5_qp_send(&r->qp, sizeof(*rec) + len), is_last);
}

static void
stream_end(struct mlx5_remote *r)
{
	struct mlx5_prod *p = r->stream.prod;

	r->stream.prod = NULL;
	/*
	 * Release: pairs with the acquire in mlx5_send.c: the producer may begin another.
	 * Model: publish.pml, publish.
	 */
	comch_store_release(&p->stream_id, 0);
}

/* Ask for a completion now and then: a deadline counts from the last one. */
static void
signal_bytes(struct mlx5_remote *r, uint32_t bytes)
{
	struct mlx5_tx_stream *s = &r->stream;

	s->unsignalled += bytes;
	if (s->unsignalled < MLX5_QP_MAX_WRITE)
		return;
	s->unsignalled = 0;
	mlx5_qp_signal(&r->qp);
}

static void
push_direct(struct mlx5_remote *r)
{
	struct ibv_sge sge[MLX5_QP_SGES];
	struct mlx5_tx_stream *s = &r->stream;
	uint64_t number;
	uint32_t n, k;

	while (s->left > 0) {
		if (!has_room(r))
			return;
		n = walk_next(r, sge, &k);
		if (n == 0)
			return;
		number = mlx5_qp_write(&r->qp, sge, n, s->addr, s->rkey);
		set_pos(r, number, false);
		s->addr += k;
		s->left -= k;
		signal_bytes(r, k);
	}
	if (!has_room(r))
		return;
	send_rec(r, &s->rec, 0, true);
	stream_end(r);
}

static void
push_staged(struct mlx5_remote *r)
{
	struct mlx5_tx_stream *s = &r->stream;
	struct comch_rec piece = s->rec;
	uint32_t k;

	if (!s->rec_sent) {
		if (!has_room(r))
			return;
		send_rec(r, &s->rec, 0, false);
		s->rec_sent = true;
	}
	piece.head.kind = MLX5_REC_PIECE;
	piece.head.imm_len = 0;
	memset(piece.len, 0, sizeof(piece.len));
	while (s->left > 0) {
		if (r->nb_pieces - r->taken >= r->window || !has_room(r))
			return;
		k = RTE_MIN(s->left, r->slot - (uint32_t)sizeof(piece));
		piece.len0 = k;
		send_rec(r, &piece, k, k == s->left);
		r->nb_pieces++;
		s->left -= k;
	}
	stream_end(r);
}

void
mlx5_stream_push(struct mlx5_remote *r)
{
	if (mlx5_remote_is_err(r))
		return;
	if (r->stream.is_staged)
		push_staged(r);
	else
		push_direct(r);
}

bool
mlx5_stream_begin(struct mlx5_remote *r, struct mlx5_prod *p, const struct rte_comch_op *op,
		uint8_t *dst, bool is_staged)
{
	struct mlx5_tx_stream *s = &r->stream;
	uint32_t rkey = 0;

	/* Acquire: pairs with the release in stream_end(). Model: publish.pml, find. */
	if (comch_load_acquire(&p->stream_id) != 0) {
		p->short_for_stream = true;
		return false;
	}
	if (!is_staged && (!has_keys(r, op) || !mlx5_send_rkey(r, r->claim, &rkey)))
		return false;
	if (!has_room(r))
		return false;
	*s = (struct mlx5_tx_stream){
		.prod = p, .is_staged = is_staged, .left = op->len, .rkey = rkey,
		.addr = (uintptr_t)dst,
	};
	if (is_staged)
		comch_gather_init(&s->gather, op);
	else
		walk_init(&s->walk, op);
	mlx5_send_rec(&s->rec, p, r->claim, is_staged ? COMCH_REC_STAGED : COMCH_REC_DIRECT, op);
	comch_store_relaxed(&p->stream_id, op->consumer_id);
	mlx5_remote_add(r, p, op, is_staged);
	if (is_staged)
		comch_count(&p->tx.stats.copies, 1);
	mlx5_stream_push(r);
	return true;
}

void
mlx5_stream_drop(struct mlx5_remote *r)
{
	if (r->stream.prod != NULL)
		stream_end(r);
}

bool
mlx5_stream_abort(struct mlx5_remote *r, const struct mlx5_prod *p, int err)
{
	struct mlx5_tx_stream *s = &r->stream;
	struct comch_rec rec = s->rec;

	if (s->prod != p || !s->is_staged || r->nb_pieces - r->taken != r->window || !has_room(r))
		return false;
	rec.head.kind = COMCH_REC_ABORT;
	rec.head.imm_len = 0;
	memset(rec.len, 0, sizeof(rec.len));
	r->work[(r->claim - 1) & r->to.mask].status = err;
	send_rec(r, &rec, 0, true);
	r->nb_pieces++;
	stream_end(r);
	mlx5_remote_flush(r, true);
	return true;
}
