/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Consumers: as those of doca_comch, without immediate data. */

#include <doca_cc_consumer.h>

#include "cc/cc.h"

doca_error_t
doca_cc_consumer_create(struct doca_cc_connection *cc_connection, struct doca_mmap *buf_mmap,
		struct doca_cc_consumer **consumer)
{
	return doca_comch_consumer_create(impl_comch(cc_connection), buf_mmap,
			impl_comch(consumer));
}

doca_error_t
doca_cc_consumer_destroy(struct doca_cc_consumer *consumer)
{
	return doca_comch_consumer_destroy(impl_comch(consumer));
}

doca_error_t
doca_cc_consumer_cap_is_supported(const struct doca_devinfo *devinfo)
{
	return doca_comch_consumer_cap_is_supported(devinfo);
}

doca_error_t
doca_cc_consumer_get_id(const struct doca_cc_consumer *consumer, uint32_t *id)
{
	return doca_comch_consumer_get_id(impl_comch(consumer), id);
}

doca_error_t
doca_cc_consumer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
		uint32_t *max_num_tasks)
{
	return doca_comch_consumer_cap_get_max_num_tasks(devinfo, max_num_tasks);
}

doca_error_t
doca_cc_consumer_cap_get_max_buf_size(const struct doca_devinfo *devinfo, uint32_t *max_buf_size)
{
	return doca_comch_consumer_cap_get_max_buf_size(devinfo, max_buf_size);
}

doca_error_t
doca_cc_consumer_cap_get_max_consumers(const struct doca_devinfo *devinfo,
		uint32_t *max_consumers)
{
	return doca_comch_consumer_cap_get_max_consumers(devinfo, max_consumers);
}

struct doca_ctx *
doca_cc_consumer_as_ctx(struct doca_cc_consumer *consumer)
{
	return doca_comch_consumer_as_ctx(impl_comch(consumer));
}

doca_error_t
doca_cc_consumer_task_post_recv_set_conf(struct doca_cc_consumer *consumer,
		doca_cc_consumer_task_post_recv_completion_cb_t task_completion_cb,
		doca_cc_consumer_task_post_recv_completion_cb_t task_error_cb,
		uint32_t num_post_recv_tasks)
{
	return doca_comch_consumer_task_post_recv_set_conf(impl_comch(consumer),
			(doca_comch_consumer_task_post_recv_completion_cb_t)task_completion_cb,
			(doca_comch_consumer_task_post_recv_completion_cb_t)task_error_cb,
			num_post_recv_tasks);
}

doca_error_t
doca_cc_consumer_task_post_recv_alloc_init(struct doca_cc_consumer *consumer,
		struct doca_buf *buf, struct doca_cc_consumer_task_post_recv **task)
{
	return doca_comch_consumer_task_post_recv_alloc_init(impl_comch(consumer), buf,
			impl_comch(task));
}

struct doca_buf *
doca_cc_consumer_task_post_recv_get_buf(struct doca_cc_consumer_task_post_recv *task)
{
	return doca_comch_consumer_task_post_recv_get_buf(impl_comch(task));
}

void
doca_cc_consumer_task_post_recv_set_buf(struct doca_cc_consumer_task_post_recv *task,
		struct doca_buf *buf)
{
	doca_comch_consumer_task_post_recv_set_buf(impl_comch(task), buf);
}

uint32_t
doca_cc_consumer_task_post_recv_get_producer_id(struct doca_cc_consumer_task_post_recv *task)
{
	return doca_comch_consumer_task_post_recv_get_producer_id(impl_comch(task));
}

struct doca_task *
doca_cc_consumer_task_post_recv_as_task(struct doca_cc_consumer_task_post_recv *task)
{
	return doca_comch_consumer_task_post_recv_as_task(impl_comch(task));
}
