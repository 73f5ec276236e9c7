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
 * guarded by its tx_lock, which bursts only try to take. The connection's thread changes
 * the lists, with data->lock held, and so may walk them without.
 */

#include <pthread.h>

#include <rte_branch_prediction.h>

#include "mlx5_private.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_mr.h"
#include "sdk/comch_recv_post.h"
#include "sdk/comch_send.h"
#include "sdk/comch_staging_budget.h"

struct mlx5_cons;
struct mlx5_prod;
struct mlx5_remote;
struct mlx5_key;

/* A consumer or a producer: the start of struct mlx5_cons and of struct mlx5_prod. */
struct mlx5_dq {
	struct rte_comch_dq base; /* first */
	bool is_cons;
};

/* A consumer of ours that accepts no more messages; the peer is to be told. */
struct mlx5_halt_note {
	STAILQ_ENTRY(mlx5_halt_note) next;
	uint32_t id;
};

/* Keys are in pages, which are allocated as registrations are used. */
#define MLX5_KEY_PAGE 64
#define MLX5_KEY_PAGES (COMCH_MAX_MRS / MLX5_KEY_PAGE)
/* Registrations that bursts ask for at a time. */
#define MLX5_KEY_WANTS 8

/* link->data */
struct mlx5_data {
	struct mlx5_link *link;
	TAILQ_ENTRY(mlx5_data) next;      /* of all links: see mem_gone() */
	pthread_mutex_t lock;             /* guards the lists; never taken in a burst */
	TAILQ_HEAD(, mlx5_cons) conses;   /* offered to the peer */
	TAILQ_HEAD(, mlx5_prod) prods;
	TAILQ_HEAD(, mlx5_remote) remotes;
	TAILQ_HEAD(, mlx5_mem) mems;      /* shown to the peer; the connection's thread */
	/* Consumers halted, for mlx5_data_halted(). */
	STAILQ_HEAD(, mlx5_halt_note) halted;
	uint32_t nb_halted;               /* atomic */
	/* Completions of all remotes; opened with the first producer. */
	struct mlx5_channel *prod_comp;
	/* remote_create in progress; the connection's thread. */
	struct mlx5_remote *making;
	/* Memory to send from: mlx5_mem.c. */
	pthread_mutex_t key_lock;         /* guards keys, but for lookups */
	struct mlx5_key *keys[MLX5_KEY_PAGES];
	const struct rte_comch_mr *want[MLX5_KEY_WANTS]; /* atomic */
	uint32_t has_wants;               /* atomic */
	struct comch_staging staging;     /* of remotes; the connection's thread */
	bool makes_keys;                  /* of the connection's thread: the helper is at work */
	/* The first fault of a remote; the connection's thread. */
	bool has_fault;
	char fault_text[128];
};

/* The fast path of a link; NULL: it is not open. Any thread, while the link exists. */
static inline struct mlx5_data *
mlx5_data_of(const struct mlx5_link *l)
{
	/*
	 * Acquire: pairs with the release when it is opened, maybe by another thread.
	 * Model: publish.pml, find.
	 */
	return comch_load_acquire(&l->base.data);
}

/* mlx5_data.c */

/* Copy the ticket of a queue pair, and check all but its slots. NULL, or what is invalid. */
const char *mlx5_data_read_ticket(const struct rte_comch_ticket *peers, struct mlx5_qp_ticket *t);

/* mlx5_mem.c */

int mlx5_mem_show(struct rte_comch_link *link, const struct rte_comch_mr *mr,
		struct rte_comch_mem_desc *desc, struct rte_comch_ticket *mine);
int mlx5_mem_hide(struct rte_comch_link *link, const struct rte_comch_mr *mr);
int mlx5_mem_take(struct rte_comch_link *link, const struct rte_comch_mem_desc *desc,
		struct rte_comch_ticket *peers, struct rte_comch_region *region);
void mlx5_mem_drop(struct rte_comch_link *link, struct rte_comch_region *region);
/* The remote key of memory that the peer shows. */
static inline uint32_t
mlx5_mem_rkey(const struct rte_comch_region *region)
{
	return (uint32_t)(uintptr_t)region->priv;
}
/* Memory of ours to send from, on this link. */
struct mlx5_key {
	const struct rte_comch_mr *mr; /* atomic; NULL: none */
	uint32_t lkey;
	bool refused;                  /* cannot be registered */
	/* key_lock */
	const struct rte_comch_mr *wanted; /* whose registration reg is */
	struct mlx5_reg *reg;
};

