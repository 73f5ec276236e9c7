/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MLX5_FRAME_H
#define MLX5_FRAME_H

/*
 * The control frames of a link: what sending (mlx5_frame.c) and receiving
 * (mlx5_frame_rx.c) share. All of it belongs to the connection's thread.
 */

#include "sdk/comch_dir.h"
#include "mlx5_private.h"

/* Needs that wait for a message: at most one for each consumer. */
#define MAX_NEEDS COMCH_MAX_CONSUMERS

/* A received message that is not read yet. */
struct rx_msg {
	const uint8_t *slot;
	uint64_t wr_id;
	uint32_t frame_len;  /* 0: needs only */
	uint16_t data_at;
	uint16_t data_len;
	uint8_t nb_need;
	uint8_t need_at;     /* first need not met yet */
};

struct mlx5_frames {
	/* Sending. */
	uint32_t tx_max;     /* bytes of a message */
	uint32_t peer_slots;
	uint32_t tx_sent;    /* messages */
	uint32_t tx_returned; /* of them, by the peer; checked */
	uint32_t nb_need;
	struct mlx5_need need[MAX_NEEDS];
	/* Receiving. */
	uint32_t told;       /* slots that the peer was told of */
	uint64_t nb_given;   /* slots given back to the queue pair */
	uint64_t nb_received;
	uint32_t frame_len;  /* of the frame whose fragments arrive */
	uint32_t frame_left;
	uint16_t next_fragment;
	/* Sleeping. */
	bool is_arming;      /* since the last frame_rx */
	bool wakes_for_all;  /* the completion queue is armed for all completions */
	bool must_run;       /* do not sleep: that has to end first */
	bool is_held;        /* the message at head waits for posts */
	bool was_held;       /* at the last tick, with this head... */
	uint32_t held_head;
	uint64_t held_ms;    /* ...since this tick */
	uint64_t look_ms;    /* the last tick */
	uint32_t nb_frames;  /* complete ones in the ring */
	uint32_t head, tail;
	struct rx_msg ring[]; /* one for each slot */
};

#endif /* MLX5_FRAME_H */
