/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_EXPORT_H
#define COMCH_EXPORT_H

/* Our memory, exported to the peer. Runs in the connection's thread. */

#include "data/comch_fast_path.h"

/* Export a registration, or find its export. Returns its number or -ENOSPC. lock held. */
int comch_export_get(struct rte_comch_conn *conn, struct rte_comch_mr *mr);
/*
 * Continue what the driver has in progress. Returns the state: NEW and HIDING are still in
 * progress, and a step may free the export. lock held.
 */
enum comch_export_state comch_export_step(struct rte_comch_conn *conn, int id);
/*
 * Drop a consumer's reference; the last one withdraws the export, which takes until it is
 * not HIDING any more. lock held.
 */
void comch_export_put(struct rte_comch_conn *conn, int id);
int comch_export_on_ack(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket, struct comch_run *run);

#endif /* COMCH_EXPORT_H */
