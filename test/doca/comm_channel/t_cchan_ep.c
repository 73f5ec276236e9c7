/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Endpoints of doca_comm_channel by themselves: capabilities, properties, errors. */

#include <stdlib.h>

#include "comm_channel/endpoint.h"
#include "common/file.h"
#include "t_figures.h"
#include "t_main.h"

#define EP struct doca_comm_channel_ep_t
#define ADDR struct doca_comm_channel_addr_t

T_CASE(device_capabilities)
{
	typedef doca_error_t (*cap_fn)(struct doca_devinfo *info, uint32_t *value);
	static const cap_fn caps[] = {
		doca_comm_channel_get_max_message_size,
		doca_comm_channel_get_max_send_queue_size,
		doca_comm_channel_get_max_recv_queue_size,
		doca_comm_channel_get_max_rcv_queue_size,
	};
	struct doca_dev *dpu = dev_open("dpu", CHANNEL_DPU);
	struct doca_dev *host = dev_open("host", CHANNEL_PF0);
	uint32_t i, a, b;

	for (i = 0; i < RTE_DIM(caps); i++) {
		T_OK(caps[i](doca_dev_as_devinfo(dpu), &a));
		T_OK(caps[i](doca_dev_as_devinfo(host), &b));
		T_GE(a, 64);
		T_EQ(a, b);
		T_INVALID(caps[i](NULL, &a));
		T_INVALID(caps[i](doca_dev_as_devinfo(dpu), NULL));
	}
	T_OK(doca_comm_channel_get_max_message_size(doca_dev_as_devinfo(dpu), &a));
	T_EQ(a, CHANNEL_MSG_MAX);
	/* behaviour: L32 */
	T_OK(doca_comm_channel_get_max_recv_queue_size(doca_dev_as_devinfo(dpu), &a));
	T_OK(doca_comm_channel_get_max_rcv_queue_size(doca_dev_as_devinfo(dpu), &b));
	T_EQ(a, b);
	T_OK(doca_dev_close(dpu));
	T_OK(doca_dev_close(host));
}

T_CASE(service_capabilities)
{
	struct doca_dev *dpu = dev_open("dpu", CHANNEL_DPU);
	struct doca_dev *host = dev_open("host", CHANNEL_PF0);
	struct doca_devinfo *info = doca_dev_as_devinfo(dpu);
	uint32_t n;

	T_OK(doca_comm_channel_get_service_max_num_connections(info, &n));
	T_GE(n, 512);
	T_REFUSES_NULL(doca_comm_channel_get_service_max_num_connections, info, &n);
	T_IS(doca_comm_channel_get_service_max_num_connections(doca_dev_as_devinfo(host), &n),
		DOCA_ERROR_NOT_SUPPORTED);
	T_GETS(doca_comm_channel_get_max_service_name_len(&n), n, 120);
	T_INVALID(doca_comm_channel_get_max_service_name_len(NULL));
	T_OK(doca_dev_close(dpu));
	T_OK(doca_dev_close(host));
}

T_CASE(creation)
{
	struct doca_dev *dpu = dev_open("dpu", CHANNEL_DPU), *dev = dpu;
	struct doca_dev_rep *rep = rep_open(dpu, CHANNEL_PF0), *got = rep;
	EP *ep = NULL;
	uint16_t n;

	T_INVALID(doca_comm_channel_ep_create(NULL));
	T_IS(doca_comm_channel_ep_destroy(NULL), DOCA_ERROR_NOT_CONNECTED);
	T_OK(doca_comm_channel_ep_create(&ep));
	T_CHECK(ep != NULL);
	T_GETS(doca_comm_channel_ep_get_device(ep, &dev), dev, NULL);
	T_GETS(doca_comm_channel_ep_get_device_rep(ep, &got), got, NULL);
	T_GETS(doca_comm_channel_ep_get_max_msg_size(ep, &n), n, CHANNEL_MSG_MAX);
	T_GETS(doca_comm_channel_ep_get_send_queue_size(ep, &n), n, 64);
	T_GETS(doca_comm_channel_ep_get_recv_queue_size(ep, &n), n, 64);
	T_OK(doca_comm_channel_ep_set_device(ep, dpu));
	T_GETS(doca_comm_channel_ep_get_device(ep, &dev), dev, dpu);
	T_OK(doca_comm_channel_ep_set_device_rep(ep, rep));
	/* Again changes nothing: its device and representor are free once it is gone. */
	T_OK(doca_comm_channel_ep_set_device(ep, dpu));
	T_OK(doca_comm_channel_ep_set_device_rep(ep, rep));
	T_GETS(doca_comm_channel_ep_get_device_rep(ep, &got), got, rep);
	T_IS(doca_dev_rep_close(rep), DOCA_ERROR_IN_USE);
	T_IS(doca_dev_close(dpu), DOCA_ERROR_IN_USE);
	T_OK(doca_comm_channel_ep_destroy(ep));
	T_OK(doca_dev_rep_close(rep));
	T_OK(doca_dev_close(dpu));
}

