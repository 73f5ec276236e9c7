/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Work queues of DOCA 1.x and 2.0 to 2.2, for programs that link them: no job ever completes. */

#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_common.h>

#include <comch_doca_workq_105.h>

#include "log/log.h"

struct doca_workq {
	int fd; /* never readable; -1: not event-driven */
};

doca_error_t
doca_workq_create(uint32_t depth, struct doca_workq **workq)
{
	struct doca_workq *w;

	if (depth == 0 || workq == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return DOCA_ERROR_NO_MEMORY;
	w->fd = doca_event_invalid_handle;
	*workq = w;
	return DOCA_SUCCESS;
}

static void
close_handle(struct doca_workq *workq)
{
	if (workq->fd != doca_event_invalid_handle)
		close(workq->fd);
	workq->fd = doca_event_invalid_handle;
}

doca_error_t
doca_workq_destroy(struct doca_workq *workq)
{
	if (workq == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	close_handle(workq);
	free(workq);
	return DOCA_SUCCESS;
}

/* No context has jobs for a work queue, so the arguments are only checked for NULL. */
static doca_error_t
not_supported(const struct doca_ctx *ctx, const void *other)
{
	if (ctx == NULL || other == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	IMPL_ERR("work queue: no context supports jobs");
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t
doca_workq_submit(struct doca_workq *workq, const struct doca_job *job)
{
	return not_supported(job == NULL ? NULL : job->ctx, workq);
}

doca_error_t
doca_workq_progress_retrieve(struct doca_workq *workq, struct doca_event *ev, int flags)
{
	RTE_SET_USED(flags);
	return workq == NULL || ev == NULL ? DOCA_ERROR_INVALID_VALUE : DOCA_ERROR_AGAIN;
}

doca_error_t
doca_workq_set_event_driven_enable(struct doca_workq *workq, uint8_t enable)
{
	if (workq == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (enable == 0) {
		close_handle(workq);
		return DOCA_SUCCESS;
	}
	if (workq->fd == doca_event_invalid_handle)
		workq->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return workq->fd >= 0 ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM;
}

static doca_error_t
check_handle(const struct doca_workq *workq)
{
	if (workq == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return workq->fd == doca_event_invalid_handle ? DOCA_ERROR_BAD_STATE : DOCA_SUCCESS;
}

doca_error_t
doca_workq_get_event_handle(struct doca_workq *workq, doca_event_handle_t *handle)
{
	doca_error_t ret = check_handle(workq);

	if (handle == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (ret == DOCA_SUCCESS)
		*handle = workq->fd;
	return ret;
}

doca_error_t
doca_workq_event_handle_arm(struct doca_workq *workq)
{
	return check_handle(workq);
}

doca_error_t
doca_workq_event_handle_clear(struct doca_workq *workq, doca_event_handle_t handle)
{
	RTE_SET_USED(handle);
	return check_handle(workq);
}

doca_error_t
doca_ctx_dev_add(struct doca_ctx *ctx, struct doca_dev *dev)
{
	return not_supported(ctx, dev);
}

doca_error_t
doca_ctx_dev_rm(struct doca_ctx *ctx, struct doca_dev *dev)
{
	return not_supported(ctx, dev);
}

doca_error_t
doca_ctx_workq_add(struct doca_ctx *ctx, struct doca_workq *workq)
{
	return not_supported(ctx, workq);
}

doca_error_t
doca_ctx_workq_rm(struct doca_ctx *ctx, struct doca_workq *workq)
{
	return not_supported(ctx, workq);
}
