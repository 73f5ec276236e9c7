/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Receiving control frames.
 *
 * Received messages stay in their slots until their frame is read. A slot is ours
 * between its completion and its repost, and the device gives no one else access to it.
 * All that a message says is checked when it arrives.
 *
 * A frame that came with needs waits for the posts of its sender's consumers. Later
 * messages are taken in meanwhile: one of them may say that such a consumer has halted.
 */

#include <errno.h>
#include <string.h>

#include "mlx5_frame.h"

/* Give the slot of a message back to the device. */
static void
give_slot(struct mlx5_link *l, uint64_t wr_id)
{
	/* After its end, a queue pair would flush it at once. */
	if (l->is_ending || l->base.state == RTE_COMCH_LINK_DOWN)
		return;
	l->frames->nb_given++;
	mlx5_qp_repost(&l->ctrl, wr_id);
}

static void
pop_message(struct mlx5_link *l)
{
	struct mlx5_frames *f = l->frames;

	give_slot(l, f->ring[f->head++ & (l->dev->nb_slots - 1)].wr_id);
}

/* The slots that the peer says to have posted again. */
static bool
take_returned(struct mlx5_frames *f, uint32_t returned)
{
	if (returned - f->tx_returned > f->tx_sent - f->tx_returned)
		return false;
	f->tx_returned = returned;
	return true;
}

static void
take_halted(struct mlx5_link *l, const uint8_t *from, uint32_t n)
{
	struct mlx5_halted halted;
	uint32_t i;

	for (i = 0; i < n; i++) {
		memcpy(&halted, from + i * sizeof(halted), sizeof(halted));
		if (l->base.data != NULL)
			mlx5_data_peer_halted(l, halted.consumer);
	}
}

/* Check the fragment of a frame, and count it. */
static bool
take_fragment(struct mlx5_link *l, const struct mlx5_ctrl_hdr *hdr, uint32_t len)
{
	struct mlx5_frames *f = l->frames;

	if (hdr->fragment != f->next_fragment || len == 0)
		return false;
	if (hdr->fragment == 0) {
		if (hdr->frame_len < RTE_COMCH_FRAME_MIN_HDR || hdr->frame_len > l->dev->max_frame)
			return false;
		f->frame_len = f->frame_left = hdr->frame_len;
	} else if (hdr->frame_len != f->frame_len || hdr->nb_need > 0) {
		return false;
	}
	if (len > f->frame_left)
		return false;
	f->frame_left -= len;
	f->next_fragment = f->frame_left > 0 ? f->next_fragment + 1 : 0;
	f->nb_frames += f->frame_left == 0;
	return true;
}

/* A message arrived. False: it breaks the protocol. */
static bool
take_message(struct mlx5_link *l, const uint8_t *slot, uint32_t len, uint64_t wr_id)
{
	struct mlx5_frames *f = l->frames;
	struct mlx5_ctrl_hdr hdr;
	uint32_t at;

	if (len < sizeof(hdr))
		return false;
	memcpy(&hdr, slot, sizeof(hdr));
	if (hdr.nb_need > MLX5_MAX_NEED || hdr.nb_halted > MLX5_MAX_HALTED)
		return false;
	at = (uint32_t)(sizeof(hdr) + hdr.nb_need * sizeof(struct mlx5_need));
	if (len < at + hdr.nb_halted * sizeof(struct mlx5_halted) ||
			!take_returned(f, hdr.returned))
		return false;
	take_halted(l, slot + at, hdr.nb_halted);
	at += hdr.nb_halted * (uint32_t)sizeof(struct mlx5_halted);
	if (hdr.frame_len == 0) {
		/* The messages of a frame follow each other. */
		if (len != at || hdr.fragment != 0 || f->next_fragment != 0)
			return false;
		if (hdr.nb_need == 0) {
			give_slot(l, wr_id);
			return true;
		}
	} else if (!take_fragment(l, &hdr, len - at)) {
		return false;
	}
	f->ring[f->tail++ & (l->dev->nb_slots - 1)] = (struct rx_msg){
		.slot = slot, .wr_id = wr_id, .frame_len = hdr.frame_len,
		.data_at = (uint16_t)at, .data_len = (uint16_t)(len - at),
		.nb_need = hdr.nb_need,
	};
	return true;
}

/*
 * The peer has as many slots as it was told of. One that sends on would keep us reaping: slots of
 * messages without a frame are posted again at once.
 */
static bool
overruns(const struct mlx5_link *l)
{
	return (uint32_t)l->frames->nb_received - l->frames->told > l->ctrl.conf.nb_rx;
}

