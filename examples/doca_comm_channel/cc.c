/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Comm Channel of DOCA 1.5 to 2.8: a client on the host sends a text several times, and
 * the service on the DPU answers each with its own text, to any number of clients at
 * once. The client exits after all answers, the service on Ctrl-C or after --count
 * clients.
 *
 *     cc_server -p 03:00.0 -r b1:00.0 -t "Hello from the DPU" -c 1 &
 *     cc_client -p b1:00.0 -t "Hello from the host" -c 3
 *
 * An endpoint advances only within our calls. So there is one loop: do all pending work,
 * arm the event channels, sleep until one of them is readable.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <doca_comm_channel.h>
#include <doca_log.h>

#include "../common/text.h"
#include "../doca_common/side.h"

DOCA_LOG_REGISTER(CC);

#define MAX_TEXT 4080

/* How long and how often the client retries if no service listens. */
#define CONNECT_S 10
#define RETRY_MS 100
/* Interval of checks for the accept, which wakes no event channel. */
#define ACCEPT_MS 5

/* State of a connection: user data of its peer address. */
struct peer {
	struct peer *next;
	struct doca_comm_channel_addr_t *addr;
	unsigned int number;
	uint32_t nb_due; /* texts still to send */
	bool is_gone;
};

struct app {
	struct side side;    /* first: see side_options() */
	char text[MAX_TEXT + 1];
	uint32_t count;      /* host: texts to send; DPU: clients to serve, 0: no end */
	uint32_t size;       /* options; 0: default */
	uint32_t queue;
	struct doca_comm_channel_ep_t *ep;
	struct peer *peers;
	unsigned int nb_peers;
	unsigned int nb_gone;
	uint32_t nb_received;
	int epoll_fd;
	bool is_over;
};

/* Peers */

static struct peer *
add_peer(struct app *app, struct doca_comm_channel_addr_t *addr)
{
	struct peer *peer = calloc(1, sizeof(*peer));

	if (peer == NULL) {
		side_check(&app->side, DOCA_ERROR_NO_MEMORY, "allocate peer");
		return NULL;
	}
	peer->addr = addr;
	peer->number = ++app->nb_peers;
	peer->next = app->peers;
	app->peers = peer;
	doca_comm_channel_peer_addr_set_user_data(addr, (uintptr_t)peer);
	printf(SIDE_NAME ": connection %u is up\n", peer->number);
	return peer;
}

/* A service gets no event for a new client: its address is simply new. */
static struct peer *
peer_of(struct app *app, struct doca_comm_channel_addr_t *addr)
{
	uint64_t user_data = 0;

	doca_comm_channel_peer_addr_get_user_data(addr, &user_data);
	return user_data != 0 ? (struct peer *)(uintptr_t)user_data : add_peer(app, addr);
}

/* Getters return the statistics of the last update. */
static void
print_statistics(const struct peer *peer)
{
	uint64_t nb_sent = 0, sent = 0, nb_received = 0, received = 0;

	doca_comm_channel_peer_addr_update_info(peer->addr);
	doca_comm_channel_peer_addr_get_send_messages(peer->addr, &nb_sent);
	doca_comm_channel_peer_addr_get_send_bytes(peer->addr, &sent);
	doca_comm_channel_peer_addr_get_recv_messages(peer->addr, &nb_received);
	doca_comm_channel_peer_addr_get_recv_bytes(peer->addr, &received);
	printf(SIDE_NAME ": connection %u ends: %llu texts of %llu bytes received, "
		"%llu of %llu sent\n", peer->number, (unsigned long long)nb_received,
		(unsigned long long)received, (unsigned long long)nb_sent,
		(unsigned long long)sent);
}

/* The endpoint keeps every peer until this disconnect, even if the peer left. */
static void
end_peer(struct app *app, struct peer *peer)
{
	print_statistics(peer);
	doca_comm_channel_ep_disconnect(app->ep, peer->addr);
	free(peer);
}

