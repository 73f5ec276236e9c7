/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_COMCH_H
#define DOCA_COMCH_H

/**
 * @file
 * DOCA Comch: servers (DPU), clients (host), connections, control messages.
 *
 *     host                                      DPU
 *     doca_comch_client_create()                doca_comch_server_create()
 *     doca_pe_connect_ctx()                     doca_pe_connect_ctx()
 *     ..._task_send_set_conf()                  ..._task_send_set_conf()
 *     ..._event_msg_recv_register()             ..._event_msg_recv_register()
 *                                               ..._event_connection_status_changed_register()
 *     doca_ctx_start(): IN_PROGRESS             doca_ctx_start(): SUCCESS
 *     doca_pe_progress() ---------------------- doca_pe_progress()
 *     state callback: RUNNING                   connect callback
 *     doca_comch_client_get_connection()
 *     ..._task_send_alloc_init(), doca_task_submit()
 *         ------------------------------------> message callback
 *     send callback                             ...
 *     doca_ctx_stop() ------------------------> disconnect callback
 *     state callback: IDLE
 *
 * With comch:
 *   - a client retries for half a second if its server does not exist yet;
 *   - a submit never fails because the peer is slow: the message is queued by the
 *     sender;
 *   - the RUNNING callback of a client comes before its first message;
 *   - stop and disconnect give a live peer up to a second to receive what was sent
 *     before;
 *   - doca_comch_server_disconnect() does not run the disconnect callback of that
 *     connection.
 *
 * See doc/guides/doca/differences.md for the reasons and the limits.
 *
 * Event callbacks have no argument for application data. Get it from the connection
 * instead, in any callback: doca_comch_server_get_server_ctx() or
 * doca_comch_client_get_client_ctx(), then the user data of its context.
 *
 * Threads: a server or client, its connections and its tasks belong to the thread of
 * its progress engine. Each producer and consumer of a connection may have another
 * engine, and so another thread.
 *
 * Errors: functions return DOCA_SUCCESS, or DOCA_ERROR_INVALID_VALUE for a NULL
 * argument; each names its other errors.
 *
 * Reference: DOCA Comch guide 2.10, "DOCA Comch Control Path".
 */

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_dev_rep;
struct doca_devinfo;
struct doca_ctx;
struct doca_task;
struct doca_comch_connection;
struct doca_comch_server;
struct doca_comch_client;
struct doca_comch_task_send;
struct doca_comch_event_msg_recv;
struct doca_comch_event_connection_status_changed;
struct doca_comch_event_consumer;

/** @name Connections
 * A server's connection is valid from its connect callback until its disconnect
 * callback has returned. A client's is valid from doca_ctx_start() until the client is
 * destroyed or started again.
 * @{
 */

/** Counters of a connection's control messages, as this side sees them. */
enum doca_comch_counter {
	DOCA_COMCH_COUNTER_SENT_MESSAGES = 1,
	DOCA_COMCH_COUNTER_SENT_BYTES = 2,
	DOCA_COMCH_COUNTER_RECV_MESSAGES = 3,
	DOCA_COMCH_COUNTER_RECV_BYTES = 4,
};

/** Set the application's data. */
DOCA_STABLE
doca_error_t doca_comch_connection_set_user_data(struct doca_comch_connection *connection,
		union doca_data user_data);

/** The application's data; 0 at first, and for NULL. */
DOCA_STABLE
union doca_data doca_comch_connection_get_user_data(
		const struct doca_comch_connection *connection);

/** The server of a connection; NULL on a client, and once the connection has ended. */
DOCA_STABLE
struct doca_comch_server *doca_comch_server_get_server_ctx(
		const struct doca_comch_connection *connection);

/** The client of a connection; NULL on a server. */
DOCA_STABLE
struct doca_comch_client *doca_comch_client_get_client_ctx(
		const struct doca_comch_connection *connection);

/**
 * Return the state of a connection and take a snapshot of its counters.
 *
 * @return
 *   - DOCA_SUCCESS: established.
 *   - DOCA_ERROR_CONNECTION_INPROGRESS: not established yet.
 *   - DOCA_ERROR_CONNECTION_ABORTED: failed or ended.
 */
DOCA_STABLE
doca_error_t doca_comch_connection_update_info(struct doca_comch_connection *comch_connection);

