/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Sleeping: event channels, and the calls of 1.2 that wait.
 *
 * A channel that is armed has two ways to wake its sleeper. The poll's
 * descriptor is a member of it: a peer that does something makes that readable.
 * And what a call for the endpoint finds before the sleeper does (a sender that
 * runs the poll, under the program's lock, takes what had woken it) is told by
 * the channel's eventfd. So whoever sees it first, the sleeper is woken:
 *
 *   arm      look; if it has happened: kick. Otherwise: armed, poll armed
 *   a call   runs the poll, which disarms; settles: kick, or arm the poll again
 *   done     the program has looked for itself: no kick, and not armed
 *
 * The channel of 1.2 is the same with a level for an edge: it is armed for ever,
 * and kicked as long as there is something to receive.
 */

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <doca_comm_channel.h>

#include "dface_cchan.h"

/* How often a call looks anew for a peer that never rests, before it wakes the sleeper. */
#define SETTLE_TRIES 16
/* Runs before a call that waits goes to sleep. */
#define SPIN_RUNS 256

static const uint32_t classes[CCHAN_NB_EVENTS] = {
	[CCHAN_EVENT_SEND] = RTE_COMCH_POLL_TX | RTE_COMCH_POLL_LINK,
	[CCHAN_EVENT_RECV] = RTE_COMCH_POLL_RX | RTE_COMCH_POLL_LINK,
	[CCHAN_EVENT_SERVICE] = RTE_COMCH_POLL_LINK,
	[CCHAN_EVENT_ANY] = RTE_COMCH_POLL_ANY,
};

void
dface_cchan_channels_init(struct doca_comm_channel_ep_t *ep)
{
	unsigned int i;

	for (i = 0; i < CCHAN_NB_EVENTS; i++)
		ep->channel[i].epoll_fd = ep->channel[i].kick_fd = -1;
}

void
dface_cchan_channels_fini(struct doca_comm_channel_ep_t *ep)
{
	struct cchan_channel *ch;
	unsigned int i;

	for (i = 0; i < CCHAN_NB_EVENTS; i++) {
		ch = &ep->channel[i];
		if (ch->epoll_fd < 0)
			continue;
		close(ch->epoll_fd);
		close(ch->kick_fd);
	}
}

/* One channel */

static void
kick(struct cchan_channel *ch)
{
	uint64_t one = 1;

	/* It cannot be full. */
	if (!ch->kicked && write(ch->kick_fd, &one, sizeof(one)) == sizeof(one))
		ch->kicked = true;
}

static void
unkick(struct cchan_channel *ch)
{
	uint64_t count;

	if (ch->kicked && read(ch->kick_fd, &count, sizeof(count)) == sizeof(count))
		ch->kicked = false;
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

/* Count anew whether anybody may sleep on the channel. */
static void
recount(struct doca_comm_channel_ep_t *ep)
{
	unsigned int i;

	ep->nb_active = 0;
	for (i = 0; i < CCHAN_NB_EVENTS; i++)
		ep->nb_active += ep->channel[i].epoll_fd >= 0 &&
			(ep->channel[i].armed || ep->channel[i].kicked);
}

static void
disarm(struct doca_comm_channel_ep_t *ep, struct cchan_channel *ch)
{
	unlink_poll(ep, ch);
	ch->armed = false;
}

int
dface_cchan_channel_fd(struct doca_comm_channel_ep_t *ep, enum cchan_event event)
{
	struct cchan_channel *ch = &ep->channel[event];

	if (ch->epoll_fd >= 0)
		return ch->epoll_fd;
	ch->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (ch->epoll_fd < 0)
		return -1;
	ch->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (ch->kick_fd < 0)
		goto err_epoll;
	if (add_member(ep, ch, ch->kick_fd) != 0)
		goto err_kick;
	if (event == CCHAN_EVENT_ANY)
		ch->armed = true;
	recount(ep);
	dface_cchan_settle(ep);
	return ch->epoll_fd;

err_kick:
	close(ch->kick_fd);
err_epoll:
	close(ch->epoll_fd);
	ch->epoll_fd = ch->kick_fd = -1;
	return -1;
}

void
dface_cchan_channel_done(struct doca_comm_channel_ep_t *ep, enum cchan_event event, bool found)
{
	struct cchan_channel *ch = &ep->channel[event];

	if (!ch->kicked && !ch->armed)
		return;
	if (ch->kicked)
		unkick(ch);
	else if (found)
		disarm(ep, ch);
	recount(ep);
}

/* What has happened */

static uint64_t
acked(const struct doca_comm_channel_addr_t *addr)
{
	return addr->now.send_msgs - dface_cchan_in_flight(addr);
}

void
dface_cchan_want_room(struct doca_comm_channel_addr_t *addr, bool wants)
{
	if (addr->wants_room && !wants)
		addr->ep->nb_wanting--;
	else if (!addr->wants_room && wants)
		addr->ep->nb_wanting++;
	addr->wants_room = wants;
	if (!wants)
		return;
	addr->wants_state = addr->state;
	addr->wants_acked = acked(addr);
}

/* For a peer that wants it, may there be room? */
static bool
has_room(const struct doca_comm_channel_addr_t *addr)
{
	return addr->state != addr->wants_state || acked(addr) != addr->wants_acked ||
		(addr->state == CCHAN_UP && dface_cchan_in_flight(addr) == 0);
}

static bool
any_has_room(const struct doca_comm_channel_ep_t *ep)
{
	const struct doca_comm_channel_addr_t *addr;

	if (ep->nb_wanting == 0)
		return false;
	TAILQ_FOREACH(addr, &ep->addrs, next)
		if (addr->wants_room && has_room(addr))
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
			s.under_way += dface_cchan_in_flight(addr);
	}
	return s;
}

/* Has a message been received since the arming, or a peer got room since its AGAIN? */
static bool
may_send(const struct doca_comm_channel_ep_t *ep)
{
	struct send_state s = send_state(ep);

	return any_has_room(ep) || s.acked != ep->armed_acked || ep->ticks != ep->armed_ticks ||
		(s.under_way == 0 && ep->nb_wanting == 0);
}

static bool
may_receive(const struct doca_comm_channel_ep_t *ep)
{
	const struct doca_comm_channel_addr_t *addr = TAILQ_FIRST(&ep->addrs);

	return ep->nb_unread > 0 || ep->nb_pending > 0 || ep->refused ||
		(ep->is_102 && ep->service_lost) ||
		(ep->kind == CCHAN_CLIENT && addr->state >= CCHAN_LOST);
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
	default:
		return may_receive(ep) || any_has_room(ep);
	}
}

