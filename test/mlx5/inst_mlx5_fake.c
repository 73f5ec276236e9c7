/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The conformance suite on the RDMA driver over verbs in memory. */

#include "conf.h"
#include "u_driver.h"

COMCH_CONFORMANCE(mlx5_fake, &u_driver)
