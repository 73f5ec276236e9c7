/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_CTX_CTX_H
#define IMPL_CTX_CTX_H

/*
 * Contexts, their tasks, and the engine that drives them.
 *
 * Who owns what: a context belongs to its object (it is the first member), is
 * in its engine's list from doca_pe_connect_ctx() until the object is
 * destroyed, and its memory lives until the engine's next progress, so that a
 * callback may destroy what called it. Tasks live in one array of the context,
 * from start until IDLE.
 *
 * Threads: all of it belongs to the engine's thread; only the state is read by
 * others.
 *
 * A task that is submitted while the channel takes none is deferred: a consumer's
 * while it is STARTING goes with RUNNING, before its callback; one while STOPPING
 * has its error callback in the next progress.
 *
 * Callbacks run in doca_pe_progress(), and in start and stop for what these
 * settle at once. A stop within doca_pe_progress() is never settled at once: so
 * no context becomes IDLE, and no object goes, while something loops over its
 * tasks or events.
 */

#include <stdbool.h>
#include <sys/queue.h>

#include <rte_branch_prediction.h>
#include <rte_comch_poll.h>

#include <doca_ctx.h>
#include <doca_pe.h>

enum impl_task_state {
	IMPL_TASK_FREE,
	IMPL_TASK_OWNED,      /* by the application */
	IMPL_TASK_SUBMITTED,
	IMPL_TASK_ORPHAN,     /* freed while submitted: comes back to nobody */
};

/* Small: what a task is to its kind shares its first cache line. */
struct doca_task {
	struct doca_ctx *ctx;
	union doca_data user_data;
	struct doca_task *next; /* free, or deferred */
	doca_error_t status;
	uint8_t state;          /* enum impl_task_state */
};

/* What kind of object a context is. */
struct impl_ctx_ops {
	const char *name;
	size_t task_size;
	/* Start; DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS, or nothing has changed. */
	doca_error_t (*start)(struct doca_ctx *ctx);
	/* Begin to stop; DOCA_SUCCESS: the native object is IDLE already. */
	doca_error_t (*stop)(struct doca_ctx *ctx);
	/* The native object is IDLE, no task is left: let it go. */
	void (*release)(struct doca_ctx *ctx);
	/* A native event of the object or of a connection of it. */
	void (*event)(struct doca_ctx *ctx, const struct rte_comch_event *event);
	/* What the poll does not do: completions. True: something was done. */
	bool (*progress)(struct doca_ctx *ctx);
	doca_error_t (*submit)(struct doca_task *task);
	/* May it be submitted while STARTING? NULL: no task may. */
	doca_error_t (*submit_early)(const struct doca_task *task);
	/* A submitted task comes back without having been the channel's: its callback. */
	void (*task_back)(struct doca_task *task, doca_error_t status);
	/* Hand over what submits within callbacks put by. May be NULL. */
	void (*flush)(struct doca_ctx *ctx);
	/* A task goes back to the pool. May be NULL. */
	void (*task_put)(struct doca_task *task);
	/* Before the object's memory goes. May be NULL. */
	void (*fini)(struct doca_ctx *ctx);
	/* Its data path is to be on a DPA: other ops from now on. NULL: it cannot be. */
	doca_error_t (*set_dpa)(struct doca_ctx *ctx, struct doca_dpa *dpa);
};

struct doca_ctx {
	/* What each progress looks at. */
	const struct impl_ctx_ops *ops;
	struct doca_pe *pe;
	uint8_t state;          /* enum doca_ctx_states; any thread may read it */
	bool native_idle;       /* the native object is done with its stop */
	bool poll_me;           /* progress() has to be called */
	uint32_t nb_busy;       /* tasks that the channel has: submitted, orphans */
	uint32_t nb_inflight;   /* submitted */
	uint32_t nb_taken;      /* allocated by the application, submitted or not */
	union doca_data user_data;
	TAILQ_ENTRY(doca_ctx) next;

	struct doca_dpa *dpa;   /* that has its data path; then it needs no engine, no tasks */
	void *native;           /* the native server, client, producer or consumer */
	/* Tasks */
	struct doca_task *free_tasks;
	struct doca_task *deferred;  /* the oldest first */
	struct doca_task **deferred_end;
	uint8_t *tasks;
	uint32_t nb_tasks;      /* as configured; 0: not */

	doca_ctx_state_changed_callback_t state_cb;
	bool is_dead;
};