static void
fire(struct doca_comm_channel_ep_t *ep, enum cchan_event event)
{
	struct cchan_channel *ch = &ep->channel[event];

	kick(ch);
	if (event != CCHAN_EVENT_ANY)
		disarm(ep, ch);
}

/* Tell what has happened. Returns the classes to sleep for: 0, nobody sleeps. */
static uint32_t
tell(struct doca_comm_channel_ep_t *ep)
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
		if (i == CCHAN_EVENT_ANY)
			unkick(ch);
		link_poll(ep, ch);
		/* No memory to sleep with: look at once. */
		if (!ch->linked)
			fire(ep, i);
		else
			cls |= classes[i];
	}
	return cls;
}

void
dface_cchan_channel_arm(struct doca_comm_channel_ep_t *ep, enum cchan_event event)
{
	struct cchan_channel *ch = &ep->channel[event];

	if (event == CCHAN_EVENT_SEND) {
		ep->armed_acked = send_state(ep).acked;
		ep->armed_ticks = ep->ticks;
	}
	unkick(ch);
	ch->armed = true;
	recount(ep);
	dface_cchan_settle(ep);
}

/* False: there is something to do, run first. */
static bool
arm_poll(struct doca_comm_channel_ep_t *ep, uint32_t cls)
{
	/* The peer may sleep as well, until it has the credits for what was taken. */
	dface_cchan_pay(ep);
	return rte_comch_poll_arm(ep->poll, cls) == 0;
}

void
dface_cchan_channels_settle(struct doca_comm_channel_ep_t *ep)
{
	unsigned int i;
	uint32_t cls;

	for (i = 0; i < SETTLE_TRIES; i++) {
		cls = tell(ep);
		if (cls == 0 || arm_poll(ep, cls))
			return;
		if (!dface_cchan_run(ep))
			break;
	}
	/* An event for nothing is better than none. */
	for (i = 0; i < CCHAN_NB_EVENTS; i++)
		if (ep->channel[i].epoll_fd >= 0 && ep->channel[i].armed)
			fire(ep, i);
}

void
dface_cchan_wait(struct doca_comm_channel_ep_t *ep,
		const struct doca_comm_channel_addr_t *room_for)
{
	struct pollfd pfd = {
		.fd = rte_comch_poll_fd(ep->poll, RTE_COMCH_POLL_ANY), .events = POLLIN,
	};
	unsigned int i;

	for (i = 0; i < SPIN_RUNS; i++)
		if (!dface_cchan_run(ep) || ep->nb_ev > 0 ||
				(room_for != NULL ? has_room(room_for) : may_receive(ep)))
			return;
	if (arm_poll(ep, RTE_COMCH_POLL_ANY))
		poll(&pfd, 1, -1);
	dface_cchan_run(ep);
}

/* The interface */

static doca_error_t
get_fd(struct doca_comm_channel_ep_t *ep, enum cchan_event event, doca_event_channel_t *fd)
{
	int ret;

	if (fd == NULL)
		return DOCA_SUCCESS;
	ret = dface_cchan_channel_fd(ep, event);
	if (ret < 0)
		return DOCA_ERROR_NOT_FOUND;
	*fd = ret;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comm_channel_ep_get_event_channel(struct doca_comm_channel_ep_t *local_ep,
		doca_event_channel_t *send_event_channel,
		doca_event_channel_t *recv_event_channel)
{
	doca_error_t ret;

	if (local_ep == NULL || (send_event_channel == NULL && recv_event_channel == NULL))
		return DOCA_ERROR_INVALID_VALUE;
	if (local_ep->kind == CCHAN_NONE)
		return DOCA_ERROR_BAD_STATE;
	ret = get_fd(local_ep, CCHAN_EVENT_SEND, send_event_channel);
	if (ret == DOCA_SUCCESS)
		ret = get_fd(local_ep, CCHAN_EVENT_RECV, recv_event_channel);
	return ret;
}

doca_error_t
doca_comm_channel_ep_get_service_event_channel(struct doca_comm_channel_ep_t *local_ep,
		doca_event_channel_t *service_event_channel)
{
	if (local_ep == NULL || service_event_channel == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (local_ep->kind == CCHAN_NONE)
		return DOCA_ERROR_BAD_STATE;
	if (local_ep->kind == CCHAN_CLIENT)
		return DOCA_ERROR_NOT_SUPPORTED;
	return get_fd(local_ep, CCHAN_EVENT_SERVICE, service_event_channel);
}

static doca_error_t
arm(struct doca_comm_channel_ep_t *ep, enum cchan_event event)
{
	if (ep == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (ep->kind == CCHAN_NONE)
		return DOCA_ERROR_BAD_STATE;
	if (dface_cchan_channel_fd(ep, event) < 0)
		return DOCA_ERROR_NOT_FOUND;
	dface_cchan_channel_arm(ep, event);
	return DOCA_SUCCESS;
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