void
mlx5_frame_reap(struct mlx5_link *l)
{
	const struct ibv_wc *wc;

	if (!l->is_open || l->base.state == RTE_COMCH_LINK_DOWN)
		return;
	while ((wc = mlx5_qp_next(&l->ctrl)) != NULL) {
		if (!mlx5_qp_is_recv(wc))
			continue;
		l->frames->nb_received++;
		if (wc->status != IBV_WC_SUCCESS)
			continue;
		if (unlikely(overruns(l))) {
			mlx5_link_down_now(l, -EPROTO, "peer sends more control messages than "
				"there are slots");
			return;
		}
		/* Another operation with an immediate value writes nothing to the slot. */
		if (wc->opcode != IBV_WC_RECV || !take_message(l, mlx5_qp_slot(&l->ctrl, wc),
				wc->byte_len, wc->wr_id)) {
			mlx5_link_down_now(l, -EPROTO, "invalid control message from peer");
			return;
		}
	}
	if (unlikely(l->ctrl.status != IBV_WC_SUCCESS))
		mlx5_link_failed(l);
}

/* Have the posts arrived that a message needs? Nothing more comes when the link is DOWN. */
static bool
needs_are_met(struct mlx5_link *l, struct rx_msg *m)
{
	struct mlx5_need need;

	if (l->base.data == NULL || l->base.state == RTE_COMCH_LINK_DOWN)
		return true;
	for (; m->need_at < m->nb_need; m->need_at++) {
		memcpy(&need, m->slot + sizeof(struct mlx5_ctrl_hdr) +
			m->need_at * sizeof(need), sizeof(need));
		if (!mlx5_data_has_posts(l, &need))
			return false;
	}
	return true;
}

/* Is there a frame that can be read? */
static bool
has_frame(struct mlx5_link *l)
{
	struct mlx5_frames *f = l->frames;
	struct rx_msg *m;

	f->is_held = false;
	while (f->head != f->tail) {
		m = &f->ring[f->head & (l->dev->nb_slots - 1)];
		if (!needs_are_met(l, m)) {
			f->is_held = true;
			return false;
		}
		if (m->frame_len > 0)
			return f->nb_frames > 0;
		pop_message(l);
	}
	return false;
}

bool
mlx5_frame_overdue(struct mlx5_link *l, uint64_t now_ms)
{
	struct mlx5_frames *f = l->frames;
	const bool was_held = f->was_held && f->held_head == f->head;
	const uint64_t away_ms = now_ms - f->look_ms;

	f->look_ms = now_ms;
	/* The posts may have arrived since the last look. */
	has_frame(l);
	f->was_held = f->is_held;
	/* Nor is it the peer's fault that this thread was away. */
	if (!was_held || !f->is_held || away_ms >= l->dev->dead_ms) {
		f->held_head = f->head;
		f->held_ms = now_ms;
		return false;
	}
	return now_ms - f->held_ms >= 2 * (uint64_t)l->dev->dead_ms;
}

bool
mlx5_frame_pending(const struct rte_comch_link *link)
{
	/* Completions are taken from the queue here. */
	struct mlx5_link *l = mlx5_link_of(link);

	if (unlikely(!l->is_open))
		return false;
	mlx5_frame_reap(l);
	mlx5_link_tick(l);
	if (unlikely(link->state == RTE_COMCH_LINK_CONNECTING)) {
		/* The client is there, although its last handshake message is not. */
		if (l->dial == NULL && mlx5_frame_has_received(l))
			comch_link_tell(&l->base, true);
		return false;
	}
	if (unlikely(l->is_ending))
		mlx5_link_end_step(l);
	mlx5_frame_send_due(l);
	return has_frame(l) ||
		(l->frames->is_arming && (l->frames->is_held || l->frames->must_run));
}

int
mlx5_frame_rx(struct rte_comch_link *link, void *buf, uint32_t size,
		int fds[RTE_COMCH_FRAME_FDS], uint32_t *nb_fds)
{
	struct mlx5_link *l = mlx5_link_of(link);
	struct mlx5_frames *f = l->frames;
	uint32_t len, at = 0;
	struct rx_msg *m;

	RTE_SET_USED(fds);
	*nb_fds = 0;
	f->is_arming = false;
	if (!l->is_open || link->state == RTE_COMCH_LINK_CONNECTING || !has_frame(l))
		return -EAGAIN;
	len = f->ring[f->head & (l->dev->nb_slots - 1)].frame_len;
	if (len > size) {
		mlx5_link_down_now(l, -EPROTO, "invalid frame from peer");
		return -EPROTO;
	}
	while (at < len) {
		m = &f->ring[f->head & (l->dev->nb_slots - 1)];
		memcpy((uint8_t *)buf + at, m->slot + m->data_at, m->data_len);
		at += m->data_len;
		pop_message(l);
	}
	f->nb_frames--;
	mlx5_frame_send_due(l);
	return (int)len;
}
