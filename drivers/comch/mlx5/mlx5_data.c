/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The fast path of links: the table of data operations, and what the control path asks. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_debug.h>

#include "mlx5_data.h"

/* Greatest value of the transport's fields of 24 bits. */
#define MAX_24_BITS UINT32_C(0xffffff)

/* All links with a fast path. The lock keeps them from being closed while keys are dropped. */
static TAILQ_HEAD(, mlx5_data) links = TAILQ_HEAD_INITIALIZER(links);
static pthread_mutex_t links_lock = PTHREAD_MUTEX_INITIALIZER;

static int
data_open(struct rte_comch_link *link)
{
	struct mlx5_data *data = calloc(1, sizeof(*data));

	if (data == NULL)
		return -ENOMEM;
	data->link = mlx5_link_of(link);
	pthread_mutex_init(&data->lock, NULL);
	pthread_mutex_init(&data->key_lock, NULL);
	TAILQ_INIT(&data->conses);
	TAILQ_INIT(&data->prods);
	TAILQ_INIT(&data->remotes);
	TAILQ_INIT(&data->mems);
	STAILQ_INIT(&data->halted);
	pthread_mutex_lock(&links_lock);
	TAILQ_INSERT_TAIL(&links, data, next);
	pthread_mutex_unlock(&links_lock);
	/* Release: pairs with mlx5_data_of(). Model: publish.pml, publish. */
	comch_store_release(&link->data, (void *)data);
	return 0;
}

static void
free_notes(struct mlx5_data *data)
{
	struct mlx5_halt_note *note;

	while ((note = STAILQ_FIRST(&data->halted)) != NULL) {
		STAILQ_REMOVE_HEAD(&data->halted, next);
		free(note);
	}
}

static void
data_close(struct rte_comch_link *link)
{
	struct mlx5_data *data = link->data;

	pthread_mutex_lock(&links_lock);
	TAILQ_REMOVE(&links, data, next);
	pthread_mutex_unlock(&links_lock);
	RTE_VERIFY(TAILQ_EMPTY(&data->conses) && TAILQ_EMPTY(&data->remotes));
	mlx5_remote_drop_new(data);
	mlx5_prod_close(data);
	mlx5_mem_fini(data);
	free_notes(data);
	comch_store_release(&link->data, NULL); /* No model: no queue is left */
	pthread_mutex_destroy(&data->key_lock);
	pthread_mutex_destroy(&data->lock);
	free(data);
}

/*
 * A registration ends: no link of the device keeps a key of it. The wait is without a lock:
 * polls go on.
 */
static void
mem_gone(struct rte_comch_dev *dev, const struct rte_comch_mr *mr)
{
	struct mlx5_dev *mdev = dev->priv;
	struct mlx5_data *data;
	bool found = false;

	pthread_mutex_lock(&links_lock);
	TAILQ_FOREACH(data, &links, next)
		if (data->link->dev->dev == dev)
			found |= mlx5_mem_gone(data, mr);
	pthread_mutex_unlock(&links_lock);
	if (found)
		comch_worker_wait(&mdev->worker);
}

/* Queues */

const char *
mlx5_data_read_ticket(const struct rte_comch_ticket *peers, struct mlx5_qp_ticket *t)
{
	if (peers->len != sizeof(*t))
		return "length";
	memcpy(t, peers->data, sizeof(*t));
	if (t->magic != MLX5_MAGIC || t->version != MLX5_WIRE_VERSION)
		return "magic or version";
	if (t->mtu < IBV_MTU_256 || t->mtu > IBV_MTU_4096)
		return "MTU";
	/* Numbers 0 and 1 are those of management queue pairs. */
	if (t->qpn <= 1 || t->qpn > MAX_24_BITS || t->psn > MAX_24_BITS)
		return "queue pair or sequence number";
	return NULL;
}

static struct mlx5_dq *
dq_of(struct rte_comch_dq *dq)
{
	return container_of(dq, struct mlx5_dq, base);
}

static void
dq_destroy(struct rte_comch_dq *dq)
{
	if (dq_of(dq)->is_cons)
		mlx5_cons_destroy(dq);
	else
		mlx5_prod_destroy(dq);
}

static int
dq_fd(const struct rte_comch_dq *dq)
{
	return container_of(dq, const struct mlx5_dq, base)->is_cons ? mlx5_cons_fd(dq) :
		mlx5_prod_fd(dq);
}

static void
dq_clear(struct rte_comch_dq *dq)
{
	if (dq_of(dq)->is_cons)
		mlx5_cons_clear(dq);
	else
		mlx5_prod_clear(dq);
}

static bool
dq_arm(struct rte_comch_dq *dq)
{
	if (dq_of(dq)->is_cons)
		mlx5_cons_arm(dq);
	else
		mlx5_prod_arm(dq);
	return false;
}

