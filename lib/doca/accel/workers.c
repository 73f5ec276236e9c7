/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Worker threads. All signals are blocked in them: the program's handlers run in its own threads.
 */

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include <rte_common.h>
#include <rte_comch_poll.h>

#include "accel/accel.h"
#include "accel/workers.h"
#include "dev/cpus.h"
#include "dev/eal.h"
#include "log/log.h"

TAILQ_HEAD(work_list, impl_work);

static struct {
	pthread_mutex_t life;      /* of the threads: held to create and to join them */
	uint32_t nb_users;
	uint32_t nb_threads;
	pthread_t threads[IMPL_MAX_WORKERS];

	pthread_mutex_t lock;      /* of the rest */
	pthread_cond_t has_work;
	pthread_cond_t has_ended;  /* a task that a worker had */
	struct work_list queue;
	uint32_t nb_queued;        /* atomic */
	bool is_over;
} pool = {
	.life = PTHREAD_MUTEX_INITIALIZER,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.has_work = PTHREAD_COND_INITIALIZER,
	.has_ended = PTHREAD_COND_INITIALIZER,
	.queue = TAILQ_HEAD_INITIALIZER(pool.queue),
};

static struct impl_accel_task *
task_of(struct impl_work *work)
{
	return container_of(work, struct impl_accel_task, work);
}

/* Workers */

/* Without the lock: a piece of it, or all, if no other task waits for a worker. */
static doca_error_t
run_task(struct impl_accel_task *task)
{
	doca_error_t ret;

	do {
		task->budget = IMPL_ACCEL_BUDGET;
		ret = impl_accel_kind_of(task)->run(task);
		/* No model: hints. What follows is done with the lock. */
	} while (ret == DOCA_ERROR_IN_PROGRESS &&
		!__atomic_load_n(&task->work.is_recalled, __ATOMIC_RELAXED) &&
		__atomic_load_n(&pool.nb_queued, __ATOMIC_RELAXED) == 0);
	return ret;
}

static void
enqueue(struct impl_work *work)
{
	work->is_taken = false;
	TAILQ_INSERT_TAIL(&pool.queue, work, next);
	__atomic_store_n(&pool.nb_queued, pool.nb_queued + 1, __ATOMIC_RELAXED);
}

static void
dequeue(struct impl_work *work)
{
	TAILQ_REMOVE(&pool.queue, work, next);
	work->is_taken = true;
	__atomic_store_n(&pool.nb_queued, pool.nb_queued - 1, __ATOMIC_RELAXED);
}

/* With the lock: who recalls it, or ends its context, waits for that. */
static void
end_task(struct impl_accel_task *task, doca_error_t status)
{
	struct rte_comch_poll *poll = task->task.ctx->pe->poll;

	task->work.status = status;
	/* Release: pairs with impl_workers_phase(). No model: a flag and what is behind it. */
	__atomic_store_n(&task->work.phase, IMPL_WORKER_ENDED, __ATOMIC_RELEASE);
	rte_comch_poll_notify(poll);
	pthread_cond_broadcast(&pool.has_ended);
}

static void *
worker(void *arg)
{
	struct impl_work *work;
	doca_error_t status;

	RTE_SET_USED(arg);
	pthread_mutex_lock(&pool.lock);
	while (!pool.is_over) {
		work = TAILQ_FIRST(&pool.queue);
		if (work == NULL) {
			pthread_cond_wait(&pool.has_work, &pool.lock);
			continue;
		}
		dequeue(work);
		pthread_mutex_unlock(&pool.lock);
		status = run_task(task_of(work));
		pthread_mutex_lock(&pool.lock);
		/* Long tasks take turns. */
		if (status == DOCA_ERROR_IN_PROGRESS && !work->is_recalled)
			enqueue(work);
		else
			end_task(task_of(work), status);
	}
	pthread_mutex_unlock(&pool.lock);
	return NULL;
}

/* Life */

static void
before_fork(void)
{
	pthread_mutex_lock(&pool.life);
	pthread_mutex_lock(&pool.lock);
}

static void
in_parent(void)
{
	pthread_mutex_unlock(&pool.lock);
	pthread_mutex_unlock(&pool.life);
}

