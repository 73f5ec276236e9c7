/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef T_TOKEN_H
#define T_TOKEN_H

/*
 * Clients pass a token through memory. The holder sends one message with the next number, and
 * passes the token on when the send has returned. So each send happens after all earlier ones,
 * and an ordered server sees 0, 1, 2... On other servers, the numbers of each client increase.
 */

#include "t_pair.h"

/* In memory that all share: of a process, or of several. */
struct t_token {
	uint32_t taken;
	uint32_t next;     /* number of the next message; written by the holder */
	uint32_t total;
	uint32_t nb_ended; /* clients */
	bool is_unordered; /* the servers are not ordered */
};

/* Be a client: connect, send until all are sent, and leave. */
void t_token_client(struct t_token *t, int16_t dev, const char *name);
/* Receive until so many clients have come and gone, and check. */
void t_token_serve(struct t_token *t, struct rte_comch_poll *poll, uint32_t nb_clients,
		bool sleepy);
/* How t_token_threads() runs. */
struct t_token_conf {
	uint32_t nb_clients;
	uint32_t total;
	bool sleepy;       /* the servers' poll sleeps */
	bool is_unordered;
};

/* A server of each name on a poll, and threads that are clients of them in turn. */
void t_token_threads(int16_t dpu_dev, int16_t host_dev, const char *const *names,
		uint32_t nb_names, const struct t_token_conf *conf);

#endif /* T_TOKEN_H */
