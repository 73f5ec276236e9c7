/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef APP_H
#define APP_H

/*
 * What a program of either side has: options, a device, a server (on the DPU)
 * or a client (on the host), and one connection.
 * For any release from 2.5 on.
 */

#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>

#include "base.h"
#include "names.h"

struct app {
	struct options options;
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_ctx *ctx;
#ifdef DOCA_ARCH_DPU
	struct doca_dev_rep *rep;
	struct CH(server) *server;
#else
	struct CH(client) *client;
#endif
	struct CH(connection) *conn;
	char *msg;               /* the last message; NULL: none */
	uint32_t consumer_id;    /* the peer's; 0: none yet */
	unsigned int nb_unsent;  /* tasks in flight */
	bool ended;              /* the connection has */
	bool failed;
};

/* Everything up to an established connection. */
bool app_open(struct app *app, const char *program, int argc, char **argv);
bool app_send(struct app *app, const char *text);
/* The connection's orderly end; the exit status. */
int app_close(struct app *app);

/* Progress until a condition is true, or something has failed. */
#define app_until(app, cond) \
	do { \
		while (!(cond) && !(app)->failed) \
			(void)doca_pe_progress((app)->pe); \
	} while (0)

enum doca_ctx_states app_state(struct doca_ctx *ctx);

#endif /* APP_H */
