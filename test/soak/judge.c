/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * What the documents promise of a connection that has ended, by its books:
 *
 *   - messages are delivered in order, once and whole: the receiver has checked each, so
 *     their number says all
 *   - a message that completed with 0 is delivered; of control messages even if the receiver
 *     is killed: its program had them. Messages of the fast path are in its memory, unless
 *     it ended the connection with -ETIMEDOUT
 *   - a message that was refused is not delivered
 *   - the side that ends a connection has all its control messages delivered, and so has one
 *     that is killed, if they are in memory that survives it
 *   - each message that is not silent completes once, if the sender lives
 */

#include "boss.h"
#include "world.h"

/* Nothing waits longer than this. */
#define STUCK_MS 20000

static uint64_t nb_passed;

#define VERDICT(ok, b, c, from, what, fmt, ...) \
	do { \
		if (!(ok)) { \
			soak_fault(b, "connection %llu, %s to %s, producer %u, consumer %u: " \
				fmt, (unsigned long long)(c)->serial, \
				(from) == SOAK_HOST ? "client" : "server", \
				(from) == SOAK_HOST ? "server" : "client", (what)->prod_id, \
				(what)->cons_id, ##__VA_ARGS__); \
			(c)->has_failed = true; \
		} \
	} while (0)

#define LLU(x) ((unsigned long long)(x))

static void
judge_stream(struct soak_books *b, struct soak_conn *c, enum soak_side from,
		const struct soak_stream *s)
{
	const struct soak_end *sender = &c->end[from], *receiver = &c->end[!from];
	const bool is_ctrl = s->prod_id == 0;
	const bool sender_lived = sender->state == SOAK_END_CLOSED;
	const bool receiver_lived = receiver->state == SOAK_END_CLOSED;
	/* It has waited a second for a sender that was stopped in the middle of a message. */
	const bool gave_up = receiver->status == -ETIMEDOUT;
	const uint64_t most = sender_lived ? s->accepted : s->offered;
	/* Of one that is about to end, messages are accepted to be refused. */
	const uint64_t sent = RTE_MIN(s->accepted, s->refused);

	VERDICT(s->delivered <= most, b, c, from, s, "%llu messages delivered, %llu sent",
		LLU(s->delivered), LLU(most));
	VERDICT(s->delivered <= s->refused, b, c, from, s, "message %llu was refused, and %llu "
		"were delivered", LLU(s->refused), LLU(s->delivered));
	VERDICT(!sender_lived || s->done == s->owed, b, c, from, s,
		"%llu of %llu messages completed", LLU(s->done), LLU(s->owed));
	if (is_ctrl || (receiver_lived && !gave_up))
		VERDICT(s->delivered >= s->ok_end, b, c, from, s, "%llu messages were said to be "
			"delivered, %llu were", LLU(s->ok_end), LLU(s->delivered));
	/* Unless the receiver gave up at the same time: both ended it. */
	if (is_ctrl && receiver_lived && !receiver->initiated && !gave_up &&
			(sender_lived ? sender->initiated : soak_world.keeps_accepted))
		VERDICT(s->delivered >= sent, b, c, from, s, "%llu messages sent before the "
			"end, %llu delivered", LLU(sent), LLU(s->delivered));
}

static const char *
state_text(const struct soak_end *e)
{
	switch (e->state) {
	case SOAK_END_NONE:
		return "not connected";
	case SOAK_END_OPEN:
		return "open";
	case SOAK_END_CLOSED:
		return "closed";
	default:
		return "killed";
	}
}

static void
judge(struct soak_books *b, struct soak_conn *c)
{
	const struct soak_end *e;
	unsigned int side;
	uint32_t i;

	/* A client that was never connected took nothing. */
	if (c->is_void)
		c->end[SOAK_HOST].initiated = 1;
	for (side = 0; side < SOAK_SIDES; side++) {
		judge_stream(b, c, side, &c->end[side].ctrl);
		for (i = 0; i < c->end[side].nb_streams; i++)
			judge_stream(b, c, side, &c->end[side].streams[i]);
	}
	/* One that lives, and has asked for nothing, sees a reason. */
	e = c->end;
	if (e[0].state == SOAK_END_CLOSED && e[1].state == SOAK_END_CLOSED &&
			!e[0].initiated && !e[1].initiated && e[0].status != -ETIMEDOUT &&
			e[1].status != -ETIMEDOUT) {
		soak_fault(b, "connection %llu ended by itself", LLU(c->serial));
		c->has_failed = true;
	}
	if (!c->has_failed) {
		nb_passed++;
		return;
	}
	for (side = 0; side < SOAK_SIDES; side++)
		soak_fault(b, "connection %llu, %s: %s%s, status %d, %s", LLU(c->serial),
			side == SOAK_HOST ? "client" : "server", state_text(&c->end[side]),
			c->end[side].initiated ? " by its own wish" : "", c->end[side].status,
			c->end[side].text);
}

/* NONE or OPEN becomes KILLED. */
static void
mark(struct soak_end *e)
{
	uint32_t state = SOAK_END_NONE;

	if (!__atomic_compare_exchange_n(&e->state, &state, SOAK_END_KILLED, false,
			__ATOMIC_ACQ_REL, __ATOMIC_RELAXED) && state == SOAK_END_OPEN)
		soak_set(&e->state, SOAK_END_KILLED);
}

static void
mark_dead(struct soak_books *b, struct soak_conn *c)
{
	const struct soak_proc *client = &b->procs[c->client];
	const int32_t server_pid = soak_get(&c->server_pid);

	if (client->pid == 0 || client->life != c->life) {
		if (soak_get(&c->end[SOAK_HOST].state) == SOAK_END_NONE)
			soak_set(&c->is_void, true);
		mark(&c->end[SOAK_HOST]);
	}
	if (server_pid != 0 && server_pid != b->procs[0].pid)
		mark(&c->end[SOAK_DPU]);
}

static bool
is_gone(const struct soak_end *e)
{
	return soak_get(&e->state) == SOAK_END_CLOSED || soak_get(&e->state) == SOAK_END_KILLED;
}

/*
 * The client has gone at the beginning, and the server does not know it, or not yet: keep it
 * from taking it up. Of one that was sent a message it has to hear.
 */
static bool
is_orphan(struct soak_conn *c)
{
	const struct soak_end *host = &c->end[SOAK_HOST];

	if (!is_gone(host) || soak_get(&c->end[SOAK_DPU].state) != SOAK_END_NONE ||
			host->ctrl.accepted > 0)
		return false;
	mark(&c->end[SOAK_DPU]);
	return true;
}

static void
watch_stream(struct soak_books *b, struct soak_conn *c, enum soak_side from,
		struct soak_stream *s, uint64_t now)
{
	const uint64_t accepted = RTE_MIN(soak_get(&s->accepted), soak_get(&s->refused));
	const uint64_t delivered = soak_get(&s->delivered);
	const uint64_t done = soak_get(&s->done), owed = soak_get(&s->owed);
	const uint64_t ok_end = soak_get(&s->ok_end);
	/* With those it owes: they are counted before the messages are. */
	const uint64_t sum = accepted + delivered + done + ok_end + owed;

	if (sum != s->seen_sum) {
		s->seen_sum = sum;
		s->seen_ms = now;
		return;
	}
	if (now < s->seen_ms + STUCK_MS * t_patience() || c->has_failed)
		return;
	VERDICT(s->prod_id != 0 || accepted <= delivered, b, c, from, s,
		"nothing moves: %llu sent, %llu delivered", LLU(accepted), LLU(delivered));
	VERDICT(ok_end <= delivered, b, c, from, s, "nothing moves: %llu published, %llu "
		"delivered", LLU(ok_end), LLU(delivered));
	VERDICT(owed <= done, b, c, from, s, "nothing moves: %llu of %llu messages completed",
		LLU(done), LLU(owed));
}

static void
watch(struct soak_books *b, struct soak_conn *c, uint64_t now)
{
	unsigned int side;
	uint32_t i;

	if (is_gone(&c->end[SOAK_HOST]) || is_gone(&c->end[SOAK_DPU])) {
		if (c->ended_ms == 0)
			c->ended_ms = now;
		if (now > c->ended_ms + 2 * STUCK_MS * t_patience() && !c->has_failed) {
			soak_fault(b, "connection %llu ends at one side only: client %s, "
				"server %s", LLU(c->serial), state_text(&c->end[SOAK_HOST]),
				state_text(&c->end[SOAK_DPU]));
			c->has_failed = true;
		}
		return;
	}
	for (side = 0; side < SOAK_SIDES; side++) {
		watch_stream(b, c, side, &c->end[side].ctrl, now);
		for (i = 0; i < soak_get(&c->end[side].nb_streams); i++)
			watch_stream(b, c, side, &c->end[side].streams[i], now);
	}
}

void
judge_all(struct soak_books *b)
{
	const uint64_t now = t_now_ms();
	struct soak_conn *c;
	unsigned int i;

	for (i = 0; i < SOAK_CONNS; i++) {
		c = &b->conns[i];
		if (soak_get(&c->serial) == 0 || soak_get(&c->serial) == SOAK_NONE)
			continue;
		mark_dead(b, c);
		if (is_orphan(c)) {
			soak_conn_release(c);
		} else if (is_gone(&c->end[SOAK_HOST]) && is_gone(&c->end[SOAK_DPU])) {
			judge(b, c);
			soak_conn_release(c);
		} else {
			watch(b, c, now);
		}
	}
}

uint64_t
judge_passed(void)
{
	return nb_passed;
}

uint32_t
judge_left(const struct soak_books *b)
{
	uint32_t n = 0;
	unsigned int i;

	for (i = 0; i < SOAK_CONNS; i++)
		n += b->conns[i].serial != 0 && b->conns[i].serial != SOAK_NONE;
	return n;
}
