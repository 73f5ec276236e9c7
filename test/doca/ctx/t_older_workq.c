/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Work queues of DOCA 1.2 to 2.2: there, and idle. */

#include <poll.h>
#include <sys/resource.h>

#include <doca_ctx.h>

#include "t_main.h"

#define INVALID DOCA_ERROR_INVALID_VALUE

static struct doca_workq *
create(void)
{
	struct doca_workq *w;

	T_EQ(doca_workq_create(1, &w), DOCA_SUCCESS);
	return w;
}

T_CASE(life)
{
	struct doca_workq *w;

	T_EQ(doca_workq_create(0, &w), INVALID);
	T_EQ(doca_workq_create(1, NULL), INVALID);
	T_EQ(doca_workq_create(UINT32_MAX, &w), DOCA_SUCCESS);
	T_EQ(doca_workq_destroy(w), DOCA_SUCCESS);
	T_EQ(doca_workq_destroy(NULL), INVALID);
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

	T_EQ(doca_workq_submit(w, &job), INVALID);
	job.ctx = NO_CTX;
	T_EQ(doca_workq_submit(w, &job), DOCA_ERROR_NOT_SUPPORTED);
	T_EQ(doca_workq_submit(NULL, &job), INVALID);
	T_EQ(doca_workq_submit(w, NULL), INVALID);
	T_EQ(doca_workq_progress_retrieve(w, &event, 0), DOCA_ERROR_AGAIN);
	T_EQ(event.type, 3);
	T_EQ(doca_workq_progress_retrieve(NULL, &event, 0), INVALID);
	T_EQ(doca_workq_progress_retrieve(w, NULL, 0), INVALID);
	T_EQ(doca_workq_destroy(w), DOCA_SUCCESS);
}

T_CASE(contexts)
{
	struct doca_workq *w = create();

	T_EQ(doca_ctx_dev_add(NO_CTX, NO_DEV), DOCA_ERROR_NOT_SUPPORTED);
	T_EQ(doca_ctx_dev_add(NULL, NO_DEV), INVALID);
	T_EQ(doca_ctx_dev_add(NO_CTX, NULL), INVALID);
	T_EQ(doca_ctx_dev_rm(NO_CTX, NO_DEV), DOCA_ERROR_NOT_SUPPORTED);
	T_EQ(doca_ctx_dev_rm(NULL, NO_DEV), INVALID);
	T_EQ(doca_ctx_dev_rm(NO_CTX, NULL), INVALID);
	T_EQ(doca_ctx_workq_add(NO_CTX, w), DOCA_ERROR_NOT_SUPPORTED);
	T_EQ(doca_ctx_workq_add(NULL, w), INVALID);
	T_EQ(doca_ctx_workq_add(NO_CTX, NULL), INVALID);
	T_EQ(doca_ctx_workq_rm(NO_CTX, w), DOCA_ERROR_NOT_SUPPORTED);
	T_EQ(doca_ctx_workq_rm(NULL, w), INVALID);
	T_EQ(doca_ctx_workq_rm(NO_CTX, NULL), INVALID);
	T_EQ(doca_workq_destroy(w), DOCA_SUCCESS);
}

T_CASE(handle)
{
	doca_event_handle_t fd = doca_event_invalid_handle, again;
	struct doca_workq *w = create();
	struct pollfd p;

	T_EQ(doca_workq_get_event_handle(w, &fd), DOCA_ERROR_BAD_STATE);
	T_EQ(doca_workq_event_handle_arm(w), DOCA_ERROR_BAD_STATE);
	T_EQ(doca_workq_event_handle_clear(w, 0), DOCA_ERROR_BAD_STATE);
	T_EQ(fd, doca_event_invalid_handle);
	T_EQ(doca_workq_set_event_driven_enable(w, 1), DOCA_SUCCESS);
	T_EQ(doca_workq_get_event_handle(w, &fd), DOCA_SUCCESS);
	T_EQ(doca_workq_set_event_driven_enable(w, 1), DOCA_SUCCESS);
	T_EQ(doca_workq_get_event_handle(w, &again), DOCA_SUCCESS);
	T_EQ(fd, again);
	T_EQ(doca_workq_event_handle_arm(w), DOCA_SUCCESS);
	p = (struct pollfd){ .fd = fd, .events = POLLIN };
	T_EQ(poll(&p, 1, 0), 0);
	T_EQ(doca_workq_event_handle_clear(w, fd), DOCA_SUCCESS);
	T_EQ(doca_workq_set_event_driven_enable(w, 0), DOCA_SUCCESS);
	T_EQ(doca_workq_event_handle_arm(w), DOCA_ERROR_BAD_STATE);
	T_EQ(poll(&p, 1, 0), 1);
	T_EQ(p.revents, POLLNVAL);
	T_EQ(doca_workq_get_event_handle(NULL, &fd), INVALID);
	T_EQ(doca_workq_get_event_handle(w, NULL), INVALID);
	T_EQ(doca_workq_event_handle_arm(NULL), INVALID);
	T_EQ(doca_workq_event_handle_clear(NULL, 0), INVALID);
	T_EQ(doca_workq_set_event_driven_enable(NULL, 1), INVALID);
	T_EQ(doca_workq_destroy(w), DOCA_SUCCESS);
}

T_CASE(no_descriptors)
{
	struct rlimit old, none = { 0 };
	struct doca_workq *w = create();

	T_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
	none.rlim_max = old.rlim_max;
	T_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
	T_EQ(doca_workq_set_event_driven_enable(w, 1), DOCA_ERROR_OPERATING_SYSTEM);
	T_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
	T_EQ(doca_workq_event_handle_arm(w), DOCA_ERROR_BAD_STATE);
	T_EQ(doca_workq_destroy(w), DOCA_SUCCESS);
}
