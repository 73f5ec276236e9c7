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

	T_INVALID(doca_workq_create(0, &w));
	T_INVALID(doca_workq_create(1, NULL));
	T_OK(doca_workq_create(UINT32_MAX, &w));
	T_OK(doca_workq_destroy(w));
	T_INVALID(doca_workq_destroy(NULL));
}

/* There is no context; any address is one for these functions. */
static int nothing;
#define NO_CTX ((struct doca_ctx *)(void *)&nothing)
#define NO_DEV ((struct doca_dev *)(void *)&nothing)

T_CASE(jobs)
{
	struct doca_job job = { .type = 1, .user_data = { .u64 = 2 } };
	struct doca_event event = { .type = 3 };
	struct doca_workq *w = create();

	T_INVALID(doca_workq_submit(w, &job));
	job.ctx = NO_CTX;
	T_IS(doca_workq_submit(w, &job), DOCA_ERROR_NOT_SUPPORTED);
	T_REFUSES_NULL(doca_workq_submit, w, &job);
	T_IS(doca_workq_progress_retrieve(w, &event, 0), DOCA_ERROR_AGAIN);
	T_EQ(event.type, 3);
	T_INVALID(doca_workq_progress_retrieve(NULL, &event, 0));
	T_INVALID(doca_workq_progress_retrieve(w, NULL, 0));
	T_OK(doca_workq_destroy(w));
}

T_CASE(contexts)
{
	struct doca_workq *w = create();

	T_IS(doca_ctx_dev_add(NO_CTX, NO_DEV), DOCA_ERROR_NOT_SUPPORTED);
	T_REFUSES_NULL(doca_ctx_dev_add, NO_CTX, NO_DEV);
	T_IS(doca_ctx_dev_rm(NO_CTX, NO_DEV), DOCA_ERROR_NOT_SUPPORTED);
	T_REFUSES_NULL(doca_ctx_dev_rm, NO_CTX, NO_DEV);
	T_IS(doca_ctx_workq_add(NO_CTX, w), DOCA_ERROR_NOT_SUPPORTED);
	T_REFUSES_NULL(doca_ctx_workq_add, NO_CTX, w);
	T_IS(doca_ctx_workq_rm(NO_CTX, w), DOCA_ERROR_NOT_SUPPORTED);
	T_REFUSES_NULL(doca_ctx_workq_rm, NO_CTX, w);
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
