/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MLX5_SEND_H
#define MLX5_SEND_H

/*
 * The sending half of the fast path.
 *
 *   mlx5_prod.c    life of producers, sleeping, stopping
 *   mlx5_send.c    bursts: assigns messages to positions, builds records
 *   mlx5_stream.c  messages that take more work requests than one burst has
 *   mlx5_reap.c    posts of the consumer, completions, and what a failure leaves open
 *   mlx5_remote.c  life of the sending ends
 *
 * A message has a position: the number of the posted buffer that it goes to. The work
 * requests of a remote are posted in the order of positions, so a completion completes
 * all messages up to a position, of whichever producers. The thread that reaps it closes
 * their entries in the producers' rings.
 *
 * Locks, outer to inner: the connection's lock, mlx5_prods_lock, mlx5_data.lock, tx_lock.
 * A burst only tries tx_lock, and in a rare case mlx5_data.lock.
 */

#include <sched.h>

#include <rte_pause.h>

#include "mlx5_data.h"
#include "sdk/comch_gather.h"

/* Tries of a burst to take a lock. */
#define MLX5_LOCK_TRIES 64
/* Completions that one call handles. */
#define MLX5_REAP_MAX 64
/* A stop gives up what the peer's application holds if there is no progress for so long. */
#define MLX5_STALL_MS 900

struct mlx5_prod {
	struct mlx5_dq dq;          /* first */
	struct comch_send tx;
	uint32_t last_id;           /* consumer of the last message */
	bool short_for_stream;      /* the last short send waits for our own stream's end */
	/* Consumer to which a message streams; 0: none. Cleared by any thread. */
	uint32_t stream_id;
	/* Messages in flight, silent ones too. Decremented by any thread, as the last access. */
	uint32_t in_flight __rte_aligned(COMCH_LINE);
	uint32_t late_errors;       /* errors counted by any thread, not in stats yet */
	/* Sleeping. */
	uint32_t armed;             /* exchanged: one thread wakes it */
	bool arm_failed;            /* a queue pair was in use: do not sleep */
	int event_fd;
	int epfd;                   /* of event_fd and the link's completion channel */
	/* Progress since prod_halt(), see mlx5_prod_abort(). */
	uint64_t watch_sum;
	uint64_t watch_ms;          /* of the last progress */
	uint64_t give_up_ms;        /* of the last progress, or attempt to give up */
	int abort_err;
	bool gives_up;
	/* Guarded by mlx5_prods_lock. */
	TAILQ_ENTRY(mlx5_prod) next;
	struct mlx5_data *data;     /* NULL: the link is closed */
};

/* A message in flight, by position. */
struct mlx5_work {
	struct mlx5_prod *prod;     /* NULL: given up */
	struct comch_done *done;    /* NULL: silent */
	uint32_t len;
	int32_t status;             /* to complete with if it arrives; not 0: aborted */
	bool has_imm;
};

/* The payload that remains to be sent, as segments. */
struct mlx5_walk {
	const struct rte_comch_sge *sge; /* the next */
	uint32_t nb_sges;
	const uint8_t *addr;        /* rest of the current one */
	uint32_t left;
	const struct rte_comch_mr *mr;
};

/* A message that is partly sent. The positions behind it wait for its end. */
struct mlx5_tx_stream {
	struct mlx5_prod *prod;     /* NULL: there is none */
	bool is_staged;             /* by pieces through slots, else by RDMA WRITE */
	bool rec_sent;              /* of a staged message; the others' record is last */
	uint32_t left;              /* bytes */
	uint32_t unsignalled;       /* bytes since a work request asked for a completion */
	uint32_t rkey;
	uint64_t addr;              /* in the peer's memory */
	struct mlx5_walk walk;      /* direct */
	struct comch_gather gather; /* staged */
	struct comch_rec rec;
};

/* The sending end of a consumer. */
struct mlx5_remote {
	struct comch_send_remote to; /* first */
	TAILQ_ENTRY(mlx5_remote) next;
	struct mlx5_data *data;
	struct comch_post_shared *post; /* private copy of the descriptors */
	struct mlx5_work *work;     /* by position */
	uint64_t *wr_pos;           /* by number of work request: all below it complete */
	uint32_t wr_mask;
	uint32_t slot;              /* longest message, bytes */
	uint32_t eager;             /* longest payload within a message, bytes */
	uint32_t max_write;         /* longest RDMA WRITE, bytes */
	uint32_t window;            /* pieces that may be under way */
	uint64_t staged;            /* bytes taken of data->staging */

