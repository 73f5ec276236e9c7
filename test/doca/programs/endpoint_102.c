/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Comm Channel, of DOCA 1.2 to 1.4: the client sends a text, the service answers
 * with its own. Calls wait; with NONBLOCK they do not, and the program sleeps on
 * the event channel instead.
 */

#include <sys/epoll.h>

#include <doca_comm_channel.h>

#include "base.h"

DOCA_LOG_REGISTER(PROGRAM::ENDPOINT_102);

#define MAX_MSG 4080
#define COOKIE 0x1234

struct endpoint {
	struct options options;
	struct doca_comm_channel_ep_t *ep;
	struct doca_comm_channel_addr_t *peer;
	char msg[MAX_MSG + 1];
};

#ifdef NONBLOCK
#define EP_FLAGS DOCA_CC_INIT_FLAG_NONBLOCK
#else
#define EP_FLAGS 0
#endif

static bool
create(struct endpoint *e)
{
	struct doca_comm_channel_init_attr attr = {
		.cookie = COOKIE,
		.flags = EP_FLAGS,
		.maxmsgs = 10,
		.msgsize = MAX_MSG,
	};

	return !FAILS(doca_comm_channel_ep_create(&attr, &e->ep));
}

/* An event of this endpoint: its cookie says so. */
static bool
sleep_on(struct endpoint *e)
{
	const doca_event_channel_t channel = doca_comm_channel_ep_event_channel_get(e->ep);
	struct epoll_event event;

	return channel >= 0 && epoll_wait(channel, &event, 1, -1) == 1 &&
		event.data.u32 == COOKIE;
}

static bool
send_text(struct endpoint *e, const char *text)
{
	doca_error_t ret;

	while ((ret = doca_comm_channel_ep_sendto(e->ep, text, strlen(text), 0, e->peer)) ==
			DOCA_ERROR_AGAIN)
		if (EP_FLAGS == 0 || !sleep_on(e))
			return false;
	return !FAILS(ret);
}

static bool
receive_text(struct endpoint *e)
{
	size_t len = MAX_MSG;
	doca_error_t ret;

	while ((ret = doca_comm_channel_ep_recvfrom(e->ep, e->msg, &len, 0, &e->peer)) ==
			DOCA_ERROR_AGAIN) {
		len = MAX_MSG;
		if (EP_FLAGS == 0 || !sleep_on(e))
			return false;
	}
	if (FAILS(ret))
		return false;
	e->msg[len] = '\0';
	DOCA_LOG_INFO("received: %s", e->msg);
	return true;
}

static bool
run(struct endpoint *e)
{
#ifdef DOCA_ARCH_DPU
	if (!create(e) || FAILS(doca_comm_channel_ep_listen(e->ep, e->options.name)))
		return false;
	DOCA_LOG_INFO("listening");
	return receive_text(e) && send_text(e, e->options.text);
#else
	return create(e) &&
		!FAILS(doca_comm_channel_ep_connect(e->ep, e->options.name, &e->peer)) &&
		send_text(e, e->options.text) && receive_text(e);
#endif
}

static bool
has_exchanged(struct endpoint *e)
{
	struct doca_comm_channel_peer_addr_info info;
	const doca_error_t ret = doca_comm_channel_peer_addr_info_get(e->peer, &info);

	/* The client may have gone already. */
	return (ret == DOCA_SUCCESS || ret == DOCA_ERROR_CONNECTION_RESET) &&
		info.rx_msgs == 1 && info.tx_msgs == 1 && info.msgsize == MAX_MSG;
}

int
main(int argc, char **argv)
{
	static struct endpoint e;
	bool good;

	good = base_start(&e.options, "endpoint", argc, argv) && run(&e) && has_exchanged(&e);
	/* Waits until what was sent has arrived. */
	if (e.ep != NULL && FAILS(doca_comm_channel_ep_destroy(e.ep)))
		good = false;
	options_end();
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
