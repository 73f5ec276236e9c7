/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A service that lies on the wire to a client of doca_comm_channel, beside honest ones. Each call
 * of the client returns what the headers say, and what fits the calls before.
 */

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comm_channel/endpoint.h"
#include "common/logged.h"
#include "ctrl/comch_conn.h"
#include "lies.h"
#include "odd.h"
#include "runs.h"
#include "t_figures.h"
#include "t_main.h"

#define ADDR struct doca_comm_channel_addr_t
#define EP struct doca_comm_channel_ep_t
#define LIAR "liar"
/* Connected to the socket, and nothing was said. */
#define LIE_CONNECTED (-1)
/* What the client sends on a connection. */
#define NB_SENDS 8
#define RECV_QUEUE 64
/* One endpoint connects so often. */
#define CONNECTS 3

struct liar {
	struct channel honest;
	struct endpoint client;      /* attacked; client.ep is NULL: not created */
	unsigned int nb_connects;    /* of this endpoint */
	int listener;
	struct raw_peer a;
	doca_error_t state;          /* of its connection, as the client was told */
	unsigned int nb_msgs, nb_sent;
	int step;                    /* how far the client is when it hears a lie */
	struct lie_goods g;
	unsigned int nb_ended, nb_alive, nb_quiet;
	bool is_timed;
	struct runs runs;
	struct t_figures figures;    /* when all was honest */
	unsigned int raw_maps;       /* mappings of the attacker's memory */
	uint64_t heap;
};

/* The client */

static bool
is_over(const struct liar *l)
{
	return l->state == DOCA_ERROR_CONNECTION_RESET ||
		l->state == DOCA_ERROR_CONNECTION_ABORTED;
}

static void
note_state(struct liar *l, doca_error_t state)
{
	if (state == l->state)
		return;
	if (is_over(l) || state == DOCA_ERROR_CONNECTION_INPROGRESS ||
			(l->state == DOCA_SUCCESS && state != DOCA_ERROR_CONNECTION_RESET))
		T_FAIL("after %s comes %s", doca_error_get_name(l->state),
			doca_error_get_name(state));
	if (state != DOCA_SUCCESS && state != DOCA_ERROR_CONNECTION_RESET &&
			state != DOCA_ERROR_CONNECTION_ABORTED)
		T_FAIL("unexpected %s", doca_error_get_name(state));
	l->state = state;
}

static bool
receive(struct liar *l)
{
	uint8_t msg[CHANNEL_MSG_MAX];
	size_t len = sizeof(msg);
	ADDR *peer = NULL;
	doca_error_t ret;

	ret = doca_comm_channel_ep_recvfrom(l->client.ep, msg, &len, DOCA_CC_MSG_FLAG_NONE, &peer);
	if (ret == DOCA_ERROR_AGAIN) {
		T_CHECK(!is_over(l) && peer == NULL);
		return false;
	}
	T_CHECK(peer == l->client.peer);
	if (ret == DOCA_SUCCESS) {
		T_LE(len, sizeof(msg));
		l->nb_msgs++;
		return true;
	}
	/* A connection may come and go within one call. */
	if (ret == DOCA_ERROR_CONNECTION_RESET && l->state == DOCA_ERROR_CONNECTION_INPROGRESS)
		note_state(l, DOCA_SUCCESS);
	note_state(l, ret);
	return false;
}

static void
send_one(struct liar *l)
{
	doca_error_t ret;

	ret = doca_comm_channel_ep_sendto(l->client.ep, "hello", 5, DOCA_CC_MSG_FLAG_NONE,
		l->client.peer);
	if (ret == DOCA_SUCCESS)
		l->nb_sent++;
	else if (is_over(l))
		T_IS(ret, DOCA_ERROR_CONNECTION_RESET);
	else if (ret != DOCA_ERROR_AGAIN && ret != DOCA_ERROR_CONNECTION_RESET &&
			/* The service may have agreed to shorter messages only. */
			ret != DOCA_ERROR_INVALID_VALUE)
		T_FAIL("sendto is %s", doca_error_get_name(ret));
}

/* What a program does again and again. Has it received a message? */
static bool
turn(struct liar *l)
{
	const uint64_t ns = l->is_timed ? t_own_ns() : 0;
	bool received;

	note_state(l, endpoint_state(&l->client));
	if (l->nb_sent < NB_SENDS)
		send_one(l);
	received = receive(l);
	if (l->is_timed)
		runs_note(&l->runs, t_own_since(ns));
	return received;
}

static void
check_honest(struct liar *l)
{
	endpoint_send_number(&l->honest.client, 7);
	endpoint_recv_number(&l->honest.service, 7);
	endpoint_send_number(&l->honest.service, 8);
	endpoint_recv_number(&l->honest.client, 8);
}

