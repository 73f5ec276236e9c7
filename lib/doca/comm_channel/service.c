/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* State of a service. */

#include <stdlib.h>

#include <doca_comm_channel.h>

#include "comm_channel/cchan.h"

/* Maximum runs of an update that bring no message. */
#define UPDATE_RUNS 16

/*
 * Run until no connection has changed: a run checks descriptors only now and then, and
 * reports the end of a connection after all its earlier events. Messages are bounded by
 * the receive queues.
 */
static void
catch_up(struct doca_comm_channel_ep_t *ep)
{
	unsigned int i = 0;
	uint32_t unread;

	do {
		unread = ep->nb_unread;
		if (!impl_cchan_run(ep))
			return;
		i += ep->nb_unread == unread;
	} while (i < UPDATE_RUNS &&
		(ep->nb_ev > 0 || rte_comch_poll_arm(ep->poll, RTE_COMCH_POLL_LINK) != 0));
}

static doca_error_t
take_snapshot(struct doca_comm_channel_ep_t *ep)
{
	struct doca_comm_channel_addr_t *addr, **list;
	uint32_t n = 0;

	TAILQ_FOREACH(addr, &ep->addrs, next)
		n += addr->state == CCHAN_UP;
	list = calloc(n + 1u, sizeof(*list));
	if (list == NULL)
		return DOCA_ERROR_NO_MEMORY;
	free(ep->list);
	ep->list = list;
	ep->list_len = 0;
	ep->list_pending = ep->nb_pending;
	TAILQ_FOREACH(addr, &ep->addrs, next) {
		if (addr->state != CCHAN_UP)
			continue;
		addr->is_exposed = true;
		list[ep->list_len++] = addr;
	}
	return DOCA_SUCCESS;
}

static doca_error_t
update_locked(struct doca_comm_channel_ep_t *ep)
{
	doca_error_t ret;

	if (ep->kind != CCHAN_SERVICE)
		return DOCA_ERROR_NOT_SUPPORTED;
	catch_up(ep);
	ret = take_snapshot(ep);
	if (ret != DOCA_SUCCESS) {
		impl_cchan_settle(ep);
		return ret;
	}
	/* The program sees all changes so far in this snapshot. */
	ep->service_changed = false;
	impl_cchan_channel_arm(ep, CCHAN_EVENT_SERVICE);
	return ep->service_lost ? DOCA_ERROR_CONNECTION_RESET : DOCA_SUCCESS;
}

doca_error_t
doca_comm_channel_ep_update_service_state_info(struct doca_comm_channel_ep_t *local_ep)
{
	doca_error_t ret;

	if (local_ep == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(local_ep);
	ret = update_locked(local_ep);
	impl_cchan_unlock(local_ep);
	return ret;
}

doca_error_t
doca_comm_channel_ep_get_peer_addr_list(const struct doca_comm_channel_ep_t *local_ep,
		struct doca_comm_channel_addr_t ***peer_addr_array, uint32_t *peer_addr_array_len)
{
	doca_error_t ret = DOCA_ERROR_NOT_SUPPORTED;

	if (local_ep == NULL || peer_addr_array == NULL || peer_addr_array_len == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(local_ep);
	if (local_ep->kind == CCHAN_SERVICE) {
		*peer_addr_array = local_ep->list;
		*peer_addr_array_len = local_ep->list_len;
		ret = DOCA_SUCCESS;
	}
	impl_cchan_unlock(local_ep);
	return ret;
}

doca_error_t
doca_comm_channel_ep_get_pending_connections(const struct doca_comm_channel_ep_t *local_ep,
		uint32_t *pending_connections)
{
	doca_error_t ret = DOCA_ERROR_NOT_SUPPORTED;

	if (local_ep == NULL || pending_connections == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(local_ep);
	if (local_ep->kind == CCHAN_SERVICE) {
		*pending_connections = local_ep->list_pending;
		ret = DOCA_SUCCESS;
	}
	impl_cchan_unlock(local_ep);
	return ret;
}
