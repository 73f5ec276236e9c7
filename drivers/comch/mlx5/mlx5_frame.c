/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Sending control frames, as messages into the peer's receive slots.
 *
 * Slots are the credits: this end sends only what the peer has slots for, so that no
 * message meets a queue pair without one. Each message says how many slots its sender
 * has posted again; a message of its own says so when half of the ring is owed. Two
 * slots are reserved for those: two can be under way, since the peer's answer to the
 * first one returns its slot before a third one is due.
 *
 * All of it belongs to the connection's thread.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/comch_compat.h"
#include "mlx5_frame.h"

/* Slots of the peer that only messages without a frame use. */
#define RESERVED_SLOTS 2
/* Limits of a peer's number of slots. */
#define MIN_SLOTS 8
#define MAX_SLOTS 65536

int
mlx5_frame_create(struct mlx5_link *l)
{
	l->frames = calloc(1, sizeof(*l->frames) + l->dev->nb_slots * sizeof(struct rx_msg));
	return l->frames != NULL ? 0 : -ENOMEM;
}

void
mlx5_frame_destroy(struct mlx5_link *l)
{
	free(l->frames);
	l->frames = NULL;
}

void
mlx5_frame_forget(struct mlx5_link *l)
{
	l->frames->head = l->frames->tail;
	l->frames->nb_frames = 0;
}

/* Messages for len bytes of a frame, with lists in the first one. */
static uint32_t
nb_messages(uint32_t len, uint32_t max, uint32_t lists)
{
	uint32_t data = max - (uint32_t)sizeof(struct mlx5_ctrl_hdr);

	return (len + lists + data - 1) / data;
}

bool
mlx5_frame_set_peer(struct mlx5_link *l, uint32_t slot_size, uint32_t nb_slots)
{
	struct mlx5_frames *f = l->frames;
	const uint32_t lists = MLX5_MAX_NEED * sizeof(struct mlx5_need) +
		MLX5_MAX_HALTED * sizeof(struct mlx5_halted);

	if (slot_size < MLX5_SLOT_MIN || slot_size > MLX5_SLOT_MAX || nb_slots < MIN_SLOTS ||
			nb_slots > MAX_SLOTS)
		return false;
	f->tx_max = RTE_MIN(slot_size, l->ctrl.conf.tx_size);
	f->peer_slots = nb_slots;
	/* The longest frame must fit while the peer owes less than half of its slots. */
	return nb_messages(l->dev->max_frame, f->tx_max, lists) + RESERVED_SLOTS <= nb_slots / 2;
}

/* Slots that are posted again. */
static uint32_t
nb_returned(const struct mlx5_link *l)
{
	return (uint32_t)(l->frames->nb_given - l->ctrl.nb_repost);
}

uint32_t
mlx5_frame_slots_out(const struct mlx5_link *l)
{
	if (!l->is_open)
		return 0;
	return (uint32_t)(l->ctrl.conf.nb_rx + l->frames->nb_given - l->ctrl.nb_repost -
		l->frames->nb_received);
}

bool
mlx5_frame_has_received(const struct mlx5_link *l)
{
	return l->frames->nb_received > 0;
}

/* Sending */

/* Messages that may be sent now. */
static uint32_t
tx_room(const struct mlx5_link *l, uint32_t reserved)
{
	const struct mlx5_frames *f = l->frames;
	uint32_t out = f->tx_sent - f->tx_returned + reserved;
	uint32_t slots = out < f->peer_slots ? f->peer_slots - out : 0;
	uint32_t wrs = l->ctrl.conf.nb_tx - (uint32_t)(l->ctrl.tx_tail - l->ctrl.tx_head);

	return RTE_MIN(slots, wrs);
}

static uint32_t
put_needs(struct mlx5_frames *f, uint8_t *to)
{
	uint32_t n = RTE_MIN(f->nb_need, (uint32_t)MLX5_MAX_NEED);

	memcpy(to, f->need, n * sizeof(f->need[0]));
	f->nb_need -= n;
	memmove(f->need, f->need + n, f->nb_need * sizeof(f->need[0]));
	return n;
}

