/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <doca_comm_channel.h>

#include "comm_channel/endpoint_102.h"
#include "common/result.h"
#include "t.h"

static struct doca_comm_channel_ep_t *
create(uint32_t flags, uint32_t maxmsgs, uint32_t cookie)
{
	struct doca_comm_channel_init_attr attr = {
		.cookie = cookie, .flags = flags, .maxmsgs = maxmsgs, .msgsize = 4080,
	};
	struct doca_comm_channel_ep_t *ep = NULL;

	T_OK(doca_comm_channel_ep_create(&attr, &ep));
	T_CHECK(ep != NULL);
	/* It was copied. */
	memset(&attr, 0xff, sizeof(attr));
	return ep;
}

struct doca_comm_channel_ep_t *
endpoint_102_create(uint32_t maxmsgs, uint32_t cookie)
{
	return create(0, maxmsgs, cookie);
}

struct doca_comm_channel_ep_t *
endpoint_102_create_nonblock(uint32_t maxmsgs, uint32_t cookie)
{
	return create(DOCA_CC_INIT_FLAG_NONBLOCK, maxmsgs, cookie);
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

void
endpoint_102_send_number(struct doca_comm_channel_ep_t *ep,
		struct doca_comm_channel_addr_t *peer, uint32_t number)
{
	T_OK(doca_comm_channel_ep_sendto(ep, &number, sizeof(number), 0, peer));
}

uint32_t
endpoint_102_recv_number(struct doca_comm_channel_ep_t *ep,
		struct doca_comm_channel_addr_t **peer)
{
	uint32_t number;

	T_EQ(endpoint_102_recv(ep, &number, sizeof(number), peer), sizeof(number));
	return number;
}
