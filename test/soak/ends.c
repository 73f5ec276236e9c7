/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What has the ends: the clients of a client process, and the server. */

#include "actor.h"

#define STUCK_MS 40000

/* Sizes and depths, at random. */
static void
client_conf(struct actor *a, const struct soak_conn *book, struct rte_comch_client_conf *conf)
{
	static const uint32_t sizes[] = { 0, 1, 64, 512, 4080, 16384, MAX_CTRL_MSG };
	struct soak_rnd *rnd = &a->rnd;

	*conf = (struct rte_comch_client_conf){
		.conf_size = sizeof(*conf), .poll = a->poll, .name = a->name,
		.max_msg_size = sizes[soak_rnd_below(rnd, RTE_DIM(sizes))],
		.recv_queue = soak_conn_queue(a->books, book),
		.send_queue = soak_rnd_below(rnd, 3) * (1 + soak_rnd_below(rnd, 64)),
		.connect_timeout_ms = soak_rnd_one_in(rnd, 3) ? 0 : soak_rnd_below(rnd, 3000),
	};
}

static void
seat_connect(struct actor *a, struct seat *seat)
{
	struct rte_comch_client_conf conf;
	int rc;

	seat->book = soak_conn_take(a->books, a->number);
	if (seat->book == NULL) {
		/* The supervisor has not judged the last ones yet. */
		seat->due_ms = a->now_ms + 100;
		return;
	}
	client_conf(a, seat->book, &conf);
	seat->client = rte_comch_client_create(a->dev, &conf);
	if (seat->client == NULL)
		T_FAIL("client_create: %s", strerror(rte_errno));
	rc = rte_comch_client_start(seat->client);
	if (rc != -EINPROGRESS) {
		if (!actor_is_killed(a))
			T_FAIL("client_start: %d", rc);
		rte_comch_client_destroy(seat->client);
		seat->client = NULL;
		return;
	}
	seat->end = end_new(a, rte_comch_client_conn(seat->client));
	seat->begin_ms = a->now_ms;
	end_book(seat->end, seat->book);
	a->has_moved = true;
}

/* Give up while it connects. */
static void
seat_cancel(struct actor *a, struct seat *seat)
{
	int rc;

	end_leave(seat->end);
	seat->end->is_asked = true;
	soak_set(&seat->end->mine->initiated, 1);
	rc = rte_comch_client_stop(seat->client);
	if (rc != -EINPROGRESS)
		ACTOR_FAULT(a, "client_stop while it connects: %d", rc);
}

static void
seat_turn(struct actor *a, struct seat *seat)
{
	enum rte_comch_state state;

	if (seat->client == NULL) {
		if (actor_order(a) != SOAK_GO)
			return;
		if (seat->due_ms <= a->now_ms)
			seat_connect(a, seat);
		actor_due(a, seat->due_ms);
		return;
	}
	state = rte_comch_client_state(seat->client);
	if (state == RTE_COMCH_STATE_STARTING) {
		if (!seat->end->is_asked && (actor_order(a) != SOAK_GO ||
				soak_rnd_one_in(&a->rnd, 300)))
			seat_cancel(a, seat);
		if (a->now_ms > seat->begin_ms + STUCK_MS * t_patience()) {
			ACTOR_FAULT(a, "a client is STARTING since %llu ms",
				(unsigned long long)(a->now_ms - seat->begin_ms));
			seat->begin_ms = a->now_ms;
		}
	}
	if (actor_order(a) != SOAK_GO && seat->end != NULL && seat->end->is_up)
		end_leave(seat->end);
}

void
seats_turn(struct actor *a)
{
	unsigned int i;

	for (i = 0; i < a->nb_seats; i++)
		seat_turn(a, &a->seats[i]);
}

/* Why a client may be IDLE again without a connection. */
static bool
is_refusal(int status)
{
	return status == -ENOENT || status == -ECONNREFUSED || status == -ECONNRESET ||
		status == -ETIMEDOUT || status == -ECANCELED || status == -EHOSTUNREACH;
}

