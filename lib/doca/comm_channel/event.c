/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Sleeping: event channels, and blocking calls of 1.2.
 *
 * An armed channel wakes its sleeper in two ways. The poll's descriptor is a member of
 * it and becomes readable when a peer does something. If another call on the endpoint
 * runs the poll first and takes that event, the channel's eventfd reports it:
 *
 *   arm      check; if it has happened, signal; otherwise arm the channel and the poll
 *   a call   runs the poll, which disarms it; then signals, or arms the poll again
 *   done     the program has checked for itself: clear the signal and disarm
 *
 * The channel of 1.2 is level-triggered: it is always armed, and signaled while there
 * is something to receive. So is the channel on which blocking calls of 1.2 sleep: it
 * is armed while there are such calls, and signaled while one of them can continue,
 * whichever thread's run has found that.
 */

#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <doca_comm_channel.h>

#include "comm_channel/cchan.h"

/* Attempts to arm the poll while a peer keeps sending, before the sleeper is woken anyway. */
#define SETTLE_TRIES 16
/* Runs before a blocking call sleeps. */
#define SPIN_RUNS 256

static const uint32_t classes[CCHAN_NB_EVENTS] = {
	[CCHAN_EVENT_SEND] = RTE_COMCH_POLL_TX | RTE_COMCH_POLL_LINK,
	[CCHAN_EVENT_RECV] = RTE_COMCH_POLL_RX | RTE_COMCH_POLL_LINK,
	[CCHAN_EVENT_SERVICE] = RTE_COMCH_POLL_LINK,
	[CCHAN_EVENT_ANY] = RTE_COMCH_POLL_ANY,
	[CCHAN_EVENT_CALL] = RTE_COMCH_POLL_ANY,
};

/* Whether the channel is level-triggered. */
static bool
is_level(enum cchan_event event)
{
	return event == CCHAN_EVENT_ANY || event == CCHAN_EVENT_CALL;
}

void
impl_cchan_channels_init(struct doca_comm_channel_ep_t *ep)
{
	unsigned int i;

	TAILQ_INIT(&ep->sleepers);
	for (i = 0; i < CCHAN_NB_EVENTS; i++)
		ep->channel[i].epoll_fd = ep->channel[i].event_fd = -1;
}

void
impl_cchan_channels_fini(struct doca_comm_channel_ep_t *ep)
{
	struct cchan_channel *ch;
	unsigned int i;

	for (i = 0; i < CCHAN_NB_EVENTS; i++) {
		ch = &ep->channel[i];
		if (ch->epoll_fd < 0)
			continue;
		close(ch->epoll_fd);
		close(ch->event_fd);
	}
}

/* One channel */

static void
signal_channel(struct cchan_channel *ch)
{
	uint64_t one = 1;

	/* An eventfd with a value of at most 1 never blocks. */
	if (!ch->is_signaled && write(ch->event_fd, &one, sizeof(one)) == sizeof(one))
		ch->is_signaled = true;
}

static void
unsignal_channel(struct cchan_channel *ch)
{
	uint64_t count;

	if (ch->is_signaled && read(ch->event_fd, &count, sizeof(count)) == sizeof(count))
		ch->is_signaled = false;
}

static int
add_member(const struct doca_comm_channel_ep_t *ep, const struct cchan_channel *ch, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = ep->cookie };

	return epoll_ctl(ch->epoll_fd, EPOLL_CTL_ADD, fd, &ev);
}

static void
link_poll(const struct doca_comm_channel_ep_t *ep, struct cchan_channel *ch)
{
	if (!ch->linked)
		ch->linked = add_member(ep, ch,
			rte_comch_poll_fd(ep->poll, RTE_COMCH_POLL_ANY)) == 0;
}

static void
unlink_poll(const struct doca_comm_channel_ep_t *ep, struct cchan_channel *ch)
{
	if (ch->linked)
		epoll_ctl(ch->epoll_fd, EPOLL_CTL_DEL,
			rte_comch_poll_fd(ep->poll, RTE_COMCH_POLL_ANY), NULL);
	ch->linked = false;
}

/* Recount the channels that a program may sleep on. */
static void
recount(struct doca_comm_channel_ep_t *ep)
{
	unsigned int i;

	ep->nb_active = 0;
	for (i = 0; i < CCHAN_NB_EVENTS; i++)
		ep->nb_active += ep->channel[i].epoll_fd >= 0 &&
			(ep->channel[i].armed || ep->channel[i].is_signaled);
}

