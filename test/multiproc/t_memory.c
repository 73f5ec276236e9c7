/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* One client's memory, and several processes that are shown it: in turn, and at a time. */

#include <unistd.h>

#include "mp.h"

#define LEN 4096
#define DEPTH 8
#define NB_MSGS 100

/* Names of servers, each in a process of its own. */
static const char *const names[] = { "one", "two" };

/* A server that sends to the client's first consumer; number: which name. */
static int
server(int fd, void *arg)
{
	const char *name = names[*(unsigned int *)arg];
	struct mp_data d;
	struct mp_end e;

	mp_node_open(&e, 0, "role=dpu,rep=pf0");
	e.server = t_server_new(e.node, e.dev, name, 0, NULL);
	t_say(fd, 'R', 0);
	e.conn = mp_server_accept(&e, 0);
	mp_producer_open(&d, &e, LEN);
	T_UNTIL((mp_produce(&d, NB_MSGS), d.done == NB_MSGS));
	mp_hear(fd, 'E');
	_exit(0); /* as by a crash */
}

/* A client of one of the servers, and a consumer on that memory; a flow of messages. */
struct side {
	struct mp_end e;
	struct mp_data d;
};

static void
side_open(struct side *s, const struct mp_end *base, const char *name, const struct t_mem *mem)
{
	const struct rte_comch_consumer_conf conf = {
		.queue_size = DEPTH, .staging_size = 65536,
	};

	memset(s, 0, sizeof(*s));
	s->e = *base;
	s->e.client = t_client_new(s->e.node, s->e.dev, name, NULL);
	mp_client_connect(&s->e);
	s->d.len = LEN;
	s->d.depth = DEPTH;
	s->d.mem = *mem;
	s->d.cons = t_consumer_new(s->e.conn, &conf, mem->mr);
	t_consumer_run(s->d.cons);
}

/* All messages, and how many of them were copied here: staged. */
static uint64_t
side_staged(struct side *s)
{
	struct rte_comch_consumer_stats stats;

	T_UNTIL((mp_consume(&s->d, NB_MSGS), s->d.got == NB_MSGS));
	T_EQ(rte_comch_consumer_stats_get(s->d.cons, &stats), 0);
	return stats.copies;
}

static void
side_close(struct side *s)
{
	t_consumer_end(s->d.cons);
	t_client_end(s->e.client);
}

/* A server's process ends, and another one of that name maps the same memory. */
static int
client_in_turn(int fd, void *arg)
{
	const unsigned int n = *(unsigned int *)arg;
	struct t_mem mem;
	struct mp_end e;
	struct side s;
	unsigned int i;

	mp_node_open(&e, 1, "role=host,func=pf0");
	t_mem_new(&mem, RTE_COMCH_MEM_SEALED, LEN * DEPTH, 0);
	for (i = 0; i < n; i++) {
		t_hear(fd, 'G');
		side_open(&s, &e, names[0], &mem);
		T_EQ(side_staged(&s), 0);
		/* What the last message left is there after the pages were renewed, too. */
		t_say(fd, 'M', 0);
		T_UNTIL(t_count(e.node, RTE_COMCH_EVENT_DISCONNECTED, NULL) > 0);
		T_VERIFY(mem.addr + (NB_MSGS - 1) % DEPTH * LEN, LEN, NB_MSGS - 1);
		side_close(&s);
		t_forget(e.node);
	}
	t_mem_free(&mem);
	mp_close(&e);
	return 0;
}

static void
new_process(void)
{
	unsigned int i, n = 3, first = 0;
	struct t_proc s, c;

	t_proc_start(&c, "client", client_in_turn, &n);
	for (i = 0; i < n; i++) {
		t_proc_start(&s, "server", server, &first);
		t_hear(s.fd, 'R');
		t_say(c.fd, 'G', 0);
		t_hear(c.fd, 'M');
		t_say(s.fd, 'E', 0);
		t_proc_join(&s);
	}
	t_proc_join(&c);
}

/* Two processes at a time. flags: of the registration. */
static int
client_of_two(int fd, void *arg)
{
	const uint32_t flags = *(uint32_t *)arg;
	struct side s[RTE_DIM(names)];
	struct t_mem mem;
	struct mp_end e;
	unsigned int i;

	mp_node_open(&e, 1, "role=host,func=pf0");
	t_mem_new(&mem, RTE_COMCH_MEM_SEALED, LEN * DEPTH, flags);
	t_hear(fd, 'G');
	for (i = 0; i < RTE_DIM(s); i++) {
		side_open(&s[i], &e, names[i], &mem);
		/* The second one may not map what the first one has sealed. */
		T_EQ(side_staged(&s[i]), i > 0 && flags == 0 ? NB_MSGS : 0);
	}
	for (i = 0; i < RTE_DIM(s); i++)
		side_close(&s[i]);
	t_mem_free(&mem);
	mp_close(&e);
	return 0;
}

static void
two_processes(uint32_t flags)
{
	unsigned int i, numbers[RTE_DIM(names)];
	struct t_proc s[RTE_DIM(names)], c;

	t_proc_start(&c, "client", client_of_two, &flags);
	for (i = 0; i < RTE_DIM(s); i++) {
		numbers[i] = i;
		t_proc_start(&s[i], "server", server, &numbers[i]);
		t_hear(s[i].fd, 'R');
	}
	t_say(c.fd, 'G', 0);
	for (i = 0; i < RTE_DIM(s); i++)
		t_say(s[i].fd, 'E', 0);
	for (i = 0; i < RTE_DIM(s); i++)
		t_proc_join(&s[i]);
	t_proc_join(&c);
}

static void
second_process(void)
{
	two_processes(0);
}

static void
shared(void)
{
	two_processes(RTE_COMCH_MEM_F_SHARED);
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "new_process", new_process },
		{ "second_process", second_process },
		{ "shared", shared },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
