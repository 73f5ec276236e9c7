/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMMON_CONTEXT_H
#define COMMON_CONTEXT_H

/* The states of a context. */

#include <stdbool.h>

#include <doca_ctx.h>

#define MAX_STATES 16
/* The states that a context went through. */
struct state_log {
	unsigned int nb;
	enum doca_ctx_states prev[MAX_STATES];
	enum doca_ctx_states next[MAX_STATES];
	union doca_data user_data;
	struct doca_ctx *ctx;
};

/* Note a change. The callback of contexts whose user data is a structure that begins with a log. */
void state_log_note(const union doca_data user_data, struct doca_ctx *ctx,
		enum doca_ctx_states prev, enum doca_ctx_states next);

/* The context was started, possibly ran, and is IDLE again: its states had the documented order. */
void state_log_check(const struct state_log *log);

enum doca_ctx_states ctx_state(struct doca_ctx *ctx);
bool ctx_is_idle(struct doca_ctx *ctx);
bool ctx_is_running(struct doca_ctx *ctx);

#endif /* COMMON_CONTEXT_H */
