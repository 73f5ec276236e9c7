/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Workers on the DPU that get the host's packets as events, swap their addresses and pass
 * them on to be sent back:
 *
 *     main lcore: receive --> queue WORK --> workers --> queue DONE --> main lcore: send
 *
 * The main lcore has the consumer and the producer, because each belongs to one thread. The
 * event device distributes the packets: those of a flow go to one worker at a time, so
 * that they stay in order. event_sw needs a thread for that, too: the main lcore.
 */

#include <unistd.h>

#include <rte_dev.h>
#include <rte_eventdev.h>
#include <rte_launch.h>
#include <rte_pause.h>
#include <rte_service.h>

#include "../mbuf_common/packet.h"
#include "../mbuf_common/serve.h"

#define MAX_WORKERS 16
#define NB_FLOWS 1024
#define NB_EVENTS 4096
#define PORT_DEPTH 64

enum { QUEUE_WORK, QUEUE_DONE, NB_QUEUES };

struct worker {
	uint8_t port;
	uint64_t nb_packets;
};

static const char *dev_name = "event_sw0";
static uint64_t nb_workers = 2;
static int dev_id = -1;
static uint32_t service;
static bool has_service;
static uint8_t main_port;
static atomic_bool stop;
static struct worker workers[MAX_WORKERS];
static uint64_t nb_launched;

static struct rte_event events[ENDS_BURST]; /* received, not enqueued yet */
static uint16_t nb_events;
static struct rte_mbuf *done[ENDS_BURST];   /* done, not sent yet */
static uint16_t nb_done;
static uint64_t nb_in_device;
static uint64_t nb_received, nb_sent, nb_dropped;

/* Enqueue all; the device always has room for events that are in it already. */
static void
forward(uint8_t port, const struct rte_event *evs, uint16_t n)
{
	uint16_t k = 0;

	while (k < n) {
		k += rte_event_enqueue_forward_burst((uint8_t)dev_id, port, &evs[k], n - k);
		if (k < n)
			rte_pause();
	}
}

static int
worker_main(void *arg)
{
	struct rte_event evs[ENDS_BURST];
	struct worker *w = arg;
	uint32_t nothing = 0;
	uint16_t n, i;

	while (!stop) {
		n = rte_event_dequeue_burst((uint8_t)dev_id, w->port, evs, RTE_DIM(evs), 0);
		for (i = 0; i < n; i++) {
			packet_swap(evs[i].mbuf);
			evs[i].queue_id = QUEUE_DONE;
			evs[i].op = RTE_EVENT_OP_FORWARD;
		}
		forward(w->port, evs, n);
		w->nb_packets += n;
		nothing = n > 0 ? 0 : nothing + 1;
		if (nothing > 1000)
			usleep(50);
	}
	return 0;
}

static int
set_up_queues(void)
{
	const struct rte_event_queue_conf work_conf = {
		.schedule_type = RTE_SCHED_TYPE_ATOMIC,
		.nb_atomic_flows = NB_FLOWS,
		.nb_atomic_order_sequences = NB_FLOWS,
		.priority = RTE_EVENT_DEV_PRIORITY_NORMAL,
	};
	const struct rte_event_queue_conf done_conf = {
		.event_queue_cfg = RTE_EVENT_QUEUE_CFG_SINGLE_LINK,
		.priority = RTE_EVENT_DEV_PRIORITY_HIGHEST,
	};
	int ret = rte_event_queue_setup((uint8_t)dev_id, QUEUE_WORK, &work_conf);

	return ret < 0 ? ret : rte_event_queue_setup((uint8_t)dev_id, QUEUE_DONE, &done_conf);
}

/* A port, linked to one queue. */
static int
set_up_port(uint8_t port, uint8_t queue)
{
	const struct rte_event_port_conf conf = {
		.new_event_threshold = NB_EVENTS,
		.dequeue_depth = PORT_DEPTH,
		.enqueue_depth = PORT_DEPTH,
		.event_port_cfg = queue == QUEUE_DONE ? RTE_EVENT_PORT_CFG_SINGLE_LINK : 0,
	};
	int ret = rte_event_port_setup((uint8_t)dev_id, port, &conf);

	if (ret < 0)
		return ret;
	return rte_event_port_link((uint8_t)dev_id, port, &queue, NULL, 1) == 1 ? 0 : -rte_errno;
}

static int
configure(void)
{
	const struct rte_event_dev_config conf = {
		.nb_events_limit = NB_EVENTS,
		.nb_event_queues = NB_QUEUES,
		.nb_event_ports = (uint8_t)(nb_workers + 1),
		.nb_event_queue_flows = NB_FLOWS,
		.nb_event_port_dequeue_depth = PORT_DEPTH,
		.nb_event_port_enqueue_depth = PORT_DEPTH,
		.nb_single_link_event_port_queues = 1,
	};
	int ret = rte_event_dev_configure((uint8_t)dev_id, &conf);
	uint64_t i;

	if (ret == 0)
		ret = set_up_queues();
	for (i = 0; ret == 0 && i < nb_workers; i++)
		ret = set_up_port((uint8_t)i, QUEUE_WORK);
	main_port = (uint8_t)nb_workers;
	return ret != 0 ? ret : set_up_port(main_port, QUEUE_DONE);
}

