/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Listening, connecting, disconnecting. */

#include <errno.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_pause.h>

#include <doca_comm_channel.h>

#include "comch/comch.h"
#include "comm_channel/cchan.h"
#include "dev/eal.h"
#include "log/log.h"

/* Minimum rate of runs by a sender that never blocks. */
#define RUNS_PER_S 20000
/* How long the destroy of 1.2 waits for peers to receive, ms. */
#define DRAIN_MS 1000

/* Errors of creating and starting, after all arguments were checked. */
static doca_error_t
link_error(int err)
{
	if (err == -ENOMEM)
		return DOCA_ERROR_NO_MEMORY;
	/* The name is in use. */
	if (err == -EADDRINUSE)
		return DOCA_ERROR_CONNECTION_ABORTED;
	return DOCA_ERROR_DRIVER;
}

static doca_error_t
need_poll(struct doca_comm_channel_ep_t *ep)
{
	struct rte_comch_poll_conf conf = {
		.conf_size = sizeof(conf), .name = "comm_channel", .socket_id = SOCKET_ID_ANY,
	};
	doca_error_t ret;

	/* An endpoint of 1.2 has no open device, which would have started EAL. */
	ret = impl_eal_start();
	if (ret != DOCA_SUCCESS)
		return ret;
	if (ep->poll == NULL)
		ep->poll = rte_comch_poll_create(&conf);
	ep->run_cycles = rte_get_tsc_hz() / RUNS_PER_S;
	if (ep->poll != NULL)
		return DOCA_SUCCESS;
	return rte_errno == ENOMEM ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_INITIALIZATION;
}

/* Listening */

/* Sizes that were set before the device was known, or not at all. */
static void
limit_sizes(struct doca_comm_channel_ep_t *ep, const struct doca_dev *dev)
{
	const struct impl_limits *limits = &impl_dev_manners(dev)->limits;

	ep->max_msg_size = (uint16_t)RTE_MIN((uint32_t)ep->max_msg_size, limits->max_msg_size);
	ep->recv_queue = (uint16_t)RTE_MIN((uint32_t)ep->recv_queue, limits->max_recv_queue_size);
	ep->send_queue = (uint16_t)RTE_MIN((uint32_t)ep->send_queue, limits->max_send_tasks);
}

