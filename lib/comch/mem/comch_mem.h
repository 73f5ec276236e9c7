/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_MEM_H
#define COMCH_MEM_H

/* Registrations, as the rest of the library sees them. */

#include <stdbool.h>
#include <stdint.h>

#include "sdk/comch_mr.h"

/*
 * Claim a registration for a peer: it may not be unregistered any more.
 * Returns 0, or -EPERM if it is bound to another trust domain.
 */
int comch_mem_claim(struct rte_comch_mr *mr, bool shown, int32_t uid, const char *func);
void comch_mem_release(struct rte_comch_mr *mr);
/*
 * A consumer starts to use it, and is IDLE again. shown: the peer will be asked
 * to map it. If the process that mapped it last sealed it for itself, and no
 * consumer uses it, its pages are replaced by fresh ones with the same contents,
 * so that another process can map it: copies them. Any thread.
 */
void comch_mem_use_begin(const struct rte_comch_mr *mr, bool shown);
void comch_mem_use_end(const struct rte_comch_mr *mr);
/* It is for several processes: no importer may seal it for itself. */
void comch_mem_share(const struct rte_comch_mr *mr);
/* Did a process that mapped it seal it for itself? */
bool comch_mem_is_taken(const struct rte_comch_mr *mr);
/*
 * Call cb for each registration, in the order of their ids, until it returns
 * other than 0. The table is locked meanwhile: cb must not come back to it.
 */
void comch_mem_walk(int (*cb)(const struct rte_comch_mr *mr, void *arg), void *arg);

#endif /* COMCH_MEM_H */
