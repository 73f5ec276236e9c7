/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A peer of comch-perf whose texts control a terminal: the leader of a session (host), with
 * the name of a test, or the follower (dpu), with the reason of a failure.
 *
 * usage: t_perf_peer host|dpu
 */

#include "engine/sync.h"
#include "t_pair.h"

#define TEXT "\033]0;title\a red \x9b" "31m"
#define NAME "comch-perf"

static const struct t_driver driver = { .name = "comch_shm" };

/* As in engine/sync.c. */
struct frame {
	uint32_t magic, type, run, len;
	uint8_t data[sizeof(struct sync_hello)];
};

static void
send_frame(struct rte_comch_conn *conn, uint32_t type, const void *data, uint32_t len)
{
	struct frame f = { .magic = UINT32_C(0x43505246), .type = type, .run = 1, .len = len };

	memcpy(f.data, data, len);
	T_UNTIL(t_offer(conn, &f, (uint32_t)offsetof(struct frame, data) + len, 0,
		RTE_COMCH_MSG_F_SILENT));
}

static void
greet(struct rte_comch_conn *conn)
{
	const struct sync_hello hello = { .version = RTE_COMCH_VERSION_STRING, .nb_workers = 1 };

	send_frame(conn, SYNC_HELLO, &hello, sizeof(hello));
}

/* Until the other side has had enough. */
static void
lead(void)
{
	const struct rte_comch_client_conf conf = { .connect_timeout_ms = T_TIMEOUT_MS };
	/* The first message of a connection: see engine/link.c. */
	const struct link_number number = { .magic = UINT32_C(0x4e554d42) };
	const struct sync_run run = { .test = TEXT };
	struct t_node *node = t_node_new();
	struct rte_comch_client *client;

	client = t_client_new(node, t_dev_open(1, "role=host,func=pf0"), NAME, &conf);
	T_EQ(rte_comch_client_start(client), -EINPROGRESS);
	T_UNTIL(t_count(node, RTE_COMCH_EVENT_CONNECTED, NULL) == 1);
	T_UNTIL(t_offer(rte_comch_client_conn(client), &number, sizeof(number), 0, 0));
	greet(rte_comch_client_conn(client));
	send_frame(rte_comch_client_conn(client), SYNC_RUN, &run, sizeof(run));
	T_UNTIL(rte_comch_client_state(client) == RTE_COMCH_STATE_IDLE);
	t_client_end(client);
}

static void
follow(void)
{
	struct t_node *node = t_node_new();
	struct rte_comch_server *server;
	struct rte_comch_conn *conn;

	server = t_server_new(node, t_dev_open(0, "role=dpu,rep=pf0"), NAME, 0, NULL);
	T_UNTIL(t_count(node, RTE_COMCH_EVENT_CONNECTED, NULL) == 1);
	conn = t_find(node, RTE_COMCH_EVENT_CONNECTED, NULL, 0)->e.conn;
	greet(conn);
	/* Its number, HELLO and RUN. */
	T_UNTIL(t_count(node, RTE_COMCH_EVENT_MSG, conn) == 3);
	send_frame(conn, SYNC_ERROR, TEXT, sizeof(TEXT));
	t_server_end(server);
}

int
main(int argc, char **argv)
{
	T_EQ(argc, 2);
	t_driver = &driver;
	t_eal_start(1);
	if (strcmp(argv[1], "host") == 0)
		lead();
	else
		follow();
	return 0;
}
