/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The conformance suite on the shared-memory driver with a DMA device. */

#include <criterion/criterion.h>

#include "conf.h"

COMCH_CONFORMANCE(shm_dma, &conf_driver_shm_dma)
