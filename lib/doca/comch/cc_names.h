/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_COMCH_CC_NAMES_H
#define IMPL_COMCH_CC_NAMES_H

#include "base/alias.h"

/*
 * Names of doca_comch functions in doca_cc, the channel of DOCA 2.5 and 2.6. Each is a
 * second symbol, so that programs can also look it up at run time. Functions that
 * differ in more than their names are in cc/.
 *
 * Each source file defines the names of its functions at its end:
 *
 *     IMPL_CC_NAMES_SERVER(IMPL_CC_NAME)
 *
 * The first argument is how the two declarations differ:
 *
 *     SAME         in the names of types only; cc/ checks that at compile time
 *     NEARLY       also in a const, or in the tag of an enum
 *     OLD_SAME     as SAME, for functions that only DOCA 2.5 has
 *     OLD_NEARLY   as NEARLY, for functions that only DOCA 2.5 has
 */

#define IMPL_CC_NAME(how, name, of) IMPL_ALIAS(name, of);

#define IMPL_CC_NAMES_CONN(X) \
	X(SAME, doca_cc_connection_set_user_data, doca_comch_connection_set_user_data) \
	X(SAME, doca_cc_connection_get_user_data, doca_comch_connection_get_user_data) \
	X(SAME, doca_cc_server_get_server_ctx, doca_comch_server_get_server_ctx) \
	X(SAME, doca_cc_client_get_client_ctx, doca_comch_client_get_client_ctx) \
	X(SAME, doca_cc_connection_update_info, doca_comch_connection_update_info) \
	X(NEARLY, doca_cc_connection_get_counter, doca_comch_connection_get_counter)

#define IMPL_CC_NAMES_CAPS(X) \
	X(SAME, doca_cc_cap_get_max_name_len, doca_comch_cap_get_max_name_len) \
	X(SAME, doca_cc_cap_get_max_msg_size, doca_comch_cap_get_max_msg_size) \
	X(SAME, doca_cc_cap_get_max_recv_queue_size, doca_comch_cap_get_max_recv_queue_size) \
	X(SAME, doca_cc_cap_get_max_clients, doca_comch_cap_get_max_clients) \
	X(SAME, doca_cc_cap_get_max_send_tasks, doca_comch_cap_get_max_send_tasks) \
	X(SAME, doca_cc_cap_server_is_supported, doca_comch_cap_server_is_supported) \
	X(SAME, doca_cc_cap_client_is_supported, doca_comch_cap_client_is_supported) \
	X(SAME, doca_cc_consumer_cap_is_supported, doca_comch_consumer_cap_is_supported) \
	X(SAME, doca_cc_consumer_cap_get_max_num_tasks, doca_comch_consumer_cap_get_max_num_tasks) \
	X(SAME, doca_cc_consumer_cap_get_max_buf_size, doca_comch_consumer_cap_get_max_buf_size) \
	X(SAME, doca_cc_consumer_cap_get_max_consumers, doca_comch_consumer_cap_get_max_consumers) \
	X(SAME, doca_cc_producer_cap_is_supported, doca_comch_producer_cap_is_supported) \
	X(SAME, doca_cc_producer_cap_get_max_num_tasks, doca_comch_producer_cap_get_max_num_tasks) \
	X(SAME, doca_cc_producer_cap_get_max_buf_size, doca_comch_producer_cap_get_max_buf_size) \
	X(SAME, doca_cc_producer_cap_get_max_producers, doca_comch_producer_cap_get_max_producers) \
	X(OLD_SAME, doca_cc_cap_is_producer_supported, doca_comch_producer_cap_is_supported) \
	X(OLD_SAME, doca_cc_cap_is_consumer_supported, doca_comch_consumer_cap_is_supported)

#define IMPL_CC_NAMES_SERVER(X) \
	X(SAME, doca_cc_server_create, doca_comch_server_create) \
	X(SAME, doca_cc_server_destroy, doca_comch_server_destroy) \
	X(SAME, doca_cc_server_set_max_msg_size, doca_comch_server_set_max_msg_size) \
	X(SAME, doca_cc_server_get_max_msg_size, doca_comch_server_get_max_msg_size) \
	X(SAME, doca_cc_server_set_recv_queue_size, doca_comch_server_set_recv_queue_size) \
	X(SAME, doca_cc_server_get_recv_queue_size, doca_comch_server_get_recv_queue_size) \
	X(SAME, doca_cc_server_get_device, doca_comch_server_get_device) \
	X(SAME, doca_cc_server_get_device_repr, doca_comch_server_get_device_rep) \
	X(SAME, doca_cc_server_as_ctx, doca_comch_server_as_ctx) \
	X(SAME, doca_cc_server_task_send_set_conf, doca_comch_server_task_send_set_conf) \
	X(SAME, doca_cc_server_task_send_alloc_init, doca_comch_server_task_send_alloc_init) \
	X(SAME, doca_cc_server_event_msg_recv_register, doca_comch_server_event_msg_recv_register) \
	X(SAME, doca_cc_server_event_connection_register, \
		doca_comch_server_event_connection_status_changed_register) \
	X(SAME, doca_cc_server_event_consumer_register, doca_comch_server_event_consumer_register) \
	X(OLD_SAME, doca_cc_server_send_task_set_conf, doca_comch_server_task_send_set_conf)