static uint32_t
put_halted(struct mlx5_link *l, uint8_t *to)
{
	struct mlx5_halted halted[MLX5_MAX_HALTED];
	uint32_t n = 0;

	if (mlx5_data_has_halted(l))
		n = mlx5_data_halted(l, halted, MLX5_MAX_HALTED);
	memcpy(to, halted, n * sizeof(halted[0]));
	return n;
}

/* A part of a frame. */
struct tx_part {
	const uint8_t *hdr, *payload;
	uint32_t hdr_len, payload_len;
};

static uint32_t
put_bytes(struct tx_part *p, uint8_t *to, uint32_t room)
{
	uint32_t a = RTE_MIN(p->hdr_len, room), b = RTE_MIN(p->payload_len, room - a);

	if (a > 0)
		memcpy(to, p->hdr, a);
	p->hdr += a;
	p->hdr_len -= a;
	/* Without payload the pointer is NULL: nothing may be added to it. */
	if (b > 0) {
		memcpy(to + a, p->payload, b);
		p->payload += b;
	}
	p->payload_len -= b;
	return a + b;
}

/* Prepare a message. frame_len 0: lists only. wake: a peer that sleeps until a frame. */
static void
put_message(struct mlx5_link *l, struct tx_part *part, uint32_t frame_len, uint16_t fragment,
		bool wake)
{
	struct mlx5_frames *f = l->frames;
	struct mlx5_ctrl_hdr hdr = { .frame_len = frame_len, .fragment = fragment };
	uint8_t *buf = mlx5_qp_tx_buf(&l->ctrl);
	uint32_t at = sizeof(hdr);

	if (fragment == 0) {
		hdr.nb_need = (uint8_t)put_needs(f, buf + at);
		at += hdr.nb_need * (uint32_t)sizeof(struct mlx5_need);
		hdr.nb_halted = (uint8_t)put_halted(l, buf + at);
		at += hdr.nb_halted * (uint32_t)sizeof(struct mlx5_halted);
	}
	if (part != NULL)
		at += put_bytes(part, buf + at, f->tx_max - at);
	f->told = nb_returned(l);
	hdr.returned = f->told;
	memcpy(buf, &hdr, sizeof(hdr));
	mlx5_qp_send(&l->ctrl, at);
	if (wake)
		mlx5_qp_solicit(&l->ctrl);
	f->tx_sent++;
}

static void
flush(struct mlx5_link *l)
{
	if (mlx5_qp_flush(&l->ctrl, false) != 0)
		mlx5_link_failed(l);
}

static bool
may_send(const struct mlx5_link *l)
{
	return l->is_open && l->base.state == RTE_COMCH_LINK_UP && !l->is_ending;
}

void
mlx5_frame_send_due(struct mlx5_link *l)
{
	struct mlx5_frames *f = l->frames;
	bool halted;

	if (!may_send(l))
		return;
	halted = mlx5_data_has_halted(l);
	if (!halted && (uint32_t)f->nb_given - f->told < l->ctrl.conf.nb_rx / 2)
		return;
	if (tx_room(l, 0) == 0)
		return;
	mlx5_qp_repost_flush(&l->ctrl);
	/* A halted consumer may let a frame go on that the peer waits for. */
	put_message(l, NULL, 0, 0, halted);
	flush(l);
}

/* Add consumers that posted to those that wait for a message. False: there are more. */
static bool
gather_needs(struct mlx5_link *l)
{
	struct mlx5_frames *f = l->frames;
	uint32_t n;

	n = mlx5_data_needs(l, f->need + f->nb_need, MAX_NEEDS - f->nb_need);
	f->nb_need += n;
	return f->nb_need < MAX_NEEDS;
}

/* Send all needs but those that fit into the frame's first message. False: no room. */
static bool
send_needs(struct mlx5_link *l)
{
	struct mlx5_frames *f = l->frames;
	bool all;

	do {
		all = gather_needs(l);
		while (f->nb_need > MLX5_MAX_NEED) {
			if (tx_room(l, RESERVED_SLOTS) == 0)
				return false;
			put_message(l, NULL, 0, 0, false);
			flush(l);
		}
	} while (!all);
	return true;
}

