/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MLX5_QP_H
#define MLX5_QP_H

/*
 * A reliable connected queue pair with receive slots and a ring of send buffers, as the
 * control path of a link and the two ends of a consumer use it.
 *
 * Nothing is learnt from a slot but behind its completion: mlx5_qp_slot() takes the
 * completion that makes the slot the driver's. Slots are not registered for remote
 * access, so that their contents do not change afterwards.
 *
 * One completion queue holds what all work requests can produce, so it cannot overrun.
 * One thread at a time uses a queue pair; mlx5_qp_stuck() and mlx5_qp_error() are for
 * any thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include <bsd/sys/queue.h>

#include "rte_comch_stats.h"
#include "mlx5_glue.h"
#include "mlx5_job.h"

/* Completions fetched at a time. */
#define MLX5_QP_STASH 16
/* Receive slots posted at a time. */
#define MLX5_QP_REPOST 16
/* Work requests of one doorbell. */
#define MLX5_QP_CHAIN 64
/* Segments of a work request. */
#define MLX5_QP_SGES 4
/* Longest RDMA WRITE, bytes; longer payloads take several. */
#define MLX5_QP_MAX_WRITE (UINT32_C(8) << 20)

struct mlx5_qp_conf {
	uint32_t nb_rx;   /* receive slots */
	uint32_t rx_size; /* bytes of each */
	uint32_t nb_tx;   /* send work requests */
	uint32_t tx_size; /* bytes of each send buffer */
	struct mlx5_channel *channel; /* or NULL */
	void *cq_ctx;
};

/* How packets reach the peer: the same for all queue pairs of a link. */
struct mlx5_path {
	struct ibv_ah_attr ah;
	uint16_t pkey_index;
	uint8_t port;
	uint8_t mtu;       /* enum ibv_mtu; the smaller of both ends' */
	uint8_t timeout;   /* 4.096 us << timeout */
	uint8_t retry;
	uint8_t rnr_retry;
};

/* A queue pair of the peer, and the way there. */
struct mlx5_qp_to {
	struct mlx5_path path;
	uint32_t qpn;
	uint32_t psn;
};

/*
 * The handles of a queue pair. While the helper makes them they are the helper's; then
 * they stay as they are until the end.
 */
struct mlx5_qp_hw {
	struct mlx5_job job;    /* first */
	struct ibv_pd *pd;
	struct mlx5_qp_conf conf;
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct ibv_mr *slab_mr;
	uint8_t *slab;
	size_t slab_len;
	uint32_t max_inline;
	uint32_t max_sges;
	uint32_t psn;           /* ours */
	uint32_t nb_events;     /* to be acknowledged before the end */
	struct mlx5_qp_to to;   /* qpn 0: not connected yet */
	int ret;                /* of the last step */
};

/* Counters, written by the queue pair's thread; mlx5_qp_xstats() names them. */
struct mlx5_qp_stats {
	uint64_t sends;     /* SEND work requests */
	uint64_t writes;    /* RDMA WRITE work requests */
	uint64_t doorbells; /* chains of send work requests posted */
	uint64_t signalled; /* send work requests that ask for a completion */
	uint64_t inlined;
	uint64_t recvs;     /* receive slots posted */
	uint64_t rx_doorbells;
	uint64_t cqes;      /* completions */
	uint64_t polls;     /* calls of poll_cq */
	uint64_t rnr;       /* completions RNR_RETRY_EXC */
	uint64_t retries;   /* completions RETRY_EXC */
};

struct mlx5_qp {
	TAILQ_ENTRY(mlx5_qp) next; /* in the device's list */
	struct mlx5_qp_hw *hw;  /* NULL: there is none */
	/* Of hw, once it exists. */
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	const struct ibv_pd *pd; /* of its link; constant while listed, as cq is */
	uint8_t *slab;          /* receive slots, then send buffers */
	uint32_t lkey;          /* of the slab */
	struct mlx5_dev *dev;
	struct mlx5_qp_conf conf;
	uint32_t max_inline;
	uint32_t max_sges;
	uint32_t psn;           /* ours */
	uint32_t nb_events;     /* of the completion channel, to be acknowledged */

