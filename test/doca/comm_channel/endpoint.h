/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef TCH_H
#define TCH_H

/*
 * Programs of doca_comm_channel, of DOCA 1.5 and later, for tests: services and
 * clients, both in one process where a test has no reason for two.
 */

#include <doca_comm_channel.h>

#include "comch/pair.h"

#define TCH_NAME "tch"
/* Of this device and of its function, and a second function. */
#define TCH_DPU "03:00.0"
#define TCH_PF0 "b1:00.0"
#define TCH_PF1 "b1:00.1"
/* The longest message. */
#define TCH_MAX 4080

struct tch_end {
	struct doca_comm_channel_ep_t *ep;
	struct doca_dev *dev;
	struct doca_dev_rep *rep;              /* of a service */
	struct doca_comm_channel_addr_t *peer; /* the newest */
};

/* Both sides. */
struct tch {
	struct tch_end service, client;
};

#define TCH_UNTIL(cond) \
	do { \
		const uint64_t tch_end_ = t_now_ms() + T_TIMEOUT_MS; \
		while (!(cond)) \
			if (t_now_ms() > tch_end_) \
				T_FAIL("waiting for %s", #cond); \
	} while (0)

/* Devices and an endpoint with them, not linked. */
void tch_service_create(struct tch_end *e, const char *rep);
void tch_client_create(struct tch_end *e, const char *function);
void tch_end_destroy(struct tch_end *e);

/* A client's connect, up to where the service is asked; what it is then. */
void tch_dial(struct tch_end *client, const char *name);
doca_error_t tch_state(const struct tch_end *e);
/* Connect to a service of this process that has no messages. */
void tch_connect(struct tch_end *client, struct tch_end *service);
/* Connect to a service of another process. */
void tch_connect_away(struct tch_end *client);

/* A service that listens and a client, not connected; connected; their end. */
void tch_create(struct tch *t);
void tch_open(struct tch *t);
void tch_close(struct tch *t);

/* Send; wait for room. */
void tch_send_to(struct tch_end *e, struct doca_comm_channel_addr_t *peer, const void *msg,
		size_t len);
void tch_send(struct tch_end *e, const void *msg, size_t len);
/* Wait for a message of at most TCH_MAX bytes: its length; *e* has its peer. */
size_t tch_recv(struct tch_end *e, void *msg);
/* The same for a number, and a number that has to come. */
void tch_send_number(struct tch_end *e, uint32_t number);
void tch_recv_number(struct tch_end *e, uint32_t number);
/* A service gets a client's first message, and so its peer. */
void tch_meet(struct tch *t);
/* There is nothing to receive. */
void tch_recv_none(struct tch_end *e);

struct tch_stats {
	uint64_t send_messages, send_bytes;
	uint64_t recv_messages, recv_bytes;
	uint64_t in_flight;
};
/* Of the last snapshot. */
void tch_stats_get(const struct doca_comm_channel_addr_t *peer, struct tch_stats *s);

/* Of a service, after a snapshot of now. */
uint32_t tch_list(struct tch_end *service, struct doca_comm_channel_addr_t ***list);
uint32_t tch_pending(struct tch_end *service);

/* Is the descriptor readable, now? */
bool tch_is_readable(int fd);

#endif /* TCH_H */
