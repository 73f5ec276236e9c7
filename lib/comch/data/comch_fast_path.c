/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The fast path of a connection: creation, dispatch of its frames, and its end. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "sdk/comch_log.h"
#include "ctrl/comch_fast_path_ops.h"
#include "data/comch_consumer.h"
#include "data/comch_export.h"
#include "data/comch_import.h"
#include "data/comch_reclaim.h"
#include "data/comch_producer.h"
#include "data/comch_remote.h"

struct comch_fast_path *
comch_fast_path_get(struct rte_comch_conn *conn)
{
	/* Acquire: pairs with the release below. Model: publish.pml, find. */
	struct comch_fast_path *fast = comch_load_acquire(&conn->fast);

	if (fast != NULL)
		return fast;
	pthread_mutex_lock(&conn->lock);
	fast = conn->fast;
	if (fast != NULL)
		goto unlock;
	fast = calloc(1, sizeof(*fast));
	if (fast == NULL)
		goto unlock;
	TAILQ_INIT(&fast->consumers);
	TAILQ_INIT(&fast->producers);
	if (conn->ops->data->open(conn->link) != 0) {
		free(fast);
		fast = NULL;
		goto unlock;
	}
	comch_store_release(&conn->fast, fast); /* publish.pml, publish */
unlock:
	pthread_mutex_unlock(&conn->lock);
	return fast;
}

int
comch_fast_path_refused(struct rte_comch_conn *conn, const char *what, uint32_t id, int err)
{
	const uint64_t each = rte_get_tsc_hz() / COMCH_REFUSALS_PER_S, now = rte_rdtsc();
	uint64_t *forgiven_at = &conn->fast->refusals_forgiven_at;

	/* The driver has logged an exceeded limit. */
	if (!conn->fast->refusal_logged && err != -EDQUOT) {
		conn->fast->refusal_logged = true;
		COMCH_LOG_PEER(COMCH_LOG, "connection %u: %s %u of the peer refused: %s", conn->id,
			what, id, strerror(-err));
	}
	comch_count(&conn->stats.refused, 1);
	*forgiven_at = RTE_MAX(*forgiven_at, now) + each;
	if (*forgiven_at - now <= COMCH_MAX_REFUSALS * each)
		return 0;
	comch_conn_end(conn, -EPROTO, "refused %" PRIu64 " consumers and registrations of the "
		"peer, at more than %u a second", conn->stats.refused, COMCH_REFUSALS_PER_S);
	return -EPROTO;
}

static int
on_producer_new(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket, struct comch_run *run __rte_unused)
{
	return conn->ops->data->peer_prod_add(conn->link, f->id, ticket);
}

static int
on_producer_gone(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket __rte_unused, struct comch_run *run __rte_unused)
{
	return conn->ops->data->peer_prod_del(conn->link, f->id);
}

typedef int (*frame_handler_t)(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket, struct comch_run *run);

static const frame_handler_t handlers[COMCH_WIRE_NB_TYPES] = {
	[COMCH_WIRE_MR_ADD]        = comch_import_on_add,
	[COMCH_WIRE_MR_ACK]        = comch_export_on_ack,
	[COMCH_WIRE_MR_DEL]        = comch_import_on_del,
	[COMCH_WIRE_CONSUMER_NEW]  = comch_remote_on_consumer_new,
	[COMCH_WIRE_CONSUMER_ACK]  = comch_consumer_on_ack,
	[COMCH_WIRE_CONSUMER_GONE] = comch_remote_on_consumer_gone,
	[COMCH_WIRE_PRODUCER_NEW]  = on_producer_new,
	[COMCH_WIRE_PRODUCER_GONE] = on_producer_gone,
};

/* Descriptors of the driver's ticket. */
static uint32_t
data_nb_fds(const struct rte_comch_conn *conn, const struct comch_wire_frame *f)
{
	const struct rte_comch_data_ops *data = conn->ops->data;

	switch (f->type) {
	case COMCH_WIRE_MR_ADD:
		return data->shows_heap && f->kind == RTE_COMCH_MEM_HEAP ? 0 : data->nb_fds.mem;
	case COMCH_WIRE_CONSUMER_NEW:
		return data->nb_fds.cons;
	case COMCH_WIRE_CONSUMER_ACK:
		return f->status == 0 ? data->nb_fds.cons_ack : 0;
	case COMCH_WIRE_PRODUCER_NEW:
		return data->nb_fds.prod;
	default:
		return 0;
	}
}

static int
data_on_frame(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket, struct comch_run *run)
{
	if (comch_fast_path_get(conn) == NULL)
		return -ENOMEM;
	return handlers[f->type](conn, f, ticket, run);
}

static bool
data_step(struct rte_comch_conn *conn, struct comch_run *run)
{
	bool more = conn->rx_deferred && comch_remote_step(conn, run);

	comch_consumer_steps(conn);
	comch_producer_steps(conn);
	return !comch_reclaim_step(conn) || more;
}

static void
data_halt(struct rte_comch_conn *conn)
{
	comch_remote_drop_new(conn);
	comch_consumer_halt_all(conn);
	comch_producer_halt_all(conn);
}

static void
data_free(struct rte_comch_conn *conn)
{
	comch_reclaim_free_all(conn);
	comch_remote_free_all(conn);
	comch_import_free_all(conn);
	conn->ops->data->close(conn->link);
	pthread_mutex_lock(&conn->lock);
	free(conn->fast);
	conn->fast = NULL;
	pthread_mutex_unlock(&conn->lock);
}

const struct comch_fast_path_ops comch_fast_path_ops = {
	.nb_fds = data_nb_fds,
	.on_frame = data_on_frame,
	.step = data_step,
	.halt = data_halt,
	.wind_up = comch_consumer_steps,
	.nb_regions = comch_import_nb_regions,
	.free = data_free,
};
