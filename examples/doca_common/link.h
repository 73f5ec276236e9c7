/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef LINK_H
#define LINK_H

/*
 * Code shared by the examples with doca_comch: one connection between a server on the DPU
 * and a client on the host. Both sides are built from the same source;
 * doca_build_config.h defines DOCA_ARCH_DPU for the DPU side.
 *
 * All callbacks run in doca_pe_progress(), that is, within link_run() and link_close(),
 * so no locks are needed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_comch.h>

#include "engine.h"

/* Maximum number of messages in flight: each has a task. */
#define LINK_TASKS 32

struct link {
	struct side side; /* first: see side_options() */

	/* Callbacks of the application; may be NULL, except is_done. */
	void (*on_up)(struct link *link);
	void (*on_msg)(struct link *link, const void *data, uint32_t len);
	void (*on_sent)(struct link *link); /* a message was sent, so a task is free */
	void (*on_consumer)(struct link *link, uint32_t id);
	void (*on_turn)(struct link *link); /* after each progress */
	bool (*is_done)(const struct link *link);

	struct doca_pe *pe;
	struct doca_comch_server *server; /* DPU */
	struct doca_comch_client *client; /* host */
	struct doca_ctx *ctx;             /* of the server or client */
	struct doca_comch_connection *conn; /* NULL while not connected */
	bool was_up;
};

/* Open the device, then listen or connect. */
doca_error_t link_open(struct link *link);

/*
 * Send a message. Its memory must not change until on_sent(). NO_MEMORY: all tasks are
 * in use; continue in on_sent().
 */
doca_error_t link_send(struct link *link, const void *data, size_t len);

/* Progress, sleeping in between, until is_done(), a disconnect or Ctrl-C. */
void link_run(struct link *link);

/* Disconnect and free all resources. */
void link_close(struct link *link);

#endif /* LINK_H */
