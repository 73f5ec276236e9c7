/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_MEM_H
#define COMCH_MEM_H

/* Registrations, as the rest of the library sees them. */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "rte_comch_mem.h"
#include "rte_comch_driver.h"
#include "comch_rec.h"

struct comch_mem_block;

struct rte_comch_mr {
	uint8_t *addr;
	size_t len;
	enum rte_comch_mem_kind kind;
	uint32_t flags;
	uint32_t id;
	uint32_t nb_users;             /* guarded by the table's lock */
	struct comch_mem_block *block; /* SEALED */
	struct rte_mempool *mp;        /* registered with a pool */
	/* the trust domain it was first shown to; guarded by the table's lock */
	bool bound;
	int32_t bound_uid;
	char bound_func[RTE_COMCH_DEV_NAME_SIZE];
};

/* A registration that a consumer posts from. */
struct comch_cons_mr {
	struct rte_comch_mr *mr;
	uint16_t region; /* export id, or COMCH_REGION_STAGED */
	uint16_t ready;  /* written by the connection's thread */
	uint8_t *addr;
	size_t len;
};

/*
 * All that a consumer may post from. Entries are added by the connection's thread
 * and stay; a post that sees the count (acquire) sees the entry.
 */
struct comch_cons_mrs {
	uint32_t nb;
	struct comch_cons_mr mr[COMCH_MAX_IMPORTS];
};

/* Is [addr, addr + len) within the registration? */
static inline bool
comch_mem_within(const struct rte_comch_mr *mr, const void *addr, size_t len)
{
	uintptr_t off = (uintptr_t)addr - (uintptr_t)mr->addr;

	return off <= mr->len && len <= mr->len - off;
}

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