	/* Sends, by number of the work request. */
	uint64_t tx_tail;       /* prepared */
	uint64_t tx_posted;     /* posted */
	uint64_t tx_head;       /* completed */
	uint64_t tx_signalled;  /* number after the last one that asks for a completion */
	uint32_t nb_chain;      /* prepared, not posted */
	struct ibv_send_wr wr[MLX5_QP_CHAIN];
	struct ibv_sge sge[MLX5_QP_CHAIN][MLX5_QP_SGES];

	/* Receives: slots to be posted again. */
	uint32_t nb_repost;
	uint32_t repost[MLX5_QP_REPOST];

	/* Completions fetched and not returned yet. */
	uint32_t stash_at;
	uint32_t nb_stash;
	struct ibv_wc stash[MLX5_QP_STASH];

	/* First failure of a work request; IBV_WC_SUCCESS: none. */
	enum ibv_wc_status status;
	bool is_err;            /* in state ERR; atomic */
	bool is_listed;
	/* mlx5_qp_stuck(): of the connection's thread. */
	uint64_t watched;   /* 1 + number of the oldest work request at the last look; 0: none */
	uint64_t watch_ms;
	struct mlx5_qp_stats stats;
};

/*
 * Creation and connection by the helper thread, which tells the link: begin a step, then
 * call mlx5_qp_poll_step() until it returns something else than -EINPROGRESS. The result
 * of a step is 0, -ENOMEM, or an errno of the provider; one that fails destroys.
 *
 * mlx5_qp_begin() creates in state RESET, in the link's protection domain, with a CQ of its
 * own; with *to*, it connects in the same step. Connecting posts all slots. 0 or -ENOMEM.
 */
int mlx5_qp_begin(struct mlx5_qp *qp, struct mlx5_link *link, const struct mlx5_qp_conf *conf,
		const struct mlx5_qp_to *to);
void mlx5_qp_begin_connect(struct mlx5_qp *qp, const struct mlx5_qp_to *to);
int mlx5_qp_poll_step(struct mlx5_qp *qp);
/*
 * Let go of it, also within a step, and if there is none: the helper thread destroys it.
 * The link's protection domain outlives it.
 */
void mlx5_qp_destroy(struct mlx5_qp *qp);
/* Destroy it here, but not its completion queue: the device forgets its work requests. */
void mlx5_qp_destroy_now(struct mlx5_qp *qp);
/* Post all slots of a queue pair in state INIT. 0 or an errno. */
int mlx5_qp_post_slots(struct mlx5_qp *qp);
/* Put it into state ERR: all that is outstanding completes soon. Any thread. */
void mlx5_qp_error(struct mlx5_qp *qp);

/* Sends. A work request is prepared, then all are posted by one mlx5_qp_flush(). */

/* Work requests that can be prepared now. */
static inline uint32_t
mlx5_qp_tx_room(const struct mlx5_qp *qp)
{
	uint32_t room = qp->conf.nb_tx - (uint32_t)(qp->tx_tail - qp->tx_head);

	return room < MLX5_QP_CHAIN - qp->nb_chain ? room : MLX5_QP_CHAIN - qp->nb_chain;
}

/* The buffer of the next work request, conf.tx_size bytes. Requires room. */
void *mlx5_qp_tx_buf(struct mlx5_qp *qp);
/* Prepare a SEND of len bytes of the buffer. Returns its number. */
uint64_t mlx5_qp_send(struct mlx5_qp *qp, uint32_t len);
/* Prepare an RDMA WRITE of up to qp->max_sges segments. Returns its number. */
uint64_t mlx5_qp_write(struct mlx5_qp *qp, const struct ibv_sge *sge, uint32_t nb_sges,
		uint64_t addr, uint32_t rkey);
/* Let the last one that was prepared ask for a completion, within a chain. */
void mlx5_qp_signal(struct mlx5_qp *qp);
/* Let the last one that was prepared wake a peer that armed by mlx5_qp_arm_solicited(). */
static inline void
mlx5_qp_solicit(struct mlx5_qp *qp)
{
	qp->wr[qp->nb_chain - 1].send_flags |= IBV_SEND_SOLICITED;
}
/*
 * Post what was prepared. The last one asks for a completion if *signal*, or if a
 * quarter of the ring does not yet. 0, or an errno: qp->is_err is set, and what could
 * not be posted counts as failed.
 */
