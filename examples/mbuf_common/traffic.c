/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The host's side of the examples with a pipeline on the DPU: a client that sends numbered
 * packets and checks those that come back, byte for byte and flow by flow.
 */

#include <rte_byteorder.h>

#include "ends.h"
#include "packet.h"

#define MAX_FLOWS 64

struct app {
	struct ends_conf conf;
	uint64_t count;
	uint64_t size;
	uint64_t window;
	uint64_t nb_flows;
	bool busy;

	struct ends ends;
	struct rte_mbuf *mbufs[ENDS_BURST]; /* Filled, but not taken yet. */
	uint16_t nb_mbufs;
	uint64_t nb_filled;
	uint64_t nb_sent;
	uint64_t nb_received;
	uint64_t nb_wrong;
	uint64_t next[MAX_FLOWS]; /* Number expected from each flow. */
	double begin;
};

static const struct rte_ether_addr host_addr = { .addr_bytes = { 2, 0, 0, 0, 0, 1 } };
static const struct rte_ether_addr dpu_addr = { .addr_bytes = { 2, 0, 0, 0, 0, 2 } };

static void
fill(struct app *app, struct rte_mbuf *m)
{
	struct packet *p = (struct packet *)rte_pktmbuf_append(m, (uint16_t)app->size);
	uint64_t number = app->nb_filled++, i;

	p->eth.dst_addr = dpu_addr;
	p->eth.src_addr = host_addr;
	p->eth.ether_type = rte_cpu_to_be_16(PACKET_TYPE);
	p->flow = (uint16_t)(number % app->nb_flows);
	p->number = number;
	for (i = 0; i < app->size - sizeof(*p); i++)
		p->pattern[i] = (uint8_t)(number + i);
}

/* Is this the packet that is due in its flow, with the addresses swapped? */
static bool
is_right(struct app *app, const struct rte_mbuf *m)
{
	const struct packet *p = rte_pktmbuf_mtod(m, const struct packet *);
	uint64_t i;

	if (m->nb_segs != 1 || rte_pktmbuf_data_len(m) != app->size || p->flow >= app->nb_flows ||
			p->number != app->next[p->flow] ||
			!rte_is_same_ether_addr(&p->eth.dst_addr, &host_addr) ||
			!rte_is_same_ether_addr(&p->eth.src_addr, &dpu_addr))
		return false;
	for (i = 0; i < app->size - sizeof(*p); i++)
		if (p->pattern[i] != (uint8_t)(p->number + i))
			return false;
	app->next[p->flow] += app->nb_flows;
	return true;
}

static uint16_t
send_some(struct app *app)
{
	uint64_t room = app->window - (app->nb_filled - app->nb_received);
	struct ends *e = &app->ends;
	uint16_t n, i;

	if (app->nb_mbufs == 0) {
		n = (uint16_t)RTE_MIN(RTE_MIN(app->count - app->nb_filled, room),
				(uint64_t)ENDS_BURST);
		if (rte_pktmbuf_alloc_bulk(e->pool, app->mbufs, n) == 0)
			app->nb_mbufs = n;
		for (i = 0; i < app->nb_mbufs; i++)
			fill(app, app->mbufs[i]);
	}
	/* A short count means that the peer has posted no more. Send the rest later. */
	n = rte_comch_tx_burst(e->producer, e->consumer_id, app->mbufs, app->nb_mbufs);
	app->nb_sent += n;
	app->nb_mbufs -= n;
	memmove(app->mbufs, &app->mbufs[n], app->nb_mbufs * sizeof(app->mbufs[0]));
	return n;
}

static uint16_t
receive(struct app *app)
{
	struct rte_mbuf *mbufs[ENDS_BURST];
	uint16_t n, i;

	n = rte_comch_rx_burst(app->ends.consumer, mbufs, RTE_DIM(mbufs));
	for (i = 0; i < n; i++)
		app->nb_wrong += !is_right(app, mbufs[i]);
	rte_pktmbuf_free_bulk(mbufs, n);
	app->nb_received += n;
	return n;
}

static uint16_t
exchange(struct app *app)
{
	uint16_t n;

	if (app->begin == 0)
		app->begin = example_now();
	n = send_some(app) + receive(app);
	if (app->nb_received == app->count)
		ends_finish(&app->ends);
	return n;
}

static void
run(struct app *app)
{
	uint32_t nothing = 0;
	uint16_t n;

	while (!ends_over(&app->ends)) {
		n = ends_run(&app->ends);
		if (ends_ready(&app->ends))
			n += exchange(app);
		else
			ends_retire(&app->ends);
		nothing = n > 0 ? 0 : nothing + 1;
		/* A short timeout, as not each step of retiring has an event. */
		if (nothing > 100 && !app->busy)
			example_sleep(app->ends.poll, app->ends.closing ? 1 : -1);
	}
	rte_pktmbuf_free_bulk(app->mbufs, app->nb_mbufs);
}

static bool
report(const struct app *app)
{
	double seconds = app->begin == 0 ? 0 : example_now() - app->begin;

	printf("%" PRIu64 " packets sent, %" PRIu64 " came back, %" PRIu64 " wrong, "
			"%.3f s, %.2f Mpps\n", app->nb_sent, app->nb_received, app->nb_wrong,
			seconds, seconds > 0 ? (double)app->nb_received / seconds / 1e6 : 0.0);
	return app->nb_received == app->count && app->nb_wrong == 0;
}

int
main(int argc, char **argv)
{
	static struct app app = {
		.conf = { ENDS_CLIENT_DEFAULTS },
		.count = 1000000,
		.size = 64,
		.window = 512,
		.nb_flows = 8,
	};
	const struct example_option options[] = {
		ENDS_OPTIONS_SERVER(&app.conf),
		EXAMPLE_NUMBER('c', "count", "N", "number of packets", &app.count, 1, UINT64_MAX),
		EXAMPLE_NUMBER('s', "size", "BYTES", "packet length",
				&app.size, sizeof(struct packet), ENDS_ROOM),
		EXAMPLE_NUMBER('W', "window", "N", "packets on the way at a time",
				&app.window, 1, 1 << 14),
		EXAMPLE_NUMBER('f', "flows", "N", "number of flows", &app.nb_flows, 1, MAX_FLOWS),
		ENDS_OPTION_BUFFERS(&app.conf),
		ENDS_OPTION_WAIT(&app.conf),
		EXAMPLE_FLAG('b', "busy", "spin instead of sleeping", &app.busy),
	};
	bool good = false;
	uint64_t i;
	int ret;

	ret = example_options(argc, argv, options, RTE_DIM(options));
	if (ret == 0)
		ret = example_start(1);
	if (ret != 0)
		return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;

	for (i = 0; i < app.nb_flows; i++)
		app.next[i] = i;
	if (ends_open(&app.ends, &app.conf) == 0) {
		run(&app);
		good = report(&app);
	}
	ends_close(&app.ends);
	example_end();
	return good && !app.ends.failed ? EXIT_SUCCESS : EXIT_FAILURE;
}
