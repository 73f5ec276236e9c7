/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Consumers: creation, start and stop. mlx5_recv.c has their bursts.
 *
 * Each start has a queue pair of its own, so that a stop is exact without the peer's
 * help: the queue pair goes to ERR, what was received before is delivered, and the final
 * position tells the peer which messages arrived.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "sdk/comch_log.h"
#include "mlx5_cons.h"

/* Events taken from the completion channel before they are acknowledged. */
#define CLEAR_BATCH 64

static struct mlx5_cons *
cons_of(struct rte_comch_dq *dq)
{
	return container_of(dq, struct mlx5_cons, dq.base);
}

static const struct mlx5_cons *
cons_of_const(const struct rte_comch_dq *dq)
{
	return container_of(dq, const struct mlx5_cons, dq.base);
}

/* Creation */

int
mlx5_cons_create(struct rte_comch_link *link, const struct rte_comch_cons_args *args,
		struct rte_comch_consumer_core *core, struct rte_comch_dq **dq)
{
	struct mlx5_cons *c;
	int ret;

	c = rte_zmalloc_socket("mlx5_cons", sizeof(*c), COMCH_LINE, args->socket_id);
	if (c == NULL)
		return -ENOMEM;
	c->ring = rte_zmalloc_socket("mlx5_recs", args->depth * sizeof(*c->ring), COMCH_LINE,
			args->socket_id);
	if (c->ring == NULL) {
		ret = -ENOMEM;
		goto err_free;
	}
	c->dq.base.ops = &mlx5_data_ops;
	c->dq.base.link = link;
	c->dq.is_cons = true;
	ret = comch_recv_init(&c->rx, &c->dq.base, args);
	if (ret != 0)
		goto err_ring;
	ret = mlx5_channel_open(mlx5_link_of(link)->dev, &c->channel);
	if (ret != 0)
		goto err_fini;
	c->stop_cycles = rte_get_tsc_hz() / 1000 * args->stop_ms;
	core->post = mlx5_recv_post;
	core->recv = mlx5_recv_take;
	core->queue = c;
	*dq = &c->dq.base;
	return 0;

err_fini:
	comch_recv_fini(&c->rx);
err_ring:
	rte_free(c->ring);
err_free:
	rte_free(c);
	return ret;
}

void
mlx5_cons_destroy(struct rte_comch_dq *dq)
{
	struct mlx5_cons *c = cons_of(dq);

	/* It belongs to the device's context, which librdmacm keeps: not to the link. */
	mlx5_channel_put(c->channel);
	comch_recv_fini(&c->rx);
	rte_free(c->ring);
	rte_free(c);
}

/* Start */

/* Number of pieces that may be in flight; 0: the consumer does not need them. */
static uint32_t
window_of(const struct mlx5_cons *c, const struct mlx5_dev *dev, uint32_t staging_size)
{
	uint32_t base = c->rx.depth + MLX5_QP_REPOST;
	uint32_t most = RTE_MIN((uint32_t)dev->attr.max_qp_wr,
			(uint32_t)dev->attr.max_cqe - (c->rx.depth + MLX5_CONS_TX_SPARE));
	uint32_t n = staging_size / (dev->slot - (uint32_t)sizeof(struct comch_rec));

	if (staging_size == 0)
		return 0;
	/* At least two: one is for the record that gives up the message. */
	return RTE_MAX(RTE_MIN(n, most > base ? most - base : 0), UINT32_C(2));
}

static void
leave_list(struct mlx5_cons *c)
{
	struct mlx5_data *data = c->data;

	if (!c->is_listed)
		return;
	pthread_mutex_lock(&data->lock);
	TAILQ_REMOVE(&data->conses, c, next);
	pthread_mutex_unlock(&data->lock);
	c->is_listed = false;
}

static void
withdraw(struct mlx5_cons *c)
{
	leave_list(c);
	mlx5_qp_destroy(&c->qp);
	free(c->note);
	c->note = NULL;
	c->is_bound = c->is_making = false;
}

static void
fill_ticket(const struct mlx5_cons *c, const struct mlx5_link *l, struct rte_comch_ticket *mine)
{
	struct mlx5_qp_ticket t = {
		.magic = MLX5_MAGIC, .version = MLX5_WIRE_VERSION, .mtu = l->path.mtu,
		.qpn = c->qp.qp->qp_num, .psn = c->qp.psn, .slot_size = c->qp.conf.rx_size,
		.nb_slots = c->qp.conf.nb_rx, .nb_pieces = c->window,
	};

	static_assert(sizeof(t) <= RTE_COMCH_TICKET_SIZE, "a ticket holds it");
	memcpy(mine->data, &t, sizeof(t));
	mine->len = sizeof(t);
}

