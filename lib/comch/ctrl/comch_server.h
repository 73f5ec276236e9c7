/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_SERVER_H
#define COMCH_SERVER_H

/* Servers: the interface to the rest of the control path. Runs in the poll's thread. */

#include <bsd/sys/queue.h>

#include "rte_comch_driver.h"
#include "rte_comch_stats.h"
#include "base/comch_obj.h"
#include "base/comch_poll.h"
#include "ctrl/comch_holder.h"

struct comch_sched;

struct rte_comch_server {
	struct comch_obj obj;
	struct rte_comch_dev *dev;
	struct rte_comch_server_conf conf; /* name points to our copy */
	char name[RTE_COMCH_NAME_SIZE];
	struct rte_comch_listener *listener;
	struct comch_fd fd;
	struct comch_fd watch;
	int end_status;        /* error that stopped the server; 0: stopped by the application */
	char reason[RTE_COMCH_REASON_SIZE]; /* end_status as text */
	struct comch_sched *sched;
	TAILQ_HEAD(, rte_comch_conn) conns;
	uint32_t nb_conns;
	struct comch_holders holders; /* of nb_conns: whose they are */
	uint32_t nb_pending;
	uint32_t nb_ending;    /* with a place that becomes free soon */
	uint32_t nb_to_free;   /* ended without a place */
	bool accept_failed;    /* logged; retried at each scan */
	bool is_crowded;       /* logged: new clients displace older handshakes */
	bool is_accepting;     /* in sched->accepting */
	struct rte_comch_server_stats stats;
	TAILQ_ENTRY(rte_comch_server) accepting_next; /* of sched->accepting */
	struct comch_registry_entry entry;
};

extern struct comch_registry_type comch_server_registry;

/* Accept waiting clients. */
void comch_server_accept(struct rte_comch_server *server);
/* Ending; counts against max_clients until the connection is freed. */
void comch_server_conn_ending(struct rte_comch_conn *conn);
/* Ended; without a place it waits for nothing but to be freed. */
void comch_server_conn_ended(struct rte_comch_conn *conn);
void comch_server_conn_freed(struct rte_comch_conn *conn);

#endif /* COMCH_SERVER_H */
