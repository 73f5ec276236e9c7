/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Connections: references, binding to native connections, user data and counters. */

#include <stdlib.h>
#include <string.h>

#include "comch/cc_names.h"
#include "comch/comch.h"
#include "dev/dev.h"
#include "log/log.h"

struct doca_comch_connection *
impl_conn_create(struct impl_ctrl *ctrl)
{
	struct doca_comch_connection *conn = calloc(1, sizeof(*conn));

	if (conn == NULL)
		return NULL;
	conn->head.ctx = &ctrl->ctx;
	conn->manners = impl_dev_manners(ctrl->dev);
	conn->refs = 1;
	STAILQ_INIT(&conn->waiting);
	pthread_mutex_init(&conn->lock, NULL);
	TAILQ_INSERT_TAIL(&ctrl->conns, conn, next);
	return conn;
}

void
impl_conn_bind(struct doca_comch_connection *conn, struct rte_comch_conn *native)
{
	rte_comch_conn_user_data_set(native, (uintptr_t)conn);
	pthread_mutex_lock(&conn->lock);
	conn->native = native;
	pthread_mutex_unlock(&conn->lock);
}

void
impl_conn_set_state(struct doca_comch_connection *conn, enum impl_conn_state state)
{
	conn->state = state;
	pthread_mutex_lock(&conn->lock);
	conn->is_up = state == IMPL_CONN_UP;
	pthread_mutex_unlock(&conn->lock);
}

void
impl_conn_drop(struct doca_comch_connection *conn)
{
	/* Release this user's accesses; the last one acquires all others'. */
	if (__atomic_sub_fetch(&conn->refs, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	pthread_mutex_destroy(&conn->lock);
	free(conn);
}

void
impl_conn_end(struct doca_comch_connection *conn)
{
	struct impl_ctrl *ctrl = (struct impl_ctrl *)conn->head.ctx;

	impl_conn_set_state(conn, IMPL_CONN_ENDED);
	pthread_mutex_lock(&conn->lock);
	conn->native = NULL;
	pthread_mutex_unlock(&conn->lock);
	TAILQ_REMOVE(&ctrl->conns, conn, next);
	if (ctrl->ctx.keeps_freed_tasks)
		impl_send_forget(ctrl, conn);
	/* Its producers and consumers may outlive the server. A client keeps its last one. */
	if (ctrl->is_server)
		conn->head.ctx = NULL;
	impl_conn_drop(conn);
}

void
impl_conn_snapshot(struct doca_comch_connection *conn)
{
	if (conn->native != NULL)
		rte_comch_conn_stats_get(conn->native, &conn->snapshot);
}

/* Either side may have requested a connection without a fast path. */
void
impl_conn_abort(struct doca_comch_connection *conn)
{
	pthread_mutex_lock(&conn->lock);
	if (conn->native != NULL)
		rte_comch_conn_abort(conn->native);
	pthread_mutex_unlock(&conn->lock);
}

static bool
has_fast_path(const struct doca_comch_connection *conn)
{
	struct rte_comch_conn_info info;

	return rte_comch_conn_info_get(conn->native, &info) != 0 || !info.ctrl_only;
}

doca_error_t
impl_conn_join(struct doca_comch_connection *conn, uint32_t *count, uint32_t max)
{
	doca_error_t ret = DOCA_SUCCESS;

	pthread_mutex_lock(&conn->lock);
	if (conn->native == NULL || !conn->is_up)
		ret = DOCA_ERROR_BAD_STATE;
	else if (!has_fast_path(conn))
		ret = DOCA_ERROR_NOT_PERMITTED;
	else if (*count == max)
		ret = DOCA_ERROR_NO_MEMORY;
	else
		(*count)++;
	pthread_mutex_unlock(&conn->lock);
	if (ret == DOCA_ERROR_NOT_PERMITTED)
		IMPL_ERR("connection has no fast path: no producers or consumers");
	if (ret == DOCA_SUCCESS)
		impl_conn_hold(conn);
	return ret;
}

void
impl_conn_leave(struct doca_comch_connection *conn, uint32_t *count)
{
	pthread_mutex_lock(&conn->lock);
	(*count)--;
	pthread_mutex_unlock(&conn->lock);
	impl_conn_drop(conn);
}

doca_error_t
doca_comch_connection_set_user_data(struct doca_comch_connection *connection,
		union doca_data user_data)
{
	if (connection == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	connection->user_data = user_data;
	return DOCA_SUCCESS;
}

union doca_data
doca_comch_connection_get_user_data(const struct doca_comch_connection *connection)
{
	return connection == NULL ? (union doca_data){ .u64 = 0 } : connection->user_data;
}

static struct impl_ctrl *
ctrl_of(const struct doca_comch_connection *conn, bool is_server)
{
	struct impl_ctrl *ctrl;

	if (conn == NULL)
		return NULL;
	ctrl = (struct impl_ctrl *)conn->head.ctx;
	return ctrl != NULL && ctrl->is_server == is_server ? ctrl : NULL;
}

struct doca_comch_server *
doca_comch_server_get_server_ctx(const struct doca_comch_connection *connection)
{
	return (struct doca_comch_server *)ctrl_of(connection, true);
}

struct doca_comch_client *
doca_comch_client_get_client_ctx(const struct doca_comch_connection *connection)
{
	return (struct doca_comch_client *)ctrl_of(connection, false);
}

doca_error_t
doca_comch_connection_update_info(struct doca_comch_connection *comch_connection)
{
	if (comch_connection == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	switch (comch_connection->state) {
	case IMPL_CONN_CONNECTING:
		return DOCA_ERROR_CONNECTION_INPROGRESS;
	case IMPL_CONN_UP:
		impl_conn_snapshot(comch_connection);
		return DOCA_SUCCESS;
	default:
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
}

doca_error_t
doca_comch_connection_get_counter(const struct doca_comch_connection *comch_connection,
		enum doca_comch_counter counter_type, uint64_t *counter_value)
{
	const struct rte_comch_conn_stats *s;

	if (comch_connection == NULL || counter_value == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	s = &comch_connection->snapshot;
	switch (counter_type) {
	case DOCA_COMCH_COUNTER_SENT_MESSAGES:
		*counter_value = s->tx_msgs;
		return DOCA_SUCCESS;
	case DOCA_COMCH_COUNTER_SENT_BYTES:
		*counter_value = s->tx_bytes;
		return DOCA_SUCCESS;
	case DOCA_COMCH_COUNTER_RECV_MESSAGES:
		*counter_value = s->rx_msgs;
		return DOCA_SUCCESS;
	case DOCA_COMCH_COUNTER_RECV_BYTES:
		*counter_value = s->rx_bytes;
		return DOCA_SUCCESS;
	default:
		return DOCA_ERROR_INVALID_VALUE;
	}
}

IMPL_CC_NAMES_CONN(IMPL_CC_NAME)