T_CASE(property_arguments)
{
	struct doca_dev_rep *rep;
	struct doca_dev *dev;
	struct endpoint e;
	uint16_t n;

	service_endpoint_create(&e, CHANNEL_PF0);
	T_REFUSES_NULL(doca_comm_channel_ep_get_device, e.ep, &dev);
	T_REFUSES_NULL(doca_comm_channel_ep_get_device_rep, e.ep, &rep);
	T_REFUSES_NULL(doca_comm_channel_ep_get_max_msg_size, e.ep, &n);
	T_REFUSES_NULL(doca_comm_channel_ep_get_send_queue_size, e.ep, &n);
	T_REFUSES_NULL(doca_comm_channel_ep_get_recv_queue_size, e.ep, &n);
	T_INVALID(doca_comm_channel_ep_get_rcv_queue_size(e.ep, NULL));
	T_REFUSES_NULL(doca_comm_channel_ep_set_device, e.ep, e.dev);
	T_REFUSES_NULL(doca_comm_channel_ep_set_device_rep, e.ep, e.rep);
	T_INVALID(doca_comm_channel_ep_set_max_msg_size(NULL, 256));
	T_INVALID(doca_comm_channel_ep_set_send_queue_size(NULL, 16));
	T_INVALID(doca_comm_channel_ep_set_recv_queue_size(NULL, 16));
	T_INVALID(doca_comm_channel_ep_set_rcv_queue_size(NULL, 16));
	endpoint_destroy(&e);
}

typedef doca_error_t (*set_fn)(EP *ep, uint16_t size);
typedef doca_error_t (*get_fn)(EP *ep, uint16_t *size);

struct size {
	uint16_t asked, got;
};

static void
check_sizes(EP *ep, set_fn set, get_fn get, const struct size *sizes, unsigned int nb,
		uint32_t limit)
{
	unsigned int i;
	uint16_t n;

	for (i = 0; i < nb; i++) {
		T_OK(set(ep, sizes[i].asked));
		T_GETS(get(ep, &n), n, sizes[i].got);
	}
	T_OK(set(ep, (uint16_t)limit));
	T_OK(get(ep, &n));
	T_GE(n, limit);
	/* What is refused changes nothing. */
	T_INVALID(set(ep, 0));
	if (limit < UINT16_MAX)
		T_INVALID(set(ep, (uint16_t)(limit + 1)));
	if (limit < UINT16_MAX)
		T_INVALID(set(ep, UINT16_MAX));
	T_OK(get(ep, &n));
	T_GE(n, limit);
}