static doca_error_t
add_server(struct doca_comm_channel_ep_t *ep, struct doca_dev *dev, uint16_t rep,
		const char *name)
{
	struct rte_comch_server_conf conf = {
		.conf_size = sizeof(conf),
		.poll = ep->poll,
		.name = name,
		.rep = rep,
		.flags = RTE_COMCH_SERVER_F_MANUAL_ACCEPT | RTE_COMCH_SERVER_F_CTRL_ONLY |
			RTE_COMCH_SERVER_F_MANUAL_CREDIT | impl_ordered_flag(dev),
	};
	struct rte_comch_server *server, **servers;
	int ret;

	limit_sizes(ep, dev);
	conf.max_msg_size = ep->max_msg_size;
	conf.recv_queue = ep->recv_queue;
	conf.send_queue = ep->send_queue;
	servers = realloc(ep->servers, (ep->nb_servers + 1) * sizeof(*servers));
	if (servers == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ep->servers = servers;
	impl_set_max_clients(&conf, dev);
	server = rte_comch_server_create(impl_dev_id(dev), &conf);
	if (server == NULL)
		return link_error(-rte_errno);
	ret = rte_comch_server_start(server);
	if (ret != 0) {
		IMPL_ERR("listen on %s: %s", name, ret == -EADDRINUSE ?
			"name is in use on this representor" :
			rte_strerror(-ret));
		rte_comch_server_destroy(server);
		return link_error(ret);
	}
	ep->servers[ep->nb_servers++] = server;
	ep->again_after_send |= impl_dev_manners(dev)->again_after_send;
	if (impl_dev_manners(dev)->faults != NULL)
		ep->faults = impl_dev_manners(dev)->faults;
	return DOCA_SUCCESS;
}

static doca_error_t
listen_on_all(struct doca_comm_channel_ep_t *ep, const char *name)
{
	struct rte_comch_dev_info info;
	doca_error_t ret;
	uint32_t i;
	uint16_t rep;

	ret = impl_cchan_open(ep, true);
	for (i = 0; i < ep->nb_devs && ret == DOCA_SUCCESS; i++) {
		if (rte_comch_dev_info_get(impl_dev_id(ep->devs[i]), &info) != 0)
			return DOCA_ERROR_DRIVER;
		for (rep = 0; rep < info.nb_reps && ret == DOCA_SUCCESS; rep++)
			ret = add_server(ep, ep->devs[i], rep, name);
	}
	return ret;
}

/* Check the device and representor of an endpoint of 1.5 and later. */
static doca_error_t
check_listen(const struct doca_comm_channel_ep_t *ep)
{
	if (ep->dev == NULL)
		return DOCA_ERROR_BAD_STATE;
	if (!impl_dev_is_dpu(ep->dev))
		return DOCA_ERROR_NOT_PERMITTED;
	if (ep->rep == NULL)
		return DOCA_ERROR_BAD_STATE;
	return impl_rep_dev(ep->rep) == ep->dev ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t
listen_locked(struct doca_comm_channel_ep_t *ep, const char *name)
{
	doca_error_t ret;

	if (ep->kind != CCHAN_NONE)
		return DOCA_ERROR_NOT_PERMITTED;
	ret = ep->is_102 ? impl_cchan_need_side(true) : check_listen(ep);
	if (ret == DOCA_SUCCESS)
		ret = need_poll(ep);
	if (ret != DOCA_SUCCESS)
		return ret;
	ep->kind = CCHAN_SERVICE;
	ep->service_lost = false;
	ret = ep->is_102 ? listen_on_all(ep, name) :
		add_server(ep, ep->dev, impl_rep_id(ep->rep), name);
	if (ret != DOCA_SUCCESS) {
		impl_cchan_unlink(ep);
		return ret;
	}
	/* The first event of a service needs no snapshot to arm it. */
	if (!ep->is_102)
		impl_cchan_channel_arm(ep, CCHAN_EVENT_SERVICE);
	return DOCA_SUCCESS;
}

doca_error_t
doca_comm_channel_ep_listen(struct doca_comm_channel_ep_t *local_ep, const char *name)
{
	doca_error_t ret;

	if (local_ep == NULL || impl_name_check("listen", name) != DOCA_SUCCESS)
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(local_ep);
	ret = listen_locked(local_ep, name);
	impl_cchan_unlock(local_ep);
	return ret;
}

/* Connecting */

static doca_error_t
start_client(struct doca_comm_channel_ep_t *ep, struct doca_dev *dev, const char *name)
{
	struct rte_comch_client_conf conf = {
		.conf_size = sizeof(conf),
		.poll = ep->poll,
		.name = name,
		.flags = RTE_COMCH_CLIENT_F_CTRL_ONLY | RTE_COMCH_CLIENT_F_MANUAL_CREDIT,
	};
	int ret;

	limit_sizes(ep, dev);
	conf.max_msg_size = ep->max_msg_size;
	conf.recv_queue = ep->recv_queue;
	conf.send_queue = ep->send_queue;
	ep->again_after_send = impl_dev_manners(dev)->again_after_send;
	ep->faults = impl_dev_manners(dev)->faults;
	ep->client = rte_comch_client_create(impl_dev_id(dev), &conf);
	if (ep->client == NULL)
		return link_error(-rte_errno);
	ret = rte_comch_client_start(ep->client);
	return ret == -EINPROGRESS ? DOCA_SUCCESS : link_error(ret);
}

/* Start, and check whether that fails at once. An endpoint of 1.2 waits for the result. */
static doca_error_t
connect_peer(struct doca_comm_channel_ep_t *ep, const char *name,
		struct doca_comm_channel_addr_t **peer)
{
	struct doca_comm_channel_addr_t *addr;
	doca_error_t ret = DOCA_SUCCESS;

	if (ep->is_102)
		ret = impl_cchan_open(ep, false);
	if (ret != DOCA_SUCCESS)
		return ret;
	addr = impl_cchan_addr_get(ep);
	if (addr == NULL)
		return DOCA_ERROR_NO_MEMORY;
	addr->is_exposed = true;
	ret = start_client(ep, ep->is_102 ? ep->devs[0] : ep->dev, name);
	if (ret != DOCA_SUCCESS)
		return ret;
	impl_cchan_run(ep);
	/* The next run reports an immediate failure. */
	if (rte_comch_client_state(ep->client) == RTE_COMCH_STATE_IDLE)
		impl_cchan_run(ep);
	while (ep->is_102 && addr->state == CCHAN_CONNECTING)
		if (!impl_cchan_wait(ep, addr))
			return DOCA_ERROR_CONNECTION_ABORTED;
	*peer = addr;
	return addr->state == CCHAN_REFUSED ? DOCA_ERROR_CONNECTION_ABORTED : DOCA_SUCCESS;
}

static doca_error_t
connect_locked(struct doca_comm_channel_ep_t *ep, const char *name,
		struct doca_comm_channel_addr_t **peer)
{
	doca_error_t ret = DOCA_SUCCESS;
	uint32_t life;

	if (ep->kind != CCHAN_NONE)
		return DOCA_ERROR_NOT_PERMITTED;
	if (ep->is_102)
		ret = impl_cchan_need_side(false);
	else if (ep->dev == NULL)
		return DOCA_ERROR_BAD_STATE;
	else if (impl_dev_is_dpu(ep->dev))
		return DOCA_ERROR_NOT_PERMITTED;
	if (ret == DOCA_SUCCESS)
		ret = need_poll(ep);
	if (ret != DOCA_SUCCESS)
		return ret;
	ep->kind = CCHAN_CLIENT;
	life = ep->nb_unlinks;
	ret = connect_peer(ep, name, peer);
	if (ret != DOCA_SUCCESS) {
		*peer = NULL;
		/* Another thread may have disconnected it, and connected it again. */
		if (ep->nb_unlinks == life)
			impl_cchan_unlink(ep);
	}
	impl_cchan_settle(ep);
	return ret;
}

doca_error_t
doca_comm_channel_ep_connect(struct doca_comm_channel_ep_t *local_ep, const char *name,
		struct doca_comm_channel_addr_t **peer_addr)
{
	doca_error_t ret;

	if (local_ep == NULL || peer_addr == NULL ||
			impl_name_check("connect", name) != DOCA_SUCCESS)
		return DOCA_ERROR_INVALID_VALUE;
	*peer_addr = NULL;
	impl_cchan_lock(local_ep);
	ret = connect_locked(local_ep, name, peer_addr);
	impl_cchan_unlock(local_ep);
	return ret;
}

/* Closing */

/* Wait until the peers have received all messages or are lost. */
static void
drain(struct doca_comm_channel_ep_t *ep)
{
	uint64_t deadline = rte_rdtsc() + rte_get_tsc_hz() / 1000 * DRAIN_MS;
	struct doca_comm_channel_addr_t *addr;
	bool busy = true;

	while (busy && rte_rdtsc() < deadline) {
		busy = false;
		TAILQ_FOREACH(addr, &ep->addrs, next)
			busy |= addr->state == CCHAN_UP && impl_cchan_in_flight(addr) > 0;
		if (!impl_cchan_run(ep))
			return;
		rte_pause();
	}
}

/* Run until the stopped objects are IDLE, ignoring events. */
static void
run_until_idle(struct doca_comm_channel_ep_t *ep)
{
	bool busy = true;
	uint32_t i;

	while (busy) {
		rte_comch_poll_run(ep->poll, ep->ev, CCHAN_BURST);
		busy = rte_comch_client_state(ep->client) != RTE_COMCH_STATE_IDLE;
		for (i = 0; i < ep->nb_servers; i++)
			busy |= rte_comch_server_state(ep->servers[i]) != RTE_COMCH_STATE_IDLE;
		rte_pause();
	}
}

void
impl_cchan_unlink(struct doca_comm_channel_ep_t *ep)
{
	uint32_t i;

	if (ep->is_102 && ep->poll != NULL)
		drain(ep);
	while (!TAILQ_EMPTY(&ep->addrs))
		impl_cchan_addr_put(TAILQ_FIRST(&ep->addrs));
	ep->nb_ev = ep->next_ev = 0;
	ep->again_after_send = ep->was_sent = false;
	ep->faults = NULL;
	/* An error means it is STOPPING or IDLE already. */
	for (i = 0; i < ep->nb_servers; i++)
		if (rte_comch_server_state(ep->servers[i]) == RTE_COMCH_STATE_RUNNING)
			rte_comch_server_stop(ep->servers[i]);
	if (rte_comch_client_state(ep->client) == RTE_COMCH_STATE_RUNNING ||
			rte_comch_client_state(ep->client) == RTE_COMCH_STATE_STARTING)
		rte_comch_client_stop(ep->client);
	if (ep->nb_servers > 0 || ep->client != NULL)
		run_until_idle(ep);
	while (ep->nb_servers > 0)
		rte_comch_server_destroy(ep->servers[--ep->nb_servers]);
	free(ep->servers);
	ep->servers = NULL;
	if (ep->client != NULL)
		rte_comch_client_destroy(ep->client);
	ep->client = NULL;
	impl_cchan_close(ep);
	ep->kind = CCHAN_NONE;
	ep->nb_unlinks++;
}

static doca_error_t
disconnect_locked(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t *peer)
{
	struct rte_comch_conn *native;

	if (!impl_cchan_is_peer(ep, peer))
		return DOCA_ERROR_NOT_CONNECTED;
	if (ep->kind == CCHAN_CLIENT) {
		impl_cchan_unlink(ep);
		impl_cchan_settle(ep);
		return DOCA_SUCCESS;
	}
	native = peer->native;
	impl_cchan_addr_put(peer);
	/* An error means it is ending already. */
	if (native != NULL)
		rte_comch_conn_disconnect(native, "disconnected");
	impl_cchan_settle(ep);
	return DOCA_SUCCESS;
}

doca_error_t
doca_comm_channel_ep_disconnect(struct doca_comm_channel_ep_t *local_ep,
		struct doca_comm_channel_addr_t *peer_addr)
{
	doca_error_t ret;

	if (local_ep == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(local_ep);
	ret = disconnect_locked(local_ep, peer_addr);
	impl_cchan_unlock(local_ep);
	return ret;
}
