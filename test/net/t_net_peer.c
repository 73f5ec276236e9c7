/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The DPU's port, with a client that is not a port: it says and sends what it likes. */

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_byteorder.h>
#include <rte_ethdev.h>

#include <rte_comch.h>

#include "t_log.h"
#include "t_main.h"
#include "t_pair.h"
#include "u_net.h"

#define DEPTH 64
#define MAX_IDS 64
#define JUMBO 9000

static const struct t_driver shm = { .name = "comch_shm", .has_dir = true };

struct hello {
	uint8_t magic[4];
	uint16_t version, nb_queues;
	uint32_t max_frame, room;
	uint32_t ids[MAX_IDS];
};

/* A client with a consumer and a producer. */
struct peer {
	struct net_ports ports;
	int16_t dev;
	struct t_node *node;
	struct rte_comch_client *client;
	struct rte_comch_conn *conn;
	struct rte_comch_consumer *cons;
	struct rte_comch_producer *prod;
	struct t_mem mem; /* the first half is posted, the second half is sent */
	uint32_t port_id; /* the port's first consumer */
	struct t_log log;
};

static void
peer_open(struct peer *p, uint16_t nb_queues, uint16_t mtu, uint64_t rx_offloads)
{
	memset(p, 0, sizeof(*p));
	net_open(&p->ports, nb_queues, mtu, rx_offloads);
	t_log_begin(&p->log);
	T_EQ(rte_eth_dev_start(p->ports.dpu.id), 0);
	T_EQ(rte_eth_promiscuous_enable(p->ports.dpu.id), 0);
	t_driver = &shm;
	p->node = t_node_new();
	p->dev = t_dev_open(0, "role=host,func=pf0");
	t_mem_new(&p->mem, RTE_COMCH_MEM_SEALED, (size_t)2 * DEPTH * NET_ROOM, 0);
	t_fill(p->mem.addr, p->mem.len, 1);
}

static void
peer_begin(struct peer *p)
{
	peer_open(p, 1, RTE_ETHER_MTU, 0);
}

static void
peer_begin_jumbo(struct peer *p)
{
	peer_open(p, 1, JUMBO, RTE_ETH_RX_OFFLOAD_SCATTER);
}

static void
peer_begin_two_queues(struct peer *p)
{
	peer_open(p, 2, JUMBO, RTE_ETH_RX_OFFLOAD_SCATTER);
}

static void
peer_leave(struct peer *p)
{
	if (p->prod != NULL)
		t_producer_end(p->prod);
	if (p->cons != NULL)
		t_consumer_end(p->cons);
	t_client_end(p->client);
	p->prod = NULL;
	p->cons = NULL;
	p->client = NULL;
}

/* Whatever the peer did: the port still works, for a port. */
static void
peer_end(struct peer *p)
{
	peer_leave(p);
	t_mem_free(&p->mem);
	T_EQ(rte_comch_dev_close(p->dev), 0);
	t_node_free(p->node);
	T_AWAIT(!net_is_up(&p->ports.dpu));
	T_EQ(rte_eth_dev_start(p->ports.host.id), 0);
	T_EQ(rte_eth_promiscuous_enable(p->ports.host.id), 0);
	T_AWAIT(net_is_up(&p->ports.host) && net_is_up(&p->ports.dpu));
	net_ping_pong(&p->ports, 10);
	T_EQ(rte_eth_dev_stop(p->ports.host.id), 0);
	T_EQ(rte_eth_dev_stop(p->ports.dpu.id), 0);
	t_log_end(&p->log, "link lan is up");
	net_end(&p->ports);
}

static void
peer_connect(struct peer *p, uint32_t flags)
{
	const struct rte_comch_client_conf conf = { .flags = flags };

	t_forget(p->node);
	p->client = t_client_new(p->node, p->dev, "lan", &conf);
	T_EQ(rte_comch_client_start(p->client), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(p->client) == RTE_COMCH_STATE_RUNNING);
	p->conn = rte_comch_client_conn(p->client);
}

static void
peer_say(struct peer *p, const void *data, uint32_t len)
{
	T_UNTIL(t_offer(p->conn, data, len, 0, RTE_COMCH_MSG_F_SILENT));
}

static struct hello
hello_of(uint16_t nb_queues, uint32_t max_frame, uint32_t room)
{
	return (struct hello){
		.magic = { 'N', 'E', 'T', 'C' }, .version = rte_cpu_to_le_16(1),
		.nb_queues = rte_cpu_to_le_16(nb_queues),
		.max_frame = rte_cpu_to_le_32(max_frame), .room = rte_cpu_to_le_32(room),
	};
}

