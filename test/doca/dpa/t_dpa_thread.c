/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * DPA threads: what activates them, how kernels and threads end, and who is
 * told of kernels that do not.
 */

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>

#include "dpa/dpa.h"
#include "t_main.h"
#include "dpa/program.h"

#define BAD DOCA_ERROR_BAD_STATE
#define INVALID DOCA_ERROR_INVALID_VALUE
#define DRIVER DOCA_ERROR_DRIVER

static atomic_uint nb_calls;
static _Atomic uint64_t seen, posted;
static atomic_bool is_released;
static struct tdpa_thread threads[4];

static void
count(uint64_t arg)
{
	seen = arg;
	nb_calls++;
}

static void
count_and_reschedule(uint64_t arg)
{
	count(arg);
	doca_dpa_dev_thread_reschedule();
	T_FAIL("reschedule returns");
}

static void
count_and_finish(uint64_t arg)
{
	count(arg);
	doca_dpa_dev_thread_finish();
	T_FAIL("finish returns");
}

/* What was posted before the activation. */
static void
see(uint64_t arg)
{
	RTE_SET_USED(arg);
	nb_calls++;
	seen = atomic_load_explicit(&posted, memory_order_relaxed);
}

static void
poll_for_ever(uint64_t arg)
{
	count(arg);
	for (;;)
		doca_dpa_dev_yield();
}

/* No device call. */
static void
spin_until_released(uint64_t arg)
{
	count(arg);
	while (!is_released)
		sched_yield();
}

static void
stop_itself(uint64_t arg)
{
	struct doca_dpa_thread *thread = threads[arg].thread;

	TD_IS(doca_dpa_thread_stop(thread), BAD);
	TD_IS(doca_dpa_thread_destroy(thread), BAD);
	nb_calls++;
}

static uint64_t
notify(uint64_t handle)
{
	doca_dpa_dev_thread_notify(handle);
	return 7;
}

static void not_of_the_app(uint64_t arg);
static void
not_of_the_app(uint64_t arg)
{
	RTE_SET_USED(arg);
}

TDPA_KERNEL(count)
TDPA_KERNEL(count_and_reschedule)
TDPA_KERNEL(count_and_finish)
TDPA_KERNEL(see)
TDPA_KERNEL(poll_for_ever)
TDPA_KERNEL(spin_until_released)
TDPA_KERNEL(stop_itself)
TDPA_RPC(notify)

static const struct comch_doca_dpa_func funcs[] = {
	TDPA_FUNC(count, 0),
	TDPA_FUNC(count_and_reschedule, 0),
	TDPA_FUNC(count_and_finish, 0),
	TDPA_FUNC(see, 0),
	TDPA_FUNC(poll_for_ever, 0),
	TDPA_FUNC(spin_until_released, 0),
	TDPA_FUNC(stop_itself, 0),
	TDPA_FUNC(notify, 1),
	/* More than fits into a thread's argument. */
	{ "big", (void (*)(void))count_pack, 16, count_pack, count_call, 0, 2 },
};
TDPA_APP(app, funcs);

static void
run(struct tdpa_thread *t)
{
	TD_OK(doca_dpa_thread_run(t->thread));
}