static void
end_peers(struct app *app, bool all)
{
	struct peer **link = &app->peers, *peer;

	while ((peer = *link) != NULL) {
		if (!all && !peer->is_gone) {
			link = &peer->next;
			continue;
		}
		*link = peer->next;
		app->nb_gone++;
		end_peer(app, peer);
	}
}

/* Pending work */

static void
receive(struct app *app)
{
	struct doca_comm_channel_addr_t *addr;
	static char text[MAX_TEXT];
	struct peer *peer;
	doca_error_t result;
	size_t len;

	for (;;) {
		len = sizeof(text);
		result = doca_comm_channel_ep_recvfrom(app->ep, text, &len, DOCA_CC_MSG_FLAG_NONE,
				&addr);
		if (result == DOCA_ERROR_AGAIN || !side_check(&app->side, result, "receive"))
			return;
		peer = peer_of(app, addr);
		if (peer == NULL)
			return;
		/* Messages are not NUL-terminated. */
		printf(SIDE_NAME ": connection %u: received ", peer->number);
		text_print("\"", text, len, "\"\n");
		app->nb_received++;
		if (SIDE_IS_DPU)
			peer->nb_due++;
	}
}

static void
send_to(struct app *app, struct peer *peer)
{
	doca_error_t result;

	while (peer->nb_due > 0) {
		result = doca_comm_channel_ep_sendto(app->ep, app->text, strlen(app->text),
				DOCA_CC_MSG_FLAG_NONE, peer->addr);
		if (result == DOCA_ERROR_AGAIN)
			return;
		/* For a service, a client that left is not an error. */
		if (SIDE_IS_DPU && result == DOCA_ERROR_CONNECTION_RESET)
			peer->is_gone = true;
		else
			side_check(&app->side, result, "send");
		peer->nb_due = result == DOCA_SUCCESS ? peer->nb_due - 1 : 0;
	}
}

/* Returns whether a text waits for room in a peer's queue. */
static bool
send_due(struct app *app)
{
	struct peer *peer;
	bool is_full = false;

	for (peer = app->peers; peer != NULL; peer = peer->next) {
		send_to(app, peer);
		is_full = is_full || peer->nb_due > 0;
	}
	return is_full;
}

#ifdef DOCA_ARCH_DPU

/*
 * Update the list of clients. This also arms the service's event channel, so it runs once
 * before the first sleep.
 */
static void
update_clients(struct app *app)
{
	struct doca_comm_channel_addr_t **list;
	struct peer *peer;
	uint32_t i, nb;

	if (!side_check(&app->side, doca_comm_channel_ep_update_service_state_info(app->ep),
			"update service state") ||
			!side_check(&app->side,
				doca_comm_channel_ep_get_peer_addr_list(app->ep, &list, &nb),
				"get clients"))
		return;
	for (i = 0; i < nb; i++)
		peer_of(app, list[i]);
	/* Messages of clients that left can still be received. */
	receive(app);
	for (peer = app->peers; peer != NULL; peer = peer->next)
		if (doca_comm_channel_peer_addr_update_info(peer->addr) != DOCA_SUCCESS)
			peer->is_gone = true;
	end_peers(app, false);
	app->is_over = app->count > 0 && app->nb_gone >= app->count;
}

#endif

/* Sleeping */

static doca_error_t
watch(const struct app *app, doca_event_channel_t channel)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(app->epoll_fd, EPOLL_CTL_ADD, channel, &event) == 0 ? DOCA_SUCCESS :
		DOCA_ERROR_OPERATING_SYSTEM;
}

/* Event channels exist once the endpoint listens or has connected. */
static void
open_events(struct app *app)
{
	doca_event_channel_t send_channel = -1, recv_channel = -1;
	doca_error_t result;

	app->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	result = doca_comm_channel_ep_get_event_channel(app->ep, &send_channel, &recv_channel);
	if (result == DOCA_SUCCESS)
		result = watch(app, send_channel);
	if (result == DOCA_SUCCESS)
		result = watch(app, recv_channel);
#ifdef DOCA_ARCH_DPU
	doca_event_channel_t service_channel = -1;

	if (result == DOCA_SUCCESS)
		result = doca_comm_channel_ep_get_service_event_channel(app->ep,
				&service_channel);
	if (result == DOCA_SUCCESS)
		result = watch(app, service_channel);
#endif
	side_check(&app->side, result, "open event channels");
}

