/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Producers: creation, stop and sleep. mlx5_send.c has their bursts.
 *
 * Sleeping: completions of all remotes of a link are reported in one channel, and its
 * events can be taken once. A producer's descriptor is an epoll set of the channel and
 * an event descriptor of its own. The producer that takes events from the channel also
 * takes the other producers' requests for them, so it wakes those that are armed.
 */

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_malloc.h>

#include "mlx5_send.h"

/* Events taken from the channel by one call. */
#define CLEAR_MAX 1024

pthread_mutex_t mlx5_prods_lock = PTHREAD_MUTEX_INITIALIZER;

static struct mlx5_prod *
prod_of(const struct rte_comch_dq *dq)
{
	return (struct mlx5_prod *)(uintptr_t)container_of(dq, const struct mlx5_prod, dq.base);
}

static struct mlx5_data *
data_of(const struct mlx5_prod *p)
{
	return mlx5_data_of(mlx5_link_of(p->dq.base.link));
}

/* Acquire: pairs with the release in land(). */
static uint32_t
in_flight(const struct mlx5_prod *p)
{
	return comch_load_acquire(&p->in_flight); /* done.pml, landed */
}

/* Channel */

int
mlx5_prod_open_channel(struct mlx5_data *data)
{
	int ret = 0;

	pthread_mutex_lock(&data->lock);
	if (data->prod_comp == NULL)
		ret = mlx5_channel_open(data->link->dev, &data->prod_comp);
	pthread_mutex_unlock(&data->lock);
	return ret;
}

void
mlx5_prod_close(struct mlx5_data *data)
{
	struct mlx5_prod *p;

	pthread_mutex_lock(&mlx5_prods_lock);
	while ((p = TAILQ_FIRST(&data->prods)) != NULL) {
		TAILQ_REMOVE(&data->prods, p, next);
		p->data = NULL;
	}
	mlx5_channel_put(data->prod_comp);
	data->prod_comp = NULL;
	pthread_mutex_unlock(&mlx5_prods_lock);
}

/* Creation */

static int
watch(int epfd, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event);
}

static int
open_fds(struct mlx5_prod *p, struct mlx5_data *data)
{
	p->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->event_fd < 0)
		return -EMFILE;
	p->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (p->epfd < 0)
		goto err_event;
	if (watch(p->epfd, p->event_fd) != 0 || watch(p->epfd, data->prod_comp->ibv->fd) != 0)
		goto err_epoll;
	return 0;

err_epoll:
	close(p->epfd);
err_event:
	close(p->event_fd);
	return -EMFILE;
}

int
mlx5_prod_create(struct rte_comch_link *link, const struct rte_comch_prod_args *args,
		struct rte_comch_producer_core *core, struct rte_comch_dq **dq)
{
	struct mlx5_data *data = mlx5_data_of(mlx5_link_of(link));
	struct mlx5_prod *p;
	int ret;

	ret = mlx5_prod_open_channel(data);
	if (ret != 0)
		return ret;
	p = rte_zmalloc_socket("mlx5_prod", sizeof(*p), COMCH_LINE, args->socket_id);
	if (p == NULL)
		return -ENOMEM;
	p->dq.base.ops = &mlx5_data_ops;
	p->dq.base.link = link;
	ret = comch_send_init(&p->tx, &p->dq.base, args);
	if (ret != 0)
		goto err_free;
	ret = open_fds(p, data);
	if (ret != 0)
		goto err_rings;
	pthread_mutex_lock(&mlx5_prods_lock);
	p->data = data;
	TAILQ_INSERT_TAIL(&data->prods, p, next);
	pthread_mutex_unlock(&mlx5_prods_lock);
	core->send = mlx5_prod_send;
	core->done = mlx5_prod_done;
	core->queue = p;
	*dq = &p->dq.base;
	return 0;

err_rings:
	comch_send_fini(&p->tx);
err_free:
	rte_free(p);
	return ret;
}

