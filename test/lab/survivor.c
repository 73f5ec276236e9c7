/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * An end of a connection that outlives its peers. The host sends messages without an end,
 * the DPU receives them; the peer is this program, too, and is killed in the middle, or its
 * machine. The survivor accounts for everything it gave to the library, and connects again.
 *
 *   survivor dpu|host DEVICE LIVES
 *
 * It exits with 0 after LIVES lost connections if everything is accounted for and no more
 * descriptors are open than after the first:
 *
 *   host: each operation completes once, with success or an error
 *   dpu:  each posted buffer comes back once; messages come in order, none twice, with the
 *         bytes that were sent
 *
 * "life N moves" is printed when the transfer is under way: time to kill the peer.
 */

#include <inttypes.h>
#include <stdlib.h>

#include "t_pair.h"

#define MSG_SIZE 4096
#define NB_BUFS 64
#define BURST 16
/* Messages after which a life "moves". */
#define MOVING 100

#define SERVER_NAME "survivor"
/* How long a client waits for a machine that boots. */
#define CONNECT_MS 240000

/** A connection, from its beginning to its loss. */
struct life {
	unsigned int number;
	struct rte_comch_producer *prod;
	struct rte_comch_consumer *cons;
	bool busy[NB_BUFS];    /* given to the library */
	uint64_t given;        /* operations, or buffers */
	uint64_t good;         /* returned with success */
	uint64_t failed;       /* returned with an error */
};

static struct t_node *node;
static struct t_mem mem;

/* What the events say of the connection of now; and of the next one, which a host may have
 * made before we are done with the last.
 */
static struct rte_comch_conn *conn, *next_conn;
static uint32_t consumer_id;
static bool is_lost;
static char why[128];

static uint8_t *
buf_of(unsigned int i)
{
	return mem.addr + (size_t)i * MSG_SIZE;
}

static void
give(struct life *l, unsigned int i)
{
	T_CHECK(!l->busy[i]);
	l->busy[i] = true;
	l->given++;
}

static void
take_back(struct life *l, const struct rte_comch_cpl *cpl)
{
	T_LT(cpl->cookie, NB_BUFS);
	T_CHECK(l->busy[cpl->cookie]);
	l->busy[cpl->cookie] = false;
	if (cpl->status < 0) {
		l->failed++;
		return;
	}
	/* After an error nothing of the same connection succeeds. */
	T_EQ(l->failed, 0);
	l->good++;
	if (l->good == MOVING)
		printf("life %u moves\n", l->number);
}

static bool
all_back(const struct life *l)
{
	return l->good + l->failed == l->given;
}

/* Events */

static void
on_event(struct t_node *n __rte_unused, const struct rte_comch_event *ev)
{
	switch (ev->type) {
	case RTE_COMCH_EVENT_CONNECTED:
		T_CHECK(next_conn == NULL);
		next_conn = ev->conn;
		break;
	case RTE_COMCH_EVENT_DISCONNECTED:
		if (ev->conn == next_conn) {
			next_conn = NULL;
			break;
		}
		is_lost = true;
		snprintf(why, sizeof(why), "%s", ev->text == NULL ? "" : ev->text);
		break;
	case RTE_COMCH_EVENT_CONSUMER_NEW:
		consumer_id = ev->consumer.id;
		break;
	default:
		break;
	}
}

static void
take_conn(void)
{
	T_UNTIL(next_conn != NULL);
	conn = next_conn;
	next_conn = NULL;
	is_lost = false;
}

/* The host */

/* Send what is free; the contents tell the message's number. */
static void
send_some(struct life *l)
{
	struct rte_comch_op op = {
		.mr = mem.mr, .len = MSG_SIZE, .consumer_id = consumer_id,
	};
	unsigned int i, n;

	for (n = 0; n < BURST; n++) {
		i = l->given % NB_BUFS;
		/* In order, so that the oldest is the next to become free. */
		if (l->busy[i])
			return;
		t_fill(buf_of(i), MSG_SIZE, l->given);
		op.addr = buf_of(i);
		op.cookie = i;
		if (rte_comch_producer_send_burst(l->prod, &op, 1) == 0)
			return;
		give(l, i);
	}
}

static void
reap_sent(struct life *l)
{
	struct rte_comch_cpl cpls[BURST];
	uint16_t n, i;

	n = rte_comch_producer_done_burst(l->prod, cpls, BURST);
	for (i = 0; i < n; i++)
		take_back(l, &cpls[i]);
}

/* Connect; the peer's machine may still boot. */
static struct rte_comch_client *
connect_again(int16_t dev)
{
	const struct rte_comch_client_conf conf = { .connect_timeout_ms = CONNECT_MS };
	struct rte_comch_client *client;
	uint64_t end = t_deadline();

	for (;;) {
		client = t_client_new(node, dev, SERVER_NAME, &conf);
		T_EQ(rte_comch_client_start(client), -EINPROGRESS);
		T_UNTIL(rte_comch_client_state(client) != RTE_COMCH_STATE_STARTING);
		if (rte_comch_client_state(client) == RTE_COMCH_STATE_RUNNING)
			return client;
		t_client_end(client);
		T_LT(t_now_ms(), end);
	}
}

