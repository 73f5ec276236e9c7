/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A service that lies on the wire to a client of doca_comm_channel of DOCA 1.2 to 1.4, whose calls
 * wait: each returns, with what the headers say. The service is a thread.
 */

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doca_comm_channel.h>

#include "comm_channel/endpoint_102.h"
#include "common/result.h"
#include "lies.h"
#include "t_figures.h"
#include "t_main.h"

#define LIAR "liar"
#define MAX 4080
#define EP struct doca_comm_channel_ep_t
#define ADDR struct doca_comm_channel_addr_t
/* The service gives fewer credits than the client sends messages. */
#define CREDITS 2
#define SENDS 4

struct liar {
	EP *service, *client;    /* the service is a correct one, of another name */
	int listener;
	/* What the thread is to say, to one client. */
	const struct lie_frame *f;
	const uint8_t *bytes;
	const int *fds;
	uint32_t len;
	struct lie_goods g;
	unsigned int nb;         /* lies so far */
	unsigned int nb_connected, nb_refused, nb_msgs;
};

static void
hear(struct raw_peer *a, uint32_t type)
{
	struct raw_frame f;

	do {
		T_AWAIT(raw_recv(a, &f));
		raw_frame_free(&f);
	} while (f.type != type);
}

/* Greet, say it, and close. */
static void *
serve(void *arg)
{
	const struct liar *l = arg;
	struct raw_peer a;
	int sock;

	T_AWAIT((sock = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0);
	raw_open(&a, sock, RAW_CELLS);
	T_AWAIT(raw_is_up(&a));
	hear(&a, COMCH_WIRE_HELLO);
	if (l->f->step >= LIE_UP) {
		raw_send_accept(&a, MAX, CREDITS);
		hear(&a, COMCH_WIRE_MSG);
		raw_send_msg(&a, "hello", 5);
	}
	lie_send(&a, l->f, l->bytes, l->len, l->fds);
	raw_close(&a);
	return NULL;
}

/* Send more than there is credit for: this waits, until it fails. */
static void
send_all(struct liar *l, ADDR *peer)
{
	doca_error_t ret = DOCA_SUCCESS;
	unsigned int i;

	for (i = 0; i < SENDS && ret == DOCA_SUCCESS; i++)
		ret = doca_comm_channel_ep_sendto(l->client, "hello", 5, 0, peer);
	if (ret != DOCA_SUCCESS && ret != DOCA_ERROR_INVALID_VALUE)
		T_IS(ret, DOCA_ERROR_CONNECTION_RESET);
}

/* The same with what the service has sent. */
static void
receive_all(struct liar *l, const ADDR *peer)
{
	uint8_t msg[MAX];
	doca_error_t ret;
	ADDR *from;
	size_t len;

	while (len = sizeof(msg), from = NULL, ret = doca_comm_channel_ep_recvfrom(l->client, msg,
			&len, 0, &from), ret == DOCA_SUCCESS) {
		T_CHECK(from == peer);
		T_LE(len, sizeof(msg));
		l->nb_msgs++;
	}
	T_IS(ret, DOCA_ERROR_CONNECTION_RESET);
}

static void
say(void *arg, const struct lie_frame *f, const uint8_t *bytes, uint32_t len, const int *fds)
{
	struct liar *l = arg;
	ADDR *peer = NULL;
	pthread_t thread;
	doca_error_t ret;

	l->f = f;
	l->bytes = bytes;
	l->len = len;
	l->fds = fds;
	T_EQ(pthread_create(&thread, NULL, serve, l), 0);
	ret = doca_comm_channel_ep_connect(l->client, LIAR, &peer);
	if (ret == DOCA_SUCCESS) {
		l->nb_connected++;
		/* The service waits for one message. */
		if (l->nb % 2 == 0)
			send_all(l, peer);
		else
			T_CHECK(doca_comm_channel_ep_sendto(l->client, "", 0, 0, peer) !=
				DOCA_ERROR_AGAIN);
		receive_all(l, peer);
		T_OK(doca_comm_channel_ep_disconnect(l->client, peer));
	} else {
		T_IS(ret, DOCA_ERROR_CONNECTION_ABORTED);
		T_CHECK(peer == NULL);
		l->nb_refused++;
	}
	l->nb++;
	T_EQ(pthread_join(thread, NULL), 0);
}

T_CASE(each_invalid_field)
{
	struct liar l = { 0 };
	struct t_figures figures;
	unsigned int i;

	l.service = endpoint_102_create(16, 1);
	setenv("COMCH_ROLE", "dpu", 1);
	T_OK(doca_comm_channel_ep_listen(l.service, "honest"));
	setenv("COMCH_ROLE", "host", 1);
	l.client = endpoint_102_create(16, 2);
	l.listener = raw_listen(getenv("COMCH_DIR"), "pf0", LIAR);
	lie_goods_new(&l.g);
	lie_each(&lie_frames[0], &l.g, say, &l);
	t_figures_begin();
	figures = t_figures_least();
	for (i = 0; i < lie_nb_frames; i++)
		if ((lie_frames[i].by & LIE_BY_SERVER) != 0)
			lie_each(&lie_frames[i], &l.g, say, &l);
	fprintf(stderr, "   %u connected, %u refused, %u messages\n", l.nb_connected,
		l.nb_refused, l.nb_msgs);
	T_GT(l.nb_refused, 0);
	T_GT(l.nb_connected, l.nb_refused);
	T_GT(l.nb_msgs, l.nb_connected / 2);
	t_figures_wait(&figures);
	lie_goods_free(&l.g);
	close(l.listener);
	T_OK(doca_comm_channel_ep_destroy(l.client));
	T_OK(doca_comm_channel_ep_destroy(l.service));
}
