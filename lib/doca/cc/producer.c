/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Producers: as those of doca_comch, without immediate data. */

#include <stddef.h>

#include <doca_cc_producer.h>

#include "cc/cc.h"

doca_error_t
doca_cc_producer_create(struct doca_cc_connection *cc_connection,
		struct doca_cc_producer **producer)
{
	return doca_comch_producer_create(impl_comch(cc_connection), impl_comch(producer));
}

doca_error_t
doca_cc_producer_destroy(struct doca_cc_producer *producer)
{
	return doca_comch_producer_destroy(impl_comch(producer));
}

doca_error_t
doca_cc_producer_cap_is_supported(const struct doca_devinfo *devinfo)
{
	return doca_comch_producer_cap_is_supported(devinfo);
}

doca_error_t
doca_cc_producer_get_id(const struct doca_cc_producer *producer, uint32_t *id)
{
	return doca_comch_producer_get_id(impl_comch(producer), id);
}

doca_error_t
doca_cc_producer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
		uint32_t *max_num_tasks)
{
	return doca_comch_producer_cap_get_max_num_tasks(devinfo, max_num_tasks);
}

doca_error_t
doca_cc_producer_cap_get_max_buf_size(const struct doca_devinfo *devinfo, uint32_t *max_buf_size)
{
	return doca_comch_producer_cap_get_max_buf_size(devinfo, max_buf_size);
}

doca_error_t
doca_cc_producer_cap_get_max_producers(const struct doca_devinfo *devinfo,
		uint32_t *max_producers)
{
	return doca_comch_producer_cap_get_max_producers(devinfo, max_producers);
}

struct doca_ctx *
doca_cc_producer_as_ctx(struct doca_cc_producer *producer)
{
	return doca_comch_producer_as_ctx(impl_comch(producer));
}

doca_error_t
doca_cc_producer_task_send_set_conf(struct doca_cc_producer *producer,
		doca_cc_producer_task_send_completion_cb_t task_completion_cb,
		doca_cc_producer_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks)
{
	return doca_comch_producer_task_send_set_conf(impl_comch(producer),
			(doca_comch_producer_task_send_completion_cb_t)task_completion_cb,
			(doca_comch_producer_task_send_completion_cb_t)task_error_cb,
			num_send_tasks);
}

doca_error_t
doca_cc_producer_task_send_alloc_init(struct doca_cc_producer *producer, struct doca_buf *buf,
		uint32_t consumer_id, struct doca_cc_producer_task_send **task)
{
	return doca_comch_producer_task_send_alloc_init(impl_comch(producer), buf, NULL, 0,
			consumer_id, impl_comch(task));
}

struct doca_buf *
doca_cc_producer_task_send_get_buf(struct doca_cc_producer_task_send *task)
{
	return (struct doca_buf *)(uintptr_t)doca_comch_producer_task_send_get_buf(
			impl_comch(task));
}

void
doca_cc_producer_task_send_set_buf(struct doca_cc_producer_task_send *task, struct doca_buf *buf)
{
	doca_comch_producer_task_send_set_buf(impl_comch(task), buf);
}

uint32_t
doca_cc_producer_task_send_get_consumer_id(struct doca_cc_producer_task_send *task)
{
	return doca_comch_producer_task_send_get_consumer_id(impl_comch(task));
}

void
doca_cc_producer_task_send_set_consumer_id(struct doca_cc_producer_task_send *task,
		const uint32_t consumer_id)
{
	doca_comch_producer_task_send_set_consumer_id(impl_comch(task), consumer_id);
}

struct doca_task *
doca_cc_producer_task_send_as_task(struct doca_cc_producer_task_send *task)
{
	return doca_comch_producer_task_send_as_task(impl_comch(task));
}
