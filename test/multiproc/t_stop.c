/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * One side is stopped for a while (SIGSTOP): the other gets short counts, does
 * not wait for it anywhere, and loses nothing; then all goes on (SIGCONT).
 */

#include <signal.h>

#include "mp.h"

#define DATA_LEN 512

struct stop_case {
	bool server_sleeps;
};

/* Echoes nothing, takes everything; tells at the end how much it was. */
static int
sleeper(int fd, void *arg)
{
	const struct stop_case *c = arg;
	struct t_step step = { 0 };
	struct mp_data in;
	struct mp_end e;

	mp_end_open(&e, c->server_sleeps);
	mp_consumer_open(&in, &e, RTE_COMCH_MEM_SEALED, DATA_LEN, 16);
	mp_consume(&in, UINT64_MAX);
	t_say(fd, 'R', 0);
	while (!t_listen(fd, &step)) {
		mp_consume(&in, UINT64_MAX);
		t_step_all();
	}
	T_EQ(step.code, 'E');
	/* What was done there is published here, and may not be taken yet. */
	mp_consume(&in, 0);
	t_say(fd, 'M', mp_counted(e.node, NULL));
	t_say(fd, 'D', in.got);
	T_EQ(in.flushed, 0);
	mp_data_close(&in);
	t_say(fd, 'C', 0);
	mp_hear(fd, 'X');
	mp_close(&e);
	return 0;
}

/* Offer more and more until nothing is taken for long. */
static void
fill_up(struct mp_end *e, struct mp_data *out, uint32_t *next)
{
	unsigned int idle = 0;
	uint64_t before;

	while (idle < 5000) {
		before = *next + out->sent;
		mp_count_up(e->conn, next, UINT32_MAX);
		mp_produce(out, UINT64_MAX);
		t_step_all();
		idle = *next + out->sent == before ? idle + 1 : 0;
	}
	T_EQ(out->failed, 0);
	t_no_end(e->node, NULL);
}

/* A consumer of ours stops while the peer, in nobody's message, is stopped. */
static void
stop_consumer(struct mp_data *own)
{
	uint64_t posted;

	mp_consume(own, 8);
	posted = own->posted;
	T_EQ(rte_comch_consumer_stop(own->cons), -EINPROGRESS);
	T_UNTIL((mp_consume(own, 0), rte_comch_consumer_state(own->cons) ==
			RTE_COMCH_STATE_IDLE));
	T_EQ(own->flushed, posted);
}

static int
watcher(int fd, void *arg)
{
	const struct stop_case *c = arg;
	struct mp_data own, out;
	uint32_t next = 0;
	struct mp_end e;

	mp_end_open(&e, !c->server_sleeps);
	mp_consumer_open(&own, &e, RTE_COMCH_MEM_SEALED, DATA_LEN, 16);
	mp_producer_open(&out, &e, DATA_LEN);
	while (next < 1000 || out.done < 1000) {
		mp_count_up(e.conn, &next, 1000);
		mp_produce(&out, 1000);
		t_step_all();
	}
	t_say(fd, 'R', 0);
	mp_hear(fd, 'S');
	fill_up(&e, &out, &next);
	stop_consumer(&own);
	fill_up(&e, &out, &next);
	t_say(fd, 'F', 0);
	mp_hear(fd, 'C');
	/* Now that it runs again, what was taken arrives, and more. */
	T_UNTIL((mp_produce(&out, out.sent), out.done == out.sent));
	while (next < 5000 || out.done < 5000) {
		mp_count_up(e.conn, &next, 5000);
		mp_produce(&out, 5000);
		t_step_all();
	}
	T_UNTIL((mp_produce(&out, out.sent), out.done == out.sent));
	T_UNTIL(t_count(e.node, RTE_COMCH_EVENT_SENT, NULL) == next);
	t_say(fd, 'M', next);
	t_say(fd, 'D', out.done);
	mp_data_close(&out);
	mp_data_close(&own);
	mp_hear(fd, 'X');
	mp_close(&e);
	return 0;
}

static void
run(bool server_sleeps)
{
	struct stop_case c = { .server_sleeps = server_sleeps };
	struct t_proc a, b;
	uint64_t msgs, data;

	t_proc_start(&a, "watcher", watcher, &c);
	t_proc_start(&b, "sleeper", sleeper, &c);
	t_hear(b.fd, 'R');
	t_hear(a.fd, 'R');
	t_proc_stop(&b);
	t_say(a.fd, 'S', 0);
	t_hear(a.fd, 'F');
	t_proc_signal(&b, SIGCONT);
	t_say(a.fd, 'C', 0);
	msgs = t_hear(a.fd, 'M');
	data = t_hear(a.fd, 'D');
	t_say(b.fd, 'E', 0);
	T_EQ(t_hear(b.fd, 'M'), msgs);
	T_EQ(t_hear(b.fd, 'D'), data);
	t_hear(b.fd, 'C');
	t_say(a.fd, 'X', 0);
	t_say(b.fd, 'X', 0);
	t_proc_join(&a);
	t_proc_join(&b);
}

static void
server_sleeps(void)
{
	run(true);
}

static void
client_sleeps(void)
{
	run(false);
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "server_sleeps", server_sleeps },
		{ "client_sleeps", client_sleeps },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
