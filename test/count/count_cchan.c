/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* doca_comm_channel. */

#include "comm_channel/endpoint.h"
#include "count.h"

#define LEN 64

static struct channel pair;

static void
open_cchan(void)
{
	channel_open(&pair);
	channel_meet(&pair);
}

static void
close_cchan(void)
{
	channel_close(&pair);
}

static void
move(struct endpoint *from, struct endpoint *to)
{
	static const uint8_t out[LEN];
	struct doca_comm_channel_addr_t *peer;
	uint8_t in[LEN];
	size_t len = sizeof(in);
	doca_error_t ret;

	COUNT(COUNT_SEND, ret = doca_comm_channel_ep_sendto(from->ep, out, LEN,
		DOCA_CC_MSG_FLAG_NONE, from->peer));
	T_OK(ret);
	COUNT(COUNT_RECV, ret = doca_comm_channel_ep_recvfrom(to->ep, in, &len,
		DOCA_CC_MSG_FLAG_NONE, &peer));
	T_OK(ret);
	T_EQ(len, LEN);
}

/* By turns: an endpoint that only sends also runs its poll by the clock. */
static void
step_cchan(void)
{
	move(&pair.client, &pair.service);
	move(&pair.service, &pair.client);
}

const struct count_row count_rows_cchan[] = {
	{ "cchan", "messages of 64 bytes over doca_comm_channel, by turns", 2, open_cchan,
		step_cchan, close_cchan },
	{ .name = NULL },
};