/* Each event must be armed again. Events before the arming are not lost. */
static void
sleep_on_events(struct app *app, bool is_full)
{
	struct epoll_event event;

	if (side_check(&app->side, doca_comm_channel_ep_event_handle_arm_recv(app->ep),
				"arm") &&
			(!is_full || side_check(&app->side,
				doca_comm_channel_ep_event_handle_arm_send(app->ep), "arm")))
		epoll_pwait(app->epoll_fd, &event, 1, -1, side_sleep_mask);
}

static void
run(struct app *app)
{
	bool is_full;

	while (!side_is_ending() && app->side.error == DOCA_SUCCESS && !app->is_over) {
		receive(app);
#ifdef DOCA_ARCH_DPU
		update_clients(app);
#else
		app->is_over = app->nb_received >= app->count;
#endif
		/* Last, so that received texts are answered before sleeping. */
		is_full = send_due(app);
		if (app->side.error == DOCA_SUCCESS && !app->is_over)
			sleep_on_events(app, is_full);
	}
	if (side_is_ending())
		DOCA_LOG_INFO("Interrupted");
}

/* The endpoint */

#ifndef DOCA_ARCH_DPU

static void
sleep_ms(long ms)
{
	const struct timespec ts = { .tv_nsec = ms * 1000 * 1000 };

	pselect(0, NULL, NULL, NULL, &ts, side_sleep_mask);
}

/* The connection is established when the service has called recvfrom. */
static doca_error_t
try_to_connect(struct app *app)
{
	struct doca_comm_channel_addr_t *addr;
	doca_error_t result;

	result = doca_comm_channel_ep_connect(app->ep, app->side.name, &addr);
	if (result != DOCA_SUCCESS)
		return result;
	while ((result = doca_comm_channel_peer_addr_update_info(addr)) ==
			DOCA_ERROR_CONNECTION_INPROGRESS && !side_is_ending())
		sleep_ms(ACCEPT_MS);
	if (result == DOCA_SUCCESS) {
		struct peer *peer = add_peer(app, addr);

		if (peer != NULL)
			peer->nb_due = app->count;
		return app->side.error;
	}
	doca_comm_channel_ep_disconnect(app->ep, addr);
	return result;
}

#endif

static doca_error_t
open_channel(struct app *app)
{
#ifdef DOCA_ARCH_DPU
	doca_error_t result;

	result = doca_comm_channel_ep_set_device_rep(app->ep, app->side.rep);
	return result == DOCA_SUCCESS ? doca_comm_channel_ep_listen(app->ep, app->side.name) :
		result;
#else
	const time_t end = time(NULL) + CONNECT_S;
	doca_error_t result;

	while ((result = try_to_connect(app)) == DOCA_ERROR_CONNECTION_ABORTED &&
			!side_is_ending() && time(NULL) < end)
		sleep_ms(RETRY_MS);
	return result;
#endif
}

static bool
set_properties(struct app *app)
{
	doca_error_t result;

	result = doca_comm_channel_ep_set_device(app->ep, app->side.dev);
	if (result == DOCA_SUCCESS && app->size > 0)
		result = doca_comm_channel_ep_set_max_msg_size(app->ep, (uint16_t)app->size);
	if (!side_check(&app->side, result, "set maximum message size"))
		return false;
	if (app->queue > 0)
		result = doca_comm_channel_ep_set_send_queue_size(app->ep, (uint16_t)app->queue);
	if (result == DOCA_SUCCESS && app->queue > 0)
		result = doca_comm_channel_ep_set_recv_queue_size(app->ep, (uint16_t)app->queue);
	return side_check(&app->side, result, "set queue size");
}

