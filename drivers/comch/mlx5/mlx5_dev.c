/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Open devices: asynchronous events, and the amount of memory that is pinned.
 *
 * A context belongs to librdmacm, is one per RDMA device and process, and stays open.
 * Several comch devices may use it. Its asynchronous events are read by any link's poll
 * that finds the descriptor readable; the list of all devices leads to the link that an
 * event is for.
 */

#include <errno.h>
#include <time.h>

#include "mlx5_private.h"

static pthread_mutex_t devs_lock = PTHREAD_MUTEX_INITIALIZER;
static TAILQ_HEAD(, mlx5_dev) devs = TAILQ_HEAD_INITIALIZER(devs); /* guarded by devs_lock */

uint64_t
mlx5_dev_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Open */

int
mlx5_device_open(struct mlx5_dev *dev)
{
	int ret = mlx5_open_find(dev);

	if (ret == 0)
		ret = mlx5_event_set_up(dev->ctx->async_fd);
	if (ret != 0)
		return ret;
	TAILQ_INIT(&dev->links);
	TAILQ_INIT(&dev->qps);
	pthread_mutex_init(&dev->lock, NULL);
	mlx5_job_open(dev);
	pthread_mutex_lock(&devs_lock);
	TAILQ_INSERT_TAIL(&devs, dev, next);
	pthread_mutex_unlock(&devs_lock);
	return 0;
}

void
mlx5_device_close(struct mlx5_dev *dev)
{
	pthread_mutex_lock(&devs_lock);
	TAILQ_REMOVE(&devs, dev, next);
	pthread_mutex_unlock(&devs_lock);
	mlx5_job_close(dev);
	pthread_mutex_destroy(&dev->lock);
}

/* The process exits: see mlx5_job.h. */
RTE_FINI(mlx5_dev_exit)
{
	struct mlx5_dev *dev;

	TAILQ_FOREACH(dev, &devs, next)
		comch_worker_abandon(&dev->worker);
}

/* Asynchronous events */

void
mlx5_dev_add_link(struct mlx5_dev *dev, struct mlx5_link *l)
{
	pthread_mutex_lock(&dev->lock);
	TAILQ_INSERT_TAIL(&dev->links, l, next);
	pthread_mutex_unlock(&dev->lock);
}

void
mlx5_dev_del_link(struct mlx5_dev *dev, struct mlx5_link *l)
{
	pthread_mutex_lock(&dev->lock);
	TAILQ_REMOVE(&dev->links, l, next);
	pthread_mutex_unlock(&dev->lock);
}

/* What an event means for the links that it is about. error 0: nothing. */
struct event_action {
	int error;
	const char *text;
	const struct ibv_pd *pd;  /* the link with this protection domain */
	const struct ibv_cq *cq;  /* the link that this completion queue is of */
	uint8_t port;             /* the links of this port; 0: of all */
};

static struct event_action
classify(const struct ibv_async_event *e)
{
	switch (e->event_type) {
	case IBV_EVENT_QP_FATAL:
		return (struct event_action){ .error = -EIO, .pd = e->element.qp->pd,
			.text = "the device reports a fatal error of a queue pair" };
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		return (struct event_action){ .error = -EPROTO, .pd = e->element.qp->pd,
			.text = "the device refused an invalid request of the peer" };
	case IBV_EVENT_PATH_MIG_ERR:
		return (struct event_action){ .error = -EIO, .pd = e->element.qp->pd,
			.text = "the device cannot use the path to the peer any more" };
	case IBV_EVENT_CQ_ERR:
		return (struct event_action){ .error = -EIO, .cq = e->element.cq,
			.text = "the device reports an error of a completion queue" };
	case IBV_EVENT_PORT_ERR:
		return (struct event_action){ .error = -ENETDOWN,
			.port = (uint8_t)e->element.port_num,
			.text = "the device's port went down" };
	case IBV_EVENT_DEVICE_FATAL:
		return (struct event_action){ .error = -ENODEV,
			.text = "the device failed or was removed" };
	default:
		return (struct event_action){ .error = 0 };
	}
}

static bool
is_about(const struct event_action *action, const struct mlx5_dev *dev, const struct mlx5_link *l)
{
	if (action->cq != NULL || action->pd != NULL)
		return action->pd != NULL && l->event_pd == action->pd;
	return action->port == 0 || action->port == dev->port;
}

/* A completion queue has one queue pair: the control one of a link, or one of its data. */
static const struct ibv_pd *
pd_of_cq(const struct mlx5_dev *dev, const struct ibv_cq *cq)
{
	const struct mlx5_qp *qp;

	TAILQ_FOREACH(qp, &dev->qps, next)
		if (qp->cq == cq)
			return qp->pd;
	return NULL;
}

/* The event is not acknowledged yet, so its completion queue or queue pair exists. */
static void
deliver(const struct ibv_context *ctx, struct event_action *action)
{
	struct mlx5_link *l;
	struct mlx5_dev *dev;

	pthread_mutex_lock(&devs_lock);
	TAILQ_FOREACH(dev, &devs, next) {
		if (dev->ctx != ctx)
			continue;
		pthread_mutex_lock(&dev->lock);
		if (action->cq != NULL)
			action->pd = pd_of_cq(dev, action->cq);
		TAILQ_FOREACH(l, &dev->links, next)
			if (is_about(action, dev, l))
				mlx5_link_fault(l, action->error, action->text);
		pthread_mutex_unlock(&dev->lock);
	}
	pthread_mutex_unlock(&devs_lock);
}

void
mlx5_dev_events(struct mlx5_dev *dev)
{
	struct ibv_async_event event;
	struct event_action action;

	while (mlx5_verbs->get_async_event(dev->ctx, &event) == 0) {
		action = classify(&event);
		if (action.error != 0) {
			MLX5_LOG(WARNING, "device %s: asynchronous event %d of %s: %s",
				dev->dev->info.name, (int)event.event_type, dev->ibdev,
				action.text);
			deliver(dev->ctx, &action);
		}
		mlx5_verbs->ack_async_event(&event);
	}
}

/* Pinned memory */

int
mlx5_dev_pin(struct mlx5_dev *dev, uint64_t len)
{
	uint64_t pinned = atomic_load_explicit(&dev->pinned, memory_order_relaxed);

	do {
		if (len > dev->max_pinned || pinned > dev->max_pinned - len) {
			MLX5_LOG(WARNING, "device %s: %llu bytes refused: %llu of max_pinned=%llu "
				"are registered", dev->dev->info.name, (unsigned long long)len,
				(unsigned long long)pinned, (unsigned long long)dev->max_pinned);
			return -EDQUOT;
		}
	} while (!atomic_compare_exchange_weak_explicit(&dev->pinned, &pinned, pinned + len,
			memory_order_relaxed, memory_order_relaxed));
	return 0;
}

void
mlx5_dev_unpin(struct mlx5_dev *dev, uint64_t len)
{
	atomic_fetch_sub_explicit(&dev->pinned, len, memory_order_relaxed);
}