static void
null_is_refused(void)
{
	const struct doca_dpa_eu_affinity *affinity;
	struct doca_dpa *dpa = tdpa_start(&app);
	struct doca_dpa_thread *thread;
	doca_dpa_dev_uintptr_t storage;
	doca_dpa_func_t *func;
	uint64_t arg;

	TD_IS(doca_dpa_thread_create(NULL, &thread), INVALID);
	TD_IS(doca_dpa_thread_create(dpa, NULL), INVALID);
	TD_OK(doca_dpa_thread_create(dpa, &thread));
	TD_IS(doca_dpa_thread_destroy(NULL), INVALID);
	TD_IS(doca_dpa_thread_set_func_arg(NULL, TDPA_F(count), 0), INVALID);
	TD_IS(doca_dpa_thread_set_func_arg(thread, NULL, 0), INVALID);
	TD_IS(doca_dpa_thread_get_func_arg(NULL, &func, &arg), INVALID);
	TD_IS(doca_dpa_thread_get_func_arg(thread, NULL, &arg), INVALID);
	TD_IS(doca_dpa_thread_get_func_arg(thread, &func, NULL), INVALID);
	TD_IS(doca_dpa_thread_set_local_storage(NULL, 1), INVALID);
	TD_IS(doca_dpa_thread_set_local_storage(thread, 0), INVALID);
	TD_IS(doca_dpa_thread_get_local_storage(NULL, &storage), INVALID);
	TD_IS(doca_dpa_thread_get_local_storage(thread, NULL), INVALID);
	TD_IS(doca_dpa_thread_set_affinity(NULL, affinity = NULL), INVALID);
	TD_IS(doca_dpa_thread_set_affinity(thread, NULL), INVALID);
	TD_IS(doca_dpa_thread_get_affinity(NULL, &affinity), INVALID);
	TD_IS(doca_dpa_thread_get_affinity(thread, NULL), INVALID);
	TD_IS(doca_dpa_thread_start(NULL), INVALID);
	TD_IS(doca_dpa_thread_stop(NULL), INVALID);
	TD_IS(doca_dpa_thread_run(NULL), INVALID);
	TD_OK(doca_dpa_thread_destroy(thread));
	tdpa_end(dpa);
}

static void
what_is_set_is_got(void)
{
	const struct doca_dpa_eu_affinity *got;
	struct doca_dpa *dpa = tdpa_start(&app);
	struct doca_dpa_eu_affinity *affinity;
	struct doca_dpa_thread *thread;
	doca_dpa_dev_uintptr_t storage;
	doca_dpa_func_t *func;
	uint64_t arg;

	TD_OK(doca_dpa_eu_affinity_create(dpa, &affinity));
	TD_OK(doca_dpa_thread_create(dpa, &thread));
	TD_OK(doca_dpa_thread_get_func_arg(thread, &func, &arg));
	T_CHECK(func == NULL && arg == 0);
	TD_OK(doca_dpa_thread_get_local_storage(thread, &storage));
	T_EQ(storage, 0);
	TD_OK(doca_dpa_thread_get_affinity(thread, &got));
	T_CHECK(got == NULL);
	TD_OK(doca_dpa_thread_set_func_arg(thread, TDPA_F(count), 17));
	TD_OK(doca_dpa_thread_get_func_arg(thread, &func, &arg));
	T_CHECK(func == TDPA_F(count) && arg == 17);
	TD_OK(doca_dpa_thread_set_local_storage(thread, 18));
	TD_OK(doca_dpa_thread_get_local_storage(thread, &storage));
	T_EQ(storage, 18);
	TD_OK(doca_dpa_thread_set_affinity(thread, affinity));
	TD_OK(doca_dpa_thread_get_affinity(thread, &got));
	T_CHECK(got == affinity);
	T_CHECK(impl_dpa_thread_dpa(thread) == dpa);
	TD_OK(doca_dpa_thread_destroy(thread));
	TD_OK(doca_dpa_eu_affinity_destroy(affinity));
	tdpa_end(dpa);
}

