/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "world.h"

/* Times are in whole ms: a message is older than a moment if so much is between them. */
#define WAKE_MS 2
#define QUIET_MS 300
#define LATE_MS 30

void
actor_due(struct actor *a, uint64_t ms)
{
	a->due_ms = RTE_MIN(a->due_ms, ms);
}

static void
dispatch(struct actor *a, const struct rte_comch_event *ev)
{
	struct end *e;

	if (ev->type == RTE_COMCH_EVENT_STATE) {
		if (ev->obj_type == RTE_COMCH_OBJ_CLIENT)
			seat_event(a, ev);
		else if (ev->obj_type == RTE_COMCH_OBJ_SERVER)
			server_event(a, ev);
		/* Those of producers and consumers are asked. */
		return;
	}
	e = (struct end *)(uintptr_t)rte_comch_conn_user_data_get(ev->conn);
	if (e == NULL)
		e = end_new(a, ev->conn);
	end_event(e, ev);
}

void
actor_turn(struct actor *a)
{
	struct rte_comch_event evs[32];
	struct end *e, *next;
	uint16_t i, n;

	while (soak_get(&a->me->is_stopped) != 0 && !actor_is_killed(a))
		usleep(500);
	a->has_moved = false;
	a->now_ms = t_now_ms();
	a->due_ms = a->now_ms + 1000;
	n = rte_comch_poll_run(a->poll, evs,
		(uint16_t)(1 + soak_rnd_below(&a->rnd, RTE_DIM(evs))));
	/* Before anything that its death has brought about is seen. */
	if (actor_is_killed(a) && a->grave == NULL)
		actor_bury(a);
	a->has_moved = n > 0;
	for (i = 0; i < n; i++)
		dispatch(a, &evs[i]);
	for (e = a->ends; e != NULL; e = next) {
		next = e->next;
		end_turn(e);
	}
	if (a->side == SOAK_DPU)
		server_turn(a);
	else
		seats_turn(a);
}

/* Was a message there before the time when the sleep was over by itself? */
static bool
is_waiting(const struct soak_stream *s, uint64_t until)
{
	const bool at_once = s->prod_id == 0 && soak_world.keeps_accepted;
	const uint64_t sent = at_once ? soak_get(&s->accepted) : soak_get(&s->ok_end);

	return sent > s->delivered && soak_get(&s->sent_ms) + WAKE_MS < until;
}

/*
 * Nothing has woken it. A sender wakes its peer before it enters the message into the books.
 * One behind descriptors, which come with new producers and consumers, waits for the threads
 * that receive them and wake us: they have some time, and it does not count unless the next
 * turn delivers it.
 */
static const struct soak_stream *
find_waiting(const struct actor *a, uint64_t until)
{
	struct end *e;
	uint32_t i;

	for (e = a->ends; e != NULL; e = e->next) {
		if (e->book == NULL || e->is_down || soak_get(&e->peers->state) != SOAK_END_OPEN)
			continue;
		if (until < RTE_MAX(e->mine->started_ms, soak_get(&e->peers->started_ms)) +
				QUIET_MS * t_patience())
			continue;
		if (is_waiting(&e->peers->ctrl, until))
			return &e->peers->ctrl;
		for (i = 0; i < soak_get(&e->peers->nb_streams); i++)
			if (is_waiting(&e->peers->streams[i], until))
				return &e->peers->streams[i];
	}
	return NULL;
}

static void
check_sleep(struct actor *a, struct pollfd *fd, uint64_t until)
{
	const struct soak_stream *s = find_waiting(a, until);
	uint64_t delivered, waited_ms;

	if (s == NULL)
		return;
	delivered = s->delivered;
	waited_ms = until - RTE_MIN(soak_get(&s->sent_ms), until);
	if (poll(fd, 1, (int)(LATE_MS * t_patience())) != 0)
		return;
	actor_turn(a);
	if (s->delivered > delivered)
		ACTOR_FAULT(a, "producer %u, consumer %u: message %llu came %llu ms before the "
			"end of a sleep, and did not wake it", s->prod_id, s->cons_id,
			(unsigned long long)delivered,
			(unsigned long long)waited_ms);
}

