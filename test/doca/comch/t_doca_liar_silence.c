/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* A server that falls silent at each step of a client of doca_comch. Takes ten seconds: that is
 * how long a handshake may take.
 */

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comch/liar.h"

/* A client in a handshake with a silent server. */
struct silent {
	struct side side;
	struct raw_peer a;
};

static void
silent_start(struct liar *l, struct silent *s, bool greets)
{
	int sock;

	client_create_on(&s->side, LIAR, l->honest.client.pe);
	T_IS(doca_ctx_start(s->side.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(liar_progress(l),
		(sock = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0);
	raw_prepare(&s->a, sock, RAW_CELLS);
	if (!greets)
		return;
	raw_hello(&s->a);
	T_WAIT(liar_progress(l), raw_is_up(&s->a));
}

static void
silent_end(struct silent *s)
{
	state_log_check(&s->side.states);
	T_EQ(s->side.states.nb, 2);
	side_destroy(&s->side);
	raw_close(&s->a);
}

/* A progress; if nothing happens, sleep until something does. */
static void
progress_or_sleep(struct doca_pe *pe)
{
	doca_notification_handle_t handle;

	if (doca_pe_progress(pe) != 0)
		return;
	T_OK(doca_pe_get_notification_handle(pe, &handle));
	T_OK(doca_pe_request_notification(pe));
	T_CHECK(t_readable(handle, T_TIMEOUT_MS));
	T_OK(doca_pe_clear_notification(pe, handle));
}

/* Within the handshake for ten seconds, later until the program has waited enough. */
LIAR_CASE(silence, l)
{
	struct silent s[2];
	unsigned int i;
	int step;

	for (i = 0; i < 2; i++)
		silent_start(l, &s[i], i == 1);
	for (step = LIE_CONNECTED; step < LIE_NB_STEPS; step++) {
		liar_reach(l, step);
		T_SETTLE(liar_progress(l));
		liar_check_honest(l);
		T_CHECK(!liar_is_over(l));
		liar_stop(l);
	}
	T_WAIT(progress_or_sleep(l->honest.client.pe),
		ctx_is_idle(s[0].side.ctx) && ctx_is_idle(s[1].side.ctx));
	liar_check_honest(l);
	for (i = 0; i < 2; i++)
		silent_end(&s[i]);
}
