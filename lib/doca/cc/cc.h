/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_CC_CC_H
#define IMPL_CC_CC_H

/*
 * doca_cc is doca_comch by its older name. Objects are the same ones: a pointer
 * to a doca_cc_* structure, which is nowhere defined, points to the doca_comch_*
 * structure. So functions here have no semantics of their own, and their
 * symbols are real ones, for programs that look them up at run time.
 */

#include <stdint.h>

#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

struct doca_cc_connection;
struct doca_cc_server;
struct doca_cc_client;
struct doca_cc_producer;
struct doca_cc_consumer;
/* Tasks, by the names of 2.6 and of 2.5. */
struct doca_cc_task_send;
struct doca_cc_producer_task_send;
struct doca_cc_consumer_task_post_recv;
struct doca_cc_send_task;
struct doca_cc_producer_send_task;
struct doca_cc_consumer_post_recv_task;

/* A type of impl_comch(). As a number in between, since there is a cast for each
 * type, of which those that are not chosen may cast a const away.
 */
#define IMPL_AS(p, cc, comch) \
	struct doca_cc_##cc *: (struct doca_comch_##comch *)(uintptr_t)(p), \
	const struct doca_cc_##cc *: (const struct doca_comch_##comch *)(uintptr_t)(p), \
	struct doca_cc_##cc **: (struct doca_comch_##comch **)(uintptr_t)(p)

/* A pointer to an object of doca_cc, or to such a pointer, as one of doca_comch. */
#define impl_comch(p) \
	_Generic((p), \
		IMPL_AS(p, connection, connection), \
		IMPL_AS(p, server, server), \
		IMPL_AS(p, client, client), \
		IMPL_AS(p, producer, producer), \
		IMPL_AS(p, consumer, consumer), \
		IMPL_AS(p, task_send, task_send), \
		IMPL_AS(p, producer_task_send, producer_task_send), \
		IMPL_AS(p, consumer_task_post_recv, consumer_task_post_recv), \
		IMPL_AS(p, send_task, task_send), \
		IMPL_AS(p, producer_send_task, producer_task_send), \
		IMPL_AS(p, consumer_post_recv_task, consumer_task_post_recv))

#endif /* IMPL_CC_CC_H */
