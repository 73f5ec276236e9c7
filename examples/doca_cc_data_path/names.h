/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef NAMES_H
#define NAMES_H

/*
 * The program is written with the names of DOCA 2.6. In 2.5 the tasks have other names, and
 * three arguments other types.
 */

#include <doca_version.h>

#if DOCA_VERSION_MAJOR == 2 && DOCA_VERSION_MINOR < 6

#define doca_cc_task_send doca_cc_send_task
#define doca_cc_task_send_as_task doca_cc_send_task_as_task
#define doca_cc_server_task_send_set_conf doca_cc_server_send_task_set_conf
#define doca_cc_server_task_send_alloc_init doca_cc_server_send_task_alloc_init
#define doca_cc_client_task_send_set_conf doca_cc_client_send_task_set_conf
#define doca_cc_producer_task_send doca_cc_producer_send_task
#define doca_cc_producer_task_send_set_conf doca_cc_producer_send_task_set_conf
#define doca_cc_producer_task_send_alloc_init doca_cc_producer_send_task_alloc_init
#define doca_cc_producer_task_send_as_task doca_cc_producer_send_task_as_task
#define doca_cc_consumer_task_post_recv doca_cc_consumer_post_recv_task
#define doca_cc_consumer_task_post_recv_set_conf doca_cc_consumer_post_recv_task_set_conf
#define doca_cc_consumer_task_post_recv_alloc_init doca_cc_consumer_post_recv_task_alloc_init
#define doca_cc_consumer_task_post_recv_get_buf doca_cc_consumer_post_recv_task_get_buf
#define doca_cc_consumer_task_post_recv_as_task doca_cc_consumer_post_recv_task_as_task

/* Length of a received message; success of a connection. */
typedef size_t cc_len_t;
typedef bool cc_success_t;
/* Producers and consumers: number of tasks, as its logarithm. */
#define NB_TASKS(log) (log)

#else

typedef uint32_t cc_len_t;
typedef uint8_t cc_success_t;
#define NB_TASKS(log) (1u << (log))

#endif

#endif /* NAMES_H */
