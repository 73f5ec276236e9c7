/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The sending ends of the peer's consumers: creation, checks and end.
 *
 * Receive slots are for posts, and a slot is always free for the next one. Each post
 * that we have not applied yet covers at least one of the positions from our tail on, of
 * which there are at most depth: the consumer posts position p after it has received
 * position p - depth, and we assign only positions below our tail. Other posts return
 * pieces, at least one of the nb_pieces under way. Up to MLX5_QP_REPOST - 1 slots wait to
 * be posted again. The same holds for records in the slots of the consumer, where one
 * slot is left for the record that aborts a message: see mlx5_stream.c.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <rte_malloc.h>

#include "sdk/comch_log.h"
#include "mlx5_send.h"

/* Send work requests. */
#define TX_MIN 64
#define TX_MAX 512
/* How long the notice of a consumer's halt may lag behind a failure. */
#define GRACE_MS 200
/* How long a retired remote waits for its queue pair to flush. */
#define FLUSH_MS 100

static struct mlx5_remote *
remote_of(struct rte_comch_remote *remote)
{
	return container_of(remote, struct mlx5_remote, to.base);
}

/* Creation */

/* A power of two: numbers of work requests are taken modulo it. */
static uint32_t
nb_tx_of(uint32_t depth)
{
	return RTE_MIN(RTE_MAX(depth, (uint32_t)TX_MIN), (uint32_t)TX_MAX);
}

uint64_t
mlx5_remote_size(const struct rte_comch_remote_args *args)
{
	return sizeof(struct mlx5_remote) + sizeof(struct comch_post_shared) +
		(uint64_t)args->depth * (sizeof(struct comch_desc) + sizeof(struct mlx5_work) +
			MLX5_POST_SLOT) +
		(uint64_t)nb_tx_of(args->depth) * (sizeof(uint64_t) + MLX5_SLOT_MAX);
}

/* Why a ticket is invalid, or NULL. */
static const char *
check_ticket(const struct rte_comch_remote_args *args, const struct rte_comch_ticket *peers,
		struct mlx5_qp_ticket *t)
{
	const char *invalid = mlx5_data_read_ticket(peers, t);

	if (invalid != NULL)
		return invalid;
	if (t->slot_size < MLX5_SLOT_MIN || t->slot_size > MLX5_SLOT_MAX)
		return "slot size";
	/* A piece carries at least a byte of the staging ring. */
	if ((t->nb_pieces > 0) != (args->staging_size > 0) || t->nb_pieces > args->staging_size)
		return "number of pieces";
	if (t->nb_slots < (uint64_t)args->depth + MLX5_QP_REPOST + t->nb_pieces)
		return "number of slots";
	return NULL;
}

/* Charge what the remote needs to the limits: the peer chooses its sizes. */
static int
take_staging(struct mlx5_remote *r, const struct mlx5_qp_conf *conf)
{
	const struct rte_comch_link *link = &r->data->link->base;
	uint64_t len = sizeof(*r) + (uint64_t)conf->nb_rx * conf->rx_size +
		(uint64_t)conf->nb_tx * conf->tx_size +
		(uint64_t)r->to.base.depth * (sizeof(*r->work) + sizeof(r->post->desc[0]));
	char why[256];
	int ret = comch_staging_take(&r->data->staging, link, len, why, sizeof(why));

	if (why[0] != '\0')
		COMCH_LOG_PEER(MLX5_LOG, "%s", why);
	if (ret == 0)
		r->staged = len;
	return ret;
}

static void
give_staging(struct mlx5_remote *r)
{
	comch_budget_give(&r->data->staging.used, r->staged);
	comch_budget_give(r->data->link->base.dev->staged, r->staged);
	r->staged = 0;
}

static void
remote_destroy(struct mlx5_remote *r)
{
	if (r->staged > 0)
		give_staging(r);
	mlx5_qp_destroy(&r->qp);
	rte_free(r->wr_pos);
	rte_free(r->work);
	rte_free(r->post);
	rte_free(r);
}

