/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_COMCH_COMCH_H
#define IMPL_COMCH_COMCH_H

/*
 * Servers and clients (together: controls), connections, producers, consumers.
 *
 * A native object exists from start to IDLE. A connection is reference-counted, as it
 * may outlive its native one: by its control until it has ended, by the tasks allocated
 * for it, together, and by each producer and consumer created on it.
 *
 * Threads: a control, its connections and its tasks belong to its engine's thread.
 * Producers and consumers on other threads use two fields of a connection only: refs,
 * and native, under its lock.
 */

#include <pthread.h>

#include <rte_comch.h>
#include <rte_comch_stats.h>

#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "ctx/ctx.h"

/* The last sixteenth of a server's places is for processes without one: no process takes all. */
#define IMPL_RESERVE_SHARE 16
#define IMPL_MAX_PLACES (IMPL_MAX_CLIENTS * IMPL_RESERVE_SHARE / (IMPL_RESERVE_SHARE - 1))
#define IMPL_DEFAULT_RECV_QUEUE 64

/* Check the name of a server. If invalid, log with prefix what: DOCA_ERROR_INVALID_VALUE. */
doca_error_t impl_name_check(const char *what, const char *name);
/*
 * Limit the clients of a server on an open device: one process may have as many as the capability
 * says, unless the devargs set less.
 */
void impl_set_max_clients(struct rte_comch_server_conf *conf, const struct doca_dev *dev);
/* RTE_COMCH_SERVER_F_ORDERED if the open device supports it; else 0. */
uint32_t impl_ordered_flag(const struct doca_dev *dev);

enum impl_conn_state {
	IMPL_CONN_CONNECTING,
	IMPL_CONN_UP,
	IMPL_CONN_ENDED, /* ended or ending: sends fail */
};

STAILQ_HEAD(impl_send_list, doca_comch_task_send);

struct doca_comch_connection {
	struct impl_conn_head head;    /* its control; NULL: destroyed */
	enum impl_conn_state state;
	uint32_t max_msg_size;         /* agreed with the peer, once it is up */
	bool silent;                   /* disconnected by the application: no callbacks */
	uint32_t refs;                 /* atomic */
	union doca_data user_data;
	struct impl_send_list waiting;   /* submitted, the channel is full */
	uint32_t nb_sends;             /* tasks allocated, which hold one of `refs` together */
	struct rte_comch_conn_stats snapshot;
	TAILQ_ENTRY(doca_comch_connection) next;
	/* For producers and consumers of any thread. */
	pthread_mutex_t lock;
	struct rte_comch_conn *native; /* NULL: ended */
	bool is_up;                    /* established and not ended */
	const struct impl_manners *manners; /* of its device */
	uint32_t nb_producers;         /* created, not destroyed */
	uint32_t nb_consumers;
};

TAILQ_HEAD(impl_conn_list, doca_comch_connection);

/* Callbacks of a program built for DOCA 2.5, whose arguments have other types. The
 * control then calls functions of cc/cc_205.c, which call these.
 */
struct impl_cc_cbs_205 {
	void (*msg)(struct doca_comch_event_msg_recv *event, uint8_t *recv_buffer,
			size_t msg_len, struct doca_comch_connection *conn);
	void (*connect)(struct doca_comch_event_connection_status_changed *event,
			struct doca_comch_connection *conn, bool change_success);
	void (*disconnect)(struct doca_comch_event_connection_status_changed *event,
			struct doca_comch_connection *conn, bool change_success);
};

struct impl_ctrl {
	struct doca_ctx ctx;
	struct doca_dev *dev;
	struct impl_conn_list conns;
	uint32_t nb_waiting;           /* tasks on waiting lists */
	uint32_t max_msg_size;
	uint32_t recv_queue;
	bool is_server;
	doca_comch_task_send_completion_cb_t sent_cb, send_error_cb;
	doca_comch_event_msg_recv_cb_t msg_cb;
	doca_comch_event_connection_status_changed_cb_t connect_cb, disconnect_cb;
	doca_comch_event_consumer_cb_t consumer_new_cb, consumer_gone_cb;
	struct impl_cc_cbs_205 cc_cbs;
	char name[IMPL_MAX_NAME];
};

struct doca_comch_server {
	struct impl_ctrl ctrl;
	struct doca_dev_rep *rep;
};

