/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "comm_channel/endpoint.h"
#include "t_need.h"

void
service_endpoint_create(struct endpoint *e, const char *rep)
{
	memset(e, 0, sizeof(*e));
	e->dev = dev_open("dpu", CHANNEL_DPU);
	e->rep = rep_open(e->dev, rep);
	T_OK(doca_comm_channel_ep_create(&e->ep));
	T_OK(doca_comm_channel_ep_set_device(e->ep, e->dev));
	T_OK(doca_comm_channel_ep_set_device_rep(e->ep, e->rep));
}

void
client_endpoint_create(struct endpoint *e, const char *function)
{
	memset(e, 0, sizeof(*e));
	e->dev = dev_open("host", function);
	T_OK(doca_comm_channel_ep_create(&e->ep));
	T_OK(doca_comm_channel_ep_set_device(e->ep, e->dev));
}

void
endpoint_need_order(void)
{
	struct rte_comch_dev_info info;

	T_EQ(rte_comch_dev_info_get(rte_comch_dev_next(0), &info), 0);
	t_need(&info, RTE_COMCH_CAPA_ORDERED);
}

void
endpoint_destroy(struct endpoint *e)
{
	T_OK(doca_comm_channel_ep_destroy(e->ep));
	if (e->rep != NULL)
		T_OK(doca_dev_rep_close(e->rep));
	T_OK(doca_dev_close(e->dev));
}

void
endpoint_dial(struct endpoint *client, const char *name)
{
	client->peer = NULL;
	T_OK(doca_comm_channel_ep_connect(client->ep, name, &client->peer));
	T_CHECK(client->peer != NULL);
}

doca_error_t
endpoint_state(const struct endpoint *e)
{
	return doca_comm_channel_peer_addr_update_info(e->peer);
}

void
endpoint_connect(struct endpoint *client, struct endpoint *service)
{
	doca_error_t state;

	endpoint_dial(client, CHANNEL_NAME);
	T_AWAIT((endpoint_recv_none(service), state = endpoint_state(client),
		state != DOCA_ERROR_CONNECTION_INPROGRESS));
	T_OK(state);
}

void
endpoint_connect_away(struct endpoint *client)
{
	doca_error_t state;

	endpoint_dial(client, CHANNEL_NAME);
	T_AWAIT((state = endpoint_state(client)) != DOCA_ERROR_CONNECTION_INPROGRESS);
	T_OK(state);
}

void
channel_create(struct channel *t)
{
	service_endpoint_create(&t->service, CHANNEL_PF0);
	client_endpoint_create(&t->client, CHANNEL_PF0);
	T_OK(doca_comm_channel_ep_listen(t->service.ep, CHANNEL_NAME));
}

void
channel_open(struct channel *t)
{
	channel_create(t);
	endpoint_connect(&t->client, &t->service);
}

void
channel_close(struct channel *t)
{
	endpoint_destroy(&t->client);
	endpoint_destroy(&t->service);
}

void
endpoint_send_to(struct endpoint *e, struct doca_comm_channel_addr_t *peer, const void *msg,
		size_t len)
{
	doca_error_t ret;

	T_AWAIT((ret = doca_comm_channel_ep_sendto(e->ep, msg, len, DOCA_CC_MSG_FLAG_NONE,
		peer)) != DOCA_ERROR_AGAIN);
	T_OK(ret);
}

void
endpoint_send(struct endpoint *e, const void *msg, size_t len)
{
	endpoint_send_to(e, e->peer, msg, len);
}

size_t
endpoint_recv(struct endpoint *e, void *msg)
{
	doca_error_t ret;
	size_t len;

	T_AWAIT((len = CHANNEL_MSG_MAX, ret = doca_comm_channel_ep_recvfrom(e->ep, msg, &len,
		DOCA_CC_MSG_FLAG_NONE, &e->peer)) != DOCA_ERROR_AGAIN);
	T_OK(ret);
	return len;
}

void
endpoint_send_number(struct endpoint *e, uint32_t number)
{
	endpoint_send(e, &number, sizeof(number));
}

void
endpoint_recv_number(struct endpoint *e, uint32_t number)
{
	uint8_t msg[CHANNEL_MSG_MAX];
	uint32_t got;

	T_EQ(endpoint_recv(e, msg), sizeof(got));
	memcpy(&got, msg, sizeof(got));
	T_EQ(got, number);
}

void
channel_meet(struct channel *t)
{
	endpoint_send_number(&t->client, 0);
	endpoint_recv_number(&t->service, 0);
}

void
endpoint_recv_none(struct endpoint *e)
{
	struct doca_comm_channel_addr_t *peer;
	uint8_t msg[CHANNEL_MSG_MAX];
	size_t len = sizeof(msg);

	T_IS(doca_comm_channel_ep_recvfrom(e->ep, msg, &len, DOCA_CC_MSG_FLAG_NONE, &peer),
		DOCA_ERROR_AGAIN);
}

void
peer_stats_get(const struct doca_comm_channel_addr_t *peer, struct peer_stats *s)
{
	T_OK(doca_comm_channel_peer_addr_get_send_messages(peer, &s->send_messages));
	T_OK(doca_comm_channel_peer_addr_get_send_bytes(peer, &s->send_bytes));
	T_OK(doca_comm_channel_peer_addr_get_recv_messages(peer, &s->recv_messages));
	T_OK(doca_comm_channel_peer_addr_get_recv_bytes(peer, &s->recv_bytes));
	T_OK(doca_comm_channel_peer_addr_get_send_in_flight_messages(peer, &s->in_flight));
}

uint32_t
service_list(struct endpoint *service, struct doca_comm_channel_addr_t ***list)
{
	uint32_t nb;

	T_OK(doca_comm_channel_ep_update_service_state_info(service->ep));
	T_OK(doca_comm_channel_ep_get_peer_addr_list(service->ep, list, &nb));
	return nb;
}

uint32_t
service_pending(struct endpoint *service)
{
	uint32_t nb;

	T_OK(doca_comm_channel_ep_update_service_state_info(service->ep));
	T_OK(doca_comm_channel_ep_get_pending_connections(service->ep, &nb));
	return nb;
}
