/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * One side is killed in the middle of everything. The other receives what was
 * published, has the rest flushed, is told DISCONNECTED, and connects anew
 * with a new process on the same name.
 */

#include <signal.h>
#include <unistd.h>

#include "mp.h"

#define PUBLISHED_MSGS 16
#define PUBLISHED_DATA 8

enum traffic {
	TRAFFIC_CTRL,
	TRAFFIC_DATA,
	TRAFFIC_STREAM,
	TRAFFIC_PUBLISHED, /* a known number of messages, then nothing */
};

struct kill_case {
	bool server_dies;
	enum traffic traffic;
};

static uint32_t
msg_len(const struct kill_case *c)
{
	return c->traffic == TRAFFIC_STREAM ? 300000 : 512;
}

static void
data_open(const struct kill_case *c, struct mp_end *e, struct mp_data *in,
		struct mp_data *out)
{
	memset(in, 0, sizeof(*in));
	memset(out, 0, sizeof(*out));
	if (c->traffic == TRAFFIC_CTRL)
		return;
	mp_consumer_open(in, e, c->traffic == TRAFFIC_STREAM ? RTE_COMCH_MEM_HEAP :
			RTE_COMCH_MEM_SEALED, msg_len(c), 16);
	mp_producer_open(out, e, msg_len(c));
}

/* A bit of everything, both ways, as fast as it goes. */
static void
traffic(struct mp_end *e, struct mp_data *in, struct mp_data *out, uint32_t *next)
{
	mp_count_up(e->conn, next, UINT32_MAX);
	if (in->cons != NULL) {
		mp_consume(in, UINT64_MAX);
		mp_produce(out, UINT64_MAX);
	}
	t_step_all();
}

/* The process that is killed: it never ends by itself. */
static int
victim(int fd, void *arg)
{
	const struct kill_case *c = arg;
	struct mp_data in, out;
	uint32_t next = 0;
	struct mp_end e;

	mp_end_open(&e, c->server_dies);
	data_open(c, &e, &in, &out);
	if (c->traffic == TRAFFIC_PUBLISHED) {
		mp_hear(fd, 'G');
		while (next < PUBLISHED_MSGS)
			mp_count_up(e.conn, &next, PUBLISHED_MSGS);
		while (out.done < PUBLISHED_DATA)
			mp_produce(&out, PUBLISHED_DATA);
		t_say(fd, 'P', 0);
		for (;;)
			pause();
	}
	for (;;)
		traffic(&e, &in, &out, &next);
	return 1;
}

