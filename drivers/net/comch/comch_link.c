/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The link of a port: its control thread, which connects, and reconnects. */

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "comch_ethdev.h"

#define NB_EVENTS 32
/* Interval of attempts to connect. */
#define RETRY_MS 100
/* Timeout of one attempt. Long, because the next attempt does the same. */
#define CONNECT_MS (60 * 60 * 1000)
/* How long lcores may receive what is left after the end of a connection. */
#define DRAIN_MS 250
/* Interval at which the control thread checks queues that end. */
#define CLOSING_MS 2
/* Interval at which it tries to send the rest of a frame. */
#define FLUSH_MS 1
/* Without event descriptors. */
#define BUSY_MS 1

static uint64_t
in_ms(uint64_t ms)
{
	return rte_rdtsc() + ms * rte_get_tsc_hz() / MS_PER_S;
}

static bool
link_quits(const struct comch_port *port)
{
	return __atomic_load_n(&port->quit, __ATOMIC_ACQUIRE);
}

/* Report it to ethdev, and to the application if it enabled link interrupts. */
static void
link_report(struct comch_port *port, bool up)
{
	const struct rte_eth_link link = {
		.link_speed = up ? RTE_ETH_SPEED_NUM_UNKNOWN : RTE_ETH_SPEED_NUM_NONE,
		.link_duplex = RTE_ETH_LINK_FULL_DUPLEX,
		.link_autoneg = RTE_ETH_LINK_FIXED,
		.link_status = up ? RTE_ETH_LINK_UP : RTE_ETH_LINK_DOWN,
	};

	if (rte_eth_linkstatus_set(port->dev, &link) != 0)
		return;
	comch_queue_count(up ? &port->nb_ups : &port->nb_downs, 1);
	PMD_LOG(INFO, "port %u: link %s is %s", port->dev->data->port_id, port->name,
		up ? "up" : "down");
	if (port->dev->data->dev_conf.intr_conf.lsc != 0)
		rte_eth_dev_callback_process(port->dev, RTE_ETH_EVENT_INTR_LSC, NULL);
}

/* Peers */

static struct comch_peer *
peer_new(struct comch_port *port, struct rte_comch_conn *conn)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(port->peers); i++) {
		if (port->peers[i].conn != NULL)
			continue;
		memset(&port->peers[i], 0, sizeof(port->peers[i]));
		port->peers[i].conn = conn;
		rte_comch_conn_user_data_set(conn, i + 1);
		return &port->peers[i];
	}
	return NULL;
}

static struct comch_peer *
peer_of(struct comch_port *port, const struct rte_comch_conn *conn)
{
	uint64_t i = rte_comch_conn_user_data_get(conn);

	return i == 0 || port->peers[i - 1].conn != conn ? NULL : &port->peers[i - 1];
}

static void
peer_add_consumer(struct comch_peer *peer, const struct rte_comch_event *ev)
{
	if (peer->nb_consumers == RTE_DIM(peer->consumers))
		return;
	peer->consumers[peer->nb_consumers].id = ev->consumer.id;
	peer->consumers[peer->nb_consumers++].depth = ev->consumer.depth;
}

static void
peer_del_consumer(struct comch_peer *peer, uint32_t id)
{
	uint16_t i;

	for (i = 0; i < peer->nb_consumers; i++) {
		if (peer->consumers[i].id != id)
			continue;
		peer->consumers[i] = peer->consumers[--peer->nb_consumers];
		peer->left = true;
		return;
	}
}

/* Do the consumers in HELLO belong to the peer? */
static bool
peer_hello_is_valid(const struct comch_peer *peer)
{
	uint16_t i, k;

	for (i = 0; i < peer->hello.nb_queues; i++) {
		for (k = 0; k < peer->nb_consumers; k++)
			if (peer->consumers[k].id == peer->hello.ids[i])
				break;
		if (k == peer->nb_consumers)
			return false;
	}
	return true;
}

