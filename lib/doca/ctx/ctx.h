/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_CTX_CTX_H
#define IMPL_CTX_CTX_H

/*
 * Contexts, their tasks, and the engine that drives them.
 *
 * Ownership: a context is the first member of its object. It is in its engine's list
 * from doca_pe_connect_ctx() until the object is destroyed. Its memory is freed by the
 * engine's next progress, so that a callback may destroy the object that called it.
 * Tasks are in one array of the context, from start until IDLE.
 *
 * Threads: everything belongs to the engine's thread; others only read the state.
 *
 * Tasks submitted while the channel accepts none are deferred. Those of a STARTING
 * consumer are posted just before its RUNNING callback; those of a STOPPING context fail
 * in the next progress.
 *
 * Callbacks run in doca_pe_progress(), and in start and stop if these complete at once.
 * A stop within doca_pe_progress() never completes at once: no context becomes IDLE and
 * no object is freed during a loop over its tasks or events.
 */

#include <stdbool.h>
#include <sys/queue.h>

#include <rte_branch_prediction.h>
#include <rte_comch_poll.h>

#include <doca_ctx.h>
#include <doca_pe.h>

#include "dev/manners.h"

enum impl_task_state {
	IMPL_TASK_FREE,
	IMPL_TASK_OWNED,      /* by the application */
	IMPL_TASK_SUBMITTED,
	IMPL_TASK_ORPHAN,     /* freed while submitted: no callback */
};

/* Small, so that the fields of its kind are in the same cache line. */
struct doca_task {
	struct doca_ctx *ctx;
	union doca_data user_data;
	struct doca_task *next; /* in the list of free, deferred or completed tasks */
	doca_error_t status;
	uint8_t state;          /* enum impl_task_state */
	bool has_revived_buf;   /* by task_revive() */
	uint16_t buf_use;       /* of its buf, when it was given that: impl_buf_use() */
};

struct doca_dev;
struct doca_job;

/*
 * Jobs of a context, for a work queue of DOCA until 2.2. Such a context has no engine and no
 * tasks; a job is in memory of its own, of task_size bytes.
 */
struct impl_job_ops {
	doca_error_t (*add_dev)(struct doca_ctx *ctx, struct doca_dev *dev);
	doca_error_t (*rm_dev)(struct doca_ctx *ctx, struct doca_dev *dev);
	/* Whether it can start. */
	doca_error_t (*may_start)(const struct doca_ctx *ctx);
	/* Take a job, which is not there afterwards. */
	doca_error_t (*begin)(const struct doca_job *job, void *work);
	/* Do a piece of it. DOCA_ERROR_IN_PROGRESS: there is more to do. */
	doca_error_t (*run)(void *work);
	/* Whether it waits for something else, so that those behind it can go on. */
	bool (*is_waiting)(const void *work);
};

/* Operations of a kind of object. */
struct impl_ctx_ops {
	const char *name;
	size_t task_size;
	const struct impl_job_ops *jobs; /* NULL: it has tasks */
	/* Start: DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS; an error leaves it unchanged. */
	doca_error_t (*start)(struct doca_ctx *ctx);
	/* Start to stop; DOCA_SUCCESS: the native object is IDLE. */
	doca_error_t (*stop)(struct doca_ctx *ctx);
	/* Destroy the native object, which is IDLE and has no tasks. */
	void (*release)(struct doca_ctx *ctx);
	/* Handle a native event of the object or one of its connections. */
	void (*event)(struct doca_ctx *ctx, const struct rte_comch_event *event);
	/* Process completions, which the poll does not. True: something was done. */
	bool (*progress)(struct doca_ctx *ctx);
	/* Whether progress() has something to do that the poll does not know of. May be NULL. */
	bool (*has_work)(const struct doca_ctx *ctx);
	doca_error_t (*submit)(struct doca_task *task);
	/* Find what submit() leaves to a later progress. NULL: nothing. */
	doca_error_t (*check)(const struct doca_task *task);
	/* Check a task submitted while STARTING. NULL: not allowed. */
	doca_error_t (*submit_early)(const struct doca_task *task);
	/* Report a submitted task whose end the channel does not report: it never got there, or
	 * was given to impl_pe_complete_later().
	 */
	void (*task_report)(struct doca_task *task, doca_error_t status);
	/* Pass batched tasks to the channel. May be NULL. */
	void (*flush)(struct doca_ctx *ctx);
	/* A submitted task is freed, and is to be left alone from now on. May be NULL. */
	void (*task_cancel)(struct doca_task *task);
	/* A task is freed. May be NULL. */
	void (*task_put)(struct doca_task *task);
	/*
	 * A task that was freed is the application's again. False: what it names cannot be had
	 * again.
	 */
	bool (*task_revive)(struct doca_task *task);
	/* Such a task was not accepted. May be NULL. */
	void (*task_unrevive)(struct doca_task *task);
	/* Before the object's memory is freed. May be NULL. */
	void (*fini)(struct doca_ctx *ctx);
	/* End the connection of a task. NULL: it has none of its own. */
	void (*reset)(struct doca_task *task);
	/* Move the data path to a DPA, which replaces the ops. NULL: not supported. */
	doca_error_t (*set_dpa)(struct doca_ctx *ctx, struct doca_dpa *dpa);
};

