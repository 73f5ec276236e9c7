/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Thread groups: they give ranks to DPA threads while they are started. */

#include <pthread.h>
#include <stdlib.h>

#include <bsd/sys/queue.h>

#include "dpa/dpa.h"
#include "log/log.h"

struct doca_dpa_tg {
	struct doca_dpa *dpa;
	LIST_ENTRY(doca_dpa_tg) next; /* while started */
	bool is_started;
	unsigned int nb_threads;
	struct doca_dpa_thread *threads[]; /* by rank */
};

/* Started groups: a thread can be in one of them only. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, doca_dpa_tg) started = LIST_HEAD_INITIALIZER(started);

static bool
has_thread(const struct doca_dpa_tg *tg, const struct doca_dpa_thread *thread)
{
	unsigned int i;

	for (i = 0; i < tg->nb_threads; i++)
		if (tg->threads[i] == thread)
			return true;
	return false;
}

doca_error_t
doca_dpa_thread_group_create(struct doca_dpa *dpa, unsigned int num_threads,
		struct doca_dpa_tg **tg)
{
	struct doca_dpa_tg *t;
	unsigned int max;
	doca_error_t ret;

	if (dpa == NULL || tg == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = doca_dpa_get_max_threads_per_kernel(dpa, &max);
	if (ret != DOCA_SUCCESS)
		return ret;
	if (num_threads == 0 || num_threads > max) {
		IMPL_ERR("DPA thread group: %u threads, expected 1 to %u", num_threads, max);
		return DOCA_ERROR_INVALID_VALUE;
	}
	t = calloc(1, sizeof(*t) + num_threads * sizeof(t->threads[0]));
	if (t == NULL)
		return DOCA_ERROR_NO_MEMORY;
	impl_dpa_hold(dpa);
	t->dpa = dpa;
	t->nb_threads = num_threads;
	*tg = t;
	return DOCA_SUCCESS;
}

static void
halt(struct doca_dpa_tg *tg)
{
	unsigned int i;

	pthread_mutex_lock(&lock);
	LIST_REMOVE(tg, next);
	for (i = 0; i < tg->nb_threads; i++)
		impl_dpa_thread_set_rank(tg->threads[i], 0, 1);
	pthread_mutex_unlock(&lock);
	tg->is_started = false;
}

doca_error_t
doca_dpa_thread_group_destroy(struct doca_dpa_tg *tg)
{
	unsigned int i;

	if (tg == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (tg->is_started)
		halt(tg);
	for (i = 0; i < tg->nb_threads; i++)
		if (tg->threads[i] != NULL)
			impl_dpa_thread_drop(tg->threads[i]);
	impl_dpa_drop(tg->dpa);
	free(tg);
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_thread_group_get_num_threads(struct doca_dpa_tg *tg, unsigned int *num_threads)
{
	if (tg == NULL || num_threads == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*num_threads = tg->nb_threads;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_thread_group_set_thread(struct doca_dpa_tg *tg, struct doca_dpa_thread *thread,
		unsigned int rank)
{
	if (tg == NULL || thread == NULL || rank >= tg->nb_threads ||
			!impl_dpa_is_same(tg->dpa, impl_dpa_thread_dpa(thread))) {
		IMPL_ERR("DPA thread group: invalid rank %u or thread of another context", rank);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (tg->is_started) {
		IMPL_ERR("DPA thread group: started already");
		return DOCA_ERROR_BAD_STATE;
	}
	if (tg->threads[rank] == thread)
		return DOCA_SUCCESS;
	if (has_thread(tg, thread)) {
		IMPL_ERR("DPA thread group: cannot set rank %u: the thread has another rank", rank);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (tg->threads[rank] != NULL)
		impl_dpa_thread_drop(tg->threads[rank]);
	impl_dpa_thread_hold(thread);
	tg->threads[rank] = thread;
	return DOCA_SUCCESS;
}

/* Whether one of its threads is in a started group. */
static bool
is_taken(const struct doca_dpa_tg *tg)
{
	const struct doca_dpa_tg *other;
	unsigned int i;

	LIST_FOREACH(other, &started, next)
		for (i = 0; i < tg->nb_threads; i++)
			if (has_thread(other, tg->threads[i]))
				return true;
	return false;
}

doca_error_t
doca_dpa_thread_group_start(struct doca_dpa_tg *tg)
{
	unsigned int i;

	if (tg == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (tg->is_started || has_thread(tg, NULL)) {
		IMPL_ERR("DPA thread group: %s", tg->is_started ? "started already" :
			"cannot start: a rank has no thread");
		return DOCA_ERROR_BAD_STATE;
	}
	pthread_mutex_lock(&lock);
	if (is_taken(tg)) {
		pthread_mutex_unlock(&lock);
		IMPL_ERR("DPA thread group: cannot start: a thread is in another started group");
		return DOCA_ERROR_BAD_STATE;
	}
	for (i = 0; i < tg->nb_threads; i++)
		impl_dpa_thread_set_rank(tg->threads[i], i, tg->nb_threads);
	LIST_INSERT_HEAD(&started, tg, next);
	pthread_mutex_unlock(&lock);
	tg->is_started = true;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_thread_group_stop(struct doca_dpa_tg *tg)
{
	if (tg == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (!tg->is_started)
		return DOCA_ERROR_BAD_STATE;
	halt(tg);
	return DOCA_SUCCESS;
}