static void
drain_kicks(int fd)
{
	char buf[64];

	while (recv(fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
}

void
actor_sleep(struct actor *a)
{
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	const uint64_t since = t_now_ms();
	uint64_t until = a->due_ms;
	int rc;

	if (soak_rnd_one_in(&a->rnd, 16)) {
		sched_yield();
		return;
	}
	rc = rte_comch_poll_arm(a->poll, RTE_COMCH_POLL_ANY);
	if (rc == -EAGAIN)
		return;
	T_EQ(rc, 0);
	soak_add(&a->books->counts.sleeps, 1);
	if (a->next_calm_ms < since) {
		a->next_calm_ms = since + 1000 + soak_rnd_below(&a->rnd, 8000);
		a->calm_ms = since + 200 + soak_rnd_below(&a->rnd, 1000);
	}
	if (actor_order(a) == SOAK_GO)
		until = RTE_MAX(until, a->calm_ms);
	fds[0].fd = rte_comch_poll_fd(a->poll, RTE_COMCH_POLL_ANY);
	fds[1].fd = a->fd;
	rc = poll(fds, 2, until > since ? (int)(until - since) : 0);
	if (rc == 0)
		check_sleep(a, fds, until);
	if (rc > 0 && fds[1].revents != 0)
		drain_kicks(a->fd);
}

bool
actor_is_idle(const struct actor *a)
{
	unsigned int i;

	if (a->ends != NULL || a->stop_ms != 0)
		return false;
	for (i = 0; i < ACTOR_SEATS; i++)
		if (a->seats[i].client != NULL)
			return false;
	if (a->side == SOAK_HOST)
		return true;
	return a->server == NULL ? actor_order(a) == SOAK_QUIT :
		rte_comch_server_nb_conns(a->server) == 0;
}

static void
measure_step(void *arg)
{
	struct actor *a = arg;

	actor_turn(a);
	actor_sleep(a);
}

/* Nothing is left of its connections: compare what it holds with the first such time. */
static void
measure(struct actor *a)
{
	const char *more;
	char text[200];

	more = figures_settle(&a->me->base, a->me->nb_rests == 0, &a->me->now, measure_step, a);
	if (more != NULL) {
		figures_text(text, sizeof(text), &a->me->base, &a->me->now);
		ACTOR_FAULT(a, "idle resources grew: %s: %s", more, text);
	}
	a->me->nb_rests++;
}

void
actor_open(struct actor *a, const struct actor_conf *conf)
{
	memset(a, 0, sizeof(*a));
	a->books = conf->books;
	a->number = conf->number;
	a->me = &conf->books->procs[conf->number];
	a->name = conf->name;
	a->side = conf->number == 0 ? SOAK_DPU : SOAK_HOST;
	a->fd = -1;
	a->rnd.state = conf->books->seed + (uint64_t)conf->number * 1000003 +
		(uint64_t)a->me->life * 7919;
	a->nb_seats = 1 + soak_rnd_below(&a->rnd, ACTOR_SEATS);
	a->msgs = malloc((size_t)CTRL_BURST * MAX_CTRL_MSG);
	if (a->msgs == NULL)
		T_FAIL("no memory");
	a->poll = rte_comch_poll_create(NULL);
	if (a->poll == NULL)
		T_FAIL("poll_create: %s", strerror(rte_errno));
	a->dev = t_dev_open(a->number, soak_world.dev(a->number));
	a->next_calm_ms = t_now_ms() + soak_rnd_below(&a->rnd, 8000);
}

void
actor_close(struct actor *a)
{
	kept_free(a);
	actor_turn(a);
	T_EQ(rte_comch_poll_destroy(a->poll), 0);
	T_EQ(rte_comch_dev_close(a->dev), 0);
	free(a->msgs);
}

static void
live(struct actor *a)
{
	while (actor_order(a) != SOAK_QUIT || !actor_is_idle(a) || a->server != NULL) {
		actor_turn(a);
		if (actor_order(a) == SOAK_GO) {
			soak_set(&a->me->is_resting, 0);
		} else if (actor_order(a) == SOAK_REST && actor_is_idle(a) &&
				soak_get(&a->me->is_resting) == 0) {
			kept_free(a);
			if (soak_world.counts_each)
				measure(a);
			soak_set(&a->me->is_resting, 1);
		}
		if (!a->has_moved)
			actor_sleep(a);
	}
}

void
actor_live(int fd, const struct actor_conf *conf)
{
	struct actor a;

	actor_open(&a, conf);
	a.fd = fd;
	soak_set(&a.me->is_open, 1);
	live(&a);
	actor_close(&a);
	free(a.grave);
}