/* Have the queue pair made. */
static int
begin_offer(struct mlx5_cons *c, struct mlx5_link *l, uint32_t staging_size)
{
	withdraw(c);
	c->data = mlx5_data_of(l);
	c->window = window_of(c, l->dev, staging_size);
	return mlx5_qp_begin(&c->qp, l, &(struct mlx5_qp_conf){
		/*
		 * A slot for each position posted and for each piece of the window. Slots
		 * that were read wait to be posted again, at most MLX5_QP_REPOST of them.
		 */
		.nb_rx = c->rx.depth + c->window + MLX5_QP_REPOST, .rx_size = l->dev->slot,
		.nb_tx = c->rx.depth + MLX5_CONS_TX_SPARE, .tx_size = MLX5_POST_SLOT,
		.channel = c->channel, .cq_ctx = c,
	}, NULL);
}

int
mlx5_cons_offer(struct rte_comch_dq *dq, uint32_t staging_size, struct rte_comch_ticket *mine)
{
	struct mlx5_link *l = mlx5_link_of(dq->link);
	struct mlx5_cons *c = cons_of(dq);
	int ret = 0;

	if (!c->is_making)
		ret = begin_offer(c, l, staging_size);
	c->is_making = ret == 0;
	if (ret == 0)
		ret = mlx5_qp_poll_step(&c->qp);
	if (ret == -EINPROGRESS)
		return ret;
	c->is_making = false;
	if (ret != 0)
		return ret == -EMFILE ? ret : -ENOMEM;
	c->note = malloc(sizeof(*c->note));
	if (c->note == NULL) {
		mlx5_qp_destroy(&c->qp);
		return -ENOMEM;
	}
	c->note->id = dq->id;
	fill_ticket(c, l, mine);
	pthread_mutex_lock(&c->data->lock);
	TAILQ_INSERT_TAIL(&c->data->conses, c, next);
	pthread_mutex_unlock(&c->data->lock);
	c->is_listed = true;
	return 0;
}

/* Read the ticket of the sending end. False: it is invalid, which is logged. */
static bool
read_ticket(const struct mlx5_cons *c, const struct rte_comch_ticket *peers,
		struct mlx5_qp_ticket *t)
{
	const char *invalid = mlx5_data_read_ticket(peers, t);

	if (invalid == NULL && t->slot_size < MLX5_POST_SLOT)
		invalid = "slot size";
	if (invalid == NULL && t->nb_slots < c->rx.depth)
		invalid = "number of slots";
	if (invalid != NULL)
		COMCH_LOG_PEER(MLX5_LOG, "connection %u: invalid ticket from peer for our "
			"consumer %u: %s", c->dq.base.link->conn_id, c->dq.base.id, invalid);
	return invalid == NULL;
}

int
mlx5_cons_bind(struct rte_comch_dq *dq, struct rte_comch_ticket *peers)
{
	const struct mlx5_link *l = mlx5_link_of(dq->link);
	struct mlx5_cons *c = cons_of(dq);
	struct mlx5_qp_ticket t;
	int ret;

	if (peers != NULL && !read_ticket(c, peers, &t))
		return -EPROTO;
	if (peers != NULL)
		mlx5_qp_begin_connect(&c->qp, &(struct mlx5_qp_to){
			.path = l->path, .qpn = t.qpn, .psn = t.psn });
	ret = mlx5_qp_poll_step(&c->qp);
	if (ret == -EINPROGRESS)
		return ret;
	if (ret != 0) {
		leave_list(c);
		return ret == -EPROTO ? -EIO : ret;
	}
	mlx5_recv_begin(c);
	c->is_bound = true;
	comch_recv_begin(&c->rx);
	return 0;
}

/* Stop */

static void
tell_halted(struct mlx5_cons *c)
{
	struct rte_comch_link *link = c->dq.base.link;
	struct mlx5_data *data = c->data;

	pthread_mutex_lock(&data->lock);
	if (c->note != NULL) {
		STAILQ_INSERT_TAIL(&data->halted, c->note, next);
		comch_store_relaxed(&data->nb_halted, data->nb_halted + 1);
	}
	c->note = NULL;
	pthread_mutex_unlock(&data->lock);
	comch_link_tell(link, true);
}

void
mlx5_cons_halt(struct rte_comch_dq *dq, enum rte_comch_halt why)
{
	struct mlx5_cons *c = cons_of(dq);
	struct comch_recv *rx = &c->rx;

	if (comch_load_relaxed(&rx->drained) != 0 ||
			comch_load_relaxed(&rx->halt) >= (uint32_t)why)
		return;
	comch_store_relaxed(&c->halt_deadline, rte_rdtsc() + c->stop_cycles);
	/*
	 * Set before the queue pair is in ERR, so that its completions count as flushed.
	 * Model: publish.pml, publish.
	 */
	comch_store_release(&c->is_closing, 1);
	mlx5_qp_error(&c->qp);
	/*
	 * Release: a burst that sees it finds that nothing more is accepted. Model: stop.pml, halt.
	 */
	comch_store_release(&rx->halt, why);
	if (why != RTE_COMCH_HALT_STOP)
		return;
	if (rx->entry_head == rx->entry_tail)
		mlx5_recv_drain_empty(c);
	tell_halted(c);
}

