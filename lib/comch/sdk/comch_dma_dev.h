/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DMA_DEV_H
#define COMCH_DMA_DEV_H

/*
 * DMA devices (rte_dmadev) that copy between memory of this process.
 *
 * A device must work on virtual addresses (RTE_DMA_CAPA_SVA): then it reaches all that this process
 * has mapped, a peer's buffers among it, and nothing has to be mapped for it.
 */

#include "sdk/comch_eal_dev.h"

/* Starting a copy, and finding it complete, takes about as long as copying that much. */
#define COMCH_DMA_DEFAULT_MIN (UINT32_C(64) << 10)

extern const struct comch_eal_dev_class comch_dma_dev_class;

#endif /* COMCH_DMA_DEV_H */
