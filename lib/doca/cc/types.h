/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_CC_TYPES_H
#define IMPL_CC_TYPES_H

/*
 * To be included before the headers of doca_cc: their structures are those of
 * doca_comch by other names, and become these here. So the compiler sees one type,
 * compares what programs get with what is defined, and no cast is needed.
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

/* Do the declarations of a function and of the one that it is another name of agree? */
#define IMPL_CC_CHECK(name, of) \
	_Static_assert(__builtin_types_compatible_p(__typeof__(name), __typeof__(of)), \
		#name " is not declared as " #of);

#endif /* IMPL_CC_TYPES_H */
