/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_MEMORY_H
#define COMCH_MEMORY_H

/* Memory that the two ends export to each other. Runs in the connection's thread. */

#include "data/comch_data.h"

/* comch_export.c: our memory, exported to the peer */
/* Export a registration, or find its export. Returns its number or -ENOSPC. lock held. */
int comch_export_get(struct rte_comch_conn *conn, struct rte_comch_mr *mr);
/* Drop a consumer's reference; the last one withdraws the export. lock held. */
void comch_export_put(struct rte_comch_conn *conn, int id);
int comch_export_on_ack(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket, struct comch_run *run);

/* comch_import.c: the peer's memory */
int comch_import_on_add(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket, struct comch_run *run);
int comch_import_on_del(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket, struct comch_run *run);
/* Upper bound of the peer's regions that comch_*_free_all() free. */
uint32_t comch_import_nb_regions(const struct rte_comch_conn *conn);
void comch_import_free_all(struct rte_comch_conn *conn);

/* comch_reclaim.c: deferred free of objects that producers use without locks */
/*
 * Free a hidden remote or import (the other one is NULL) once producers are quiesced,
 * see comch_dir.h. lock held.
 */
void comch_reclaim_later(struct rte_comch_conn *conn, struct rte_comch_remote *remote,
		struct rte_comch_region *import);
/* True: nothing is left to reclaim. */
bool comch_reclaim_step(struct rte_comch_conn *conn);
void comch_reclaim_free_all(struct rte_comch_conn *conn);

#endif /* COMCH_MEMORY_H */