/* It has none of the threads; its contexts are IDLE. */
static void
in_child(void)
{
	pool.nb_users = pool.nb_threads = 0;
	TAILQ_INIT(&pool.queue);
	pool.nb_queued = 0;
	pthread_cond_init(&pool.has_work, NULL);
	pthread_cond_init(&pool.has_ended, NULL);
	in_parent();
}

static void
watch_forks(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

static int
create(void)
{
	pthread_t *thread = &pool.threads[pool.nb_threads];
	sigset_t every, before;
	int ret;

	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	ret = pthread_create(thread, NULL, worker, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (ret != 0)
		return ret;
	pool.nb_threads++;
	pthread_setname_np(*thread, "comch-accel");
	/* The creating thread may be pinned to the one CPU that they are to spare. */
	if (CPU_COUNT(impl_process_cpus()) > 0)
		pthread_setaffinity_np(*thread, sizeof(cpu_set_t), impl_process_cpus());
	return 0;
}

static void
join_all(void)
{
	pthread_mutex_lock(&pool.lock);
	pool.is_over = true;
	pthread_cond_broadcast(&pool.has_work);
	pthread_mutex_unlock(&pool.lock);
	while (pool.nb_threads > 0)
		pthread_join(pool.threads[--pool.nb_threads], NULL);
	pool.is_over = false;
}

/* A user has gone, or could not come. */
static void
drop_user(void)
{
	if (--pool.nb_users == 0)
		join_all();
}

doca_error_t
impl_workers_begin(uint32_t nb)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	doca_error_t err;
	int ret = 0;

	if (nb == 0)
		return DOCA_SUCCESS;
	/* Not in a child of fork(). */
	err = impl_eal_start();
	if (err != DOCA_SUCCESS)
		return err;
	pthread_once(&once, watch_forks);
	pthread_mutex_lock(&pool.life);
	pool.nb_users++;
	while (ret == 0 && pool.nb_threads < nb)
		ret = create();
	if (ret != 0)
		drop_user();
	pthread_mutex_unlock(&pool.life);
	if (ret == 0)
		return DOCA_SUCCESS;
	IMPL_ERR("accelerators: cannot create %u worker threads (workers = %u in the device "
		"table): %s", nb, nb, strerror(ret));
	return DOCA_ERROR_INITIALIZATION;
}

void
impl_workers_end(uint32_t nb)
{
	if (nb == 0)
		return;
	/* A worker that has ended a task of this context is still to notify its poll. */
	pthread_mutex_lock(&pool.lock);
	pthread_mutex_unlock(&pool.lock);
	pthread_mutex_lock(&pool.life);
	drop_user();
	pthread_mutex_unlock(&pool.life);
}

/* Tasks */

void
impl_workers_give(struct impl_accel_task *task)
{
	struct impl_work *work = &task->work;

	__atomic_store_n(&work->is_recalled, false, __ATOMIC_RELAXED);
	__atomic_store_n(&work->phase, IMPL_WORKER_GIVEN, __ATOMIC_RELAXED);
	pthread_mutex_lock(&pool.lock);
	enqueue(work);
	pthread_cond_signal(&pool.has_work);
	pthread_mutex_unlock(&pool.lock);
}

enum impl_worker_phase
impl_workers_phase(const struct impl_work *work)
{
	/* Acquire: pairs with end_task(). No model: as there. */
	return __atomic_load_n(&work->phase, __ATOMIC_ACQUIRE);
}

/* With the lock. */
static void
call_off(struct impl_work *work)
{
	__atomic_store_n(&work->is_recalled, true, __ATOMIC_RELAXED);
	if (work->is_taken)
		return;
	dequeue(work);
	work->status = DOCA_ERROR_SHUTDOWN;
	__atomic_store_n(&work->phase, IMPL_WORKER_ENDED, __ATOMIC_RELAXED);
}

void
impl_workers_call_off(struct impl_accel_task *task)
{
	pthread_mutex_lock(&pool.lock);
	call_off(&task->work);
	pthread_mutex_unlock(&pool.lock);
}

void
impl_workers_recall(struct impl_accel_task *task)
{
	pthread_mutex_lock(&pool.lock);
	call_off(&task->work);
	while (impl_workers_phase(&task->work) == IMPL_WORKER_GIVEN)
		pthread_cond_wait(&pool.has_ended, &pool.lock);
	pthread_mutex_unlock(&pool.lock);
}
