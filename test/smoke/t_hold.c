/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Holds a pair with a direct and a staged flow, a message every few
 * milliseconds, for comch-info to look at: until its standard input ends.
 *
 * With "ring", a pair of comch_ring that has passed mbufs in each direction, to a
 * consumer that takes chains (on the host) and to one that does not.
 *
 * usage: t_hold FILE-PREFIX [ring]
 */

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_eal.h>

#include <rte_comch_mbuf.h>

#include "t_pair.h"

#define PERIOD_MS 5

static const struct t_driver driver = { .name = "comch_shm", .has_dir = true };
static const struct t_driver ring_driver = { .name = "comch_ring", .has_dir = true };

static void
start(const char *prefix, const struct t_driver *d)
{
	char arg[64];
	char *argv[] = {
		(char *)(uintptr_t)"hold", arg, (char *)(uintptr_t)"--log-level=*:2",
		(char *)(uintptr_t)"--no-huge", (char *)(uintptr_t)"-m",
		(char *)(uintptr_t)"64", (char *)(uintptr_t)"--no-pci",
		(char *)(uintptr_t)"--no-shconf", (char *)(uintptr_t)"--iova-mode=va", NULL,
	};

	t_driver = d;
	snprintf(arg, sizeof(arg), "--file-prefix=%s", prefix);
	if (rte_eal_init((int)RTE_DIM(argv) - 1, argv) < 0)
		T_FAIL("rte_eal_init: %s", rte_strerror(rte_errno));
}

static void
ready(void)
{
	printf("ready\n");
	fflush(stdout);
}

/* One direction of mbufs, from a producer of one side to a consumer of the other. */
struct way {
	struct rte_comch_consumer *cons;
	struct rte_comch_producer *prod;
	uint32_t id;
};

static void
way_open(struct way *w, struct rte_comch_conn *to, struct t_node *from_node,
		struct rte_comch_conn *from, struct rte_mempool *mp, uint32_t flags)
{
	const struct rte_comch_consumer_conf cc = { .queue_size = 64, .flags = flags };

	w->cons = t_consumer_new(to, &cc, rte_comch_mempool_mr(mp));
	w->prod = t_producer_new(from, NULL);
	t_consumer_run(w->cons);
	w->id = rte_comch_consumer_id(w->cons);
	T_UNTIL(t_knows_consumer(from_node, from, w->id));
	T_EQ(rte_comch_consumer_rx_setup(w->cons, mp), 0);
}

static void
way_pass(struct way *w, struct rte_mempool *mp, uint16_t nb_segs)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp), *in;

	rte_pktmbuf_append(m, 100);
	while (m->nb_segs < nb_segs) {
		in = rte_pktmbuf_alloc(mp);
		rte_pktmbuf_append(in, 100);
		rte_pktmbuf_chain(m, in);
	}
	T_EQ(rte_comch_tx_burst(w->prod, w->id, &m, 1), 1);
	T_UNTIL(rte_comch_rx_burst(w->cons, &in, 1) == 1);
	rte_pktmbuf_free(in);
}

static bool
way_is_idle(struct way *w)
{
	struct rte_mbuf *m;

	return rte_comch_rx_burst(w->cons, &m, 1) == 0 &&
		rte_comch_consumer_state(w->cons) == RTE_COMCH_STATE_IDLE;
}

static void
way_close(struct way *w)
{
	t_producer_end(w->prod);
	T_EQ(rte_comch_consumer_stop(w->cons), -EINPROGRESS);
	T_UNTIL(way_is_idle(w));
	T_EQ(rte_comch_consumer_destroy(w->cons), 0);
}

static void
hold_ring(void)
{
	struct rte_mempool *mp = rte_comch_pktmbuf_pool_create("mbufs", 511, 0, 0,
			2048 + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	struct way to_dpu, to_host;
	struct t_pair p;
	int i;

	T_CHECK(mp != NULL);
	t_pair_open(&p, NULL);
	way_open(&to_dpu, p.sconn, p.host, p.cconn, mp, 0);
	way_open(&to_host, p.cconn, p.dpu, p.sconn, mp, RTE_COMCH_CONSUMER_F_CHAINS);
	for (i = 0; i < 5; i++) {
		way_pass(&to_dpu, mp, i < 2 ? 3 : 1);
		way_pass(&to_host, mp, i < 2 ? 3 : 1);
	}
	ready();
	while (getchar() != EOF)
		;
	way_close(&to_host);
	way_close(&to_dpu);
	t_settle();
	T_EQ(rte_comch_pktmbuf_pool_free(mp), 0);
	t_pair_close(&p);
}

static void
hold_shm(void)
{
	const struct t_flow_conf sealed = { .kind = RTE_COMCH_MEM_SEALED };
	const struct t_flow_conf heap = { .kind = RTE_COMCH_MEM_HEAP, .to_host = true };
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	struct t_flow direct, staged;
	struct t_pair p;
	uint64_t i;

	t_pair_open(&p, NULL);
	t_flow_open(&direct, &p, &sealed);
	t_flow_open(&staged, &p, &heap);
	for (i = 0; poll(&in, 1, PERIOD_MS) == 0; i++) {
		t_send(p.cconn, &i, sizeof(i), i);
		T_UNTIL(t_count(p.dpu, RTE_COMCH_EVENT_MSG, p.sconn) > 0);
		T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_SENT, p.cconn) > 0);
		t_flow_once(&direct, 1000, i);
		t_flow_once(&staged, 1000, i);
		t_forget(p.dpu);
		t_forget(p.host);
		if (i == 0)
			ready();
	}
	t_flow_close(&staged);
	t_flow_close(&direct);
	t_pair_close(&p);
}

int
main(int argc, char **argv)
{
	const bool ring = argc == 3 && strcmp(argv[2], "ring") == 0;

	if (argc != 2 && !ring)
		return 2;
	start(argv[1], ring ? &ring_driver : &driver);
	if (ring)
		hold_ring();
	else
		hold_shm();
	rte_eal_cleanup();
	t_dir_remove();
	return 0;
}
