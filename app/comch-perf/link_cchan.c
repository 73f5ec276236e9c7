/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Control messages by the endpoints of DOCA Comm Channel, as programs of DOCA
 * 1.5 to 2.8 use them.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <rte_branch_prediction.h>

#include <doca_comm_channel.h>

#include "dev_doca.h"
#include "perf_test.h"

#define MAX_MSG_SIZE 4080

struct link_cchan_ep {
	struct doca_comm_channel_ep_t *ep;
	struct doca_comm_channel_addr_t *peer; /* of a client */
	bool up;
};

struct link_cchan {
	struct dev_doca dev;
	struct link_cchan_ep *eps;  /* clients; or the service, alone */
	uint32_t nb_eps;
	uint8_t buf[MAX_MSG_SIZE] __rte_aligned(8);
};

static int
cchan_open(struct perf_run *run)
{
	struct link *link = &run->link;
	struct link_cchan *l = calloc(1, sizeof(*l));

	link->cchan = l;
	if (l == NULL)
		return perf_run_fail(run, "no memory");
	l->eps = calloc(link->nb_conns, sizeof(l->eps[0]));
	if (l->eps == NULL)
		return perf_run_fail(run, "no memory for %u connections", link->nb_conns);
	link->fd = epoll_create1(EPOLL_CLOEXEC);
	if (link->fd < 0)
		return perf_run_fail(run, "no descriptor to sleep on");
	return dev_doca_open(run, &l->dev, run->leader);
}

/* An endpoint with its properties. */
static int
create_ep(struct perf_run *run, struct link_cchan_ep *e)
{
	struct link_cchan *l = run->link.cchan;
	uint16_t queue = (uint16_t)link_ctrl_queue(run);

	if (!dev_doca_ok(run, doca_comm_channel_ep_create(&e->ep), "an endpoint") ||
			!dev_doca_ok(run, doca_comm_channel_ep_set_device(e->ep, l->dev.dev),
				"an endpoint's device") ||
			!dev_doca_ok(run, doca_comm_channel_ep_set_max_msg_size(e->ep,
				(uint16_t)link_ctrl_size(run)), "--size"))
		return -ECANCELED;
	if (queue > 0 && (!dev_doca_ok(run,
				doca_comm_channel_ep_set_send_queue_size(e->ep, queue),
				"--queue") ||
			!dev_doca_ok(run,
				doca_comm_channel_ep_set_recv_queue_size(e->ep, queue),
				"--queue")))
		return -ECANCELED;
	return 0;
}

/* Have one descriptor for all endpoints. */
static int
watch(struct perf_run *run, struct link_cchan_ep *e)
{
	struct epoll_event ev = { .events = EPOLLIN };
	doca_event_channel_t tx, rx;

	if (!dev_doca_ok(run, doca_comm_channel_ep_get_event_channel(e->ep, &tx, &rx),
			"event channels"))
		return -ECANCELED;
	if (epoll_ctl(run->link.fd, EPOLL_CTL_ADD, tx, &ev) != 0 ||
			epoll_ctl(run->link.fd, EPOLL_CTL_ADD, rx, &ev) != 0)
		return perf_run_fail(run, "event channels: %s", strerror(errno));
	return 0;
}

static int
cchan_listen(struct perf_run *run)
{
	struct link_cchan *l = run->link.cchan;
	struct link_cchan_ep *e = &l->eps[0];

	l->nb_eps = 1;
	if (create_ep(run, e) != 0 ||
			!dev_doca_ok(run, doca_comm_channel_ep_set_device_rep(e->ep, l->dev.rep),
				"an endpoint's representor") ||
			!dev_doca_ok(run, doca_comm_channel_ep_listen(e->ep, LINK_SERVER_NAME),
				"listening"))
		return -ECANCELED;
	e->up = true;
	return watch(run, e);
}

static int
cchan_start_client(struct perf_run *run, uint32_t i)
{
	struct link_cchan *l = run->link.cchan;
	struct link_cchan_ep *e = &l->eps[i];

	l->nb_eps = i + 1;
	if (create_ep(run, e) != 0 ||
			!dev_doca_ok(run, doca_comm_channel_ep_connect(e->ep, LINK_SERVER_NAME,
				&e->peer), "connecting"))
		return -ECANCELED;
	doca_comm_channel_peer_addr_set_user_data(e->peer, i);
	return watch(run, e);
}

/* Is a client's connection there? */
static void
look_at_client(struct perf_run *run, uint32_t i)
{
	struct link_cchan_ep *e = &run->link.cchan->eps[i];
	doca_error_t ret = doca_comm_channel_peer_addr_update_info(e->peer);

	if (ret == DOCA_ERROR_CONNECTION_INPROGRESS ||
			!dev_doca_ok(run, ret, "connecting"))
		return;
	e->up = true;
	link_client_up(run, i, e->peer);
}