void
mlx5_prod_destroy(struct rte_comch_dq *dq)
{
	struct mlx5_prod *p = prod_of(dq);

	pthread_mutex_lock(&mlx5_prods_lock);
	if (p->data != NULL)
		TAILQ_REMOVE(&p->data->prods, p, next);
	pthread_mutex_unlock(&mlx5_prods_lock);
	close(p->epfd);
	close(p->event_fd);
	comch_send_fini(&p->tx);
	rte_free(p);
}

void
mlx5_prod_begin(struct rte_comch_dq *dq, uint32_t id)
{
	struct mlx5_prod *p = prod_of(dq);

	p->tx.id = id;
	p->tx.ahead.id = 0;
	/* Pairs with comch_send_burst(). Model: publish.pml, publish. */
	comch_store_release(&p->tx.halt, RTE_COMCH_HALT_NONE);
}

/* The peer learns of a producer by its messages. */
bool
mlx5_prod_offer(struct rte_comch_dq *dq __rte_unused, struct rte_comch_ticket *mine __rte_unused)
{
	return false;
}

struct comch_epoch *
mlx5_prod_epoch(struct rte_comch_dq *dq)
{
	return &prod_of(dq)->tx.epoch;
}

/* Stop */

/* What to do with a remote that has messages in flight; called with its lock held. */
typedef void (*visit_t)(struct mlx5_remote *r, struct mlx5_prod *p);

static void
visit_remotes(struct mlx5_prod *p, visit_t visit)
{
	struct mlx5_data *data = data_of(p);
	struct mlx5_remote *r;

	pthread_mutex_lock(&data->lock);
	TAILQ_FOREACH(r, &data->remotes, next) {
		mlx5_remote_lock(r);
		if (r->completed != r->claim)
			visit(r, p);
		mlx5_remote_unlock(r);
	}
	pthread_mutex_unlock(&data->lock);
}

/* Silent messages complete with a later one, and now none may follow. */
static void
visit_reap(struct mlx5_remote *r, struct mlx5_prod *p __rte_unused)
{
	mlx5_remote_reap(r);
	mlx5_remote_sync(r);
}

static void
visit_sum(struct mlx5_remote *r, struct mlx5_prod *p)
{
	p->watch_sum += r->completed + r->qp.tx_head + r->taken;
}

static void
visit_kill(struct mlx5_remote *r, struct mlx5_prod *p __rte_unused)
{
	mlx5_remote_kill(r);
}

/* Messages to a consumer that has stopped wait for the peer's application. */
static void
visit_give_up(struct mlx5_remote *r, struct mlx5_prod *p)
{
	p->gives_up |= mlx5_remote_give_up(r, p);
}

void
mlx5_prod_halt(struct rte_comch_dq *dq, enum rte_comch_halt why)
{
	struct mlx5_prod *p = prod_of(dq);

	/* Release: pairs with the acquires of halt in bursts. Model: publish.pml, publish. */
	comch_store_release(&p->tx.halt, why);
	if (in_flight(p) == 0)
		return;
	if (why == RTE_COMCH_HALT_DOWN) {
		mlx5_remote_down(data_of(p));
		return;
	}
	p->watch_ms = p->give_up_ms = mlx5_dev_now_ms();
	p->watch_sum = 0;
	visit_remotes(p, visit_sum);
}

bool
mlx5_prod_idle(const struct rte_comch_dq *dq)
{
	struct mlx5_prod *p = prod_of(dq);

	if (in_flight(p) == 0)
		return true;
	visit_remotes(p, visit_reap);
	return in_flight(p) == 0;
}

/*
 * Abort the message of a consumer that takes no more pieces. Other sends only wait for the
 * device.
 */
static bool
abort_stream(struct mlx5_prod *p, int err)
{
	/* Pairs with stream_end(). Model: publish.pml, find. */
	uint32_t id = comch_load_acquire(&p->stream_id);
	struct mlx5_data *data = data_of(p);
	struct mlx5_remote *r;
	bool aborted = false;

	if (id == 0)
		return false;
	pthread_mutex_lock(&data->lock);
	TAILQ_FOREACH(r, &data->remotes, next) {
		if (r->to.base.id != id)
			continue;
		mlx5_remote_lock(r);
		aborted |= !r->is_killed && mlx5_stream_abort(r, p, err);
		mlx5_remote_unlock(r);
	}
	pthread_mutex_unlock(&data->lock);
	return aborted;
}