static void
disarm(struct doca_comm_channel_ep_t *ep, struct cchan_channel *ch)
{
	unlink_poll(ep, ch);
	ch->armed = false;
}

int
impl_cchan_channel_fd(struct doca_comm_channel_ep_t *ep, enum cchan_event event)
{
	struct cchan_channel *ch = &ep->channel[event];

	if (ch->epoll_fd >= 0)
		return ch->epoll_fd;
	ch->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (ch->epoll_fd < 0)
		return -1;
	ch->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (ch->event_fd < 0)
		goto err_epoll;
	if (add_member(ep, ch, ch->event_fd) != 0)
		goto err_kick;
	if (event == CCHAN_EVENT_ANY)
		ch->armed = true;
	recount(ep);
	impl_cchan_settle(ep);
	return ch->epoll_fd;

err_kick:
	close(ch->event_fd);
err_epoll:
	close(ch->epoll_fd);
	ch->epoll_fd = ch->event_fd = -1;
	return -1;
}

void
impl_cchan_channel_done(struct doca_comm_channel_ep_t *ep, enum cchan_event event, bool found)
{
	struct cchan_channel *ch = &ep->channel[event];

	if (!ch->is_signaled && !ch->armed)
		return;
	if (ch->is_signaled)
		unsignal_channel(ch);
	else if (found)
		disarm(ep, ch);
	recount(ep);
}

/* What has happened */

static uint64_t
acked(const struct doca_comm_channel_addr_t *addr)
{
	return addr->now.send_msgs - impl_cchan_in_flight(addr);
}

static struct cchan_mark
mark(const struct doca_comm_channel_addr_t *addr)
{
	return (struct cchan_mark){
		.state = addr->state, .serial = addr->serial, .acked = acked(addr),
	};
}

/* Whether there may be room for the peer, having been none then. */
static bool
may_have_room(const struct doca_comm_channel_addr_t *addr, const struct cchan_mark *since)
{
	return addr->state != since->state || addr->serial != since->serial ||
		acked(addr) != since->acked ||
		(addr->state == CCHAN_UP && impl_cchan_in_flight(addr) == 0);
}

void
impl_cchan_set_blocked(struct doca_comm_channel_addr_t *addr, bool blocked)
{
	if (addr->is_blocked && !blocked)
		addr->ep->nb_blocked--;
	else if (!addr->is_blocked && blocked)
		addr->ep->nb_blocked++;
	addr->is_blocked = blocked;
	if (blocked)
		addr->blocked_at = mark(addr);
}

static bool
any_has_room(const struct doca_comm_channel_ep_t *ep)
{
	const struct doca_comm_channel_addr_t *addr;

	if (ep->nb_blocked == 0)
		return false;
	TAILQ_FOREACH(addr, &ep->addrs, next)
		if (addr->is_blocked && may_have_room(addr, &addr->blocked_at))
			return true;
	return false;
}

struct send_state {
	uint64_t acked;
	uint64_t under_way;
};

static struct send_state
send_state(const struct doca_comm_channel_ep_t *ep)
{
	const struct doca_comm_channel_addr_t *addr;
	struct send_state s = { 0, 0 };

	TAILQ_FOREACH(addr, &ep->addrs, next) {
		s.acked += acked(addr);
		if (addr->state == CCHAN_CONNECTING)
			s.under_way++;
		else if (addr->state == CCHAN_UP)
			s.under_way += impl_cchan_in_flight(addr);
	}
	return s;
}

/* Whether a message was received since the arming, or a peer has room since its AGAIN. */
static bool
may_send(const struct doca_comm_channel_ep_t *ep)
{
	struct send_state s = send_state(ep);

	return any_has_room(ep) || s.acked != ep->armed_acked || ep->ticks != ep->armed_ticks ||
		(s.under_way == 0 && ep->nb_blocked == 0);
}

static bool
may_receive(const struct doca_comm_channel_ep_t *ep)
{
	const struct doca_comm_channel_addr_t *addr = TAILQ_FIRST(&ep->addrs);

	return ep->nb_unread > 0 || ep->nb_pending > 0 || ep->refused ||
		(ep->is_102 && ep->service_lost) ||
		(ep->kind == CCHAN_CLIENT && addr->state >= CCHAN_LOST);
}

/* Whether the endpoint still has the connection with which a call started to wait. */
static bool
is_linked(const struct doca_comm_channel_ep_t *ep, const struct cchan_sleeper *s)
{
	return ep->nb_unlinks == s->nb_unlinks && (s->peer == NULL ||
		(s->peer->state != CCHAN_FREE && s->peer->serial == s->since.serial));
}