/* Devices in software have a service, which distributes the events. */
static void
take_service(void)
{
	has_service = rte_event_dev_service_id_get((uint8_t)dev_id, &service) == 0;
	if (!has_service)
		return;
	rte_service_runstate_set(service, 1);
	/* No service lcore: the main lcore runs it. */
	rte_service_set_runstate_mapped_check(service, 0);
}

static int
build(void)
{
	unsigned int lcore = -1;
	int ret;

	/* It exists already if EAL got the option --vdev. */
	dev_id = rte_event_dev_get_dev_id(dev_name);
	if (dev_id < 0) {
		ret = rte_eal_hotplug_add("vdev", dev_name, "");
		dev_id = ret == 0 ? rte_event_dev_get_dev_id(dev_name) : ret;
	}
	if (dev_id < 0) {
		EXAMPLE_ERR("%s: no such event device, nor a driver that creates it", dev_name);
		return -1;
	}
	ret = configure();
	if (ret == 0) {
		take_service();
		ret = rte_event_dev_start((uint8_t)dev_id);
	}
	if (ret < 0)
		return example_error("start event device", ret);
	for (; nb_launched < nb_workers; nb_launched++) {
		lcore = rte_get_next_lcore(lcore, true, false);
		workers[nb_launched].port = (uint8_t)nb_launched;
		rte_eal_remote_launch(worker_main, &workers[nb_launched], lcore);
	}
	return 0;
}

/* Turn a burst of received packets into events. */
static void
receive(const struct ends *e)
{
	struct rte_mbuf *mbufs[ENDS_BURST];
	uint16_t i;

	nb_events = rte_comch_rx_burst(e->consumer, mbufs, RTE_DIM(mbufs));
	for (i = 0; i < nb_events; i++)
		events[i] = (struct rte_event){
			.op = RTE_EVENT_OP_NEW,
			.event_type = RTE_EVENT_TYPE_CPU,
			.sched_type = RTE_SCHED_TYPE_ATOMIC,
			.queue_id = QUEUE_WORK,
			.flow_id = packet_flow(mbufs[i]) % NB_FLOWS,
			.mbuf = mbufs[i],
		};
	nb_received += nb_events;
}

/* Enqueue new events. A short count means that the device is full: the rest waits. */
static void
enqueue(void)
{
	uint16_t n;

	n = rte_event_enqueue_new_burst((uint8_t)dev_id, main_port, events, nb_events);
	nb_in_device += n;
	nb_events -= n;
	memmove(events, &events[n], nb_events * sizeof(events[0]));
}

/* Take packets that are done out of the device. */
static void
dequeue(void)
{
	struct rte_event evs[ENDS_BURST];
	uint16_t i;

	if (has_service)
		rte_service_run_iter_on_app_lcore(service, 1);
	if (nb_done > 0)
		return;
	nb_done = rte_event_dequeue_burst((uint8_t)dev_id, main_port, evs, RTE_DIM(evs), 0);
	for (i = 0; i < nb_done; i++)
		done[i] = evs[i].mbuf;
	nb_in_device -= nb_done;
}

static uint64_t
work(const struct ends *e)
{
	const uint64_t before = nb_received + nb_sent;
	uint16_t n;

	if (nb_events == 0)
		receive(e);
	if (nb_events > 0)
		enqueue();
	dequeue();
	/* A short count means that the peer has posted no more. Send the rest later. */
	n = rte_comch_tx_burst(e->producer, e->consumer_id, done, nb_done);
	nb_sent += n;
	nb_done -= n;
	memmove(done, &done[n], nb_done * sizeof(done[0]));
	/* No sleep while packets are in the device: it does not wake the poll. */
	return nb_received + nb_sent - before + nb_in_device;
}

/* The next client does not get what is on the way. */
static void
unbind(void)
{
	while (nb_events > 0 || nb_in_device > 0 || nb_done > 0) {
		enqueue();
		dequeue();
		rte_pktmbuf_free_bulk(done, nb_done);
		nb_dropped += nb_done;
		nb_done = 0;
	}
}

static void
destroy(void)
{
	uint64_t i;

	stop = true;
	rte_eal_mp_wait_lcore();
	if (dev_id >= 0) {
		rte_event_dev_stop((uint8_t)dev_id);
		rte_event_dev_close((uint8_t)dev_id);
	}
	for (i = 0; i < nb_launched; i++)
		printf("worker %" PRIu64 ": %" PRIu64 " packets\n", i, workers[i].nb_packets);
	printf("%" PRIu64 " packets received, %" PRIu64 " sent, %" PRIu64 " dropped\n",
			nb_received, nb_sent, nb_dropped);
}

int
main(int argc, char **argv)
{
	const struct example_option options[] = {
		EXAMPLE_TEXT('e', "eventdev", "NAME", "event device", &dev_name),
		EXAMPLE_NUMBER('W', "workers", "N", "number of workers, one lcore each",
				&nb_workers, 1, MAX_WORKERS),
	};
	const struct serve_ops ops = {
		.options = options, .nb_options = RTE_DIM(options), .nb_workers = &nb_workers,
		.build = build, .work = work, .unbind = unbind, .destroy = destroy,
	};

	return serve_main(argc, argv, &ops);
}
