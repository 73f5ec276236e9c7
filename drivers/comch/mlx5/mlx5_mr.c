/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Memory. A registration that is shown to the peer is registered in the link's protection
 * domain for as long, and again without remote rights when a producer sends from it:
 * hiding memory must revoke it at once, while sends from it may be in progress.
 *
 * Keys to send with are in pages by the registration's number. Bursts look them up
 * without a lock: an entry is stored before its registration's pointer, and removed when
 * no operation uses the registration (rte_comch_data_ops.mem_gone).
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mlx5_data.h"

static_assert(sizeof(void *) == sizeof(uint64_t), "a region holds an address of the peer");

/* A registration that is shown to the peer. */
struct mlx5_mem {
	TAILQ_ENTRY(mlx5_mem) next;
	const struct rte_comch_mr *mr;
	struct ibv_mr *ib;
};

/* Register with the link. 0, or -ENOTSUP with a log line: the device cannot have it. */
static int
mem_register(const struct mlx5_link *l, const struct rte_comch_mr *mr, int access,
		struct ibv_mr **ib)
{
	int err;

	/* It logs that the limit is reached. */
	if (mlx5_dev_pin(l->dev, mr->len) != 0)
		return -ENOTSUP;
	*ib = mlx5_glue->reg_mr(l->pd, mr->addr, mr->len, access);
	if (*ib != NULL)
		return 0;
	err = errno;
	mlx5_dev_unpin(l->dev, mr->len);
	MLX5_LOG(WARNING, "device %s: cannot register %zu bytes at %p: %s%s",
		l->dev->dev->info.name, mr->len, mr->addr, strerror(err), err == ENOMEM ?
		"; the limit of locked memory (ulimit -l, LimitMEMLOCK) may be too low" : "");
	return -ENOTSUP;
}

static void
mem_deregister(const struct mlx5_link *l, struct ibv_mr *ib, uint64_t len)
{
	mlx5_glue->dereg_mr(ib);
	mlx5_dev_unpin(l->dev, len);
}

/* Memory that the peer writes */

int
mlx5_mem_show(struct rte_comch_link *link, const struct rte_comch_mr *mr,
		struct rte_comch_mem_desc *desc, struct rte_comch_ticket *mine)
{
	struct mlx5_link *l = mlx5_link_of(link);
	struct mlx5_data *data = mlx5_data_of(l);
	struct mlx5_mem_ticket t;
	struct mlx5_mem *m;
	int ret;

	m = calloc(1, sizeof(*m));
	if (m == NULL)
		return -ENOMEM;
	ret = mem_register(l, mr, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, &m->ib);
	if (ret != 0) {
		free(m);
		return ret;
	}
	m->mr = mr;
	TAILQ_INSERT_TAIL(&data->mems, m, next);
	t = (struct mlx5_mem_ticket){
		.magic = MLX5_MAGIC, .rkey = m->ib->rkey, .addr = (uintptr_t)mr->addr,
		.len = mr->len,
	};
	static_assert(sizeof(t) <= RTE_COMCH_TICKET_SIZE, "a ticket holds it");
	memcpy(mine->data, &t, sizeof(t));
	mine->len = sizeof(t);
	*desc = (struct rte_comch_mem_desc){ .kind = mr->kind, .len = mr->len, .fd = -1 };
	return 0;
}

int
mlx5_mem_hide(struct rte_comch_link *link, const struct rte_comch_mr *mr)
{
	struct mlx5_link *l = mlx5_link_of(link);
	struct mlx5_data *data = mlx5_data_of(l);
	struct mlx5_mem *m;

	TAILQ_FOREACH(m, &data->mems, next)
		if (m->mr == mr)
			break;
	if (m == NULL)
		return 0;
	TAILQ_REMOVE(&data->mems, m, next);
	mem_deregister(l, m->ib, mr->len);
	free(m);
	return 0;
}

int
mlx5_mem_take(struct rte_comch_link *link __rte_unused, const struct rte_comch_mem_desc *desc,
		struct rte_comch_ticket *peers, struct rte_comch_region *region)
{
	struct mlx5_mem_ticket t;

	if (peers->len != sizeof(t))
		return -EPROTO;
	memcpy(&t, peers->data, sizeof(t));
	if (t.magic != MLX5_MAGIC || t.addr == 0 || t.len == 0 || t.len > UINT64_MAX - t.addr ||
			t.len != desc->len || desc->offset != 0)
		return -EPROTO;
	*region = (struct rte_comch_region){
		/* Only a number here: the peer's address, which work requests contain. */
		.addr = (void *)(uintptr_t)t.addr, .len = t.len, .fd = -1,
		.priv = (void *)(uintptr_t)t.rkey,
	};
	return 0;
}