/**
 * A counter of the last snapshot; 0 before the first. Fast-path messages are not
 * counted.
 *
 * @return DOCA_ERROR_INVALID_VALUE: unknown counter.
 */
DOCA_STABLE
doca_error_t doca_comch_connection_get_counter(
		const struct doca_comch_connection *comch_connection,
		enum doca_comch_counter counter_type, uint64_t *counter_value);

/** @} */
/** @name Capabilities
 * *devinfo* may come from a list or from an open device.
 * @{
 */

/** Longest server name, in bytes with its NUL. */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_name_len(const struct doca_devinfo *devinfo,
		uint32_t *max_name_len);

/** Longest control message, in bytes. */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_msg_size(const struct doca_devinfo *devinfo, uint32_t *size);

/** Longest receive queue, in messages. */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo,
		uint32_t *size);

/** Maximum number of connected clients per server. */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_clients(const struct doca_devinfo *devinfo,
		uint32_t *num_clients);

/** Maximum number of send tasks of a server or client. */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_send_tasks(const struct doca_devinfo *devinfo,
		uint32_t *max_send_tasks);

/**
 * Whether the device supports servers: on the DPU only.
 *
 * @return DOCA_ERROR_NOT_SUPPORTED: a device of the host.
 */
DOCA_STABLE
doca_error_t doca_comch_cap_server_is_supported(const struct doca_devinfo *devinfo);

/**
 * Whether the device supports clients: on the host only.
 *
 * @return DOCA_ERROR_NOT_SUPPORTED: a device of the DPU.
 */
DOCA_STABLE
doca_error_t doca_comch_cap_client_is_supported(const struct doca_devinfo *devinfo);

/** @} */
/** @name Servers
 * @{
 */

/**
 * Create a server.
 *
 * @param dev
 *   A device of the DPU; in use until the server is destroyed.
 * @param repr
 *   A representor of that device; in use until the server is destroyed.
 * @param name
 *   The name clients connect to; copied. It must be unique on the device and
 *   representor, which doca_ctx_start() checks.
 * @param[out] comch_server
 *   The server.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: the name is empty or too long, or the representor
 *     belongs to another device.
 *   - DOCA_ERROR_NOT_SUPPORTED: a device of the host.
 *   - DOCA_ERROR_NO_MEMORY.
 */
DOCA_STABLE
doca_error_t doca_comch_server_create(struct doca_dev *dev, struct doca_dev_rep *repr,
		const char *name, struct doca_comch_server **comch_server);

/** Destroy a server. @return DOCA_ERROR_IN_USE: not IDLE. */
DOCA_STABLE
doca_error_t doca_comch_server_destroy(struct doca_comch_server *comch_server);

/**
 * Set the longest message, in bytes. Clients with another setting are refused.
 *
 * Reference: DOCA Comch guide 2.10, "Optional Configurations".
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: 0, or over the capability.
 *   - DOCA_ERROR_BAD_STATE: not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_server_set_max_msg_size(struct doca_comch_server *comch_server,
		uint32_t size);

/** The longest message, in bytes; default 4080. */
DOCA_STABLE
doca_error_t doca_comch_server_get_max_msg_size(const struct doca_comch_server *comch_server,
		uint32_t *size);

/**
 * Set the maximum number of unreceived messages per client. Messages beyond it stay
 * queued by the sender.
 *
 * @return As doca_comch_server_set_max_msg_size().
 */
DOCA_STABLE
doca_error_t doca_comch_server_set_recv_queue_size(struct doca_comch_server *comch_server,
		uint32_t size);

/** The receive queue size, in messages; default 64. */
DOCA_STABLE
doca_error_t doca_comch_server_get_recv_queue_size(const struct doca_comch_server *comch_server,
		uint32_t *size);

/** The server's device. */
DOCA_STABLE
doca_error_t doca_comch_server_get_device(const struct doca_comch_server *comch_server,
		struct doca_dev **dev);

/** The server's representor. */
DOCA_STABLE
doca_error_t doca_comch_server_get_device_rep(const struct doca_comch_server *comch_server,
		struct doca_dev_rep **rep);

/** Name of doca_comch_server_get_device_rep() until DOCA 2.8. */
DOCA_STABLE
doca_error_t doca_comch_server_get_device_repr(const struct doca_comch_server *comch_server,
		struct doca_dev_rep **rep);

