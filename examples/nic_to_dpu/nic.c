/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The host's side: packets of an ethdev go to the DPU, and those that the DPU sends back
 * leave through the ethdev, an lcore for each way.
 *
 *     lcore 1:  rte_eth_rx_burst()  --> rte_comch_tx_burst()
 *     lcore 2:  rte_comch_rx_burst() --> rte_eth_tx_burst()
 *     main:     the poll of the connection
 *
 * The ethdev receives into the pool that the consumer posts from, too, which is shareable
 * memory. The default ethdev is net_ring, where what is sent is received again: packets
 * that are injected once go round until --count packets have come back.
 *
 * With --dpu the DPU's side runs here, too, on lcore 3. Over comch_ring mbufs are handed over:
 * the mbuf that an ethdev delivered goes back to it.
 */

#include <unistd.h>

#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_pause.h>

#include "../mbuf_common/ends.h"
#include "../mbuf_common/packet.h"
#include "swap.h"

#define NB_DESC 512
/* How often to offer packets to a full ethdev before they are dropped. */
#define TX_TRIES 100

struct app {
	struct ends_conf conf;
	struct ends_conf dpu_conf; /* dev is NULL: the DPU's side is another program */
	const char *port_name;
	uint64_t count;
	uint64_t nb_inject;
	uint64_t size;
	bool same_mbuf;
	bool busy;

	struct ends ends;
	struct ends dpu;
	uint16_t port;
	bool port_started;
	atomic_bool stop;
	/* Written by lcore 1. */
	uint64_t nb_to_dpu;
	/* Written by lcore 2; the main lcore reads nb_back. */
	atomic_ullong nb_back __rte_cache_aligned;
	uint64_t nb_dropped;
	uint64_t nb_same_mbuf;
	uint64_t nb_other_mbuf;
};

/* With --same-mbuf: where an mbuf's own address is noted, and how long packets must be. */
#define NOTE_OFF 16
#define NOTE_END (NOTE_OFF + sizeof(struct rte_mbuf *))

static void
note_self(struct rte_mbuf **mbufs, uint16_t n)
{
	uint16_t i;

	for (i = 0; i < n; i++)
		if (rte_pktmbuf_data_len(mbufs[i]) >= NOTE_END)
			memcpy(rte_pktmbuf_mtod_offset(mbufs[i], void *, NOTE_OFF), &mbufs[i],
					sizeof(mbufs[i]));
}

static void
check_self(struct app *app, struct rte_mbuf **mbufs, uint16_t n)
{
	uint16_t i;

	for (i = 0; i < n; i++) {
		if (rte_pktmbuf_data_len(mbufs[i]) < NOTE_END)
			continue;
		if (memcmp(rte_pktmbuf_mtod_offset(mbufs[i], void *, NOTE_OFF), &mbufs[i],
				sizeof(mbufs[i])) == 0)
			app->nb_same_mbuf++;
		else
			app->nb_other_mbuf++;
	}
}

/* Yield the CPU after a while without packets. */
static void
relax(const struct app *app, uint32_t *nothing, uint16_t n)
{
	*nothing = n > 0 ? 0 : *nothing + 1;
	if (*nothing > 100 && !app->busy)
		usleep(50);
	else if (n == 0)
		rte_pause();
}

static int
to_dpu(void *arg)
{
	struct app *app = arg;
	struct rte_mbuf *mbufs[ENDS_BURST];
	const struct ends *e = &app->ends;
	uint32_t nothing = 0;
	uint16_t nb = 0, n;

	while (!app->stop) {
		/* While packets wait, the ethdev's queue takes the next ones. */
		if (nb == 0) {
			nb = rte_eth_rx_burst(app->port, 0, mbufs, RTE_DIM(mbufs));
			if (app->same_mbuf)
				note_self(mbufs, nb);
		}
		n = rte_comch_tx_burst(e->producer, e->consumer_id, mbufs, nb);
		app->nb_to_dpu += n;
		nb -= n;
		memmove(mbufs, &mbufs[n], nb * sizeof(mbufs[0]));
		relax(app, &nothing, n);
	}
	rte_pktmbuf_free_bulk(mbufs, nb);
	return 0;
}

