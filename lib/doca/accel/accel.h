/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_ACCEL_ACCEL_H
#define IMPL_ACCEL_ACCEL_H

/*
 * Accelerators in software: the common part of their contexts.
 *
 * An accelerator has one or more kinds of tasks. Its context has one pool of tasks for all
 * kinds, and counts those of each. A submit puts a task into the context's queue. The progress
 * of its engine works on the oldest one, a piece at a time, so that the other contexts of the
 * engine get their turn within a millisecond or so.
 *
 * A submit looks at a task only as far as a driver of a card does: at its sizes. What else is
 * wrong with it shows when it is its turn. Then its error callback runs and the context stops,
 * and the tasks behind it end by their error callbacks. doca_task_try_submit() checks it all.
 *
 * Tasks that wait for something, such as the value of a sync event, are not in the queue: each
 * progress looks which of them are met.
 *
 * Threads: that of the engine. If the device has workers, the engine's thread checks and begins
 * the oldest tasks that are long enough, and gives them to workers, a few at a time. Workers
 * finish them in any order; the progress reports them in that of their submits, and does the short
 * ones between them.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include "accel/observe.h"
#include "accel/workers.h"
#include "ctx/ctx.h"
#include "mem/mem.h"

struct impl_accel_task;

/* A kind of task. */
struct impl_accel_kind {
	/* Whether the sizes are within the limits of the device. */
	doca_error_t (*admit)(const struct impl_accel_task *task);
	/* Whether an admitted task can be done. */
	doca_error_t (*check)(const struct impl_accel_task *task);
	/* Begin a task that was checked. May be NULL. */
	doca_error_t (*begin)(struct impl_accel_task *task);
	/* Do a piece of it. DOCA_ERROR_IN_PROGRESS: there is more to do. */
	doca_error_t (*run)(struct impl_accel_task *task);
	/* A task that had begun ends, done or not. May be NULL. */
	void (*end)(struct impl_accel_task *task);
	/* Whether a worker is to run it, once it was admitted. NULL: never. */
	bool (*suits_worker)(const struct impl_accel_task *task);
	/* A job enters its queue, and leaves it, whether it has begun or not. May be NULL. */
	void (*enter)(struct impl_accel_task *task);
	void (*leave)(struct impl_accel_task *task);
	/*
	 * Whether a submitted task is done; if it is not NULL, tasks of this kind wait for that
	 * beside the queue, and nobody waits for them.
	 */
	bool (*is_met)(const struct impl_accel_task *task);
	bool has_no_bufs;
};

/* A type of jobs, in DOCA until 2.2, and the kind of task that does the same. */
struct impl_accel_job {
	int type;
	uint8_t kind;
	void (*fill)(const struct doca_job *job, struct impl_accel_task *task);
};

/* What the program has configured for a kind. */
struct impl_accel_conf {
	doca_task_completion_cb_t done_cb, error_cb;
	uint32_t nb_tasks;  /* 0: not configured */
	uint32_t nb_taken;  /* allocated */
};

#define IMPL_ACCEL_MAX_KINDS 6
/* Bytes per progress: what a core copies in a tenth of a millisecond or so. */
#define IMPL_ACCEL_BUDGET (UINT32_C(1) << 20)

/* Tasks, the oldest first. */
struct impl_accel_list {
	struct doca_task *first;
	struct doca_task **end;
};

/* First member of an accelerator's object. */
struct impl_accel {
	struct doca_ctx ctx;
	struct doca_dev *dev;         /* NULL: none yet, if it has jobs */
	const struct impl_accel_kind *kinds;
	const struct impl_accel_job *jobs; /* NULL: it has tasks */
	uint32_t nb_jobs;
	struct impl_accel_conf conf[IMPL_ACCEL_MAX_KINDS];
	uint32_t nb_kinds;
	uint32_t max_tasks;           /* of a kind */
	struct impl_accel_list queue;   /* submitted */
	struct impl_accel_list waiting; /* submitted, of kinds with is_met() */
	struct doca_task *next_to_give; /* in the queue; NULL: all were looked at */
	uint32_t nb_given;              /* that workers have, or have ended */
	uint32_t nb_workers;            /* of the device, while the context runs */
	bool is_turn_of_waiting;
	struct impl_observed observed;
};

/* First member of an accelerator's tasks. */
struct impl_accel_task {
	struct doca_task task;
	const struct doca_buf *src;
	struct doca_buf *dst;
	uint8_t kind;        /* index in `kinds` */
	bool has_begun;
	bool is_counted;     /* as submitted */
	struct impl_work work;
	size_t budget;       /* bytes that run() may work on; it subtracts those that it does */
};

/* Operations of contexts of accelerators: those that all have, ... */
#define IMPL_ACCEL_SHARED_OPS \
	.event = impl_accel_event, \
	.progress = impl_accel_progress, \
	.submit = impl_accel_submit, \
	.check = impl_accel_check, \
	.task_report = impl_accel_report, \
	.task_cancel = impl_accel_task_cancel, \
	.task_revive = impl_accel_task_revive
/* ... and those of one whose tasks all are in the queue. */
#define IMPL_ACCEL_CTX_OPS(start_fn, release_fn, task_put_fn, fini_fn) \
	IMPL_ACCEL_SHARED_OPS, \
	.start = start_fn, \
	.stop = impl_accel_stop, \
	.release = release_fn, \
	.has_work = impl_accel_has_work, \
	.task_put = task_put_fn, \
	.fini = fini_fn

static inline struct impl_accel *
impl_accel_of(const struct doca_ctx *ctx)
{
	/* ctx is the first member of its object. */
	return (struct impl_accel *)(uintptr_t)ctx;
}

