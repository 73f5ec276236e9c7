/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <rte_comch_dp.h>
#include <rte_comch_mem.h>

#include "ends.h"

/* Mbufs beside the posted ones: in bursts, rings and queues of the program. */
#define NB_OTHER_MBUFS 4096

/* Report only the first failure, because the others follow from it. */
static void
fail(struct ends *e, const char *what, int err)
{
	if (!e->failed)
		example_error(what, err);
	e->failed = true;
	e->closing = true;
}

static void
on_connected(struct ends *e, struct rte_comch_conn *conn)
{
	struct rte_comch_mr *mr = rte_comch_mempool_mr(e->pool);
	struct rte_comch_consumer_conf cons = {
		.conf_size = sizeof(cons),
		.queue_size = (uint32_t)e->conf->queue,
		.mrs = &mr,
		.nb_mrs = 1,
	};
	struct rte_comch_producer_conf prod = { .conf_size = sizeof(prod) };
	int ret;

	e->conn = conn;
	e->consumer = rte_comch_consumer_create(conn, &cons);
	if (e->consumer == NULL || rte_comch_consumer_start(e->consumer) != -EINPROGRESS) {
		fail(e, "start consumer", rte_errno);
		return;
	}
	e->producer = rte_comch_producer_create(conn, &prod);
	ret = e->producer != NULL ? rte_comch_producer_start(e->producer) : -rte_errno;
	if (ret < 0)
		fail(e, "start producer", ret);
}

static void
on_consumer_state(struct ends *e, const struct rte_comch_event *ev)
{
	int ret;

	if (ev->state.next == RTE_COMCH_STATE_RUNNING) {
		/* Fills the queue: from now on the peer can send. */
		ret = rte_comch_consumer_rx_setup(e->consumer, e->pool);
		if (ret < 0)
			fail(e, "set up consumer for mbufs", ret);
		e->running = ret == 0;
	} else if (ev->state.next == RTE_COMCH_STATE_IDLE) {
		e->running = false;
		if (ev->status < 0 && !e->closing)
			fail(e, ev->text != NULL ? ev->text : "consumer", ev->status);
	}
}

static void
on_state(struct ends *e, const struct rte_comch_event *ev)
{
	if (ev->obj_type == RTE_COMCH_OBJ_CONSUMER) {
		on_consumer_state(e, ev);
	} else if (ev->obj_type == RTE_COMCH_OBJ_CLIENT &&
			ev->state.next == RTE_COMCH_STATE_IDLE) {
		e->idle = true;
		if (ev->status < 0 && !e->closing)
			fail(e, ev->text != NULL ? ev->text : e->conf->name, ev->status);
	}
}

static void
on_event(struct ends *e, const struct rte_comch_event *ev)
{
	switch (ev->type) {
	case RTE_COMCH_EVENT_CONNECTED:
		on_connected(e, ev->conn);
		break;
	case RTE_COMCH_EVENT_CONSUMER_NEW:
		e->consumer_id = ev->consumer.id;
		break;
	case RTE_COMCH_EVENT_CONSUMER_GONE:
		e->closing = true;
		break;
	case RTE_COMCH_EVENT_DISCONNECTED:
		printf("disconnected: %s\n", ev->text != NULL ? ev->text : "no reason given");
		e->conn = NULL;
		e->closing = true;
		break;
	case RTE_COMCH_EVENT_STATE:
		on_state(e, ev);
		break;
	default:
		break;
	}
}

uint16_t
ends_run(struct ends *e)
{
	struct rte_comch_event events[32];
	uint16_t n, i;

	n = rte_comch_poll_run(e->poll, events, RTE_DIM(events));
	for (i = 0; i < n; i++)
		on_event(e, &events[i]);
	if (example_quit)
		e->closing = true;
	if (e->server != NULL && rte_comch_server_state(e->server) == RTE_COMCH_STATE_IDLE)
		e->idle = true;
	return n;
}

void
ends_finish(struct ends *e)
{
	e->closing = true;
}

/* Both bursts move on what is in progress. Returns whether it is gone. */
static bool
retire_producer(struct ends *e)
{
	struct rte_mbuf *none[1];

	if (e->producer == NULL)
		return true;
	if (rte_comch_producer_state(e->producer) == RTE_COMCH_STATE_RUNNING)
		rte_comch_producer_stop(e->producer);
	rte_comch_tx_burst(e->producer, e->consumer_id, none, 0);
	if (rte_comch_producer_state(e->producer) != RTE_COMCH_STATE_IDLE)
		return false;
	rte_comch_producer_destroy(e->producer);
	e->producer = NULL;
	return true;
}

