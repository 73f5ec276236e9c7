/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_CC_PRODUCER_H
#define DOCA_CC_PRODUCER_H

/**
 * @file
 * DOCA Comm Channel of DOCA 2.5 and 2.6: producers, which send on the fast path.
 *
 * This is doca_comch_producer.h under its older name, without immediate data. See that header
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
struct doca_cc_connection;
struct doca_cc_producer;

DOCA_EXPERIMENTAL
doca_error_t doca_cc_producer_create(struct doca_cc_connection *cc_connection,
		struct doca_cc_producer **producer);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_producer_destroy(struct doca_cc_producer *producer);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_producer_get_id(const struct doca_cc_producer *producer, uint32_t *id);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_producer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
		uint32_t *max_num_tasks);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_producer_cap_get_max_buf_size(const struct doca_devinfo *devinfo,
		uint32_t *max_buf_size);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_producer_cap_get_max_producers(const struct doca_devinfo *devinfo,
		uint32_t *max_producers);
DOCA_EXPERIMENTAL
struct doca_ctx *doca_cc_producer_as_ctx(struct doca_cc_producer *producer);

#if COMCH_DOCA_GENERATION >= 206

struct doca_cc_producer_task_send;

typedef void (*doca_cc_producer_task_send_completion_cb_t)(
		struct doca_cc_producer_task_send *task, union doca_data task_user_data,
		union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_producer_cap_is_supported(const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL
doca_error_t doca_cc_producer_task_send_set_conf(struct doca_cc_producer *producer,
		doca_cc_producer_task_send_completion_cb_t task_completion_cb,
		doca_cc_producer_task_send_completion_cb_t task_error_cb,
		uint32_t num_send_tasks);

/** As doca_comch_producer_task_send_alloc_init(), with a buffer only. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_producer_task_send_alloc_init(struct doca_cc_producer *producer,
		struct doca_buf *buf, uint32_t consumer_id,
		struct doca_cc_producer_task_send **task);
DOCA_EXPERIMENTAL
struct doca_buf *doca_cc_producer_task_send_get_buf(struct doca_cc_producer_task_send *task);
DOCA_EXPERIMENTAL
void doca_cc_producer_task_send_set_buf(struct doca_cc_producer_task_send *task,
		struct doca_buf *buf);
DOCA_EXPERIMENTAL
uint32_t doca_cc_producer_task_send_get_consumer_id(struct doca_cc_producer_task_send *task);
DOCA_EXPERIMENTAL
void doca_cc_producer_task_send_set_consumer_id(struct doca_cc_producer_task_send *task,
		const uint32_t consumer_id);
DOCA_EXPERIMENTAL
struct doca_task *doca_cc_producer_task_send_as_task(struct doca_cc_producer_task_send *task);

#else /* COMCH_DOCA_GENERATION < 206 */

/** @name DOCA 2.5
 * @{
 */

struct doca_cc_producer_send_task;

/** As doca_comch_producer_task_send_completion_cb_t. */
typedef void (*doca_cc_producer_send_task_completion_cb_t)(
		struct doca_cc_producer_send_task *task, union doca_data task_user_data,
		union doca_data ctx_user_data);

/**
 * As doca_comch_producer_task_send_set_conf(), for 2 to the power of
 * *log_num_send_tasks* tasks: 10 means 1024. At most 16.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_producer_send_task_set_conf(struct doca_cc_producer *producer,
		doca_cc_producer_send_task_completion_cb_t task_completion_cb,
		doca_cc_producer_send_task_completion_cb_t task_error_cb,
		uint32_t log_num_send_tasks);

/** As doca_comch_producer_task_send_alloc_init(), with a buffer only. */
DOCA_EXPERIMENTAL
doca_error_t doca_cc_producer_send_task_alloc_init(struct doca_cc_producer *producer,
		struct doca_buf *buf, uint32_t consumer_id,
		struct doca_cc_producer_send_task **task);

/** As doca_comch_producer_task_send_get_buf(). */
DOCA_EXPERIMENTAL
struct doca_buf *doca_cc_producer_send_task_get_buf(struct doca_cc_producer_send_task *task);

/** As doca_comch_producer_task_send_as_task(). */
DOCA_EXPERIMENTAL
struct doca_task *doca_cc_producer_send_task_as_task(struct doca_cc_producer_send_task *task);

/** @} */

#endif /* COMCH_DOCA_GENERATION */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_CC_PRODUCER_H */
