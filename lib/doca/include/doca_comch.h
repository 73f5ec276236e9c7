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
 *   - a client whose server is not there yet tries for half a second;
 *   - a submit is never refused because the peer is slow: the message waits on
 *     the sender's side;
 *   - the client's RUNNING callback comes before its first message;
 *   - stop and disconnect give a live peer up to a second to take what was sent
 *     before; after doca_comch_server_disconnect() there is no disconnect
 *     callback for that connection.
 *
 * doc/guides/doca/differences.md has the reasons, and the limits.
 *
 * Event callbacks have no argument for the application's data. Get it from the
 * connection: doca_comch_server_get_server_ctx() or _client_get_client_ctx(),
 * then its context's user data. That works in every callback.
 *
 * Threads: a server or client, its connections and its tasks belong to the thread
 * of its progress engine. Producers and consumers of a connection may each have
 * an engine, and so a thread, of their own.
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
 * A connection is good from its connect callback on (server), or from
 * doca_ctx_start() on (client), until its disconnect callback has returned
 * (server), or until the client is destroyed or started again.
 * @{
 */

/** Figures of a connection's control messages, as this side sees them. */
enum doca_comch_counter {
	DOCA_COMCH_COUNTER_SENT_MESSAGES = 1,
	DOCA_COMCH_COUNTER_SENT_BYTES = 2,
	DOCA_COMCH_COUNTER_RECV_MESSAGES = 3,
	DOCA_COMCH_COUNTER_RECV_BYTES = 4,
};

/** Set the application's data. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
DOCA_STABLE
doca_error_t doca_comch_connection_set_user_data(struct doca_comch_connection *connection,
		union doca_data user_data);

/** The application's data; 0 at first, and for NULL. */
DOCA_STABLE
union doca_data doca_comch_connection_get_user_data(
		const struct doca_comch_connection *connection);

/** The server of a connection; NULL on the client's side. */
DOCA_STABLE
struct doca_comch_server *doca_comch_server_get_server_ctx(
		const struct doca_comch_connection *connection);

/** The client of a connection; NULL on the server's side. */
DOCA_STABLE
struct doca_comch_client *doca_comch_client_get_client_ctx(
		const struct doca_comch_connection *connection);

/**
 * Take a snapshot of the counters, and say how the connection is.
 *
 * @return
 *   DOCA_SUCCESS: established, DOCA_ERROR_CONNECTION_INPROGRESS: not yet,
 *   DOCA_ERROR_CONNECTION_ABORTED: it has failed or ended,
 *   DOCA_ERROR_INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_comch_connection_update_info(struct doca_comch_connection *comch_connection);

/**
 * A counter as of the last snapshot; 0 before the first. The fast path does not
 * count.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE (also for an unknown counter).
 */
DOCA_STABLE
doca_error_t doca_comch_connection_get_counter(
		const struct doca_comch_connection *comch_connection,
		enum doca_comch_counter counter_type, uint64_t *counter_value);

/** @} */
/** @name Capabilities
 * Of a device of a list, or of an opened one.
 * @{
 */

/** Longest name of a server, bytes with its NUL. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_name_len(const struct doca_devinfo *devinfo,
		uint32_t *max_name_len);

/** Longest control message, bytes. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_msg_size(const struct doca_devinfo *devinfo, uint32_t *size);

/** Deepest receive queue, messages. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo,
		uint32_t *size);

/** Clients of one server at a time. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_clients(const struct doca_devinfo *devinfo,
		uint32_t *num_clients);

/** Send tasks of one server or client. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_send_tasks(const struct doca_devinfo *devinfo,
		uint32_t *max_send_tasks);

/**
 * May servers live on the device?
 *
 * @return
 *   DOCA_SUCCESS: yes, it is the DPU's; DOCA_ERROR_NOT_SUPPORTED,
 *   DOCA_ERROR_INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_comch_cap_server_is_supported(const struct doca_devinfo *devinfo);

/**
 * May clients live on the device?
 *
 * @return
 *   DOCA_SUCCESS: yes, it is the host's; DOCA_ERROR_NOT_SUPPORTED,
 *   DOCA_ERROR_INVALID_VALUE.
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
 *   A representor of that device; in use as well.
 * @param name
 *   What clients connect to; copied. Unique on its device and representor,
 *   which doca_ctx_start() checks.
 * @param[out] comch_server
 *   The server.
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (an argument is NULL, the name is
 *   empty or too long, the representor is another device's),
 *   DOCA_ERROR_NOT_SUPPORTED (a device of the host), DOCA_ERROR_NO_MEMORY.
 */
DOCA_STABLE
doca_error_t doca_comch_server_create(struct doca_dev *dev, struct doca_dev_rep *repr,
		const char *name, struct doca_comch_server **comch_server);

/**
 * Destroy a server.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_IN_USE (not IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_server_destroy(struct doca_comch_server *comch_server);

/**
 * Set the longest message, bytes. A client whose setting differs is refused.
 *
 * Reference: DOCA Comch guide 2.10, "Optional Configurations".
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE (0, or over the capability),
 *   DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_server_set_max_msg_size(struct doca_comch_server *comch_server,
		uint32_t size);

/** The longest message; 4080 by default. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
DOCA_STABLE
doca_error_t doca_comch_server_get_max_msg_size(const struct doca_comch_server *comch_server,
		uint32_t *size);

/**
 * Set how many messages of a client wait here at most. What is sent beyond
 * waits at the sender.
 *
 * @return
 *   As doca_comch_server_set_max_msg_size().
 */
DOCA_STABLE
doca_error_t doca_comch_server_set_recv_queue_size(struct doca_comch_server *comch_server,
		uint32_t size);

/** The receive queue; 64 by default. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
DOCA_STABLE
doca_error_t doca_comch_server_get_recv_queue_size(const struct doca_comch_server *comch_server,
		uint32_t *size);

/** The server's device. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
DOCA_STABLE
doca_error_t doca_comch_server_get_device(const struct doca_comch_server *comch_server,
		struct doca_dev **dev);

/** The server's representor. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
DOCA_STABLE
doca_error_t doca_comch_server_get_device_rep(const struct doca_comch_server *comch_server,
		struct doca_dev_rep **rep);

/** The name of doca_comch_server_get_device_rep() until DOCA 2.8. */
DOCA_STABLE
doca_error_t doca_comch_server_get_device_repr(const struct doca_comch_server *comch_server,
		struct doca_dev_rep **rep);

/** The server as a context; NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_comch_server_as_ctx(struct doca_comch_server *comch_server);

/**
 * End a connection: the client is told, and its context stops. There is no
 * disconnect callback for it on this side; tasks in flight still come back.
 *
 * @return
 *   - DOCA_SUCCESS: it is as good as gone: do not use it any more.
 *   - DOCA_ERROR_INVALID_VALUE: NULL, or not a live connection of this server.
 *   - DOCA_ERROR_IN_USE: it has producers or consumers that are not IDLE.
 *   - DOCA_ERROR_AGAIN: progress, and call again.
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
 *   The server's name, exactly; copied.
 * @param[out] comch_client
 *   The client.
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (an argument is NULL, the name is
 *   empty or too long), DOCA_ERROR_NOT_SUPPORTED (a device of the DPU),
 *   DOCA_ERROR_NO_MEMORY.
 */
DOCA_STABLE
doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name,
		struct doca_comch_client **comch_client);

