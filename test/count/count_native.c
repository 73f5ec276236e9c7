/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The native API: operations, mbufs and control messages, over shm. */

#include <poll.h>

#include <rte_mbuf.h>

#include <rte_comch_mbuf.h>

#include "count.h"
#include "t_pair.h"

#define BURST 32
#define LEN 64
#define ROOM 2048

static const struct t_driver shm = {
	.name = "comch_shm",
	.has_dir = true,
	.has_kernel_peer = true,
};

static struct t_pair pair;
static struct t_flow flow;
static struct rte_comch_op ops[BURST];
static struct rte_comch_buf bufs[BURST];

static void
open_pair(void)
{
	t_driver = &shm;
	t_eal_start(1);
	t_pair_open(&pair, NULL);
}

/* A consumer on the server, a producer on the client. */
static void
open_flow(enum rte_comch_mem_kind kind)
{
	const struct t_flow_conf conf = { .kind = kind };
	unsigned int i;

	open_pair();
	t_flow_open(&flow, &pair, &conf);
	for (i = 0; i < BURST; i++) {
		ops[i] = (struct rte_comch_op) {
			.addr = flow.src.addr + i * LEN, .mr = flow.src.mr, .len = LEN,
			.consumer_id = flow.id, .cookie = i,
		};
		bufs[i] = (struct rte_comch_buf) {
			.addr = flow.dst.addr + i * LEN, .mr = flow.dst.mr, .len = LEN,
			.cookie = i,
		};
	}
}

static void
open_direct(void)
{
	open_flow(RTE_COMCH_MEM_SEALED);
}

static void
open_staged(void)
{
	open_flow(RTE_COMCH_MEM_HEAP);
}

static void
open_imm(void)
{
	static const uint8_t imm[RTE_COMCH_IMM_SIZE];

	open_flow(RTE_COMCH_MEM_SEALED);
	ops[0] = (struct rte_comch_op) {
		.imm = imm, .imm_len = sizeof(imm), .consumer_id = flow.id,
	};
}

static void
close_flow(void)
{
	t_flow_close(&flow);
	t_pair_close(&pair);
	t_eal_stop();
}

static void
move(uint16_t nb)
{
	struct rte_comch_cpl in[BURST], out[BURST];
	uint16_t n;

	COUNT(COUNT_RECV, n = rte_comch_consumer_post_burst(flow.cons, bufs, nb));
	T_EQ(n, nb);
	COUNT(COUNT_SEND, n = rte_comch_producer_send_burst(flow.prod, ops, nb));
	T_EQ(n, nb);
	COUNT(COUNT_RECV, n = rte_comch_consumer_recv_burst(flow.cons, in, nb));
	T_EQ(n, nb);
	COUNT(COUNT_SEND, n = rte_comch_producer_done_burst(flow.prod, out, nb));
	T_EQ(n, nb);
	T_EQ(in[nb - 1].status, 0);
	T_EQ(out[nb - 1].status, 0);
}

static void
step_one(void)
{
	move(1);
}

static void
step_burst(void)
{
	move(BURST);
}

/* One call of each that finds nothing: the price of polling. */
static void
step_empty(void)
{
	struct rte_comch_cpl cpl[BURST];
	uint16_t n;

	COUNT(COUNT_RECV, n = rte_comch_consumer_recv_burst(flow.cons, cpl, BURST));
	T_EQ(n, 0);
	COUNT(COUNT_SEND, n = rte_comch_producer_done_burst(flow.prod, cpl, BURST));
	T_EQ(n, 0);
}

static struct rte_mempool *rx_pool, *tx_pool;

static struct rte_mempool *
pool_new(const char *name)
{
	struct rte_mempool *mp = rte_comch_pktmbuf_pool_create(name, 1023, 256, 0,
		ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);

	T_CHECK(mp != NULL);
	return mp;
}

static void
open_mbuf(void)
{
	open_pair();
	rx_pool = pool_new("rx");
	tx_pool = pool_new("tx");
	flow.cons = t_consumer_new(pair.sconn, NULL, rte_comch_mempool_mr(rx_pool));
	t_consumer_run(flow.cons);
	flow.prod = t_producer_new(pair.cconn, NULL);
	flow.id = rte_comch_consumer_id(flow.cons);
	T_UNTIL(t_knows_consumer(pair.host, pair.cconn, flow.id));
	T_EQ(rte_comch_consumer_rx_setup(flow.cons, rx_pool), 0);
}

