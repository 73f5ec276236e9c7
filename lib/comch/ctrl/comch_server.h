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

/* Limit of clients of one server that are within the handshake. */
#define COMCH_MAX_HALF_OPEN 1024

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
	uint32_t nb_half_open; /* of nb_conns: before PENDING */
	uint32_t nb_pending;
	uint32_t nb_ending;    /* of nb_conns: ending, so their slots become free soon */
	bool accept_failed;    /* logged; retried at each scan */
	bool is_accepting;     /* in sched->accepting */
	struct rte_comch_server_stats stats;
	TAILQ_ENTRY(rte_comch_server) accepting_next; /* of sched->accepting */
	struct comch_registry_entry entry;
};

extern struct comch_registry_type comch_server_registry;

/* Accept waiting clients. */
void comch_server_accept(struct rte_comch_server *server);
/* Ending; still counts against max_clients until DISCONNECTED is returned. */
void comch_server_conn_ending(struct rte_comch_conn *conn);
void comch_server_conn_freed(struct rte_comch_conn *conn);

#endif /* COMCH_SERVER_H */