struct doca_ctx {
	/* Read by each progress. */
	const struct impl_ctx_ops *ops;
	struct doca_pe *pe;
	uint8_t state;          /* enum doca_ctx_states; any thread may read it */
	bool native_idle;       /* the native object has stopped */
	bool needs_progress;    /* call progress(); see impl_ctx_wants_progress() */
	bool is_active;         /* in pe->active */
	uint16_t burst;         /* completions per progress, at most */
	struct impl_faults *faults; /* of its device; NULL: none */
	uint32_t nb_inflight;   /* tasks submitted */
	uint32_t nb_orphans;    /* freed, but not complete */
	uint32_t nb_taken;      /* allocated by the application, submitted or not */
	union doca_data user_data;
	TAILQ_ENTRY(doca_ctx) next;
	TAILQ_ENTRY(doca_ctx) next_active;

	const struct impl_manners *manners; /* of its device */
	struct doca_dpa *dpa;   /* of its data path; no engine or tasks then */
	uint32_t nb_workqs;     /* atomic: work queues that it has */
	void *native;           /* the native server, client, producer or consumer */
	/* Tasks */
	struct doca_task *free_tasks;
	struct doca_task *deferred;  /* oldest first */
	struct doca_task **deferred_end;
	uint8_t *tasks;
	uint32_t nb_tasks;      /* 0: not configured */

	doca_ctx_state_changed_callback_t state_cb;
	bool is_dead;
	bool keeps_freed_tasks; /* as long as they are not given away, they can be submitted */
	bool told_of_freed_task;
	uint64_t late_until;    /* TSC: its deferred tasks are submitted then; 0: none is late */
};

/* First member of whatever the user data of a native connection points to. */
struct impl_conn_head {
	struct doca_ctx *ctx;
};

/* Completions per progress of a context, and batched submits, at most. */
#define IMPL_CTX_BURST 32
/* Events per run of the poll. */
#define IMPL_PE_EVENTS 16

TAILQ_HEAD(impl_ctx_list, doca_ctx);

struct doca_pe {
	struct rte_comch_poll *poll;
	struct impl_ctx_list ctxs;
	/* Those that each progress visits: needs_progress, or STOPPING; perhaps not any more. */
	struct impl_ctx_list active;
	struct doca_ctx *cursor;     /* next context of the running progress */
	uint16_t ev_next, nb_ev;     /* received from the poll, not yet handled */
	struct doca_task *completed; /* not yet reported, oldest first */
	struct doca_task **completed_end;
	uint32_t nb_completed;
	uint32_t nb_before;          /* of these, completed before the events in hand came */
	uint32_t nb_not_run;         /* of them reported since the poll was run */
	bool running;                /* within doca_pe_progress() */
	bool has_batch;                 /* a context has a batch to flush */
	bool has_refused;            /* by fault.again: the next sleep is to end at once */
	const struct impl_faults *slow; /* of the device of a context that has faults */
	bool is_single;              /* report one completion per progress */
	bool completed_last;         /* the last event was one of `completed` */
	bool ctxs_first;             /* in this progress, before events; if is_single */
	struct doca_pe *outer;       /* engine whose callback runs this progress */
	bool armed;
	TAILQ_ENTRY(doca_pe) all;    /* all engines of the process */
	struct impl_ctx_list dead;   /* destroyed, not yet freed */
	struct rte_comch_event ev[IMPL_PE_EVENTS];
};

/* ctx.c */
const char *impl_ctx_state_name(uint8_t state);
void impl_ctx_init(struct doca_ctx *ctx, const struct impl_ctx_ops *ops,
		const struct impl_manners *manners);