static bool
may_wake(const struct doca_comm_channel_ep_t *ep, const struct cchan_sleeper *s)
{
	if (!is_linked(ep, s))
		return true;
	return s->peer == NULL ? may_receive(ep) : may_have_room(s->peer, &s->since);
}

static bool
may_wake_any(const struct doca_comm_channel_ep_t *ep)
{
	const struct cchan_sleeper *s;

	TAILQ_FOREACH(s, &ep->sleepers, next)
		if (may_wake(ep, s))
			return true;
	return false;
}

static bool
happened(const struct doca_comm_channel_ep_t *ep, enum cchan_event event)
{
	switch (event) {
	case CCHAN_EVENT_SEND:
		return may_send(ep);
	case CCHAN_EVENT_RECV:
		return may_receive(ep);
	case CCHAN_EVENT_SERVICE:
		return ep->service_changed;
	case CCHAN_EVENT_CALL:
		return may_wake_any(ep);
	default:
		return may_receive(ep) || any_has_room(ep);
	}
}

static void
fire(struct doca_comm_channel_ep_t *ep, enum cchan_event event)
{
	struct cchan_channel *ch = &ep->channel[event];

	signal_channel(ch);
	if (!is_level(event))
		disarm(ep, ch);
}

/* Signal what has happened. Returns the classes to arm the poll for; 0: none. */
static uint32_t
report_events(struct doca_comm_channel_ep_t *ep)
{
	struct cchan_channel *ch;
	uint32_t cls = 0;
	unsigned int i;

	for (i = 0; i < CCHAN_NB_EVENTS; i++) {
		ch = &ep->channel[i];
		if (ch->epoll_fd < 0 || !ch->armed)
			continue;
		if (ep->kind == CCHAN_NONE || happened(ep, i)) {
			fire(ep, i);
			continue;
		}
		if (is_level(i))
			unsignal_channel(ch);
		link_poll(ep, ch);
		/* The poll cannot wake the sleeper, so wake it now. */
		if (!ch->linked)
			fire(ep, i);
		else
			cls |= classes[i];
	}
	return cls;
}

void
impl_cchan_channel_arm(struct doca_comm_channel_ep_t *ep, enum cchan_event event)
{
	struct cchan_channel *ch = &ep->channel[event];

	if (event == CCHAN_EVENT_SEND) {
		ep->armed_acked = send_state(ep).acked;
		ep->armed_ticks = ep->ticks;
	}
	unsignal_channel(ch);
	ch->armed = true;
	recount(ep);
	impl_cchan_settle(ep);
}

/* False: the poll has work, run it first. */
static bool
arm_poll(struct doca_comm_channel_ep_t *ep, uint32_t cls)
{
	/* The peer may be sleeping until it gets these credits. */
	impl_cchan_return_credits(ep);
	return rte_comch_poll_arm(ep->poll, cls) == 0;
}

void
impl_cchan_channels_settle(struct doca_comm_channel_ep_t *ep)
{
	unsigned int i;
	uint32_t cls;

	for (i = 0; i < SETTLE_TRIES; i++) {
		cls = report_events(ep);
		if (cls == 0 || arm_poll(ep, cls))
			return;
		if (!impl_cchan_run(ep))
			break;
	}
	/* A spurious event is better than a lost one. */
	for (i = 0; i < CCHAN_NB_EVENTS; i++)
		if (ep->channel[i].epoll_fd >= 0 && ep->channel[i].armed)
			fire(ep, i);
}

/* Run for a while. True: there is something to handle. */
static bool
spin(struct doca_comm_channel_ep_t *ep, const struct cchan_sleeper *s)
{
	unsigned int i;

	for (i = 0; i < SPIN_RUNS; i++)
		if (!impl_cchan_run(ep) || ep->nb_ev > 0 || may_wake(ep, s))
			return true;
	return false;
}

static void
sleepers_changed(struct doca_comm_channel_ep_t *ep)
{
	struct cchan_channel *ch = &ep->channel[CCHAN_EVENT_CALL];

	ch->armed = !TAILQ_EMPTY(&ep->sleepers);
	/* Keep the poll as a member: other calls may sleep here soon. */
	if (!ch->armed)
		unsignal_channel(ch);
	recount(ep);
}

/* Let other threads call; without a descriptor to sleep on, do only that. */
static void
sleep_unlocked(struct doca_comm_channel_ep_t *ep, int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	impl_cchan_unlock(ep);
	if (fd >= 0)
		poll(&pfd, 1, -1);
	else
		sched_yield();
	impl_cchan_lock(ep);
}