/* The endpoint that a peer belongs to. */
static struct doca_comm_channel_ep_t *
ep_of(const struct link_cchan *l, struct doca_comm_channel_addr_t *peer)
{
	uint64_t i = 0;

	if (l->nb_eps > 1)
		doca_comm_channel_peer_addr_get_user_data(peer, &i);
	return l->eps[i].ep;
}

static uint16_t
cchan_send(struct perf_run *run, void *conn, const struct rte_comch_msg *msgs, uint16_t n)
{
	struct doca_comm_channel_ep_t *ep = ep_of(run->link.cchan, conn);
	doca_error_t ret;
	uint16_t i;

	for (i = 0; i < n; i++) {
		ret = doca_comm_channel_ep_sendto(ep, msgs[i].data, msgs[i].len,
			DOCA_CC_MSG_FLAG_NONE, conn);
		if (ret == DOCA_SUCCESS)
			continue;
		if (ret != DOCA_ERROR_AGAIN)
			dev_doca_ok(run, ret, "sending a message");
		break;
	}
	return i;
}

static uint16_t
receive(struct perf_run *run, struct doca_comm_channel_ep_t *ep)
{
	struct link_cchan *l = run->link.cchan;
	struct doca_comm_channel_addr_t *peer;
	doca_error_t ret;
	uint16_t n;
	size_t len;

	/* To look for another one costs a call, which an answer would wait for. */
	for (n = 0; n < run->params.burst; n++) {
		len = sizeof(l->buf);
		ret = doca_comm_channel_ep_recvfrom(ep, l->buf, &len, DOCA_CC_MSG_FLAG_NONE,
			&peer);
		if (ret != DOCA_SUCCESS)
			break;
		link_got_msg(run, peer, l->buf, (uint32_t)len);
	}
	if (n < run->params.burst && ret != DOCA_ERROR_AGAIN && !run->link.closing)
		dev_doca_ok(run, ret, "receiving");
	return n;
}

static uint16_t
cchan_poll(struct perf_run *run)
{
	struct link_cchan *l = run->link.cchan;
	uint16_t n = 0;
	uint32_t i;

	for (i = 0; l != NULL && i < l->nb_eps; i++) {
		if (likely(l->eps[i].up))
			n += receive(run, l->eps[i].ep);
		else if (l->eps[i].peer != NULL)
			look_at_client(run, i);
	}
	return n;
}

static void
cchan_sleep(struct perf_run *run, uint32_t cls)
{
	struct link_cchan *l = run->link.cchan;
	struct epoll_event ev;
	uint32_t i;

	for (i = 0; i < l->nb_eps; i++) {
		if ((cls & RTE_COMCH_POLL_RX) != 0)
			doca_comm_channel_ep_event_handle_arm_recv(l->eps[i].ep);
		if ((cls & RTE_COMCH_POLL_TX) != 0)
			doca_comm_channel_ep_event_handle_arm_send(l->eps[i].ep);
	}
	epoll_wait(run->link.fd, &ev, 1, LINK_SLEEP_MS);
}

static void
destroy_eps(struct link_cchan *l)
{
	while (l != NULL && l->nb_eps > 0) {
		l->nb_eps--;
		if (l->eps[l->nb_eps].ep != NULL)
			doca_comm_channel_ep_destroy(l->eps[l->nb_eps].ep);
	}
}

/* An endpoint's end is at once, whichever side it is. */
static void
cchan_stop(struct perf_run *run)
{
	destroy_eps(run->link.cchan);
}

static bool
cchan_all_left(struct perf_run *run)
{
	struct link_cchan *l = run->link.cchan;
	struct doca_comm_channel_addr_t **peers;
	uint32_t nb_peers = 0, nb_pending = 0;

	if (l == NULL || l->nb_eps == 0)
		return true;
	if (doca_comm_channel_ep_update_service_state_info(l->eps[0].ep) != DOCA_SUCCESS)
		return true;
	doca_comm_channel_ep_get_peer_addr_list(l->eps[0].ep, &peers, &nb_peers);
	doca_comm_channel_ep_get_pending_connections(l->eps[0].ep, &nb_pending);
	return nb_peers + nb_pending == 0;
}

static bool
cchan_all_idle(struct perf_run *run)
{
	return run->link.cchan == NULL || run->link.cchan->nb_eps == 0;
}

static void
cchan_close(struct perf_run *run)
{
	struct link_cchan *l = run->link.cchan;

	if (l == NULL)
		return;
	destroy_eps(l);
	if (run->link.fd >= 0)
		close(run->link.fd);
	dev_doca_close(&l->dev);
	free(l->eps);
	free(l);
}

const struct link_ops link_ops_cchan = {
	.open = cchan_open,
	.listen = cchan_listen,
	.start_client = cchan_start_client,
	.send = cchan_send,
	.poll = cchan_poll,
	.sleep = cchan_sleep,
	.stop_clients = cchan_stop,
	.all_left = cchan_all_left,
	.stop_server = cchan_stop,
	.all_idle = cchan_all_idle,
	.close = cchan_close,
};
