/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DMA_H
#define COMCH_DMA_H

/*
 * The DMA device that copies large payloads for the producers of a comch device. A producer takes
 * a queue before it starts copies, and gives it back when none is in flight.
 */

#include <stddef.h>
#include <stdint.h>

#include "rte_comch_stats.h"

#include "sdk/comch_dma_dev.h"

/* What a comch device has of it. */
struct comch_dma {
	struct comch_eal_dev *dev; /* NULL: none */
	int16_t id;                /* of the rte_dmadev */
	uint32_t min, max;         /* the core copies payloads that are shorter or longer, bytes */
	/* Counters. Atomic. */
	uint64_t copies;           /* payloads that the DMA device copied */
	uint64_t bytes;            /* of them */
	uint64_t errors;           /* that failed there; the core copied, if it was not in vain */
	uint64_t busy;             /* payloads that the core copied for want of a queue or room */
};

/* Number of counters that comch_dma_xstats() has. */
#define COMCH_DMA_XSTATS 4

/* Set dma->dev and dma->id. As comch_eal_dev_open(). */
int comch_dma_open(struct comch_dma *dma, const char *name, char *why, size_t size);
/* No copy is in flight. Nothing to do without a device. */
void comch_dma_close(struct comch_dma *dma);
/* As rte_comch_driver_ops.dev_xstats. */
unsigned int comch_dma_xstats(const struct comch_dma *dma, struct rte_comch_xstat *xstats,
		unsigned int n);

#endif /* COMCH_DMA_H */
