/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* A server that lies to clients of the library. */

#include "liar.h"

V_SUITE(client);

static void
liar_open(struct liar *l)
{
	liar_begin(l);
	liar_connect(l);
}

static void
liar_open_link(struct liar *l)
{
	liar_begin(l);
	liar_link(l);
}

/* The client finds out by itself, and says so. */
static void
liar_found(struct liar *l, int status)
{
	T_UNTIL(liar_is_over(l));
	T_EQ(liar_close(l), status);
	liar_end(l);
}

Test(client, hello_garbage)
{
	struct liar l;

	liar_open(&l);
	raw_sock_send(l.a.sock, "garbage", 7, NULL, 0);
	liar_found(&l, -EPROTO);
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
	liar_found(&l, -EPROTO);
}

Test(client, death_before_hello)
{
	struct liar l;

	liar_open(&l);
	raw_close(&l.a);
	liar_found(&l, -ECONNRESET);
}

Test(client, death_after_hello)
{
	struct liar l;

	liar_open_link(&l);
	raw_close(&l.a);
	liar_found(&l, -ECONNRESET);
}

static void
bad_accept(uint32_t max_msg, uint32_t queue)
{
	struct liar l;

	liar_open_link(&l);
	raw_send_accept(&l.a, max_msg, queue);
	liar_found(&l, -EPROTO);
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

	liar_open_link(&l);
	raw_send_accept(&l.a, 4080, 64);
	raw_send_accept(&l.a, 4080, 64);
	liar_found(&l, -EPROTO);
}

Test(client, hello_from_server)
{
	struct liar l;

	liar_open_link(&l);
	raw_send_hello(&l.a, LIAR, 4080, 64);
	liar_found(&l, -EPROTO);
}

Test(client, msg_before_accept)
{
	struct liar l;

	liar_open_link(&l);
	raw_send_msg(&l.a, "x", 1);
	liar_found(&l, -EPROTO);
}

Test(client, reject_positive)
{
	struct liar l;

	liar_open_link(&l);
	raw_send_reason(&l.a, COMCH_WIRE_REJECT, 5, "yes", 3);
	liar_found(&l, -EPROTO);
}

Test(client, reject_without_reason)
{
	struct liar l;

	liar_open_link(&l);
	raw_send_reason(&l.a, COMCH_WIRE_REJECT, 0, "", 0);
	liar_found(&l, -ECONNREFUSED);
}
