/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The conformance suite on the shared-memory driver. */

#include "conf.h"

static const struct t_driver driver_shm = {
	.name = "comch_shm",
	.has_dir = true,
	.has_kernel_peer = true,
	.has_export_eal = true,
};

COMCH_CONFORMANCE(shm, &driver_shm)
