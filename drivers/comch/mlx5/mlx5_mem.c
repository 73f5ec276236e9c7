/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Memory. A registration that is shown to the peer is registered in the link's protection
 * domain for as long, and again without remote rights when a producer sends from it:
 * hiding memory must revoke it, while sends from it may be in progress. The helper thread
 * registers and deregisters: mlx5_job.h.
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

/* A registration that is shown to the peer, or about to be. */
struct mlx5_mem {
	TAILQ_ENTRY(mlx5_mem) next;
	const struct rte_comch_mr *mr;
	struct mlx5_reg *reg;
	bool is_hiding;
};

/* Memory that the peer writes */

static struct mlx5_mem *
mem_find(const struct mlx5_data *data, const struct rte_comch_mr *mr)
{
	struct mlx5_mem *m;

	TAILQ_FOREACH(m, &data->mems, next)
		if (m->mr == mr)
			return m;
	return NULL;
}

static void
mem_free(struct mlx5_data *data, struct mlx5_mem *m)
{
	TAILQ_REMOVE(&data->mems, m, next);
	mlx5_reg_free(m->reg);
	free(m);
}

/* Begin to register it for the peer. */
static int
mem_begin(struct mlx5_data *data, const struct rte_comch_mr *mr, struct mlx5_mem **mem)
{
	struct mlx5_mem *m = calloc(1, sizeof(*m));
	int ret;

	if (m == NULL)
		return -ENOMEM;
	ret = mlx5_reg_begin(data->link, mr, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
		&m->reg);
	if (ret != 0) {
		free(m);
		return ret;
	}
	m->mr = mr;
	TAILQ_INSERT_TAIL(&data->mems, m, next);
	*mem = m;
	return 0;
}

int
mlx5_mem_show(struct rte_comch_link *link, const struct rte_comch_mr *mr,
		struct rte_comch_mem_desc *desc, struct rte_comch_ticket *mine)
{
	struct mlx5_data *data = mlx5_data_of(mlx5_link_of(link));
	struct mlx5_mem *m = mem_find(data, mr);
	struct mlx5_mem_ticket t;
	int ret = 0;

	if (m == NULL)
		ret = mem_begin(data, mr, &m);
	if (ret != 0)
		return ret;
	ret = mlx5_reg_poll(m->reg);
	if (ret == -EINPROGRESS)
		return ret;
	if (ret != 0) {
		mem_free(data, m);
		return ret;
	}
	t = (struct mlx5_mem_ticket){
		.magic = MLX5_MAGIC, .rkey = m->reg->ib->rkey, .addr = (uintptr_t)mr->addr,
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
	struct mlx5_data *data = mlx5_data_of(mlx5_link_of(link));
	struct mlx5_mem *m = mem_find(data, mr);

	if (m == NULL)
		return 0;
	if (!m->is_hiding) {
		if (mlx5_reg_poll(m->reg) == -EINPROGRESS)
			return -EINPROGRESS;
		mlx5_reg_revoke(m->reg);
		m->is_hiding = true;
	}
	if (!mlx5_reg_is_gone(m->reg))
		return -EINPROGRESS;
	mem_free(data, m);
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
		/* Model: keys.pml, ask. */
		if (__atomic_compare_exchange_n(&data->want[i], &other, mr, false,
				__ATOMIC_RELEASE, __ATOMIC_RELAXED) || other == mr)
			break;
	}
	/* All places are taken: the next try of the operation asks again. */
	if (i == MLX5_KEY_WANTS || other == mr)
		return;
	data->link->dev->key_misses++;
	/*
	 * Release: pairs with mlx5_mem_service(). An exchange, as a plain store would break the
	 * release sequence of another burst's request. Model: keys.pml, tell.
	 */
	__atomic_exchange_n(&data->has_wants, 1, __ATOMIC_RELEASE);
	comch_link_tell(link, true);
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
	/* Release: pairs with mlx5_mem_key(). Model: publish.pml, publish. */
	comch_store_release(&data->keys[id / MLX5_KEY_PAGE], page);
	return &page[id % MLX5_KEY_PAGE];
}

