/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <doca_comm_channel.h>

#include "comm_channel/endpoint_102.h"
#include "common/result.h"
#include "t.h"

struct doca_comm_channel_ep_t *
endpoint_102_create(void)
{
	struct doca_comm_channel_init_attr attr = {
		.flags = DOCA_CC_INIT_FLAG_NONBLOCK, .maxmsgs = 64, .msgsize = 4080,
	};
	struct doca_comm_channel_ep_t *ep;

	T_OK(doca_comm_channel_ep_create(&attr, &ep));
	return ep;
}

size_t
endpoint_102_recv(struct doca_comm_channel_ep_t *ep, void *msg, size_t size,
		struct doca_comm_channel_addr_t **peer)
{
	doca_error_t ret;
	size_t len;

	T_AWAIT((len = size, ret = doca_comm_channel_ep_recvfrom(ep, msg, &len, 0, peer)) !=
		DOCA_ERROR_AGAIN);
	T_OK(ret);
	return len;
}
