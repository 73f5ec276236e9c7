/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_MEM_H
#define COMCH_MEM_H

/* Registrations: the interface to the rest of the library. */

#include <stdbool.h>
#include <stdint.h>

#include "sdk/comch_mr.h"

/*
 * A registration ends, or its pages were replaced: devices forget it, which may take them
 * long. So it is called with no lock that a poll takes; the registration exists until it
 * returns. Defined by comch_export.c.
 */
void comch_mem_gone(const struct rte_comch_mr *mr);
/*
 * Claim a registration for a peer; rte_comch_mem_unregister() refuses it until released.
 * Returns 0, or -EPERM if it is bound to another trust domain.
 */
int comch_mem_claim(struct rte_comch_mr *mr, bool exported, int32_t uid, const char *func);
void comch_mem_release(struct rte_comch_mr *mr);
/*
 * Begin and end the use by a consumer. exported: the memory will be exported. If the last
 * process that mapped it sealed it for itself, and no consumer uses it, the pages are
 * replaced by a copy, so that another process can map it: this may take long. Any thread,
 * use_begin without a lock that a poll takes.
 */
void comch_mem_use_begin(const struct rte_comch_mr *mr, bool exported);
void comch_mem_use_end(const struct rte_comch_mr *mr);
/* Allow several processes to map it: no importer can seal it for itself. */
void comch_mem_share(const struct rte_comch_mr *mr);
/* Has a process that mapped it sealed it for itself? */
bool comch_mem_is_taken(const struct rte_comch_mr *mr);
/*
 * Changes when a mempool's registration begins or ends: what was looked up by a pool's
 * address is then out of date. Written by comch_mbuf_pool.c.
 */
extern uint32_t comch_mem_pool_changes;
/*
 * Call cb for each registration, in the order of their ids, until it returns
 * other than 0. The table is locked meanwhile: cb must not call this module.
 */
void comch_mem_walk(int (*cb)(const struct rte_comch_mr *mr, void *arg), void *arg);

#endif /* COMCH_MEM_H */