static inline struct impl_accel_task *
impl_accel_task_of(const struct doca_task *task)
{
	/* The task is its first member. */
	return (struct impl_accel_task *)(uintptr_t)task;
}

static inline const struct impl_accel_kind *
impl_accel_kind_of(const struct impl_accel_task *task)
{
	return &impl_accel_of(task->task.ctx)->kinds[task->kind];
}

/* Take from a task's budget what work on *len* bytes has cost; *cost* is that of a byte. */
static inline void
impl_accel_pay(struct impl_accel_task *task, size_t len, size_t cost)
{
	task->budget -= RTE_MIN(task->budget, len * cost);
}

/* Count a task, or job, that was submitted. */
static inline void
impl_accel_count_submit(struct impl_accel_task *task)
{
	struct impl_observed *o = &impl_accel_of(task->task.ctx)->observed;

	task->is_counted = true;
	impl_observe_count(o, &o->counters.submitted, 1);
}

/* Count a task that has ended. A stop or a fault can end a task before impl_accel_submit(). */
static inline void
impl_accel_count_end(struct impl_accel_task *task, doca_error_t status)
{
	struct impl_observed *o = &impl_accel_of(task->task.ctx)->observed;

	if (!task->is_counted)
		impl_accel_count_submit(task);
	task->is_counted = false;
	impl_observe_count(o, status == DOCA_SUCCESS ? &o->counters.done : &o->counters.failed, 1);
}

doca_error_t impl_accel_start(struct doca_ctx *ctx);
doca_error_t impl_accel_stop(struct doca_ctx *ctx);
void impl_accel_release(struct doca_ctx *ctx);
void impl_accel_event(struct doca_ctx *ctx, const struct rte_comch_event *event);
bool impl_accel_progress(struct doca_ctx *ctx);
/* Whether there are tasks to work on: none of those that wait. */
bool impl_accel_has_work(const struct doca_ctx *ctx);
/* Whether one that waits is met. */
bool impl_accel_has_met(const struct impl_accel *accel);
doca_error_t impl_accel_submit(struct doca_task *task);
doca_error_t impl_accel_check(const struct doca_task *task);
void impl_accel_report(struct doca_task *task, doca_error_t status);
void impl_accel_task_cancel(struct doca_task *task);
void impl_accel_task_put(struct doca_task *task);
bool impl_accel_task_revive(struct doca_task *task);
void impl_accel_fini(struct doca_ctx *ctx);

/*
 * Create the object of an accelerator, of this size, which uses the device until it is
 * destroyed. DOCA_ERROR_INVALID_VALUE: not a device.
 */
doca_error_t impl_accel_create(struct doca_dev *dev, const struct impl_ctx_ops *ops,
		const struct impl_accel_kind *kinds, uint32_t nb_kinds, size_t size,
		struct impl_accel **accel);

/* The same without a device, which is set while it is IDLE, or never. */
doca_error_t impl_accel_create_without(const struct impl_ctx_ops *ops,
		const struct impl_accel_kind *kinds, uint32_t nb_kinds, size_t size,
		struct impl_accel **accel);
void impl_accel_set_dev(struct impl_accel *accel, struct doca_dev *dev);
/* It has none any more. */
void impl_accel_unset_dev(struct impl_accel *accel);

/* Configure a kind of tasks. */
doca_error_t impl_accel_set_conf(struct impl_accel *accel, uint32_t kind,
		doca_task_completion_cb_t done_cb, doca_task_completion_cb_t error_cb,
		uint32_t nb_tasks);

/* Allocate a task. The buffers are looked at when it is submitted. */
doca_error_t impl_accel_take(struct impl_accel *accel, uint32_t kind, const struct doca_buf *src,
		struct doca_buf *dst, union doca_data user_data, struct impl_accel_task **task);

/* Check a task, and begin it. */
doca_error_t impl_accel_begin(struct impl_accel_task *task);
/* Do a piece of a task, from its check on. DOCA_ERROR_IN_PROGRESS: there is more to do. */
doca_error_t impl_accel_work(struct impl_accel_task *task);
/* Have done with a task, whether it is done or not. */
void impl_accel_end(struct impl_accel_task *task);
/* Whether it has the buffers that its kind needs, and its sizes are within the limits. */
doca_error_t impl_accel_admit(const struct impl_accel_task *task);

/* give.c: what workers have of the queue */

/* Give workers what there is, as far as they are not busy. */
void impl_accel_give(struct impl_accel *accel);
/*
 * Whether one of the tasks in front of the next one to give, which workers may be at, writes a
 * buffer of this one, or reads one that it writes: programs append to a buffer by several tasks.
 */
bool impl_accel_is_bound(const struct impl_accel *accel, const struct impl_accel_task *task);
/* Have a task that was given back, with what it has come to. */
void impl_accel_take_back(struct impl_accel_task *task);
/* No worker begins another task, while the engine's thread waits for the first. */
void impl_accel_call_off_all(struct impl_accel *accel);

/* job.c: the same by jobs, in DOCA until 2.2 */

extern const struct impl_job_ops impl_accel_job_ops;

/* Create an object without a device: it has jobs, and ops->jobs are impl_accel_job_ops. */
doca_error_t impl_accel_create_for_jobs(const struct impl_ctx_ops *ops,
		const struct impl_accel_kind *kinds, const struct impl_accel_job *jobs,
		uint32_t nb_jobs, size_t size, struct impl_accel **accel);

#endif /* IMPL_ACCEL_ACCEL_H */
