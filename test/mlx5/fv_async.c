/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Asynchronous events of devices, and those that tests inject. */

#include "fv_private.h"

static bool
is_of_qp(enum ibv_event_type type)
{
	return type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_QP_REQ_ERR ||
			type == IBV_EVENT_QP_ACCESS_ERR || type == IBV_EVENT_COMM_EST ||
			type == IBV_EVENT_SQ_DRAINED || type == IBV_EVENT_PATH_MIG ||
			type == IBV_EVENT_PATH_MIG_ERR ||
			type == IBV_EVENT_QP_LAST_WQE_REACHED;
}

void
fv_async_put(struct fv_dev *dev, enum ibv_event_type type, void *obj)
{
	struct fv_async_ev *ev = calloc(1, sizeof(*ev));

	if (ev == NULL)
		FV_DIE("out of memory");
	ev->ibv.event_type = type;
	if (is_of_qp(type))
		ev->ibv.element.qp = obj;
	else if (type == IBV_EVENT_CQ_ERR)
		ev->ibv.element.cq = obj;
	else
		ev->ibv.element.port_num = 1;
	fv_evq_put(&dev->async, &ev->ev);
}

void
fv_async_drop(struct fv_dev *dev, const void *obj)
{
	struct fv_ev *e, *tmp;

	FV_FOREACH_SAFE(e, &dev->async.list, next, tmp) {
		struct fv_async_ev *ev = FV_OF(e, struct fv_async_ev, ev);
		enum ibv_event_type type = ev->ibv.event_type;

		if (obj != NULL && !(is_of_qp(type) && ev->ibv.element.qp == obj) &&
				!(type == IBV_EVENT_CQ_ERR && ev->ibv.element.cq == obj))
			continue;
		fv_evq_remove(&dev->async, e);
		free(ev);
	}
}

/* Which counts those of an object that are not acknowledged; NULL: none does. */
static unsigned int *
unacked_of(const struct ibv_async_event *event)
{
	if (is_of_qp(event->event_type))
		return &fv_qp_of(event->element.qp)->unacked_async;
	if (event->event_type == IBV_EVENT_CQ_ERR)
		return &fv_cq_of(event->element.cq)->unacked_async;
	return NULL;
}

int
fv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *event)
{
	struct fv_dev *dev = fv_dev_of(ctx);
	struct fv_async_ev *ev;
	unsigned int *unacked;
	struct fv_ev *e;

	fv_lock();
	e = fv_evq_take(&dev->async);
	if (e == NULL) {
		fv_unlock();
		return -1;
	}
	ev = FV_OF(e, struct fv_async_ev, ev);
	*event = ev->ibv;
	free(ev);
	unacked = unacked_of(event);
	if (unacked != NULL)
		(*unacked)++;
	fv_unlock();
	return 0;
}

void
fv_ack_async_event(struct ibv_async_event *event)
{
	unsigned int *unacked;

	fv_lock();
	if (is_of_qp(event->event_type))
		FV_CHECK(fv_qp_of(event->element.qp), FV_QP);
	unacked = unacked_of(event);
	if (unacked != NULL && (*unacked)-- == 0)
		FV_DIE("an event of type %d was acknowledged twice", event->event_type);
	fv_unlock();
}

void
fv_event_qp(struct ibv_qp *qp, enum ibv_event_type type)
{
	fv_lock();
	if (!is_of_qp(type))
		FV_DIE("%d is not an event of a queue pair", type);
	fv_async_put(fv_dev_of(qp->context), type, qp);
	if (type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_QP_ACCESS_ERR ||
			type == IBV_EVENT_QP_REQ_ERR)
		fv_qp_error(fv_qp_of(qp));
	fv_wire_run();
	fv_unlock();
}

void
fv_event_cq(struct ibv_cq *cq)
{
	fv_lock();
	fv_cq_break(fv_cq_of(cq));
	fv_wire_run();
	fv_unlock();
}

void
fv_event_port(const char *name, enum ibv_event_type type)
{
	struct fv_dev *dev;

	fv_lock();
	dev = fv_dev_find(name);
	if (type == IBV_EVENT_PORT_ERR)
		dev->port_down = true;
	if (type == IBV_EVENT_PORT_ACTIVE)
		dev->port_down = false;
	fv_async_put(dev, type, NULL);
	fv_wire_run();
	fv_unlock();
}

void
fv_event_dev(const char *name)
{
	struct fv_dev *dev;

	fv_lock();
	dev = fv_dev_find(name);
	dev->dead = true;
	fv_async_put(dev, IBV_EVENT_DEVICE_FATAL, NULL);
	fv_unlock();
}

void
fv_remove_dev(const char *name)
{
	struct fv_dev *dev;
	struct fv_id *id;

	fv_lock();
	dev = fv_dev_find(name);
	dev->dead = true;
	TAILQ_FOREACH(id, &fv.ids, next)
		if (id->dev == dev)
			fv_cm_event_put(fv_cm_event(id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0));
	fv_unlock();
}

void
fv_kill(const char *name, bool kernel_lives)
{
	struct fv_dev *dev;
	struct fv_id *id;

	fv_lock();
	dev = fv_dev_find(name);
	TAILQ_FOREACH(id, &fv.ids, next) {
		if (id->dev != dev)
			continue;
		if (kernel_lives)
			fv_conn_destroy(id);
		id->state = FV_ID_OVER;
	}
	dev->dead = true;
	dev->kernel_lives = kernel_lives;
	fv_async_put(dev, IBV_EVENT_DEVICE_FATAL, NULL);
	fv_wire_run();
	fv_unlock();
}

void
fv_revive(const char *name)
{
	const struct fv_id *id;
	struct fv_dev *dev;

	fv_lock();
	dev = fv_dev_find(name);
	TAILQ_FOREACH(id, &fv.ids, next)
		if (id->dev == dev)
			FV_DIE("device %s: an id of its last user is left", name);
	if (dev->nb_pd > 0 || dev->nb_mr > 0 || dev->nb_cq > 0 || dev->nb_qp > 0)
		FV_DIE("device %s: %d protection domains, %d memory regions, %d completion "
				"queues, %d queue pairs of its last user are left", name,
				dev->nb_pd, dev->nb_mr, dev->nb_cq, dev->nb_qp);
	fv_async_drop(dev, NULL);
	dev->dead = false;
	dev->kernel_lives = false;
	fv_unlock();
}