static bool
retire_consumer(struct ends *e)
{
	struct rte_mbuf *mbufs[ENDS_BURST];
	enum rte_comch_state state;
	uint16_t n;

	if (e->consumer == NULL)
		return true;
	state = rte_comch_consumer_state(e->consumer);
	if (state == RTE_COMCH_STATE_RUNNING || state == RTE_COMCH_STATE_STARTING)
		rte_comch_consumer_stop(e->consumer);
	/* Posted mbufs go back to the pool. */
	n = rte_comch_rx_burst(e->consumer, mbufs, RTE_DIM(mbufs));
	rte_pktmbuf_free_bulk(mbufs, n);
	if (rte_comch_consumer_state(e->consumer) != RTE_COMCH_STATE_IDLE)
		return false;
	rte_comch_consumer_destroy(e->consumer);
	e->consumer = NULL;
	return true;
}

static bool
is_up(enum rte_comch_state state)
{
	return state == RTE_COMCH_STATE_STARTING || state == RTE_COMCH_STATE_RUNNING;
}

/* Both queues are gone: the connection can end, too. */
static void
retire_conn(struct ends *e)
{
	const bool last = example_quit || e->failed;

	if (e->client != NULL) {
		if (is_up(rte_comch_client_state(e->client)))
			rte_comch_client_stop(e->client);
		return;
	}
	if (!is_up(rte_comch_server_state(e->server)))
		return;
	/* The client disconnects. */
	if (e->conn != NULL && !last)
		return;
	if (!last && ++e->nb_served != e->conf->nb_clients) {
		e->closing = e->running = false;
		e->consumer_id = 0;
		return;
	}
	rte_comch_server_stop(e->server);
}

void
ends_retire(struct ends *e)
{
	if (!e->closing)
		return;
	if (retire_producer(e) && retire_consumer(e))
		retire_conn(e);
}

static int
start_server(struct ends *e)
{
	struct rte_comch_server_conf conf = {
		.conf_size = sizeof(conf), .name = e->conf->name, .poll = e->poll,
		.max_clients = 1,
	};
	int ret;

	e->server = rte_comch_server_create(e->dev_id, &conf);
	if (e->server == NULL)
		return example_error("create server", rte_errno);
	ret = rte_comch_server_start(e->server);
	if (ret < 0)
		return example_error(e->conf->name, ret);
	printf("server '%s' waits for a client\n", e->conf->name);
	return 0;
}

static int
start_client(struct ends *e)
{
	struct rte_comch_client_conf conf = {
		.conf_size = sizeof(conf), .name = e->conf->name, .poll = e->poll,
		.connect_timeout_ms = e->conf->wait_ms,
	};
	int ret;

	e->client = rte_comch_client_create(e->dev_id, &conf);
	if (e->client == NULL)
		return example_error("create client", rte_errno);
	ret = rte_comch_client_start(e->client);
	return ret == -EINPROGRESS ? 0 : example_error(e->conf->name, ret);
}

int
ends_open(struct ends *e, const struct ends_conf *conf)
{
	int ret;

	memset(e, 0, sizeof(*e));
	e->conf = conf;
	e->dev_id = -1;
	e->pool = rte_comch_pktmbuf_pool_create(conf->server ? "server" : "client",
			(unsigned int)conf->queue + NB_OTHER_MBUFS, 256, 0,
			ENDS_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	if (e->pool == NULL)
		return example_error("create mbuf pool", rte_errno);
	ret = rte_comch_dev_probe(conf->dev, &e->dev_id);
	if (ret < 0)
		return example_error(conf->dev, ret);
	e->poll = rte_comch_poll_create(NULL);
	if (e->poll == NULL)
		return example_error("create poll", rte_errno);
	return conf->server ? start_server(e) : start_client(e);
}

/* Has the server or client been started? */
static bool
was_started(const struct ends *e)
{
	if (e->server != NULL)
		return rte_comch_server_state(e->server) != RTE_COMCH_STATE_IDLE;
	return e->client != NULL && rte_comch_client_state(e->client) != RTE_COMCH_STATE_IDLE;
}

void
ends_close(struct ends *e)
{
	/* The program has failed before it ran. */
	if (was_started(e)) {
		e->failed = e->closing = true;
		while (!ends_over(e)) {
			ends_run(e);
			ends_retire(e);
		}
	}
	if (e->server != NULL)
		rte_comch_server_destroy(e->server);
	if (e->client != NULL)
		rte_comch_client_destroy(e->client);
	if (e->poll != NULL)
		rte_comch_poll_destroy(e->poll);
	if (e->dev_id >= 0)
		rte_comch_dev_close(e->dev_id);
	/* -EBUSY: mbufs were not freed. */
	if (e->pool != NULL && rte_comch_pktmbuf_pool_free(e->pool) < 0) {
		e->failed = true;
		EXAMPLE_ERR("mbufs are missing from the pool");
	}
}