#define IMPL_CC_NAMES_CLIENT(X) \
	X(SAME, doca_cc_client_create, doca_comch_client_create) \
	X(SAME, doca_cc_client_destroy, doca_comch_client_destroy) \
	X(SAME, doca_cc_client_set_max_msg_size, doca_comch_client_set_max_msg_size) \
	X(SAME, doca_cc_client_get_max_msg_size, doca_comch_client_get_max_msg_size) \
	X(SAME, doca_cc_client_set_recv_queue_size, doca_comch_client_set_recv_queue_size) \
	X(SAME, doca_cc_client_get_recv_queue_size, doca_comch_client_get_recv_queue_size) \
	X(SAME, doca_cc_client_get_device, doca_comch_client_get_device) \
	X(SAME, doca_cc_client_as_ctx, doca_comch_client_as_ctx) \
	X(SAME, doca_cc_client_get_connection, doca_comch_client_get_connection) \
	X(SAME, doca_cc_client_task_send_set_conf, doca_comch_client_task_send_set_conf) \
	X(SAME, doca_cc_client_task_send_alloc_init, doca_comch_client_task_send_alloc_init) \
	X(SAME, doca_cc_client_event_msg_recv_register, doca_comch_client_event_msg_recv_register) \
	X(SAME, doca_cc_client_event_consumer_register, doca_comch_client_event_consumer_register) \
	X(OLD_SAME, doca_cc_client_send_task_set_conf, doca_comch_client_task_send_set_conf)

#define IMPL_CC_NAMES_SEND(X) \
	X(SAME, doca_cc_task_send_as_task, doca_comch_task_send_as_task) \
	X(OLD_SAME, doca_cc_send_task_as_task, doca_comch_task_send_as_task)

#define IMPL_CC_NAMES_CONSUMER(X) \
	X(SAME, doca_cc_consumer_create, doca_comch_consumer_create) \
	X(SAME, doca_cc_consumer_destroy, doca_comch_consumer_destroy) \
	X(SAME, doca_cc_consumer_get_id, doca_comch_consumer_get_id) \
	X(SAME, doca_cc_consumer_as_ctx, doca_comch_consumer_as_ctx) \
	X(SAME, doca_cc_consumer_task_post_recv_set_conf, \
		doca_comch_consumer_task_post_recv_set_conf) \
	X(SAME, doca_cc_consumer_task_post_recv_alloc_init, \
		doca_comch_consumer_task_post_recv_alloc_init) \
	X(NEARLY, doca_cc_consumer_task_post_recv_get_buf, \
		doca_comch_consumer_task_post_recv_get_buf) \
	X(SAME, doca_cc_consumer_task_post_recv_set_buf, \
		doca_comch_consumer_task_post_recv_set_buf) \
	X(NEARLY, doca_cc_consumer_task_post_recv_get_producer_id, \
		doca_comch_consumer_task_post_recv_get_producer_id) \
	X(SAME, doca_cc_consumer_task_post_recv_as_task, \
		doca_comch_consumer_task_post_recv_as_task) \
	X(OLD_SAME, doca_cc_consumer_post_recv_task_alloc_init, \
		doca_comch_consumer_task_post_recv_alloc_init) \
	X(OLD_NEARLY, doca_cc_consumer_post_recv_task_get_buf, \
		doca_comch_consumer_task_post_recv_get_buf) \
	X(OLD_SAME, doca_cc_consumer_post_recv_task_as_task, \
		doca_comch_consumer_task_post_recv_as_task)

#define IMPL_CC_NAMES_PRODUCER(X) \
	X(SAME, doca_cc_producer_create, doca_comch_producer_create) \
	X(SAME, doca_cc_producer_destroy, doca_comch_producer_destroy) \
	X(SAME, doca_cc_producer_get_id, doca_comch_producer_get_id) \
	X(SAME, doca_cc_producer_as_ctx, doca_comch_producer_as_ctx) \
	X(SAME, doca_cc_producer_task_send_set_conf, doca_comch_producer_task_send_set_conf) \
	X(NEARLY, doca_cc_producer_task_send_get_buf, doca_comch_producer_task_send_get_buf) \
	X(NEARLY, doca_cc_producer_task_send_set_buf, doca_comch_producer_task_send_set_buf) \
	X(NEARLY, doca_cc_producer_task_send_get_consumer_id, \
		doca_comch_producer_task_send_get_consumer_id) \
	X(SAME, doca_cc_producer_task_send_set_consumer_id, \
		doca_comch_producer_task_send_set_consumer_id) \
	X(SAME, doca_cc_producer_task_send_as_task, doca_comch_producer_task_send_as_task) \
	X(OLD_NEARLY, doca_cc_producer_send_task_get_buf, doca_comch_producer_task_send_get_buf) \
	X(OLD_SAME, doca_cc_producer_send_task_as_task, doca_comch_producer_task_send_as_task)

#define IMPL_CC_NAMES(X) \
	IMPL_CC_NAMES_CONN(X) \
	IMPL_CC_NAMES_CAPS(X) \
	IMPL_CC_NAMES_SERVER(X) \
	IMPL_CC_NAMES_CLIENT(X) \
	IMPL_CC_NAMES_SEND(X) \
	IMPL_CC_NAMES_CONSUMER(X) \
	IMPL_CC_NAMES_PRODUCER(X)

#endif /* IMPL_COMCH_CC_NAMES_H */