/* Destroy: IN_USE unless IDLE. impl_ctx_free() frees the memory, now or later. */
doca_error_t impl_ctx_destroy(struct doca_ctx *ctx);
void impl_ctx_free(struct doca_ctx *ctx);
/* Pass a full batch to the channel: the end of a submit. */
doca_error_t impl_ctx_flush(struct doca_ctx *ctx);
/* Have each progress visit it, from now on. */
void impl_ctx_wants_progress(struct doca_ctx *ctx);
/* Make a STARTING context RUNNING; otherwise no effect. */
void impl_ctx_on_running(struct doca_ctx *ctx);
/* Stop a RUNNING context, whose native object is gone or has none; otherwise no effect. */
void impl_ctx_fail(struct doca_ctx *ctx);
/* Handle a native STATE event. */
void impl_ctx_on_state(struct doca_ctx *ctx, const struct rte_comch_event *event);
/* The tasks that are not complete. */
static inline uint32_t
impl_ctx_nb_busy(const struct doca_ctx *ctx)
{
	return ctx->nb_inflight + ctx->nb_orphans;
}
/* Whether neither the native object nor a task needs the context. */
static inline bool
impl_ctx_is_free(const struct doca_ctx *ctx)
{
	return ctx->native_idle && impl_ctx_nb_busy(ctx) == 0 && ctx->nb_taken == 0;
}
/* Whether a STOPPING context can become IDLE. */
static inline bool
impl_ctx_can_settle(const struct doca_ctx *ctx)
{
	return ctx->state == DOCA_CTX_STATE_STOPPING && impl_ctx_is_free(ctx);
}
/* Make it IDLE if it can, after its last event. True: it became IDLE. */
bool impl_ctx_settle(struct doca_ctx *ctx);
/* Whether tasks can be allocated; with early, also while STARTING. */
static inline bool
impl_ctx_has_tasks(const struct doca_ctx *ctx, bool early)
{
	return ctx->dpa == NULL && (likely(ctx->state == DOCA_CTX_STATE_RUNNING) ||
		ctx->state == DOCA_CTX_STATE_STOPPING ||
		(early && ctx->state == DOCA_CTX_STATE_STARTING));
}
/* Whether the object can be configured. */
static inline doca_error_t
impl_ctx_may_set(const struct doca_ctx *ctx)
{
	return ctx->state == DOCA_CTX_STATE_IDLE ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE;
}

/*
 * pe.c
 *
 * A submit within a progress may be batched until the callbacks have returned. Batches
 * are flushed at the end of the progress, and before a submit returns AGAIN: two sides
 * that wait for each other in their callbacks must see each other's submits.
 */
void impl_pe_flush_outer(void);
void impl_pe_remove(struct doca_pe *pe, struct doca_ctx *ctx);
/* Have each progress visit a context. */
void impl_pe_activate(struct doca_pe *pe, struct doca_ctx *ctx);
/*
 * Report a submitted task in a later progress, as one event: it has completed, and the poll has
 * no event for it. Of the tasks of an engine the first one is reported first.
 */
void impl_pe_complete_later(struct doca_pe *pe, struct doca_task *task, doca_error_t status);
/* Whether events of a context or its connections are not yet handled. */
bool impl_pe_has_events(const struct doca_pe *pe, const struct doca_ctx *ctx);
/* Wake the engine for work that the poll does not know of. */
static inline void
impl_pe_wake(struct doca_pe *pe)
{
	/* A context on a DPA has no engine. */
	if (unlikely(pe != NULL && pe->armed))
		rte_comch_poll_notify(pe->poll);
}

/* fault.c: a context whose device has faults */
/* Submit a task of a RUNNING context. */
doca_error_t impl_fault_submit(struct doca_task *task);
/* Submit those that were late, if it is time. True: something was done. */
bool impl_fault_progress(struct doca_ctx *ctx);

/* task.c */

/* Of a RUNNING context. */
doca_error_t impl_task_submit_now(struct doca_task *task);
/* Keep a task for later, as submitted. */
void impl_task_keep(struct doca_task *task);
/* A task was submitted, in whatever way. */
void impl_task_submitted(struct doca_task *task);

/* Submit the deferred tasks. */
void impl_task_submit_deferred(struct doca_ctx *ctx);
/* Fail the deferred tasks. True: there were some. */
bool impl_task_fail_deferred(struct doca_ctx *ctx);

/* Give a free task to the application; NULL: none left. */
static inline struct doca_task *
impl_task_take(struct doca_ctx *ctx)
{
	struct doca_task *task = ctx->free_tasks;

	if (unlikely(task == NULL))
		return NULL;
	ctx->free_tasks = task->next;
	ctx->nb_taken++;
	task->ctx = ctx;
	task->state = IMPL_TASK_OWNED;
	task->status = DOCA_SUCCESS;
	task->user_data.u64 = 0;
	return task;
}

/* Free a task. */
static inline void
impl_task_put(struct doca_task *task)
{
	struct doca_ctx *ctx = task->ctx;

	task->state = IMPL_TASK_FREE;
	task->next = ctx->free_tasks;
	ctx->free_tasks = task;
	if (ctx->ops->task_put != NULL)
		ctx->ops->task_put(task);
}

/* Complete a task. False: it was freed meanwhile, do not call its callback. */
static inline bool
impl_task_complete(struct doca_task *task, doca_error_t status)
{
	struct doca_ctx *ctx = task->ctx;

	if (unlikely(task->state == IMPL_TASK_ORPHAN)) {
		ctx->nb_orphans--;
		impl_task_put(task);
		return false;
	}
	ctx->nb_inflight--;
	task->state = IMPL_TASK_OWNED;
	task->status = status;
	return true;
}

#endif /* IMPL_CTX_CTX_H */