/* Steps */

static void
reach(struct liar *l, int step)
{
	struct raw_frame f;
	int sock;

	if (l->client.ep == NULL)
		client_endpoint_create(&l->client, CHANNEL_PF0);
	l->nb_connects++;
	l->nb_msgs = l->nb_sent = 0;
	l->state = DOCA_ERROR_CONNECTION_INPROGRESS;
	endpoint_dial(&l->client, LIAR);
	T_WAIT(turn(l),
		(sock = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0);
	raw_prepare(&l->a, sock, RAW_CELLS);
	if (step < LIE_LINKED)
		return;
	raw_hello(&l->a);
	T_WAIT(turn(l), raw_is_up(&l->a));
	T_WAIT(turn(l), raw_recv(&l->a, &f));
	T_EQ(f.type, COMCH_WIRE_HELLO);
	if (step < LIE_UP)
		return;
	raw_send_accept(&l->a, CHANNEL_MSG_MAX, RECV_QUEUE);
	T_WAIT(turn(l), l->state == DOCA_SUCCESS);
}

/* The program disconnects, and may connect again. */
static void
leave(struct liar *l)
{
	ADDR *gone = l->client.peer;
	uint8_t msg[CHANNEL_MSG_MAX];
	size_t len = sizeof(msg);

	T_OK(doca_comm_channel_ep_disconnect(l->client.ep, gone));
	T_IS(doca_comm_channel_ep_sendto(l->client.ep, "x", 1, DOCA_CC_MSG_FLAG_NONE, gone),
		DOCA_ERROR_NOT_CONNECTED);
	T_IS(doca_comm_channel_ep_recvfrom(l->client.ep, msg, &len, DOCA_CC_MSG_FLAG_NONE, &gone),
		DOCA_ERROR_NOT_CONNECTED);
	if (l->nb_connects < CONNECTS)
		return;
	endpoint_destroy(&l->client);
	l->client.ep = NULL;
	l->nb_connects = 0;
}

/* The liar closes its end; or the program has had enough of it. */
static void
finish(struct liar *l)
{
	raw_close(&l->a);
	T_WAIT(turn(l), is_over(l));
	leave(l);
}

static void
give_up(struct liar *l)
{
	leave(l);
	raw_close(&l->a);
}

static void
liar_open(struct liar *l)
{
	memset(l, 0, sizeof(*l));
	channel_open(&l->honest);
	channel_meet(&l->honest);
	l->listener = raw_listen(getenv("COMCH_DIR"), "pf0", LIAR);
	lie_goods_new(&l->g);
	/* What is allocated once. */
	l->nb_connects = CONNECTS;
	reach(l, LIE_UP);
	finish(l);
	t_figures_begin();
	l->figures = t_figures_least();
	l->raw_maps = t_maps_count("/memfd:raw");
	l->heap = t_heap_bytes();
}

static void
liar_end(struct liar *l)
{
	check_honest(l);
	if (l->client.ep != NULL)
		endpoint_destroy(&l->client);
	runs_check(&l->runs);
	t_figures_wait(&l->figures);
	/* Of a few hundred connections nothing is kept each. */
	T_LE(t_heap_bytes(), l->heap + 65536);
	T_AWAIT(t_maps_count("/memfd:raw") <= l->raw_maps);
	lie_goods_free(&l->g);
	close(l->listener);
	channel_close(&l->honest);
}

#define LIAR_CASE(name, l) T_CASE_OF(struct liar, liar_open, liar_end, name, l)

/* Frames */

/* Has it ended, or does the client take another message? */
static void
outcome(struct liar *l)
{
	const unsigned int before = l->nb_msgs;
	unsigned int i;

	if (l->step >= LIE_UP) {
		l->a.acked = l->nb_sent;
		(void)raw_try(&l->a, &(struct raw_send){ .type = COMCH_WIRE_MSG });
	}
	for (i = 0; i < 300 && !is_over(l) && l->nb_msgs == before; i++)
		turn(l);
	if (!is_over(l) && l->nb_msgs == before)
		T_SETTLE(turn(l));
	if (is_over(l))
		l->nb_ended++;
	else if (l->nb_msgs > before)
		l->nb_alive++;
	else
		l->nb_quiet++;
	check_honest(l);
}

static void
say(void *arg, const struct lie_frame *f, const uint8_t *bytes, uint32_t len, const int *fds)
{
	struct liar *l = arg;

	reach(l, l->step);
	lie_send(&l->a, f, bytes, len, fds);
	outcome(l);
	if (!is_over(l) && l->nb_alive % 2 == 0)
		give_up(l);
	else
		finish(l);
}

static void
print_tally(const struct liar *l)
{
	fprintf(stderr, "   %u ended, %u lived, %u waited\n", l->nb_ended, l->nb_alive,
		l->nb_quiet);
}

LIAR_CASE(each_invalid_field, l)
{
	unsigned int i;

	for (l->step = LIE_LINKED; l->step <= LIE_UP; l->step++)
		for (i = 0; i < lie_nb_frames; i++)
			if (RTE_MIN((int)lie_frames[i].step, LIE_UP) == l->step &&
					(lie_frames[i].by & LIE_BY_SERVER) != 0)
				lie_each(&lie_frames[i], &l->g, say, l);
	T_GT(l->nb_ended, l->nb_alive);
	T_GT(l->nb_alive, 0);
	print_tally(l);
}

LIAR_CASE(each_frame_at_each_step, l)
{
	uint8_t bytes[LIE_MAX_LEN];
	unsigned int i;
	int fds[2];

	for (l->step = LIE_LINKED; l->step <= LIE_UP; l->step++) {
		for (i = 0; i < lie_nb_frames; i++) {
			lie_fds(&l->g, lie_frames[i].type, fds);
			say(l, &lie_frames[i], bytes, lie_build(&lie_frames[i], bytes), fds);
		}
	}
	T_GT(l->nb_alive, 0);
	print_tally(l);
}

/* Several at once, and bytes that are no frame at all. */
LIAR_CASE(at_random, l)
{
	const unsigned int nb_talks = t_repeat(t_sanitized() ? 100 : 300);
	unsigned int i, n;

	lie_seed();
	for (i = 0; i < nb_talks; i++) {
		reach(l, LIE_LINKED + (int)lie_draw(2));
		for (n = 1 + lie_draw(6); n > 0 && !is_over(l); n--) {
			lie_random_say(&l->a, &l->g);
			if (lie_draw(2) == 0)
				turn(l);
		}
		for (n = lie_draw(100); n > 0; n--)
			turn(l);
		check_honest(l);
		finish(l);
	}
}

/* With any frame: none that a client without a fast path understands has one. */
LIAR_CASE(descriptors, l)
{
	const struct shm_hello hello = {
		.magic = SHM_HELLO_MAGIC, .version = SHM_HELLO_VERSION, .cells = RAW_CELLS,
	};
	uint8_t bytes[LIE_MAX_LEN];
	struct lie_frame f;
	unsigned int i;
	int fds[2];

	l->is_timed = true;
	l->step = LIE_UP;
	for (i = 0; i < ODD_NB; i++) {
		fds[0] = fds[1] = odd_fd(i, t_dir());
		T_GE(fds[0], 0);
		f = lie_frames[i % lie_nb_frames];
		f.nb_fds = 1 + i % 2;
		say(l, &f, bytes, lie_build(&f, bytes), fds);
		reach(l, LIE_CONNECTED);
		raw_sock_send(l->a.sock, &hello, sizeof(hello), fds, 1);
		T_WAIT(turn(l), is_over(l));
		check_honest(l);
		finish(l);
		close(fds[0]);
	}
	T_EQ(l->nb_alive, 0);
}

/* Steps */

LIAR_CASE(silence_and_closes, l)
{
	static const uint8_t half[SHM_CELL_DATA] = { 200 };
	unsigned int how;
	int step;

	for (step = LIE_CONNECTED; step <= LIE_UP; step++) {
		for (how = 0; how < 5; how++) {
			reach(l, step);
			if (how == 1)
				raw_sock_send(l->a.sock, "hell", 4, NULL, 0);
			else if (how == 2 && step >= LIE_LINKED)
				raw_put(&l->a, half, sizeof(half));
			else if (how == 3)
				raw_sock_send(l->a.sock, "f", 1, &l->a.own_fd, 1);
			if (how < 4) {
				finish(l);
				continue;
			}
			T_SETTLE(turn(l));
			check_honest(l);
			T_CHECK(!is_over(l));
			give_up(l);
		}
	}
}

LIAR_CASE(wake_ups, l)
{
	unsigned int i;
	int step;

	l->is_timed = true;
	for (step = LIE_CONNECTED; step <= LIE_UP; step++) {
		reach(l, step);
		for (i = 0; i < 100; i++)
			raw_wake(&l->a);
		T_WAIT(turn(l), is_over(l));
		check_honest(l);
		finish(l);
	}
}

/* A client that does not receive holds no more than its queue, and gets that before the end. */
LIAR_CASE(flood_of_messages, l)
{
	struct lie_flood f = { .type = COMCH_WIRE_MSG };
	unsigned int i;

	reach(l, LIE_UP);
	for (i = 0; i < 300 && !is_over(l); i++) {
		lie_pour(&l->a, &l->g, &f);
		note_state(l, endpoint_state(&l->client));
		if (i % 16 == 0)
			check_honest(l);
	}
	T_CHECK(is_over(l));
	T_GT(f.nb, RECV_QUEUE);
	T_IS(endpoint_state(&l->client), DOCA_ERROR_CONNECTION_RESET);
	while (receive(l))
		;
	T_GT(l->nb_msgs, 0);
	T_LE(l->nb_msgs, RECV_QUEUE);
	finish(l);
}

/* The ring is full whenever the client looks. */
LIAR_CASE(flood_of_credits, l)
{
	struct lie_flood f = { .type = COMCH_WIRE_CREDIT };
	uint64_t before;
	unsigned int i;

	l->is_timed = true;
	reach(l, LIE_UP);
	for (i = 0; i < 300; i++) {
		lie_pour(&l->a, &l->g, &f);
		before = __atomic_load_n(&l->a.vic->rx_pos, __ATOMIC_ACQUIRE);
		note_state(l, endpoint_state(&l->client));
		T_LE(__atomic_load_n(&l->a.vic->rx_pos, __ATOMIC_ACQUIRE) - before,
			COMCH_RX_BURST);
		turn(l);
		if (i % 16 == 0)
			check_honest(l);
	}
	T_GT(f.nb, 300);
	T_CHECK(!is_over(l));
	finish(l);
}

/* A client that sleeps until it can send or receive learns of any end. */
LIAR_CASE(sleeper, l)
{
	EP *ep;
	unsigned int how, i;
	int send_fd, recv_fd;

	for (how = 0; how < 4; how++) {
		reach(l, LIE_UP);
		ep = l->client.ep;
		T_SETTLE(turn(l));
		while (doca_comm_channel_ep_sendto(ep, "fill", 4, DOCA_CC_MSG_FLAG_NONE,
				l->client.peer) == DOCA_SUCCESS)
			;
		T_OK(doca_comm_channel_ep_get_event_channel(ep, &send_fd, &recv_fd));
		T_OK(doca_comm_channel_ep_event_handle_arm_send(ep));
		T_OK(doca_comm_channel_ep_event_handle_arm_recv(ep));
		T_CHECK(!t_readable(send_fd, 0) && !t_readable(recv_fd, 0));
		if (how == 0)
			shutdown(l->a.sock, SHUT_RDWR);
		else if (how == 1)
			raw_send_accept(&l->a, CHANNEL_MSG_MAX, RECV_QUEUE);
		else if (how == 2)
			raw_send_reason(&l->a, COMCH_WIRE_DISCONNECT, -EIO, "no", 2);
		for (i = 0; i < 100; i++)
			raw_wake(&l->a);
		/* Each event is for itself: run for the one, look at the other. */
		if (how % 2 == 0) {
			T_CHECK(t_readable(recv_fd, T_TIMEOUT_MS));
			T_WAIT(receive(l), is_over(l));
			T_CHECK(t_readable(send_fd, T_TIMEOUT_MS));
		} else {
			T_CHECK(t_readable(send_fd, T_TIMEOUT_MS));
			T_WAIT(note_state(l, endpoint_state(&l->client)), is_over(l));
			T_CHECK(t_readable(recv_fd, T_TIMEOUT_MS));
		}
		finish(l);
	}
}

/* They are logged, without what controls a terminal. */
LIAR_CASE(reasons, l)
{
	const char *text;
	unsigned int i;

	logged_begin();
	for (i = 0; i < lie_nb_reasons; i++) {
		reach(l, LIE_LINKED);
		raw_send_reason(&l->a, COMCH_WIRE_REJECT, -ECONNREFUSED, lie_reasons[i].text,
			lie_reasons[i].len);
		T_WAIT(turn(l), is_over(l));
		T_IS(l->state, DOCA_ERROR_CONNECTION_ABORTED);
		finish(l);
		reach(l, LIE_UP);
		raw_send_reason(&l->a, COMCH_WIRE_DISCONNECT, -ECONNREFUSED, lie_reasons[i].text,
			lie_reasons[i].len);
		T_WAIT(turn(l), is_over(l));
		T_IS(l->state, DOCA_ERROR_CONNECTION_RESET);
		finish(l);
	}
	text = logged_end();
	T_STR_HAS(text, LIE_REASON_PLAIN "\n");
	T_STR_HAS(text, LIE_REASON_CLEAN "\n");
}
