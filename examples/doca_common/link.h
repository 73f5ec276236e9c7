/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef LINK_H
#define LINK_H

/*
 * What the examples for DOCA share: one connection between a program on the DPU,
 * which has the server, and one on the host, which has the client. Both are
 * built from the same source; DOCA_ARCH_DPU, which doca_build_config.h defines,
 * says for which side.
 *
 * All callbacks are called by doca_pe_progress(), that is, within link_run() and
 * link_close(); nothing here needs a lock.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>

#include "side.h"

/* Messages that may be on their way at a time: each has a task. */
#define LINK_TASKS 32

struct link {
	struct side side; /* first: see side_options() */

	/* The application's; NULL: it does not care. */
	void (*on_up)(struct link *link);
	void (*on_msg)(struct link *link, const void *data, uint32_t len);
	void (*on_sent)(struct link *link); /* a message; there is a free task */
	void (*on_consumer)(struct link *link, uint32_t id);
	void (*on_turn)(struct link *link); /* after each progress */
	bool (*is_done)(const struct link *link);

	struct doca_pe *pe;
	struct doca_comch_server *server; /* DPU */
	struct doca_comch_client *client; /* host */
	struct doca_ctx *ctx;             /* the one of the two, as a context */
	struct doca_comch_connection *conn; /* NULL: not up yet, or not any more */
	bool was_up;
};

/* Open the device, then listen or connect. */
doca_error_t link_open(struct link *link);

/*
 * Send a message, whose memory stays as it is until on_sent(). NO_MEMORY: all
 * tasks are on their way; go on when on_sent() says so.
 */
doca_error_t link_send(struct link *link, const void *data, size_t len);

/* Progress, and sleep in between, until is_done(), the peer's end or Ctrl-C. */
void link_run(struct link *link);

/* The state of a context; IDLE if there is none. */
enum doca_ctx_states link_state(const struct doca_ctx *ctx);

/* Progress until a context is idle; it was stopped before. */
void link_until_idle(struct link *link, struct doca_ctx *ctx);

/* Disconnect, and give everything back. */
void link_close(struct link *link);

#endif /* LINK_H */
