/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_CC_TYPES_H
#define IMPL_CC_TYPES_H

/*
 * Include this before the headers of doca_cc. It maps their structures to those of
 * doca_comch, so that the compiler can compare the declarations and needs no casts.
 */

#define doca_cc_connection doca_comch_connection
#define doca_cc_server doca_comch_server
#define doca_cc_client doca_comch_client
#define doca_cc_producer doca_comch_producer
#define doca_cc_consumer doca_comch_consumer
#define doca_cc_event_msg_recv doca_comch_event_msg_recv
#define doca_cc_event_connection_status_changed doca_comch_event_connection_status_changed
#define doca_cc_event_consumer doca_comch_event_consumer
#define doca_cc_task_send doca_comch_task_send
#define doca_cc_producer_task_send doca_comch_producer_task_send
#define doca_cc_consumer_task_post_recv doca_comch_consumer_task_post_recv
/* DOCA 2.5 */
#define doca_cc_send_task doca_comch_task_send
#define doca_cc_producer_send_task doca_comch_producer_task_send
#define doca_cc_consumer_post_recv_task doca_comch_consumer_task_post_recv

/* Check that an alias is declared like its function. */
#define IMPL_CC_CHECK(name, of) \
	_Static_assert(__builtin_types_compatible_p(__typeof__(name), __typeof__(of)), \
		#name " and " #of " have different types");

#endif /* IMPL_CC_TYPES_H */
