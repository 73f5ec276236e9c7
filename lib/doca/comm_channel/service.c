/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The state of a service. */

#include <stdlib.h>

#include <doca_comm_channel.h>

#include "dface_cchan.h"

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
		addr->known = true;
		list[ep->list_len++] = addr;
	}
	return DOCA_SUCCESS;
}

doca_error_t
doca_comm_channel_ep_update_service_state_info(struct doca_comm_channel_ep_t *local_ep)
{
	doca_error_t ret;

	if (local_ep == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (local_ep->kind != CCHAN_SERVICE)
		return DOCA_ERROR_NOT_SUPPORTED;
	dface_cchan_run(local_ep);
	ret = take_snapshot(local_ep);
	if (ret != DOCA_SUCCESS) {
		dface_cchan_settle(local_ep);
		return ret;
	}
	/* What the snapshot shows is no news any more. */
	local_ep->service_changed = false;
	dface_cchan_channel_arm(local_ep, CCHAN_EVENT_SERVICE);
	return local_ep->service_lost ? DOCA_ERROR_CONNECTION_RESET : DOCA_SUCCESS;
}

doca_error_t
doca_comm_channel_ep_get_peer_addr_list(const struct doca_comm_channel_ep_t *local_ep,
		struct doca_comm_channel_addr_t ***peer_addr_array, uint32_t *peer_addr_array_len)
{
	if (local_ep == NULL || peer_addr_array == NULL || peer_addr_array_len == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (local_ep->kind != CCHAN_SERVICE)
		return DOCA_ERROR_NOT_SUPPORTED;
	*peer_addr_array = local_ep->list;
	*peer_addr_array_len = local_ep->list_len;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comm_channel_ep_get_pending_connections(const struct doca_comm_channel_ep_t *local_ep,
		uint32_t *pending_connections)
{
	if (local_ep == NULL || pending_connections == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (local_ep->kind != CCHAN_SERVICE)
		return DOCA_ERROR_NOT_SUPPORTED;
	*pending_connections = local_ep->list_pending;
	return DOCA_SUCCESS;
}