/* The effective values may be larger than the requested ones. */
static void
print_properties(const struct app *app)
{
	uint16_t size = 0, send_queue = 0, recv_queue = 0;

	doca_comm_channel_ep_get_max_msg_size(app->ep, &size);
	doca_comm_channel_ep_get_send_queue_size(app->ep, &send_queue);
	doca_comm_channel_ep_get_recv_queue_size(app->ep, &recv_queue);
	printf(SIDE_NAME ": %s \"%s\": messages of up to %u bytes, queues of %u and %u\n",
		SIDE_IS_DPU ? "listening as" : "connecting to", app->side.name, size, send_queue,
		recv_queue);
}

static bool
open_endpoint(struct app *app)
{
	if (side_open(&app->side) != DOCA_SUCCESS ||
			!side_check(&app->side, doca_comm_channel_ep_create(&app->ep),
				"create endpoint") ||
			!set_properties(app))
		return false;
	print_properties(app);
	if (side_check(&app->side, open_channel(app), app->side.name))
		open_events(app);
	return app->side.error == DOCA_SUCCESS;
}

static void
close_endpoint(struct app *app)
{
	end_peers(app, true);
	if (app->ep != NULL)
		doca_comm_channel_ep_destroy(app->ep);
	if (app->epoll_fd >= 0)
		close(app->epoll_fd);
	side_close(&app->side);
}

/* Options */

static doca_error_t
take_text(void *value, void *config)
{
	struct app *app = config;

	return side_take_text(app->text, sizeof(app->text), value);
}

static doca_error_t
take_number(uint32_t *to, const void *value, int max, const char *what)
{
	const int number = *(const int *)value;

	if (number < 1 || number > max) {
		DOCA_LOG_ERR("%s is 1 to %d, not %d", what, max, number);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*to = (uint32_t)number;
	return DOCA_SUCCESS;
}

static doca_error_t
take_count(void *value, void *config)
{
	struct app *app = config;

	return take_number(&app->count, value, INT32_MAX, "A count");
}

static doca_error_t
take_size(void *value, void *config)
{
	struct app *app = config;

	return take_number(&app->size, value, MAX_TEXT, "A size");
}

static doca_error_t
take_queue(void *value, void *config)
{
	struct app *app = config;

	return take_number(&app->queue, value, UINT16_MAX, "A queue");
}

static doca_error_t
read_options(struct app *app, int argc, char **argv)
{
	doca_error_t result;

	result = doca_argp_init(SIDE_IS_DPU ? "cc_server" : "cc_client", app);
	if (result != DOCA_SUCCESS)
		return result;
	result = side_options(&app->side);
	if (result == DOCA_SUCCESS)
		result = side_option("t", "text", "<text>", "text to send",
				DOCA_ARGP_TYPE_STRING, take_text);
	if (result == DOCA_SUCCESS)
		result = side_option("c", "count", "<number>", SIDE_IS_DPU ?
				"number of clients; default: until Ctrl-C" :
				"number of texts", DOCA_ARGP_TYPE_INT, take_count);
	if (result == DOCA_SUCCESS)
		result = side_option("s", "size", "<bytes>", "maximum message size",
				DOCA_ARGP_TYPE_INT, take_size);
	if (result == DOCA_SUCCESS)
		result = side_option("q", "queue", "<messages>", "size of both queues",
				DOCA_ARGP_TYPE_INT, take_queue);
	return result == DOCA_SUCCESS ? doca_argp_start(argc, argv) : result;
}

int
main(int argc, char **argv)
{
	static struct app app = {
		.side.name = "cc",
		.text = "Hello from the " SIDE_NAME,
		.count = SIDE_IS_DPU ? 0 : 1,
		.epoll_fd = -1,
	};
	bool is_good;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (doca_log_backend_create_standard() != DOCA_SUCCESS)
		return EXIT_FAILURE;
	if (read_options(&app, argc, argv) != DOCA_SUCCESS) {
		doca_argp_destroy();
		return EXIT_FAILURE;
	}
	if (open_endpoint(&app))
		run(&app);
	/* For a service, Ctrl-C is a normal end. */
	is_good = app.side.error == DOCA_SUCCESS && (SIDE_IS_DPU || app.is_over);
	close_endpoint(&app);
	doca_argp_destroy();
	printf(SIDE_NAME ": %u texts received\n", app.nb_received);
	return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