/* behaviour: Q16 */
static void
the_order_of_calls(void)
{
	struct doca_dev *dev = tdpa_dev(0);
	struct doca_dpa_thread *thread;
	struct doca_dpa *dpa;

	TD_OK(doca_dpa_create(dev, &dpa));
	TD_OK(doca_dpa_set_app(dpa, &app));
	TD_OK(doca_dpa_thread_create(dpa, &thread));
	TD_OK(doca_dpa_thread_set_func_arg(thread, TDPA_F(count), 0));
	TD_IS(doca_dpa_thread_start(thread), BAD);
	TD_IS(doca_dpa_thread_run(thread), BAD);
	TD_IS(doca_dpa_thread_stop(thread), BAD);
	TD_OK(doca_dpa_thread_destroy(thread));
	TD_OK(doca_dpa_start(dpa));
	TD_OK(doca_dpa_thread_create(dpa, &thread));
	TD_IS(doca_dpa_thread_start(thread), BAD);
	TD_OK(doca_dpa_thread_set_func_arg(thread, TDPA_F(count), 0));
	TD_IS(doca_dpa_thread_run(thread), BAD);
	TD_OK(doca_dpa_thread_start(thread));
	TD_IS(doca_dpa_thread_start(thread), BAD);
	TD_IS(doca_dpa_thread_set_func_arg(thread, TDPA_F(count), 0), BAD);
	TD_IS(doca_dpa_thread_set_local_storage(thread, 1), BAD);
	TD_IS(doca_dpa_thread_set_affinity(thread, (const void *)&app), BAD);
	TD_IS(doca_dpa_stop(dpa), DOCA_ERROR_IN_USE);
	TD_IS(doca_dpa_destroy(dpa), DOCA_ERROR_IN_USE);
	TD_OK(doca_dpa_thread_stop(thread));
	TD_IS(doca_dpa_thread_stop(thread), BAD);
	TD_IS(doca_dpa_thread_run(thread), BAD);
	TD_OK(doca_dpa_thread_start(thread));
	/* It stops what it destroys. */
	TD_OK(doca_dpa_thread_destroy(thread));
	tdpa_log_begin();
	TD_OK(doca_dpa_destroy(dpa));
	TD_OK(doca_dev_close(dev));
	T_STR_EQ(tdpa_log(), "");
}

/* behaviour: Q16 */
static void
only_kernels_of_the_application(void)
{
	struct doca_dev *dev = tdpa_dev(0);
	struct doca_dpa_thread *thread;
	struct doca_dpa *dpa;

	tdpa_log_begin();
	TD_OK(doca_dpa_create(dev, &dpa));
	TD_OK(doca_dpa_set_app(dpa, &app));
	TD_OK(doca_dpa_thread_create(dpa, &thread));
	/* Too early to tell. */
	TD_OK(doca_dpa_thread_set_func_arg(thread, TDPA_F(not_of_the_app), 0));
	TD_OK(doca_dpa_start(dpa));
	TD_IS(doca_dpa_thread_start(thread), INVALID);
	T_STR_HAS(tdpa_log(), "not one of the application");
	TD_IS(doca_dpa_thread_set_func_arg(thread, TDPA_F(not_of_the_app), 0), INVALID);
	TD_IS(doca_dpa_thread_set_func_arg(thread, TDPA_F(notify), 0), INVALID);
	T_STR_HAS(tdpa_log(), "notify cannot be the kernel of a DPA thread");
	TD_IS(doca_dpa_thread_set_func_arg(thread, TDPA_F(count_pack), 0), INVALID);
	T_STR_HAS(tdpa_log(), "big cannot be the kernel of a DPA thread");
	TD_OK(doca_dpa_thread_destroy(thread));
	TD_OK(doca_dpa_destroy(dpa));
	TD_OK(doca_dev_close(dev));
}

/* behaviour: Q7 */
static void
activations_call_the_kernel_and_run_does_not(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);
	unsigned int i;
	uint64_t ret;

	for (i = 0; i < 2; i++) {
		nb_calls = 0;
		tdpa_thread_start(&threads[0], dpa, i == 0 ? TDPA_F(count) :
			TDPA_F(count_and_reschedule), 42);
		run(&threads[0]);
		TD_OK(doca_dpa_rpc(dpa, TDPA_F(notify), &ret, threads[0].handle));
		T_EQ(ret, 7);
		TDPA_UNTIL(nb_calls == 1);
		T_EQ(seen, 42);
		/* By the host as well; twice is no less than once. */
		doca_dpa_dev_thread_notify(threads[0].handle);
		TDPA_UNTIL(nb_calls == 2);
		tdpa_thread_end(&threads[0]);
		T_EQ(nb_calls, 2);
	}
	tdpa_end(dpa);
}

static void
an_early_activation_is_kept(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);

	tdpa_thread_start(&threads[0], dpa, TDPA_F(count), 0);
	doca_dpa_dev_thread_notify(threads[0].handle);
	doca_dpa_dev_thread_notify(threads[0].handle);
	run(&threads[0]);
	TDPA_UNTIL(nb_calls == 1);
	/* Once more is harmless. */
	run(&threads[0]);
	tdpa_thread_end(&threads[0]);
	T_EQ(nb_calls, 1);
	tdpa_end(dpa);
}