static void
transmit(struct app *app, struct rte_mbuf **mbufs, uint16_t n)
{
	uint16_t sent = 0, tries;

	for (tries = 0; sent < n && tries < TX_TRIES; tries++)
		sent += rte_eth_tx_burst(app->port, 0, &mbufs[sent], n - sent);
	rte_pktmbuf_free_bulk(&mbufs[sent], n - sent);
	app->nb_dropped += n - sent;
}

static int
from_dpu(void *arg)
{
	struct app *app = arg;
	struct rte_mbuf *mbufs[ENDS_BURST];
	uint32_t nothing = 0;
	uint16_t n;

	while (!app->stop) {
		n = rte_comch_rx_burst(app->ends.consumer, mbufs, RTE_DIM(mbufs));
		if (app->same_mbuf)
			check_self(app, mbufs, n);
		transmit(app, mbufs, n);
		app->nb_back += n;
		relax(app, &nothing, n);
	}
	return 0;
}

/* The number of an lcore beside the main one: 1, 2, 3. */
static unsigned int
worker(unsigned int number)
{
	unsigned int lcore = rte_get_next_lcore(-1, true, false);

	while (--number > 0)
		lcore = rte_get_next_lcore(lcore, true, false);
	return lcore;
}

static void
launch(struct app *app)
{
	app->stop = false;
	rte_eal_remote_launch(to_dpu, app, worker(1));
	rte_eal_remote_launch(from_dpu, app, worker(2));
}

static void
halt(struct app *app)
{
	app->stop = true;
	rte_eal_wait_lcore(worker(1));
	rte_eal_wait_lcore(worker(2));
}

static int
run_dpu(void *arg)
{
	struct app *app = arg;

	serve_run(&app->dpu, &swap_ops, app->busy);
	return 0;
}

/* With --dpu: start the DPU's side. */
static int
open_dpu(struct app *app)
{
	if (app->dpu_conf.dev == NULL)
		return 0;
	app->dpu_conf.name = app->conf.name;
	app->dpu_conf.queue = app->conf.queue;
	if (ends_open(&app->dpu, &app->dpu_conf) < 0)
		return -1;
	rte_eal_remote_launch(run_dpu, app, worker(3));
	return 0;
}

/* Its server ends when the client has left, or now. Mbufs go back to the other side's pool. */
static void
close_dpu(struct app *app)
{
	if (app->dpu.conf == NULL)
		return;
	example_stop();
	rte_eal_wait_lcore(worker(3));
	swap_ops.destroy();
	ends_close(&app->dpu);
}

static void
run(struct app *app)
{
	struct ends *e = &app->ends;
	bool launched = false;

	while (!ends_over(e)) {
		ends_run(e);
		if (ends_ready(e)) {
			if (!launched)
				launch(app);
			launched = true;
			if (app->count > 0 && app->nb_back >= app->count)
				ends_finish(e);
		} else {
			/* The lcores have the consumer and the producer until they end. */
			halt(app);
			ends_retire(e);
		}
		/* Lcores do not report each packet. */
		example_sleep(e->poll, 5);
	}
}

/* Find an ethdev by its name. A virtual device, NAME[,ARGUMENTS], is created. */
static int
find_port(struct app *app)
{
	const size_t len = strcspn(app->port_name, ",");
	const char *args = app->port_name + len;
	char name[RTE_ETH_NAME_MAX_LEN] = "";
	int ret;

	memcpy(name, app->port_name, RTE_MIN(len, sizeof(name) - 1));
	if (rte_eth_dev_get_port_by_name(name, &app->port) == 0)
		return 0;
	ret = rte_eal_hotplug_add("vdev", name, *args == ',' ? args + 1 : args);
	if (ret == 0)
		ret = rte_eth_dev_get_port_by_name(name, &app->port);
	if (ret < 0)
		EXAMPLE_ERR("%s: no such ethdev, nor a driver that creates it", name);
	return ret;
}

static int
start_port(struct app *app)
{
	struct rte_mempool *pool = app->ends.pool;
	struct rte_eth_conf conf = { 0 };
	int ret = find_port(app);

	if (ret < 0)
		return -1;
	/* A NIC must be able to write this memory; a virtual device has no DMA. */
	ret = rte_comch_pktmbuf_pool_dma_map(pool, app->port);
	if (ret < 0 && ret != -ENOTSUP)
		return example_error("map pool for the ethdev", ret);
	ret = rte_eth_dev_configure(app->port, 1, 1, &conf);
	if (ret == 0)
		ret = rte_eth_rx_queue_setup(app->port, 0, NB_DESC,
				(unsigned int)rte_eth_dev_socket_id(app->port), NULL, pool);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(app->port, 0, NB_DESC,
				(unsigned int)rte_eth_dev_socket_id(app->port), NULL);
	if (ret == 0)
		ret = rte_eth_dev_start(app->port);
	if (ret < 0)
		return example_error("start ethdev", ret);
	app->port_started = true;
	return 0;
}

