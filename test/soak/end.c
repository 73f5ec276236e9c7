/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>

#include "actor.h"

/* An end that takes longer to go away is stuck. */
#define STUCK_MS 20000

struct end *
end_new(struct actor *a, struct rte_comch_conn *conn)
{
	struct end *e;

	e = calloc(1, sizeof(*e));
	if (e == NULL)
		T_FAIL("no memory");
	e->a = a;
	e->conn = conn;
	e->change_ms = a->now_ms + soak_rnd_below(&a->rnd, 50);
	e->next = a->ends;
	a->ends = e;
	a->nb_ends++;
	rte_comch_conn_user_data_set(conn, (uintptr_t)e);
	return e;
}

void
end_book(struct end *e, struct soak_conn *book)
{
	e->book = book;
	e->serial = book->serial;
	e->is_quiet = e->serial % 3 == 0;
	e->mine = &book->end[e->a->side];
	e->peers = &book->end[!e->a->side];
}

static void
on_msg(struct end *e, const struct rte_comch_event *ev)
{
	struct soak_books *b = e->a->books;
	struct soak_stream *s;
	struct soak_place at;
	struct soak_msg m;

	/* Its client is dead, and forgotten. */
	if (e->book == NULL)
		return;
	s = &e->peers->ctrl;
	if (s->max_len != e->mine->ctrl.max_len)
		ACTOR_FAULT(e->a, "connection %llu: max_msg_size %u, the peer's is %u",
			(unsigned long long)e->serial, e->mine->ctrl.max_len, s->max_len);
	at.serial = e->serial;
	at.stream = soak_stream_number(e->peers, !e->a->side, s);
	at.seq = s->delivered;
	soak_msg(b, &at, s, &m);
	if (!soak_msg_check(b, &at, &m, ev->msg.data, ev->msg.len, NULL, 0)) {
		e->book->has_failed = true;
		end_leave(e);
	}
	soak_set(&s->delivered, at.seq + 1);
	soak_add(&b->counts.ctrl, 1);
	soak_add(&b->counts.bytes, ev->msg.len);
}

/* SENT events come in order, one for each message that is not silent. */
static void
on_sent(struct end *e, const struct rte_comch_event *ev)
{
	struct soak_stream *s = &e->mine->ctrl;
	struct soak_place at = { .serial = e->serial };
	const uint64_t seq = ev->sent.cookie;
	struct soak_msg m;

	at.stream = soak_stream_number(e->mine, e->a->side, s);
	for (at.seq = e->sent_next; at.seq < seq && at.seq < s->accepted; at.seq++) {
		soak_msg(e->a->books, &at, s, &m);
		if (!m.is_silent)
			break;
	}
	if (at.seq != seq)
		ACTOR_FAULT(e->a, "connection %llu: SENT of message %llu, expected %llu",
			(unsigned long long)e->serial, (unsigned long long)seq,
			(unsigned long long)at.seq);
	e->sent_next = seq + 1;
	at.seq = seq;
	soak_msg(e->a->books, &at, s, &m);
	if (!m.is_silent)
		soak_set(&s->done, s->done + 1);
	if (ev->status == 0)
		soak_set(&s->ok_end, seq + 1);
	else if (ev->status == -EBADFD)
		soak_set(&s->refused, RTE_MIN(s->refused, seq));
	else if (ev->status != -ECONNRESET)
		ACTOR_FAULT(e->a, "connection %llu, message %llu: SENT with %d",
			(unsigned long long)e->serial, (unsigned long long)seq, ev->status);
}

static void
on_disconnected(struct end *e, const struct rte_comch_event *ev)
{
	e->is_down = true;
	if (e->end_ms == 0)
		e->end_ms = e->a->now_ms;
	if (e->book == NULL)
		return;
	snprintf(e->mine->text, sizeof(e->mine->text), "%s", ev->text == NULL ? "" : ev->text);
	soak_set(&e->mine->status, ev->status);
	if (ev->status != 0 && ev->status != -ECONNRESET && ev->status != -ETIMEDOUT)
		ACTOR_FAULT(e->a, "connection %llu ended with %d: %s",
			(unsigned long long)e->serial, ev->status, e->mine->text);
	if (e->mine->ctrl.done != e->mine->ctrl.owed)
		ACTOR_FAULT(e->a, "connection %llu: DISCONNECTED, and %llu of %llu SENT events",
			(unsigned long long)e->serial, (unsigned long long)e->mine->ctrl.done,
			(unsigned long long)e->mine->ctrl.owed);
}