/* Has anything moved since the last call? 1 GiB may take minutes. */
static bool
has_progress(struct mlx5_prod *p, uint64_t now_ms)
{
	uint64_t old = p->watch_sum;

	p->watch_sum = 0;
	visit_remotes(p, visit_sum);
	if (p->watch_sum == old)
		return false;
	p->watch_ms = p->give_up_ms = now_ms;
	return true;
}

/*
 * A stop takes too long. What the peer's application holds is given up; what the device
 * holds may be a large write on a slow line, and gets the time that any work request has.
 */
static void
abort_stalled(struct mlx5_prod *p, int err)
{
	struct mlx5_link *l = data_of(p)->link;
	uint64_t now_ms = mlx5_dev_now_ms();

	if (has_progress(p, now_ms) || now_ms - p->give_up_ms < MLX5_STALL_MS)
		return;
	p->give_up_ms = now_ms;
	p->abort_err = err;
	p->gives_up = false;
	visit_remotes(p, visit_give_up);
	if (!p->gives_up && !abort_stream(p, err) && now_ms - p->watch_ms >= l->dev->dead_ms)
		mlx5_link_fault(l, -ETIMEDOUT,
			"messages of a stopped producer did not complete in time");
}

bool
mlx5_prod_abort(struct rte_comch_dq *dq, int err)
{
	struct mlx5_prod *p = prod_of(dq);

	if (in_flight(p) == 0)
		return true;
	/* Pairs with mlx5_prod_halt(). Model: publish.pml, find. */
	if (comch_load_acquire(&p->tx.halt) == RTE_COMCH_HALT_DOWN)
		visit_remotes(p, visit_kill);
	else
		abort_stalled(p, err);
	return mlx5_prod_idle(dq);
}

/*
 * Sleep. p->armed is like a word of comch_armed.h within a process, but in the order of
 * requests to the device: set before them, and taken after their events.
 */

static void
wake(struct mlx5_prod *p)
{
	const uint64_t one = 1;

	/*
	 * EAGAIN: the counter is full, so the descriptor is readable anyway.
	 * Model: sleepers.pml, forward.
	 */
	if (__atomic_exchange_n(&p->armed, 0, __ATOMIC_SEQ_CST) != 0 &&
			write(p->event_fd, &one, sizeof(one)) < 0)
		return;
}

void
mlx5_prod_wake_all(struct mlx5_data *data)
{
	struct mlx5_prod *p;

	pthread_mutex_lock(&mlx5_prods_lock);
	TAILQ_FOREACH(p, &data->prods, next)
		wake(p);
	pthread_mutex_unlock(&mlx5_prods_lock);
}

bool
mlx5_prod_any_armed(struct mlx5_data *data)
{
	const struct mlx5_prod *p;
	bool any = false;

	pthread_mutex_lock(&mlx5_prods_lock);
	TAILQ_FOREACH(p, &data->prods, next)
		any |= comch_load_relaxed(&p->armed) != 0;
	pthread_mutex_unlock(&mlx5_prods_lock);
	return any;
}

int
mlx5_prod_fd(const struct rte_comch_dq *dq)
{
	return prod_of(dq)->epfd;
}

/* Take the events of the channel. Returns whether there were any. */
static bool
take_events(struct mlx5_data *data)
{
	struct ibv_cq *cq;
	uint32_t i;
	void *ctx;

	/* The helper's destruction of a CQ waits for events that are not acknowledged. */
	pthread_mutex_lock(&data->lock);
	for (i = 0; i < CLEAR_MAX; i++) {
		if (mlx5_verbs->get_cq_event(data->prod_comp->ibv, &cq, &ctx) != 0)
			break;
		mlx5_verbs->ack_cq_events(cq, 1);
	}
	pthread_mutex_unlock(&data->lock);
	return i > 0;
}

