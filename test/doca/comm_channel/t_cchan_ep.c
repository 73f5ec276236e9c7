/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Endpoints of doca_comm_channel by themselves: capabilities, properties, errors. */

#include <stdlib.h>

#include "t_main.h"
#include "comm_channel/endpoint.h"

#define EP struct doca_comm_channel_ep_t
#define ADDR struct doca_comm_channel_addr_t

static void
device_capabilities(void)
{
	typedef doca_error_t (*cap_fn)(struct doca_devinfo *info, uint32_t *value);
	static const cap_fn caps[] = {
		doca_comm_channel_get_max_message_size,
		doca_comm_channel_get_max_send_queue_size,
		doca_comm_channel_get_max_recv_queue_size,
		doca_comm_channel_get_max_rcv_queue_size,
	};
	struct doca_dev *dpu = td_dev_open("dpu", TCH_DPU);
	struct doca_dev *host = td_dev_open("host", TCH_PF0);
	uint32_t i, a, b;

	for (i = 0; i < RTE_DIM(caps); i++) {
		TD_OK(caps[i](doca_dev_as_devinfo(dpu), &a));
		TD_OK(caps[i](doca_dev_as_devinfo(host), &b));
		T_GE(a, 64);
		T_EQ(a, b);
		TD_IS(caps[i](NULL, &a), DOCA_ERROR_INVALID_VALUE);
		TD_IS(caps[i](doca_dev_as_devinfo(dpu), NULL), DOCA_ERROR_INVALID_VALUE);
	}
	TD_OK(doca_comm_channel_get_max_message_size(doca_dev_as_devinfo(dpu), &a));
	T_EQ(a, TCH_MAX);
	/* behaviour: L32 */
	TD_OK(doca_comm_channel_get_max_recv_queue_size(doca_dev_as_devinfo(dpu), &a));
	TD_OK(doca_comm_channel_get_max_rcv_queue_size(doca_dev_as_devinfo(dpu), &b));
	T_EQ(a, b);
	TD_OK(doca_dev_close(dpu));
	TD_OK(doca_dev_close(host));
}

static void
service_capabilities(void)
{
	struct doca_dev *dpu = td_dev_open("dpu", TCH_DPU);
	struct doca_dev *host = td_dev_open("host", TCH_PF0);
	struct doca_devinfo *info = doca_dev_as_devinfo(dpu);
	uint32_t n;

	TD_OK(doca_comm_channel_get_service_max_num_connections(info, &n));
	T_GE(n, 512);
	TD_IS(doca_comm_channel_get_service_max_num_connections(info, NULL),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_get_service_max_num_connections(NULL, &n),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_get_service_max_num_connections(doca_dev_as_devinfo(host), &n),
		DOCA_ERROR_NOT_SUPPORTED);
	TD_OK(doca_comm_channel_get_max_service_name_len(&n));
	T_EQ(n, 120);
	TD_IS(doca_comm_channel_get_max_service_name_len(NULL), DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_dev_close(dpu));
	TD_OK(doca_dev_close(host));
}

