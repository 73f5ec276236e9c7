/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The life of a link.
 *
 * A link owns an event channel of the connection manager with one id, a protection
 * domain, a completion channel and the control queue pair. All of it belongs to the
 * connection's thread. Other threads only call mlx5_link_fault(), which leaves a note
 * and has link_poll called.
 *
 * CONNECTING   mlx5_dial.c, or a request: mlx5_cm.c; the helper thread makes ctrl
 * UP           frames both ways
 * (ending)     ctrl is in ERR: what was received before still comes, then the other
 *              slots as flushed. Then the link is DOWN.
 * DOWN         received frames can be read
 * shut down    the helper thread destroys id, channel and queue pair; the protection
 *              domain stays for the memory and queue pairs of the fast path
 * closed       the helper thread frees it, after all that refers to it: mlx5_job.h
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "sdk/comch_compat.h"
#include "mlx5_private.h"

/* Ticks within dead_ms. A silent link is probed after two, and stuck after four. */
#define TICKS 8
#define QUIET_TICKS 2
#define STUCK_TICKS 4
/* How long an ending link waits for its slots. */
#define END_MS 1000
#define END_TICK_MS 10
/* A tick of a link that connects. */
#define DIAL_TICK_MS 250
/* Events of a completion channel that are acknowledged at a time. */
#define ACK_EVENTS 1000
/* Send work requests beside those that the peer's slots allow: probes. */
#define SPARE_SENDS 8

static uint32_t
tick_ms(const struct mlx5_link *l)
{
	if (l->base.state == RTE_COMCH_LINK_CONNECTING)
		return DIAL_TICK_MS;
	return l->is_ending ? END_TICK_MS : l->dev->dead_ms / TICKS;
}

static uint64_t
ms_to_cycles(uint64_t ms)
{
	return ms * rte_get_tsc_hz() / 1000;
}

/* Time */

static int
watch(struct mlx5_link *l, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(l->epfd, EPOLL_CTL_ADD, fd, &ev) == 0 ? 0 : -errno;
}

/* A sleeping link needs a run for its next tick. */
static void
set_timer(struct mlx5_link *l)
{
	/* Failures wake by themselves: once the link is quiet is often enough. */
	const uint64_t ns = (uint64_t)tick_ms(l) * (l->is_ending ? 1 : QUIET_TICKS) * 1000000;
	const struct itimerspec in = { .it_value = {
		.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000),
	} };

	if (l->timer_fd < 0) {
		l->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
		if (l->timer_fd < 0 || watch(l, l->timer_fd) != 0)
			return;
	}
	l->is_timer_set = timerfd_settime(l->timer_fd, 0, &in, NULL) == 0;
}

/* Creation */

/* The descriptors: cm, comp, epfd. */
static int
open_fds(struct mlx5_link *l)
{
	int ret;

	l->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epfd < 0)
		return -errno;
	ret = mlx5_event_open_cm(&l->cm);
	if (ret == 0)
		ret = mlx5_channel_open(l->dev, &l->comp);
	if (ret == 0)
		mlx5_fd_add(&l->fds, l->cm->fd, l->dev->ctx->cmd_fd);
	if (ret == 0)
		ret = watch(l, l->cm->fd);
	if (ret == 0)
		ret = watch(l, l->comp->ibv->fd);
	if (ret == 0 && l->dev->ctx->async_fd >= 0)
		ret = watch(l, l->dev->ctx->async_fd);
	return ret;
}

static void
close_fds(struct mlx5_link *l)
{
	mlx5_fd_del(&l->fds);
	if (l->timer_fd >= 0)
		close(l->timer_fd);
	if (l->epfd >= 0)
		close(l->epfd);
	mlx5_channel_put(l->comp);
	l->timer_fd = l->epfd = -1;
	l->comp = NULL;
}

/* The helper has done all that came before: nothing refers to the link any more. */
static void
end_link(struct mlx5_job *job)
{
	struct mlx5_link *l = container_of(job, struct mlx5_link, job);

	if (l->pd != NULL && mlx5_verbs->dealloc_pd(l->pd) != 0)
		MLX5_LOG(ERR, "device %s: connection %u: its protection domain is in use",
			l->dev->dev->info.name, l->base.conn_id);
	mlx5_frame_destroy(l);
	free(l);
}

