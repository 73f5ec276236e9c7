/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_CC_CONSUMER_H
#define DOCA_CC_CONSUMER_H

/**
 * @file
 * DOCA Comm Channel of DOCA 2.5 and 2.6: consumers, which receive on the fast path.
 *
 * This is doca_comch_consumer.h under its older name, without immediate data. See that header
 * for behaviour, errors and thread rule.
 *
 * DOCA 2.5 has other names of tasks, and takes the logarithm of their number.
 *
 * Reference: DOCA Comm Channel guides 2.5 and 2.6.
 */

#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_task;
struct doca_dev;
struct doca_devinfo;
struct doca_mmap;
struct doca_cc_connection;
struct doca_cc_consumer;

DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_create(struct doca_cc_connection *cc_connection,
		struct doca_mmap *buf_mmap, struct doca_cc_consumer **consumer);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_destroy(struct doca_cc_consumer *consumer);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_get_id(const struct doca_cc_consumer *consumer, uint32_t *id);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
		uint32_t *max_num_tasks);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_cap_get_max_buf_size(const struct doca_devinfo *devinfo,
		uint32_t *max_buf_size);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_cap_get_max_consumers(const struct doca_devinfo *devinfo,
		uint32_t *max_consumers);
DOCA_EXPERIMENTAL
struct doca_ctx *doca_cc_consumer_as_ctx(struct doca_cc_consumer *consumer);

#if COMCH_DOCA_GENERATION >= 206

struct doca_cc_consumer_task_post_recv;

typedef void (*doca_cc_consumer_task_post_recv_completion_cb_t)(
		struct doca_cc_consumer_task_post_recv *task, union doca_data task_user_data,
		union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_cap_is_supported(const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_task_post_recv_set_conf(struct doca_cc_consumer *consumer,
		doca_cc_consumer_task_post_recv_completion_cb_t task_completion_cb,
		doca_cc_consumer_task_post_recv_completion_cb_t task_error_cb,
		uint32_t num_post_recv_tasks);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_task_post_recv_alloc_init(struct doca_cc_consumer *consumer,
		struct doca_buf *buf, struct doca_cc_consumer_task_post_recv **task);
DOCA_EXPERIMENTAL
struct doca_buf *doca_cc_consumer_task_post_recv_get_buf(
		struct doca_cc_consumer_task_post_recv *task);
DOCA_EXPERIMENTAL
void doca_cc_consumer_task_post_recv_set_buf(struct doca_cc_consumer_task_post_recv *task,
		struct doca_buf *buf);
DOCA_EXPERIMENTAL
uint32_t doca_cc_consumer_task_post_recv_get_producer_id(
		struct doca_cc_consumer_task_post_recv *task);
DOCA_EXPERIMENTAL
struct doca_task *doca_cc_consumer_task_post_recv_as_task(
		struct doca_cc_consumer_task_post_recv *task);

#else /* COMCH_DOCA_GENERATION < 206 */

/** @name DOCA 2.5
 * @{
 */

struct doca_cc_consumer_post_recv_task;

/** As doca_comch_consumer_task_post_recv_completion_cb_t. */
typedef void (*doca_cc_consumer_post_recv_task_completion_cb_t)(
		struct doca_cc_consumer_post_recv_task *task, union doca_data task_user_data,
		union doca_data ctx_user_data);

/** Binary logarithm of the maximum number of tasks per consumer. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_cap_get_max_log_num_tasks(const struct doca_devinfo *devinfo,
		uint32_t *max_log_num_tasks);

/**
 * As doca_comch_consumer_task_post_recv_set_conf(), for 2 to the power of
 * *log_num_post_recv_tasks* tasks: 10 means 1024. At most 16.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_post_recv_task_set_conf(struct doca_cc_consumer *consumer,
		doca_cc_consumer_post_recv_task_completion_cb_t task_completion_cb,
		doca_cc_consumer_post_recv_task_completion_cb_t task_error_cb,
		uint32_t log_num_post_recv_tasks);

/** As doca_comch_consumer_task_post_recv_alloc_init(). */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_post_recv_task_alloc_init(struct doca_cc_consumer *consumer,
		struct doca_buf *buf, struct doca_cc_consumer_post_recv_task **task);

/** As doca_comch_consumer_task_post_recv_get_buf(). */
DOCA_EXPERIMENTAL
struct doca_buf *doca_cc_consumer_post_recv_task_get_buf(
		struct doca_cc_consumer_post_recv_task *task);

/** As doca_comch_consumer_task_post_recv_as_task(). */
DOCA_EXPERIMENTAL
struct doca_task *doca_cc_consumer_post_recv_task_as_task(
		struct doca_cc_consumer_post_recv_task *task);

/** @} */

#endif /* COMCH_DOCA_GENERATION */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_CC_CONSUMER_H */