void
seat_event(struct actor *a, const struct rte_comch_event *ev)
{
	struct seat *seat = NULL;
	unsigned int i;
	int rc;

	for (i = 0; i < ACTOR_SEATS; i++)
		if (a->seats[i].client != NULL && a->seats[i].client == ev->obj.client)
			seat = &a->seats[i];
	if (seat == NULL) {
		ACTOR_FAULT(a, "STATE of an unknown client");
		return;
	}
	if (ev->state.next != RTE_COMCH_STATE_IDLE)
		return;
	if (seat->end != NULL && !seat->end->is_up) {
		if (!is_refusal(ev->status) && !seat->end->is_asked)
			ACTOR_FAULT(a, "connect: %d %s", ev->status,
				ev->text == NULL ? "" : ev->text);
		soak_add(&a->books->counts.refused, 1);
		seat->book->is_void = true;
		seat->end->is_down = true;
	} else if (seat->end != NULL && !seat->end->is_down) {
		ACTOR_FAULT(a, "a client is IDLE, and its connection did not end");
	}
	rc = rte_comch_client_destroy(seat->client);
	if (rc != 0)
		ACTOR_FAULT(a, "client_destroy: %d", rc);
	seat->client = NULL;
	seat->due_ms = a->now_ms + soak_rnd_below(&a->rnd, soak_rnd_one_in(&a->rnd, 4) ? 500 : 20);
	a->has_moved = true;
}

static void
server_end(struct actor *a)
{
	int rc;

	rc = rte_comch_server_destroy(a->server);
	if (rc != 0)
		ACTOR_FAULT(a, "server_destroy: %d", rc);
	a->server = NULL;
	a->stop_ms = 0;
	a->has_moved = true;
}

static void
server_begin(struct actor *a)
{
	struct rte_comch_server_conf conf = {
		.conf_size = sizeof(conf), .poll = a->poll, .name = a->name,
		.max_msg_size = MAX_CTRL_MSG,
	};
	int rc;

	conf.recv_queue = soak_server_queue(a->books, &a->rnd);
	conf.send_queue = soak_rnd_below(&a->rnd, 2) * (1 + soak_rnd_below(&a->rnd, 200));
	a->server = rte_comch_server_create(a->dev, &conf);
	if (a->server == NULL)
		T_FAIL("server_create: %s", strerror(rte_errno));
	/* Whatever has become of the last one, its name is free. */
	rc = rte_comch_server_start(a->server);
	if (rc != 0) {
		if (!actor_is_killed(a))
			T_FAIL("server_start: %d", rc);
		server_end(a);
		return;
	}
	a->stop_ms = 0;
	a->restart_ms = a->now_ms + 500 + soak_rnd_below(&a->rnd, 10000);
	a->has_moved = true;
}

/* All at once, when none has producers or consumers. */
static void
server_stop(struct actor *a)
{
	bool is_bare = true;
	struct end *e;
	int rc;

	for (e = a->ends; e != NULL; e = e->next) {
		end_leave(e);
		e->is_asked = true;
		is_bare &= e->is_bare;
	}
	actor_due(a, a->now_ms + 100);
	if (a->now_ms > a->stop_ms + STUCK_MS * t_patience()) {
		ACTOR_FAULT(a, "the server does not stop: %u connections, %u of them known",
			rte_comch_server_nb_conns(a->server), a->nb_ends);
		a->stop_ms = a->now_ms;
		rte_comch_dump(stderr);
	}
	if (!is_bare || rte_comch_server_state(a->server) != RTE_COMCH_STATE_RUNNING)
		return;
	for (e = a->ends; e != NULL; e = e->next)
		if (e->mine != NULL && !e->is_down)
			soak_set(&e->mine->initiated, 1);
	rc = rte_comch_server_stop(a->server);
	if (rc == 0)
		server_end(a);
	else if (rc != -EINPROGRESS)
		ACTOR_FAULT(a, "server_stop: %d", rc);
}

void
server_turn(struct actor *a)
{
	const bool go = actor_order(a) == SOAK_GO;
	struct end *e;

	if (a->server == NULL) {
		/* Also at rest: it is part of the figures. */
		if (actor_order(a) != SOAK_QUIT)
			server_begin(a);
		return;
	}
	if (a->stop_ms == 0 && go && a->restart_ms <= a->now_ms) {
		a->restart_ms = a->now_ms + 5000 + soak_rnd_below(&a->rnd, 10000);
		if (soak_rnd_one_in(&a->rnd, 2))
			a->stop_ms = a->now_ms;
	}
	if (a->stop_ms != 0) {
		server_stop(a);
		return;
	}
	if (go) {
		actor_due(a, a->restart_ms);
		return;
	}
	for (e = a->ends; e != NULL; e = e->next)
		if (e->is_up)
			end_leave(e);
	if (a->ends == NULL && actor_order(a) == SOAK_QUIT)
		a->stop_ms = a->now_ms;
}

void
server_event(struct actor *a, const struct rte_comch_event *ev)
{
	if (ev->state.next == RTE_COMCH_STATE_IDLE)
		server_end(a);
	if (ev->status != 0)
		ACTOR_FAULT(a, "the server is %s: %d %s", rte_comch_state_name(ev->state.next),
			ev->status, ev->text == NULL ? "" : ev->text);
}
