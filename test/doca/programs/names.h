/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef NAMES_H
#define NAMES_H

/*
 * What the channel and its functions are called in the release that a program
 * is built for, and what differs otherwise. Programs say CH(server_create).
 */

#include "release.h"

#if RELEASE < 207
#include <doca_cc.h>
#include <doca_cc_consumer.h>
#include <doca_cc_producer.h>
#define CH(name) doca_cc_##name
#else
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#define CH(name) doca_comch_##name
#endif

/* Tasks: noun and verb have changed places. */
#if RELEASE < 206
#define SEND_TASK(name) CH(send_task##name)
#define SERVER_SEND(name) CH(server_send_task##name)
#define CLIENT_SEND(name) CH(client_send_task##name)
#define PUT_TASK(name) CH(producer_send_task##name)
#define POST_TASK(name) CH(consumer_post_recv_task##name)
/* How many tasks of producers and consumers: by the logarithm. */
#define DATA_TASKS 1
#else
#define SEND_TASK(name) CH(task_send##name)
#define SERVER_SEND(name) CH(server_task_send##name)
#define CLIENT_SEND(name) CH(client_task_send##name)
#define PUT_TASK(name) CH(producer_task_send##name)
#define POST_TASK(name) CH(consumer_task_post_recv##name)
#define DATA_TASKS 2
#endif

#if RELEASE < 206
#define PRODUCER_CAP CH(cap_is_producer_supported)
#define CONSUMER_CAP CH(cap_is_consumer_supported)
#else
#define PRODUCER_CAP CH(producer_cap_is_supported)
#define CONSUMER_CAP CH(consumer_cap_is_supported)
#endif

/* behaviour: S28 */
#if RELEASE < 209
#define CONNECTION_REGISTER CH(server_event_connection_register)
#define SERVER_GET_REP CH(server_get_device_repr)
#else
#define CONNECTION_REGISTER CH(server_event_connection_status_changed_register)
#define SERVER_GET_REP CH(server_get_device_rep)
#endif

/* Arguments of callbacks. */
#if RELEASE < 206
typedef size_t msg_len_t;
typedef bool changed_t;
#else
typedef uint32_t msg_len_t;
typedef uint8_t changed_t;
#endif

/* Only doca_comch has immediate data. */
#if RELEASE < 207
#define NO_IMM
#else
#define NO_IMM NULL, 0,
#endif

#endif /* NAMES_H */
