/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* A server that lies to clients of the library. */

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "victim.h"

V_SUITE(client);

#define LIAR "liar"

struct liar {
	struct victim v;         /* its client beside the attacked one is honest */
	struct rte_comch_client *client;
	struct raw_peer a;
	int listener;
};

/* An attacked client that has connected to the liar's socket. */
static void
liar_open(struct liar *l)
{
	int sock;

	v_open(&l->v, NULL);
	l->listener = raw_listen(t_dir(), "pf0", LIAR);
	l->client = t_client_new(l->v.p.host, l->v.p.host_dev, LIAR, NULL);
	T_EQ(rte_comch_client_start(l->client), -EINPROGRESS);
	T_UNTIL((sock = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0);
	raw_prepare(&l->a, sock, RAW_CELLS);
}

static void
liar_link(struct liar *l)
{
	struct raw_frame f;

	liar_open(l);
	raw_hello(&l->a);
	T_UNTIL(raw_is_up(&l->a));
	v_hear(&l->a, &f, COMCH_WIRE_HELLO);
}

static void
liar_close(struct liar *l, int status)
{
	const struct t_ev *ev;

	T_UNTIL(t_state_ev(l->v.p.host, l->client) != NULL &&
		t_state_ev(l->v.p.host, l->client)->e.state.next == RTE_COMCH_STATE_IDLE);
	ev = t_state_ev(l->v.p.host, l->client);
	T_EQ(ev->e.status, status);
	T_GE(strlen(ev->text), 5);
	t_client_end(l->client);
	raw_close(&l->a);
	close(l->listener);
	v_close(&l->v);
}

Test(client, hello_garbage)
{
	struct liar l;

	liar_open(&l);
	raw_sock_send(l.a.sock, "garbage", 7, NULL, 0);
	liar_close(&l, -EPROTO);
}

Test(client, hello_four_fds)
{
	const struct shm_hello hello = {
		.magic = SHM_HELLO_MAGIC, .version = SHM_HELLO_VERSION, .cells = RAW_CELLS,
	};
	struct liar l;
	int fds[4], i;

	liar_open(&l);
	for (i = 0; i < 4; i++)
		fds[i] = l.a.own_fd;
	raw_sock_send(l.a.sock, &hello, sizeof(hello), fds, 4);
	liar_close(&l, -EPROTO);
}

Test(client, death_before_hello)
{
	struct liar l;

	liar_open(&l);
	raw_close(&l.a);
	liar_close(&l, -ECONNRESET);
}

Test(client, death_after_hello)
{
	struct liar l;

	liar_link(&l);
	raw_close(&l.a);
	liar_close(&l, -ECONNRESET);
}

static void
bad_accept(uint32_t max_msg, uint32_t queue)
{
	struct liar l;

	liar_link(&l);
	raw_send_accept(&l.a, max_msg, queue);
	liar_close(&l, -EPROTO);
}

Test(client, accept_no_size)
{
	bad_accept(0, 64);
}

Test(client, accept_no_queue)
{
	bad_accept(4080, 0);
}

Test(client, accept_larger)
{
	bad_accept(4081, 64);
}

Test(client, accept_twice)
{
	struct liar l;

	liar_link(&l);
	raw_send_accept(&l.a, 4080, 64);
	raw_send_accept(&l.a, 4080, 64);
	liar_close(&l, -EPROTO);
}

Test(client, hello_from_server)
{
	struct liar l;

	liar_link(&l);
	raw_send_hello(&l.a, LIAR, 4080, 64);
	liar_close(&l, -EPROTO);
}

Test(client, msg_before_accept)
{
	struct liar l;

	liar_link(&l);
	raw_send_msg(&l.a, "x", 1);
	liar_close(&l, -EPROTO);
}

Test(client, reject_positive)
{
	struct liar l;

	liar_link(&l);
	raw_send_reason(&l.a, COMCH_WIRE_REJECT, 5, "yes", 3);
	liar_close(&l, -EPROTO);
}

Test(client, reject_without_reason)
{
	struct liar l;

	liar_link(&l);
	raw_send_reason(&l.a, COMCH_WIRE_REJECT, 0, "", 0);
	liar_close(&l, -ECONNREFUSED);
}