int
mlx5_link_create(struct mlx5_dev *dev, struct mlx5_link **link)
{
	struct mlx5_link *l = calloc(1, sizeof(*l));
	int ret;

	if (l == NULL)
		return -ENOMEM;
	l->base.ops = dev->dev->ops;
	l->base.dev = dev->dev;
	l->base.state = RTE_COMCH_LINK_CONNECTING;
	l->dev = dev;
	l->epfd = l->timer_fd = -1;
	mlx5_job_init(&l->job, dev, NULL, end_link);
	mlx5_dev_add_link(dev, l);
	ret = open_fds(l);
	if (ret == 0)
		ret = mlx5_frame_create(l);
	if (ret != 0) {
		mlx5_link_close(&l->base);
		return ret;
	}
	*link = l;
	return 0;
}

/* What mlx5_dev_events() compares, in another link's thread. */
static void
set_event_source(struct mlx5_link *l)
{
	pthread_mutex_lock(&l->dev->lock);
	l->event_pd = l->pd;
	pthread_mutex_unlock(&l->dev->lock);
}

int
mlx5_link_open(struct mlx5_link *l, void (*opened)(struct mlx5_link *l, int ret))
{
	const struct mlx5_dev *dev = l->dev;
	const struct mlx5_qp_conf conf = {
		.nb_rx = dev->nb_slots, .rx_size = dev->slot,
		/* Completions of sends may come after the slots that the peer returns. */
		.nb_tx = 2 * dev->nb_slots + SPARE_SENDS, .tx_size = dev->slot,
		.channel = l->comp, .cq_ctx = l,
	};
	int ret;

	if (l->pd == NULL)
		l->pd = mlx5_verbs->alloc_pd(dev->ctx);
	if (l->pd == NULL)
		return -errno;
	ret = mlx5_qp_begin(&l->ctrl, l, &conf, NULL);
	if (ret != 0)
		return ret;
	l->opened = opened;
	l->is_opening = true;
	/* The first call of link_poll makes news possible. */
	l->base.try_again = true;
	return 0;
}

/* Has the helper made ctrl? */
static void
open_step(struct mlx5_link *l)
{
	int ret = mlx5_qp_poll_step(&l->ctrl);

	if (ret == -EINPROGRESS)
		return;
	l->is_opening = false;
	if (ret == 0) {
		l->is_open = true;
		set_event_source(l);
	}
	l->opened(l, ret);
}

static void
read_async(struct mlx5_link *l)
{
	if (!l->base.try_again)
		return;
	l->base.try_again = false;
	mlx5_job_read_async(l, true);
}

void
mlx5_link_close_qp(struct mlx5_link *l)
{
	if (!l->is_open && !l->is_opening)
		return;
	mlx5_frame_forget(l);
	l->is_open = l->is_opening = l->is_flushed = false;
	mlx5_qp_destroy(&l->ctrl);
}

/* Its end */

static void
go_down(struct mlx5_link *l, int error, const char *text)
{
	if (l->base.state == RTE_COMCH_LINK_DOWN)
		return;
	l->base.state = RTE_COMCH_LINK_DOWN;
	l->base.error = error;
	l->base.text = text;
	mlx5_data_down(l);
	comch_link_tell(&l->base, true);
}

void
mlx5_link_up(struct mlx5_link *l)
{
	if (l->base.state != RTE_COMCH_LINK_CONNECTING)
		return;
	l->quiet_ms = mlx5_dev_now_ms();
	l->base.state = RTE_COMCH_LINK_UP;
	if (l->is_timer_set)
		set_timer(l);
}

void
mlx5_link_down_now(struct mlx5_link *l, int error, const char *text)
{
	if (l->is_open)
		mlx5_qp_error(&l->ctrl);
	/* The first reason is kept. */
	if (l->is_ending)
		go_down(l, l->end_error, l->end_text);
	else
		go_down(l, error, text);
}

