/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ENGINE_H
#define ENGINE_H

/*
 * Code shared by the DOCA examples with a progress engine: contexts that are started and
 * stopped, and a thread that sleeps while there is nothing to do. All contexts are on one
 * engine, so their callbacks run in doca_pe_progress() and no locks are needed.
 */

#include <doca_ctx.h>
#include <doca_pe.h>

#include "side.h"

/* State of a context; IDLE for NULL. */
enum doca_ctx_states engine_state(const struct doca_ctx *ctx);

/* Connect a context to the engine, set its user data and start it. */
doca_error_t engine_start(struct doca_pe *pe, struct doca_ctx *ctx, void *user);

/* The same for a client; then progress until it is RUNNING. Retry if no server listens. */
doca_error_t engine_connect(struct doca_pe *pe, struct doca_ctx *ctx, void *user);

/* Stop a context, which may be NULL, and progress until it is IDLE. */
void engine_stop(struct doca_pe *pe, struct doca_ctx *ctx);

/* Sleep until an event, or Ctrl-C. */
void engine_sleep(struct doca_pe *pe, struct side *side);

#endif /* ENGINE_H */