static bool
all_is_over(struct mp_end *e, struct mp_data *in, struct mp_data *out)
{
	if (in->cons != NULL) {
		mp_consume(in, 0);
		mp_produce(out, out->sent);
		if (rte_comch_consumer_state(in->cons) != RTE_COMCH_STATE_IDLE ||
				in->got + in->flushed != in->posted ||
				out->done + out->failed != out->sent)
			return false;
	}
	return t_count(e->node, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1;
}

static void
live_on(struct mp_end *e, bool is_server)
{
	uint32_t next = 0;

	t_forget(e->node);
	if (is_server)
		e->conn = mp_server_accept(e, 0);
	else
		mp_client_connect(e);
	mp_count_up(e->conn, &next, 1);
	T_UNTIL(t_count(e->node, RTE_COMCH_EVENT_MSG, NULL) == 1);
	T_UNTIL(t_count(e->node, RTE_COMCH_EVENT_SENT, NULL) == 1);
}

static int
survivor(int fd, void *arg)
{
	const struct kill_case *c = arg;
	struct mp_data in, out;
	const struct t_ev *ev;
	struct mp_end e;
	uint32_t next = 0;

	mp_end_open(&e, !c->server_dies);
	data_open(c, &e, &in, &out);
	if (c->traffic == TRAFFIC_PUBLISHED) {
		mp_consume(&in, 16);
		t_settle();
		t_say(fd, 'F', 0);
		t_hear(fd, 'K'); /* without stepping: all comes after the death */
	} else {
		while (t_count(e.node, RTE_COMCH_EVENT_MSG, NULL) < 100 ||
				(in.cons != NULL && in.got < 20))
			traffic(&e, &in, &out, &next);
		t_say(fd, 'F', 0);
		while (t_count(e.node, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 0 &&
				(in.cons == NULL ||
				 rte_comch_consumer_state(in.cons) == RTE_COMCH_STATE_RUNNING))
			traffic(&e, &in, &out, &next);
	}
	T_UNTIL(all_is_over(&e, &in, &out));
	if (c->traffic == TRAFFIC_PUBLISHED) {
		T_EQ(mp_counted(e.node, NULL), PUBLISHED_MSGS);
		T_EQ(in.got, PUBLISHED_DATA);
		T_EQ(in.flushed, 16 - PUBLISHED_DATA);
	}
	mp_counted(e.node, NULL);
	mp_check_sent(e.node, NULL, next);
	ev = t_find(e.node, RTE_COMCH_EVENT_DISCONNECTED, NULL, 0);
	T_EQ(ev->e.status, -ECONNRESET);
	T_NE(ev->text[0], '\0');
	if (in.cons != NULL) {
		mp_data_close(&out);
		mp_data_close(&in);
	}
	if (e.client != NULL)
		T_UNTIL(rte_comch_client_state(e.client) == RTE_COMCH_STATE_IDLE);
	t_say(fd, 'O', 0);
	/* A server that is still dying would accept once more, and hang up. */
	mp_hear(fd, 'N');
	live_on(&e, !c->server_dies);
	t_say(fd, 'L', 0);
	mp_hear(fd, 'E');
	mp_close(&e);
	return 0;
}

/* The new process in the place of the one that died. */
static int
successor(int fd, void *arg)
{
	const struct kill_case *c = arg;
	uint32_t next = 0;
	struct mp_end e;

	mp_end_open(&e, c->server_dies);
	mp_count_up(e.conn, &next, 1);
	T_UNTIL(t_count(e.node, RTE_COMCH_EVENT_MSG, NULL) == 1);
	T_UNTIL(t_count(e.node, RTE_COMCH_EVENT_SENT, NULL) == 1);
	t_say(fd, 'L', 0);
	mp_hear(fd, 'E');
	mp_close(&e);
	return 0;
}

static void
run(bool server_dies, enum traffic how)
{
	struct kill_case c = { .server_dies = server_dies, .traffic = how };
	struct t_proc dies, lives, next;

	t_proc_start(&lives, "survivor", survivor, &c);
	t_proc_start(&dies, "victim", victim, &c);
	t_hear(lives.fd, 'F');
	if (how == TRAFFIC_PUBLISHED) {
		t_say(dies.fd, 'G', 0);
		t_hear(dies.fd, 'P');
	}
	t_proc_kill(&dies);
	if (how == TRAFFIC_PUBLISHED)
		t_say(lives.fd, 'K', 0);
	t_hear(lives.fd, 'O');
	t_say(lives.fd, 'N', 0);
	t_proc_start(&next, "successor", successor, &c);
	t_hear(lives.fd, 'L');
	t_hear(next.fd, 'L');
	t_say(lives.fd, 'E', 0);
	t_say(next.fd, 'E', 0);
	t_proc_join(&lives);
	t_proc_join(&next);
}

#define KILL_CASE(name, server_dies, how) \
	static void \
	name(void) \
	{ \
		run(server_dies, how); \
	}

KILL_CASE(server_ctrl, true, TRAFFIC_CTRL)
KILL_CASE(client_ctrl, false, TRAFFIC_CTRL)
KILL_CASE(server_data, true, TRAFFIC_DATA)
KILL_CASE(client_data, false, TRAFFIC_DATA)
KILL_CASE(server_stream, true, TRAFFIC_STREAM)
KILL_CASE(client_stream, false, TRAFFIC_STREAM)
KILL_CASE(server_published, true, TRAFFIC_PUBLISHED)
KILL_CASE(client_published, false, TRAFFIC_PUBLISHED)

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "server_ctrl", server_ctrl },
		{ "client_ctrl", client_ctrl },
		{ "server_data", server_data },
		{ "client_data", client_data },
		{ "server_stream", server_stream },
		{ "client_stream", client_stream },
		{ "server_published", server_published },
		{ "client_published", client_published },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
