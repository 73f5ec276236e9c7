/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_IMPORT_H
#define COMCH_IMPORT_H

/* Memory of the peer. Runs in the connection's thread. */

#include "data/comch_fast_path.h"

int comch_import_on_add(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket, struct comch_run *run);
int comch_import_on_del(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket, struct comch_run *run);
/* Upper bound of the peer's regions that comch_*_free_all() free. */
uint32_t comch_import_nb_regions(const struct rte_comch_conn *conn);
void comch_import_free_all(struct rte_comch_conn *conn);

#endif /* COMCH_IMPORT_H */