/** The server as a doca_ctx; NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_comch_server_as_ctx(struct doca_comch_server *comch_server);

/**
 * Close a connection. The client is notified and its context stops. On this side the
 * disconnect callback does not run; tasks in flight still complete.
 *
 * @return
 *   - DOCA_SUCCESS: the connection is closed; do not use it any more.
 *   - DOCA_ERROR_INVALID_VALUE: not a live connection of this server.
 *   - DOCA_ERROR_IN_USE: it has producers or consumers that are not IDLE.
 *   - DOCA_ERROR_AGAIN: progress, then call again.
 */
DOCA_STABLE
doca_error_t doca_comch_server_disconnect(struct doca_comch_server *comch_server,
		struct doca_comch_connection *connection);

/** @} */
/** @name Clients
 * @{
 */

/**
 * Create a client.
 *
 * @param dev
 *   A device of the host; in use until the client is destroyed.
 * @param name
 *   The exact name of the server; copied.
 * @param[out] comch_client
 *   The client.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: the name is empty or too long.
 *   - DOCA_ERROR_NOT_SUPPORTED: a device of the DPU.
 *   - DOCA_ERROR_NO_MEMORY.
 */
DOCA_STABLE
doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name,
		struct doca_comch_client **comch_client);

/** Destroy a client. @return DOCA_ERROR_IN_USE: not IDLE. */
DOCA_STABLE
doca_error_t doca_comch_client_destroy(struct doca_comch_client *comch_client);

/** As doca_comch_server_set_max_msg_size(). */
DOCA_STABLE
doca_error_t doca_comch_client_set_max_msg_size(struct doca_comch_client *comch_client,
		uint32_t size);

/** As doca_comch_server_get_max_msg_size(). */
DOCA_STABLE
doca_error_t doca_comch_client_get_max_msg_size(const struct doca_comch_client *comch_client,
		uint32_t *size);

/** As doca_comch_server_set_recv_queue_size(). */
DOCA_STABLE
doca_error_t doca_comch_client_set_recv_queue_size(struct doca_comch_client *comch_client,
		uint32_t size);

/** As doca_comch_server_get_recv_queue_size(). */
DOCA_STABLE
doca_error_t doca_comch_client_get_recv_queue_size(const struct doca_comch_client *comch_client,
		uint32_t *size);

/** The client's device. */
DOCA_STABLE
doca_error_t doca_comch_client_get_device(const struct doca_comch_client *comch_client,
		struct doca_dev **dev);

/** The client as a doca_ctx; NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_comch_client_as_ctx(struct doca_comch_client *comch_client);

/**
 * The client's connection, once it is established.
 *
 * @return DOCA_ERROR_BAD_STATE: IDLE, or not RUNNING yet.
 */
DOCA_STABLE
doca_error_t doca_comch_client_get_connection(const struct doca_comch_client *comch_client,
		struct doca_comch_connection **connection);

/** @} */
/** @name Send tasks
 * @{
 */

