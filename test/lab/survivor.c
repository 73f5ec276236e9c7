/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * An endless transfer that outlives its peer, again and again: the host sends messages of
 * 4 KiB, the DPU checks each byte and their order. When the peer is gone, each message and
 * each posted buffer must have completed once, nothing may leak, and the next peer is
 * served. Prints a line per round, which ends with the connection. After SIGTERM, the round is
 * the last one.
 *
 * usage: survivor host|dpu DEVICE-STRING
 */

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "t_pair.h"

#define NAME "survivor"
#define SLOTS 32
#define LEN 4096

struct side {
	struct t_node *node;
	struct t_mem mem;
	int16_t dev;
	struct rte_comch_conn *conn;
	unsigned int since;     /* position of the event that told of the connection */
	unsigned int round;
	uint64_t taken;         /* messages or buffers that the channel took */
	uint64_t good, bad;     /* of these, complete */
	uint64_t owed[SLOTS];   /* cookie + 1 of what is not complete, by slot */
};

static volatile sig_atomic_t is_last;

static void
on_term(int sig)
{
	is_last = sig;
}

/* The end of the round's connection; an earlier one may have had its address. */
static const struct t_ev *
end_of(const struct side *s)
{
	const struct t_ev *ev;
	unsigned int i;

	for (i = 0; (ev = t_find(s->node, RTE_COMCH_EVENT_DISCONNECTED, s->conn, i)) != NULL; i++)
		if (t_pos(s->node, ev) > s->since)
			break;
	return ev;
}

static bool
is_over(const struct side *s)
{
	return end_of(s) != NULL;
}

/* Each completion is of something that is owed, and then is not. */
static void
settle(struct side *s, const struct rte_comch_cpl *cpl)
{
	uint64_t *owed = &s->owed[cpl->cookie % SLOTS];

	T_EQ(*owed, cpl->cookie + 1);
	*owed = 0;
	if (cpl->status == 0)
		s->good++;
	else
		s->bad++;
}

static void
owe(struct side *s)
{
	s->owed[s->taken % SLOTS] = s->taken + 1;
	s->taken++;
}

/* After a round: nothing is owed, nothing leaked. False: it was the last one. */
static bool
next_round(struct side *s)
{
	const struct t_ev *ev = end_of(s);
	static unsigned int nb_fds;
	unsigned int i;

	s->round++;
	printf("survivor: round %u: %" PRIu64 " taken, %" PRIu64 " good, %" PRIu64 " failed; "
		"%d %s\n", s->round, s->taken, s->good, s->bad, ev->e.status, ev->text);
	fflush(stdout);
	for (i = 0; i < SLOTS; i++)
		T_EQ(s->owed[i], 0);
	s->taken = s->good = s->bad = 0;
	t_settle();
	/* The first peer makes the process open what it keeps. */
	if (nb_fds == 0)
		nb_fds = t_fd_count();
	/* The next peer may be there already. */
	T_UNTIL(t_fd_count() <= nb_fds ||
		t_count(s->node, RTE_COMCH_EVENT_CONNECTED, NULL) > s->round);
	return is_last == 0;
}

/* The host */

static void
take_done(struct side *s, struct rte_comch_producer *prod)
{
	struct rte_comch_cpl cpls[SLOTS];
	uint16_t i, n = rte_comch_producer_done_burst(prod, cpls, SLOTS);

	for (i = 0; i < n; i++)
		settle(s, &cpls[i]);
}

static void
send_next(struct side *s, struct rte_comch_producer *prod, uint32_t consumer)
{
	uint8_t *at = s->mem.addr + s->taken % SLOTS * LEN;
	const struct rte_comch_op op = {
		.addr = at, .mr = s->mem.mr, .cookie = s->taken, .len = LEN,
		.consumer_id = consumer,
	};

	if (s->owed[s->taken % SLOTS] != 0)
		return;
	t_fill(at, LEN, s->taken);
	if (rte_comch_producer_send_burst(prod, &op, 1) == 1)
		owe(s);
}

/* The peer may not be there yet. */
static void
connect_client(struct side *s, struct rte_comch_client *client)
{
	for (;;) {
		T_UNTIL(rte_comch_client_state(client) == RTE_COMCH_STATE_IDLE);
		t_forget(s->node);
		s->since = 0;
		(void)rte_comch_client_start(client);
		T_UNTIL(rte_comch_client_state(client) != RTE_COMCH_STATE_STARTING);
		s->conn = rte_comch_client_conn(client);
		if (s->conn != NULL)
			return;
		usleep(50000);
	}
}