static void
close_mbuf(void)
{
	struct rte_mbuf *mbuf;

	t_producer_end(flow.prod);
	T_EQ(rte_comch_consumer_stop(flow.cons), -EINPROGRESS);
	T_UNTIL(rte_comch_rx_burst(flow.cons, &mbuf, 1) == 0 &&
		rte_comch_consumer_state(flow.cons) == RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_consumer_destroy(flow.cons), 0);
	t_settle();
	T_EQ(rte_comch_pktmbuf_pool_free(rx_pool), 0);
	T_EQ(rte_comch_pktmbuf_pool_free(tx_pool), 0);
	t_pair_close(&pair);
	t_eal_stop();
}

/* Taking mbufs from a pool and giving them back is the application's, not counted. */
static void
step_mbuf(void)
{
	struct rte_mbuf *out[BURST], *in[BURST];
	uint16_t i, n;

	T_EQ(rte_pktmbuf_alloc_bulk(tx_pool, out, BURST), 0);
	for (i = 0; i < BURST; i++)
		T_CHECK(rte_pktmbuf_append(out[i], LEN) != NULL);
	COUNT(COUNT_SEND, n = rte_comch_tx_burst(flow.prod, flow.id, out, BURST));
	T_EQ(n, BURST);
	COUNT(COUNT_RECV, n = rte_comch_rx_burst(flow.cons, in, BURST));
	T_EQ(n, BURST);
	rte_pktmbuf_free_bulk(in, BURST);
}

static void
close_pair(void)
{
	t_pair_close(&pair);
	t_eal_stop();
}

/* There, and the event that says so. */
static void
step_ctrl(void)
{
	static const uint8_t data[LEN];
	const struct rte_comch_msg msg = { .data = data, .len = LEN };
	struct rte_comch_event ev[BURST];
	uint16_t n;

	COUNT(COUNT_SEND, n = rte_comch_conn_send_burst(pair.cconn, &msg, 1));
	T_EQ(n, 1);
	COUNT(COUNT_RECV, n = rte_comch_poll_run(pair.dpu->poll, ev, BURST));
	T_EQ(n, 1);
	T_EQ(ev[0].type, RTE_COMCH_EVENT_MSG);
	/* Credits go back in this run. */
	COUNT(COUNT_RECV, n = rte_comch_poll_run(pair.dpu->poll, ev, BURST));
	T_EQ(n, 0);
	COUNT(COUNT_SEND, n = rte_comch_poll_run(pair.host->poll, ev, BURST));
	T_EQ(n, 1);
	T_EQ(ev[0].type, RTE_COMCH_EVENT_SENT);
}

/* Clients that say nothing beside one that does. */
#define CROWD 32

static struct rte_comch_client *crowd[CROWD];

static void
open_crowd(void)
{
	const struct rte_comch_client_conf conf = { .conf_size = sizeof(conf) };
	unsigned int i;

	open_pair();
	for (i = 0; i < CROWD; i++) {
		crowd[i] = t_client_new(pair.host, pair.host_dev, pair.name, &conf);
		T_EQ(rte_comch_client_start(crowd[i]), -EINPROGRESS);
		T_UNTIL(t_state_is(pair.host, crowd[i], RTE_COMCH_STATE_RUNNING));
	}
	t_settle();
	/* The one that speaks is not idle any more, at either end. */
	t_send(pair.cconn, "first", 5, 0);
	T_UNTIL(t_count(pair.dpu, RTE_COMCH_EVENT_MSG, NULL) == 1);
	T_UNTIL(t_count(pair.host, RTE_COMCH_EVENT_SENT, NULL) == 1);
}

static void
close_crowd(void)
{
	unsigned int i;

	for (i = 0; i < CROWD; i++)
		t_client_end(crowd[i]);
	close_pair();
}

/* A run of a poll with one connection that says nothing. */
static void
step_idle(void)
{
	struct rte_comch_event ev[BURST];
	uint16_t n;

	COUNT(COUNT_RECV, n = rte_comch_poll_run(pair.dpu->poll, ev, BURST));
	T_EQ(n, 0);
	COUNT(COUNT_SEND, n = rte_comch_poll_run(pair.host->poll, ev, BURST));
	T_EQ(n, 0);
}

static void
open_sleep(void)
{
	open_direct();
	t_settle();
}

/* One side sleeps, the other wakes it. */
static void
sleep_and_wake(void (*wake)(void))
{
	int ret;

	count_asleep = wake;
	COUNT(COUNT_RECV, ret = rte_comch_poll_wait(pair.dpu->poll, RTE_COMCH_POLL_RX, -1));
	T_EQ(ret, 1);
	T_CHECK(count_asleep == NULL);
}

