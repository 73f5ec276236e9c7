/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Control messages over endpoints of DOCA Comm Channel, used as in programs of
 * DOCA 1.5 to 2.8.
 */

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include <doca_comm_channel.h>

#include "api/api.h"
#include "api/doca.h"

#define MAX_MSG_SIZE 4080

struct endpoint {
	struct doca_comm_channel_ep_t *ep;
	struct doca_comm_channel_addr_t *peer; /* client only */
	bool up;
};

/* The link is also the poll: Comm Channel has no progress engine. */
struct cchan {
	struct link_poll poll;
	struct link *link;
	struct doca_device dev;
	uint32_t nb_eps;
	uint8_t buf[MAX_MSG_SIZE] __rte_aligned(8);
	struct endpoint eps[];  /* clients, or the single service */
};

static int
cchan_open(struct link *link)
{
	struct cchan *l = link->priv;

	l->link = link;
	link->poll = &l->poll;
	l->poll.fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->poll.fd < 0)
		return link_fail(link, "epoll_create1: %s", strerror(errno));
	return doca_device_open(link, &l->dev);
}

/* Create an endpoint and set its properties. */
static bool
create_ep(struct link *link, struct endpoint *e)
{
	struct cchan *l = link->priv;
	uint16_t queue = (uint16_t)link->queue;
	bool ok;

	if (!doca_ok(link, doca_comm_channel_ep_create(&e->ep), "create an endpoint"))
		return false;
	ok = doca_ok(link, doca_comm_channel_ep_set_device(e->ep, l->dev.dev),
			"set the device of an endpoint");
	ok &= doca_ok(link, doca_comm_channel_ep_set_max_msg_size(e->ep,
			(uint16_t)link->max_msg_size), "--size");
	if (queue == 0)
		return ok;
	ok &= doca_ok(link, doca_comm_channel_ep_set_send_queue_size(e->ep, queue), "--queue");
	ok &= doca_ok(link, doca_comm_channel_ep_set_recv_queue_size(e->ep, queue), "--queue");
	return ok;
}

/* Add the event channels of an endpoint to the epoll descriptor of the link. */
static int
watch(struct link *link, struct endpoint *e)
{
	struct epoll_event ev = { .events = EPOLLIN };
	doca_event_channel_t tx, rx;

	if (!doca_ok(link, doca_comm_channel_ep_get_event_channel(e->ep, &tx, &rx),
			"get the event channels of an endpoint"))
		return -ECANCELED;
	if (epoll_ctl(link->poll->fd, EPOLL_CTL_ADD, tx, &ev) != 0 ||
			epoll_ctl(link->poll->fd, EPOLL_CTL_ADD, rx, &ev) != 0)
		return link_fail(link, "epoll_ctl on event channels: %s", strerror(errno));
	return 0;
}

static int
cchan_listen(struct link *link)
{
	struct cchan *l = link->priv;
	struct endpoint *e = &l->eps[0];

	l->nb_eps = 1;
	if (!create_ep(link, e) ||
			!doca_ok(link, doca_comm_channel_ep_set_device_rep(e->ep, l->dev.rep),
				"set the representor of an endpoint") ||
			!doca_ok(link, doca_comm_channel_ep_listen(e->ep, link->name),
				"listen"))
		return -ECANCELED;
	e->up = true;
	return watch(link, e);
}

static int
cchan_connect(struct link *link, uint32_t i)
{
	struct cchan *l = link->priv;
	struct endpoint *e = &l->eps[i];

	l->nb_eps = i + 1;
	if (!create_ep(link, e) || !doca_ok(link, doca_comm_channel_ep_connect(e->ep, link->name,
			&e->peer), "connect"))
		return -ECANCELED;
	doca_comm_channel_peer_addr_set_user_data(e->peer, i);
	return watch(link, e);
}

/* Check whether a connecting client is connected. */
static void
look_at_client(struct link *link, uint32_t i)
{
	struct endpoint *e = &((struct cchan *)link->priv)->eps[i];
	doca_error_t ret = doca_comm_channel_peer_addr_update_info(e->peer);

	if (ret == DOCA_ERROR_CONNECTION_INPROGRESS || !doca_ok(link, ret, "connect"))
		return;
	e->up = true;
	link_client_up(link, i, e->peer);
}

/* The endpoint of a peer. */
static struct doca_comm_channel_ep_t *
ep_of(const struct cchan *l, struct doca_comm_channel_addr_t *peer)
{
	uint64_t i = 0;

	if (l->nb_eps > 1)
		doca_comm_channel_peer_addr_get_user_data(peer, &i);
	return l->eps[i].ep;
}

