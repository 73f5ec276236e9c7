/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MLX5_CONS_H
#define MLX5_CONS_H

/* A consumer: what mlx5_cons.c and mlx5_recv.c share. */

#include "mlx5_data.h"

/*
 * Send work requests beyond the depth. A post must find a work request, always: the
 * peer's sends wait for it. Each covers at least one position, so at most as many can be
 * needed as positions are free, i.e. not posted. mlx5_recv_take() frees positions by
 * delivering messages, and delivers no more than keeps
 *
 *	requests under way + free positions <= depth + MLX5_CONS_TX_SPARE
 *
 * where a request is under way until its completion was fetched. Posting a buffer takes
 * one from the free positions and adds at most one request, so it keeps that, too.
 * Usually the limit is far away: a record for a position proves that the request with
 * its post has arrived, and the completion of every MLX5_CONS_SIGNAL-th request says so.
 * If these completions are late, since the network lost acknowledgements, messages wait
 * for them, but no post does.
 */
#define MLX5_CONS_TX_SPARE 128
#define MLX5_CONS_SIGNAL 32

/* A long message that arrives in pieces. */
struct mlx5_arrival {
	uint64_t seq;   /* of its record; 0: none */
	uint8_t *addr;
	uint32_t len;
	uint32_t got;
};

/*
 * The receiving end. Its queue pair belongs to the consumer's thread, but completions are
 * fetched under `reaping`, since a poll of another thread may look for them.
 */
struct mlx5_cons {
	struct mlx5_dq dq;        /* first */
	struct comch_recv rx;
	/* hot */
	uint32_t reaping;         /* 1: completions are being fetched */
	uint32_t nb_descs;        /* in the post under construction */
	struct mlx5_post_hdr *post;
	uint64_t arrived;         /* positions whose records have arrived */
	uint64_t arrived_entry;   /* at or before the entry of the next one */
	struct comch_rec *ring;   /* private copies of records, by position */
	uint64_t published;       /* tail posted to the peer; atomic */
	struct mlx5_arrival stream;
	uint64_t aborted;         /* seq of the last message that was given up; 0: none */
	uint32_t budget;          /* messages that this burst may take */
	bool is_bad;              /* the peer broke the protocol */
	bool has_failed;          /* the queue pair; the link was told */
	bool is_flushed;          /* the queue pair received its last message */
	/* Pieces, cumulative. */
	uint32_t window;
	uint32_t taken;
	uint32_t told_taken;
	/* Stop. */
	uint32_t is_closing;      /* atomic: errors of the queue pair are expected */
	uint64_t halt_deadline;   /* TSC */
	uint64_t stop_cycles;
	uint64_t final;           /* positions received in all, once halted */
	/* The connection's thread. */
	uint64_t told_tail;       /* by mlx5_cons_needs() */
	struct mlx5_halt_note *note; /* allocated early; data->lock */
	bool is_listed;
	bool is_bound;            /* the connection's lock */
	TAILQ_ENTRY(mlx5_cons) next;
	struct mlx5_data *data;
	bool is_making;           /* the helper makes the queue pair of an offer */
	struct mlx5_channel *channel;
	struct mlx5_qp qp;
};

/* Begin to fetch completions. False: another thread does, or did not end. */
static inline bool
mlx5_cons_try_reap(struct mlx5_cons *c)
{
	/* Acquire: pairs with the release of the thread that ended. Model: lock.pml, lock. */
	return __atomic_exchange_n(&c->reaping, 1, __ATOMIC_ACQUIRE) == 0;
}

static inline void
mlx5_cons_end_reap(struct mlx5_cons *c)
{
	comch_store_release(&c->reaping, 0); /* lock.pml, unlock */
}

/* mlx5_recv.c */

/* Start at position 0. */
void mlx5_recv_begin(struct mlx5_cons *c);
/* The bursts: struct mlx5_cons. */
uint16_t mlx5_recv_post(void *queue, const struct rte_comch_buf *bufs, uint16_t n);
uint16_t mlx5_recv_take(void *queue, struct rte_comch_cpl *cpls, uint16_t n);
/* After a halt, with nothing posted: drain at once. Not within a burst. */
void mlx5_recv_drain_empty(struct mlx5_cons *c);
/* Would a burst find a message or a failure? Between try_reap and end_reap. */
bool mlx5_recv_has_work(struct mlx5_cons *c);

#endif /* MLX5_CONS_H */
