/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_GATHER_H
#define COMCH_GATHER_H

/* An iterator over a message's payload, in one segment or a list, for piecewise copies. */

#include <stdint.h>
#include <string.h>

#include <rte_common.h>

#include "rte_comch_dp.h"

struct comch_gather {
	const struct rte_comch_sge *sge;
	uint32_t nb_sges;
	const uint8_t *addr; /* remainder of the current segment */
	uint32_t left;
};

static inline void
comch_gather_init(struct comch_gather *g, const struct rte_comch_op *op)
{
	if (op->flags & RTE_COMCH_OP_F_SGL) {
		g->sge = op->addr;
		g->nb_sges = op->nb_sges;
		g->addr = NULL;
		g->left = 0;
	} else {
		g->sge = NULL;
		g->nb_sges = 0;
		g->addr = op->addr;
		g->left = op->len;
	}
}

/* Copy the next len bytes, or as many as remain. */
static inline void
comch_gather_copy(struct comch_gather *g, void *dst, uint32_t len)
{
	uint8_t *to = dst;
	uint32_t k;

	while (len > 0) {
		if (g->left == 0) {
			if (g->nb_sges == 0)
				return;
			g->addr = g->sge->addr;
			g->left = g->sge->len;
			g->sge++;
			g->nb_sges--;
			continue;
		}
		k = RTE_MIN(len, g->left);
		memcpy(to, g->addr, k);
		to += k;
		len -= k;
		g->addr += k;
		g->left -= k;
	}
}

#endif /* COMCH_GATHER_H */