struct doca_comch_client {
	struct impl_ctrl ctrl;
	struct doca_comch_connection *conn; /* of the last start */
	bool was_up;                        /* the program may have conn */
};

struct doca_comch_task_send {
	struct doca_task task;
	struct doca_comch_connection *conn;
	const void *msg;
	uint32_t len;
	void *copy;                     /* of msg, while waiting */
	STAILQ_ENTRY(doca_comch_task_send) next;
};

/* conn.c */
struct doca_comch_connection *impl_conn_create(struct impl_ctrl *ctrl);
void impl_conn_bind(struct doca_comch_connection *conn, struct rte_comch_conn *native);
void impl_conn_set_state(struct doca_comch_connection *conn, enum impl_conn_state state);
static inline void
impl_conn_hold(struct doca_comch_connection *conn)
{
	__atomic_fetch_add(&conn->refs, 1, __ATOMIC_RELAXED);
}
void impl_conn_drop(struct doca_comch_connection *conn);
/* The native connection has ended: drop the control's reference. */
void impl_conn_end(struct doca_comch_connection *conn);
void impl_conn_snapshot(struct doca_comch_connection *conn);
/* Add a producer or consumer, counted in *count: BAD_STATE if the connection is not up,
 * NO_MEMORY if *count is max. Any thread.
 */
doca_error_t impl_conn_join(struct doca_comch_connection *conn, uint32_t *count, uint32_t max);
void impl_conn_leave(struct doca_comch_connection *conn, uint32_t *count);

/* End it at once, as if the channel had lost it. */
void impl_conn_abort(struct doca_comch_connection *conn);

/* ctrl.c: what servers and clients share */
doca_error_t impl_ctrl_init(struct impl_ctrl *ctrl, const struct impl_ctx_ops *ops,
		struct doca_dev *dev, const char *name);
doca_error_t impl_ctrl_check(const struct impl_ctrl *ctrl);
doca_error_t impl_ctrl_set_max_msg_size(struct impl_ctrl *ctrl, uint32_t size);
doca_error_t impl_ctrl_set_recv_queue(struct impl_ctrl *ctrl, uint32_t size);
doca_error_t impl_ctrl_set_msg_cb(struct impl_ctrl *ctrl, doca_comch_event_msg_recv_cb_t cb);
doca_error_t impl_ctrl_set_consumer_cbs(struct impl_ctrl *ctrl,
		doca_comch_event_consumer_cb_t new_cb, doca_comch_event_consumer_cb_t gone_cb);
/* Handle a native event; servers and clients handle STATE and CONNECTED themselves. */
void impl_ctrl_event(struct impl_ctrl *ctrl, const struct rte_comch_event *event);
void impl_ctrl_conn_ended(struct doca_comch_connection *conn);

/* Messages that may be in the peer's queue: a task for each may complete before it reads them. */
static inline uint32_t
impl_ctrl_send_queue(const struct impl_ctrl *ctrl)
{
	return RTE_MAX(ctrl->ctx.nb_tasks, (uint32_t)IMPL_DEFAULT_RECV_QUEUE);
}

/* send.c */
doca_error_t impl_send_set_conf(struct impl_ctrl *ctrl,
		doca_comch_task_send_completion_cb_t sent_cb,
		doca_comch_task_send_completion_cb_t error_cb, uint32_t nb_tasks);
doca_error_t impl_send_alloc(struct impl_ctrl *ctrl, struct doca_comch_connection *peer,
		const void *msg, uint32_t len, struct doca_comch_task_send **task);
doca_error_t impl_send_submit(struct doca_task *task);
void impl_send_reset(struct doca_task *task);
void impl_send_put(struct doca_task *task);
bool impl_send_revive(struct doca_task *task);
/* No task refers to a connection that is about to be freed. */
void impl_send_forget(struct impl_ctrl *ctrl, const struct doca_comch_connection *conn);
void impl_send_task_report(struct doca_task *task, doca_error_t status);
void impl_send_done(struct doca_comch_task_send *send, doca_error_t status);
/* Fail all waiting tasks of a connection. */
void impl_send_flush(struct doca_comch_connection *conn, doca_error_t status);
bool impl_send_progress(struct doca_ctx *ctx);

#endif /* IMPL_COMCH_COMCH_H */
