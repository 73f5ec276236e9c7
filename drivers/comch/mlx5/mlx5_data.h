/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MLX5_DATA_H
#define MLX5_DATA_H

/*
 * The fast path of a link: consumers, producers, and the sending ends of the peer's
 * consumers ("remotes"). Each consumer has a queue pair of its own; the peer's remote is
 * its other end. Posts go one way, records and payloads the other.
 *
 * Threads: a consumer's queue pair belongs to the consumer's thread; a remote's is
 * guarded by its tx_lock, which bursts only try to take. Lists belong to the
 * connection's thread, and dq.lock guards them where other threads look.
 */

#include "mlx5_private.h"
#include "sdk/comch_recv.h"
#include "sdk/comch_send.h"

struct mlx5_cons;
struct mlx5_prod;
struct mlx5_remote;

/* link->data */
struct mlx5_data {
	struct mlx5_link *link;
	pthread_mutex_t lock;             /* guards the lists; never taken in a burst */
	TAILQ_HEAD(, mlx5_cons) conses;
	TAILQ_HEAD(, mlx5_prod) prods;
	TAILQ_HEAD(, mlx5_remote) remotes;
	TAILQ_HEAD(, mlx5_mem) mems;      /* shown to the peer */
	/* Completions of all remotes; opened with the first producer or remote. */
	struct ibv_comp_channel *prod_comp;
	char fault_text[128];             /* of the first fault; the connection's thread */
	bool has_fault;
};

/* mlx5_mr.c */

int mlx5_mem_show(struct rte_comch_link *link, const struct rte_comch_mr *mr,
		struct rte_comch_mem_desc *desc, struct rte_comch_ticket *mine);
void mlx5_mem_hide(struct rte_comch_link *link, const struct rte_comch_mr *mr);
int mlx5_mem_take(struct rte_comch_link *link, const struct rte_comch_mem_desc *desc,
		struct rte_comch_ticket *peers, struct rte_comch_region *region);
void mlx5_mem_drop(struct rte_comch_link *link, struct rte_comch_region *region);
/* The remote key of memory that the peer shows. */
static inline uint32_t
mlx5_mem_rkey(const struct rte_comch_region *region)
{
	return (uint32_t)(uintptr_t)region->priv;
}
/*
 * The local key to send from a registration, on this link. A burst calls it: no search,
 * no syscall. False: not registered yet; the connection's thread was asked to do it, and
 * the operation is to be tried again.
 */
bool mlx5_mem_lkey(struct mlx5_data *data, const struct rte_comch_mr *mr, uint32_t *lkey);
/* Connection's thread: register what bursts asked for, and tell their producers. */
void mlx5_mem_service(struct mlx5_data *data);
/* All keys of the link go. */
void mlx5_mem_fini(struct mlx5_data *data);

/* mlx5_cons.c */

int mlx5_cons_create(struct rte_comch_link *link, const struct rte_comch_cons_args *args,
		struct rte_comch_consumer_core *core, struct rte_comch_dq **dq);
int mlx5_cons_offer(struct rte_comch_dq *dq, uint32_t staging_size,
		struct rte_comch_ticket *mine);
int mlx5_cons_bind(struct rte_comch_dq *dq, struct rte_comch_ticket *peers);
void mlx5_cons_halt(struct rte_comch_dq *dq, enum rte_comch_halt why);
bool mlx5_cons_drained(const struct rte_comch_dq *dq);
bool mlx5_cons_retire(struct rte_comch_dq *dq, uint64_t *final);
uint32_t mlx5_cons_room(const struct rte_comch_dq *dq);

/* mlx5_prod.c */

int mlx5_prod_create(struct rte_comch_link *link, const struct rte_comch_prod_args *args,
		struct rte_comch_producer_core *core, struct rte_comch_dq **dq);
void mlx5_prod_begin(struct rte_comch_dq *dq, uint32_t id);
bool mlx5_prod_offer(struct rte_comch_dq *dq, struct rte_comch_ticket *mine);
void mlx5_prod_halt(struct rte_comch_dq *dq, enum rte_comch_halt why);
bool mlx5_prod_idle(const struct rte_comch_dq *dq);
bool mlx5_prod_abort(struct rte_comch_dq *dq, int err);
struct comch_epoch *mlx5_prod_epoch(struct rte_comch_dq *dq);
/* dq_destroy, dq_fd, dq_clear, dq_arm and dq_pending of a producer. */
void mlx5_prod_destroy(struct rte_comch_dq *dq);
int mlx5_prod_fd(const struct rte_comch_dq *dq);
void mlx5_prod_clear(struct rte_comch_dq *dq);
void mlx5_prod_arm(struct rte_comch_dq *dq);
bool mlx5_prod_pending(struct rte_comch_dq *dq);
/* Open the completion channel, unless it is open. 0, -ENOMEM, -EMFILE. */
int mlx5_prod_open_channel(struct mlx5_data *data);
/* Data is freed: release producers that are destroyed later, and close the channel. */
void mlx5_prod_fini(struct mlx5_data *data);
/*
 * Wake all producers of a link: posts or completions may have arrived. Any thread,
 * without data->lock and not in a burst.
 */
void mlx5_prod_wake_all(struct mlx5_data *data);

/* mlx5_remote.c */

uint64_t mlx5_remote_size(const struct rte_comch_remote_args *args);
int mlx5_remote_create(struct rte_comch_link *link, const struct rte_comch_remote_args *args,
		struct rte_comch_ticket *peers, struct rte_comch_ticket *mine,
		struct rte_comch_remote **remote);
void mlx5_remote_retire(struct rte_comch_remote *remote, uint64_t final);
int mlx5_remote_free(struct rte_comch_link *link, struct rte_comch_remote *remote);
/* The connection's thread; see mlx5_data_has_posts() and mlx5_data_peer_halted(). */
bool mlx5_remote_has_posts(struct mlx5_data *data, uint32_t id, uint64_t tail);
void mlx5_remote_peer_halted(struct mlx5_data *data, uint32_t id);
/* Failures and lack of progress, of all remotes. */
void mlx5_remote_check(struct mlx5_data *data, uint64_t now_ms);
/* The link is DOWN: all queue pairs to ERR. */
void mlx5_remote_down(struct mlx5_data *data);

#endif /* MLX5_DATA_H */
