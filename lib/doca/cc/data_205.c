/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What of producers and consumers had another name in DOCA 2.5. */

#include <stddef.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "cc/cc_205.h"

doca_error_t
doca_cc_producer_send_task_set_conf(struct doca_cc_producer *producer,
		doca_cc_producer_send_task_completion_cb_t task_completion_cb,
		doca_cc_producer_send_task_completion_cb_t task_error_cb,
		uint32_t log_num_send_tasks)
{
	return doca_comch_producer_task_send_set_conf(impl_comch(producer),
			(doca_comch_producer_task_send_completion_cb_t)task_completion_cb,
			(doca_comch_producer_task_send_completion_cb_t)task_error_cb,
			impl_cc_count_205(log_num_send_tasks));
}

doca_error_t
doca_cc_producer_send_task_alloc_init(struct doca_cc_producer *producer, struct doca_buf *buf,
		uint32_t consumer_id, struct doca_cc_producer_send_task **task)
{
	return doca_comch_producer_task_send_alloc_init(impl_comch(producer), buf, NULL, 0,
			consumer_id, impl_comch(task));
}

struct doca_buf *
doca_cc_producer_send_task_get_buf(struct doca_cc_producer_send_task *task)
{
	return (struct doca_buf *)(uintptr_t)doca_comch_producer_task_send_get_buf(
			impl_comch(task));
}

struct doca_task *
doca_cc_producer_send_task_as_task(struct doca_cc_producer_send_task *task)
{
	return doca_comch_producer_task_send_as_task(impl_comch(task));
}

doca_error_t
doca_cc_consumer_post_recv_task_set_conf(struct doca_cc_consumer *consumer,
		doca_cc_consumer_post_recv_task_completion_cb_t task_completion_cb,
		doca_cc_consumer_post_recv_task_completion_cb_t task_error_cb,
		uint32_t log_num_post_recv_tasks)
{
	return doca_comch_consumer_task_post_recv_set_conf(impl_comch(consumer),
			(doca_comch_consumer_task_post_recv_completion_cb_t)task_completion_cb,
			(doca_comch_consumer_task_post_recv_completion_cb_t)task_error_cb,
			impl_cc_count_205(log_num_post_recv_tasks));
}

doca_error_t
doca_cc_consumer_post_recv_task_alloc_init(struct doca_cc_consumer *consumer,
		struct doca_buf *buf, struct doca_cc_consumer_post_recv_task **task)
{
	return doca_comch_consumer_task_post_recv_alloc_init(impl_comch(consumer), buf,
			impl_comch(task));
}

struct doca_buf *
doca_cc_consumer_post_recv_task_get_buf(struct doca_cc_consumer_post_recv_task *task)
{
	return doca_comch_consumer_task_post_recv_get_buf(impl_comch(task));
}

struct doca_task *
doca_cc_consumer_post_recv_task_as_task(struct doca_cc_consumer_post_recv_task *task)
{
	return doca_comch_consumer_task_post_recv_as_task(impl_comch(task));
}

doca_error_t
doca_cc_consumer_cap_get_max_log_num_tasks(const struct doca_devinfo *devinfo,
		uint32_t *max_log_num_tasks)
{
	uint32_t count;
	doca_error_t ret;

	ret = doca_comch_consumer_cap_get_max_num_tasks(devinfo,
			max_log_num_tasks == NULL ? NULL : &count);
	if (ret == DOCA_SUCCESS)
		*max_log_num_tasks = rte_fls_u32(count) - 1;
	return ret;
}