static uint16_t
cchan_send(struct link *link, void *conn, const struct rte_comch_msg *msgs, uint16_t n)
{
	struct doca_comm_channel_ep_t *ep = ep_of(((struct cchan *)link->priv), conn);
	doca_error_t ret;
	uint16_t i;

	for (i = 0; i < n; i++) {
		ret = doca_comm_channel_ep_sendto(ep, msgs[i].data, msgs[i].len,
			DOCA_CC_MSG_FLAG_NONE, conn);
		if (ret == DOCA_SUCCESS)
			continue;
		if (ret != DOCA_ERROR_AGAIN)
			doca_ok(link, ret, "send a message");
		break;
	}
	return i;
}

static uint16_t
receive(struct link *link, struct doca_comm_channel_ep_t *ep)
{
	struct cchan *l = link->priv;
	struct doca_comm_channel_addr_t *peer;
	doca_error_t ret = DOCA_SUCCESS;
	uint16_t n;
	size_t len;

	/* Stop after a burst: one more call would delay the answer. */
	for (n = 0; n < link->burst; n++) {
		len = sizeof(l->buf);
		ret = doca_comm_channel_ep_recvfrom(ep, l->buf, &len, DOCA_CC_MSG_FLAG_NONE,
			&peer);
		if (ret != DOCA_SUCCESS)
			break;
		link_got_msg(link, peer, l->buf, (uint32_t)len);
	}
	if (n < link->burst && ret != DOCA_ERROR_AGAIN && !link->closing)
		doca_ok(link, ret, "receive");
	return n;
}

static uint16_t
cchan_poll_run(struct link_poll *poll)
{
	struct cchan *l = (struct cchan *)poll;
	uint16_t n = 0;
	uint32_t i;

	for (i = 0; i < l->nb_eps; i++) {
		if (likely(l->eps[i].up))
			n += receive(l->link, l->eps[i].ep);
		else if (l->eps[i].peer != NULL)
			look_at_client(l->link, i);
	}
	return n;
}

static void
cchan_poll_sleep(struct link_poll *base, uint32_t cls, int timeout_ms)
{
	struct pollfd pfd = { .fd = base->fd, .events = POLLIN };
	struct cchan *l = (struct cchan *)base;
	uint32_t i;

	for (i = 0; i < l->nb_eps; i++) {
		if ((cls & RTE_COMCH_POLL_RX) != 0)
			doca_comm_channel_ep_event_handle_arm_recv(l->eps[i].ep);
		if ((cls & RTE_COMCH_POLL_TX) != 0)
			doca_comm_channel_ep_event_handle_arm_send(l->eps[i].ep);
	}
	poll(&pfd, 1, timeout_ms);
}

/* Endpoints stop synchronously. */
static void
cchan_stop(struct link *link, uint32_t i)
{
	struct cchan *l = link->priv;

	l->nb_eps = RTE_MIN(l->nb_eps, i);
	if (l->eps[i].ep != NULL)
		doca_comm_channel_ep_destroy(l->eps[i].ep);
	l->eps[i].ep = NULL;
}

static bool
cchan_idle(struct link *link, uint32_t i)
{
	return ((struct cchan *)link->priv)->eps[i].ep == NULL;
}

static bool
cchan_drained(struct link *link)
{
	struct cchan *l = link->priv;
	struct doca_comm_channel_addr_t **peers;
	uint32_t nb_peers = 0, nb_pending = 0;

	if (l->nb_eps == 0 || doca_comm_channel_ep_update_service_state_info(l->eps[0].ep) !=
			DOCA_SUCCESS)
		return true;
	doca_comm_channel_ep_get_peer_addr_list(l->eps[0].ep, &peers, &nb_peers);
	doca_comm_channel_ep_get_pending_connections(l->eps[0].ep, &nb_pending);
	return nb_peers + nb_pending == 0;
}

static void
cchan_close(struct link *link)
{
	struct cchan *l = link->priv;

	if (l->poll.fd >= 0)
		close(l->poll.fd);
	doca_device_close(&l->dev);
}

const struct link_ops link_ops_cchan = {
	.priv_size = sizeof(struct cchan),
	.client_size = sizeof(struct endpoint),
	.open = cchan_open,
	.poll_run = cchan_poll_run,
	.poll_sleep = cchan_poll_sleep,
	.listen = cchan_listen,
	.connect = cchan_connect,
	.stop = cchan_stop,
	.idle = cchan_idle,
	.send = cchan_send,
	.drained = cchan_drained,
	.close = cchan_close,
};
