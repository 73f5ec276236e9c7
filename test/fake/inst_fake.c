/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Runs the conformance suite on the driver in memory. */

#include "conf.h"
#include "fake_private.h"

static const struct t_driver driver_fake = {
	.name = "comch_fake", .lose = fake_listener_lose, .shows_heap = true,
};

COMCH_CONFORMANCE(fake, &driver_fake)
