/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Work queues of DOCA 1.x and 2.0 to 2.2, which run jobs of contexts.
 *
 * A submit copies the job into an entry of the queue. Each retrieve works on the oldest ones, and
 * returns the first that is done. An entry is kept for the next job, so a queue allocates no
 * more of them than it has had in flight.
 *
 * Threads: a queue belongs to one thread. Queues of several threads can have a context in common:
 * all that changes with a job is in its entry.
 */

#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include <rte_common.h>

#include <comch_doca_workq_105.h>

#include "ctx/ctx.h"
#include "log/log.h"

/* A job in flight. */
struct entry {
	TAILQ_ENTRY(entry) next;
	struct doca_ctx *ctx;
	int type;
	union doca_data user_data;
	max_align_t work[];
};

TAILQ_HEAD(entries, entry);

/* A context that has the queue. */
struct member {
	TAILQ_ENTRY(member) next;
	struct doca_ctx *ctx;
	uint32_t nb_jobs;        /* in flight */
	struct entries unused;   /* of its size */
};

struct doca_workq {
	uint32_t depth;
	uint32_t nb_jobs;
	struct entries jobs;     /* oldest first */
	TAILQ_HEAD(, member) members;
	int fd;                  /* doca_event_invalid_handle: not event-driven */
};

doca_error_t
doca_workq_create(uint32_t depth, struct doca_workq **workq)
{
	struct doca_workq *w;

	if (workq == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return DOCA_ERROR_NO_MEMORY;
	w->depth = RTE_MAX(depth, 1u);
	TAILQ_INIT(&w->jobs);
	TAILQ_INIT(&w->members);
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
	if (!TAILQ_EMPTY(&workq->members)) {
		IMPL_ERR("work queue: cannot destroy: a %s has it (call doca_ctx_workq_rm())",
			TAILQ_FIRST(&workq->members)->ctx->ops->name);
		return DOCA_ERROR_IN_USE;
	}
	close_handle(workq);
	free(workq);
	return DOCA_SUCCESS;
}

/* Contexts */

static bool
has_jobs(const struct doca_ctx *ctx)
{
	if (ctx->ops->jobs == NULL)
		IMPL_ERR("%s: has no jobs for a work queue", ctx->ops->name);
	return ctx->ops->jobs != NULL;
}

static struct member *
find(const struct doca_workq *workq, const struct doca_ctx *ctx)
{
	struct member *m;

	TAILQ_FOREACH(m, &workq->members, next)
		if (m->ctx == ctx)
			break;
	return m;
}

/* Whether a context's device can be added or removed. */
static doca_error_t
may_change_dev(const struct doca_ctx *ctx, const struct doca_dev *dev)
{
	if (ctx == NULL || dev == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (!has_jobs(ctx))
		return DOCA_ERROR_NOT_SUPPORTED;
	return ctx->state == DOCA_CTX_STATE_IDLE ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE;
}

doca_error_t
doca_ctx_dev_add(struct doca_ctx *ctx, struct doca_dev *dev)
{
	doca_error_t ret = may_change_dev(ctx, dev);

	return ret == DOCA_SUCCESS ? ctx->ops->jobs->add_dev(ctx, dev) : ret;
}

doca_error_t
doca_ctx_dev_rm(struct doca_ctx *ctx, struct doca_dev *dev)
{
	doca_error_t ret = may_change_dev(ctx, dev);

	return ret == DOCA_SUCCESS ? ctx->ops->jobs->rm_dev(ctx, dev) : ret;
}

doca_error_t
doca_ctx_workq_add(struct doca_ctx *ctx, struct doca_workq *workq)
{
	struct member *m;

	if (ctx == NULL || workq == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (!has_jobs(ctx))
		return DOCA_ERROR_NOT_SUPPORTED;
	if (ctx->state != DOCA_CTX_STATE_RUNNING)
		return DOCA_ERROR_BAD_STATE;
	if (find(workq, ctx) != NULL)
		return DOCA_ERROR_ALREADY_EXIST;
	m = calloc(1, sizeof(*m));
	if (m == NULL)
		return DOCA_ERROR_NO_MEMORY;
	m->ctx = ctx;
	TAILQ_INIT(&m->unused);
	TAILQ_INSERT_TAIL(&workq->members, m, next);
	__atomic_fetch_add(&ctx->nb_workqs, 1, __ATOMIC_RELAXED);
	return DOCA_SUCCESS;
}

doca_error_t
doca_ctx_workq_rm(struct doca_ctx *ctx, struct doca_workq *workq)
{
	struct entry *e;
	struct member *m;

	if (ctx == NULL || workq == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	m = find(workq, ctx);
	if (m == NULL)
		return has_jobs(ctx) ? DOCA_ERROR_NOT_FOUND : DOCA_ERROR_NOT_SUPPORTED;
	if (m->nb_jobs > 0) {
		IMPL_ERR("%s: cannot leave the work queue: %u jobs are in flight", ctx->ops->name,
			m->nb_jobs);
		return DOCA_ERROR_IN_USE;
	}
	while ((e = TAILQ_FIRST(&m->unused)) != NULL) {
		TAILQ_REMOVE(&m->unused, e, next);
		free(e);
	}
	TAILQ_REMOVE(&workq->members, m, next);
	/* Release: its jobs happen before a stop that reads 0 (acquire). */
	__atomic_fetch_sub(&ctx->nb_workqs, 1, __ATOMIC_RELEASE);
	free(m);
	return DOCA_SUCCESS;
}

/* Jobs */

/* Make the handle readable, if there is one. */
static void
wake(const struct doca_workq *workq)
{
	if (workq->fd != doca_event_invalid_handle)
		eventfd_write(workq->fd, 1);
}

static struct entry *
entry_get(struct member *m)
{
	struct entry *e = TAILQ_FIRST(&m->unused);

	if (e != NULL)
		TAILQ_REMOVE(&m->unused, e, next);
	else
		e = malloc(sizeof(*e) + m->ctx->ops->task_size);
	return e;
}

doca_error_t
doca_workq_submit(struct doca_workq *workq, const struct doca_job *job)
{
	struct member *m;
	struct entry *e;
	doca_error_t ret;

	if (workq == NULL || job == NULL || job->ctx == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	m = find(workq, job->ctx);
	if (m == NULL)
		return has_jobs(job->ctx) ? DOCA_ERROR_BAD_STATE : DOCA_ERROR_NOT_SUPPORTED;
	if (workq->nb_jobs == workq->depth)
		return DOCA_ERROR_NO_MEMORY;
	e = entry_get(m);
	if (e == NULL)
		return DOCA_ERROR_NO_MEMORY;
	e->ctx = job->ctx;
	e->type = job->type;
	e->user_data = job->user_data;
	ret = job->ctx->ops->jobs->begin(job, e->work);
	if (ret != DOCA_SUCCESS) {
		TAILQ_INSERT_HEAD(&m->unused, e, next);
		return ret;
	}
	TAILQ_INSERT_TAIL(&workq->jobs, e, next);
	workq->nb_jobs++;
	m->nb_jobs++;
	wake(workq);
	return DOCA_SUCCESS;
}

/* Work on the jobs in their order, until one is done or one holds up those behind it. */
static struct entry *
next_done(struct doca_workq *workq, doca_error_t *status)
{
	const struct impl_job_ops *jobs;
	struct entry *e;

	TAILQ_FOREACH(e, &workq->jobs, next) {
		jobs = e->ctx->ops->jobs;
		*status = jobs->run(e->work);
		if (*status != DOCA_ERROR_IN_PROGRESS)
			return e;
		if (!jobs->is_waiting(e->work))
			return NULL;
	}
	return NULL;
}

doca_error_t
doca_workq_progress_retrieve(struct doca_workq *workq, struct doca_event *ev, int flags)
{
	doca_error_t status = DOCA_SUCCESS;
	struct member *m;
	struct entry *e;

	RTE_SET_USED(flags);
	if (workq == NULL || ev == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	e = next_done(workq, &status);
	if (e == NULL)
		return DOCA_ERROR_AGAIN;
	*ev = (struct doca_event){
		.type = e->type,
		.user_data = e->user_data,
		.result.u64 = (uint64_t)status,
	};
	m = find(workq, e->ctx);
	TAILQ_REMOVE(&workq->jobs, e, next);
	TAILQ_INSERT_HEAD(&m->unused, e, next);
	workq->nb_jobs--;
	m->nb_jobs--;
	return status == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
}

/* Sleeping */

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
	doca_error_t ret = check_handle(workq);

	/* A job that is in flight needs a retrieve to be done. */
	if (ret == DOCA_SUCCESS && workq->nb_jobs > 0)
		wake(workq);
	return ret;
}

doca_error_t
doca_workq_event_handle_clear(struct doca_workq *workq, doca_event_handle_t handle)
{
	doca_error_t ret = check_handle(workq);
	eventfd_t value;

	RTE_SET_USED(handle);
	if (ret == DOCA_SUCCESS)
		eventfd_read(workq->fd, &value);
	return ret;
}
