/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Comm Channel, of DOCA 1.5 to 2.8: the client sends a text, the service answers
 * with its own. A side with nothing to do sleeps on the event channels.
 */

#include <time.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <doca_comm_channel.h>

#include "base.h"

DOCA_LOG_REGISTER(PROGRAM::ENDPOINT);

#define MAX_MSG 4080
#define QUEUE 10

struct endpoint {
	struct options options;
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_comm_channel_ep_t *ep;
	struct doca_comm_channel_addr_t *peer;
	doca_event_channel_t send_event, recv_event;
	int epoll_fd;
	char msg[MAX_MSG + 1];
};

static bool
set_properties(struct endpoint *e)
{
	uint16_t size = 0;

	return !FAILS(doca_comm_channel_ep_create(&e->ep)) &&
		!FAILS(doca_comm_channel_ep_set_device(e->ep, e->dev)) &&
		!FAILS(doca_comm_channel_ep_set_max_msg_size(e->ep, MAX_MSG)) &&
		!FAILS(doca_comm_channel_ep_set_send_queue_size(e->ep, QUEUE)) &&
		!FAILS(doca_comm_channel_ep_set_recv_queue_size(e->ep, QUEUE)) &&
		!FAILS(doca_comm_channel_ep_get_recv_queue_size(e->ep, &size)) && size >= QUEUE;
}