static void
set_sizes(struct mlx5_remote *r, const struct mlx5_qp_ticket *peer)
{
	const struct mlx5_dev *dev = r->data->link->dev;
	uint32_t max_write = RTE_MIN(dev->port_attr.max_msg_sz, MLX5_QP_MAX_WRITE);

	r->slot = RTE_MIN(peer->slot_size, dev->slot);
	r->slot = RTE_ALIGN_FLOOR(r->slot, (uint32_t)MLX5_EAGER_ALIGN);
	r->eager = RTE_MIN(dev->eager, r->slot - (uint32_t)sizeof(struct comch_rec));
	r->max_write = max_write > 0 ? max_write : MLX5_QP_MAX_WRITE;
	r->window = peer->nb_pieces;
}

static struct mlx5_remote *
remote_alloc(struct mlx5_data *data, const struct rte_comch_remote_args *args,
		const struct mlx5_qp_ticket *peer)
{
	struct mlx5_remote *r;

	r = rte_zmalloc("mlx5_remote", sizeof(*r), COMCH_LINE);
	if (r == NULL)
		return NULL;
	r->data = data;
	r->to.base = (struct rte_comch_remote){
		.ops = &mlx5_data_ops, .id = args->id, .depth = args->depth,
		.imm_size = args->imm_size, .staging_size = args->staging_size,
	};
	r->to.mask = args->depth - 1;
	r->to.imports = args->imports;
	r->to.claim = &r->claim;
	r->wr_mask = nb_tx_of(args->depth) - 1;
	r->post = rte_zmalloc("mlx5_post", sizeof(*r->post) + args->depth *
		sizeof(r->post->desc[0]), COMCH_LINE);
	r->work = rte_zmalloc("mlx5_work", args->depth * sizeof(*r->work), COMCH_LINE);
	r->wr_pos = rte_zmalloc("mlx5_wr_pos", (r->wr_mask + 1) * sizeof(*r->wr_pos), COMCH_LINE);
	r->to.post_shared = r->post;
	set_sizes(r, peer);
	if (r->post != NULL && r->work != NULL && r->wr_pos != NULL)
		return r;
	remote_destroy(r);
	return NULL;
}

/* Have the queue pair created and connected. 0, -ENOMEM or -EDQUOT. */
static int
begin_qp(struct mlx5_remote *r, const struct mlx5_qp_ticket *peer)
{
	struct mlx5_link *l = r->data->link;
	struct mlx5_qp_conf conf = {
		.nb_rx = r->to.base.depth + peer->nb_pieces + MLX5_QP_REPOST,
		.rx_size = MLX5_POST_SLOT,
		.nb_tx = r->wr_mask + 1, .tx_size = r->slot,
		.channel = r->data->prod_comp, .cq_ctx = r,
	};
	struct mlx5_qp_to to = { .path = l->path, .qpn = peer->qpn, .psn = peer->psn };
	int ret;

	if (conf.nb_rx > (uint32_t)l->dev->attr.max_qp_wr) {
		COMCH_LOG_PEER(MLX5_LOG, "connection %u: consumer %u of the peer needs %u receive "
			"slots: the device's limit is %d", l->base.conn_id, r->to.base.id,
			conf.nb_rx, l->dev->attr.max_qp_wr);
		return -EDQUOT;
	}
	conf.nb_tx = RTE_MIN(conf.nb_tx, (uint32_t)l->dev->attr.max_qp_wr);
	ret = take_staging(r, &conf);
	if (ret != 0)
		return ret;
	to.path.mtu = RTE_MIN(to.path.mtu, peer->mtu);
	return mlx5_qp_begin(&r->qp, l, &conf, &to);
}

static void
put_ticket(const struct mlx5_remote *r, const struct mlx5_qp_ticket *peer,
		struct rte_comch_ticket *mine)
{
	const struct mlx5_qp_ticket t = {
		.magic = MLX5_MAGIC, .version = MLX5_WIRE_VERSION,
		.mtu = r->data->link->path.mtu, .qpn = r->qp.qp->qp_num, .psn = r->qp.psn,
		.slot_size = r->qp.conf.rx_size, .nb_slots = r->qp.conf.nb_rx,
		.nb_pieces = peer->nb_pieces,
	};

	memcpy(mine->data, &t, sizeof(t));
	mine->len = sizeof(t);
}

