/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_REMOTE_H
#define COMCH_REMOTE_H

/* The peer's consumers. Runs in the connection's thread. */

#include "data/comch_fast_path.h"

int comch_remote_on_consumer_new(struct rte_comch_conn *conn,
		const struct comch_wire_frame *f, struct rte_comch_ticket *ticket,
		struct comch_run *run);
int comch_remote_on_consumer_gone(struct rte_comch_conn *conn,
		const struct comch_wire_frame *f, struct rte_comch_ticket *ticket,
		struct comch_run *run);
/* Retry a deferred CONSUMER_NEW. True: call again; else the driver tells news, or it is done. */
bool comch_remote_step(struct rte_comch_conn *conn, struct comch_run *run);
/* The connection ends: drop the deferred CONSUMER_NEW. */
void comch_remote_drop_new(struct rte_comch_conn *conn);
/* Returns 0, or -EBUSY: the driver still uses it. */
int comch_remote_free(struct rte_comch_conn *conn, struct rte_comch_remote *remote);
void comch_remote_free_all(struct rte_comch_conn *conn);

#endif /* COMCH_REMOTE_H */
