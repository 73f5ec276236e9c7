/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The peers of a server, and the places that each holds. */

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "sdk/comch_compat.h"
#include "sdk/comch_quota.h"
#include "ctrl/comch_conn.h"
#include "ctrl/comch_holder.h"

static int
compare(const struct comch_holder *a, const struct comch_holder *b)
{
	if (a->id.uid != b->id.uid)
		return a->id.uid < b->id.uid ? -1 : 1;
	return (a->id.pid > b->id.pid) - (a->id.pid < b->id.pid);
}

/* RB_GENERATE_STATIC() needs a macro that only BSD has. */
RB_GENERATE_INTERNAL(comch_holder_tree, comch_holder, next, compare, __rte_unused static)

int
comch_holders_init(struct comch_holders *holders, uint32_t max_half_open)
{
	uint32_t i;

	*holders = (struct comch_holders){ .max_half_open = max_half_open };
	RB_INIT(&holders->all);
	holders->rank = calloc(max_half_open + 1, sizeof(*holders->rank));
	if (holders->rank == NULL)
		return -ENOMEM;
	for (i = 0; i <= max_half_open; i++)
		TAILQ_INIT(&holders->rank[i]);
	return 0;
}

void
comch_holders_free(struct comch_holders *holders)
{
	free(holders->rank);
}

/* One handshake more or less. */
static void
move(struct comch_holders *holders, struct comch_holder *holder, int by)
{
	TAILQ_REMOVE(&holders->rank[holder->nb_half_open], holder, rank_next);
	holder->nb_half_open += by;
	TAILQ_INSERT_TAIL(&holders->rank[holder->nb_half_open], holder, rank_next);
	comch_count(&holders->nb_half_open, by);
	/* Steps of one: the highest rank follows. */
	if (holder->nb_half_open > holders->most)
		holders->most++;
	else if (holders->most > 0 && TAILQ_EMPTY(&holders->rank[holders->most]))
		holders->most--;
}

static struct comch_holder *
holder_new(struct comch_holders *holders, const struct rte_comch_peer_id *id)
{
	struct comch_holder *holder = calloc(1, sizeof(*holder));

	if (holder == NULL)
		return NULL;
	holder->id = *id;
	if (id->pid >= 0)
		holder->quota = comch_quota_get(id->uid, id->pid);
	if (id->pid >= 0 && holder->quota == NULL) {
		free(holder);
		return NULL;
	}
	TAILQ_INIT(&holder->half_open);
	RB_INSERT(comch_holder_tree, &holders->all, holder);
	TAILQ_INSERT_TAIL(&holders->rank[0], holder, rank_next);
	return holder;
}

int
comch_holder_join(struct comch_holders *holders, struct rte_comch_conn *conn)
{
	struct comch_holder key = { .id = conn->peer };
	struct comch_holder *holder;

	holder = RB_FIND(comch_holder_tree, &holders->all, &key);
	if (holder == NULL)
		holder = holder_new(holders, &conn->peer);
	if (holder == NULL)
		return -ENOMEM;
	conn->holder = holder;
	conn->is_half_open = true;
	conn->may_go_at = comch_conn_in_ms(COMCH_HALF_OPEN_MIN_MS);
	holder->nb_conns++;
	TAILQ_INSERT_TAIL(&holder->half_open, conn, half_open_next);
	move(holders, holder, 1);
	return 0;
}

bool
comch_holders_crowded(const struct comch_holders *holders)
{
	return holders->nb_half_open >= holders->max_half_open;
}

struct rte_comch_conn *
comch_holders_first(const struct comch_holders *holders)
{
	struct rte_comch_conn *conn;

	if (holders->nb_half_open == 0)
		return NULL;
	conn = TAILQ_FIRST(&TAILQ_FIRST(&holders->rank[holders->most])->half_open);
	return rte_rdtsc() >= conn->may_go_at ? conn : NULL;
}

bool
comch_holders_can_join(const struct comch_holders *holders)
{
	return !comch_holders_crowded(holders) || comch_holders_first(holders) != NULL;
}

void
comch_holder_settle(struct comch_holders *holders, struct rte_comch_conn *conn)
{
	if (!conn->is_half_open)
		return;
	conn->is_half_open = false;
	TAILQ_REMOVE(&conn->holder->half_open, conn, half_open_next);
	move(holders, conn->holder, -1);
}

/* Has any process of the user a place? */
static bool
user_has_place(struct comch_holders *holders, int32_t uid)
{
	struct comch_holder first = { .id = { .pid = INT32_MIN, .uid = uid } };
	struct comch_holder *h;

	for (h = RB_NFIND(comch_holder_tree, &holders->all, &first);
			h != NULL && h->id.uid == uid;
			h = RB_NEXT(comch_holder_tree, &holders->all, h))
		if (h->nb_places > 0)
			return true;
	return false;
}

static enum comch_holder_answer
ask(struct comch_holders *holders, const struct rte_comch_conn *conn, uint32_t max,
		uint32_t reserve)
{
	const uint32_t left = max - RTE_MIN(holders->nb_places, max);

	if (left == 0)
		return COMCH_HOLDER_FULL;
	if (left > reserve || conn->peer.pid < 0)
		return COMCH_HOLDER_YES;
	if (conn->holder->nb_places > 0)
		return COMCH_HOLDER_OTHER_PROCESS;
	if (left <= reserve / 2 && user_has_place(holders, conn->peer.uid))
		return COMCH_HOLDER_OTHER_USER;
	return COMCH_HOLDER_YES;
}

enum comch_holder_answer
comch_holder_admit(struct comch_holders *holders, struct rte_comch_conn *conn, uint32_t max,
		uint32_t reserve)
{
	struct comch_quota *quota = conn->holder->quota;
	enum comch_holder_answer answer = ask(holders, conn, max, reserve);

	if (answer != COMCH_HOLDER_YES)
		return answer;
	if (quota != NULL && !comch_quota_take(quota, COMCH_QUOTA_FDS, 1))
		return COMCH_HOLDER_NO_FD;
	comch_holder_settle(holders, conn);
	conn->has_place = true;
	conn->holder->nb_places++;
	comch_count(&holders->nb_places, 1);
	return COMCH_HOLDER_YES;
}

void
comch_holder_leave(struct comch_holders *holders, struct rte_comch_conn *conn)
{
	struct comch_holder *holder = conn->holder;

	if (holder == NULL)
		return;
	comch_holder_settle(holders, conn);
	if (conn->has_place) {
		holder->nb_places--;
		comch_count(&holders->nb_places, -1);
		if (holder->quota != NULL)
			comch_quota_give(holder->quota, COMCH_QUOTA_FDS, 1);
	}
	conn->has_place = false;
	conn->holder = NULL;
	if (--holder->nb_conns > 0)
		return;
	TAILQ_REMOVE(&holders->rank[0], holder, rank_next);
	RB_REMOVE(comch_holder_tree, &holders->all, holder);
	if (holder->quota != NULL)
		comch_quota_put(holder->quota);
	free(holder);
}