/* Make data->making. */
static int
begin_remote(struct mlx5_data *data, const struct rte_comch_remote_args *args,
		const struct mlx5_qp_ticket *peer)
{
	int ret = mlx5_prod_open_channel(data);

	if (ret != 0)
		return ret;
	data->making = remote_alloc(data, args, peer);
	if (data->making == NULL)
		return -ENOMEM;
	ret = begin_qp(data->making, peer);
	if (ret != 0)
		mlx5_remote_drop_new(data);
	return ret;
}

void
mlx5_remote_drop_new(struct mlx5_data *data)
{
	if (data->making != NULL)
		remote_destroy(data->making);
	data->making = NULL;
}

int
mlx5_remote_create(struct rte_comch_link *link, const struct rte_comch_remote_args *args,
		struct rte_comch_ticket *peers, struct rte_comch_ticket *mine,
		struct rte_comch_remote **remote)
{
	struct mlx5_data *data = mlx5_data_of(mlx5_link_of(link));
	struct mlx5_qp_ticket peer;
	struct mlx5_remote *r;
	const char *invalid;
	int ret = 0;

	invalid = check_ticket(args, peers, &peer);
	if (invalid != NULL) {
		COMCH_LOG_PEER(MLX5_LOG, "connection %u: invalid ticket from peer's consumer %u: "
			"%s", link->conn_id, args->id, invalid);
		return -EPROTO;
	}
	if (data->making == NULL)
		ret = begin_remote(data, args, &peer);
	if (ret == 0)
		ret = mlx5_qp_poll_step(&data->making->qp);
	if (ret == -EINPROGRESS)
		return ret;
	if (ret != 0) {
		mlx5_remote_drop_new(data);
		return ret == -EMFILE || ret == -EDQUOT ? ret : -ENOMEM;
	}
	r = data->making;
	data->making = NULL;
	put_ticket(r, &peer, mine);
	pthread_mutex_lock(&data->lock);
	TAILQ_INSERT_TAIL(&data->remotes, r, next);
	pthread_mutex_unlock(&data->lock);
	/* A producer that sleeps already wakes up for this one, too. */
	if (mlx5_prod_any_armed(data))
		(void)mlx5_qp_arm(&r->qp);
	*remote = &r->to.base;
	return 0;
}

/* End */

void
mlx5_remote_retire(struct rte_comch_remote *remote, uint64_t final)
{
	struct mlx5_remote *r = remote_of(remote);
	bool is_final_valid;

	mlx5_remote_lock(r);
	r->final = final;
	r->retired_ms = mlx5_dev_now_ms();
	is_final_valid = final - r->completed <= r->claim - r->completed;
	/* Release: pairs with the acquires in bursts. Model: publish.pml, publish. */
	comch_store_release(&r->is_retired, true);
	if (!r->is_killed) {
		mlx5_qp_error(&r->qp);
		mlx5_remote_reap(r);
	}
	mlx5_remote_unlock(r);
	if (!is_final_valid)
		mlx5_link_fault(r->data->link, -EPROTO,
			"final position of the peer's consumer is out of range");
	mlx5_prod_wake_all(r->data);
}

int
mlx5_remote_free(struct rte_comch_link *link, struct rte_comch_remote *remote)
{
	struct mlx5_remote *r = remote_of(remote);
	struct mlx5_data *data = r->data;
	bool is_busy;

	pthread_mutex_lock(&data->lock);
	mlx5_remote_lock(r);
	mlx5_remote_reap(r);
	is_busy = r->completed != r->claim && r->is_retired &&
		link->state == RTE_COMCH_LINK_UP &&
		mlx5_dev_now_ms() - r->retired_ms < FLUSH_MS;
	if (!is_busy) {
		mlx5_remote_kill(r);
		TAILQ_REMOVE(&data->remotes, r, next);
	}
	mlx5_remote_unlock(r);
	pthread_mutex_unlock(&data->lock);
	/* Its producers may sleep. */
	mlx5_prod_wake_all(data);
	if (is_busy)
		return -EBUSY;
	remote_destroy(r);
	return 0;
}

void
mlx5_remote_down(struct mlx5_data *data)
{
	struct mlx5_remote *r;

	pthread_mutex_lock(&data->lock);
	TAILQ_FOREACH(r, &data->remotes, next) {
		mlx5_remote_lock(r);
		/* Pairs with settle(). Model: publish.pml, publish. */
		comch_store_release(&r->is_down, true);
		if (!r->is_killed) {
			if (!comch_load_relaxed(&r->qp.is_err))
				mlx5_qp_error(&r->qp);
			mlx5_remote_reap(r);
		}
		mlx5_remote_unlock(r);
	}
	pthread_mutex_unlock(&data->lock);
}