static void
to_run_with_nothing_attached_is_warned_of(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);
	struct doca_dpa_thread *thread;

	TD_OK(doca_dpa_thread_create(dpa, &thread));
	TD_OK(doca_dpa_thread_set_func_arg(thread, TDPA_F(count), 0));
	TD_OK(doca_dpa_thread_start(thread));
	tdpa_log_begin();
	TD_OK(doca_dpa_thread_run(thread));
	T_STR_HAS(tdpa_log(), "dpa-count is run before it has a completion");
	TD_OK(doca_dpa_thread_destroy(thread));
	tdpa_end(dpa);
}

#define ROUNDS 20000

static void *
post(void *arg)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		atomic_fetch_add_explicit(&posted, 1, memory_order_relaxed);
		doca_dpa_dev_thread_notify(threads[0].handle);
	}
	return arg;
}

/* The kernel that an activation asks for sees what came before it. */
static void
no_activation_is_lost(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);
	pthread_t poster;
	unsigned int i;

	tdpa_thread_start(&threads[0], dpa, TDPA_F(see), 0);
	run(&threads[0]);
	T_EQ(pthread_create(&poster, NULL, post, NULL), 0);
	post(NULL);
	T_EQ(pthread_join(poster, NULL), 0);
	TDPA_UNTIL(seen == 2 * ROUNDS);
	/* Against a thread that goes to sleep. */
	for (i = 0; i < ROUNDS; i++) {
		uint64_t now = ++posted;

		doca_dpa_dev_thread_notify(threads[0].handle);
		TDPA_UNTIL(seen >= now);
	}
	tdpa_thread_end(&threads[0]);
	T_GE(nb_calls, ROUNDS);
	tdpa_end(dpa);
}

static void
finish_is_for_good(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);
	unsigned int i;

	tdpa_thread_start(&threads[0], dpa, TDPA_F(count_and_finish), 0);
	run(&threads[0]);
	doca_dpa_dev_thread_notify(threads[0].handle);
	TDPA_UNTIL(nb_calls == 1);
	for (i = 0; i < 100; i++) {
		doca_dpa_dev_thread_notify(threads[0].handle);
		sched_yield();
	}
	tdpa_thread_end(&threads[0]);
	T_EQ(nb_calls, 1);
	TD_OK(doca_dpa_peek_at_last_error(dpa));
	tdpa_end(dpa);
}

static void
a_kernel_that_polls_for_ever_is_stopped(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);
	unsigned int i;

	/* More than there are CPUs: nobody starves. */
	for (i = 0; i < RTE_DIM(threads); i++) {
		tdpa_thread_start(&threads[i], dpa, TDPA_F(poll_for_ever), 0);
		run(&threads[i]);
		doca_dpa_dev_thread_notify(threads[i].handle);
	}
	TDPA_UNTIL(nb_calls == RTE_DIM(threads));
	for (i = 0; i < RTE_DIM(threads); i++)
		tdpa_thread_end(&threads[i]);
	TD_OK(doca_dpa_peek_at_last_error(dpa));
	tdpa_end(dpa);
}

static void
a_thread_stops_before_it_ever_ran(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);
	unsigned int i;

	for (i = 0; i < 200; i++) {
		tdpa_thread_start(&threads[0], dpa, TDPA_F(count), 0);
		if (i % 2 == 1)
			doca_dpa_dev_thread_notify(threads[0].handle);
		tdpa_thread_end(&threads[0]);
	}
	T_EQ(nb_calls, 0);
	tdpa_end(dpa);
}

/* Does the thread of this name wait in the kernel? */
static bool
is_asleep(const char *comm)
{
	char path[300], line[256], want[64], state = '?';
	struct dirent *e;
	DIR *d = opendir("/proc/self/task");
	FILE *f;

	T_CHECK(d != NULL);
	snprintf(want, sizeof(want), "(%s) ", comm);
	while ((e = readdir(d)) != NULL) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/stat", e->d_name);
		f = fopen(path, "r");
		if (f == NULL)
			continue;
		if (fgets(line, sizeof(line), f) != NULL && strstr(line, want) != NULL)
			state = strstr(line, want)[strlen(want)];
		fclose(f);
	}
	closedir(d);
	return state == 'S';
}