static bool
host_moves(struct life *l)
{
	reap_sent(l);
	if (is_lost)
		return false;
	send_some(l);
	return true;
}

static void
host_life(struct life *l, int16_t dev)
{
	struct rte_comch_client *client = connect_again(dev);

	take_conn();
	T_UNTIL(consumer_id != 0 || is_lost);
	if (!is_lost) {
		l->prod = t_producer_new(conn, NULL);
		while (host_moves(l))
			t_step_all();
		T_UNTIL((reap_sent(l), all_back(l)));
		T_EQ(rte_comch_producer_state(l->prod), RTE_COMCH_STATE_IDLE);
		t_producer_end(l->prod);
	}
	T_UNTIL(is_lost);
	consumer_id = 0;
	t_client_end(client);
}

/* The DPU */

static void
post(struct life *l, unsigned int i)
{
	const struct rte_comch_buf buf = {
		.addr = buf_of(i), .mr = mem.mr, .len = MSG_SIZE, .cookie = i,
	};

	if (rte_comch_consumer_post_burst(l->cons, &buf, 1) == 1)
		give(l, i);
}

static void
reap_received(struct life *l)
{
	struct rte_comch_cpl cpls[BURST];
	uint16_t n, i;

	n = rte_comch_consumer_recv_burst(l->cons, cpls, BURST);
	for (i = 0; i < n; i++) {
		if (cpls[i].status == 0) {
			T_EQ(cpls[i].len, MSG_SIZE);
			T_VERIFY(buf_of((unsigned int)cpls[i].cookie), MSG_SIZE, l->good);
		}
		take_back(l, &cpls[i]);
	}
}

static bool
dpu_moves(struct life *l)
{
	unsigned int i;

	reap_received(l);
	if (is_lost)
		return false;
	for (i = 0; i < NB_BUFS; i++)
		if (!l->busy[i])
			post(l, i);
	return true;
}

static void
dpu_life(struct life *l, int16_t dev __rte_unused)
{
	take_conn();
	l->cons = t_consumer_new(conn, NULL, mem.mr);
	T_EQ(rte_comch_consumer_start(l->cons), -EINPROGRESS);
	T_UNTIL(rte_comch_consumer_state(l->cons) != RTE_COMCH_STATE_STARTING);
	while (dpu_moves(l))
		t_step_all();
	T_UNTIL((reap_received(l), all_back(l)));
	t_consumer_end(l->cons);
}

/* The lives */

static void
report(const struct life *l)
{
	printf("life %u ends: %" PRIu64 " given, %" PRIu64 " good, %" PRIu64 " failed: %s\n",
		l->number, l->given, l->good, l->failed, why);
}

static void
check_leaks(void)
{
	static unsigned int nb_fds;

	/* What is kept for connections in general stays open after the first. A helper thread
	 * closes the rest some time.
	 */
	if (nb_fds == 0) {
		t_settle();
		nb_fds = t_fd_count();
	}
	T_UNTIL(t_fd_count() <= nb_fds || next_conn != NULL);
}

/* A life counts if it has moved: the peer may be killed at other times, too. */
static void
live(void (*fn)(struct life *l, int16_t dev), int16_t dev, unsigned int lives)
{
	struct life l;
	unsigned int n = 1;

	while (n <= lives) {
		l = (struct life){ .number = n };
		fn(&l, dev);
		report(&l);
		check_leaks();
		n += l.good >= MOVING;
	}
}

static void
dpu(int16_t dev, unsigned int lives)
{
	struct rte_comch_server *server = t_server_new(node, dev, SERVER_NAME, 0, NULL);

	live(dpu_life, dev, lives);
	t_server_end(server);
}

static void
run(bool is_dpu, const char *dev_string, unsigned int lives)
{
	int16_t dev = -1;

	t_eal_start(1);
	T_EQ(rte_comch_dev_probe(dev_string, &dev), 0);
	node = t_node_new();
	node->hook = on_event;
	t_mem_new(&mem, RTE_COMCH_MEM_SEALED, (size_t)NB_BUFS * MSG_SIZE, 0);
	if (is_dpu)
		dpu(dev, lives);
	else
		live(host_life, dev, lives);
	T_EQ(rte_comch_dev_close(dev), 0);
	t_mem_free(&mem);
	t_node_free(node);
	t_eal_stop();
}

int
main(int argc, char **argv)
{
	unsigned long lives = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
	bool is_dpu = argc > 1 && strcmp(argv[1], "dpu") == 0;

	if (lives == 0 || lives > UINT16_MAX || (!is_dpu && strcmp(argv[1], "host") != 0)) {
		fprintf(stderr, "usage: survivor dpu|host DEVICE LIVES\n");
		return 2;
	}
	/* Each line at once: a script waits for it. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	run(is_dpu, argv[2], (unsigned int)lives);
	return 0;
}