void
mlx5_prod_clear(struct rte_comch_dq *dq)
{
	struct mlx5_prod *other, *p = prod_of(dq);
	uint64_t counter;

	__atomic_store_n(&p->armed, 0, __ATOMIC_SEQ_CST); /* No model: a late 0 costs a wake-up */
	if (read(p->event_fd, &counter, sizeof(counter)) < 0)
		counter = 0; /* it was the channel */
	pthread_mutex_lock(&mlx5_prods_lock);
	if (p->data != NULL && take_events(p->data))
		TAILQ_FOREACH(other, &p->data->prods, next)
			if (other != p)
				wake(other);
	pthread_mutex_unlock(&mlx5_prods_lock);
}

/* Does a producer wait for a remote? */
static bool
waits_for(const struct mlx5_prod *p, const struct mlx5_remote *r)
{
	return (r->completed != r->claim && in_flight(p) > 0) || r->to.base.id == p->tx.short_id;
}

void
mlx5_prod_arm(struct rte_comch_dq *dq)
{
	struct mlx5_prod *p = prod_of(dq);
	struct mlx5_data *data = data_of(p);
	struct mlx5_remote *r;

	p->arm_failed = false;
	/*
	 * Before the requests: the thread that takes their events sees it.
	 * Model: sleepers.pml, arm.
	 */
	__atomic_store_n(&p->armed, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_lock(&data->lock);
	TAILQ_FOREACH(r, &data->remotes, next) {
		if (!mlx5_remote_trylock(r)) {
			p->arm_failed = true;
			continue;
		}
		if (waits_for(p, r) && !r->is_killed && mlx5_qp_arm(&r->qp) != 0)
			p->arm_failed = true;
		mlx5_remote_unlock(r);
	}
	pthread_mutex_unlock(&data->lock);
}

/* Would a send to the consumer of the last short send make progress? */
static bool
can_continue(const struct mlx5_prod *p, struct mlx5_remote *r)
{
	if (comch_load_relaxed(&r->peer_halted))
		return true;
	if (mlx5_remote_is_err(r) || r->stream.prod != NULL ||
			r->claim - r->completed >= r->to.base.depth || mlx5_qp_tx_room(&r->qp) < 2)
		return false;
	/* Pairs with stream_end(). Model: publish.pml, find. */
	if (p->short_for_stream && comch_load_acquire(&p->stream_id) != 0)
		return false;
	return comch_send_posted(&r->to, r->claim, 1) != 0;
}

/* Handle what has arrived at a remote. True: a burst would find work. */
static bool
check_remote(struct mlx5_prod *p, struct mlx5_remote *r)
{
	if (!mlx5_remote_trylock(r))
		return true;
	mlx5_remote_reap(r);
	if ((!r->is_killed && mlx5_qp_pending(&r->qp)) ||
			(r->to.base.id == p->tx.short_id && can_continue(p, r))) {
		mlx5_remote_unlock(r);
		return true;
	}
	mlx5_remote_unlock(r);
	return false;
}

bool
mlx5_prod_pending(struct rte_comch_dq *dq)
{
	struct mlx5_prod *p = prod_of(dq);
	struct mlx5_data *data = data_of(p);
	bool pending, found = p->tx.short_id == 0;
	struct mlx5_remote *r;

	pending = p->arm_failed || comch_done_closed(&p->tx.done, 1) > 0;
	if (pending || (found && in_flight(p) == 0))
		return pending;
	pthread_mutex_lock(&data->lock);
	TAILQ_FOREACH(r, &data->remotes, next) {
		found |= r->to.base.id == p->tx.short_id && !comch_load_relaxed(&r->is_retired);
		pending |= check_remote(p, r);
	}
	pthread_mutex_unlock(&data->lock);
	/* Without its consumer the short send completes, with -ENOENT. */
	return pending || !found || comch_done_closed(&p->tx.done, 1) > 0;
}