static void
one_that_sleeps_wakes_up_and_stops(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);
	unsigned int i;

	tdpa_thread_start(&threads[0], dpa, TDPA_F(count), 0);
	run(&threads[0]);
	for (i = 0; i < 20; i++) {
		TDPA_UNTIL(is_asleep("dpa-count"));
		doca_dpa_dev_thread_notify(threads[0].handle);
		TDPA_UNTIL(nb_calls == i + 1);
	}
	TDPA_UNTIL(is_asleep("dpa-count"));
	tdpa_thread_end(&threads[0]);
	tdpa_end(dpa);
}

/* Each has its own life, at the same time as the others. */
static void *
live(void *arg)
{
	struct tdpa_thread t;
	unsigned int i;

	for (i = 0; i < 300; i++) {
		tdpa_thread_start(&t, arg, TDPA_F(i % 2 == 0 ? count : poll_for_ever), 0);
		run(&t);
		doca_dpa_dev_thread_notify(t.handle);
		if (i % 3 == 0)
			sched_yield();
		tdpa_thread_end(&t);
	}
	return NULL;
}

static void
threads_come_and_go_side_by_side(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);
	pthread_t hosts[3];
	unsigned int i;

	for (i = 0; i < RTE_DIM(hosts); i++)
		T_EQ(pthread_create(&hosts[i], NULL, live, dpa), 0);
	for (i = 0; i < RTE_DIM(hosts); i++)
		T_EQ(pthread_join(hosts[i], NULL), 0);
	TD_OK(doca_dpa_peek_at_last_error(dpa));
	tdpa_end(dpa);
}

static void
a_stopped_thread_starts_again(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);
	struct doca_dpa_thread *thread;

	tdpa_thread_start(&threads[0], dpa, TDPA_F(count), 0);
	thread = threads[0].thread;
	run(&threads[0]);
	TD_OK(doca_dpa_thread_stop(thread));
	/* Lost: it is stopped. */
	doca_dpa_dev_thread_notify(threads[0].handle);
	TD_OK(doca_dpa_thread_set_func_arg(thread, TDPA_F(count), 5));
	TD_OK(doca_dpa_thread_start(thread));
	T_EQ(nb_calls, 0);
	doca_dpa_dev_thread_notify(threads[0].handle);
	run(&threads[0]);
	TDPA_UNTIL(nb_calls == 1);
	T_EQ(seen, 5);
	tdpa_thread_end(&threads[0]);
	tdpa_end(dpa);
}

static void
a_kernel_without_device_calls_is_told_of(void)
{
	struct doca_dpa *dpa;

	tdpa_table("dpa_max_run_ms = 30\n");
	dpa = tdpa_start(&app);
	tdpa_log_begin();
	tdpa_thread_start(&threads[0], dpa, TDPA_F(spin_until_released), 0);
	run(&threads[0]);
	doca_dpa_dev_thread_notify(threads[0].handle);
	TDPA_UNTIL(nb_calls == 1);
	TD_IS(doca_dpa_thread_stop(threads[0].thread), DRIVER);
	T_STR_HAS(tdpa_log(), "DPA thread dpa-spin_until_released (kernel spin_until_released) "
		"does not stop: for 30 ms");
	T_CHECK(impl_dpa_thread_is_started(threads[0].thread));
	TD_OK(doca_dpa_notification_completion_destroy(threads[0].comp));
	TD_IS(doca_dpa_thread_destroy(threads[0].thread), DRIVER);
	is_released = true;
	TDPA_UNTIL(doca_dpa_thread_stop(threads[0].thread) == DOCA_SUCCESS);
	TD_OK(doca_dpa_thread_destroy(threads[0].thread));
	tdpa_end(dpa);
}

static unsigned int
count_in(const char *text, const char *what)
{
	unsigned int nb = 0;

	while ((text = strstr(text, what)) != NULL) {
		text += strlen(what);
		nb++;
	}
	return nb;
}

