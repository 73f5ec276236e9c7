/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "common/context.h"
#include "common/result.h"

void
state_log_note(struct state_log *s, struct doca_ctx *ctx, enum doca_ctx_states prev,
		enum doca_ctx_states next)
{
	T_LT(s->nb, MAX_STATES);
	s->prev[s->nb] = prev;
	s->next[s->nb++] = next;
	s->ctx = ctx;
	T_EQ(ctx_state(ctx), next);
}

enum doca_ctx_states
ctx_state(struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	T_OK(doca_ctx_get_state(ctx, &state));
	return state;
}

bool
ctx_is_idle(struct doca_ctx *ctx)
{
	return ctx_state(ctx) == DOCA_CTX_STATE_IDLE;
}

bool
ctx_is_running(struct doca_ctx *ctx)
{
	return ctx_state(ctx) == DOCA_CTX_STATE_RUNNING;
}