/* behaviour: L10, L11, L32 */
T_CASE(sizes)
{
	static const struct size msg[] = {
		{ 1, 256 }, { 255, 256 }, { 256, 256 }, { 257, 257 }, { 4079, 4079 },
	};
	static const struct size queue[] = {
		{ 1, 16 }, { 10, 16 }, { 16, 16 }, { 17, 32 }, { 64, 64 }, { 100, 128 },
	};
	uint32_t send_max, recv_max;
	struct endpoint e;

	client_endpoint_create(&e, CHANNEL_PF0);
	T_OK(doca_comm_channel_get_max_send_queue_size(doca_dev_as_devinfo(e.dev), &send_max));
	T_OK(doca_comm_channel_get_max_recv_queue_size(doca_dev_as_devinfo(e.dev), &recv_max));
	check_sizes(e.ep, doca_comm_channel_ep_set_max_msg_size,
		doca_comm_channel_ep_get_max_msg_size, msg, RTE_DIM(msg), CHANNEL_MSG_MAX);
	check_sizes(e.ep, doca_comm_channel_ep_set_send_queue_size,
		doca_comm_channel_ep_get_send_queue_size, queue, RTE_DIM(queue), send_max);
	check_sizes(e.ep, doca_comm_channel_ep_set_recv_queue_size,
		doca_comm_channel_ep_get_recv_queue_size, queue, RTE_DIM(queue), recv_max);
	check_sizes(e.ep, doca_comm_channel_ep_set_rcv_queue_size,
		doca_comm_channel_ep_get_rcv_queue_size, queue, RTE_DIM(queue), recv_max);
	/* Both spellings are of one property. */
	T_OK(doca_comm_channel_ep_set_rcv_queue_size(e.ep, 33));
	check_sizes(e.ep, doca_comm_channel_ep_set_recv_queue_size,
		doca_comm_channel_ep_get_rcv_queue_size, queue, RTE_DIM(queue), recv_max);
	endpoint_destroy(&e);
}

/* Nothing of what needs a link. */
static void
check_unlinked(EP *ep)
{
	ADDR **list, *peer;
	uint8_t msg[16];
	size_t len = sizeof(msg);
	uint32_t n;
	int a, b;

	/* behaviour: L8 */
	T_IS(doca_comm_channel_ep_recvfrom(ep, msg, &len, 0, &peer), DOCA_ERROR_NOT_CONNECTED);
	T_EQ(len, sizeof(msg));
	T_IS(doca_comm_channel_ep_sendto(ep, msg, 1, 0, NULL), DOCA_ERROR_NOT_CONNECTED);
	T_IS(doca_comm_channel_ep_disconnect(ep, NULL), DOCA_ERROR_NOT_CONNECTED);
	/* behaviour: L12 */
	T_IS(doca_comm_channel_ep_get_event_channel(ep, &a, &b), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comm_channel_ep_event_handle_arm_send(ep), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comm_channel_ep_event_handle_arm_recv(ep), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comm_channel_ep_event_handle_arm_rcv(ep), DOCA_ERROR_BAD_STATE);
	/* behaviour: L16, L17 */
	T_IS(doca_comm_channel_ep_get_service_event_channel(ep, &a), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comm_channel_ep_update_service_state_info(ep), DOCA_ERROR_NOT_SUPPORTED);
	T_IS(doca_comm_channel_ep_get_peer_addr_list(ep, &list, &n), DOCA_ERROR_NOT_SUPPORTED);
	T_IS(doca_comm_channel_ep_get_pending_connections(ep, &n), DOCA_ERROR_NOT_SUPPORTED);
}

/* behaviour: L1, L2 */
T_CASE(missing_properties)
{
	struct doca_dev *dpu = dev_open("dpu", CHANNEL_DPU);
	struct doca_dev *host = dev_open("host", CHANNEL_PF0);
	struct doca_dev_rep *rep = rep_open(dpu, CHANNEL_PF0);
	ADDR *peer = (ADDR *)(void *)rep;
	EP *ep;

	T_OK(doca_comm_channel_ep_create(&ep));
	check_unlinked(ep);
	T_IS(doca_comm_channel_ep_listen(ep, CHANNEL_NAME), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comm_channel_ep_connect(ep, CHANNEL_NAME, &peer), DOCA_ERROR_BAD_STATE);
	T_CHECK(peer == NULL);
	T_OK(doca_comm_channel_ep_set_device(ep, host));
	T_IS(doca_comm_channel_ep_listen(ep, CHANNEL_NAME), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_comm_channel_ep_set_device(ep, dpu));
	T_IS(doca_comm_channel_ep_connect(ep, CHANNEL_NAME, &peer), DOCA_ERROR_NOT_PERMITTED);
	T_CHECK(peer == NULL);
	T_IS(doca_comm_channel_ep_listen(ep, CHANNEL_NAME), DOCA_ERROR_BAD_STATE);
	check_unlinked(ep);
	/* Nothing of that is in the way of what is right. */
	T_OK(doca_comm_channel_ep_set_device_rep(ep, rep));
	T_OK(doca_comm_channel_ep_listen(ep, CHANNEL_NAME));
	T_OK(doca_comm_channel_ep_destroy(ep));
	T_OK(doca_dev_rep_close(rep));
	T_OK(doca_dev_close(dpu));
	T_OK(doca_dev_close(host));
}

