/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Functions that only DOCA 1.2 to 1.4 have. */

#include <rte_common.h>

#include <comch_doca_comm_channel_102.h>

#include "comm_channel/cchan.h"

#define MAX_MSGS 8191
#define MAX_MSG_SIZE 4080

doca_error_t
doca_comm_channel_ep_create(struct doca_comm_channel_init_attr *attr,
		struct doca_comm_channel_ep_t **ep)
{
	struct doca_comm_channel_ep_t *e;

	if (attr == NULL || ep == NULL || attr->maxmsgs > MAX_MSGS ||
			(attr->flags & ~(uint32_t)DOCA_CC_INIT_FLAG_NONBLOCK) != 0)
		return DOCA_ERROR_INVALID_VALUE;
	if (attr->msgsize > MAX_MSG_SIZE)
		return DOCA_ERROR_NOT_PERMITTED;
	e = impl_cchan_create();
	if (e == NULL)
		return DOCA_ERROR_NO_MEMORY;
	e->is_102 = true;
	e->nonblock = (attr->flags & DOCA_CC_INIT_FLAG_NONBLOCK) != 0;
	e->cookie = attr->cookie;
	e->max_msg_size = (uint16_t)RTE_MAX(attr->msgsize, (uint32_t)CCHAN_MIN_MSG);
	e->send_queue = e->recv_queue = impl_cchan_queue(attr->maxmsgs);
	*ep = e;
	return DOCA_SUCCESS;
}

doca_event_channel_t
doca_comm_channel_ep_event_channel_get(struct doca_comm_channel_ep_t *local_ep)
{
	int fd = -1;

	if (local_ep == NULL)
		return -1;
	impl_cchan_lock(local_ep);
	if (local_ep->kind != CCHAN_NONE)
		fd = impl_cchan_channel_fd(local_ep, CCHAN_EVENT_ANY);
	impl_cchan_unlock(local_ep);
	return fd;
}

static doca_error_t
info_get_locked(struct doca_comm_channel_addr_t *addr,
		struct doca_comm_channel_peer_addr_info *info)
{
	doca_error_t ret = impl_cchan_update(addr);

	if (ret == DOCA_ERROR_INVALID_VALUE)
		return ret;
	*info = (struct doca_comm_channel_peer_addr_info){
		.vport = addr->vport,
		.msgsize = addr->max_msg_size,
		.maxmsgs = addr->ep->send_queue,
		.curmsgs = (uint32_t)addr->snapshot.in_flight,
		.rx_msgs = addr->snapshot.recv_msgs,
		.tx_msgs = addr->snapshot.send_msgs,
		.rx_bytes = addr->snapshot.recv_bytes,
		.tx_bytes = addr->snapshot.send_bytes,
	};
	return ret;
}

doca_error_t
doca_comm_channel_peer_addr_info_get(struct doca_comm_channel_addr_t *peer_addr,
		struct doca_comm_channel_peer_addr_info *info)
{
	doca_error_t ret;

	if (peer_addr == NULL || info == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	impl_cchan_lock(peer_addr->ep);
	ret = info_get_locked(peer_addr, info);
	impl_cchan_unlock(peer_addr->ep);
	return ret;
}
