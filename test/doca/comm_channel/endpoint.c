/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "comm_channel/endpoint.h"

void
tch_service_create(struct tch_end *e, const char *rep)
{
	memset(e, 0, sizeof(*e));
	e->dev = td_dev_open("dpu", TCH_DPU);
	e->rep = td_rep_open(e->dev, rep);
	TD_OK(doca_comm_channel_ep_create(&e->ep));
	TD_OK(doca_comm_channel_ep_set_device(e->ep, e->dev));
	TD_OK(doca_comm_channel_ep_set_device_rep(e->ep, e->rep));
}

void
tch_client_create(struct tch_end *e, const char *function)
{
	memset(e, 0, sizeof(*e));
	e->dev = td_dev_open("host", function);
	TD_OK(doca_comm_channel_ep_create(&e->ep));
	TD_OK(doca_comm_channel_ep_set_device(e->ep, e->dev));
}

void
tch_end_destroy(struct tch_end *e)
{
	TD_OK(doca_comm_channel_ep_destroy(e->ep));
	if (e->rep != NULL)
		TD_OK(doca_dev_rep_close(e->rep));
	TD_OK(doca_dev_close(e->dev));
}

void
tch_dial(struct tch_end *client, const char *name)
{
	client->peer = NULL;
	TD_OK(doca_comm_channel_ep_connect(client->ep, name, &client->peer));
	T_CHECK(client->peer != NULL);
}

doca_error_t
tch_state(const struct tch_end *e)
{
	return doca_comm_channel_peer_addr_update_info(e->peer);
}

void
tch_connect(struct tch_end *client, struct tch_end *service)
{
	doca_error_t state;

	tch_dial(client, TCH_NAME);
	TCH_UNTIL((tch_recv_none(service), state = tch_state(client),
		state != DOCA_ERROR_CONNECTION_INPROGRESS));
	TD_OK(state);
}

void
tch_connect_away(struct tch_end *client)
{
	doca_error_t state;

	tch_dial(client, TCH_NAME);
	TCH_UNTIL((state = tch_state(client)) != DOCA_ERROR_CONNECTION_INPROGRESS);
	TD_OK(state);
}

void
tch_create(struct tch *t)
{
	tch_service_create(&t->service, TCH_PF0);
	tch_client_create(&t->client, TCH_PF0);
	TD_OK(doca_comm_channel_ep_listen(t->service.ep, TCH_NAME));
}

void
tch_open(struct tch *t)
{
	tch_create(t);
	tch_connect(&t->client, &t->service);
}

void
tch_close(struct tch *t)
{
	tch_end_destroy(&t->client);
	tch_end_destroy(&t->service);
}

void
tch_send_to(struct tch_end *e, struct doca_comm_channel_addr_t *peer, const void *msg, size_t len)
{
	doca_error_t ret;

	TCH_UNTIL((ret = doca_comm_channel_ep_sendto(e->ep, msg, len, DOCA_CC_MSG_FLAG_NONE,
		peer)) != DOCA_ERROR_AGAIN);
	TD_OK(ret);
}

void
tch_send(struct tch_end *e, const void *msg, size_t len)
{
	tch_send_to(e, e->peer, msg, len);
}

size_t
tch_recv(struct tch_end *e, void *msg)
{
	doca_error_t ret;
	size_t len;

	TCH_UNTIL((len = TCH_MAX, ret = doca_comm_channel_ep_recvfrom(e->ep, msg, &len,
		DOCA_CC_MSG_FLAG_NONE, &e->peer)) != DOCA_ERROR_AGAIN);
	TD_OK(ret);
	return len;
}

void
tch_send_number(struct tch_end *e, uint32_t number)
{
	tch_send(e, &number, sizeof(number));
}

void
tch_recv_number(struct tch_end *e, uint32_t number)
{
	uint8_t msg[TCH_MAX];
	uint32_t got;

	T_EQ(tch_recv(e, msg), sizeof(got));
	memcpy(&got, msg, sizeof(got));
	T_EQ(got, number);
}

void
tch_meet(struct tch *t)
{
	tch_send_number(&t->client, 0);
	tch_recv_number(&t->service, 0);
}

void
tch_recv_none(struct tch_end *e)
{
	struct doca_comm_channel_addr_t *peer;
	uint8_t msg[TCH_MAX];
	size_t len = sizeof(msg);

	TD_IS(doca_comm_channel_ep_recvfrom(e->ep, msg, &len, DOCA_CC_MSG_FLAG_NONE, &peer),
		DOCA_ERROR_AGAIN);
}

void
tch_stats_get(const struct doca_comm_channel_addr_t *peer, struct tch_stats *s)
{
	TD_OK(doca_comm_channel_peer_addr_get_send_messages(peer, &s->send_messages));
	TD_OK(doca_comm_channel_peer_addr_get_send_bytes(peer, &s->send_bytes));
	TD_OK(doca_comm_channel_peer_addr_get_recv_messages(peer, &s->recv_messages));
	TD_OK(doca_comm_channel_peer_addr_get_recv_bytes(peer, &s->recv_bytes));
	TD_OK(doca_comm_channel_peer_addr_get_send_in_flight_messages(peer, &s->in_flight));
}

uint32_t
tch_list(struct tch_end *service, struct doca_comm_channel_addr_t ***list)
{
	uint32_t nb;

	TD_OK(doca_comm_channel_ep_update_service_state_info(service->ep));
	TD_OK(doca_comm_channel_ep_get_peer_addr_list(service->ep, list, &nb));
	return nb;
}

uint32_t
tch_pending(struct tch_end *service)
{
	uint32_t nb;

	TD_OK(doca_comm_channel_ep_update_service_state_info(service->ep));
	TD_OK(doca_comm_channel_ep_get_pending_connections(service->ep, &nb));
	return nb;
}

bool
tch_is_readable(int fd)
{
	return t_readable(fd, 0);
}
