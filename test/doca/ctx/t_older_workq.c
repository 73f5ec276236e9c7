/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Work queues of DOCA 1.2 to 2.2: there, and idle. */

#include <poll.h>
#include <sys/resource.h>

#include <doca_ctx.h>

#include "common/result.h"
#include "t_main.h"

static struct doca_workq *
create(void)
{
	struct doca_workq *w;

	T_OK(doca_workq_create(1, &w));
	return w;
}

T_CASE(life)
{
	struct doca_workq *w;

	T_INVALID(doca_workq_create(1, NULL));
	T_OK(doca_workq_create(UINT32_MAX, &w));
	T_OK(doca_workq_destroy(w));
	T_INVALID(doca_workq_destroy(NULL));
}

/* Contexts with jobs are those of accelerators: ../accel. */
T_CASE(null_arguments)
{
	struct doca_job job = { .type = 1, .user_data = { .u64 = 2 } };
	struct doca_event event = { .type = 3 };
	struct doca_workq *w = create();
	/* Not followed. */
	struct doca_ctx *ctx = (struct doca_ctx *)(void *)&job;
	struct doca_dev *dev = (struct doca_dev *)(void *)&job;

	T_INVALID(doca_workq_submit(w, &job));
	T_INVALID(doca_workq_submit(NULL, &job));
	T_INVALID(doca_workq_submit(w, NULL));
	T_IS(doca_workq_progress_retrieve(w, &event, 0), DOCA_ERROR_AGAIN);
	T_EQ(event.type, 3);
	T_INVALID(doca_workq_progress_retrieve(NULL, &event, 0));
	T_INVALID(doca_workq_progress_retrieve(w, NULL, 0));
	T_REFUSES_NULL(doca_ctx_dev_add, ctx, dev);
	T_REFUSES_NULL(doca_ctx_dev_rm, ctx, dev);
	T_REFUSES_NULL(doca_ctx_workq_add, ctx, w);
	T_REFUSES_NULL(doca_ctx_workq_rm, ctx, w);
	T_OK(doca_workq_destroy(w));
}

T_CASE(handle)
{
	doca_event_handle_t fd = doca_event_invalid_handle, again;
	struct doca_workq *w = create();
	struct pollfd p;

	T_IS(doca_workq_get_event_handle(w, &fd), DOCA_ERROR_BAD_STATE);
	T_IS(doca_workq_event_handle_arm(w), DOCA_ERROR_BAD_STATE);
	T_IS(doca_workq_event_handle_clear(w, 0), DOCA_ERROR_BAD_STATE);
	T_EQ(fd, doca_event_invalid_handle);
	T_OK(doca_workq_set_event_driven_enable(w, 1));
	T_OK(doca_workq_get_event_handle(w, &fd));
	T_OK(doca_workq_set_event_driven_enable(w, 1));
	T_OK(doca_workq_get_event_handle(w, &again));
	T_EQ(fd, again);
	T_OK(doca_workq_event_handle_arm(w));
	p = (struct pollfd){ .fd = fd, .events = POLLIN };
	T_EQ(poll(&p, 1, 0), 0);
	T_OK(doca_workq_event_handle_clear(w, fd));
	T_OK(doca_workq_set_event_driven_enable(w, 0));
	T_IS(doca_workq_event_handle_arm(w), DOCA_ERROR_BAD_STATE);
	T_EQ(poll(&p, 1, 0), 1);
	T_EQ(p.revents, POLLNVAL);
	T_REFUSES_NULL(doca_workq_get_event_handle, w, &fd);
	T_INVALID(doca_workq_event_handle_arm(NULL));
	T_INVALID(doca_workq_event_handle_clear(NULL, 0));
	T_INVALID(doca_workq_set_event_driven_enable(NULL, 1));
	T_OK(doca_workq_destroy(w));
}

T_CASE(no_descriptors)
{
	struct rlimit old, none = { 0 };
	struct doca_workq *w = create();

	T_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
	none.rlim_max = old.rlim_max;
	T_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
	T_IS(doca_workq_set_event_driven_enable(w, 1), DOCA_ERROR_OPERATING_SYSTEM);
	T_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
	T_IS(doca_workq_event_handle_arm(w), DOCA_ERROR_BAD_STATE);
	T_OK(doca_workq_destroy(w));
}
