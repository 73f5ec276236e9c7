/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_SYNC_EVENT_200_H
#define COMCH_DOCA_SYNC_EVENT_200_H

/**
 * @file
 * Sync events from 2.0 to 2.2: other names, and jobs for a work queue. doca_sync_event.h includes
 * this header in that generation.
 *
 *     doca_sync_event_create(&event), ..._publisher_add_location_cpu(), ...
 *     doca_ctx_start(doca_sync_event_as_ctx(event))
 *     doca_workq_create(1, &workq), doca_ctx_workq_add(ctx, workq)
 *     doca_workq_submit(workq, &job.base)
 *     doca_workq_progress_retrieve(workq, &event, 0)   while DOCA_ERROR_AGAIN
 *     doca_ctx_workq_rm(), doca_workq_destroy(), doca_ctx_stop()
 *     doca_sync_event_destroy(event)
 *
 * A job that waits holds no other job of the queue up.
 *
 * Reference: DOCA Core programming guide 2.2, DOCA Sync Event.
 */

#include <doca_ctx.h>
#include <doca_error.h>
#include <comch_doca_workq_105.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_devinfo;
struct doca_sync_event;

/** Types of jobs. */
enum doca_sync_event_job_types {
	DOCA_SYNC_EVENT_JOB_GET = 1,    /**< A struct doca_sync_event_job_get. */
	DOCA_SYNC_EVENT_JOB_UPDATE_SET, /**< A struct doca_sync_event_job_update_set. */
	DOCA_SYNC_EVENT_JOB_UPDATE_ADD, /**< A struct doca_sync_event_job_update_add. */
	DOCA_SYNC_EVENT_JOB_WAIT_GT,    /**< A struct doca_sync_event_job_wait. */
};

/** Get the counter. */
struct doca_sync_event_job_get {
	struct doca_job base; /**< Type DOCA_SYNC_EVENT_JOB_GET. */
	uint64_t *value;      /**< The counter, when it has completed. */
};

/** Set the counter. */
struct doca_sync_event_job_update_set {
	struct doca_job base; /**< Type DOCA_SYNC_EVENT_JOB_UPDATE_SET. */
	uint64_t value;       /**< Its value. */
};

/** Add to the counter. */
struct doca_sync_event_job_update_add {
	struct doca_job base; /**< Type DOCA_SYNC_EVENT_JOB_UPDATE_ADD. */
	uint64_t value;       /**< What is added. */
	uint64_t *fetched;    /**< The value before; may be NULL. */
};

/** Wait until (counter & mask) > value. */
struct doca_sync_event_job_wait {
	struct doca_job base; /**< Type DOCA_SYNC_EVENT_JOB_WAIT_GT. */
	uint64_t value;       /**< What it is compared with. */
	uint64_t mask;        /**< Of the counter. */
};

/** The CPU of this side sets it. @return DOCA_ERROR_INVALID_VALUE: not a device */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_publisher_add_location_cpu(struct doca_sync_event *event,
		struct doca_dev *dev);
/** The other side sets it. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_publisher_add_location_dpu(struct doca_sync_event *event);
/** The CPU of this side waits for it. @return DOCA_ERROR_INVALID_VALUE: not a device */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_subscriber_add_location_cpu(struct doca_sync_event *event,
		struct doca_dev *dev);
/** The other side waits for it. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_subscriber_add_location_dpu(struct doca_sync_event *event);
/** Get a descriptor for the other side, as doca_sync_event_export_to_remote_pci(). */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_to_dpu(struct doca_sync_event *event, struct doca_dev *dev,
		const uint8_t **data, size_t *sz);
/** Whether a device exports events: all do. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get_export_to_dpu_supported(struct doca_devinfo *devinfo);
/** Whether a device imports events: all do. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get_create_from_export_supported(struct doca_devinfo *devinfo);
/** Whether a device runs jobs of a type. @return DOCA_ERROR_NOT_SUPPORTED: unknown type */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_job_get_supported(struct doca_devinfo *devinfo,
		enum doca_sync_event_job_types job_type);

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_SYNC_EVENT_200_H */
