/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_RECLAIM_H
#define COMCH_RECLAIM_H

/* Deferred free of what producers use without locks. Runs in the connection's thread. */

#include "data/comch_fast_path.h"

/*
 * Free a hidden remote or import (the other one is NULL) once producers have passed,
 * see comch_epoch.h. lock held.
 */
void comch_reclaim_later(struct rte_comch_conn *conn, struct rte_comch_remote *remote,
		struct rte_comch_region *import);
/* Is something left to reclaim? The connection's thread. */
bool comch_reclaim_pending(const struct rte_comch_conn *conn);
/* True: nothing is left to reclaim. */
bool comch_reclaim_step(struct rte_comch_conn *conn);
void comch_reclaim_free_all(struct rte_comch_conn *conn);

#endif /* COMCH_RECLAIM_H */
