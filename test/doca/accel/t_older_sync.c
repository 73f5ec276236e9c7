/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA sync events of 2.0 to 2.2: other names, and jobs. */

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_sync_event.h>

#include "common/result.h"
#include "t_main.h"

#define ALL UINT64_MAX

/* What a program of that time has. */
struct jobs {
	struct doca_devinfo **list;
	struct doca_dev *dev;
	struct doca_sync_event *event;
	struct doca_ctx *ctx;
	struct doca_workq *workq;
};

static void
jobs_open(struct jobs *j)
{
	uint32_t nb;

	T_OK(doca_devinfo_list_create(&j->list, &nb));
	T_OK(doca_dev_open(j->list[0], &j->dev));
	T_OK(doca_sync_event_create(&j->event));
	T_OK(doca_sync_event_publisher_add_location_cpu(j->event, j->dev));
	T_OK(doca_sync_event_subscriber_add_location_cpu(j->event, j->dev));
	j->ctx = doca_sync_event_as_ctx(j->event);
	T_OK(doca_workq_create(4, &j->workq));
	T_OK(doca_ctx_start(j->ctx));
	T_OK(doca_ctx_workq_add(j->ctx, j->workq));
}

static void
jobs_close(struct jobs *j)
{
	T_OK(doca_ctx_workq_rm(j->ctx, j->workq));
	T_OK(doca_workq_destroy(j->workq));
	T_OK(doca_ctx_stop(j->ctx));
	T_OK(doca_sync_event_destroy(j->event));
	T_OK(doca_dev_close(j->dev));
	T_OK(doca_devinfo_list_destroy(j->list));
}

#define JOBS_CASE(name) T_CASE_OF(struct jobs, jobs_open, jobs_close, name, j)

static struct doca_job
job(struct jobs *j, enum doca_sync_event_job_types type)
{
	return (struct doca_job){ .type = (int)type, .ctx = j->ctx,
		.user_data.u64 = (uint64_t)type };
}

static void
done(struct jobs *j, enum doca_sync_event_job_types type)
{
	struct doca_event event;

	T_OK(doca_workq_progress_retrieve(j->workq, &event, 0));
	T_EQ(event.type, (int)type);
	T_EQ(event.user_data.u64, (uint64_t)type);
}

/* behaviour: H17 */
JOBS_CASE(jobs)
{
	uint64_t fetched = 0, value = 0;
	struct doca_sync_event_job_update_set set = {
		.base = job(j, DOCA_SYNC_EVENT_JOB_UPDATE_SET), .value = 5,
	};
	struct doca_sync_event_job_update_add add = {
		.base = job(j, DOCA_SYNC_EVENT_JOB_UPDATE_ADD), .value = 2, .fetched = &fetched,
	};
	struct doca_sync_event_job_get get = {
		.base = job(j, DOCA_SYNC_EVENT_JOB_GET), .value = &value,
	};
	struct doca_sync_event_job_wait wait = {
		.base = job(j, DOCA_SYNC_EVENT_JOB_WAIT_GT), .value = 6, .mask = ALL,
	};
	struct doca_event event;

	/* The wait holds none of the others up. */
	T_OK(doca_workq_submit(j->workq, &wait.base));
	T_IS(doca_workq_progress_retrieve(j->workq, &event, 0), DOCA_ERROR_AGAIN);
	T_OK(doca_workq_submit(j->workq, &set.base));
	done(j, DOCA_SYNC_EVENT_JOB_UPDATE_SET);
	T_IS(doca_workq_progress_retrieve(j->workq, &event, 0), DOCA_ERROR_AGAIN);
	T_OK(doca_workq_submit(j->workq, &add.base));
	done(j, DOCA_SYNC_EVENT_JOB_UPDATE_ADD);
	T_EQ(fetched, 5);
	done(j, DOCA_SYNC_EVENT_JOB_WAIT_GT);
	T_OK(doca_workq_submit(j->workq, &get.base));
	done(j, DOCA_SYNC_EVENT_JOB_GET);
	T_EQ(value, 7);
}

/* Some programs ask for none. behaviour: H17 */
JOBS_CASE(depth_of_zero)
{
	struct doca_sync_event_job_update_set set = {
		.base = job(j, DOCA_SYNC_EVENT_JOB_UPDATE_SET), .value = 5,
	};

	T_OK(doca_ctx_workq_rm(j->ctx, j->workq));
	T_OK(doca_workq_destroy(j->workq));
	T_OK(doca_workq_create(0, &j->workq));
	T_OK(doca_ctx_workq_add(j->ctx, j->workq));
	T_OK(doca_workq_submit(j->workq, &set.base));
	T_IS(doca_workq_submit(j->workq, &set.base), DOCA_ERROR_NO_MEMORY);
	done(j, DOCA_SYNC_EVENT_JOB_UPDATE_SET);
	T_OK(doca_workq_submit(j->workq, &set.base));
	done(j, DOCA_SYNC_EVENT_JOB_UPDATE_SET);
}

/* behaviour: H17 */
T_CASE(names)
{
	struct doca_sync_event *event, *other;
	struct doca_devinfo **list;
	struct doca_dev *dev;
	const uint8_t *data;
	uint64_t value;
	uint32_t nb;
	size_t len;

	T_OK(doca_devinfo_list_create(&list, &nb));
	T_OK(doca_sync_event_get_export_to_dpu_supported(list[0]));
	T_OK(doca_sync_event_get_create_from_export_supported(list[0]));
	T_OK(doca_sync_event_job_get_supported(list[0], DOCA_SYNC_EVENT_JOB_WAIT_GT));
	T_IS(doca_sync_event_job_get_supported(list[0], (enum doca_sync_event_job_types)77),
		DOCA_ERROR_NOT_SUPPORTED);
	T_INVALID(doca_sync_event_job_get_supported(NULL, DOCA_SYNC_EVENT_JOB_GET));
	T_INVALID(doca_sync_event_get_export_to_dpu_supported(NULL));
	T_INVALID(doca_sync_event_get_create_from_export_supported(NULL));
	T_OK(doca_dev_open(list[0], &dev));
	T_OK(doca_sync_event_create(&event));
	T_OK(doca_sync_event_publisher_add_location_cpu(event, dev));
	T_OK(doca_sync_event_publisher_add_location_dpu(event));
	T_OK(doca_sync_event_subscriber_add_location_dpu(event));
	T_OK(doca_sync_event_start(event));
	T_OK(doca_sync_event_export_to_dpu(event, dev, &data, &len));
	/* Also by a program that imports its own. */
	T_OK(doca_sync_event_create_from_export(dev, data, len, &other));
	T_OK(doca_sync_event_start(other));
	T_OK(doca_sync_event_update_set(event, 2));
	T_OK(doca_sync_event_wait_gt(other, 1, ALL));
	T_OK(doca_sync_event_wait_gt_yield(other, 1, ALL));
	T_OK(doca_sync_event_update_add(other, 1, &value));
	T_EQ(value, 2);
	T_OK(doca_sync_event_stop(other));
	T_OK(doca_sync_event_destroy(other));
	T_OK(doca_sync_event_stop(event));
	T_OK(doca_sync_event_destroy(event));
	T_OK(doca_dev_close(dev));
	T_OK(doca_devinfo_list_destroy(list));
}
