/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef API_DOCA_H
#define API_DOCA_H

/**
 * @file
 * Helpers shared by the backends of DOCA APIs: the device and error reports.
 *
 * The device is the first one of this side in the device table; the DPU side
 * also opens its first representor.
 */

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>

#include "engine/link.h"

/** An open device. */
struct doca_device {
	struct doca_dev *dev;
	struct doca_dev_rep *rep; /**< DPU side only. */
};

/** A progress engine. */
struct doca_poll {
	struct link_poll base;
	struct doca_pe *pe;
};

/** Open the device. @return 0 or link_fail() */
int doca_device_open(struct link *link, struct doca_device *d);

/** Close the device; tolerates a failed open. */
void doca_device_close(struct doca_device *d);

/** The device of a link of DOCA Comch. */
struct doca_dev *doca_link_dev(const struct link *link);

/** Is *ret* success or in progress? If not, link_fail() with *what*. */
bool doca_ok(struct link *link, doca_error_t ret, const char *what);

/** State of a context; IDLE for NULL. */
static inline enum doca_ctx_states
doca_state(const struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	return doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS ? state :
			DOCA_CTX_STATE_IDLE;
}

/** Connect a context to a progress engine and start it. */
bool doca_start(struct link *link, struct link_poll *poll, struct doca_ctx *ctx, void *owner,
		const char *what);

#endif /* API_DOCA_H */
