/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The helper thread and its queue of jobs. */

#include <rte_common.h>

#include "sdk/comch_compat.h"
#include "sdk/comch_worker.h"

/* All workers: a forked child resets them. The lock is the innermost. */
static LIST_HEAD(, comch_worker) workers = LIST_HEAD_INITIALIZER(workers);
static pthread_mutex_t workers_lock = PTHREAD_MUTEX_INITIALIZER;

static void
reset(struct comch_worker *w)
{
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	pthread_cond_init(&w->idle, NULL);
	STAILQ_INIT(&w->jobs);
	w->nb_put = w->nb_done = 0;
	w->state = COMCH_WORKER_NO_THREAD;
	w->is_ending = w->is_abandoned = false;
}

static void
before_fork(void)
{
	pthread_mutex_lock(&workers_lock);
}

static void
in_parent(void)
{
	pthread_mutex_unlock(&workers_lock);
}

/* The child has neither the threads nor their jobs. It starts new threads when needed. */
static void
in_child(void)
{
	struct comch_worker *w;

	LIST_FOREACH(w, &workers, next)
		reset(w);
	pthread_mutex_unlock(&workers_lock);
}

RTE_INIT(comch_worker_fork_init)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

void
comch_worker_init(struct comch_worker *w, const char *name)
{
	reset(w);
	w->name = name;
	pthread_mutex_lock(&workers_lock);
	LIST_INSERT_HEAD(&workers, w, next);
	pthread_mutex_unlock(&workers_lock);
}

static comch_thread_ret_t
worker_main(void *arg)
{
	struct comch_worker *w = arg;
	struct comch_job *job;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		job = STAILQ_FIRST(&w->jobs);
		if (job == NULL && w->is_ending)
			break;
		if (job == NULL) {
			pthread_cond_wait(&w->wake, &w->lock);
			continue;
		}
		STAILQ_REMOVE_HEAD(&w->jobs, next);
		pthread_mutex_unlock(&w->lock);
		job->run(job);
		pthread_mutex_lock(&w->lock);
		comch_count(&w->nb_done, 1);
		pthread_cond_broadcast(&w->idle);
	}
	w->state = COMCH_WORKER_NO_THREAD;
	pthread_cond_broadcast(&w->idle);
	pthread_mutex_unlock(&w->lock);
	return 0;
}

/* lock held. */
static bool
has_started(struct comch_worker *w)
{
	if (w->is_abandoned)
		return false;
	if (w->state == COMCH_WORKER_NO_THREAD)
		w->state = comch_ctrl_thread(w->name, worker_main, w) == 0 ?
			COMCH_WORKER_HAS_THREAD : COMCH_WORKER_REFUSED;
	return w->state == COMCH_WORKER_HAS_THREAD;
}

bool
comch_worker_start(struct comch_worker *w)
{
	bool has_thread;

	pthread_mutex_lock(&w->lock);
	has_thread = has_started(w);
	pthread_mutex_unlock(&w->lock);
	return has_thread;
}

bool
comch_worker_put(struct comch_worker *w, struct comch_job *job)
{
	bool has_thread;

	pthread_mutex_lock(&w->lock);
	has_thread = has_started(w);
	if (has_thread) {
		STAILQ_INSERT_TAIL(&w->jobs, job, next);
		w->nb_put++;
		pthread_cond_signal(&w->wake);
	}
	pthread_mutex_unlock(&w->lock);
	return has_thread;
}

void
comch_worker_wait(struct comch_worker *w)
{
	uint64_t until;

	pthread_mutex_lock(&w->lock);
	until = w->nb_put;
	while (w->nb_done < until)
		pthread_cond_wait(&w->idle, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

uint64_t
comch_worker_mark(struct comch_worker *w)
{
	uint64_t mark;

	pthread_mutex_lock(&w->lock);
	mark = w->nb_put;
	pthread_mutex_unlock(&w->lock);
	return mark;
}

bool
comch_worker_passed(struct comch_worker *w, uint64_t mark)
{
	bool passed;

	pthread_mutex_lock(&w->lock);
	passed = w->nb_done >= mark;
	pthread_mutex_unlock(&w->lock);
	return passed;
}

void
comch_worker_fini(struct comch_worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->is_ending = true;
	pthread_cond_signal(&w->wake);
	while (w->state == COMCH_WORKER_HAS_THREAD)
		pthread_cond_wait(&w->idle, &w->lock);
	pthread_mutex_unlock(&w->lock);
	pthread_mutex_lock(&workers_lock);
	LIST_REMOVE(w, next);
	pthread_mutex_unlock(&workers_lock);
	pthread_cond_destroy(&w->idle);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
}

void
comch_worker_abandon(struct comch_worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->is_abandoned = true;
	while (!STAILQ_EMPTY(&w->jobs)) {
		STAILQ_REMOVE_HEAD(&w->jobs, next);
		w->nb_put--;
	}
	while (w->state == COMCH_WORKER_HAS_THREAD && w->nb_done < w->nb_put)
		pthread_cond_wait(&w->idle, &w->lock);
	w->is_ending = true;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
}