static void
peer_on_hello(struct comch_port *port, struct comch_peer *peer, const struct rte_comch_event *ev)
{
	if (!peer->said_hello &&
			comch_hello_read(&peer->hello, ev->msg.data, ev->msg.len) == 0 &&
			(peer->left || peer_hello_is_valid(peer))) {
		peer->said_hello = true;
		return;
	}
	PMD_LOG(ERR, "port %u: link %s: invalid or unexpected message of %u bytes from the peer",
		port->dev->data->port_id, port->name, ev->msg.len);
	peer->left = true;
}

/* Steps */

static int
say_hello(struct comch_port *port)
{
	const struct rte_eth_dev_data *data = port->dev->data;
	struct comch_hello hello = {
		.nb_queues = data->nb_rx_queues,
		.max_frame = comch_port_max_frame(port),
	};
	uint8_t buf[COMCH_HELLO_MAX_SIZE];
	struct rte_comch_msg msg = { .data = buf, .flags = RTE_COMCH_MSG_F_SILENT };
	const struct comch_rxq *rxq;
	uint16_t i;

	for (i = 0; i < data->nb_rx_queues; i++) {
		rxq = data->rx_queues[i];
		hello.ids[i] = rte_comch_consumer_id(rxq->made);
		/* The same for all of them. */
		hello.room = rxq->room;
	}
	msg.len = comch_hello_write(&hello, buf);
	/* The first message of a connection finds room. */
	return rte_comch_conn_send_burst(port->peer->conn, &msg, 1) == 1 ? 0 : -EAGAIN;
}

static void
link_close(struct comch_port *port)
{
	comch_link_close_queues(port);
	port->deadline = in_ms(DRAIN_MS);
	port->state = COMCH_LINK_CLOSING;
	link_report(port, false);
}

static void
link_begin(struct comch_port *port, struct comch_peer *peer)
{
	int ret;

	port->peer = peer;
	ret = comch_link_make_queues(port);
	port->state = COMCH_LINK_QUEUES;
	if (ret == 0)
		return;
	PMD_LOG(ERR, "port %u: link %s: cannot create the queues: %s",
		port->dev->data->port_id, port->name, rte_strerror(-ret));
	link_close(port);
}

static void
step_queues(struct comch_port *port)
{
	int ret = comch_link_open_rx(port);

	if (ret == -EAGAIN)
		return;
	if (ret == 0)
		ret = say_hello(port);
	if (ret == 0) {
		port->state = COMCH_LINK_HELLO;
		return;
	}
	PMD_LOG(ERR, "port %u: link %s: cannot start the queues: %s",
		port->dev->data->port_id, port->name, rte_strerror(-ret));
	link_close(port);
}

static void
step_hello(struct comch_port *port)
{
	if (!port->peer->said_hello)
		return;
	comch_link_open_tx(port);
	port->state = COMCH_LINK_UP;
	link_report(port, true);
}

/* The queues are destroyed: end the connection, unless it has ended. */
static void
step_end(struct comch_port *port)
{
	struct comch_peer *peer = port->peer;

	if (peer->ended) {
		peer->conn = NULL;
		port->peer = NULL;
		port->state = COMCH_LINK_WAIT;
		port->next_try = in_ms(RETRY_MS);
		return;
	}
	if (port->state == COMCH_LINK_END)
		return;
	port->state = COMCH_LINK_END;
	if (port->server != NULL)
		rte_comch_conn_disconnect(peer->conn, "port stopped");
	else if (rte_comch_client_state(port->client) == RTE_COMCH_STATE_RUNNING)
		rte_comch_client_stop(port->client);
}

static void
step_wait(struct comch_port *port)
{
	unsigned int i;

	if (link_quits(port))
		return;
	for (i = 0; i < RTE_DIM(port->peers); i++) {
		if (port->peers[i].conn == NULL)
			continue;
		link_begin(port, &port->peers[i]);
		return;
	}
	if (rte_rdtsc() < port->next_try)
		return;
	if (port->client != NULL && rte_comch_client_state(port->client) == RTE_COMCH_STATE_IDLE)
		rte_comch_client_start(port->client);
	/* It stops by itself if its socket was removed. */
	if (port->server != NULL && rte_comch_server_state(port->server) == RTE_COMCH_STATE_IDLE &&
			rte_comch_server_start(port->server) != 0)
		PMD_LOG(ERR, "port %u: link %s: cannot start the server, retrying",
			port->dev->data->port_id, port->name);
	port->next_try = in_ms(RETRY_MS);
}