/* Send packets through the ethdev before anything else. */
static int
inject(struct app *app)
{
	struct rte_mbuf *m;
	uint64_t i;

	for (i = 0; i < app->nb_inject; i++) {
		m = rte_pktmbuf_alloc(app->ends.pool);
		if (m == NULL)
			return example_error("allocate packets", ENOMEM);
		memset(rte_pktmbuf_append(m, (uint16_t)app->size), (int)i, app->size);
		if (rte_eth_tx_burst(app->port, 0, &m, 1) != 1) {
			rte_pktmbuf_free(m);
			return example_error("inject packets", ENOSPC);
		}
	}
	return 0;
}

static void
stop_port(struct app *app)
{
	struct rte_mbuf *mbufs[ENDS_BURST];
	uint16_t n;

	if (!app->port_started)
		return;
	/* Empty net_ring, where packets go round. Bounded, as a NIC keeps receiving. */
	for (n = 0; n < NB_DESC; n++)
		rte_pktmbuf_free_bulk(mbufs,
				rte_eth_rx_burst(app->port, 0, mbufs, RTE_DIM(mbufs)));
	rte_eth_dev_stop(app->port);
	rte_eth_dev_close(app->port);
}

static bool
report(const struct app *app)
{
	printf("%" PRIu64 " packets to the DPU, %llu back, %" PRIu64 " dropped\n",
			app->nb_to_dpu, (unsigned long long)app->nb_back, app->nb_dropped);
	if (app->same_mbuf)
		printf("%" PRIu64 " came back in their mbuf, %" PRIu64 " in another one\n",
				app->nb_same_mbuf, app->nb_other_mbuf);
	if (app->same_mbuf && (app->nb_same_mbuf == 0 || app->nb_other_mbuf > 0))
		return false;
	return app->nb_back >= app->count;
}

int
main(int argc, char **argv)
{
	static struct app app = {
		.conf = { ENDS_CLIENT_DEFAULTS },
		.dpu_conf = { .server = true, .nb_clients = 1 },
		.port_name = "net_ring0",
		.count = 1000000,
		.nb_inject = 256,
		.size = 64,
	};
	const struct example_option options[] = {
		ENDS_OPTIONS_SERVER(&app.conf),
		EXAMPLE_TEXT('D', "dpu", "DEVARGS",
				"run the DPU's side here, too, with this device string",
				&app.dpu_conf.dev),
		EXAMPLE_TEXT('p', "port", "NAME[,ARGS]", "ethdev", &app.port_name),
		EXAMPLE_NUMBER('c', "count", "N", "exit after this number came back; 0: never",
				&app.count, 0, UINT64_MAX),
		EXAMPLE_NUMBER('i', "inject", "N", "packets to send through the ethdev first",
				&app.nb_inject, 0, NB_DESC),
		EXAMPLE_NUMBER('s', "size", "BYTES", "length of these", &app.size, 64, ENDS_ROOM),
		ENDS_OPTION_BUFFERS(&app.conf),
		ENDS_OPTION_WAIT(&app.conf),
		EXAMPLE_FLAG('m', "same-mbuf", "note each mbuf's address in it and check that it "
				"comes back there", &app.same_mbuf),
		EXAMPLE_FLAG('b', "busy", "spin instead of sleeping", &app.busy),
	};
	bool good = false;
	int ret;

	ret = example_options(argc, argv, options, RTE_DIM(options));
	if (ret == 0)
		ret = example_start(app.dpu_conf.dev != NULL ? 4 : 3);
	if (ret != 0)
		return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;

	if (open_dpu(&app) == 0 && ends_open(&app.ends, &app.conf) == 0 &&
			start_port(&app) == 0 && inject(&app) == 0) {
		run(&app);
		good = report(&app);
	}
	close_dpu(&app);
	stop_port(&app);
	if (app.ends.conf != NULL)
		ends_close(&app.ends);
	example_end();
	return good && !app.ends.failed && !app.dpu.failed ? EXIT_SUCCESS : EXIT_FAILURE;
}