bool
impl_cchan_wait(struct doca_comm_channel_ep_t *ep, const struct doca_comm_channel_addr_t *peer)
{
	struct cchan_sleeper s = { .nb_unlinks = ep->nb_unlinks, .peer = peer };
	int fd;

	if (peer != NULL)
		s.since = mark(peer);
	if (spin(ep, &s))
		return true;
	fd = impl_cchan_channel_fd(ep, CCHAN_EVENT_CALL);
	TAILQ_INSERT_TAIL(&ep->sleepers, &s, next);
	sleepers_changed(ep);
	impl_cchan_settle(ep);
	sleep_unlocked(ep, fd);
	TAILQ_REMOVE(&ep->sleepers, &s, next);
	sleepers_changed(ep);
	if (!is_linked(ep, &s))
		return false;
	impl_cchan_run(ep);
	return true;
}

/* The interface */

static doca_error_t
get_fd(struct doca_comm_channel_ep_t *ep, enum cchan_event event, doca_event_channel_t *fd)
{
	int ret;

	if (fd == NULL)
		return DOCA_SUCCESS;
	ret = impl_cchan_channel_fd(ep, event);
	if (ret < 0)
		return DOCA_ERROR_NOT_FOUND;
	*fd = ret;
	return DOCA_SUCCESS;
}

static doca_error_t
get_event_channel(struct doca_comm_channel_ep_t *ep, doca_event_channel_t *send_fd,
		doca_event_channel_t *recv_fd)
{
	doca_error_t ret;

	if (ep->kind == CCHAN_NONE)
		return DOCA_ERROR_BAD_STATE;
	ret = get_fd(ep, CCHAN_EVENT_SEND, send_fd);
	if (ret == DOCA_SUCCESS)
		ret = get_fd(ep, CCHAN_EVENT_RECV, recv_fd);
	return ret;
}

doca_error_t
doca_comm_channel_ep_get_event_channel(struct doca_comm_channel_ep_t *local_ep,
		doca_event_channel_t *send_event_channel,
		doca_event_channel_t *recv_event_channel)
{
	doca_error_t ret;

	if (local_ep == NULL || (send_event_channel == NULL && recv_event_channel == NULL))
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(local_ep);
	ret = get_event_channel(local_ep, send_event_channel, recv_event_channel);
	impl_cchan_unlock(local_ep);
	return ret;
}

static doca_error_t
get_service_channel(struct doca_comm_channel_ep_t *ep, doca_event_channel_t *fd)
{
	if (ep->kind == CCHAN_NONE)
		return DOCA_ERROR_BAD_STATE;
	if (ep->kind == CCHAN_CLIENT)
		return DOCA_ERROR_NOT_SUPPORTED;
	return get_fd(ep, CCHAN_EVENT_SERVICE, fd);
}

doca_error_t
doca_comm_channel_ep_get_service_event_channel(struct doca_comm_channel_ep_t *local_ep,
		doca_event_channel_t *service_event_channel)
{
	doca_error_t ret;

	if (local_ep == NULL || service_event_channel == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(local_ep);
	ret = get_service_channel(local_ep, service_event_channel);
	impl_cchan_unlock(local_ep);
	return ret;
}

static doca_error_t
arm_locked(struct doca_comm_channel_ep_t *ep, enum cchan_event event)
{
	if (ep->kind == CCHAN_NONE)
		return DOCA_ERROR_BAD_STATE;
	if (impl_cchan_channel_fd(ep, event) < 0)
		return DOCA_ERROR_NOT_FOUND;
	impl_cchan_channel_arm(ep, event);
	return DOCA_SUCCESS;
}

static doca_error_t
arm(struct doca_comm_channel_ep_t *ep, enum cchan_event event)
{
	doca_error_t ret;

	if (ep == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(ep);
	ret = arm_locked(ep, event);
	impl_cchan_unlock(ep);
	return ret;
}

doca_error_t
doca_comm_channel_ep_event_handle_arm_send(struct doca_comm_channel_ep_t *local_ep)
{
	return arm(local_ep, CCHAN_EVENT_SEND);
}

doca_error_t
doca_comm_channel_ep_event_handle_arm_recv(struct doca_comm_channel_ep_t *local_ep)
{
	return arm(local_ep, CCHAN_EVENT_RECV);
}

doca_error_t
doca_comm_channel_ep_event_handle_arm_rcv(struct doca_comm_channel_ep_t *local_ep)
{
	return arm(local_ep, CCHAN_EVENT_RECV);
}