static bool
link_is_over(const struct comch_port *port)
{
	return port->peer->ended || port->peer->left || link_quits(port);
}

static void
link_step(struct comch_port *port)
{
	if (port->state > COMCH_LINK_WAIT && port->state < COMCH_LINK_CLOSING &&
			link_is_over(port))
		link_close(port);
	if (port->state == COMCH_LINK_QUEUES)
		step_queues(port);
	if (port->state == COMCH_LINK_HELLO)
		step_hello(port);
	if (port->state == COMCH_LINK_END || (port->state == COMCH_LINK_CLOSING &&
			comch_link_end_queues(port, link_quits(port) ||
				rte_rdtsc() > port->deadline)))
		step_end(port);
	if (port->state == COMCH_LINK_WAIT)
		step_wait(port);
}

/* Send the rest of frames whose bursts found the peer's queue full. */
static void
link_flush(struct comch_port *port)
{
	const struct rte_eth_dev_data *data = port->dev->data;
	uint16_t i;

	/* Acquire: a burst that sets it now does so with its queue locked. */
	if (!__atomic_exchange_n(&port->flush, false, __ATOMIC_ACQ_REL))
		return;
	for (i = 0; i < data->nb_tx_queues; i++)
		comch_txq_flush(data->tx_queues[i]);
}

static void
link_event(struct comch_port *port, const struct rte_comch_event *ev)
{
	struct comch_peer *peer;

	if (ev->type == RTE_COMCH_EVENT_CONNECTED)
		peer = peer_new(port, ev->conn);
	else
		peer = ev->conn != NULL ? peer_of(port, ev->conn) : NULL;
	if (peer == NULL)
		return;
	switch (ev->type) {
	case RTE_COMCH_EVENT_CONSUMER_NEW:
		peer_add_consumer(peer, ev);
		break;
	case RTE_COMCH_EVENT_CONSUMER_GONE:
		peer_del_consumer(peer, ev->consumer.id);
		break;
	case RTE_COMCH_EVENT_MSG:
		peer_on_hello(port, peer, ev);
		break;
	case RTE_COMCH_EVENT_DISCONNECTED:
		peer->ended = true;
		/* Without queues the connection is freed by the next run. */
		if (peer != port->peer)
			peer->conn = NULL;
		break;
	default:
		break;
	}
}

/* One run and one step. Returns the number of events. */
static uint16_t
link_run(struct comch_port *port)
{
	struct rte_comch_event events[NB_EVENTS];
	bool is_up = port->state == COMCH_LINK_UP;
	uint16_t n, i;

	/*
	 * The run may retire the peer's consumers. Then all that bursts accept is lost, for as long
	 * as this thread waits for a CPU: so there is none before the queues are shut.
	 */
	if (is_up)
		comch_link_hold_tx(port);
	n = rte_comch_poll_run(port->poll, events, NB_EVENTS);
	for (i = 0; i < n; i++)
		link_event(port, &events[i]);
	if (is_up)
		comch_link_release_tx(port, link_is_over(port));
	link_step(port);
	link_flush(port);
	return n;
}

static int
link_timeout(const struct comch_port *port)
{
	if (port->state == COMCH_LINK_CLOSING)
		return CLOSING_MS;
	if (__atomic_load_n(&port->flush, __ATOMIC_ACQUIRE))
		return FLUSH_MS;
	return port->state == COMCH_LINK_WAIT ? RETRY_MS : -1;
}

/* Without TX: the peer's receiving does not wake this thread. */
static void
link_sleep(struct comch_port *port)
{
	struct pollfd pfd = {
		.fd = rte_comch_poll_fd(port->poll, RTE_COMCH_POLL_ANY), .events = POLLIN,
	};
	int ret = rte_comch_poll_arm(port->poll, RTE_COMCH_POLL_RX | RTE_COMCH_POLL_LINK);

	if (ret == 0)
		poll(&pfd, 1, link_timeout(port));
	else if (ret != -EAGAIN)
		poll(NULL, 0, BUSY_MS);
}