static void
on_connected(struct end *e)
{
	struct actor *a = e->a;
	struct rte_comch_conn_info info;
	struct soak_conn *book;

	e->is_up = true;
	if (rte_comch_conn_info_get(e->conn, &info) != 0)
		ACTOR_FAULT(a, "conn_info_get");
	if (a->side == SOAK_DPU) {
		book = soak_conn_open(a->books, info.send_credits, info.peer_pid, a->me->pid);
		if (book == NULL) {
			soak_add(&a->books->counts.orphans, 1);
			return;
		}
		end_book(e, book);
		/* It ends with the server that stops. */
		if (rte_comch_server_state(a->server) != RTE_COMCH_STATE_RUNNING)
			soak_set(&e->mine->initiated, 1);
	} else {
		soak_add(&a->books->counts.connects, 1);
		soak_set(&e->book->server_pid, info.peer_pid > 0 ? info.peer_pid :
			soak_server_pid(a->books, info.send_credits));
		soak_set(&e->mine->state, SOAK_END_OPEN);
	}
	soak_set(&e->mine->ctrl.max_len, info.max_msg_size);
}

void
end_event(struct end *e, const struct rte_comch_event *ev)
{
	if (e->is_down)
		ACTOR_FAULT(e->a, "connection %llu: %s after DISCONNECTED",
			(unsigned long long)e->serial, rte_comch_event_name(ev->type));
	switch (ev->type) {
	case RTE_COMCH_EVENT_CONNECTED:
		on_connected(e);
		break;
	case RTE_COMCH_EVENT_MSG:
		on_msg(e, ev);
		break;
	case RTE_COMCH_EVENT_SENT:
		on_sent(e, ev);
		break;
	case RTE_COMCH_EVENT_CONSUMER_NEW:
		if (ev->consumer.id < 64)
			e->consumers |= UINT64_C(1) << ev->consumer.id;
		break;
	case RTE_COMCH_EVENT_CONSUMER_GONE:
		if (ev->consumer.id < 64)
			e->consumers &= ~(UINT64_C(1) << ev->consumer.id);
		break;
	case RTE_COMCH_EVENT_DISCONNECTED:
		on_disconnected(e, ev);
		break;
	default:
		break;
	}
}

static void
send_ctrl(struct end *e)
{
	struct soak_place at = { .serial = e->serial };
	struct soak_stream *s = &e->mine->ctrl;
	struct rte_comch_msg msgs[CTRL_BURST];
	struct actor *a = e->a;
	struct soak_msg m[CTRL_BURST];
	uint16_t i, n;
	uint32_t owed = 0;
	size_t off = 0;

	at.stream = soak_stream_number(e->mine, a->side, s);
	n = (uint16_t)(1 + soak_rnd_below(&a->rnd, CTRL_BURST));
	for (i = 0; i < n; i++) {
		at.seq = s->accepted + i;
		soak_msg(a->books, &at, s, &m[i]);
		soak_msg_fill(a->books, &at, &m[i], a->msgs + off, NULL);
		msgs[i] = (struct rte_comch_msg){
			.data = a->msgs + off, .len = m[i].len, .cookie = at.seq,
			.flags = m[i].is_silent ? RTE_COMCH_MSG_F_SILENT : 0,
		};
		off += m[i].len;
	}
	soak_set(&s->offered, s->accepted + n);
	n = rte_comch_conn_send_burst(e->conn, msgs, n);
	for (i = 0; i < n; i++)
		owed += !m[i].is_silent;
	soak_set(&s->owed, s->owed + owed);
	if (n > 0)
		soak_set(&s->sent_ms, t_now_ms());
	soak_set(&s->accepted, s->accepted + n);
	a->has_moved |= n > 0;
	/* Often at once, sometimes after a while. */
	if (e->is_quiet || !soak_rnd_one_in(&a->rnd, 3))
		e->ctrl_ms = a->now_ms + soak_rnd_below(&a->rnd,
			e->is_quiet || soak_rnd_one_in(&a->rnd, 10) ? 400 : 10);
}

void
end_leave(struct end *e)
{
	if (e->is_leaving || e->is_down)
		return;
	e->is_leaving = true;
	e->end_ms = e->a->now_ms;
	e->a->has_moved = true;
}

