/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_CLIENT_H
#define COMCH_CLIENT_H

/* Clients, as the rest of the control path sees them. The poll's thread. */

#include "rte_comch_driver.h"
#include "base/comch_obj.h"
#include "base/comch_registry.h"

struct rte_comch_client {
	struct comch_obj obj;
	struct rte_comch_dev *dev;
	struct rte_comch_client_conf conf;
	char name[RTE_COMCH_NAME_SIZE];
	struct rte_comch_conn *conn;  /* from STARTING on */
	char reason[RTE_COMCH_REASON_SIZE];
	struct comch_registry_entry entry;
};

extern struct comch_registry_type comch_client_registry;

void comch_client_up(struct rte_comch_client *client);
/* Its connection has ended; the client follows when its producers and consumers are gone. */
void comch_client_conn_gone(struct rte_comch_client *client);
void comch_client_conn_freed(struct rte_comch_client *client);

#endif /* COMCH_CLIENT_H */