static void
a_kernel_that_runs_too_long_is_told_of(void)
{
	static const char line[] = "DPA thread dpa-spin_until_released (kernel "
		"spin_until_released) has run for 0.";
	struct doca_dpa *dpa;

	tdpa_table("dpa_max_run_ms = 20\n");
	dpa = tdpa_start(&app);
	tdpa_log_begin();
	tdpa_thread_start(&threads[0], dpa, TDPA_F(spin_until_released), 0);
	run(&threads[0]);
	doca_dpa_dev_thread_notify(threads[0].handle);
	TDPA_UNTIL(count_in(tdpa_log(), line) >= 2);
	T_STR_HAS(tdpa_log(), " s: longer than dpa_max_run_ms = 20; a card would have ended it");
	is_released = true;
	tdpa_thread_end(&threads[0]);
	TD_OK(doca_dpa_peek_at_last_error(dpa));
	tdpa_end(dpa);
}

static void
nobody_watches_without_a_limit(void)
{
	struct doca_dpa *dpa;
	unsigned long long s;
	uint64_t begin;

	tdpa_table("dpa_max_run_ms = 0\n");
	dpa = tdpa_start(&app);
	TD_OK(doca_dpa_get_kernel_max_run_time(dpa, &s));
	T_EQ(s, 0);
	tdpa_log_begin();
	tdpa_thread_start(&threads[0], dpa, TDPA_F(poll_for_ever), 0);
	run(&threads[0]);
	doca_dpa_dev_thread_notify(threads[0].handle);
	begin = t_now_ms();
	TDPA_UNTIL(nb_calls == 1 && t_now_ms() > begin + 50);
	tdpa_thread_end(&threads[0]);
	tdpa_end(dpa);
	T_STR_EQ(tdpa_log(), "");
}

static void
a_thread_does_not_stop_itself(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);

	tdpa_log_begin();
	tdpa_thread_start(&threads[2], dpa, TDPA_F(stop_itself), 2);
	/* So that destroy comes to the stop. */
	TD_OK(doca_dpa_notification_completion_stop(threads[2].comp));
	TD_OK(doca_dpa_notification_completion_destroy(threads[2].comp));
	TD_OK(doca_dpa_thread_run(threads[2].thread));
	impl_dpa_thread_activate(threads[2].thread);
	TDPA_UNTIL(nb_calls == 1);
	T_STR_HAS(tdpa_log(), "cannot stop itself");
	TD_OK(doca_dpa_thread_destroy(threads[2].thread));
	tdpa_end(dpa);
}

static void
one_that_is_attached_is_not_destroyed(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);
	struct doca_dpa_notification_completion *second;

	tdpa_thread_start(&threads[0], dpa, TDPA_F(count), 0);
	TD_OK(doca_dpa_notification_completion_create(dpa, threads[0].thread, &second));
	TD_IS(doca_dpa_thread_destroy(threads[0].thread), BAD);
	T_CHECK(impl_dpa_thread_is_started(threads[0].thread));
	TD_OK(doca_dpa_notification_completion_destroy(second));
	TD_IS(doca_dpa_thread_destroy(threads[0].thread), BAD);
	tdpa_thread_end(&threads[0]);
	tdpa_end(dpa);
}

#define CASE(fn) { #fn, fn }

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		CASE(null_is_refused),
		CASE(what_is_set_is_got),
		CASE(the_order_of_calls),
		CASE(only_kernels_of_the_application),
		CASE(activations_call_the_kernel_and_run_does_not),
		CASE(an_early_activation_is_kept),
		CASE(to_run_with_nothing_attached_is_warned_of),
		CASE(no_activation_is_lost),
		CASE(finish_is_for_good),
		CASE(a_kernel_that_polls_for_ever_is_stopped),
		CASE(a_thread_stops_before_it_ever_ran),
		CASE(one_that_sleeps_wakes_up_and_stops),
		CASE(threads_come_and_go_side_by_side),
		CASE(a_stopped_thread_starts_again),
		CASE(a_kernel_without_device_calls_is_told_of),
		CASE(a_kernel_that_runs_too_long_is_told_of),
		CASE(nobody_watches_without_a_limit),
		CASE(a_thread_does_not_stop_itself),
		CASE(one_that_is_attached_is_not_destroyed),
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