/* The same on a descriptor. */
static void
sleep_on_fd(void (*wake)(void))
{
	struct rte_comch_poll *poll_on = pair.dpu->poll;
	struct pollfd pfd = {
		.fd = rte_comch_poll_fd(poll_on, RTE_COMCH_POLL_ANY), .events = POLLIN,
	};
	int ret;

	COUNT(COUNT_RECV, ret = rte_comch_poll_arm(poll_on, RTE_COMCH_POLL_RX));
	T_EQ(ret, 0);
	T_EQ(poll(&pfd, 1, 0), 0);
	wake();
	COUNT(COUNT_RECV, ret = poll(&pfd, 1, 0));
	T_EQ(ret, 1);
}

static void
wake_by_desc(void)
{
	struct rte_comch_cpl out;
	uint16_t n;

	COUNT(COUNT_SEND, n = rte_comch_producer_send_burst(flow.prod, ops, 1));
	T_EQ(n, 1);
	COUNT(COUNT_SEND, n = rte_comch_producer_done_burst(flow.prod, &out, 1));
	T_EQ(n, 1);
}

static void
woken_by_desc(void)
{
	struct rte_comch_event ev[BURST];
	struct rte_comch_cpl in;
	uint16_t n;

	COUNT(COUNT_RECV, n = rte_comch_poll_run(pair.dpu->poll, ev, BURST));
	T_EQ(n, 0);
	COUNT(COUNT_RECV, n = rte_comch_consumer_recv_burst(flow.cons, &in, 1));
	T_EQ(n, 1);
}

static void
step_sleep(void)
{
	uint16_t n;

	COUNT(COUNT_RECV, n = rte_comch_consumer_post_burst(flow.cons, bufs, 1));
	T_EQ(n, 1);
	sleep_and_wake(wake_by_desc);
	woken_by_desc();
}

static void
wake_by_msg(void)
{
	static const uint8_t data[LEN];
	const struct rte_comch_msg msg = {
		.data = data, .len = LEN, .flags = RTE_COMCH_MSG_F_SILENT,
	};
	uint16_t n;

	COUNT(COUNT_SEND, n = rte_comch_conn_send_burst(pair.cconn, &msg, 1));
	T_EQ(n, 1);
}

static void
woken_by_msg(void)
{
	struct rte_comch_event ev[BURST];
	uint16_t n;

	COUNT(COUNT_RECV, n = rte_comch_poll_run(pair.dpu->poll, ev, BURST));
	T_EQ(n, 1);
	/* Credits go back in this run. */
	COUNT(COUNT_RECV, n = rte_comch_poll_run(pair.dpu->poll, ev, BURST));
	T_EQ(n, 0);
	COUNT(COUNT_SEND, n = rte_comch_poll_run(pair.host->poll, ev, BURST));
	T_EQ(n, 0);
}

static void
step_sleep_ctrl(void)
{
	sleep_and_wake(wake_by_msg);
	woken_by_msg();
}

static void
step_sleep_fd(void)
{
	sleep_on_fd(wake_by_msg);
	woken_by_msg();
}

const struct count_row count_rows_native[] = {
	{ "imm", "32 bytes of immediate data, alone", 1, open_imm, step_one, close_flow },
	{ "desc", "64 bytes, alone", 1, open_direct, step_one, close_flow },
	{ "desc-burst", "64 bytes, 32 a burst", BURST, open_direct, step_burst, close_flow },
	{ "staged-burst", "64 bytes to heap memory, 32 a burst", BURST, open_staged,
		step_burst, close_flow },
	{ "empty", "done_burst() and recv_burst() that find nothing", 1, open_direct,
		step_empty, close_flow },
	{ "mbuf-burst", "mbufs of 64 bytes, 32 a burst", BURST, open_mbuf, step_mbuf,
		close_mbuf },
	{ "ctrl", "a control message of 64 bytes, and its SENT event", 1, open_pair, step_ctrl,
		close_pair },
	{ "ctrl-crowd", "the same beside 32 idle connections", 1, open_crowd, step_ctrl,
		close_crowd },
	{ "idle", "a poll_run() of each end that finds nothing", 1, open_pair, step_idle,
		close_pair },
	{ "sleep", "64 bytes that wake a sleeping poll", 1, open_sleep, step_sleep,
		close_flow },
	{ "sleep-ctrl", "a control message of 64 bytes that wakes a sleeping poll", 1, open_pair,
		step_sleep_ctrl, close_pair },
	{ "sleep-fd", "the same, for a thread that sleeps on the poll's descriptor", 1, open_pair,
		step_sleep_fd, close_pair },
	{ .name = NULL },
};