void
mlx5_mem_drop(struct rte_comch_link *link __rte_unused,
		struct rte_comch_region *region __rte_unused)
{
}

/* Memory that producers send from */

void
mlx5_mem_want(struct mlx5_data *data, const struct rte_comch_mr *mr)
{
	struct rte_comch_link *link = &data->link->base;
	const struct rte_comch_mr *other;
	uint32_t i;

	for (i = 0; i < MLX5_KEY_WANTS; i++) {
		other = NULL;
		if (__atomic_compare_exchange_n(&data->want[i], &other, mr, false,
				__ATOMIC_RELEASE, __ATOMIC_RELAXED) || other == mr)
			break;
	}
	/* All places are taken: the next try of the operation asks again. */
	if (i == MLX5_KEY_WANTS || other == mr)
		return;
	data->link->dev->key_misses++;
	/* Release: pairs with mlx5_mem_service(), which then finds the request. */
	comch_store_release(&data->has_wants, 1);
	link->news(link->ctx, true);
}

static struct mlx5_key *
key_at(struct mlx5_data *data, uint32_t id)
{
	struct mlx5_key *page = data->keys[id / MLX5_KEY_PAGE];

	if (page != NULL)
		return &page[id % MLX5_KEY_PAGE];
	page = calloc(MLX5_KEY_PAGE, sizeof(*page));
	if (page == NULL)
		return NULL;
	/* Release: pairs with mlx5_mem_key(). */
	comch_store_release(&data->keys[id / MLX5_KEY_PAGE], page);
	return &page[id % MLX5_KEY_PAGE];
}

/* key_lock held. */
static void
key_drop(struct mlx5_data *data, struct mlx5_key *key)
{
	if (key->ib != NULL)
		mem_deregister(data->link, key->ib, key->pinned);
	key->ib = NULL;
	comch_store_release(&key->mr, NULL);
}

/* key_lock held. Without memory for the key, the producer asks again. */
static void
key_add(struct mlx5_data *data, const struct rte_comch_mr *mr)
{
	struct mlx5_key *key = key_at(data, mr->id);

	if (key == NULL || key->mr == mr)
		return;
	key->ib = NULL;
	key->refused = mem_register(data->link, mr, 0, &key->ib) != 0;
	key->lkey = key->refused ? 0 : key->ib->lkey;
	key->pinned = mr->len;
	/* Release: pairs with mlx5_mem_key(); the key is complete. */
	comch_store_release(&key->mr, mr);
}

void
mlx5_mem_service(struct mlx5_data *data)
{
	const struct rte_comch_mr *mr;
	uint32_t i;

	if (likely(comch_load_relaxed(&data->has_wants) == 0))
		return;
	pthread_mutex_lock(&data->key_lock);
	/* Acquire: pairs with mlx5_mem_want(). A later request is served by a later call. */
	__atomic_exchange_n(&data->has_wants, 0, __ATOMIC_ACQUIRE);
	for (i = 0; i < MLX5_KEY_WANTS; i++) {
		mr = comch_load_acquire(&data->want[i]);
		if (mr == NULL)
			continue;
		key_add(data, mr);
		/* Afterwards, so that bursts do not ask meanwhile. */
		comch_store_release(&data->want[i], NULL);
	}
	pthread_mutex_unlock(&data->key_lock);
	mlx5_prod_wake_all(data);
}

void
mlx5_mem_gone(struct mlx5_data *data, const struct rte_comch_mr *mr)
{
	struct mlx5_key *page;
	uint32_t i;

	pthread_mutex_lock(&data->key_lock);
	/* No burst asks any more. */
	for (i = 0; i < MLX5_KEY_WANTS; i++)
		if (comch_load_relaxed(&data->want[i]) == mr)
			comch_store_relaxed(&data->want[i], NULL);
	page = data->keys[mr->id / MLX5_KEY_PAGE];
	if (page != NULL && page[mr->id % MLX5_KEY_PAGE].mr == mr)
		key_drop(data, &page[mr->id % MLX5_KEY_PAGE]);
	pthread_mutex_unlock(&data->key_lock);
}

void
mlx5_mem_fini(struct mlx5_data *data)
{
	struct mlx5_mem *m;
	uint32_t i, k;

	while ((m = TAILQ_FIRST(&data->mems)) != NULL) {
		TAILQ_REMOVE(&data->mems, m, next);
		mem_deregister(data->link, m->ib, m->ib->length);
		free(m);
	}
	for (i = 0; i < MLX5_KEY_PAGES; i++) {
		for (k = 0; data->keys[i] != NULL && k < MLX5_KEY_PAGE; k++)
			key_drop(data, &data->keys[i][k]);
		free(data->keys[i]);
		data->keys[i] = NULL;
	}
}
