/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Deferred free of imports and of the peer's consumers, which producers use without
 * locks: hide the object, fence, wait until each producer has left its burst, then
 * free. See comch_epoch.h.
 */

#include "sdk/comch_asym.h"
#include "sdk/comch_dir.h"
#include "data/comch_import.h"
#include "data/comch_reclaim.h"
#include "data/comch_producer.h"
#include "data/comch_remote.h"

/* Always there: an object keeps its place until it is freed, with its entry. */
static struct comch_reclaim *
take_entry(struct comch_fast_path *fast)
{
	struct comch_reclaim *r = fast->reclaim_spare;

	if (r == NULL)
		return &fast->reclaim[fast->nb_reclaim++];
	fast->reclaim_spare = r->next;
	return r;
}

void
comch_reclaim_later(struct rte_comch_conn *conn, struct rte_comch_remote *remote,
		struct rte_comch_region *import)
{
	struct comch_reclaim *r = take_entry(conn->fast);

	r->remote = remote;
	r->import = import;
	r->next = conn->fast->reclaim_new;
	conn->fast->reclaim_new = r;
	comch_poll_note(&conn->obj);
}

static struct comch_epoch *
producer_epoch(const struct rte_comch_producer *p)
{
	return comch_queue_ops(&p->q)->prod_epoch(p->q.dq);
}

static bool
producers_quiesced(struct rte_comch_conn *conn)
{
	struct rte_comch_producer *p;

	TAILQ_FOREACH(p, &conn->fast->producers, next)
		if (!comch_epoch_passed(producer_epoch(p)))
			return false;
	return true;
}

/* False: retry in a later run. */
static bool
reclaim_free(struct rte_comch_conn *conn, struct comch_reclaim *r)
{
	if (!comch_poll_allow_frees(conn->obj.poll, r->remote != NULL ? COMCH_REMOTE_REGIONS : 1))
		return false;
	if (r->remote != NULL) {
		if (comch_remote_free(conn, r->remote) != 0) {
			comch_poll_return_frees(conn->obj.poll, COMCH_REMOTE_REGIONS);
			return false;
		}
	} else {
		conn->ops->data->mem_drop(conn->link, r->import);
		r->import->addr = NULL;
	}
	r->next = conn->fast->reclaim_spare;
	conn->fast->reclaim_spare = r;
	return true;
}

static void
reclaim_fence(struct rte_comch_conn *conn)
{
	struct rte_comch_producer *p;

	conn->fast->reclaim_wait = conn->fast->reclaim_new;
	conn->fast->reclaim_new = NULL;
	comch_fence_heavy(); /* pairs with comch_epoch_enter(): dir.pml, hide */
	TAILQ_FOREACH(p, &conn->fast->producers, next)
		comch_epoch_watch(producer_epoch(p));
}

bool
comch_reclaim_pending(const struct rte_comch_conn *conn)
{
	/* Only this thread writes the lists, so it reads them without the lock. */
	return conn->fast->reclaim_wait != NULL || conn->fast->reclaim_new != NULL;
}

bool
comch_reclaim_step(struct rte_comch_conn *conn)
{
	struct comch_reclaim **link, *r;
	bool done;

	if (!comch_reclaim_pending(conn))
		return true;
	pthread_mutex_lock(&conn->lock);
	if (conn->fast->reclaim_wait == NULL)
		reclaim_fence(conn);
	if (producers_quiesced(conn)) {
		for (link = &conn->fast->reclaim_wait; (r = *link) != NULL; ) {
			struct comch_reclaim *next = r->next;

			if (reclaim_free(conn, r))
				*link = next;
			else
				link = &r->next;
		}
	}
	done = !comch_reclaim_pending(conn);
	pthread_mutex_unlock(&conn->lock);
	return done;
}

void
comch_reclaim_free_all(struct rte_comch_conn *conn)
{
	struct comch_reclaim *r;

	/* No producer is left, so no wait. */
	while ((r = conn->fast->reclaim_new) != NULL || (r = conn->fast->reclaim_wait) != NULL) {
		if (conn->fast->reclaim_new != NULL)
			conn->fast->reclaim_new = r->next;
		else
			conn->fast->reclaim_wait = r->next;
		if (r->remote != NULL)
			comch_remote_free(conn, r->remote);
	}
}
