/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* A client that lies on the wire to a service of doca_comm_channel, beside an honest one. */

#include <stdlib.h>

#include "comm_channel/endpoint.h"
#include "lies.h"
#include "t_main.h"

#define ADDR struct doca_comm_channel_addr_t

/* What the service received, of each. */
struct got {
	struct channel *t;
	ADDR *honest;
	unsigned int of_honest, of_liar;
	unsigned int nb_ended, nb_alive, nb_quiet;
};

/* The service receives; true: a message, of at most the length it asked for. */
static bool
take(struct channel *t, struct got *got)
{
	uint8_t msg[CHANNEL_MSG_MAX];
	size_t len = sizeof(msg);
	ADDR *peer = NULL;
	doca_error_t ret;

	ret = doca_comm_channel_ep_recvfrom(t->service.ep, msg, &len, DOCA_CC_MSG_FLAG_NONE,
		&peer);
	if (ret == DOCA_ERROR_AGAIN)
		return false;
	/* Clients that left are not reported. */
	T_OK(ret);
	T_LE(len, sizeof(msg));
	T_CHECK(peer != NULL);
	if (peer == got->honest)
		got->of_honest++;
	else
		got->of_liar++;
	return true;
}

/* The service keeps the order across clients: a message has its time, here long ago. */
static void
try_message(struct raw_peer *a)
{
	static const uint64_t body[2] = { 1, 4711 };

	(void)raw_try(a, &(struct raw_send){
		.type = COMCH_WIRE_MSG_AT, .body = body, .len = sizeof(body),
	});
}

static void
reach(struct channel *t, struct got *got, struct raw_peer *a)
{
	struct raw_frame f;

	raw_open(a, raw_dial(getenv("COMCH_DIR"), "pf0", CHANNEL_NAME), RAW_CELLS);
	T_WAIT(take(t, got), raw_is_up(a));
	raw_send_hello(a, CHANNEL_NAME, CHANNEL_MSG_MAX, 64);
	T_WAIT(take(t, got), raw_recv(a, &f));
	T_EQ(f.type, COMCH_WIRE_ACCEPT);
	raw_frame_free(&f);
}

static void
say(void *arg, const struct lie_frame *f, const uint8_t *bytes, uint32_t len, const int *fds)
{
	struct got *got = arg;
	struct channel *t = got->t;
	struct raw_peer a;
	unsigned int i, before;

	reach(t, got, &a);
	before = got->of_liar;
	lie_send(&a, f, bytes, len, fds);
	try_message(&a);
	for (i = 0; i < 300 && !raw_is_hung_up(&a) && got->of_liar == before; i++)
		take(t, got);
	if (!raw_is_hung_up(&a) && got->of_liar == before)
		T_SETTLE(take(t, got));
	if (raw_is_hung_up(&a))
		got->nb_ended++;
	else if (got->of_liar > before)
		got->nb_alive++;
	else
		got->nb_quiet++;
	before = got->of_honest;
	endpoint_send(&t->client, "honest", 6);
	T_WAIT(take(t, got), got->of_honest > before);
	raw_close(&a);
}

CHANNEL_CASE(each_invalid_field, t)
{
	struct got got = { 0 };
	struct lie_goods g;
	unsigned int i, fds;

	channel_meet(t);
	got.t = t;
	got.honest = t->service.peer;
	lie_goods_new(&g);
	fds = t_fd_count();
	for (i = 0; i < lie_nb_frames; i++)
		if ((lie_frames[i].by & LIE_BY_CLIENT) != 0 && lie_frames[i].step == LIE_UP)
			lie_each(&lie_frames[i], &g, say, &got);
	fprintf(stderr, "   %u ended, %u lived, %u waited\n", got.nb_ended, got.nb_alive,
		got.nb_quiet);
	T_GT(got.nb_ended, 0);
	T_GT(got.nb_alive, 0);
	T_WAIT(take(t, &got), t_fd_count() <= fds);
	T_EQ(service_pending(&t->service), 0);
	lie_goods_free(&g);
}

/* The peer of a service's sendto acknowledges more than it was sent. */
CHANNEL_CASE(sends_to_a_liar, t)
{
	struct got got = { 0 };
	uint8_t msg[CHANNEL_MSG_MAX];
	size_t len = sizeof(msg);
	struct raw_peer a;
	ADDR *liar = NULL;
	doca_error_t ret;
	unsigned int i;

	channel_meet(t);
	got.honest = t->service.peer;
	reach(t, &got, &a);
	try_message(&a);
	T_AWAIT((len = sizeof(msg), ret = doca_comm_channel_ep_recvfrom(t->service.ep, msg, &len,
		DOCA_CC_MSG_FLAG_NONE, &liar)) != DOCA_ERROR_AGAIN);
	T_OK(ret);
	T_CHECK(liar != got.honest);
	for (i = 0; i < 10; i++)
		endpoint_send_to(&t->service, liar, "hello", 5);
	a.acked = 1000;
	(void)raw_try(&a, &(struct raw_send){ .type = COMCH_WIRE_CREDIT });
	T_WAIT(take(t, &got), (ret = doca_comm_channel_ep_sendto(t->service.ep, "x", 1,
		DOCA_CC_MSG_FLAG_NONE, liar)) != DOCA_SUCCESS && ret != DOCA_ERROR_AGAIN);
	T_IS(ret, DOCA_ERROR_CONNECTION_RESET);
	raw_close(&a);
	endpoint_send_number(&t->client, 7);
	endpoint_recv_number(&t->service, 7);
}