/* User data of native connections points to something that begins so. */
struct impl_conn_head {
	struct doca_ctx *ctx;
};

/* Events that one look at the poll takes. */
#define IMPL_PE_EVENTS 16

TAILQ_HEAD(impl_ctx_list, doca_ctx);

struct doca_pe {
	struct rte_comch_poll *poll;
	struct impl_ctx_list ctxs;
	struct doca_ctx *cursor;     /* the next context of a progress that runs */
	uint16_t ev_next, nb_ev;     /* taken from the poll, not yet told */
	bool running;                /* within doca_pe_progress() */
	bool put_by;                 /* a context has something to flush */
	struct doca_pe *outer;       /* whose callback this engine's progress is in */
	bool barrier;                /* tell no more in this progress */
	bool armed;
	struct impl_ctx_list dead;   /* destroyed, to be freed */
	struct rte_comch_event ev[IMPL_PE_EVENTS];
};

/* ctx.c */
void impl_ctx_init(struct doca_ctx *ctx, const struct impl_ctx_ops *ops);
/* Destroy: IN_USE unless IDLE; the memory goes by impl_ctx_free(), now or later. */
doca_error_t impl_ctx_destroy(struct doca_ctx *ctx);
void impl_ctx_free(struct doca_ctx *ctx);
/* STARTING is over, if it is STARTING. */
void impl_ctx_on_running(struct doca_ctx *ctx);
/* A native STATE event. */
void impl_ctx_on_state(struct doca_ctx *ctx, const struct rte_comch_event *event);
/* Do neither the native object nor a task hold a context? */
static inline bool
impl_ctx_is_free(const struct doca_ctx *ctx)
{
	return ctx->native_idle && ctx->nb_busy == 0 && ctx->nb_taken == 0;
}
/* Does nothing hold a context that is STOPPING? */
static inline bool
impl_ctx_can_settle(const struct doca_ctx *ctx)
{
	return ctx->state == DOCA_CTX_STATE_STOPPING && impl_ctx_is_free(ctx);
}
/* Then it becomes IDLE, once its last event is told. True: it was so. */
bool impl_ctx_settle(struct doca_ctx *ctx);
/* May tasks be allocated? Early: also while STARTING. */
static inline bool
impl_ctx_has_tasks(const struct doca_ctx *ctx, bool early)
{
	return ctx->dpa == NULL && (likely(ctx->state == DOCA_CTX_STATE_RUNNING) ||
		ctx->state == DOCA_CTX_STATE_STOPPING ||
		(early && ctx->state == DOCA_CTX_STATE_STARTING));
}
/* May the object be configured? */
static inline doca_error_t
impl_ctx_may_set(const struct doca_ctx *ctx)
{
	return ctx->state == DOCA_CTX_STATE_IDLE ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE;
}

/*
 * pe.c
 *
 * A submit within a progress may be put by until the callbacks are through, so
 * that many go at once. What is put by goes at the end of the progress, and
 * before anybody hears "again": two sides that wait for each other in their
 * callbacks must see what the other one has submitted.
 */
void impl_pe_flush_outer(void);
void impl_pe_forget(struct doca_pe *pe, struct doca_ctx *ctx);
/* Do events of a context, or of its connections, wait to be told? */
bool impl_pe_has_events(const struct doca_pe *pe, const struct doca_ctx *ctx);
/* There is something to do that the poll does not know of. */
static inline void
impl_pe_kick(struct doca_pe *pe)
{
	/* A context on a DPA has none. */
	if (unlikely(pe != NULL && pe->armed))
		rte_comch_poll_notify(pe->poll);
}

/* task.c */

/* The channel takes tasks from now on: those that are deferred. */
void impl_task_hand_over(struct doca_ctx *ctx);
/* It takes none any more: error callbacks of those that are deferred. True: for some. */
bool impl_task_give_back(struct doca_ctx *ctx);

/* A free task, now the application's; NULL: none is left. */
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

/* A task goes back to the pool. */
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

/* The channel is done with a task. False: nobody waits for it. */
static inline bool
impl_task_back(struct doca_task *task, doca_error_t status)
{
	struct doca_ctx *ctx = task->ctx;

	ctx->nb_busy--;
	if (unlikely(task->state == IMPL_TASK_ORPHAN)) {
		impl_task_put(task);
		return false;
	}
	ctx->nb_inflight--;
	task->state = IMPL_TASK_OWNED;
	task->status = status;
	return true;
}

#endif /* IMPL_CTX_CTX_H */
