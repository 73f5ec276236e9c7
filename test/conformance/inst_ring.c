/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The conformance suite on the driver for one EAL. */

#include <criterion/criterion.h>

#include "conf.h"

COMCH_CONFORMANCE(ring, &conf_driver_ring)
