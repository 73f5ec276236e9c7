/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_CC_H
#define DOCA_CC_H

/**
 * @file
 * DOCA Comm Channel of DOCA 2.5 and 2.6: servers, clients, connections, control
 * messages.
 *
 * This is doca_comch.h under its older name. See doca_comch_X() for the behaviour,
 * errors and thread rule of doca_cc_X(); other differences are documented here. Do not
 * mix the types of both headers in one program. A server of one and a client of the
 * other can connect.
 *
 *     host                                      DPU
 *     doca_cc_client_create()                   doca_cc_server_create()
 *     doca_pe_connect_ctx()                     doca_pe_connect_ctx()
 *     ..._task_send_set_conf()                  ..._task_send_set_conf()
 *     ..._event_msg_recv_register()             ..._event_msg_recv_register()
 *                                               ..._event_connection_register()
 *     doca_ctx_start(): IN_PROGRESS             doca_ctx_start(): SUCCESS
 *
 * DOCA 2.5 has other names of tasks and capabilities, and other callback types.
 * Programs built for it get those: see "DOCA 2.5" below.
 *
 * Reference: DOCA Comm Channel guides 2.5 and 2.6.
 */

#include <stdbool.h>
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
struct doca_cc_connection;
struct doca_cc_server;
struct doca_cc_client;
struct doca_cc_event_msg_recv;
struct doca_cc_event_connection_status_changed;
struct doca_cc_event_consumer;

/** @name Connections
 * @{
 */

/** As enum doca_comch_counter. */
enum doca_cc_counter {
	DOCA_CC_COUNTER_SENT_MESSAGES = 1,
	DOCA_CC_COUNTER_SENT_BYTES = 2,
	DOCA_CC_COUNTER_RECV_MESSAGES = 3,
	DOCA_CC_COUNTER_RECV_BYTES = 4,
};

DOCA_EXPERIMENTAL
doca_error_t doca_cc_connection_set_user_data(struct doca_cc_connection *connection,
		union doca_data user_data);
DOCA_EXPERIMENTAL
union doca_data doca_cc_connection_get_user_data(const struct doca_cc_connection *connection);
DOCA_EXPERIMENTAL
struct doca_cc_server *doca_cc_server_get_server_ctx(const struct doca_cc_connection *connection);
DOCA_EXPERIMENTAL
struct doca_cc_client *doca_cc_client_get_client_ctx(const struct doca_cc_connection *connection);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_connection_update_info(struct doca_cc_connection *cc_connection);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_connection_get_counter(const struct doca_cc_connection *cc_connection,
		enum doca_cc_counter counter_type, uint64_t *counter_value);

/** @} */
/** @name Capabilities
 * @{
 */

DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_get_max_name_len(const struct doca_devinfo *devinfo,
		uint32_t *max_name_len);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_get_max_msg_size(const struct doca_devinfo *devinfo, uint32_t *size);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo,
		uint32_t *size);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_get_max_clients(const struct doca_devinfo *devinfo,
		uint32_t *num_clients);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_get_max_send_tasks(const struct doca_devinfo *devinfo,
		uint32_t *max_send_tasks);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_server_is_supported(const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_client_is_supported(const struct doca_devinfo *devinfo);

/** @} */
/** @name Servers
 * @{
 */

DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_create(struct doca_dev *dev, struct doca_dev_rep *repr,
		const char *name, struct doca_cc_server **cc_server);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_destroy(struct doca_cc_server *cc_server);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_set_max_msg_size(struct doca_cc_server *cc_server, uint32_t size);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_get_max_msg_size(const struct doca_cc_server *cc_server,
		uint32_t *size);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_set_recv_queue_size(struct doca_cc_server *cc_server, uint32_t size);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_get_recv_queue_size(const struct doca_cc_server *cc_server,
		uint32_t *size);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_get_device(const struct doca_cc_server *cc_server,
		struct doca_dev **dev);

/** As doca_comch_server_get_device_rep(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_get_device_repr(const struct doca_cc_server *cc_server,
		struct doca_dev_rep **repr);
DOCA_EXPERIMENTAL
struct doca_ctx *doca_cc_server_as_ctx(struct doca_cc_server *cc_server);

/** @} */
/** @name Clients
 * @{
 */

DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_create(struct doca_dev *dev, const char *name,
		struct doca_cc_client **cc_client);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_destroy(struct doca_cc_client *cc_client);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_set_max_msg_size(struct doca_cc_client *cc_client, uint32_t size);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_get_max_msg_size(const struct doca_cc_client *cc_client,
		uint32_t *size);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_set_recv_queue_size(struct doca_cc_client *cc_client, uint32_t size);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_get_recv_queue_size(const struct doca_cc_client *cc_client,
		uint32_t *size);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_get_device(const struct doca_cc_client *cc_client,
		struct doca_dev **dev);
DOCA_EXPERIMENTAL
struct doca_ctx *doca_cc_client_as_ctx(struct doca_cc_client *cc_client);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_get_connection(const struct doca_cc_client *cc_client,
		struct doca_cc_connection **connection);

/** @} */

#if COMCH_DOCA_GENERATION >= 206

/** @name Sending messages
 * @{
 */

struct doca_cc_task_send;

typedef void (*doca_cc_task_send_completion_cb_t)(struct doca_cc_task_send *task,
		union doca_data task_user_data, union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_task_send_set_conf(struct doca_cc_server *cc_server,
		doca_cc_task_send_completion_cb_t task_completion_cb,
		doca_cc_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_task_send_set_conf(struct doca_cc_client *cc_client,
		doca_cc_task_send_completion_cb_t task_completion_cb,
		doca_cc_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_task_send_alloc_init(struct doca_cc_server *cc_server,
		struct doca_cc_connection *peer, const void *msg, uint32_t len,
		struct doca_cc_task_send **task);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_task_send_alloc_init(struct doca_cc_client *cc_client,
		struct doca_cc_connection *peer, const void *msg, uint32_t len,
		struct doca_cc_task_send **task);
DOCA_EXPERIMENTAL
struct doca_task *doca_cc_task_send_as_task(struct doca_cc_task_send *task);

/** @} */

typedef void (*doca_cc_event_msg_recv_cb_t)(struct doca_cc_event_msg_recv *event,
		uint8_t *recv_buffer, uint32_t msg_len,
		struct doca_cc_connection *cc_connection);

typedef void (*doca_cc_event_connection_status_changed_cb_t)(
		struct doca_cc_event_connection_status_changed *event,
		struct doca_cc_connection *cc_connection, uint8_t change_successful);

#else /* COMCH_DOCA_GENERATION < 206 */

/** @name DOCA 2.5
 * @{
 */

struct doca_cc_send_task;

/** As doca_comch_task_send_completion_cb_t. */
typedef void (*doca_cc_send_task_completion_cb_t)(struct doca_cc_send_task *task,
		union doca_data task_user_data, union doca_data ctx_user_data);

/** As doca_comch_producer_cap_is_supported(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_is_producer_supported(const struct doca_devinfo *devinfo);

/** As doca_comch_consumer_cap_is_supported(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_is_consumer_supported(const struct doca_devinfo *devinfo);

/** As doca_comch_server_task_send_set_conf(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_send_task_set_conf(struct doca_cc_server *cc_server,
		doca_cc_send_task_completion_cb_t task_completion_cb,
		doca_cc_send_task_completion_cb_t task_error_cb, uint32_t num_send_tasks);

/** As doca_comch_client_task_send_set_conf(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_send_task_set_conf(struct doca_cc_client *cc_client,
		doca_cc_send_task_completion_cb_t task_completion_cb,
		doca_cc_send_task_completion_cb_t task_error_cb, uint32_t num_send_tasks);

/** As doca_comch_server_task_send_alloc_init(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_send_task_alloc_init(struct doca_cc_server *cc_server,
		struct doca_cc_connection *peer, const void *msg, size_t len,
		struct doca_cc_send_task **task);

/** As doca_comch_client_task_send_alloc_init(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_send_task_alloc_init(struct doca_cc_client *cc_client,
		struct doca_cc_connection *peer, const void *msg, size_t len,
		struct doca_cc_send_task **task);

/** As doca_comch_task_send_as_task(). */
DOCA_EXPERIMENTAL
struct doca_task *doca_cc_send_task_as_task(struct doca_cc_send_task *task);

typedef void (*doca_cc_event_msg_recv_cb_t)(struct doca_cc_event_msg_recv *event,
		uint8_t *recv_buffer, size_t msg_len, struct doca_cc_connection *cc_connection);

typedef void (*doca_cc_event_connection_status_changed_cb_t)(
		struct doca_cc_event_connection_status_changed *event,
		struct doca_cc_connection *cc_connection, bool change_success);

/** @} */

#endif /* COMCH_DOCA_GENERATION */

/** @name Events
 * @{
 */

typedef void (*doca_cc_event_consumer_cb_t)(struct doca_cc_event_consumer *event,
		struct doca_cc_connection *cc_connection, uint32_t id);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_event_msg_recv_register(struct doca_cc_server *cc_server,
		doca_cc_event_msg_recv_cb_t recv_event_cb)
#if COMCH_DOCA_GENERATION < 206
		COMCH_DOCA_SYMBOL(doca_cc_server_event_msg_recv_register_205)
#endif
		;
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_event_msg_recv_register(struct doca_cc_client *cc_client,
		doca_cc_event_msg_recv_cb_t recv_event_cb)
#if COMCH_DOCA_GENERATION < 206
		COMCH_DOCA_SYMBOL(doca_cc_client_event_msg_recv_register_205)
#endif
		;

/** As doca_comch_server_event_connection_status_changed_register(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_event_connection_register(struct doca_cc_server *cc_server,
		doca_cc_event_connection_status_changed_cb_t connect_event_cb,
		doca_cc_event_connection_status_changed_cb_t disconnect_event_cb)
#if COMCH_DOCA_GENERATION < 206
		COMCH_DOCA_SYMBOL(doca_cc_server_event_connection_register_205)
#endif
		;
DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_event_consumer_register(struct doca_cc_server *cc_server,
		doca_cc_event_consumer_cb_t new_consumer_event_cb,
		doca_cc_event_consumer_cb_t expired_consumer_event_cb);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_event_consumer_register(struct doca_cc_client *cc_client,
		doca_cc_event_consumer_cb_t new_consumer_event_cb,
		doca_cc_event_consumer_cb_t expired_consumer_event_cb);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_CC_H */