static void
creation(void)
{
	struct doca_dev *dpu = td_dev_open("dpu", TCH_DPU), *dev = dpu;
	struct doca_dev_rep *rep = td_rep_open(dpu, TCH_PF0), *got = rep;
	EP *ep = NULL;
	uint16_t n;

	TD_IS(doca_comm_channel_ep_create(NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_destroy(NULL), DOCA_ERROR_NOT_CONNECTED);
	TD_OK(doca_comm_channel_ep_create(&ep));
	T_CHECK(ep != NULL);
	TD_OK(doca_comm_channel_ep_get_device(ep, &dev));
	T_CHECK(dev == NULL);
	TD_OK(doca_comm_channel_ep_get_device_rep(ep, &got));
	T_CHECK(got == NULL);
	TD_OK(doca_comm_channel_ep_get_max_msg_size(ep, &n));
	T_EQ(n, TCH_MAX);
	TD_OK(doca_comm_channel_ep_get_send_queue_size(ep, &n));
	T_EQ(n, 64);
	TD_OK(doca_comm_channel_ep_get_recv_queue_size(ep, &n));
	T_EQ(n, 64);
	TD_OK(doca_comm_channel_ep_set_device(ep, dpu));
	TD_OK(doca_comm_channel_ep_get_device(ep, &dev));
	T_CHECK(dev == dpu);
	TD_OK(doca_comm_channel_ep_set_device_rep(ep, rep));
	/* Again changes nothing: its device and representor are free once it is gone. */
	TD_OK(doca_comm_channel_ep_set_device(ep, dpu));
	TD_OK(doca_comm_channel_ep_set_device_rep(ep, rep));
	TD_OK(doca_comm_channel_ep_get_device_rep(ep, &got));
	T_CHECK(got == rep);
	TD_IS(doca_dev_rep_close(rep), DOCA_ERROR_IN_USE);
	TD_IS(doca_dev_close(dpu), DOCA_ERROR_IN_USE);
	TD_OK(doca_comm_channel_ep_destroy(ep));
	TD_OK(doca_dev_rep_close(rep));
	TD_OK(doca_dev_close(dpu));
}

static void
property_arguments(void)
{
	struct doca_dev_rep *rep;
	struct doca_dev *dev;
	struct tch_end e;
	uint16_t n;

	tch_service_create(&e, TCH_PF0);
	TD_IS(doca_comm_channel_ep_get_device(NULL, &dev), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_get_device(e.ep, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_get_device_rep(NULL, &rep), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_get_device_rep(e.ep, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_get_max_msg_size(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_get_max_msg_size(e.ep, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_get_send_queue_size(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_get_send_queue_size(e.ep, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_get_recv_queue_size(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_get_recv_queue_size(e.ep, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_get_rcv_queue_size(e.ep, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_set_device(NULL, e.dev), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_set_device(e.ep, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_set_device_rep(NULL, e.rep), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_set_device_rep(e.ep, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_set_max_msg_size(NULL, 256), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_set_send_queue_size(NULL, 16), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_set_recv_queue_size(NULL, 16), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_set_rcv_queue_size(NULL, 16), DOCA_ERROR_INVALID_VALUE);
	tch_end_destroy(&e);
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
		TD_OK(set(ep, sizes[i].asked));
		TD_OK(get(ep, &n));
		T_EQ(n, sizes[i].got);
	}
	TD_OK(set(ep, (uint16_t)limit));
	TD_OK(get(ep, &n));
	T_GE(n, limit);
	/* What is refused changes nothing. */
	TD_IS(set(ep, 0), DOCA_ERROR_INVALID_VALUE);
	if (limit < UINT16_MAX)
		TD_IS(set(ep, (uint16_t)(limit + 1)), DOCA_ERROR_INVALID_VALUE);
	if (limit < UINT16_MAX)
		TD_IS(set(ep, UINT16_MAX), DOCA_ERROR_INVALID_VALUE);
	TD_OK(get(ep, &n));
	T_GE(n, limit);
}

/* behaviour: L10, L11, L32 */
static void
sizes(void)
{
	static const struct size msg[] = {
		{ 1, 256 }, { 255, 256 }, { 256, 256 }, { 257, 257 }, { 4079, 4079 },
	};
	static const struct size queue[] = {
		{ 1, 16 }, { 10, 16 }, { 16, 16 }, { 17, 32 }, { 64, 64 }, { 100, 128 },
	};
	uint32_t send_max, recv_max;
	struct tch_end e;

	tch_client_create(&e, TCH_PF0);
	TD_OK(doca_comm_channel_get_max_send_queue_size(doca_dev_as_devinfo(e.dev), &send_max));
	TD_OK(doca_comm_channel_get_max_recv_queue_size(doca_dev_as_devinfo(e.dev), &recv_max));
	check_sizes(e.ep, doca_comm_channel_ep_set_max_msg_size,
		doca_comm_channel_ep_get_max_msg_size, msg, RTE_DIM(msg), TCH_MAX);
	check_sizes(e.ep, doca_comm_channel_ep_set_send_queue_size,
		doca_comm_channel_ep_get_send_queue_size, queue, RTE_DIM(queue), send_max);
	check_sizes(e.ep, doca_comm_channel_ep_set_recv_queue_size,
		doca_comm_channel_ep_get_recv_queue_size, queue, RTE_DIM(queue), recv_max);
	check_sizes(e.ep, doca_comm_channel_ep_set_rcv_queue_size,
		doca_comm_channel_ep_get_rcv_queue_size, queue, RTE_DIM(queue), recv_max);
	/* Both spellings are of one property. */
	TD_OK(doca_comm_channel_ep_set_rcv_queue_size(e.ep, 33));
	check_sizes(e.ep, doca_comm_channel_ep_set_recv_queue_size,
		doca_comm_channel_ep_get_rcv_queue_size, queue, RTE_DIM(queue), recv_max);
	tch_end_destroy(&e);
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
	TD_IS(doca_comm_channel_ep_recvfrom(ep, msg, &len, 0, &peer), DOCA_ERROR_NOT_CONNECTED);
	T_EQ(len, sizeof(msg));
	TD_IS(doca_comm_channel_ep_sendto(ep, msg, 1, 0, NULL), DOCA_ERROR_NOT_CONNECTED);
	TD_IS(doca_comm_channel_ep_disconnect(ep, NULL), DOCA_ERROR_NOT_CONNECTED);
	/* behaviour: L12 */
	TD_IS(doca_comm_channel_ep_get_event_channel(ep, &a, &b), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_comm_channel_ep_event_handle_arm_send(ep), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_comm_channel_ep_event_handle_arm_recv(ep), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_comm_channel_ep_event_handle_arm_rcv(ep), DOCA_ERROR_BAD_STATE);
	/* behaviour: L16, L17 */
	TD_IS(doca_comm_channel_ep_get_service_event_channel(ep, &a), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_comm_channel_ep_update_service_state_info(ep), DOCA_ERROR_NOT_SUPPORTED);
	TD_IS(doca_comm_channel_ep_get_peer_addr_list(ep, &list, &n), DOCA_ERROR_NOT_SUPPORTED);
	TD_IS(doca_comm_channel_ep_get_pending_connections(ep, &n), DOCA_ERROR_NOT_SUPPORTED);
}

/* behaviour: L1, L2 */
static void
missing_properties(void)
{
	struct doca_dev *dpu = td_dev_open("dpu", TCH_DPU);
	struct doca_dev *host = td_dev_open("host", TCH_PF0);
	struct doca_dev_rep *rep = td_rep_open(dpu, TCH_PF0);
	ADDR *peer = (ADDR *)(void *)rep;
	EP *ep;

	TD_OK(doca_comm_channel_ep_create(&ep));
	check_unlinked(ep);
	TD_IS(doca_comm_channel_ep_listen(ep, TCH_NAME), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_comm_channel_ep_connect(ep, TCH_NAME, &peer), DOCA_ERROR_BAD_STATE);
	T_CHECK(peer == NULL);
	TD_OK(doca_comm_channel_ep_set_device(ep, host));
	TD_IS(doca_comm_channel_ep_listen(ep, TCH_NAME), DOCA_ERROR_NOT_PERMITTED);
	TD_OK(doca_comm_channel_ep_set_device(ep, dpu));
	TD_IS(doca_comm_channel_ep_connect(ep, TCH_NAME, &peer), DOCA_ERROR_NOT_PERMITTED);
	T_CHECK(peer == NULL);
	TD_IS(doca_comm_channel_ep_listen(ep, TCH_NAME), DOCA_ERROR_BAD_STATE);
	check_unlinked(ep);
	/* Nothing of that is in the way of what is right. */
	TD_OK(doca_comm_channel_ep_set_device_rep(ep, rep));
	TD_OK(doca_comm_channel_ep_listen(ep, TCH_NAME));
	TD_OK(doca_comm_channel_ep_destroy(ep));
	TD_OK(doca_dev_rep_close(rep));
	TD_OK(doca_dev_close(dpu));
	TD_OK(doca_dev_close(host));
}

/* Two DPU devices, and a representor of the wrong one. */
static void
foreign_representor(void)
{
	struct doca_dev_rep *rep;
	struct doca_dev *one, *two;
	char path[256];
	EP *ep;
	FILE *f;

	snprintf(path, sizeof(path), "%s/devices.ini", t_dir());
	f = fopen(path, "w");
	T_CHECK(f != NULL);
	fputs("[device dpu0]\npci = 0000:03:00.0\n[device dpu1]\npci = 0000:04:00.0\n"
		"[function pf0]\ndevice = dpu0\npci = 0000:b1:00.0\n"
		"[function pf1]\ndevice = dpu1\npci = 0000:b1:00.1\n", f);
	fclose(f);
	setenv("COMCH_DEVICES", path, 1);
	one = td_dev_open("dpu", "03:00.0");
	two = td_dev_open("dpu", "04:00.0");
	rep = td_rep_open(two, "b1:00.1");
	TD_OK(doca_comm_channel_ep_create(&ep));
	TD_OK(doca_comm_channel_ep_set_device(ep, one));
	TD_OK(doca_comm_channel_ep_set_device_rep(ep, rep));
	TD_IS(doca_comm_channel_ep_listen(ep, TCH_NAME), DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_comm_channel_ep_set_device(ep, two));
	TD_OK(doca_comm_channel_ep_listen(ep, TCH_NAME));
	TD_OK(doca_comm_channel_ep_destroy(ep));
	TD_OK(doca_dev_rep_close(rep));
	TD_OK(doca_dev_close(one));
	TD_OK(doca_dev_close(two));
}

static void
check_fixed(const struct tch_end *e, struct doca_dev_rep *rep)
{
	TD_IS(doca_comm_channel_ep_set_device(e->ep, e->dev), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_comm_channel_ep_set_device_rep(e->ep, rep), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_comm_channel_ep_set_max_msg_size(e->ep, 512), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_comm_channel_ep_set_send_queue_size(e->ep, 16), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_comm_channel_ep_set_recv_queue_size(e->ep, 16), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_comm_channel_ep_set_rcv_queue_size(e->ep, 16), DOCA_ERROR_BAD_STATE);
}

/* behaviour: L3, L10 */
static void
linked_already(void)
{
	ADDR *peer = NULL;
	struct tch t;
	uint16_t n;

	tch_open(&t);
	check_fixed(&t.service, t.service.rep);
	check_fixed(&t.client, t.service.rep);
	TD_OK(doca_comm_channel_ep_get_recv_queue_size(t.client.ep, &n));
	T_EQ(n, 64);
	TD_IS(doca_comm_channel_ep_listen(t.service.ep, TCH_NAME), DOCA_ERROR_NOT_PERMITTED);
	TD_IS(doca_comm_channel_ep_listen(t.service.ep, "other"), DOCA_ERROR_NOT_PERMITTED);
	TD_IS(doca_comm_channel_ep_connect(t.service.ep, TCH_NAME, &peer),
		DOCA_ERROR_NOT_PERMITTED);
	TD_IS(doca_comm_channel_ep_connect(t.client.ep, TCH_NAME, &peer),
		DOCA_ERROR_NOT_PERMITTED);
	TD_IS(doca_comm_channel_ep_listen(t.client.ep, TCH_NAME), DOCA_ERROR_NOT_PERMITTED);
	/* What there is goes on. */
	tch_meet(&t);
	tch_close(&t);
}

/* behaviour: L12, L16, L17 */
static void
event_channels(void)
{
	int a = -1, b = -1, c = -1, d = -1;
	ADDR **list;
	struct tch t;
	uint32_t n;

	tch_open(&t);
	TD_IS(doca_comm_channel_ep_get_event_channel(NULL, &a, &b), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_get_event_channel(t.client.ep, NULL, NULL),
		DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_comm_channel_ep_get_event_channel(t.client.ep, &a, &b));
	T_CHECK(a >= 0 && b >= 0 && a != b);
	TD_OK(doca_comm_channel_ep_get_event_channel(t.client.ep, &c, NULL));
	TD_OK(doca_comm_channel_ep_get_event_channel(t.client.ep, NULL, &d));
	T_EQ(a, c);
	T_EQ(b, d);
	TD_OK(doca_comm_channel_ep_get_event_channel(t.service.ep, NULL, &a));
	TD_OK(doca_comm_channel_ep_get_event_channel(t.service.ep, &b, NULL));
	TD_OK(doca_comm_channel_ep_get_service_event_channel(t.service.ep, &c));
	T_CHECK(a != b && a != c && b != c);
	TD_OK(doca_comm_channel_ep_get_service_event_channel(t.service.ep, &d));
	T_EQ(c, d);

	TD_IS(doca_comm_channel_ep_event_handle_arm_send(NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_event_handle_arm_recv(NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_event_handle_arm_rcv(NULL), DOCA_ERROR_INVALID_VALUE);

	TD_IS(doca_comm_channel_ep_get_service_event_channel(NULL, &c), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_get_service_event_channel(t.service.ep, NULL),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_get_service_event_channel(t.client.ep, &c),
		DOCA_ERROR_NOT_SUPPORTED);
	TD_IS(doca_comm_channel_ep_update_service_state_info(NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_update_service_state_info(t.client.ep),
		DOCA_ERROR_NOT_SUPPORTED);
	TD_IS(doca_comm_channel_ep_get_peer_addr_list(NULL, &list, &n), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_get_peer_addr_list(t.service.ep, NULL, &n),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_get_peer_addr_list(t.service.ep, &list, NULL),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_get_peer_addr_list(t.client.ep, &list, &n),
		DOCA_ERROR_NOT_SUPPORTED);
	TD_IS(doca_comm_channel_ep_get_pending_connections(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_get_pending_connections(t.service.ep, NULL),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_get_pending_connections(t.client.ep, &n),
		DOCA_ERROR_NOT_SUPPORTED);
	tch_close(&t);
}

/* behaviour: L29 */
static void
names(void)
{
	char longest[120], longer[121];
	ADDR *peer = NULL;
	struct tch t;

	memset(longest, 'n', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	memset(longer, 'n', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	tch_service_create(&t.service, TCH_PF0);
	tch_client_create(&t.client, TCH_PF0);
	TD_IS(doca_comm_channel_ep_listen(NULL, TCH_NAME), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_listen(t.service.ep, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_listen(t.service.ep, ""), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_listen(t.service.ep, longer), DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_comm_channel_ep_listen(t.service.ep, longest));
	TD_IS(doca_comm_channel_ep_connect(NULL, TCH_NAME, &peer), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_connect(t.client.ep, NULL, &peer), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_connect(t.client.ep, "", &peer), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_connect(t.client.ep, longer, &peer), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_connect(t.client.ep, longest, NULL), DOCA_ERROR_INVALID_VALUE);
	tch_dial(&t.client, longest);
	/* It was copied. */
	memset(longest, 'x', 3);
	TCH_UNTIL((tch_recv_none(&t.service), tch_state(&t.client) == DOCA_SUCCESS));
	tch_meet(&t);
	tch_close(&t);
}

/* behaviour: L7, L8, L21 */
static void
message_arguments(void)
{
	uint8_t msg[16] = { 0 };
	size_t len = sizeof(msg);
	struct tch_end other;
	ADDR *peer = NULL;
	struct tch t;
	EP *ep;

	tch_open(&t);
	ep = t.client.ep;
	TD_IS(doca_comm_channel_ep_sendto(NULL, msg, 1, 0, t.client.peer),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_sendto(ep, NULL, 1, 0, t.client.peer),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_sendto(ep, msg, 1, 1, t.client.peer),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_sendto(ep, msg, 1, 0, NULL), DOCA_ERROR_NOT_CONNECTED);
	TD_IS(doca_comm_channel_ep_sendto(t.service.ep, msg, 1, 0, t.client.peer),
		DOCA_ERROR_NOT_CONNECTED);
	TD_IS(doca_comm_channel_ep_recvfrom(NULL, msg, &len, 0, &peer), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_recvfrom(ep, NULL, &len, 0, &peer), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_recvfrom(ep, msg, NULL, 0, &peer), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_recvfrom(ep, msg, &len, 0, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_recvfrom(ep, msg, &len, 2, &peer), DOCA_ERROR_INVALID_VALUE);
	T_EQ(len, sizeof(msg));
	/* Nothing there: nothing is touched. */
	TD_IS(doca_comm_channel_ep_recvfrom(ep, msg, &len, 0, &peer), DOCA_ERROR_AGAIN);
	T_EQ(len, sizeof(msg));
	T_CHECK(peer == NULL);
	T_EQ(msg[0], 0);
	tch_client_create(&other, TCH_PF0);
	TD_IS(doca_comm_channel_ep_disconnect(NULL, t.client.peer), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_ep_disconnect(ep, NULL), DOCA_ERROR_NOT_CONNECTED);
	TD_IS(doca_comm_channel_ep_disconnect(other.ep, t.client.peer), DOCA_ERROR_NOT_CONNECTED);
	TD_IS(doca_comm_channel_ep_disconnect(t.service.ep, t.client.peer),
		DOCA_ERROR_NOT_CONNECTED);
	tch_end_destroy(&other);
	tch_meet(&t);
	tch_close(&t);
}

/* behaviour: L24, L32 */
static void
peer_arguments(void)
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
	struct tch t;
	uint64_t n;
	unsigned int i;

	tch_open(&t);
	TD_IS(doca_comm_channel_peer_addr_update_info(NULL), DOCA_ERROR_INVALID_VALUE);
	for (i = 0; i < RTE_DIM(counts); i++) {
		n = 1;
		TD_IS(counts[i](NULL, &n), DOCA_ERROR_INVALID_VALUE);
		TD_IS(counts[i](t.client.peer, NULL), DOCA_ERROR_INVALID_VALUE);
		TD_OK(counts[i](t.client.peer, &n));
		T_EQ(n, 0);
	}
	TD_IS(doca_comm_channel_peer_addr_get_user_data(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_peer_addr_user_data_get(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_peer_addr_set_user_data(NULL, n), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_peer_addr_user_data_set(NULL, n), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_peer_addr_get_user_data(t.client.peer, NULL),
		DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_comm_channel_peer_addr_user_data_get(t.client.peer, NULL),
		DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_comm_channel_peer_addr_get_user_data(t.client.peer, &n));
	T_EQ(n, 0);
	TD_OK(doca_comm_channel_peer_addr_set_user_data(t.client.peer, UINT64_MAX));
	TD_OK(doca_comm_channel_peer_addr_user_data_get(t.client.peer, &n));
	T_EQ(n, UINT64_MAX);
	TD_OK(doca_comm_channel_peer_addr_user_data_set(t.client.peer, 7));
	TD_OK(doca_comm_channel_peer_addr_get_user_data(t.client.peer, &n));
	T_EQ(n, 7);
	tch_close(&t);
}

/* Endpoints that come and go leave nothing behind. */
static void
nothing_left(void)
{
	unsigned int i, fds = 0;
	struct tch t;
	int a, b;

	for (i = 0; i < 50; i++) {
		tch_open(&t);
		TD_OK(doca_comm_channel_ep_get_event_channel(t.service.ep, &a, &b));
		TD_OK(doca_comm_channel_ep_get_event_channel(t.client.ep, &a, &b));
		TD_OK(doca_comm_channel_ep_get_service_event_channel(t.service.ep, &a));
		TD_OK(doca_comm_channel_ep_update_service_state_info(t.service.ep));
		TD_OK(doca_comm_channel_ep_event_handle_arm_recv(t.client.ep));
		tch_close(&t);
		if (i == 1)
			fds = t_fd_count();
	}
	T_EQ(t_fd_count(), fds);
}

static const struct t_case cases[] = {
	{ "device_capabilities", device_capabilities },
	{ "service_capabilities", service_capabilities },
	{ "creation", creation },
	{ "property_arguments", property_arguments },
	{ "sizes", sizes },
	{ "missing_properties", missing_properties },
	{ "foreign_representor", foreign_representor },
	{ "linked_already", linked_already },
	{ "event_channels", event_channels },
	{ "names", names },
	{ "message_arguments", message_arguments },
	{ "peer_arguments", peer_arguments },
	{ "nothing_left", nothing_left },
};

int
main(int argc, char **argv)
{
	return t_main(cases, RTE_DIM(cases), argc, argv);
}
