/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Peer addresses: user data, state, statistics. */

#include <stddef.h>
#include <string.h>

#include <doca_comm_channel.h>

#include "base/alias.h"
#include "comm_channel/cchan.h"

doca_error_t
doca_comm_channel_peer_addr_user_data_get(struct doca_comm_channel_addr_t *peer_addr,
		uint64_t *user_context)
{
	if (peer_addr == NULL || user_context == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(peer_addr->ep);
	*user_context = peer_addr->user_data;
	impl_cchan_unlock(peer_addr->ep);
	return DOCA_SUCCESS;
}

IMPL_ALIAS(doca_comm_channel_peer_addr_get_user_data, doca_comm_channel_peer_addr_user_data_get);

doca_error_t
doca_comm_channel_peer_addr_user_data_set(struct doca_comm_channel_addr_t *peer_addr,
		uint64_t user_context)
{
	if (peer_addr == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(peer_addr->ep);
	peer_addr->user_data = user_context;
	impl_cchan_unlock(peer_addr->ep);
	return DOCA_SUCCESS;
}

IMPL_ALIAS(doca_comm_channel_peer_addr_set_user_data, doca_comm_channel_peer_addr_user_data_set);

doca_error_t
impl_cchan_update(struct doca_comm_channel_addr_t *addr)
{
	struct doca_comm_channel_ep_t *ep = addr->ep;

	if (addr->state == CCHAN_FREE)
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_run(ep);
	addr->snapshot = addr->now;
	addr->snapshot.in_flight = impl_cchan_in_flight(addr);
	impl_cchan_settle(ep);
	switch (addr->state) {
	case CCHAN_UP:
		return DOCA_SUCCESS;
	case CCHAN_LOST:
		return DOCA_ERROR_CONNECTION_RESET;
	case CCHAN_REFUSED:
		return DOCA_ERROR_CONNECTION_ABORTED;
	default:
		return DOCA_ERROR_CONNECTION_INPROGRESS;
	}
}

doca_error_t
doca_comm_channel_peer_addr_update_info(struct doca_comm_channel_addr_t *peer_addr)
{
	doca_error_t ret;

	if (peer_addr == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(peer_addr->ep);
	ret = impl_cchan_update(peer_addr);
	impl_cchan_unlock(peer_addr->ep);
	return ret;
}

static doca_error_t
tell(const struct doca_comm_channel_addr_t *addr, size_t counter, uint64_t *out)
{
	if (addr == NULL || out == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(addr->ep);
	memcpy(out, (const uint8_t *)&addr->snapshot + counter, sizeof(*out));
	impl_cchan_unlock(addr->ep);
	return DOCA_SUCCESS;
}

doca_error_t
doca_comm_channel_peer_addr_get_send_messages(const struct doca_comm_channel_addr_t *peer_addr,
		uint64_t *send_messages)
{
	return tell(peer_addr, offsetof(struct cchan_stats, send_msgs), send_messages);
}

doca_error_t
doca_comm_channel_peer_addr_get_send_bytes(const struct doca_comm_channel_addr_t *peer_addr,
		uint64_t *send_bytes)
{
	return tell(peer_addr, offsetof(struct cchan_stats, send_bytes), send_bytes);
}

doca_error_t
doca_comm_channel_peer_addr_get_recv_messages(const struct doca_comm_channel_addr_t *peer_addr,
		uint64_t *recv_messages)
{
	return tell(peer_addr, offsetof(struct cchan_stats, recv_msgs), recv_messages);
}

doca_error_t
doca_comm_channel_peer_addr_get_recv_bytes(const struct doca_comm_channel_addr_t *peer_addr,
		uint64_t *recv_bytes)
{
	return tell(peer_addr, offsetof(struct cchan_stats, recv_bytes), recv_bytes);
}

doca_error_t
doca_comm_channel_peer_addr_get_send_in_flight_messages(
		const struct doca_comm_channel_addr_t *peer_addr,
		uint64_t *send_in_flight_messages)
{
	return tell(peer_addr, offsetof(struct cchan_stats, in_flight), send_in_flight_messages);
}

IMPL_ALIAS(doca_comm_channel_peer_addr_get_rcv_messages,
	doca_comm_channel_peer_addr_get_recv_messages);

IMPL_ALIAS(doca_comm_channel_peer_addr_get_rcv_bytes, doca_comm_channel_peer_addr_get_recv_bytes);