/**
 * Destroy a client.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_IN_USE (not IDLE).
 */
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

/** The client's device. @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE. */
DOCA_STABLE
doca_error_t doca_comch_client_get_device(const struct doca_comch_client *comch_client,
		struct doca_dev **dev);

/** The client as a context; NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_comch_client_as_ctx(struct doca_comch_client *comch_client);

/**
 * The client's connection, once it is established: one may ask until it is.
 *
 * @return
 *   DOCA_SUCCESS (RUNNING, or STOPPING after it), DOCA_ERROR_INVALID_VALUE,
 *   DOCA_ERROR_BAD_STATE (IDLE, or not RUNNING yet).
 */
DOCA_STABLE
doca_error_t doca_comch_client_get_connection(const struct doca_comch_client *comch_client,
		struct doca_comch_connection **connection);

/** @} */
/** @name Sending messages
 * @{
 */

/** A message was sent, or was not: see doca_task_get_status(). */
typedef void (*doca_comch_task_send_completion_cb_t)(struct doca_comch_task_send *task,
		union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Configure send tasks. Mandatory.
 *
 * @param comch_server
 *   The server.
 * @param task_completion_cb
 *   The peer's application was given the message.
 * @param task_error_cb
 *   It was not, as far as is known.
 * @param num_send_tasks
 *   Tasks that may be allocated at a time.
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE (NULL, 0 or over the capability),
 *   DOCA_ERROR_BAD_STATE (not IDLE).
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
 * Messages of a connection arrive in the order of their submits, and so do
 * their callbacks. A submit does not fail because the peer is slow: what it has
 * no room for waits here.
 *
 * @param comch_server
 *   The server.
 * @param peer
 *   A connection of it.
 * @param msg
 *   The message, in any memory; the application keeps it as it is until the
 *   task has come back.
 * @param len
 *   Bytes; 0 to the longest message.
 * @param[out] task
 *   The task, for doca_task_submit() as often as wanted.
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE (NULL, too long, a connection of
 *   another object), DOCA_ERROR_NO_MEMORY (all tasks are allocated),
 *   DOCA_ERROR_BAD_STATE (IDLE or STARTING).
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

/** The task as any task; NULL for NULL. */
DOCA_STABLE
struct doca_task *doca_comch_task_send_as_task(struct doca_comch_task_send *task);

/** @} */
/** @name Events
 * Registered before the start. Event handles carry nothing.
 * @{
 */

/**
 * A message has arrived. The buffer is good, and may be written to, until the
 * callback returns.
 */
typedef void (*doca_comch_event_msg_recv_cb_t)(struct doca_comch_event_msg_recv *event,
		uint8_t *recv_buffer, uint32_t msg_len,
		struct doca_comch_connection *comch_connection);

/** A client has connected, or its connection has ended; *change_successful* is 1. */
typedef void (*doca_comch_event_connection_status_changed_cb_t)(
		struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *comch_connection, uint8_t change_successful);

/** The peer has a new consumer, or one less; *id* is for a producer's tasks. */
typedef void (*doca_comch_event_consumer_cb_t)(struct doca_comch_event_consumer *event,
		struct doca_comch_connection *comch_connection, uint32_t id);

/**
 * Receive messages. Mandatory.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_server_event_msg_recv_register(struct doca_comch_server *comch_server,
		doca_comch_event_msg_recv_cb_t recv_event_cb);

/** As doca_comch_server_event_msg_recv_register(). */
DOCA_STABLE
doca_error_t doca_comch_client_event_msg_recv_register(struct doca_comch_client *comch_client,
		doca_comch_event_msg_recv_cb_t recv_event_cb);

/**
 * Hear of connections. Mandatory. Both callbacks are.
 *
 * In the connect callback everything may be done with the connection, also
 * doca_comch_server_disconnect(). The disconnect callback is the connection's
 * last.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_server_event_connection_status_changed_register(
		struct doca_comch_server *comch_server,
		doca_comch_event_connection_status_changed_cb_t connect_event_cb,
		doca_comch_event_connection_status_changed_cb_t disconnect_event_cb);

/** The name of the former in DOCA 2.7 and 2.8. */
DOCA_STABLE
doca_error_t doca_comch_server_event_connection_register(
		struct doca_comch_server *comch_server,
		doca_comch_event_connection_status_changed_cb_t connect_event_cb,
		doca_comch_event_connection_status_changed_cb_t disconnect_event_cb);

/**
 * Hear of the peer's consumers: those that are RUNNING when the connection is
 * established as well. Both callbacks are needed.
 *
 * @return
 *   DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_BAD_STATE (not IDLE).
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
