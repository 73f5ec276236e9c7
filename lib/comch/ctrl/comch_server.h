/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_SERVER_H
#define COMCH_SERVER_H

/* Servers, as the rest of the control path sees them. The poll's thread. */

#include <bsd/sys/queue.h>

#include "rte_comch_driver.h"
#include "rte_comch_stats.h"
#include "base/comch_obj.h"
#include "base/comch_poll.h"

/* Clients of one server that may be half-way through a handshake. */
#define COMCH_MAX_HALF_OPEN 1024

struct comch_links;

struct rte_comch_server {
	struct comch_obj obj;
	struct rte_comch_dev *dev;
	struct rte_comch_server_conf conf; /* name points to our copy */
	char name[RTE_COMCH_NAME_SIZE];
	struct rte_comch_listener *listener;
	struct comch_fd fd;
	struct comch_fd watch;
	int end_status;        /* why it stopped by itself; 0: it was asked to */
	char reason[RTE_COMCH_REASON_SIZE]; /* the same in words */
	struct comch_links *links;
	TAILQ_HEAD(, rte_comch_conn) conns;
	uint32_t nb_conns;     /* all of them */
	uint32_t nb_half_open; /* not established and not pending */
	uint32_t nb_pending;
	uint32_t nb_leaving;   /* about to end or ended: they make room */
	bool accept_failed;    /* logged; tried again at each look */
	bool is_accepting;     /* in links->accepting */
	struct rte_comch_server_stats stats;
	TAILQ_ENTRY(rte_comch_server) accepting_next; /* of links->accepting */
	struct comch_registry_entry entry;
};

extern struct comch_registry_type comch_server_registry;

/* 0, or -EINVAL after a log line that begins with what. */
int comch_name_check(const char *name, const char *what);
/* Check sizes against the device's limits and fill in defaults. */
int comch_sizes_check(const struct rte_comch_dev *dev, const char *what,
		uint32_t *max_msg_size, uint32_t *recv_queue, uint32_t *send_queue);
/* Accept clients that wait. */
void comch_server_accept(struct rte_comch_server *server);
/* The end of a connection is certain, though it has its place until the application was told. */
void comch_server_conn_leaves(struct rte_comch_conn *conn);
void comch_server_conn_ended(struct rte_comch_conn *conn);

#endif /* COMCH_SERVER_H */
