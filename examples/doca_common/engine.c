/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"

/* How long and how often a client retries if no server listens. */
#define CONNECT_S 10
#define RETRY_US 100000

enum doca_ctx_states
engine_state(const struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	return ctx != NULL && doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS ? state :
		DOCA_CTX_STATE_IDLE;
}

doca_error_t
engine_start(struct doca_pe *pe, struct doca_ctx *ctx, void *user)
{
	const union doca_data data = { .ptr = user };
	doca_error_t result;

	result = doca_pe_connect_ctx(pe, ctx);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(ctx, data);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(ctx);
	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result;
}

/* A client that found no server becomes IDLE and can be started again. */
doca_error_t
engine_connect(struct doca_pe *pe, struct doca_ctx *ctx, void *user)
{
	time_t end = time(NULL) + CONNECT_S;
	doca_error_t result;

	result = engine_start(pe, ctx, user);
	while (result == DOCA_SUCCESS && engine_state(ctx) != DOCA_CTX_STATE_RUNNING) {
		if (doca_pe_progress(pe) != 0)
			continue;
		if (engine_state(ctx) != DOCA_CTX_STATE_IDLE) {
			usleep(100);
			continue;
		}
		if (side_is_ending() || time(NULL) >= end)
			return DOCA_ERROR_CONNECTION_ABORTED;
		usleep(RETRY_US);
		result = doca_ctx_start(ctx);
		if (result == DOCA_ERROR_IN_PROGRESS)
			result = DOCA_SUCCESS;
	}
	return result;
}

void
engine_stop(struct doca_pe *pe, struct doca_ctx *ctx)
{
	if (engine_state(ctx) != DOCA_CTX_STATE_IDLE)
		doca_ctx_stop(ctx);
	while (engine_state(ctx) != DOCA_CTX_STATE_IDLE)
		doca_pe_progress(pe);
}

/*
 * Arm, sleep, clear. Events since the last progress make the handle readable at once,
 * so none is missed.
 */
void
engine_sleep(struct doca_pe *pe, struct side *side)
{
	struct pollfd pfd = { .events = POLLIN };

	if (side_check(side, doca_pe_get_notification_handle(pe, &pfd.fd),
				"get notification handle") &&
			side_check(side, doca_pe_request_notification(pe), "arm")) {
		ppoll(&pfd, 1, NULL, side_sleep_mask);
		doca_pe_clear_notification(pe, pfd.fd);
	}
}