/* Two DPU devices, and a representor of the wrong one. */
T_CASE(foreign_representor)
{
	struct doca_dev_rep *rep;
	struct doca_dev *one, *two;
	EP *ep;

	device_table_write("[device dpu0]\npci = 0000:03:00.0\n[device dpu1]\npci = 0000:04:00.0\n"
		"[function pf0]\ndevice = dpu0\npci = 0000:b1:00.0\n"
		"[function pf1]\ndevice = dpu1\npci = 0000:b1:00.1\n");
	one = dev_open("dpu", "03:00.0");
	two = dev_open("dpu", "04:00.0");
	rep = rep_open(two, "b1:00.1");
	T_OK(doca_comm_channel_ep_create(&ep));
	T_OK(doca_comm_channel_ep_set_device(ep, one));
	T_OK(doca_comm_channel_ep_set_device_rep(ep, rep));
	T_INVALID(doca_comm_channel_ep_listen(ep, CHANNEL_NAME));
	T_OK(doca_comm_channel_ep_set_device(ep, two));
	T_OK(doca_comm_channel_ep_listen(ep, CHANNEL_NAME));
	T_OK(doca_comm_channel_ep_destroy(ep));
	T_OK(doca_dev_rep_close(rep));
	T_OK(doca_dev_close(one));
	T_OK(doca_dev_close(two));
}

static void
check_fixed(const struct endpoint *e, struct doca_dev_rep *rep)
{
	T_IS(doca_comm_channel_ep_set_device(e->ep, e->dev), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comm_channel_ep_set_device_rep(e->ep, rep), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comm_channel_ep_set_max_msg_size(e->ep, 512), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comm_channel_ep_set_send_queue_size(e->ep, 16), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comm_channel_ep_set_recv_queue_size(e->ep, 16), DOCA_ERROR_BAD_STATE);
	T_IS(doca_comm_channel_ep_set_rcv_queue_size(e->ep, 16), DOCA_ERROR_BAD_STATE);
}

/* behaviour: L3, L10 */
CHANNEL_CASE(linked_already, t)
{
	ADDR *peer = NULL;
	uint16_t n;

	check_fixed(&t->service, t->service.rep);
	check_fixed(&t->client, t->service.rep);
	T_GETS(doca_comm_channel_ep_get_recv_queue_size(t->client.ep, &n), n, 64);
	T_IS(doca_comm_channel_ep_listen(t->service.ep, CHANNEL_NAME), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_comm_channel_ep_listen(t->service.ep, "other"), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_comm_channel_ep_connect(t->service.ep, CHANNEL_NAME, &peer),
		DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_comm_channel_ep_connect(t->client.ep, CHANNEL_NAME, &peer),
		DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_comm_channel_ep_listen(t->client.ep, CHANNEL_NAME), DOCA_ERROR_NOT_PERMITTED);
	/* What there is goes on. */
	channel_meet(t);
}