/** A send task has completed or failed: see doca_task_get_status(). */
typedef void (*doca_comch_task_send_completion_cb_t)(struct doca_comch_task_send *task,
		union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Configure send tasks. Mandatory.
 *
 * @param comch_server
 *   The server.
 * @param task_completion_cb
 *   Called when the message is in the queue of the peer, which may not have looked at it yet.
 * @param task_error_cb
 *   Called when the message did not get there.
 * @param num_send_tasks
 *   Number of tasks that may be allocated at the same time.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: no tasks, or over the capability.
 *   - DOCA_ERROR_BAD_STATE: not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_server_task_send_set_conf(struct doca_comch_server *comch_server,
		doca_comch_task_send_completion_cb_t task_completion_cb,
		doca_comch_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks);

/** As doca_comch_server_task_send_set_conf(). */
DOCA_STABLE
doca_error_t doca_comch_client_task_send_set_conf(struct doca_comch_client *comch_client,
		doca_comch_task_send_completion_cb_t task_completion_cb,
		doca_comch_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks);

/**
 * Allocate a send task.
 *
 * Messages of a connection arrive in the order of submission, and their tasks complete
 * in that order. A submit never fails because the peer is slow: messages it has no room
 * for stay queued here.
 *
 * @param comch_server
 *   The server.
 * @param peer
 *   One of its connections.
 * @param msg
 *   The message, in any memory. Keep it unchanged until the task has completed.
 * @param len
 *   Bytes, 0 up to the longest message.
 * @param[out] task
 *   The task; it can be submitted again after each completion.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: too long, or a connection of another object.
 *   - DOCA_ERROR_NO_MEMORY: all tasks are allocated.
 *   - DOCA_ERROR_BAD_STATE: IDLE or STARTING.
 */
DOCA_STABLE
doca_error_t doca_comch_server_task_send_alloc_init(struct doca_comch_server *comch_server,
		struct doca_comch_connection *peer, const void *msg, uint32_t len,
		struct doca_comch_task_send **task);

/** As doca_comch_server_task_send_alloc_init(). */
DOCA_STABLE
doca_error_t doca_comch_client_task_send_alloc_init(struct doca_comch_client *comch_client,
		struct doca_comch_connection *peer, const void *msg, uint32_t len,
		struct doca_comch_task_send **task);

/** The task as a doca_task; NULL for NULL. */
DOCA_STABLE
struct doca_task *doca_comch_task_send_as_task(struct doca_comch_task_send *task);

/** @} */
/** @name Events
 * Register callbacks before the start. The event argument of a callback carries no
 * data.
 * @{
 */

/** A message has arrived. The buffer is valid and writable until the callback returns. */
typedef void (*doca_comch_event_msg_recv_cb_t)(struct doca_comch_event_msg_recv *event,
		uint8_t *recv_buffer, uint32_t msg_len,
		struct doca_comch_connection *comch_connection);

/** A client has connected or its connection has ended; *change_successful* is always 1. */
typedef void (*doca_comch_event_connection_status_changed_cb_t)(
		struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *comch_connection, uint8_t change_successful);

/** The peer has started or stopped a consumer; producer tasks use its *id*. */
typedef void (*doca_comch_event_consumer_cb_t)(struct doca_comch_event_consumer *event,
		struct doca_comch_connection *comch_connection, uint32_t id);

/**
 * Set the callback for received messages. Mandatory.
 *
 * @return DOCA_ERROR_BAD_STATE: not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_server_event_msg_recv_register(struct doca_comch_server *comch_server,
		doca_comch_event_msg_recv_cb_t recv_event_cb);

/** As doca_comch_server_event_msg_recv_register(). */
DOCA_STABLE
doca_error_t doca_comch_client_event_msg_recv_register(struct doca_comch_client *comch_client,
		doca_comch_event_msg_recv_cb_t recv_event_cb);

/**
 * Set the callbacks for clients that connect and disconnect. Both are mandatory.
 *
 * The connect callback may use the connection at once, including
 * doca_comch_server_disconnect(). The disconnect callback is the last one of a
 * connection.
 *
 * @return DOCA_ERROR_BAD_STATE: not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_server_event_connection_status_changed_register(
		struct doca_comch_server *comch_server,
		doca_comch_event_connection_status_changed_cb_t connect_event_cb,
		doca_comch_event_connection_status_changed_cb_t disconnect_event_cb);

/** Name of the function above in DOCA 2.7 and 2.8. */
DOCA_STABLE
doca_error_t doca_comch_server_event_connection_register(
		struct doca_comch_server *comch_server,
		doca_comch_event_connection_status_changed_cb_t connect_event_cb,
		doca_comch_event_connection_status_changed_cb_t disconnect_event_cb);

/**
 * Set the callbacks for the peer's consumers; both are needed. They also report the
 * consumers that are RUNNING when the connection is established.
 *
 * @return DOCA_ERROR_BAD_STATE: not IDLE.
 */
DOCA_STABLE
doca_error_t doca_comch_server_event_consumer_register(struct doca_comch_server *comch_server,
		doca_comch_event_consumer_cb_t new_consumer_event_cb,
		doca_comch_event_consumer_cb_t expired_consumer_event_cb);

/** As doca_comch_server_event_consumer_register(). */
DOCA_STABLE
doca_error_t doca_comch_client_event_consumer_register(struct doca_comch_client *comch_client,
		doca_comch_event_consumer_cb_t new_consumer_event_cb,
		doca_comch_event_consumer_cb_t expired_consumer_event_cb);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_H */
