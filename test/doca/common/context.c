/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "common/context.h"
#include "common/result.h"

void
state_log_note(const union doca_data user_data, struct doca_ctx *ctx,
		enum doca_ctx_states prev, enum doca_ctx_states next)
{
	struct state_log *s = user_data.ptr;

	T_LT(s->nb, MAX_STATES);
	s->user_data = user_data;
	s->prev[s->nb] = prev;
	s->next[s->nb++] = next;
	s->ctx = ctx;
	T_EQ(ctx_state(ctx), next);
}

void
state_log_check(const struct state_log *s)
{
	/* To each state, from which. */
	static const unsigned int from[] = {
		[DOCA_CTX_STATE_IDLE] = 1 << DOCA_CTX_STATE_STARTING |
			1 << DOCA_CTX_STATE_RUNNING | 1 << DOCA_CTX_STATE_STOPPING,
		[DOCA_CTX_STATE_STARTING] = 1 << DOCA_CTX_STATE_IDLE,
		[DOCA_CTX_STATE_RUNNING] = 1 << DOCA_CTX_STATE_IDLE | 1 << DOCA_CTX_STATE_STARTING,
		[DOCA_CTX_STATE_STOPPING] = 1 << DOCA_CTX_STATE_STARTING |
			1 << DOCA_CTX_STATE_RUNNING,
	};
	unsigned int i;

	T_GE(s->nb, 2);
	for (i = 0; i < s->nb; i++) {
		T_EQ(s->prev[i], i == 0 ? DOCA_CTX_STATE_IDLE : s->next[i - 1]);
		T_NE(from[s->next[i]] & 1U << s->prev[i], 0);
		T_EQ(s->next[i] == DOCA_CTX_STATE_IDLE, i == s->nb - 1);
	}
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