/* behaviour: L12, L16, L17 */
CHANNEL_CASE(event_channels, t)
{
	int a = -1, b = -1, c = -1, d = -1;
	ADDR **list;
	uint32_t n;

	T_INVALID(doca_comm_channel_ep_get_event_channel(NULL, &a, &b));
	T_INVALID(doca_comm_channel_ep_get_event_channel(t->client.ep, NULL, NULL));
	T_OK(doca_comm_channel_ep_get_event_channel(t->client.ep, &a, &b));
	T_CHECK(a >= 0 && b >= 0 && a != b);
	T_OK(doca_comm_channel_ep_get_event_channel(t->client.ep, &c, NULL));
	T_OK(doca_comm_channel_ep_get_event_channel(t->client.ep, NULL, &d));
	T_EQ(a, c);
	T_EQ(b, d);
	T_OK(doca_comm_channel_ep_get_event_channel(t->service.ep, NULL, &a));
	T_OK(doca_comm_channel_ep_get_event_channel(t->service.ep, &b, NULL));
	T_OK(doca_comm_channel_ep_get_service_event_channel(t->service.ep, &c));
	T_CHECK(a != b && a != c && b != c);
	T_OK(doca_comm_channel_ep_get_service_event_channel(t->service.ep, &d));
	T_EQ(c, d);

	T_INVALID(doca_comm_channel_ep_event_handle_arm_send(NULL));
	T_INVALID(doca_comm_channel_ep_event_handle_arm_recv(NULL));
	T_INVALID(doca_comm_channel_ep_event_handle_arm_rcv(NULL));

	T_REFUSES_NULL(doca_comm_channel_ep_get_service_event_channel, t->service.ep, &c);
	T_IS(doca_comm_channel_ep_get_service_event_channel(t->client.ep, &c),
		DOCA_ERROR_NOT_SUPPORTED);
	T_INVALID(doca_comm_channel_ep_update_service_state_info(NULL));
	T_IS(doca_comm_channel_ep_update_service_state_info(t->client.ep),
		DOCA_ERROR_NOT_SUPPORTED);
	T_REFUSES_NULLS(doca_comm_channel_ep_get_peer_addr_list, t->service.ep, &list, &n);
	T_IS(doca_comm_channel_ep_get_peer_addr_list(t->client.ep, &list, &n),
		DOCA_ERROR_NOT_SUPPORTED);
	T_REFUSES_NULL(doca_comm_channel_ep_get_pending_connections, t->service.ep, &n);
	T_IS(doca_comm_channel_ep_get_pending_connections(t->client.ep, &n),
		DOCA_ERROR_NOT_SUPPORTED);
}

