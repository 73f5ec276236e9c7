/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Programs that ignore the result of their first receive call after a send. They count on a
 * peer that is not that fast, which the key again_after_send pretends.
 */

#include <poll.h>

#include "comm_channel/endpoint.h"
#include "common/file.h"
#include "t_main.h"

static void
slow_open(struct channel *t)
{
	device_table_write("[device dpu]\npci = 03:00.0\n"
		"[function pf0]\npci = b1:00.0\nagain_after_send = 1\n");
	channel_open(t);
	channel_meet(t);
}

#define SLOW_CASE(name, t) T_CASE_OF(struct channel, slow_open, channel_close, name, t)

static doca_error_t
receive(struct endpoint *e)
{
	uint8_t msg[CHANNEL_MSG_MAX];
	size_t len = sizeof(msg);

	return doca_comm_channel_ep_recvfrom(e->ep, msg, &len, 0, &e->peer);
}

/* Messages that are there already. */
static void
answer(struct channel *t, unsigned int n)
{
	while (n-- > 0)
		endpoint_send_number(&t->service, n);
}

/* behaviour: L38 */
SLOW_CASE(once_for_each_send, t)
{
	unsigned int i;

	answer(t, 6);
	for (i = 0; i < 3; i++) {
		endpoint_send_number(&t->client, i);
		T_IS(receive(&t->client), DOCA_ERROR_AGAIN);
		T_OK(receive(&t->client));
		T_OK(receive(&t->client));
	}
	T_IS(receive(&t->client), DOCA_ERROR_AGAIN);
	/* The other side has not asked for it. */
	for (i = 0; i < 3; i++) {
		endpoint_send_number(&t->service, i);
		T_OK(receive(&t->service));
	}
}

/* behaviour: L38 */
SLOW_CASE(the_event_stays, t)
{
	struct pollfd p = { .events = POLLIN };

	T_OK(doca_comm_channel_ep_get_event_channel(t->client.ep, NULL, &p.fd));
	/* Armed before the message came. */
	T_OK(doca_comm_channel_ep_event_handle_arm_recv(t->client.ep));
	answer(t, 1);
	T_EQ(poll(&p, 1, 0), 1);
	endpoint_send_number(&t->client, 1);
	T_IS(receive(&t->client), DOCA_ERROR_AGAIN);
	T_EQ(poll(&p, 1, 0), 1);
	T_OK(receive(&t->client));
	/* Armed after it. */
	answer(t, 1);
	endpoint_send_number(&t->client, 2);
	T_IS(receive(&t->client), DOCA_ERROR_AGAIN);
	T_OK(doca_comm_channel_ep_event_handle_arm_recv(t->client.ep));
	T_EQ(poll(&p, 1, 0), 1);
	T_OK(receive(&t->client));
}

static void
faulty_open(struct channel *t)
{
	device_table_write("[device dpu]\npci = 03:00.0\nfault.reset = 3\n[function pf0]\n"
		"pci = b1:00.0\nfault.again = 2\nfault.error = 3\nfault.slow_ms = 1\n");
	channel_open(t);
	channel_meet(t);
}

static doca_error_t
send_one(struct endpoint *e)
{
	return doca_comm_channel_ep_sendto(e->ep, "x", 1, DOCA_CC_MSG_FLAG_NONE, e->peer);
}

/* Faults of the device table: channel_meet() was the first send, and the first message. */
T_CASE_OF(struct channel, faulty_open, channel_close, faults_on_demand, t)
{
	T_IS(send_one(&t->client), DOCA_ERROR_AGAIN);
	/* What came back as AGAIN does not count for the other fault. */
	T_OK(send_one(&t->client));
	T_IS(send_one(&t->client), DOCA_ERROR_IO_FAILED);
	T_WAIT(0, receive(&t->service) == DOCA_SUCCESS);
	/* The third message of the service is its own, and is lost with the connection. */
	T_IS(send_one(&t->service), DOCA_ERROR_CONNECTION_RESET);
	T_WAIT(receive(&t->service), receive(&t->client) == DOCA_ERROR_CONNECTION_RESET);
}

static void
limited_open(struct channel *t)
{
	device_table_write("[device dpu]\npci = 03:00.0\nlimit.max_msg_size = 300\n"
		"limit.max_send_tasks = 32\nlimit.max_recv_queue_size = 32\n"
		"[function pf0]\npci = b1:00.0\n");
	channel_create(t);
}

/* Limits of the device table: refused once the device is known, and else made less. */
T_CASE_OF(struct channel, limited_open, channel_close, limits_of_a_card, t)
{
	uint16_t size;

	T_INVALID(doca_comm_channel_ep_set_max_msg_size(t->client.ep, 301));
	T_OK(doca_comm_channel_ep_set_max_msg_size(t->client.ep, 300));
	T_INVALID(doca_comm_channel_ep_set_send_queue_size(t->client.ep, 33));
	T_INVALID(doca_comm_channel_ep_set_recv_queue_size(t->client.ep, 33));
	endpoint_connect(&t->client, &t->service);
	T_OK(doca_comm_channel_ep_get_max_msg_size(t->service.ep, &size));
	T_EQ(size, 300);
	T_OK(doca_comm_channel_ep_get_recv_queue_size(t->client.ep, &size));
	T_EQ(size, 32);
}
