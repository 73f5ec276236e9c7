/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMM_CHANNEL_ENDPOINT_H
#define COMM_CHANNEL_ENDPOINT_H

/*
 * Programs of doca_comm_channel, of DOCA 1.5 and later, for tests: services and
 * clients, both in one process where a test has no reason for two.
 */

#include <doca_comm_channel.h>

#include "common/device.h"
#include "common/result.h"
#include "t_main.h"

#define CHANNEL_NAME "tch"
/* Of this device and of its function, and a second function. */
#define CHANNEL_DPU "03:00.0"
#define CHANNEL_PF0 "b1:00.0"
#define CHANNEL_PF1 "b1:00.1"
/* The longest message. */
#define CHANNEL_MSG_MAX 4080

struct endpoint {
	struct doca_comm_channel_ep_t *ep;
	struct doca_dev *dev;
	struct doca_dev_rep *rep;              /* of a service */
	struct doca_comm_channel_addr_t *peer; /* the newest */
};

/* Both sides. */
struct channel {
	struct endpoint service, client;
};

/* Devices and an endpoint with them, not linked. */
void service_endpoint_create(struct endpoint *e, const char *rep);
void client_endpoint_create(struct endpoint *e, const char *function);
void endpoint_destroy(struct endpoint *e);
/* Skip the case, unless the open devices keep the order of messages across clients. */
void endpoint_need_order(void);

/* A client's connect, up to where the service is asked; what it is then. */
void endpoint_dial(struct endpoint *client, const char *name);
doca_error_t endpoint_state(const struct endpoint *e);
/* Connect to a service of this process that has no messages. */
void endpoint_connect(struct endpoint *client, struct endpoint *service);
/* Connect to a service of another process. */
void endpoint_connect_away(struct endpoint *client);

/* A service that listens and a client, not connected; connected; their end. */
void channel_create(struct channel *t);
void channel_open(struct channel *t);
void channel_close(struct channel *t);
/* CHANNEL_CASE(name, t) { ... }: a case with both, connected; not connected. */
#define CHANNEL_CASE(name, t) \
	T_CASE_OF(struct channel, channel_open, channel_close, name, t)
#define CHANNEL_CASE_CREATED(name, t) \
	T_CASE_OF(struct channel, channel_create, channel_close, name, t)

/* Send; wait for room. */
void endpoint_send_to(struct endpoint *e, struct doca_comm_channel_addr_t *peer, const void *msg,
		size_t len);
void endpoint_send(struct endpoint *e, const void *msg, size_t len);
/* Wait for a message of at most CHANNEL_MSG_MAX bytes: its length; *e* has its peer. */
size_t endpoint_recv(struct endpoint *e, void *msg);
/* The same for a number, and a number that has to come. */
void endpoint_send_number(struct endpoint *e, uint32_t number);
void endpoint_recv_number(struct endpoint *e, uint32_t number);
/* A service gets a client's first message, and so its peer. */
void channel_meet(struct channel *t);
/* There is nothing to receive. */
void endpoint_recv_none(struct endpoint *e);

struct peer_stats {
	uint64_t send_messages, send_bytes;
	uint64_t recv_messages, recv_bytes;
	uint64_t in_flight;
};
/* Of the last snapshot. */
void peer_stats_get(const struct doca_comm_channel_addr_t *peer, struct peer_stats *s);

/* Of a service, after a snapshot of now. */
uint32_t service_list(struct endpoint *service, struct doca_comm_channel_addr_t ***list);
uint32_t service_pending(struct endpoint *service);

#endif /* COMM_CHANNEL_ENDPOINT_H */