void
mlx5_link_down(struct mlx5_link *l, int error, const char *text)
{
	if (l->base.state == RTE_COMCH_LINK_DOWN || l->is_ending)
		return;
	if (l->base.state == RTE_COMCH_LINK_CONNECTING) {
		mlx5_link_down_now(l, error, text);
		return;
	}
	l->is_ending = true;
	l->end_error = error;
	l->end_text = text;
	l->end_ms = mlx5_dev_now_ms() + END_MS;
	l->next_tick = 0;
	mlx5_qp_error(&l->ctrl);
	set_timer(l);
	comch_link_tell(&l->base, true);
}

static void
down_by_status(struct mlx5_link *l)
{
	mlx5_link_down(l, mlx5_qp_status_errno(l->ctrl.status),
		mlx5_qp_status_text(l->ctrl.status));
}

void
mlx5_link_failed(struct mlx5_link *l)
{
	if (l->ctrl.status != IBV_WC_WR_FLUSH_ERR) {
		down_by_status(l);
		return;
	}
	/* Flushed by the device: an event says why, and link_poll reads it. */
	if (!l->is_flushed && !l->is_ending)
		comch_link_tell(&l->base, true);
	l->is_flushed = true;
}

void
mlx5_link_end_step(struct mlx5_link *l)
{
	if (!l->is_ending || l->base.state == RTE_COMCH_LINK_DOWN)
		return;
	if (mlx5_frame_slots_out(l) == 0 || mlx5_dev_now_ms() >= l->end_ms)
		go_down(l, l->end_error, l->end_text);
}

void
mlx5_link_fault(struct mlx5_link *l, int error, const char *text)
{
	const char *none = NULL;

	if (!atomic_compare_exchange_strong_explicit(&l->fault_text, &none, text,
			memory_order_relaxed, memory_order_relaxed))
		return;
	/* Release: pairs with the acquire in take_fault(). Model: publish.pml, publish. */
	atomic_store_explicit(&l->fault, error, memory_order_release);
	comch_link_tell(&l->base, true);
}

static void
take_fault(struct mlx5_link *l)
{
	/*
	 * Acquire: pairs with the release in mlx5_link_fault(); the text is set.
	 * Model: publish.pml, find.
	 */
	int error = atomic_load_explicit(&l->fault, memory_order_acquire);
	const char *text;

	if (error == 0 || l->base.state == RTE_COMCH_LINK_DOWN)
		return;
	text = atomic_load_explicit(&l->fault_text, memory_order_relaxed);
	/* A device that is gone completes nothing. */
	if (error == -ENODEV)
		mlx5_link_down_now(l, error, text);
	else
		mlx5_link_down(l, error, text);
}

/* Probe a silent peer: if it is gone, the retries fail. */
static void
probe_peer(struct mlx5_link *l, uint64_t now_ms)
{
	if (l->ctrl.tx_tail != l->quiet_tail) {
		l->quiet_tail = l->ctrl.tx_tail;
		l->quiet_ms = now_ms;
	}
	if (now_ms - l->quiet_ms >= (uint64_t)QUIET_TICKS * tick_ms(l))
		mlx5_frame_probe(l);
}

/* An UP link: is the peer still there, and does each queue pair get on? */
static void
check_peer(struct mlx5_link *l)
{
	uint64_t now_ms = mlx5_dev_now_ms();

	probe_peer(l, now_ms);
	if (mlx5_qp_stuck(&l->ctrl, now_ms, (uint64_t)STUCK_TICKS * tick_ms(l)))
		mlx5_link_down_now(l, -ETIMEDOUT,
			"peer does not respond: no completion on the control queue pair");
	else if (mlx5_frame_overdue(l, now_ms))
		mlx5_link_down_now(l, -EPROTO, "peer did not post the buffers that it announced");
	else
		mlx5_data_check(l, now_ms);
}

void
mlx5_link_tick(struct mlx5_link *l)
{
	uint64_t now = rte_rdtsc();

	if (likely(now < l->next_tick))
		return;
	l->next_tick = now + ms_to_cycles(tick_ms(l));
	if (l->is_ending)
		mlx5_link_end_step(l);
	else if (l->base.state == RTE_COMCH_LINK_UP)
		check_peer(l);
	else if (l->dial != NULL)
		mlx5_dial_tick(l);
}

