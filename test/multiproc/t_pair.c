/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Two processes exchange control messages and data, both ways, byte for byte. */

#include <unistd.h>

#include "mp.h"

#define NB_MSGS 20000
#define NB_DATA 5000

static int
ctrl_client(int fd, void *arg)
{
	struct rte_comch_conn_info info;
	uint32_t next = 0;
	struct mp_end e;

	RTE_SET_USED(arg);
	mp_client_open(&e, NULL);
	T_EQ(rte_comch_conn_info_get(e.conn, &info), 0);
	t_say(fd, 'P', (uint64_t)info.peer_pid);
	while (next < NB_MSGS) {
		mp_count_up(e.conn, &next, NB_MSGS);
		t_step_all();
	}
	T_UNTIL(t_count(e.node, RTE_COMCH_EVENT_SENT, NULL) == NB_MSGS);
	T_UNTIL(t_count(e.node, RTE_COMCH_EVENT_MSG, NULL) == NB_MSGS);
	T_EQ(mp_counted(e.node, NULL), NB_MSGS);
	mp_close(&e);
	return 0;
}

static int
ctrl_server(int fd, void *arg)
{
	uint32_t next = 0;
	struct mp_end e;

	RTE_SET_USED(arg);
	mp_server_open(&e, NULL);
	e.conn = mp_server_accept(&e, 0);
	t_say(fd, 'P', (uint64_t)getpid());
	while (next < NB_MSGS) {
		mp_count_up(e.conn, &next, NB_MSGS);
		t_step_all();
	}
	T_UNTIL(t_count(e.node, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	T_EQ(mp_counted(e.node, NULL), NB_MSGS);
	T_EQ(t_count(e.node, RTE_COMCH_EVENT_SENT, NULL), NB_MSGS);
	mp_close(&e);
	return 0;
}

static void
control(void)
{
	struct t_proc server, client;
	uint64_t pid;

	t_proc_start(&server, "server", ctrl_server, NULL);
	t_proc_start(&client, "client", ctrl_client, NULL);
	pid = t_hear(server.fd, 'P');
	T_EQ(pid, server.pid);
	T_EQ(t_hear(client.fd, 'P'), pid);
	t_proc_join(&client);
	t_proc_join(&server);
}

/** What a data case moves. */
struct data_case {
	enum rte_comch_mem_kind kind;
	uint32_t len;
	uint32_t nb;
};

/* Both directions at once: a consumer and a producer on each side. */
static void
data_both_ways(struct mp_end *e, const struct data_case *c)
{
	struct mp_data in, out;

	mp_consumer_open(&in, e, c->kind, c->len, 32);
	mp_producer_open(&out, e, c->len);
	while (in.got < c->nb || out.done < c->nb) {
		mp_produce(&out, c->nb);
		mp_consume(&in, c->nb);
		t_step_all();
		T_EQ(in.flushed, 0);
		T_EQ(out.failed, 0);
	}
	/* The peer is done with our consumer before it goes. */
	t_send(e->conn, "done", 4, 0);
	T_UNTIL(t_count(e->node, RTE_COMCH_EVENT_MSG, NULL) == 1);
	mp_data_close(&out);
	mp_data_close(&in);
}

static int
data_client(int fd, void *arg)
{
	struct mp_end e;

	mp_client_open(&e, NULL);
	data_both_ways(&e, arg);
	t_say(fd, 'D', 0);
	mp_hear(fd, 'C');
	mp_close(&e);
	return 0;
}

static int
data_server(int fd, void *arg)
{
	struct mp_end e;

	mp_server_open(&e, NULL);
	e.conn = mp_server_accept(&e, 0);
	data_both_ways(&e, arg);
	t_say(fd, 'D', 0);
	mp_hear(fd, 'C');
	mp_close(&e);
	return 0;
}

static void
run_data(enum rte_comch_mem_kind kind, uint32_t len, uint32_t nb)
{
	struct data_case c = { .kind = kind, .len = len, .nb = nb };
	struct t_proc server, client;

	t_proc_start(&server, "server", data_server, &c);
	t_proc_start(&client, "client", data_client, &c);
	t_hear(server.fd, 'D');
	t_hear(client.fd, 'D');
	t_say(client.fd, 'C', 0);
	t_proc_join(&client);
	t_say(server.fd, 'C', 0);
	t_proc_join(&server);
}

static void
data_sealed(void)
{
	run_data(RTE_COMCH_MEM_SEALED, 64, NB_DATA);
	run_data(RTE_COMCH_MEM_SEALED, 4096, NB_DATA);
}

static void
data_heap(void)
{
	run_data(RTE_COMCH_MEM_HEAP, 1000, NB_DATA);
}

static void
data_heap_streamed(void)
{
	run_data(RTE_COMCH_MEM_HEAP, 300000, 100);
}

static void
data_large(void)
{
	run_data(RTE_COMCH_MEM_SEALED, 1024 * 1024, 100);
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "control", control },
		{ "data_sealed", data_sealed },
		{ "data_heap", data_heap },
		{ "data_heap_streamed", data_heap_streamed },
		{ "data_large", data_large },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