bool
mlx5_cons_drained(const struct rte_comch_dq *dq)
{
	/*
	 * Acquire: pairs with comch_recv_drain(); the queue pair may be destroyed.
	 * Model: leave.pml, left.
	 */
	return comch_load_acquire(&cons_of_const(dq)->rx.drained) != 0;
}

bool
mlx5_cons_retire(struct rte_comch_dq *dq, uint64_t *final)
{
	struct mlx5_cons *c = cons_of(dq);

	*final = c->is_bound ? c->final : 0;
	withdraw(c);
	return true;
}

uint32_t
mlx5_cons_room(const struct rte_comch_dq *dq)
{
	return comch_recv_room(&cons_of_const(dq)->rx);
}

/* Wake-up */

int
mlx5_cons_fd(const struct rte_comch_dq *dq)
{
	return cons_of_const(dq)->channel->ibv->fd;
}

/*
 * An event that was taken keeps its CQ from being destroyed, so all are acknowledged
 * before this returns.
 */
void
mlx5_cons_clear(struct rte_comch_dq *dq)
{
	struct ibv_cq *cq, *last = NULL;
	struct mlx5_cons *c = cons_of(dq);
	unsigned int n = 0;
	void *ctx;

	while (mlx5_verbs->get_cq_event(c->channel->ibv, &cq, &ctx) == 0) {
		if (n > 0 && (cq != last || n == CLEAR_BATCH)) {
			mlx5_verbs->ack_cq_events(last, n);
			n = 0;
		}
		last = cq;
		n++;
	}
	if (n > 0)
		mlx5_verbs->ack_cq_events(last, n);
}

/* Called with the connection's lock: the queue pair exists until drained is told. */
void
mlx5_cons_arm(struct rte_comch_dq *dq)
{
	struct mlx5_cons *c = cons_of(dq);

	if (!c->is_bound || comch_load_acquire(&c->rx.drained) != 0) /* leave.pml, left */
		return;
	if (mlx5_qp_arm(&c->qp) != 0)
		mlx5_link_fault(mlx5_link_of(dq->link), -EIO,
			"the device refuses to notify of completions");
}

bool
mlx5_cons_pending(struct rte_comch_dq *dq)
{
	struct mlx5_cons *c = cons_of(dq);
	bool pending;

	if (comch_recv_has_refusal(&c->rx))
		return true;
	if (comch_load_acquire(&c->rx.drained) != 0) /* leave.pml, left */
		return false;
	if (comch_load_acquire(&c->rx.halt) != RTE_COMCH_HALT_NONE) /* stop.pml, halted */
		return true;
	/* A burst is in progress: it may leave something. */
	if (!mlx5_cons_try_reap(c))
		return true;
	pending = mlx5_recv_has_work(c);
	mlx5_cons_end_reap(c);
	return pending;
}

/* For the control path */

uint32_t
mlx5_cons_needs(struct mlx5_data *data, struct mlx5_need *need, uint32_t n)
{
	struct mlx5_cons *c;
	uint32_t i = 0;
	uint64_t tail;

	TAILQ_FOREACH(c, &data->conses, next) {
		/*
		 * Acquire: pairs with the release in publish(); the posts were sent.
		 * Model: publish.pml, find.
		 */
		tail = c->is_bound ? comch_load_acquire(&c->published) : 0;
		if (tail == c->told_tail || i == n || comch_load_relaxed(&c->is_closing) != 0)
			continue;
		c->told_tail = tail;
		need[i++] = (struct mlx5_need){ .consumer = c->dq.base.id, .tail = tail };
	}
	return i;
}

/*
 * Is a post not completing? A completion that the application has not fetched does not end the
 * link: it may be busy.
 */
void
mlx5_cons_check(struct mlx5_data *data, uint64_t now_ms)
{
	struct mlx5_link *l = data->link;
	struct mlx5_cons *c;
	bool waits;

	TAILQ_FOREACH(c, &data->conses, next) {
		if (!c->is_bound || comch_load_relaxed(&c->is_closing) != 0 ||
				!mlx5_qp_stuck(&c->qp, now_ms, l->dev->dead_ms) ||
				!mlx5_cons_try_reap(c))
			continue;
		waits = mlx5_qp_pending(&c->qp);
		mlx5_cons_end_reap(c);
		if (!waits)
			mlx5_link_down(l, -ETIMEDOUT,
				"peer does not respond: posts of a consumer were not received");
	}
}

void
mlx5_cons_down(struct mlx5_data *data)
{
	struct mlx5_cons *c;

	TAILQ_FOREACH(c, &data->conses, next) {
		/* A queue pair that is not connected yet goes when the consumer is retired. */
		if (!c->is_bound)
			continue;
		comch_store_release(&c->is_closing, 1); /* publish.pml, publish */
		mlx5_qp_error(&c->qp);
	}
}