static uint32_t
lists_len(const struct mlx5_link *l)
{
	uint32_t len = l->frames->nb_need * (uint32_t)sizeof(struct mlx5_need);

	if (mlx5_data_has_halted(l))
		len += MLX5_MAX_HALTED * (uint32_t)sizeof(struct mlx5_halted);
	return len;
}

static void
send_frame(struct mlx5_link *l, const struct rte_comch_frame *frame)
{
	struct tx_part part = {
		.hdr = frame->hdr, .hdr_len = frame->hdr_len,
		.payload = frame->payload, .payload_len = frame->payload_len,
	};
	uint32_t len = frame->hdr_len + frame->payload_len;
	uint16_t fragment = 0;

	do {
		if (mlx5_qp_tx_room(&l->ctrl) == 0)
			flush(l);
		put_message(l, &part, len, fragment++, false);
	} while (part.hdr_len + part.payload_len > 0);
	/* Credits let the peer sleep until they use up its slots. */
	if (!frame->is_credit || tx_room(l, RESERVED_SLOTS) < l->frames->peer_slots / 4)
		mlx5_qp_solicit(&l->ctrl);
	flush(l);
}

int
mlx5_frame_tx(struct rte_comch_link *link, const struct rte_comch_frame *frame)
{
	struct mlx5_link *l = mlx5_link_of(link);
	uint32_t len = frame->hdr_len + frame->payload_len, n;

	if (unlikely(!may_send(l)))
		return -ENOTCONN;
	if (unlikely(frame->nb_fds > 0))
		return -EINVAL;
	n = nb_messages(len, l->frames->tx_max, 0);
	if (unlikely(tx_room(l, RESERVED_SLOTS) < n))
		mlx5_frame_reap(l);
	if (unlikely(!may_send(l)))
		return -ENOTCONN;
	if (unlikely(!send_needs(l)))
		return -EAGAIN;
	if (tx_room(l, RESERVED_SLOTS) < nb_messages(len, l->frames->tx_max, lists_len(l)))
		return -EAGAIN;
	send_frame(l, frame);
	return 0;
}

void
mlx5_frame_probe(struct mlx5_link *l)
{
	const struct ibv_sge none = { .addr = 0 };

	if (l->ctrl.tx_head < l->ctrl.tx_signalled || mlx5_qp_tx_room(&l->ctrl) == 0)
		return;
	/* Without bytes it needs no memory, and consumes no slot of the peer. */
	mlx5_qp_write(&l->ctrl, &none, 0, 0, 0);
	(void)mlx5_qp_flush(&l->ctrl, true);
}

bool
mlx5_frame_idle(const struct rte_comch_link *link)
{
	/* Completions are taken from the queue here. */
	struct mlx5_link *l = mlx5_link_of(link);

	if (!may_send(l))
		return true;
	mlx5_frame_reap(l);
	if (l->ctrl.tx_head == l->ctrl.tx_tail)
		return true;
	/* The last ones may not ask for a completion: a probe after them does. */
	mlx5_frame_probe(l);
	return false;
}

/* Sleeping */

void
mlx5_frame_arm(struct mlx5_link *l, bool credits)
{
	struct mlx5_frames *f = l->frames;

	f->is_arming = true;
	/*
	 * The queue stays armed for all completions until one arrives, even if the poll did
	 * not sleep. A credit must not wake it: consume the request by a probe.
	 */
	f->must_run = f->wakes_for_all && !credits;
	if (f->must_run)
		mlx5_frame_probe(l);
	else if (credits)
		f->wakes_for_all = mlx5_qp_arm(&l->ctrl) == 0;
	else
		/* The peer marks the messages that wake. */
		(void)mlx5_qp_arm_solicited(&l->ctrl);
}

void
mlx5_frame_woken(struct mlx5_link *l)
{
	l->frames->wakes_for_all = false;
	l->base.wakes++;
}