static void
take_timer(struct mlx5_link *l)
{
	uint64_t count;

	if (!l->is_timer_set || read(l->timer_fd, &count, sizeof(count)) != sizeof(count))
		return;
	l->is_timer_set = false;
	l->next_tick = 0;
	if (l->base.state != RTE_COMCH_LINK_DOWN)
		set_timer(l);
}

/* Operations */

static void
take_cm_event(struct mlx5_link *l, const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		mlx5_link_up(l);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		/* The peer may have ended for a failure that a completion here reports as well. */
		mlx5_frame_reap(l);
		mlx5_link_down(l, -ECONNRESET, "peer process is gone or has disconnected");
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		mlx5_link_down_now(l, -ENODEV, "the device was removed");
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		mlx5_link_down(l, -ETIMEDOUT, "peer did not complete the handshake");
		break;
	case RDMA_CM_EVENT_REJECTED:
		mlx5_link_down(l, -ECONNRESET, "peer disconnected during the handshake");
		break;
	default:
		/* TIMEWAIT_EXIT, or an address change that does not move this connection. */
		break;
	}
}

static void
take_cm_events(struct mlx5_link *l)
{
	struct rdma_cm_event *event;

	/* Each is acknowledged at once: destroying an id waits for that. */
	while (l->cm != NULL && mlx5_verbs->get_cm_event(l->cm, &event) == 0) {
		if (l->dial != NULL)
			mlx5_dial_event(l, event);
		else
			take_cm_event(l, event);
		mlx5_verbs->ack_cm_event(event);
		if (l->dial != NULL)
			mlx5_dial_next(l);
	}
}

static void
take_cq_events(struct mlx5_link *l)
{
	struct ibv_cq *cq;
	void *ctx;

	while (mlx5_verbs->get_cq_event(l->comp->ibv, &cq, &ctx) == 0) {
		l->ctrl.nb_events++;
		mlx5_frame_woken(l);
	}
	if (l->ctrl.nb_events < ACK_EVENTS)
		return;
	mlx5_verbs->ack_cq_events(l->ctrl.cq, l->ctrl.nb_events);
	l->ctrl.nb_events = 0;
}

void
mlx5_link_poll(struct rte_comch_link *link)
{
	struct mlx5_link *l = mlx5_link_of(link);

	if (l->cm == NULL)
		return;
	read_async(l);
	take_timer(l);
	mlx5_dev_events(l->dev);
	take_cm_events(l);
	if (l->is_opening)
		open_step(l);
	if (l->is_open) {
		take_cq_events(l);
		mlx5_frame_reap(l);
		/* The last message of a client's handshake may be lost. */
		if (l->dial == NULL && mlx5_frame_has_received(l))
			mlx5_link_up(l);
	}
	mlx5_data_service(l);
	take_fault(l);
	if (l->is_flushed)
		down_by_status(l);
	mlx5_link_tick(l);
	mlx5_link_end_step(l);
}

void
mlx5_link_shutdown(struct rte_comch_link *link)
{
	struct mlx5_link *l = mlx5_link_of(link);

	if (l->cm == NULL && l->epfd < 0)
		return;
	mlx5_link_down_now(l, -ECONNRESET, "closed by us");
	mlx5_dial_free(l);
	mlx5_link_close_qp(l);
	close_fds(l);
	mlx5_cm_close(l);
}

void
mlx5_link_close(struct rte_comch_link *link)
{
	struct mlx5_link *l = mlx5_link_of(link);

	mlx5_link_shutdown(link);
	mlx5_dev_del_link(l->dev, l);
	mlx5_job_read_async(l, false);
	mlx5_job_end(&l->job);
}

void
mlx5_link_peer(const struct rte_comch_link *link __rte_unused, struct rte_comch_peer_id *id)
{
	/* No kernel vouches for a process of another machine. */
	id->pid = id->uid = id->gid = -1;
}

int
mlx5_link_fd(const struct rte_comch_link *link)
{
	return mlx5_link_of(link)->epfd;
}

bool
mlx5_link_arm(struct rte_comch_link *link, bool credits)
{
	struct mlx5_link *l = mlx5_link_of(link);

	if (!l->is_open || link->state == RTE_COMCH_LINK_DOWN)
		return false;
	mlx5_frame_arm(l, credits);
	if (!l->is_timer_set)
		set_timer(l);
	return false;
}