static bool
watch(struct endpoint *e, int fd)
{
	struct epoll_event event;

	memset(&event, 0, sizeof(event));
	event.events = EPOLLIN;
	event.data.fd = fd;
	return epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool
open_events(struct endpoint *e)
{
	e->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return e->epoll_fd >= 0 &&
		!FAILS(doca_comm_channel_ep_get_event_channel(e->ep, &e->send_event,
			&e->recv_event)) &&
		watch(e, e->send_event) && watch(e, e->recv_event);
}

/* One that is armed, and no other, is what wakes us. */
static bool
sleep_until(struct endpoint *e, int fd)
{
	struct epoll_event event;

	do {
		if (epoll_wait(e->epoll_fd, &event, 1, -1) != 1)
			return false;
	} while (event.data.fd != fd);
	return true;
}

static bool
send_text(struct endpoint *e, const char *text)
{
	doca_error_t ret;

	while ((ret = doca_comm_channel_ep_sendto(e->ep, text, strlen(text),
			DOCA_CC_MSG_FLAG_NONE, e->peer)) == DOCA_ERROR_AGAIN)
		if (FAILS(doca_comm_channel_ep_event_handle_arm_send(e->ep)) ||
				!sleep_until(e, e->send_event))
			return false;
	return !FAILS(ret);
}

static bool
receive_text(struct endpoint *e)
{
	size_t len = MAX_MSG;
	doca_error_t ret;

	while ((ret = doca_comm_channel_ep_recvfrom(e->ep, e->msg, &len, DOCA_CC_MSG_FLAG_NONE,
			&e->peer)) == DOCA_ERROR_AGAIN) {
		len = MAX_MSG;
		if (FAILS(doca_comm_channel_ep_event_handle_arm_recv(e->ep)) ||
				!sleep_until(e, e->recv_event))
			return false;
	}
	if (FAILS(ret))
		return false;
	e->msg[len] = '\0';
	DOCA_LOG_INFO("received: %s", e->msg);
	return true;
}

static bool
pause_briefly(void)
{
	const struct timespec ts = { .tv_nsec = 1000 * 1000 };

	return nanosleep(&ts, NULL) == 0;
}

/* A message is in flight until the peer has confirmed it, which takes what it takes. */
static bool
wait_until_received(struct endpoint *e, doca_error_t *ret)
{
	uint64_t in_flight;

	do {
		*ret = doca_comm_channel_peer_addr_update_info(e->peer);
		if (FAILS(doca_comm_channel_peer_addr_get_send_in_flight_messages(e->peer,
				&in_flight)))
			return false;
	} while (in_flight > 0 && *ret == DOCA_SUCCESS && pause_briefly());
	return in_flight == 0;
}

/* Statistics, of one message each way; the peer may have gone already. */
static bool
has_exchanged(struct endpoint *e)
{
	uint64_t nb_sent, nb_received;
	doca_error_t ret;

	if (!wait_until_received(e, &ret) || (ret != DOCA_ERROR_CONNECTION_RESET && FAILS(ret)) ||
			FAILS(doca_comm_channel_peer_addr_get_send_messages(e->peer, &nb_sent)) ||
			FAILS(doca_comm_channel_peer_addr_get_recv_messages(e->peer, &nb_received)))
		return false;
	if (nb_sent == 1 && nb_received == 1)
		return true;
	DOCA_LOG_ERR("%u sent, %u received", (unsigned int)nb_sent, (unsigned int)nb_received);
	return false;
}

#ifdef DOCA_ARCH_DPU

/* The service's descriptor tells of clients that go, once a snapshot was taken. */
static bool
wait_for_end(struct endpoint *e)
{
	doca_event_channel_t service_event;
	struct doca_comm_channel_addr_t **list;
	uint32_t i, nb, nb_pending;

	if (FAILS(doca_comm_channel_ep_get_service_event_channel(e->ep, &service_event)) ||
			!watch(e, service_event))
		return false;
	for (;;) {
		if (FAILS(doca_comm_channel_ep_update_service_state_info(e->ep)) ||
				FAILS(doca_comm_channel_ep_get_peer_addr_list(e->ep, &list, &nb)) ||
				FAILS(doca_comm_channel_ep_get_pending_connections(e->ep,
					&nb_pending)))
			return false;
		for (i = 0; i < nb && list[i] != e->peer; i++)
			;
		if (i == nb)
			break;
		if (!sleep_until(e, service_event))
			return false;
	}
	return doca_comm_channel_peer_addr_update_info(e->peer) ==
		DOCA_ERROR_CONNECTION_RESET && has_exchanged(e);
}

static bool
run(struct endpoint *e)
{
	if (!base_open_rep(e->dev, e->options.rep_pci, &e->rep) || !set_properties(e) ||
			FAILS(doca_comm_channel_ep_set_device_rep(e->ep, e->rep)) ||
			FAILS(doca_comm_channel_ep_listen(e->ep, e->options.name)))
		return false;
	DOCA_LOG_INFO("listening");
	return open_events(e) && receive_text(e) && send_text(e, e->options.text) &&
		wait_for_end(e);
}

#else

static bool
connect_to_service(struct endpoint *e)
{
	doca_error_t ret;

	if (FAILS(doca_comm_channel_ep_connect(e->ep, e->options.name, &e->peer)))
		return false;
	while ((ret = doca_comm_channel_peer_addr_update_info(e->peer)) ==
			DOCA_ERROR_CONNECTION_INPROGRESS)
		if (!pause_briefly())
			return false;
	return !FAILS(ret);
}

static bool
run(struct endpoint *e)
{
	return set_properties(e) && connect_to_service(e) && open_events(e) &&
		send_text(e, e->options.text) && receive_text(e) && has_exchanged(e);
}

#endif

static bool
end(struct endpoint *e)
{
	bool good = true;

	if (e->peer != NULL)
		good = !FAILS(doca_comm_channel_ep_disconnect(e->ep, e->peer)) && good;
	if (e->ep != NULL)
		good = !FAILS(doca_comm_channel_ep_destroy(e->ep)) && good;
	if (e->epoll_fd >= 0)
		close(e->epoll_fd);
	if (e->rep != NULL)
		good = !FAILS(doca_dev_rep_close(e->rep)) && good;
	if (e->dev != NULL)
		good = !FAILS(doca_dev_close(e->dev)) && good;
	options_end();
	return good;
}

int
main(int argc, char **argv)
{
	static struct endpoint e = { .epoll_fd = -1 };
	bool good;

	good = base_start(&e.options, "endpoint", argc, argv) &&
		base_open_dev(e.options.pci, &e.dev) && run(&e);
	return end(&e) && good ? EXIT_SUCCESS : EXIT_FAILURE;
}