/* The key of a registration; NULL: the link does not have it. */
static inline const struct mlx5_key *
mlx5_mem_key(const struct mlx5_data *data, const struct rte_comch_mr *mr)
{
	/*
	 * Acquire, both: pair with the releases in key_at() and key_make().
	 * Model: publish.pml, find.
	 */
	const struct mlx5_key *page = comch_load_acquire(&data->keys[mr->id / MLX5_KEY_PAGE]);

	if (unlikely(page == NULL))
		return NULL;
	page += mr->id % MLX5_KEY_PAGE;
	return likely(comch_load_acquire(&page->mr) == mr) ? page : NULL; /* keys.pml, find */
}

/* Ask the connection's thread to register memory: a slow path of bursts. */
void mlx5_mem_want(struct mlx5_data *data, const struct rte_comch_mr *mr);

/*
 * The local key to send from a registration, on this link. A burst calls it: no search,
 * no lock. False: there is none yet; the connection's thread was asked to register the
 * memory and will wake the producers. The operation is to be tried again, unless
 * mlx5_mem_is_refused().
 */
static inline bool
mlx5_mem_lkey(struct mlx5_data *data, const struct rte_comch_mr *mr, uint32_t *lkey)
{
	const struct mlx5_key *key = mlx5_mem_key(data, mr);

	if (likely(key != NULL && !key->refused)) {
		*lkey = key->lkey;
		return true;
	}
	if (key == NULL)
		mlx5_mem_want(data, mr);
	return false;
}

/* The memory could not be registered: an operation on it fails with -ENOMEM. */
static inline bool
mlx5_mem_is_refused(const struct mlx5_data *data, const struct rte_comch_mr *mr)
{
	const struct mlx5_key *key = mlx5_mem_key(data, mr);

	return key != NULL && key->refused;
}
/* A registration ends: begin to drop its key. False: there was none. Any thread. */
bool mlx5_mem_gone(struct mlx5_data *data, const struct rte_comch_mr *mr);
/* Connection's thread: have what bursts asked for registered, and tell their producers. */
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
int mlx5_cons_fd(const struct rte_comch_dq *dq);
void mlx5_cons_clear(struct rte_comch_dq *dq);
void mlx5_cons_arm(struct rte_comch_dq *dq);
bool mlx5_cons_pending(struct rte_comch_dq *dq);
void mlx5_cons_destroy(struct rte_comch_dq *dq);
/* The parts of mlx5_data_needs(), _check() and _down(). */
uint32_t mlx5_cons_needs(struct mlx5_data *data, struct mlx5_need *need, uint32_t n);
void mlx5_cons_check(struct mlx5_data *data, uint64_t now_ms);
void mlx5_cons_down(struct mlx5_data *data);

/* mlx5_prod.c */

int mlx5_prod_create(struct rte_comch_link *link, const struct rte_comch_prod_args *args,
		struct rte_comch_producer_core *core, struct rte_comch_dq **dq);
void mlx5_prod_begin(struct rte_comch_dq *dq, uint32_t id);
bool mlx5_prod_offer(struct rte_comch_dq *dq, struct rte_comch_ticket *mine);
void mlx5_prod_halt(struct rte_comch_dq *dq, enum rte_comch_halt why);
bool mlx5_prod_idle(const struct rte_comch_dq *dq);
bool mlx5_prod_abort(struct rte_comch_dq *dq, int err);
struct comch_epoch *mlx5_prod_epoch(struct rte_comch_dq *dq);
int mlx5_prod_fd(const struct rte_comch_dq *dq);
void mlx5_prod_clear(struct rte_comch_dq *dq);
void mlx5_prod_arm(struct rte_comch_dq *dq);
bool mlx5_prod_pending(struct rte_comch_dq *dq);
void mlx5_prod_destroy(struct rte_comch_dq *dq);
/* Undo what producers opened for the link, such as data->prod_comp. */
void mlx5_prod_close(struct mlx5_data *data);
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
/* Undo a remote_create in progress. */
void mlx5_remote_drop_new(struct mlx5_data *data);
/* The connection's thread; see mlx5_data_has_posts() and mlx5_data_peer_halted(). */
bool mlx5_remote_has_posts(struct mlx5_data *data, uint32_t id, uint64_t tail);
void mlx5_remote_peer_halted(struct mlx5_data *data, uint32_t id);
/* Failures and lack of progress, of all remotes. */
void mlx5_remote_check(struct mlx5_data *data, uint64_t now_ms);
/* The link is DOWN: all queue pairs to ERR. */
void mlx5_remote_down(struct mlx5_data *data);

#endif /* MLX5_DATA_H */