static void
host_round(struct side *s, struct rte_comch_client *client)
{
	struct rte_comch_producer *prod;
	const struct t_ev *peer;

	connect_client(s, client);
	prod = t_producer_new(s->conn, NULL);
	T_UNTIL(t_count(s->node, RTE_COMCH_EVENT_CONSUMER_NEW, NULL) > 0 || is_over(s));
	peer = t_find(s->node, RTE_COMCH_EVENT_CONSUMER_NEW, NULL, 0);
	while (!is_over(s)) {
		send_next(s, prod, peer->e.consumer.id);
		take_done(s, prod);
		t_step_all();
	}
	T_UNTIL((take_done(s, prod), s->good + s->bad == s->taken));
	t_producer_end(prod);
}

static void
host(struct side *s)
{
	struct rte_comch_client *client = t_client_new(s->node, s->dev, NAME, NULL);

	do
		host_round(s, client);
	while (next_round(s));
	t_client_end(client);
}

/* The DPU */

static void
post(struct side *s, struct rte_comch_consumer *cons)
{
	struct rte_comch_buf buf;

	do {
		buf = (struct rte_comch_buf){
			.addr = s->mem.addr + s->taken % SLOTS * LEN, .mr = s->mem.mr,
			.cookie = s->taken, .len = LEN,
		};
		if (s->owed[s->taken % SLOTS] != 0 ||
				rte_comch_consumer_post_burst(cons, &buf, 1) == 0)
			return;
		owe(s);
	} while (true);
}

/* Messages are whole, in order, and come once. */
static void
take_received(struct side *s, struct rte_comch_consumer *cons)
{
	struct rte_comch_cpl cpls[SLOTS];
	uint16_t i, n = rte_comch_consumer_recv_burst(cons, cpls, SLOTS);

	for (i = 0; i < n; i++) {
		if (cpls[i].status == 0) {
			T_EQ(cpls[i].len, LEN);
			T_VERIFY(s->mem.addr + cpls[i].cookie % SLOTS * LEN, LEN, s->good);
		}
		settle(s, &cpls[i]);
	}
}

static void
dpu_round(struct side *s)
{
	struct rte_comch_consumer *cons;
	const struct t_ev *ev;

	while ((ev = t_find(s->node, RTE_COMCH_EVENT_CONNECTED, NULL, s->round)) == NULL)
		t_step_all();
	s->conn = ev->e.conn;
	s->since = t_pos(s->node, ev);
	cons = t_consumer_new(s->conn, NULL, s->mem.mr);
	(void)rte_comch_consumer_start(cons);
	T_UNTIL(rte_comch_consumer_state(cons) == RTE_COMCH_STATE_RUNNING || is_over(s));
	while (!is_over(s)) {
		post(s, cons);
		take_received(s, cons);
		t_step_all();
	}
	T_UNTIL((take_received(s, cons), s->good + s->bad == s->taken));
	t_consumer_end(cons);
}

static void
dpu(struct side *s)
{
	struct rte_comch_server *server = t_server_new(s->node, s->dev, NAME, 0, NULL);

	printf("survivor: serving\n");
	fflush(stdout);
	do
		dpu_round(s);
	while (next_round(s));
	t_server_end(server);
}

int
main(int argc, char **argv)
{
	struct side s = { 0 };

	if (argc != 3) {
		fprintf(stderr, "usage: survivor host|dpu DEVICE-STRING\n");
		return 2;
	}
	signal(SIGTERM, on_term);
	t_eal_start(1);
	s.node = t_node_new();
	T_EQ(rte_comch_dev_probe(argv[2], &s.dev), 0);
	t_mem_new(&s.mem, RTE_COMCH_MEM_SEALED, (size_t)SLOTS * LEN, 0);
	if (strcmp(argv[1], "host") == 0)
		host(&s);
	else
		dpu(&s);
	t_mem_free(&s.mem);
	t_node_free(s.node);
	T_EQ(rte_comch_dev_close(s.dev), 0);
	t_eal_stop();
	printf("survivor: ended well\n");
	return 0;
}