static void
peer_say_hello(struct peer *p, uint32_t max_frame, uint32_t room, uint32_t id)
{
	struct hello h = hello_of(1, max_frame, room);

	h.ids[0] = rte_cpu_to_le_32(id);
	peer_say(p, &h, offsetof(struct hello, ids) + sizeof(h.ids[0]));
}

/* A consumer with depth buffers, a producer, and a valid HELLO: the link is up. */
static void
peer_come_up(struct peer *p, uint32_t max_frame, uint32_t room, uint32_t depth)
{
	const struct rte_comch_consumer_conf conf = { .queue_size = depth };
	struct rte_comch_buf buf = { .mr = p->mem.mr, .len = room };
	uint32_t i;

	peer_connect(p, 0);
	p->cons = t_consumer_new(p->conn, &conf, p->mem.mr);
	t_consumer_run(p->cons);
	for (i = 0; i < depth; i++) {
		buf.addr = p->mem.addr + (size_t)i * NET_ROOM;
		T_EQ(rte_comch_consumer_post_burst(p->cons, &buf, 1), 1);
	}
	p->prod = t_producer_new(p->conn, NULL);
	peer_say_hello(p, max_frame, room, rte_comch_consumer_id(p->cons));
	T_UNTIL(net_is_up(&p->ports.dpu));
	T_UNTIL(t_count(p->node, RTE_COMCH_EVENT_CONSUMER_NEW, NULL) ==
		p->ports.dpu.nb_queues);
	p->port_id = t_find(p->node, RTE_COMCH_EVENT_CONSUMER_NEW, NULL, 0)->e.consumer.id;
}

/* Send one message; the port receives what of it is a frame. */
static void
peer_send(struct peer *p, uint32_t len)
{
	const struct rte_comch_op op = {
		.addr = len > 0 ? p->mem.addr + p->mem.len / 2 : NULL,
		.mr = len > 0 ? p->mem.mr : NULL,
		.len = len, .consumer_id = p->port_id, .flags = RTE_COMCH_OP_F_SILENT,
	};

	t_submit_ops(p->prod, &op, 1);
}

/* The next frame that the port receives has this length. */
static void
port_receives(struct peer *p, uint32_t len)
{
	struct rte_mbuf *m = net_receive(&p->ports.dpu, 0);

	T_EQ(rte_mbuf_check(m, 1, NULL), 0);
	T_EQ(m->pkt_len, len);
	rte_pktmbuf_free(m);
}