int mlx5_qp_flush(struct mlx5_qp *qp, bool signal);

/* Completions. */

/*
 * The next completion; NULL: none. For a successful send, tx_head has moved beyond all
 * that it completes. A failed one sets qp->status if it is the first.
 */
const struct ibv_wc *mlx5_qp_next(struct mlx5_qp *qp);
/* Are all work requests that were posted complete? Reap with mlx5_qp_next() first. */
bool mlx5_qp_is_flushed(const struct mlx5_qp *qp);
/* Would mlx5_qp_next() return one? */
bool mlx5_qp_pending(struct mlx5_qp *qp);
/* Take completions of sends that succeeded. True: another one is next. */
bool mlx5_qp_skip_sends(struct mlx5_qp *qp);
/* Is this the completion of a receive? Its opcode is undefined after a failure. */
static inline bool
mlx5_qp_is_recv(const struct ibv_wc *wc)
{
	return (wc->wr_id & 1) == 0;
}
/* Number of the send work request that completed. */
static inline uint64_t
mlx5_qp_send_number(const struct ibv_wc *wc)
{
	return wc->wr_id >> 1;
}
/* The slot of a successful receive, wc->byte_len bytes; ours until reposted. */
static inline const void *
mlx5_qp_slot(const struct mlx5_qp *qp, const struct ibv_wc *wc)
{
	return qp->slab + (wc->wr_id >> 1) * qp->conf.rx_size;
}
/* Give a slot back to the device; posted in batches. wr_id: of its completion. */
void mlx5_qp_repost(struct mlx5_qp *qp, uint64_t wr_id);
/* Post the slots given back. Call before the thread stops polling. */
void mlx5_qp_repost_flush(struct mlx5_qp *qp);
/* Ask for an event of the channel at the next completion; then call mlx5_qp_pending(). */
int mlx5_qp_arm(struct mlx5_qp *qp);
/* The same at the next message that mlx5_qp_solicit() marked, or failure. */
int mlx5_qp_arm_solicited(struct mlx5_qp *qp);

/*
 * Has a send that asks for a completion had none for max_ms? The connection's thread
 * calls it now and then; now_ms is a monotonic clock.
 */
bool mlx5_qp_stuck(struct mlx5_qp *qp, uint64_t now_ms, uint64_t max_ms);

/* The sums of all queue pairs of a device, also of those that were destroyed. Any thread. */
unsigned int mlx5_qp_xstats(struct mlx5_dev *dev, struct rte_comch_xstat *xstats,
		unsigned int n);

/* mlx5_qp_make.c, for mlx5_qp.c. */

/* Count the slab as pinned. 0 or -ENOMEM. */
int mlx5_qp_hw_new(struct mlx5_link *link, const struct mlx5_qp_conf *conf,
		struct mlx5_qp_hw **hw);
/* Begin a step, which sets hw->ret. */
void mlx5_qp_hw_create(struct mlx5_qp_hw *hw);
void mlx5_qp_hw_connect(struct mlx5_qp_hw *hw, const struct mlx5_qp_to *to);
/* Post some slots as one chain, or all slots. 0, or an errno, of either sign. */
int mlx5_qp_hw_post(const struct mlx5_qp_hw *hw, const uint32_t *slots, uint32_t n);
int mlx5_qp_hw_post_all(const struct mlx5_qp_hw *hw);

/* The status of a failed completion, the same from all providers. */
enum ibv_wc_status mlx5_qp_status_of(const struct ibv_wc *wc);
/* A failure in words, for the reason of a link. */
const char *mlx5_qp_status_text(enum ibv_wc_status status);
/* The errno for it: -ETIMEDOUT, -EPROTO, -ECONNRESET or -EIO. */
int mlx5_qp_status_errno(enum ibv_wc_status status);

#endif /* MLX5_QP_H */