/* key_lock held. */
static void
key_drop(struct mlx5_key *key)
{
	if (key->reg != NULL)
		mlx5_reg_free(key->reg);
	key->reg = NULL;
	key->wanted = NULL;
	comch_store_release(&key->mr, NULL); /* No model: no burst uses it any more */
}

/*
 * Make the key of a registration. key_lock held. -EINPROGRESS, or 0: bursts find it. Without
 * memory for the key, they ask again.
 */
static int
key_make(struct mlx5_data *data, const struct rte_comch_mr *mr)
{
	struct mlx5_key *key = key_at(data, mr->id);
	int ret = 0;

	if (key == NULL || key->mr == mr)
		return 0;
	if (key->wanted != mr) {
		ret = mlx5_reg_begin(data->link, mr, 0, &key->reg);
		if (ret == -ENOMEM)
			return 0;
		key->wanted = mr;
	}
	if (ret == 0)
		ret = mlx5_reg_poll(key->reg);
	if (ret == -EINPROGRESS)
		return ret;
	key->refused = ret != 0;
	key->lkey = ret == 0 ? key->reg->ib->lkey : 0;
	/* Release: pairs with mlx5_mem_key(); the key is complete. Model: keys.pml, make. */
	comch_store_release(&key->mr, mr);
	return 0;
}

void
mlx5_mem_service(struct mlx5_data *data)
{
	const struct rte_comch_mr *mr;
	bool is_made = false;
	uint32_t i;

	if (likely(comch_load_relaxed(&data->has_wants) == 0 && !data->makes_keys))
		return;
	pthread_mutex_lock(&data->key_lock);
	/*
	 * Acquire: pairs with mlx5_mem_want(). A later request is served by a later call.
	 * Model: keys.pml, hear.
	 */
	__atomic_exchange_n(&data->has_wants, 0, __ATOMIC_ACQUIRE);
	data->makes_keys = false;
	for (i = 0; i < MLX5_KEY_WANTS; i++) {
		mr = comch_load_acquire(&data->want[i]); /* keys.pml, take */
		if (mr == NULL)
			continue;
		if (key_make(data, mr) == -EINPROGRESS) {
			data->makes_keys = true;
			continue;
		}
		is_made = true;
		/*
		 * Afterwards, so that bursts do not ask meanwhile.
		 * No model: a stale value costs a retry.
		 */
		comch_store_release(&data->want[i], NULL);
	}
	pthread_mutex_unlock(&data->key_lock);
	if (is_made)
		mlx5_prod_wake_all(data);
}

bool
mlx5_mem_gone(struct mlx5_data *data, const struct rte_comch_mr *mr)
{
	struct mlx5_key *key = NULL;
	bool found;
	uint32_t i;

	pthread_mutex_lock(&data->key_lock);
	/* No burst asks any more. */
	for (i = 0; i < MLX5_KEY_WANTS; i++)
		if (comch_load_relaxed(&data->want[i]) == mr)
			comch_store_relaxed(&data->want[i], NULL);
	if (data->keys[mr->id / MLX5_KEY_PAGE] != NULL)
		key = &data->keys[mr->id / MLX5_KEY_PAGE][mr->id % MLX5_KEY_PAGE];
	found = key != NULL && (key->mr == mr || key->wanted == mr);
	if (found)
		key_drop(key);
	pthread_mutex_unlock(&data->key_lock);
	return found;
}

void
mlx5_mem_fini(struct mlx5_data *data)
{
	uint32_t i, k;

	while (!TAILQ_EMPTY(&data->mems))
		mem_free(data, TAILQ_FIRST(&data->mems));
	for (i = 0; i < MLX5_KEY_PAGES; i++) {
		for (k = 0; data->keys[i] != NULL && k < MLX5_KEY_PAGE; k++)
			key_drop(&data->keys[i][k]);
		free(data->keys[i]);
		data->keys[i] = NULL;
	}
}