/* Questions of the control path */

static struct mlx5_remote *
find_remote(struct mlx5_data *data, uint32_t id)
{
	struct mlx5_remote *r;

	/* The connection's thread is the list's writer. */
	TAILQ_FOREACH(r, &data->remotes, next)
		if (r->to.base.id == id && !comch_load_relaxed(&r->is_retired))
			return r;
	return NULL;
}

bool
mlx5_remote_has_posts(struct mlx5_data *data, uint32_t id, uint64_t tail)
{
	struct mlx5_remote *r = find_remote(data, id);

	if (r == NULL || comch_load_relaxed(&r->peer_halted))
		return true;
	if (mlx5_remote_trylock(r)) {
		mlx5_remote_reap(r);
		mlx5_remote_unlock(r);
	}
	/*
	 * No post follows a failure. Acquire: pairs with the release in apply_post().
	 * Model: ring.pml, posted.
	 */
	return (int64_t)(comch_load_acquire(&r->post->tail) - tail) >= 0 ||
		comch_load_acquire(&r->qp.is_err);
}

void
mlx5_remote_peer_halted(struct mlx5_data *data, uint32_t id)
{
	struct mlx5_remote *r = find_remote(data, id);

	if (r == NULL)
		return;
	/* Pairs with send_group(). Model: publish.pml, publish. */
	comch_store_release(&r->peer_halted, true);
	/* A send that was cut short fails now. */
	mlx5_prod_wake_all(data);
}

/* Checks */

/* The first fault's text is kept until the link is closed. */
static void
fault(struct mlx5_remote *r, int err, const char *what, const char *why)
{
	struct mlx5_data *data = r->data;

	if (!data->has_fault)
		snprintf(data->fault_text, sizeof(data->fault_text),
			"queue pair %#x to consumer %u: %s%s", r->qp.qp->qp_num, r->to.base.id,
			what, why);
	data->has_fault = true;
	mlx5_link_fault(data->link, err, data->fault_text);
}

/* A queue pair that has failed: end the link unless the consumer's end explains it. */
static void
check_failed(struct mlx5_remote *r, uint64_t now_ms)
{
	enum ibv_wc_status status = r->qp.status;
	bool may_be_end = status == IBV_WC_RETRY_EXC_ERR || status == IBV_WC_WR_FLUSH_ERR ||
		status == IBV_WC_SUCCESS;
	uint64_t age;

	/* A stopped consumer does not respond, and CONSUMER_GONE waits for its application. */
	if (comch_load_relaxed(&r->peer_halted))
		return;
	if (r->failed_ms == 0)
		r->failed_ms = now_ms;
	age = now_ms - r->failed_ms;
	if (age >= r->data->link->dev->dead_ms)
		fault(r, -ETIMEDOUT, "it failed, and the peer did not stop the consumer: ",
			status != IBV_WC_SUCCESS ? mlx5_qp_status_text(status) : "state ERR");
	else if (age >= GRACE_MS && !may_be_end)
		fault(r, mlx5_qp_status_errno(status), "", mlx5_qp_status_text(status));
}

static void
check_one(struct mlx5_remote *r, uint64_t now_ms)
{
	uint32_t dead_ms = r->data->link->dev->dead_ms;

	mlx5_remote_reap(r);
	mlx5_remote_sync(r);
	if (comch_load_relaxed(&r->qp.is_err))
		check_failed(r, now_ms);
	else if (mlx5_qp_stuck(&r->qp, now_ms, dead_ms))
		fault(r, -ETIMEDOUT, "a work request did not complete in time", "");
}

void
mlx5_remote_check(struct mlx5_data *data, uint64_t now_ms)
{
	struct mlx5_remote *r;

	/* The connection's thread is the list's writer. */
	TAILQ_FOREACH(r, &data->remotes, next) {
		if (r->is_retired || comch_load_relaxed(&r->is_down) || !mlx5_remote_trylock(r))
			continue;
		if (!r->is_killed)
			check_one(r, now_ms);
		mlx5_remote_unlock(r);
	}
}
