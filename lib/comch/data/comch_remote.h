/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_REMOTE_H
#define COMCH_REMOTE_H

/* The peer's consumers. The connection's thread. */

#include "data/comch_data.h"

int comch_remote_on_consumer_new(struct rte_comch_conn *conn,
		const struct comch_wire_frame *f, struct rte_comch_ticket *ticket,
		struct comch_run *run);
int comch_remote_on_consumer_gone(struct rte_comch_conn *conn,
		const struct comch_wire_frame *f, struct rte_comch_ticket *ticket,
		struct comch_run *run);
/* Make the consumer that was put off, if this run may. True: it still is. */
bool comch_remote_step(struct rte_comch_conn *conn, struct comch_run *run);
/* The connection ends: drop it. */
void comch_remote_forget_new(struct rte_comch_conn *conn);
/* 0, or -EBUSY: its driver still needs it. */
int comch_remote_free(struct rte_comch_conn *conn, struct rte_comch_remote *remote);
void comch_remote_free_all(struct rte_comch_conn *conn);

#endif /* COMCH_REMOTE_H */
