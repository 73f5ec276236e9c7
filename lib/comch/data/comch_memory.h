/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_MEMORY_H
#define COMCH_MEMORY_H

/* Memory that the two ends show each other. The connection's thread. */

#include "data/comch_data.h"

/* comch_export.c: what we show */
/* Show a registration, or find that it is shown. Its number or -ENOSPC. lock held. */
int comch_export_get(struct rte_comch_conn *conn, struct rte_comch_mr *mr);
/* One consumer less; the last one takes it from the peer. lock held. */
void comch_export_put(struct rte_comch_conn *conn, int id);
int comch_export_on_ack(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket, struct comch_run *run);

/* comch_import.c: what we are shown */
int comch_import_on_add(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket, struct comch_run *run);
int comch_import_on_del(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket, struct comch_run *run);
/* Regions of the peer: comch_import_free_all() and comch_remote_free_all() free them. */
uint32_t comch_import_nb_regions(const struct rte_comch_conn *conn);
void comch_import_free_all(struct rte_comch_conn *conn);

/* comch_reclaim.c: when what producers use without locks may be freed */
/*
 * Something was hidden from producers: free it once they have passed, see comch_dir.h.
 * One of both is given. lock held.
 */
void comch_reclaim_later(struct rte_comch_conn *conn, struct rte_comch_remote *remote,
		struct rte_comch_region *import);
/* True: nothing waits. */
bool comch_reclaim_step(struct rte_comch_conn *conn);
void comch_reclaim_free_all(struct rte_comch_conn *conn);

#endif /* COMCH_MEMORY_H */