/* Stop the server or client. Returns whether it is IDLE. */
static bool
link_ended(struct comch_port *port)
{
	enum rte_comch_state state;

	if (port->state != COMCH_LINK_WAIT)
		return false;
	state = port->server != NULL ? rte_comch_server_state(port->server) :
		rte_comch_client_state(port->client);
	if (state == RTE_COMCH_STATE_STARTING || state == RTE_COMCH_STATE_RUNNING) {
		if (port->server != NULL)
			rte_comch_server_stop(port->server);
		else
			rte_comch_client_stop(port->client);
	}
	return state == RTE_COMCH_STATE_IDLE;
}

static void *
link_thread(void *arg)
{
	struct comch_port *port = arg;

	while (!link_quits(port) || !link_ended(port))
		if (link_run(port) == 0)
			link_sleep(port);
	return NULL;
}

/* Start and stop, in the application's threads */

static int
link_create(struct comch_port *port)
{
	struct rte_comch_server_conf sc = {
		.conf_size = sizeof(sc), .poll = port->poll, .name = port->name,
		.rep = port->rep, .max_clients = 1,
	};
	struct rte_comch_client_conf cc = {
		.conf_size = sizeof(cc), .poll = port->poll, .name = port->name,
		.connect_timeout_ms = CONNECT_MS,
	};

	if (port->role == RTE_COMCH_ROLE_HOST) {
		port->client = rte_comch_client_create(port->dev_id, &cc);
		if (port->client == NULL)
			return -rte_errno;
		return rte_comch_client_start(port->client) == -EINPROGRESS ? 0 : -ENOMEM;
	}
	port->server = rte_comch_server_create(port->dev_id, &sc);
	if (port->server == NULL)
		return -rte_errno;
	return rte_comch_server_start(port->server);
}

static void
link_destroy(struct comch_port *port)
{
	if (port->server != NULL)
		rte_comch_server_destroy(port->server);
	if (port->client != NULL)
		rte_comch_client_destroy(port->client);
	port->server = NULL;
	port->client = NULL;
	if (port->poll != NULL && rte_comch_poll_destroy(port->poll) != 0)
		PMD_LOG(ERR, "port %u: link %s: not all objects were destroyed",
			port->dev->data->port_id, port->name);
	port->poll = NULL;
	if (port->prod_poll != NULL)
		rte_comch_poll_destroy(port->prod_poll);
	port->prod_poll = NULL;
}

int
comch_link_start(struct comch_port *port)
{
	const struct rte_comch_poll_conf conf = {
		.conf_size = sizeof(conf), .name = port->name, .socket_id = SOCKET_ID_ANY,
	};
	char name[16];
	int ret;

	port->state = COMCH_LINK_WAIT;
	port->next_try = 0;
	port->quit = false;
	port->flush = false;
	port->peer = NULL;
	memset(port->peers, 0, sizeof(port->peers));
	port->poll = rte_comch_poll_create(&conf);
	if (port->poll == NULL)
		return -rte_errno;
	port->prod_poll = rte_comch_poll_create(&conf);
	ret = port->prod_poll != NULL ? link_create(port) : -rte_errno;
	if (ret != 0)
		goto err;
	snprintf(name, sizeof(name), "net_comch%u", port->dev->data->port_id);
	/* From here on, all of the link belongs to this thread. */
	ret = rte_ctrl_thread_create(&port->thread, name, NULL, link_thread, port);
	if (ret == 0)
		return 0;
	if (port->server != NULL)
		rte_comch_server_stop(port->server);
	else
		rte_comch_client_stop(port->client);
	while (!link_ended(port))
		rte_comch_poll_run(port->poll, NULL, 0);
err:
	link_destroy(port);
	return ret;
}

void
comch_link_stop(struct comch_port *port)
{
	/* Release: pairs with the acquire of link_quits(). */
	__atomic_store_n(&port->quit, true, __ATOMIC_RELEASE);
	rte_comch_poll_notify(port->poll);
	pthread_join(port->thread, NULL);
	link_destroy(port);
}
