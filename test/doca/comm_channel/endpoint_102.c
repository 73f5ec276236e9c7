/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <doca_comm_channel.h>

#include "comm_channel/endpoint_102.h"
#include "t.h"

struct doca_comm_channel_ep_t *
endpoint_102_create(void)
{
	struct doca_comm_channel_init_attr attr = {
		.flags = DOCA_CC_INIT_FLAG_NONBLOCK, .maxmsgs = 64, .msgsize = 4080,
	};
	struct doca_comm_channel_ep_t *ep;

	T_EQ(doca_comm_channel_ep_create(&attr, &ep), DOCA_SUCCESS);
	return ep;
}

size_t
endpoint_102_recv(struct doca_comm_channel_ep_t *ep, void *msg, size_t size,
		struct doca_comm_channel_addr_t **peer)
{
	const uint64_t end = t_now_ms() + T_TIMEOUT_MS;
	doca_error_t ret;
	size_t len;

	do {
		T_LT(t_now_ms(), end);
		len = size;
		ret = doca_comm_channel_ep_recvfrom(ep, msg, &len, 0, peer);
	} while (ret == DOCA_ERROR_AGAIN);
	T_EQ(ret, DOCA_SUCCESS);
	return len;
}
