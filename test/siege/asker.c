/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* An honest client in a process of its own, which asks now and then, and waits for the answer. */

#include <stdlib.h>

#include <rte_cycles.h>

#include "siege.h"
#include "t_pair.h"

/* Time without a message before each: the server has to find this client again. */
#define IDLE_US 300
/* It gives up then. */
#define MAX_WAIT_MS 20000

struct asker {
	struct t_node *node;
	struct rte_comch_conn *conn;
	struct times trip;
	bool is_cut;
};

/* True: an answer has come. */
static bool
listen_once(struct asker *a)
{
	struct rte_comch_event evs[T_BURST];
	uint16_t i, n = rte_comch_poll_run(a->node->poll, evs, T_BURST);
	bool answered = false;

	for (i = 0; i < n; i++) {
		answered |= evs[i].type == RTE_COMCH_EVENT_MSG;
		a->is_cut |= evs[i].type == RTE_COMCH_EVENT_DISCONNECTED;
	}
	return answered;
}

static void
ask(struct asker *a)
{
	const uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / 1000 * MAX_WAIT_MS;
	struct span s;

	rte_delay_us_sleep(IDLE_US);
	(void)listen_once(a); /* its scan, and what else is late */
	s = span_begin();
	t_send(a->conn, ASK, sizeof(ASK), 0);
	while (!listen_once(a) && !a->is_cut && rte_rdtsc() < end)
		;
	times_add(&a->trip, span_end(&s));
}

static void
measure(struct asker *a, struct figures *f, unsigned int seconds)
{
	const uint64_t end = t_now_ms() + UINT64_C(1000) * seconds;

	a->trip.nb = 0;
	while (t_now_ms() < end && !a->is_cut)
		ask(a);
	times_sort(&a->trip);
	f->trip_p50 = times_at(&a->trip, 500);
	f->trip_p99 = times_at(&a->trip, 990);
	f->trip_p999 = times_at(&a->trip, 999);
	f->nb_trips = a->trip.nb;
	f->nb_cut = a->is_cut;
}

int
asker_run(int fd, const struct conf *conf, struct figures *alone, struct figures *f)
{
	struct rte_comch_client *client;
	struct asker a = { 0 };
	struct t_step step;
	int16_t dev;

	siege_driver();
	t_eal_start(1);
	siege_pin(conf->asker_cpu);
	a.node = t_node_new();
	dev = t_dev_open(1, "role=host,func=pf0");
	client = t_client_new(a.node, dev, V_NAME, NULL);
	T_EQ(rte_comch_client_start(client), -EINPROGRESS);
	T_UNTIL(t_count(a.node, RTE_COMCH_EVENT_CONNECTED, NULL) == 1);
	a.conn = t_find(a.node, RTE_COMCH_EVENT_CONNECTED, NULL, 0)->e.conn;
	measure(&a, alone, 1);
	t_say(fd, 'A', 0);
	T_UNTIL(t_listen(fd, &step));
	measure(&a, f, conf->seconds);
	t_say(fd, 'E', 0);
	free(a.trip.ns);
	return 0;
}
