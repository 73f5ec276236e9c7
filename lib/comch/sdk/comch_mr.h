/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_MR_H
#define COMCH_MR_H

/* Registrations: the structures that bursts use. comch_mem.h has the functions. */

#include <stdbool.h>
#include <stdint.h>

#include "rte_comch_mem.h"
#include "sdk/comch_rec.h"

/* Maximum registrations of the process: the limit of their ids. */
#define COMCH_MAX_MRS 4096

struct comch_mem_block;

struct rte_comch_mr {
	uint8_t *addr;
	size_t len;
	enum rte_comch_mem_kind kind;
	uint32_t flags;
	uint32_t id;
	uint32_t nb_users;             /* guarded by the table's lock */
	struct comch_mem_block *block; /* SEALED */
	const struct rte_mempool *mp;        /* mempool of the memory; NULL: none */
	/* trust domain of the first export; guarded by the table's lock */
	bool bound;
	int32_t bound_uid;
	char bound_func[RTE_COMCH_DEV_NAME_SIZE];
};

/* A registration that a consumer posts from. */
struct comch_cons_mr {
	struct rte_comch_mr *mr;
	uint16_t region; /* export id, or COMCH_REGION_STAGED */
	uint16_t ready;  /* set by the connection's thread */
	uint8_t *addr;
	size_t len;
};

/*
 * The registrations that a consumer may post from. The connection's thread adds
 * entries, which stay until the consumer is destroyed. A post that loads nb (acquire)
 * sees the entries.
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

#endif /* COMCH_MR_H */
