/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DMA_DEV_H
#define COMCH_DMA_DEV_H

/*
 * DMA devices (rte_dmadev) that copy between memory of this process. libcomch_doca has a copy of
 * its own of this file: a device is for one of the two libraries.
 *
 * A device must work on virtual addresses (RTE_DMA_CAPA_SVA): then it reaches all that this process
 * has mapped, a peer's buffers among it, and nothing has to be mapped for it. This file configures
 * and starts it, once for all users of the process that name it.
 *
 * Its queues (virtual channels) are not thread-safe, so a user takes one before it starts copies,
 * and gives it back when none is in flight. While all are taken, the others copy by their cores.
 */

#include <stddef.h>
#include <stdint.h>

struct comch_dma_dev;

/* Starting a copy, and finding it complete, takes about as long as copying that much. */
#define COMCH_DMA_DEFAULT_MIN (UINT32_C(64) << 10)

/*
 * Open a device. Not thread-safe against a fork, else any thread. 0; or a negative errno, and the
 * reason, and what to do about it, in why.
 */
int comch_dma_dev_open(const char *name, struct comch_dma_dev **dev, char *why, size_t size);
/* No copy is in flight. */
void comch_dma_dev_close(struct comch_dma_dev *dev);
/* Its number among EAL's DMA devices. */
int16_t comch_dma_dev_id(const struct comch_dma_dev *dev);
/* Returns a queue for the caller alone, or -EBUSY. */
int comch_dma_dev_take_queue(struct comch_dma_dev *dev);
void comch_dma_dev_give_queue(struct comch_dma_dev *dev, int queue);

#endif /* COMCH_DMA_DEV_H */