/* behaviour: L29 */
T_CASE(names)
{
	char longest[120], longer[121];
	ADDR *peer = NULL;
	struct channel t;

	memset(longest, 'n', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	memset(longer, 'n', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	service_endpoint_create(&t.service, CHANNEL_PF0);
	client_endpoint_create(&t.client, CHANNEL_PF0);
	T_REFUSES_NULL(doca_comm_channel_ep_listen, t.service.ep, CHANNEL_NAME);
	T_INVALID(doca_comm_channel_ep_listen(t.service.ep, ""));
	T_INVALID(doca_comm_channel_ep_listen(t.service.ep, longer));
	T_OK(doca_comm_channel_ep_listen(t.service.ep, longest));
	T_INVALID(doca_comm_channel_ep_connect(NULL, CHANNEL_NAME, &peer));
	T_INVALID(doca_comm_channel_ep_connect(t.client.ep, NULL, &peer));
	T_INVALID(doca_comm_channel_ep_connect(t.client.ep, "", &peer));
	T_INVALID(doca_comm_channel_ep_connect(t.client.ep, longer, &peer));
	T_INVALID(doca_comm_channel_ep_connect(t.client.ep, longest, NULL));
	endpoint_dial(&t.client, longest);
	/* It was copied. */
	memset(longest, 'x', 3);
	T_AWAIT((endpoint_recv_none(&t.service), endpoint_state(&t.client) == DOCA_SUCCESS));
	channel_meet(&t);
	channel_close(&t);
}

/* behaviour: L7, L8, L21 */
CHANNEL_CASE(message_arguments, t)
{
	uint8_t msg[16] = { 0 };
	size_t len = sizeof(msg);
	struct endpoint other;
	ADDR *peer = NULL;
	EP *ep;

	ep = t->client.ep;
	T_INVALID(doca_comm_channel_ep_sendto(NULL, msg, 1, 0, t->client.peer));
	T_INVALID(doca_comm_channel_ep_sendto(ep, NULL, 1, 0, t->client.peer));
	T_INVALID(doca_comm_channel_ep_sendto(ep, msg, 1, 1, t->client.peer));
	T_IS(doca_comm_channel_ep_sendto(ep, msg, 1, 0, NULL), DOCA_ERROR_NOT_CONNECTED);
	T_IS(doca_comm_channel_ep_sendto(t->service.ep, msg, 1, 0, t->client.peer),
		DOCA_ERROR_NOT_CONNECTED);
	T_INVALID(doca_comm_channel_ep_recvfrom(NULL, msg, &len, 0, &peer));
	T_INVALID(doca_comm_channel_ep_recvfrom(ep, NULL, &len, 0, &peer));
	T_INVALID(doca_comm_channel_ep_recvfrom(ep, msg, NULL, 0, &peer));
	T_INVALID(doca_comm_channel_ep_recvfrom(ep, msg, &len, 0, NULL));
	T_INVALID(doca_comm_channel_ep_recvfrom(ep, msg, &len, 2, &peer));
	T_EQ(len, sizeof(msg));
	/* Nothing there: nothing is touched. */
	T_IS(doca_comm_channel_ep_recvfrom(ep, msg, &len, 0, &peer), DOCA_ERROR_AGAIN);
	T_EQ(len, sizeof(msg));
	T_CHECK(peer == NULL);
	T_EQ(msg[0], 0);
	client_endpoint_create(&other, CHANNEL_PF0);
	T_INVALID(doca_comm_channel_ep_disconnect(NULL, t->client.peer));
	T_IS(doca_comm_channel_ep_disconnect(ep, NULL), DOCA_ERROR_NOT_CONNECTED);
	T_IS(doca_comm_channel_ep_disconnect(other.ep, t->client.peer), DOCA_ERROR_NOT_CONNECTED);
	T_IS(doca_comm_channel_ep_disconnect(t->service.ep, t->client.peer),
		DOCA_ERROR_NOT_CONNECTED);
	endpoint_destroy(&other);
	channel_meet(t);
}

/* behaviour: L24, L32 */
CHANNEL_CASE(peer_arguments, t)
{
	typedef doca_error_t (*count_fn)(const ADDR *peer, uint64_t *value);
	static const count_fn counts[] = {
		doca_comm_channel_peer_addr_get_send_messages,
		doca_comm_channel_peer_addr_get_send_bytes,
		doca_comm_channel_peer_addr_get_recv_messages,
		doca_comm_channel_peer_addr_get_recv_bytes,
		doca_comm_channel_peer_addr_get_rcv_messages,
		doca_comm_channel_peer_addr_get_rcv_bytes,
		doca_comm_channel_peer_addr_get_send_in_flight_messages,
	};
	uint64_t n;
	unsigned int i;

	T_INVALID(doca_comm_channel_peer_addr_update_info(NULL));
	for (i = 0; i < RTE_DIM(counts); i++) {
		n = 1;
		T_INVALID(counts[i](NULL, &n));
		T_INVALID(counts[i](t->client.peer, NULL));
		T_OK(counts[i](t->client.peer, &n));
		T_EQ(n, 0);
	}
	T_INVALID(doca_comm_channel_peer_addr_get_user_data(NULL, &n));
	T_INVALID(doca_comm_channel_peer_addr_user_data_get(NULL, &n));
	T_INVALID(doca_comm_channel_peer_addr_set_user_data(NULL, n));
	T_INVALID(doca_comm_channel_peer_addr_user_data_set(NULL, n));
	T_INVALID(doca_comm_channel_peer_addr_get_user_data(t->client.peer, NULL));
	T_INVALID(doca_comm_channel_peer_addr_user_data_get(t->client.peer, NULL));
	T_GETS(doca_comm_channel_peer_addr_get_user_data(t->client.peer, &n), n, 0);
	T_OK(doca_comm_channel_peer_addr_set_user_data(t->client.peer, UINT64_MAX));
	T_GETS(doca_comm_channel_peer_addr_user_data_get(t->client.peer, &n), n, UINT64_MAX);
	T_OK(doca_comm_channel_peer_addr_user_data_set(t->client.peer, 7));
	T_GETS(doca_comm_channel_peer_addr_get_user_data(t->client.peer, &n), n, 7);
}

/* Endpoints that come and go leave nothing behind. */
T_CASE(nothing_left)
{
	unsigned int i, fds = 0;
	struct channel t;
	int a, b;

	for (i = 0; i < 50; i++) {
		channel_open(&t);
		T_OK(doca_comm_channel_ep_get_event_channel(t.service.ep, &a, &b));
		T_OK(doca_comm_channel_ep_get_event_channel(t.client.ep, &a, &b));
		T_OK(doca_comm_channel_ep_get_service_event_channel(t.service.ep, &a));
		T_OK(doca_comm_channel_ep_update_service_state_info(t.service.ep));
		T_OK(doca_comm_channel_ep_event_handle_arm_recv(t.client.ep));
		channel_close(&t);
		if (i == 1)
			fds = t_figures_least().fds;
	}
	T_WAIT(sched_yield(), t_fd_count() == fds);
}
