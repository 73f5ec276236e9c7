/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Groups of DPA threads. */

#include "t_main.h"
#include "dpa/call.h"

#define NB 3

/* A thread that says its rank whenever it is notified. */
struct member {
	struct tdp_kernel kernel;
	struct tdpa_thread t;
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
member_open(struct tdp *t, struct member *m)
{
	m->kernel = (struct tdp_kernel){ say_rank, m };
	atomic_init(&m->nb_runs, 0);
	tdpa_thread_start(&m->t, t->dpa, tdp_kernel_func(), (uintptr_t)&m->kernel);
	TD_OK(doca_dpa_thread_run(m->t.thread));
}

/* An activation says this. */
static void
says(struct member *m, unsigned int rank, unsigned int nb_threads)
{
	unsigned int before = atomic_load(&m->nb_runs);

	doca_dpa_dev_thread_notify(m->t.handle);
	TDPA_UNTIL(atomic_load(&m->nb_runs) != before);
	T_EQ(atomic_load(&m->rank), rank);
	T_EQ(atomic_load(&m->nb_threads), nb_threads);
}

static void
ranks(void)
{
	struct member m[NB];
	struct doca_dpa_tg *tg;
	unsigned int i, nb = 0;
	struct tdp t;

	tdp_open(&t);
	for (i = 0; i < NB; i++) {
		member_open(&t, &m[i]);
		says(&m[i], 0, 1);
	}
	TD_OK(doca_dpa_thread_group_create(t.dpa, NB, &tg));
	TD_OK(doca_dpa_thread_group_get_num_threads(tg, &nb));
	T_EQ(nb, NB);
	for (i = 0; i < NB; i++)
		TD_OK(doca_dpa_thread_group_set_thread(tg, m[i].t.thread, NB - 1 - i));
	says(&m[0], 0, 1);
	TD_OK(doca_dpa_thread_group_start(tg));
	for (i = 0; i < NB; i++)
		says(&m[i], NB - 1 - i, NB);
	TD_OK(doca_dpa_thread_group_stop(tg));
	for (i = 0; i < NB; i++)
		says(&m[i], 0, 1);
	/* Once more, and to its end without a stop. */
	TD_OK(doca_dpa_thread_group_start(tg));
	says(&m[0], NB - 1, NB);
	TD_OK(doca_dpa_thread_group_destroy(tg));
	for (i = 0; i < NB; i++) {
		says(&m[i], 0, 1);
		tdpa_thread_end(&m[i].t);
	}
	tdp_close(&t);
}

static void
arguments(void)
{
	struct doca_dpa_tg *tg = NULL;
	struct member m;
	unsigned int max, nb;
	struct tdp t;

	tdp_open(&t);
	member_open(&t, &m);
	TD_OK(doca_dpa_get_max_threads_per_kernel(t.dpa, &max));
	TD_IS(doca_dpa_thread_group_create(NULL, 1, &tg), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_thread_group_create(t.dpa, 0, &tg), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_thread_group_create(t.dpa, max + 1, &tg), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_thread_group_create(t.dpa, 1, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_dpa_thread_group_create(t.dpa, max, &tg));
	TD_OK(doca_dpa_thread_group_destroy(tg));
	TD_OK(doca_dpa_thread_group_create(t.dpa, 2, &tg));
	TD_IS(doca_dpa_thread_group_get_num_threads(NULL, &nb), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_thread_group_get_num_threads(tg, NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_thread_group_set_thread(NULL, m.t.thread, 0), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_thread_group_set_thread(tg, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_thread_group_set_thread(tg, m.t.thread, 2), DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_dpa_thread_group_set_thread(tg, m.t.thread, 1));
	TD_OK(doca_dpa_thread_group_set_thread(tg, m.t.thread, 1));
	TD_IS(doca_dpa_thread_group_set_thread(tg, m.t.thread, 0), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_thread_group_start(NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_thread_group_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	TD_IS(doca_dpa_thread_group_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	/* A rank has no thread. */
	TD_IS(doca_dpa_thread_group_start(tg), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_dpa_thread_group_stop(tg), DOCA_ERROR_BAD_STATE);
	/* A group has its threads, and the context its groups. */
	TD_OK(doca_dpa_notification_completion_stop(m.t.comp));
	TD_OK(doca_dpa_notification_completion_destroy(m.t.comp));
	TD_IS(doca_dpa_thread_destroy(m.t.thread), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_dpa_stop(t.dpa), DOCA_ERROR_IN_USE);
	TD_OK(doca_dpa_thread_group_destroy(tg));
	tdp_thread_destroy(m.t.thread);
	tdp_close(&t);
}

static void
one_started_group_each(void)
{
	struct doca_dpa_tg *one, *other;
	struct member m[2];
	struct tdp t, u;

	tdp_open(&t);
	tdp_open(&u);
	member_open(&t, &m[0]);
	member_open(&u, &m[1]);
	TD_OK(doca_dpa_thread_group_create(t.dpa, 1, &one));
	TD_OK(doca_dpa_thread_group_create(t.dpa, 1, &other));
	/* A thread of another context. */
	TD_IS(doca_dpa_thread_group_set_thread(one, m[1].t.thread, 0), DOCA_ERROR_INVALID_VALUE);
	TD_OK(doca_dpa_thread_group_set_thread(one, m[0].t.thread, 0));
	TD_OK(doca_dpa_thread_group_set_thread(other, m[0].t.thread, 0));
	TD_OK(doca_dpa_thread_group_start(one));
	TD_IS(doca_dpa_thread_group_start(one), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_dpa_thread_group_start(other), DOCA_ERROR_BAD_STATE);
	TD_IS(doca_dpa_thread_group_set_thread(one, m[0].t.thread, 0), DOCA_ERROR_BAD_STATE);
	TD_OK(doca_dpa_thread_group_stop(one));
	TD_OK(doca_dpa_thread_group_start(other));
	TD_OK(doca_dpa_thread_group_destroy(other));
	TD_OK(doca_dpa_thread_group_destroy(one));
	tdpa_thread_end(&m[0].t);
	tdpa_thread_end(&m[1].t);
	tdp_close(&u);
	tdp_close(&t);
}

/* Another thread takes the place, and the first is free again. */
static void
replaced(void)
{
	struct doca_dpa_tg *tg;
	struct member m[2];
	struct tdp t;

	tdp_open(&t);
	member_open(&t, &m[0]);
	member_open(&t, &m[1]);
	TD_OK(doca_dpa_thread_group_create(t.dpa, 1, &tg));
	TD_OK(doca_dpa_thread_group_set_thread(tg, m[0].t.thread, 0));
	TD_OK(doca_dpa_thread_group_set_thread(tg, m[1].t.thread, 0));
	tdpa_thread_end(&m[0].t);
	TD_OK(doca_dpa_thread_group_start(tg));
	says(&m[1], 0, 1);
	TD_OK(doca_dpa_thread_group_destroy(tg));
	tdpa_thread_end(&m[1].t);
	tdp_close(&t);
}

static const struct t_case cases[] = {
	{ "ranks", ranks },
	{ "arguments", arguments },
	{ "one_started_group_each", one_started_group_each },
	{ "replaced", replaced },
};

int
main(int argc, char **argv)
{
	return t_main(cases, RTE_DIM(cases), argc, argv);
}