static void
peer_is_left(struct peer *p)
{
	T_UNTIL(t_count(p->node, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	T_CHECK(!net_is_up(&p->ports.dpu));
}

/* The port ends the connection, and says why, for the nth time. */
static void
peer_is_refused(struct peer *p, const char *sentence, unsigned int nth)
{
	peer_is_left(p);
	T_EQ(t_log_count(&p->log, sentence), nth);
	peer_leave(p);
}

T_CASE_OF(struct peer, peer_begin, peer_end, invalid_hello, p)
{
	static const uint8_t zeros[300];
	struct hello h = hello_of(1, 1526, NET_ROOM);
	const uint32_t len = offsetof(struct hello, ids) + sizeof(h.ids[0]);
	const struct {
		const void *data;
		uint32_t len;
		uint32_t room, max_frame;
		uint16_t nb_queues;
	} cases[] = {
		{ "", 0, 0, 0, 0 }, { "hello", 5, 0, 0, 0 }, { zeros, 300, 0, 0, 0 },
		/* Consumer 99 does not exist. */
		{ &h, len, NET_ROOM, 1526, 1 }, { &h, len - 1, NET_ROOM, 1526, 1 },
		{ &h, len, 256, 1526, 1 }, { &h, len, 65536, 1526, 1 },
		{ &h, len, NET_ROOM, 65536, 1 }, { &h, len, NET_ROOM, 1526, 0 },
		{ &h, len, NET_ROOM, 1526, 2 }, { &h, sizeof(h), NET_ROOM, 1526, 65 },
	};
	uint32_t i;

	for (i = 0; i < RTE_DIM(cases); i++) {
		h = hello_of(cases[i].nb_queues, cases[i].max_frame, cases[i].room);
		h.ids[0] = rte_cpu_to_le_32(99);
		peer_connect(p, 0);
		peer_say(p, cases[i].data, cases[i].len);
		peer_is_refused(p, "invalid or unexpected message", i + 1);
	}
}

/* A second HELLO is unexpected. */
T_CASE_OF(struct peer, peer_begin, peer_end, hello_twice, p)
{
	peer_come_up(p, 1526, NET_ROOM, DEPTH);
	peer_say_hello(p, 1526, NET_ROOM, rte_comch_consumer_id(p->cons));
	peer_is_refused(p, "invalid or unexpected message of 20 bytes", 1);
}

/* More consumers than a port has: the port remembers none beyond its limit. */
T_CASE_OF(struct peer, peer_begin, peer_end, too_many_consumers, p)
{
	const struct rte_comch_consumer_conf conf = { .queue_size = 1, .staging_size = 4096 };
	struct rte_comch_consumer *cons[MAX_IDS + 1];
	uint32_t i;

	peer_connect(p, 0);
	for (i = 0; i < RTE_DIM(cons); i++) {
		cons[i] = t_consumer_new(p->conn, &conf, p->mem.mr);
		t_consumer_run(cons[i]);
	}
	peer_say_hello(p, 1526, NET_ROOM, rte_comch_consumer_id(cons[MAX_IDS]));
	peer_is_left(p);
	for (i = 0; i < RTE_DIM(cons); i++)
		t_consumer_end(cons[i]);
	peer_is_refused(p, "invalid or unexpected message", 1);
}

/* Without a fast path there are no queues. */
T_CASE_OF(struct peer, peer_begin, peer_end, control_messages_only, p)
{
	peer_connect(p, RTE_COMCH_CLIENT_F_CTRL_ONLY);
	peer_is_refused(p, "link lan: cannot create the queues", 1);
	T_EQ(net_xstat(&p->ports.dpu, "link_ups"), 0);
}

/* A peer that retires a consumer stops: the port ends the connection. */
T_CASE_OF(struct peer, peer_begin, peer_end, consumer_retires, p)
{
	peer_come_up(p, 1526, NET_ROOM, DEPTH);
	t_consumer_end(p->cons);
	p->cons = NULL;
	peer_is_left(p);
}

/* The port's thread, after the run in which it heard that the peer's consumer has retired. */
static uint32_t holds_thread, thread_is_held;
static pthread_t test_thread; /* runs the peer's poll, and is not held */

static void
hold_thread(const struct rte_comch_event *events, uint16_t n)
{
	uint16_t i;

	for (i = 0; i < n; i++)
		if (events[i].type == RTE_COMCH_EVENT_CONSUMER_GONE)
			__atomic_store_n(&thread_is_held, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&thread_is_held, __ATOMIC_ACQUIRE) != 0 &&
			__atomic_load_n(&holds_thread, __ATOMIC_ACQUIRE) != 0)
		usleep(100);
}

/* The plugin calls this one: it waits like a thread that gets no CPU. */
uint16_t
rte_comch_poll_run(struct rte_comch_poll *poll, struct rte_comch_event *events, uint16_t max)
{
	uint16_t (*run)(struct rte_comch_poll *, struct rte_comch_event *, uint16_t);
	uint16_t n;

	*(void **)&run = dlsym(RTLD_NEXT, "rte_comch_poll_run");
	n = run(poll, events, max);
	if (__atomic_load_n(&holds_thread, __ATOMIC_ACQUIRE) != 0 &&
			!pthread_equal(pthread_self(), test_thread))
		hold_thread(events, n);
	return n;
}

/* A consumer has retired, and the port's thread knows but gets no CPU: no burst takes more. */
T_CASE_OF(struct peer, peer_begin, peer_end, thread_is_late, p)
{
	const struct net_port *dpu = &p->ports.dpu;
	struct rte_mbuf *m;
	unsigned int i;

	peer_come_up(p, 1526, NET_ROOM, DEPTH);
	test_thread = pthread_self();
	__atomic_store_n(&holds_thread, 1, __ATOMIC_RELEASE);
	t_consumer_end(p->cons);
	p->cons = NULL;
	T_UNTIL(__atomic_load_n(&thread_is_held, __ATOMIC_ACQUIRE) != 0);
	for (i = 0; i < 2 * DEPTH; i++) {
		m = net_frame(dpu->mp, NET_MIN_FRAME, 1);
		if (rte_eth_tx_burst(dpu->id, 0, &m, 1) == 0)
			rte_pktmbuf_free(m);
	}
	__atomic_store_n(&holds_thread, 0, __ATOMIC_RELEASE);
	peer_is_left(p);
	T_EQ(net_xstat(dpu, "tx_q0_lost_packets"), 0);
}

/* Frames that are too long are dropped whole, and counted once, whatever their parts. */
T_CASE_OF(struct peer, peer_begin_jumbo, peer_end, frames_too_long, p)
{
	static const uint32_t frames[][8] = {
		/* The limit is passed before the end, which is short, or empty. */
		{ NET_ROOM, NET_ROOM, NET_ROOM, NET_ROOM, NET_ROOM, NET_ROOM, 7 },
		{ NET_ROOM, NET_ROOM, NET_ROOM, NET_ROOM, NET_ROOM, NET_ROOM, NET_ROOM, 0 },
		/* By the last part. */
		{ NET_ROOM, NET_ROOM, NET_ROOM, NET_ROOM, JUMBO + 27 - 4 * NET_ROOM },
	};
	uint32_t i, k;

	peer_come_up(p, 1526, NET_ROOM, DEPTH);
	for (i = 0; i < RTE_DIM(frames); i++) {
		for (k = 0; k < RTE_DIM(frames[i]) && (k == 0 || frames[i][k - 1] == NET_ROOM); k++)
			peer_send(p, frames[i][k]);
		peer_send(p, NET_MIN_FRAME);
		port_receives(p, NET_MIN_FRAME);
		T_EQ(net_xstat(&p->ports.dpu, "rx_q0_error_packets"), i + 1);
	}
	/* The longest that fits. */
	for (i = 0; i < 4; i++)
		peer_send(p, NET_ROOM);
	peer_send(p, JUMBO + 26 - 4 * NET_ROOM);
	port_receives(p, JUMBO + 26);
}

/* The end of a frame never comes: it is counted, and its mbufs come back. */
T_CASE_OF(struct peer, peer_begin_jumbo, peer_end, frame_without_end, p)
{
	struct rte_mbuf *m;

	peer_come_up(p, 1526, NET_ROOM, DEPTH);
	peer_send(p, NET_MIN_FRAME);
	peer_send(p, NET_ROOM);
	port_receives(p, NET_MIN_FRAME);
	T_EQ(rte_eth_rx_burst(p->ports.dpu.id, 0, &m, 1), 0);
	peer_leave(p);
	T_AWAIT(net_xstat(&p->ports.dpu, "rx_q0_error_packets") == 1);
}

/* The peer receives shorter frames than the port could send. */
T_CASE_OF(struct peer, peer_begin_two_queues, peer_end, peer_receives_less, p)
{
	const struct net_port *dpu = &p->ports.dpu;
	struct rte_comch_cpl cpl;

	peer_come_up(p, 1000, 1024, DEPTH);
	net_send(dpu, 0, net_frame(dpu->mp, 1001, 0));
	T_EQ(net_xstat(dpu, "tx_q0_oversize_packets"), 1);
	net_send(dpu, 0, net_frame(dpu->mp, 1000, 0));
	t_recv(p->cons, &cpl);
	T_EQ(cpl.status, 0);
	T_EQ(cpl.len, 1000);
	peer_leave(p);
	T_AWAIT(!net_is_up(dpu));
	/* Two transmit queues and one consumer: no frame may be sent in parts. */
	peer_come_up(p, JUMBO, 1024, DEPTH);
	net_send(dpu, 1, net_frame(dpu->mp, 1024, 0));
	T_EQ(net_xstat(dpu, "tx_q1_oversize_packets"), 1);
	net_send(dpu, 1, net_frame(dpu->mp, 1023, 0));
	t_recv(p->cons, &cpl);
	T_EQ(cpl.len, 1023);
}

/* The peer takes two parts of five and leaves: the frame was accepted, and is lost. */
T_CASE_OF(struct peer, peer_begin_jumbo, peer_end, peer_leaves_within_frame, p)
{
	const struct net_port *dpu = &p->ports.dpu;
	struct rte_eth_stats stats;
	struct rte_comch_cpl cpl;

	peer_come_up(p, JUMBO, NET_ROOM, 2);
	net_send(dpu, 0, net_frame(dpu->mp, JUMBO, 0));
	t_recv(p->cons, &cpl);
	T_EQ(cpl.len, NET_ROOM);
	T_EQ(rte_eth_tx_done_cleanup(dpu->id, 0, 0), 0);
	T_EQ(net_xstat(dpu, "tx_q0_lost_packets"), 0);
	peer_leave(p);
	T_AWAIT(net_xstat(dpu, "tx_q0_lost_packets") == 1);
	T_EQ(rte_eth_stats_get(dpu->id, &stats), 0);
	T_EQ(stats.opackets, 0);
	T_EQ(stats.oerrors, 1);
}
