/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Groups of DPA threads. */

#include "dpa/call.h"
#include "t_main.h"

#define NB 3

/* A thread that says its rank whenever it is notified. */
struct member {
	struct dpa_call_kernel kernel;
	struct kernel_thread t;
	atomic_uint nb_runs, rank, nb_threads;
};

static void
say_rank(void *arg)
{
	struct member *m = arg;

	atomic_store(&m->rank, doca_dpa_dev_thread_rank());
	atomic_store(&m->nb_threads, doca_dpa_dev_num_threads());
	atomic_fetch_add(&m->nb_runs, 1);
	doca_dpa_dev_thread_reschedule();
}

static void
member_open(struct dpa_calls *t, struct member *m)
{
	m->kernel = (struct dpa_call_kernel){ say_rank, m };
	atomic_init(&m->nb_runs, 0);
	kernel_thread_start(&m->t, t->dpa, dpa_call_kernel_func(), (uintptr_t)&m->kernel);
	T_OK(doca_dpa_thread_run(m->t.thread));
}

/* An activation says this. */
static void
says(struct member *m, unsigned int rank, unsigned int nb_threads)
{
	unsigned int before = atomic_load(&m->nb_runs);

	doca_dpa_dev_thread_notify(m->t.handle);
	T_AWAIT(atomic_load(&m->nb_runs) != before);
	T_EQ(atomic_load(&m->rank), rank);
	T_EQ(atomic_load(&m->nb_threads), nb_threads);
}

DPA_CALLS_CASE(ranks, t)
{
	struct member m[NB];
	struct doca_dpa_tg *tg;
	unsigned int i, nb = 0;

	for (i = 0; i < NB; i++) {
		member_open(t, &m[i]);
		says(&m[i], 0, 1);
	}
	T_OK(doca_dpa_thread_group_create(t->dpa, NB, &tg));
	T_GETS(doca_dpa_thread_group_get_num_threads(tg, &nb), nb, NB);
	for (i = 0; i < NB; i++)
		T_OK(doca_dpa_thread_group_set_thread(tg, m[i].t.thread, NB - 1 - i));
	says(&m[0], 0, 1);
	T_OK(doca_dpa_thread_group_start(tg));
	for (i = 0; i < NB; i++)
		says(&m[i], NB - 1 - i, NB);
	T_OK(doca_dpa_thread_group_stop(tg));
	for (i = 0; i < NB; i++)
		says(&m[i], 0, 1);
	/* Once more, and to its end without a stop. */
	T_OK(doca_dpa_thread_group_start(tg));
	says(&m[0], NB - 1, NB);
	T_OK(doca_dpa_thread_group_destroy(tg));
	for (i = 0; i < NB; i++) {
		says(&m[i], 0, 1);
		kernel_thread_end(&m[i].t);
	}
}

DPA_CALLS_CASE(arguments, t)
{
	struct doca_dpa_tg *tg = NULL;
	struct member m;
	unsigned int max, nb;

	member_open(t, &m);
	T_OK(doca_dpa_get_max_threads_per_kernel(t->dpa, &max));
	T_INVALID(doca_dpa_thread_group_create(NULL, 1, &tg));
	T_INVALID(doca_dpa_thread_group_create(t->dpa, 0, &tg));
	T_INVALID(doca_dpa_thread_group_create(t->dpa, max + 1, &tg));
	T_INVALID(doca_dpa_thread_group_create(t->dpa, 1, NULL));
	T_OK(doca_dpa_thread_group_create(t->dpa, max, &tg));
	T_OK(doca_dpa_thread_group_destroy(tg));
	T_OK(doca_dpa_thread_group_create(t->dpa, 2, &tg));
	T_REFUSES_NULL(doca_dpa_thread_group_get_num_threads, tg, &nb);
	T_INVALID(doca_dpa_thread_group_set_thread(NULL, m.t.thread, 0));
	T_INVALID(doca_dpa_thread_group_set_thread(tg, NULL, 0));
	T_INVALID(doca_dpa_thread_group_set_thread(tg, m.t.thread, 2));
	T_OK(doca_dpa_thread_group_set_thread(tg, m.t.thread, 1));
	T_OK(doca_dpa_thread_group_set_thread(tg, m.t.thread, 1));
	T_INVALID(doca_dpa_thread_group_set_thread(tg, m.t.thread, 0));
	T_INVALID(doca_dpa_thread_group_start(NULL));
	T_INVALID(doca_dpa_thread_group_stop(NULL));
	T_INVALID(doca_dpa_thread_group_destroy(NULL));
	/* A rank has no thread. */
	T_IS(doca_dpa_thread_group_start(tg), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_thread_group_stop(tg), DOCA_ERROR_BAD_STATE);
	/* A group has its threads, and the context its groups. */
	T_OK(doca_dpa_notification_completion_stop(m.t.comp));
	T_OK(doca_dpa_notification_completion_destroy(m.t.comp));
	T_IS(doca_dpa_thread_destroy(m.t.thread), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_stop(t->dpa), DOCA_ERROR_IN_USE);
	T_OK(doca_dpa_thread_group_destroy(tg));
	dpa_call_thread_destroy(m.t.thread);
}

T_CASE(one_started_group_each)
{
	struct doca_dpa_tg *one, *other;
	struct member m[2];
	struct dpa_calls t, u;

	dpa_calls_open(&t);
	dpa_calls_open(&u);
	member_open(&t, &m[0]);
	member_open(&u, &m[1]);
	T_OK(doca_dpa_thread_group_create(t.dpa, 1, &one));
	T_OK(doca_dpa_thread_group_create(t.dpa, 1, &other));
	/* A thread of another context. */
	T_INVALID(doca_dpa_thread_group_set_thread(one, m[1].t.thread, 0));
	T_OK(doca_dpa_thread_group_set_thread(one, m[0].t.thread, 0));
	T_OK(doca_dpa_thread_group_set_thread(other, m[0].t.thread, 0));
	T_OK(doca_dpa_thread_group_start(one));
	T_IS(doca_dpa_thread_group_start(one), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_thread_group_start(other), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_thread_group_set_thread(one, m[0].t.thread, 0), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_thread_group_stop(one));
	T_OK(doca_dpa_thread_group_start(other));
	T_OK(doca_dpa_thread_group_destroy(other));
	T_OK(doca_dpa_thread_group_destroy(one));
	kernel_thread_end(&m[0].t);
	kernel_thread_end(&m[1].t);
	dpa_calls_close(&u);
	dpa_calls_close(&t);
}

/* Another thread takes the place, and the first is free again. */
DPA_CALLS_CASE(replaced, t)
{
	struct doca_dpa_tg *tg;
	struct member m[2];

	member_open(t, &m[0]);
	member_open(t, &m[1]);
	T_OK(doca_dpa_thread_group_create(t->dpa, 1, &tg));
	T_OK(doca_dpa_thread_group_set_thread(tg, m[0].t.thread, 0));
	T_OK(doca_dpa_thread_group_set_thread(tg, m[1].t.thread, 0));
	kernel_thread_end(&m[0].t);
	T_OK(doca_dpa_thread_group_start(tg));
	says(&m[1], 0, 1);
	T_OK(doca_dpa_thread_group_destroy(tg));
	kernel_thread_end(&m[1].t);
}