	uint32_t tx_lock __rte_aligned(COMCH_LINE);
	/* Guarded by tx_lock. */
	uint64_t claim;             /* positions assigned */
	uint64_t completed;
	uint64_t signalled;         /* positions whose completion was asked for */
	uint32_t nb_pieces;         /* sent; wraps around */
	uint32_t taken;             /* by the consumer */
	struct mlx5_tx_stream stream;
	uint64_t final;             /* valid if is_retired */
	bool is_broken;             /* the peer violated the protocol */
	bool is_killed;             /* its queue pair is not used any more */
	/* The end. Written with tx_lock held, or by the connection's thread; read by any. */
	bool peer_halted;           /* the consumer accepts no more */
	bool is_retired;            /* CONSUMER_GONE */
	bool is_down;               /* the link is DOWN */
	uint64_t failed_ms;         /* when mlx5_remote_check() found the failure; 0: not yet */
	uint64_t retired_ms;
	struct mlx5_qp qp;
};

/* Guards the lists of producers of all links: a producer may outlive its link. */
extern pthread_mutex_t mlx5_prods_lock;

static inline struct mlx5_remote *
mlx5_remote_of(struct comch_send_remote *to)
{
	return container_of(to, struct mlx5_remote, to);
}

/* tx_lock. Acquire and release pair with each other: all members below it. */

static inline bool
mlx5_remote_trylock(struct mlx5_remote *r)
{
	uint32_t i;

	for (i = 0; i < MLX5_LOCK_TRIES; i++) {
		/* Model: lock.pml, lock. */
		if (comch_load_relaxed(&r->tx_lock) == 0 &&
				__atomic_exchange_n(&r->tx_lock, 1, __ATOMIC_ACQUIRE) == 0)
			return true;
		rte_pause();
	}
	atomic_fetch_add_explicit(&r->data->link->dev->held, 1, memory_order_relaxed);
	return false;
}

/* Not for bursts. It is held for the time of a burst at most. */
static inline void
mlx5_remote_lock(struct mlx5_remote *r)
{
	while (__atomic_exchange_n(&r->tx_lock, 1, __ATOMIC_ACQUIRE) != 0) /* lock.pml, lock */
		sched_yield();
}

static inline void
mlx5_remote_unlock(struct mlx5_remote *r)
{
	comch_store_release(&r->tx_lock, 0); /* lock.pml, unlock */
}

/* Functions of a remote require tx_lock, except where noted. */

static inline bool
mlx5_remote_is_err(const struct mlx5_remote *r)
{
	return r->is_broken || comch_load_acquire(&r->qp.is_err); /* publish.pml, find */
}

/* mlx5_reap.c */

/* Handle completions, up to a limit, and continue what waits for them. */
void mlx5_remote_reap(struct mlx5_remote *r);
/*
 * Complete what is in flight, whatever the device does: on return it reads no payload.
 * The queue pair is destroyed if it does not flush its work requests soon.
 */
void mlx5_remote_kill(struct mlx5_remote *r);
/*
 * Complete the messages of p with p->abort_err, if the consumer has stopped and the
 * device has flushed them. False: the consumer has not stopped.
 */
bool mlx5_remote_give_up(struct mlx5_remote *r, struct mlx5_prod *p);
/* Post what was prepared. The last work request asks for a completion if needed. */
void mlx5_remote_flush(struct mlx5_remote *r, bool signal);
/* Ask for the completion of silent messages that have asked for none. */
void mlx5_remote_sync(struct mlx5_remote *r);
/* Assign the next position to a message of p. */
void mlx5_remote_add(struct mlx5_remote *r, struct mlx5_prod *p, const struct rte_comch_op *op,
		bool copied);

/* mlx5_stream.c */

/* Begin a message to the next position. False: not now. */
bool mlx5_stream_begin(struct mlx5_remote *r, struct mlx5_prod *p, const struct rte_comch_op *op,
		uint8_t *dst, bool is_staged);
/* Send as much of the stream as there is room for, without a flush at the end. */
void mlx5_stream_push(struct mlx5_remote *r);
/* Forget the stream: its queue pair has failed. */
void mlx5_stream_drop(struct mlx5_remote *r);
/* Abort the stream of p if the consumer has to take pieces first. False: it is another. */
bool mlx5_stream_abort(struct mlx5_remote *r, const struct mlx5_prod *p, int err);

/* mlx5_send.c */

uint16_t mlx5_prod_send(void *queue, const struct rte_comch_op *ops, uint16_t n);
uint16_t mlx5_prod_done(void *queue, struct rte_comch_cpl *cpls, uint16_t n);
/* The remote key of the buffer at a position. False: the peer does not show it any more. */
bool mlx5_send_rkey(const struct mlx5_remote *r, uint64_t pos, uint32_t *rkey);
/* Fill in a record of one message at pos. */
void mlx5_send_rec(struct comch_rec *rec, const struct mlx5_prod *p, uint64_t pos, uint8_t kind,
		const struct rte_comch_op *op);

/* mlx5_prod.c */

/* Open data->prod_comp unless it is open. 0, -ENOMEM, -EMFILE. */
int mlx5_prod_open_channel(struct mlx5_data *data);
/* Is any producer of the link asleep? */
bool mlx5_prod_any_armed(struct mlx5_data *data);

#endif /* MLX5_SEND_H */