static bool
dq_pending(struct rte_comch_dq *dq)
{
	return dq_of(dq)->is_cons ? mlx5_cons_pending(dq) : mlx5_prod_pending(dq);
}

/* mlx5_prod_offer() announces no producers, so these frames are invalid. */

static int
peer_prod_add(struct rte_comch_link *link __rte_unused, uint32_t id __rte_unused,
		struct rte_comch_ticket *peers __rte_unused)
{
	return -EPROTO;
}

static int
peer_prod_del(struct rte_comch_link *link __rte_unused, uint32_t id __rte_unused)
{
	return -EPROTO;
}

const struct rte_comch_data_ops mlx5_data_ops = {
	.has_tickets = true,
	.shows_heap = true,
	.open = data_open,
	.close = data_close,
	.cons_create = mlx5_cons_create,
	.cons_offer = mlx5_cons_offer,
	.cons_bind = mlx5_cons_bind,
	.cons_halt = mlx5_cons_halt,
	.cons_drained = mlx5_cons_drained,
	.cons_retire = mlx5_cons_retire,
	.cons_room = mlx5_cons_room,
	.prod_create = mlx5_prod_create,
	.prod_begin = mlx5_prod_begin,
	.prod_offer = mlx5_prod_offer,
	.prod_halt = mlx5_prod_halt,
	.prod_idle = mlx5_prod_idle,
	.prod_abort = mlx5_prod_abort,
	.prod_epoch = mlx5_prod_epoch,
	.peer_prod_add = peer_prod_add,
	.peer_prod_del = peer_prod_del,
	.remote_size = mlx5_remote_size,
	.remote_create = mlx5_remote_create,
	.remote_retire = mlx5_remote_retire,
	.remote_free = mlx5_remote_free,
	.dq_destroy = dq_destroy,
	.dq_fd = dq_fd,
	.dq_clear = dq_clear,
	.dq_arm = dq_arm,
	.dq_pending = dq_pending,
	.mem_show = mlx5_mem_show,
	.mem_hide = mlx5_mem_hide,
	.mem_take = mlx5_mem_take,
	.mem_drop = mlx5_mem_drop,
	.mem_gone = mem_gone,
};

/* For the control path: the connection's thread. A link may have no fast path. */

uint32_t
mlx5_data_needs(struct mlx5_link *l, struct mlx5_need *need, uint32_t n)
{
	struct mlx5_data *data = mlx5_data_of(l);

	return data != NULL ? mlx5_cons_needs(data, need, n) : 0;
}

bool
mlx5_data_has_halted(const struct mlx5_link *l)
{
	const struct mlx5_data *data = mlx5_data_of(l);

	return data != NULL && comch_load_relaxed(&data->nb_halted) > 0;
}

uint32_t
mlx5_data_halted(struct mlx5_link *l, struct mlx5_halted *halted, uint32_t n)
{
	struct mlx5_data *data = mlx5_data_of(l);
	struct mlx5_halt_note *note;
	uint32_t i = 0;

	if (!mlx5_data_has_halted(l))
		return 0;
	pthread_mutex_lock(&data->lock);
	while (i < n && (note = STAILQ_FIRST(&data->halted)) != NULL) {
		STAILQ_REMOVE_HEAD(&data->halted, next);
		comch_store_relaxed(&data->nb_halted, data->nb_halted - 1);
		halted[i++] = (struct mlx5_halted){ .consumer = note->id };
		free(note);
	}
	pthread_mutex_unlock(&data->lock);
	return i;
}

bool
mlx5_data_has_posts(struct mlx5_link *l, const struct mlx5_need *peer_need)
{
	struct mlx5_data *data = mlx5_data_of(l);

	return data == NULL || mlx5_remote_has_posts(data, peer_need->consumer, peer_need->tail);
}

void
mlx5_data_peer_halted(struct mlx5_link *l, uint32_t consumer)
{
	struct mlx5_data *data = mlx5_data_of(l);

	if (data != NULL)
		mlx5_remote_peer_halted(data, consumer);
}

void
mlx5_data_check(struct mlx5_link *l, uint64_t now_ms)
{
	struct mlx5_data *data = mlx5_data_of(l);

	if (data == NULL)
		return;
	mlx5_cons_check(data, now_ms);
	mlx5_remote_check(data, now_ms);
}

void
mlx5_data_service(struct mlx5_link *l)
{
	struct mlx5_data *data = mlx5_data_of(l);

	if (data != NULL)
		mlx5_mem_service(data);
}

void
mlx5_data_down(struct mlx5_link *l)
{
	struct mlx5_data *data = mlx5_data_of(l);

	if (data == NULL)
		return;
	mlx5_cons_down(data);
	mlx5_remote_down(data);
	mlx5_prod_wake_all(data);
}