void
end_change(struct end *e)
{
	struct soak_rnd *rnd = &e->a->rnd;
	const uint32_t x = soak_rnd_below(rnd, 100);

	if (x < 35)
		consumer_new(e);
	else if (x < 65)
		producer_new(e);
	else if (x < 75)
		consumer_end(e, &e->cons[soak_rnd_below(rnd, END_CONSUMERS)]);
	else if (x < 83)
		producer_end(e, &e->prods[soak_rnd_below(rnd, END_PRODUCERS)]);
	else if (x < 91)
		e->prods[soak_rnd_below(rnd, END_PRODUCERS)].is_switching = true;
	else if (x < (e->a->side == SOAK_HOST ? 95 : 92))
		end_leave(e);
}

/* Destroy what it has; true: nothing is left. */
static bool
children_end(struct end *e)
{
	unsigned int i, n = 0;

	for (i = 0; i < END_PRODUCERS; i++) {
		producer_end(e, &e->prods[i]);
		n += e->prods[i].prod != NULL;
	}
	for (i = 0; i < END_CONSUMERS; i++) {
		consumer_end(e, &e->cons[i]);
		n += e->cons[i].cons != NULL;
	}
	return n == 0;
}

static void
ask(struct end *e)
{
	struct rte_comch_client *client = rte_comch_conn_client(e->conn);
	int rc;

	/* The books first: the other end may see it before the call returns. */
	if (e->mine != NULL)
		soak_set(&e->mine->initiated, 1);
	if (client != NULL)
		rc = rte_comch_client_stop(client);
	else
		rc = rte_comch_conn_disconnect(e->conn, "soak: the server wants it");
	/* The other end may have been first. */
	if (rc == -EBADFD && e->mine != NULL)
		soak_set(&e->mine->initiated, 0);
	else if (rc != -EINPROGRESS && rc != -EBADFD)
		ACTOR_FAULT(e->a, "end of connection %llu: %d", (unsigned long long)e->serial, rc);
	e->is_asked = true;
	e->a->has_moved = true;
}

static void
watch(struct end *e)
{
	unsigned int i, nb_prods = 0, nb_cons = 0;

	if (e->is_stuck || e->end_ms == 0 ||
			e->a->now_ms < e->end_ms + STUCK_MS * t_patience())
		return;
	e->is_stuck = true;
	for (i = 0; i < END_PRODUCERS; i++)
		nb_prods += e->prods[i].prod != NULL;
	for (i = 0; i < END_CONSUMERS; i++)
		nb_cons += e->cons[i].cons != NULL;
	ACTOR_FAULT(e->a, "connection %llu does not end: %s, %u producers, %u consumers",
		(unsigned long long)e->serial, e->is_down ? "DISCONNECTED" :
		e->is_asked ? "no DISCONNECTED" : "leaving", nb_prods, nb_cons);
	rte_comch_dump(stderr);
}

static void
end_free(struct end *e)
{
	struct actor *a = e->a;
	struct end **p;
	unsigned int i;

	for (p = &a->ends; *p != e; p = &(*p)->next)
		;
	*p = e->next;
	a->nb_ends--;
	for (i = 0; i < ACTOR_SEATS; i++)
		if (a->seats[i].end == e)
			a->seats[i].end = NULL;
	if (e->mine != NULL)
		soak_set(&e->mine->state, SOAK_END_CLOSED);
	free(e);
}

void
end_turn(struct end *e)
{
	struct actor *a = e->a;
	unsigned int i;

	if (e->is_up && e->book != NULL && !e->is_leaving && !e->is_down) {
		if (e->ctrl_ms <= a->now_ms)
			send_ctrl(e);
		if (e->change_ms <= a->now_ms) {
			e->change_ms = a->now_ms + 5 +
				soak_rnd_below(&a->rnd, e->is_quiet ? 4000 : 150);
			end_change(e);
		}
		actor_due(a, e->ctrl_ms);
		actor_due(a, e->change_ms);
	}
	for (i = 0; i < END_CONSUMERS; i++)
		consumer_turn(e, &e->cons[i]);
	for (i = 0; i < END_PRODUCERS; i++)
		producer_turn(e, &e->prods[i]);
	if (!e->is_leaving && !e->is_down)
		return;
	e->is_bare = children_end(e);
	if (e->is_bare && !e->is_asked && !e->is_down && e->is_up)
		ask(e);
	if (e->is_bare && e->is_down) {
		end_free(e);
		return;
	}
	watch(e);
	actor_due(a, a->now_ms + 1000);
}
