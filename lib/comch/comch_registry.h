/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_REGISTRY_H
#define COMCH_REGISTRY_H

/*
 * All that lives in this process, for dump and telemetry. Objects leave it
 * before they are buried, so what is found under the lock may be read.
 */

#include "comch_private.h"

TAILQ_HEAD(comch_server_list, rte_comch_server);
TAILQ_HEAD(comch_client_list, rte_comch_client);
TAILQ_HEAD(comch_poll_list, rte_comch_poll);
TAILQ_HEAD(comch_msgq_list, rte_comch_msgq);

struct comch_registry {
	pthread_mutex_t lock;
	struct comch_server_list servers;
	struct comch_client_list clients;
	struct comch_conn_list conns;
	struct comch_poll_list polls;
	struct comch_msgq_list msgqs;
};

extern struct comch_registry comch_registry;

#endif /* COMCH_REGISTRY_H */
