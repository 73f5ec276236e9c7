/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef LINK_DOCA_H
#define LINK_DOCA_H

/**
 * @file
 * Connections made by DOCA's calls, as far as producers and consumers have to
 * know them.
 */

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_pe.h>

#include "dev_doca.h"

struct link_doca_client;

/** Instead of what struct link has for librte_comch. */
struct link_doca {
	struct dev_doca dev;
	struct doca_pe *pe;
	struct doca_comch_server *server;  /**< DPU side. */
	struct link_doca_client *clients;  /**< Host side. */
	uint32_t nb_up;                    /**< DPU side: connections. */
};

/** State of a context; IDLE for NULL. */
static inline enum doca_ctx_states
link_doca_state(const struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	return doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS ? state :
			DOCA_CTX_STATE_IDLE;
}

/** Sleep on an engine. */
void link_doca_sleep(struct doca_pe *pe, int fd);

#endif /* LINK_DOCA_H */
