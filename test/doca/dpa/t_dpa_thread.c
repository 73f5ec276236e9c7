/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * DPA threads: what activates them, how kernels and threads end, and how
 * kernels that do not end are reported.
 */

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/thread.h"
#include "dpa/dpa.h"
#include "dpa/program.h"
#include "t_main.h"

static atomic_uint nb_calls;
static _Atomic uint64_t seen, posted;
static atomic_bool is_released;
static struct kernel_thread threads[4];

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
see(uint64_t arg __rte_unused)
{
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

/* As one that gets no CPU for a while. */
static void
sleep_and_poll(uint64_t arg)
{
	count(arg);
	usleep(100000);
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

	T_IS(doca_dpa_thread_stop(thread), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_thread_destroy(thread), DOCA_ERROR_BAD_STATE);
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
not_of_the_app(uint64_t arg __rte_unused)
{
}

DPA_KERNEL(count)
DPA_KERNEL(count_and_reschedule)
DPA_KERNEL(count_and_finish)
DPA_KERNEL(see)
DPA_KERNEL(poll_for_ever)
DPA_KERNEL(sleep_and_poll)
DPA_KERNEL(spin_until_released)
DPA_KERNEL(stop_itself)
DPA_RPC(notify)

static const struct comch_doca_dpa_func funcs[] = {
	DPA_FUNC(count, 0),
	DPA_FUNC(count_and_reschedule, 0),
	DPA_FUNC(count_and_finish, 0),
	DPA_FUNC(see, 0),
	DPA_FUNC(poll_for_ever, 0),
	DPA_FUNC(sleep_and_poll, 0),
	DPA_FUNC(spin_until_released, 0),
	DPA_FUNC(stop_itself, 0),
	DPA_FUNC(notify, 1),
	/* More than fits into a thread's argument. */
	{ "big", (void (*)(void))count_pack, 16, count_pack, count_call, 0, 2 },
};
DPA_APP(app, funcs);

static void
run(struct kernel_thread *t)
{
	T_OK(doca_dpa_thread_run(t->thread));
}

DPA_CASE(null_is_refused, dpa)
{
	const struct doca_dpa_eu_affinity *affinity;
	struct doca_dpa_thread *thread;
	doca_dpa_dev_uintptr_t storage;
	doca_dpa_func_t *func;
	uint64_t arg;

	T_REFUSES_NULL(doca_dpa_thread_create, dpa, &thread);
	T_OK(doca_dpa_thread_create(dpa, &thread));
	T_INVALID(doca_dpa_thread_destroy(NULL));
	T_INVALID(doca_dpa_thread_set_func_arg(NULL, DPA_HOST_FUNC(count), 0));
	T_INVALID(doca_dpa_thread_set_func_arg(thread, NULL, 0));
	T_REFUSES_NULLS(doca_dpa_thread_get_func_arg, thread, &func, &arg);
	T_INVALID(doca_dpa_thread_set_local_storage(NULL, 1));
	T_INVALID(doca_dpa_thread_set_local_storage(thread, 0));
	T_REFUSES_NULL(doca_dpa_thread_get_local_storage, thread, &storage);
	T_REFUSES_NULL(doca_dpa_thread_set_affinity, thread, affinity = NULL);
	T_REFUSES_NULL(doca_dpa_thread_get_affinity, thread, &affinity);
	T_INVALID(doca_dpa_thread_start(NULL));
	T_INVALID(doca_dpa_thread_stop(NULL));
	T_INVALID(doca_dpa_thread_run(NULL));
	T_OK(doca_dpa_thread_destroy(thread));
}

DPA_CASE(what_is_set_is_got, dpa)
{
	const struct doca_dpa_eu_affinity *got;
	struct doca_dpa_eu_affinity *affinity;
	struct doca_dpa_thread *thread;
	doca_dpa_dev_uintptr_t storage;
	doca_dpa_func_t *func;
	uint64_t arg;

	T_OK(doca_dpa_eu_affinity_create(dpa, &affinity));
	T_OK(doca_dpa_thread_create(dpa, &thread));
	T_OK(doca_dpa_thread_get_func_arg(thread, &func, &arg));
	T_CHECK(func == NULL && arg == 0);
	T_GETS(doca_dpa_thread_get_local_storage(thread, &storage), storage, 0);
	T_GETS(doca_dpa_thread_get_affinity(thread, &got), got, NULL);
	T_OK(doca_dpa_thread_set_func_arg(thread, DPA_HOST_FUNC(count), 17));
	T_OK(doca_dpa_thread_get_func_arg(thread, &func, &arg));
	T_CHECK(func == DPA_HOST_FUNC(count) && arg == 17);
	T_OK(doca_dpa_thread_set_local_storage(thread, 18));
	T_GETS(doca_dpa_thread_get_local_storage(thread, &storage), storage, 18);
	T_OK(doca_dpa_thread_set_affinity(thread, affinity));
	T_GETS(doca_dpa_thread_get_affinity(thread, &got), got, affinity);
	T_CHECK(impl_dpa_thread_dpa(thread) == dpa);
	T_OK(doca_dpa_thread_destroy(thread));
	T_OK(doca_dpa_eu_affinity_destroy(affinity));
}

/* behaviour: Q16 */
T_CASE(the_order_of_calls)
{
	struct doca_dev *dev = host_dev(0);
	struct doca_dpa_thread *thread;
	struct doca_dpa *dpa;

	T_OK(doca_dpa_create(dev, &dpa));
	T_OK(doca_dpa_set_app(dpa, &app));
	T_OK(doca_dpa_thread_create(dpa, &thread));
	T_OK(doca_dpa_thread_set_func_arg(thread, DPA_HOST_FUNC(count), 0));
	T_IS(doca_dpa_thread_start(thread), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_thread_run(thread), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_thread_stop(thread), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_thread_destroy(thread));
	T_OK(doca_dpa_start(dpa));
	T_OK(doca_dpa_thread_create(dpa, &thread));
	T_IS(doca_dpa_thread_start(thread), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_thread_set_func_arg(thread, DPA_HOST_FUNC(count), 0));
	T_IS(doca_dpa_thread_run(thread), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_thread_start(thread));
	T_IS(doca_dpa_thread_start(thread), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_thread_set_func_arg(thread, DPA_HOST_FUNC(count), 0), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_thread_set_local_storage(thread, 1), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_thread_set_affinity(thread, (const void *)&app), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_stop(dpa), DOCA_ERROR_IN_USE);
	T_IS(doca_dpa_destroy(dpa), DOCA_ERROR_IN_USE);
	T_OK(doca_dpa_thread_stop(thread));
	T_IS(doca_dpa_thread_stop(thread), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_thread_run(thread), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_thread_start(thread));
	/* It stops what it destroys. */
	T_OK(doca_dpa_thread_destroy(thread));
	log_keep();
	T_OK(doca_dpa_destroy(dpa));
	T_OK(doca_dev_close(dev));
	T_STR_EQ(log_kept(), "");
}

/* behaviour: Q16 */
T_CASE(only_kernels_of_the_application)
{
	struct doca_dev *dev = host_dev(0);
	struct doca_dpa_thread *thread;
	struct doca_dpa *dpa;

	log_keep();
	T_OK(doca_dpa_create(dev, &dpa));
	T_OK(doca_dpa_set_app(dpa, &app));
	T_OK(doca_dpa_thread_create(dpa, &thread));
	/* Too early to tell. */
	T_OK(doca_dpa_thread_set_func_arg(thread, DPA_HOST_FUNC(not_of_the_app), 0));
	T_OK(doca_dpa_start(dpa));
	T_INVALID(doca_dpa_thread_start(thread));
	T_STR_HAS(log_kept(), "is not a kernel of the application");
	T_INVALID(doca_dpa_thread_set_func_arg(thread, DPA_HOST_FUNC(not_of_the_app), 0));
	T_INVALID(doca_dpa_thread_set_func_arg(thread, DPA_HOST_FUNC(notify), 0));
	T_STR_HAS(log_kept(), "notify: a DPA thread needs a __dpa_global__ function");
	T_INVALID(doca_dpa_thread_set_func_arg(thread, DPA_HOST_FUNC(count_pack), 0));
	T_STR_HAS(log_kept(), "big: a DPA thread needs a __dpa_global__ function");
	T_OK(doca_dpa_thread_destroy(thread));
	T_OK(doca_dpa_destroy(dpa));
	T_OK(doca_dev_close(dev));
}

/* behaviour: Q7 */
DPA_CASE(activations_call_the_kernel_and_run_does_not, dpa)
{
	unsigned int i;
	uint64_t ret;

	for (i = 0; i < 2; i++) {
		nb_calls = 0;
		kernel_thread_start(&threads[0], dpa, i == 0 ? DPA_HOST_FUNC(count) :
			DPA_HOST_FUNC(count_and_reschedule), 42);
		run(&threads[0]);
		T_OK(doca_dpa_rpc(dpa, DPA_HOST_FUNC(notify), &ret, threads[0].handle));
		T_EQ(ret, 7);
		T_AWAIT(nb_calls == 1);
		T_EQ(seen, 42);
		/* Also by the host; a second notification runs it again. */
		doca_dpa_dev_thread_notify(threads[0].handle);
		T_AWAIT(nb_calls == 2);
		kernel_thread_end(&threads[0]);
		T_EQ(nb_calls, 2);
	}
}

DPA_CASE(an_early_activation_is_kept, dpa)
{
	kernel_thread_start(&threads[0], dpa, DPA_HOST_FUNC(count), 0);
	doca_dpa_dev_thread_notify(threads[0].handle);
	doca_dpa_dev_thread_notify(threads[0].handle);
	run(&threads[0]);
	T_AWAIT(nb_calls == 1);
	/* Once more is harmless. */
	run(&threads[0]);
	kernel_thread_end(&threads[0]);
	T_EQ(nb_calls, 1);
}

DPA_CASE(to_run_with_nothing_attached_is_warned_of, dpa)
{
	struct doca_dpa_thread *thread;

	T_OK(doca_dpa_thread_create(dpa, &thread));
	T_OK(doca_dpa_thread_set_func_arg(thread, DPA_HOST_FUNC(count), 0));
	T_OK(doca_dpa_thread_start(thread));
	log_keep();
	T_OK(doca_dpa_thread_run(thread));
	T_STR_HAS(log_kept(), "dpa-count has no completion");
	T_OK(doca_dpa_thread_destroy(thread));
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
DPA_CASE(no_activation_is_lost, dpa)
{
	pthread_t poster;
	unsigned int i;

	kernel_thread_start(&threads[0], dpa, DPA_HOST_FUNC(see), 0);
	run(&threads[0]);
	T_EQ(pthread_create(&poster, NULL, post, NULL), 0);
	post(NULL);
	T_EQ(pthread_join(poster, NULL), 0);
	T_AWAIT(seen == 2 * ROUNDS);
	/* Against a thread that goes to sleep. */
	for (i = 0; i < ROUNDS; i++) {
		uint64_t now = ++posted;

		doca_dpa_dev_thread_notify(threads[0].handle);
		T_AWAIT(seen >= now);
	}
	kernel_thread_end(&threads[0]);
	T_GE(nb_calls, ROUNDS);
}

DPA_CASE(finish_is_for_good, dpa)
{
	unsigned int i;

	kernel_thread_start(&threads[0], dpa, DPA_HOST_FUNC(count_and_finish), 0);
	run(&threads[0]);
	doca_dpa_dev_thread_notify(threads[0].handle);
	T_AWAIT(nb_calls == 1);
	for (i = 0; i < 100; i++) {
		doca_dpa_dev_thread_notify(threads[0].handle);
		sched_yield();
	}
	kernel_thread_end(&threads[0]);
	T_EQ(nb_calls, 1);
	T_OK(doca_dpa_peek_at_last_error(dpa));
}

DPA_CASE(a_kernel_that_polls_for_ever_is_stopped, dpa)
{
	unsigned int i;

	/* More threads than CPUs: none starves. */
	for (i = 0; i < RTE_DIM(threads); i++) {
		kernel_thread_start(&threads[i], dpa, DPA_HOST_FUNC(poll_for_ever), 0);
		run(&threads[i]);
		doca_dpa_dev_thread_notify(threads[i].handle);
	}
	T_AWAIT(nb_calls == RTE_DIM(threads));
	for (i = 0; i < RTE_DIM(threads); i++)
		kernel_thread_end(&threads[i]);
	T_OK(doca_dpa_peek_at_last_error(dpa));
}

DPA_CASE(a_thread_stops_before_it_ever_ran, dpa)
{
	unsigned int i;

	for (i = 0; i < 200; i++) {
		kernel_thread_start(&threads[0], dpa, DPA_HOST_FUNC(count), 0);
		if (i % 2 == 1)
			doca_dpa_dev_thread_notify(threads[0].handle);
		kernel_thread_end(&threads[0]);
	}
	T_EQ(nb_calls, 0);
}

DPA_CASE(one_that_sleeps_wakes_up_and_stops, dpa)
{
	unsigned int i;

	kernel_thread_start(&threads[0], dpa, DPA_HOST_FUNC(count), 0);
	run(&threads[0]);
	for (i = 0; i < 20; i++) {
		T_AWAIT(thread_state("dpa-count") == 'S');
		doca_dpa_dev_thread_notify(threads[0].handle);
		T_AWAIT(nb_calls == i + 1);
	}
	T_AWAIT(thread_state("dpa-count") == 'S');
	kernel_thread_end(&threads[0]);
}

/* Each has its own life, at the same time as the others. */
static void *
live(void *arg)
{
	struct kernel_thread t;
	unsigned int i;

	for (i = 0; i < 300; i++) {
		kernel_thread_start(&t, arg, DPA_HOST_FUNC(i % 2 == 0 ? count : poll_for_ever), 0);
		run(&t);
		doca_dpa_dev_thread_notify(t.handle);
		if (i % 3 == 0)
			sched_yield();
		kernel_thread_end(&t);
	}
	return NULL;
}

DPA_CASE(threads_come_and_go_side_by_side, dpa)
{
	pthread_t hosts[3];
	unsigned int i;

	for (i = 0; i < RTE_DIM(hosts); i++)
		T_EQ(pthread_create(&hosts[i], NULL, live, dpa), 0);
	for (i = 0; i < RTE_DIM(hosts); i++)
		T_EQ(pthread_join(hosts[i], NULL), 0);
	T_OK(doca_dpa_peek_at_last_error(dpa));
}

DPA_CASE(a_stopped_thread_starts_again, dpa)
{
	struct doca_dpa_thread *thread;

	kernel_thread_start(&threads[0], dpa, DPA_HOST_FUNC(count), 0);
	thread = threads[0].thread;
	run(&threads[0]);
	T_OK(doca_dpa_thread_stop(thread));
	/* Lost: it is stopped. */
	doca_dpa_dev_thread_notify(threads[0].handle);
	T_OK(doca_dpa_thread_set_func_arg(thread, DPA_HOST_FUNC(count), 5));
	T_OK(doca_dpa_thread_start(thread));
	T_EQ(nb_calls, 0);
	doca_dpa_dev_thread_notify(threads[0].handle);
	run(&threads[0]);
	T_AWAIT(nb_calls == 1);
	T_EQ(seen, 5);
	kernel_thread_end(&threads[0]);
}

T_CASE(a_kernel_that_does_not_run_is_waited_for)
{
	struct doca_dpa *dpa;

	dpa_program_table("dpa_max_run_ms = 10\n");
	dpa = dpa_program_start(&app);
	kernel_thread_start(&threads[0], dpa, DPA_HOST_FUNC(sleep_and_poll), 0);
	run(&threads[0]);
	doca_dpa_dev_thread_notify(threads[0].handle);
	T_AWAIT(nb_calls == 1);
	kernel_thread_end(&threads[0]);
	dpa_program_end(dpa);
}

T_CASE(a_kernel_without_device_calls_is_told_of)
{
	struct doca_dpa *dpa;

	dpa_program_table("dpa_max_run_ms = 30\n");
	dpa = dpa_program_start(&app);
	log_keep();
	kernel_thread_start(&threads[0], dpa, DPA_HOST_FUNC(spin_until_released), 0);
	run(&threads[0]);
	doca_dpa_dev_thread_notify(threads[0].handle);
	T_AWAIT(nb_calls == 1);
	T_IS(doca_dpa_thread_stop(threads[0].thread), DOCA_ERROR_DRIVER);
	T_STR_HAS(log_kept(), "DPA thread dpa-spin_until_released (kernel spin_until_released) "
		"does not stop: no call of a DPA function for 30 ms");
	T_CHECK(impl_dpa_thread_is_started(threads[0].thread));
	T_OK(doca_dpa_notification_completion_destroy(threads[0].comp));
	T_IS(doca_dpa_thread_destroy(threads[0].thread), DOCA_ERROR_DRIVER);
	is_released = true;
	T_AWAIT(doca_dpa_thread_stop(threads[0].thread) == DOCA_SUCCESS);
	T_OK(doca_dpa_thread_destroy(threads[0].thread));
	dpa_program_end(dpa);
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

T_CASE(a_kernel_that_runs_too_long_is_told_of)
{
	static const char line[] = "DPA thread dpa-spin_until_released (kernel "
		"spin_until_released) has run for 0.";
	struct doca_dpa *dpa;

	dpa_program_table("dpa_max_run_ms = 20\n");
	dpa = dpa_program_start(&app);
	log_keep();
	kernel_thread_start(&threads[0], dpa, DPA_HOST_FUNC(spin_until_released), 0);
	run(&threads[0]);
	doca_dpa_dev_thread_notify(threads[0].handle);
	T_AWAIT(count_in(log_kept(), line) >= 2);
	T_STR_HAS(log_kept(), " s, over dpa_max_run_ms = 20; hardware would have ended it");
	is_released = true;
	kernel_thread_end(&threads[0]);
	T_OK(doca_dpa_peek_at_last_error(dpa));
	dpa_program_end(dpa);
}

T_CASE(nobody_watches_without_a_limit)
{
	struct doca_dpa *dpa;
	unsigned long long s;
	uint64_t begin;

	dpa_program_table("dpa_max_run_ms = 0\n");
	dpa = dpa_program_start(&app);
	T_GETS(doca_dpa_get_kernel_max_run_time(dpa, &s), s, 0);
	log_keep();
	kernel_thread_start(&threads[0], dpa, DPA_HOST_FUNC(poll_for_ever), 0);
	run(&threads[0]);
	doca_dpa_dev_thread_notify(threads[0].handle);
	begin = t_now_ms();
	T_AWAIT(nb_calls == 1 && t_now_ms() > begin + 50);
	kernel_thread_end(&threads[0]);
	dpa_program_end(dpa);
	T_STR_EQ(log_kept(), "");
}

DPA_CASE(a_thread_does_not_stop_itself, dpa)
{
	log_keep();
	kernel_thread_start(&threads[2], dpa, DPA_HOST_FUNC(stop_itself), 2);
	/* So that destroy comes to the stop. */
	T_OK(doca_dpa_notification_completion_stop(threads[2].comp));
	T_OK(doca_dpa_notification_completion_destroy(threads[2].comp));
	T_OK(doca_dpa_thread_run(threads[2].thread));
	impl_dpa_thread_activate(threads[2].thread);
	T_AWAIT(nb_calls == 1);
	T_STR_HAS(log_kept(), "cannot stop itself");
	T_OK(doca_dpa_thread_destroy(threads[2].thread));
}

DPA_CASE(one_that_is_attached_is_not_destroyed, dpa)
{
	struct doca_dpa_notification_completion *second;

	kernel_thread_start(&threads[0], dpa, DPA_HOST_FUNC(count), 0);
	T_OK(doca_dpa_notification_completion_create(dpa, threads[0].thread, &second));
	T_IS(doca_dpa_thread_destroy(threads[0].thread), DOCA_ERROR_BAD_STATE);
	T_CHECK(impl_dpa_thread_is_started(threads[0].thread));
	T_OK(doca_dpa_notification_completion_destroy(second));
	T_IS(doca_dpa_thread_destroy(threads[0].thread), DOCA_ERROR_BAD_STATE);
	kernel_thread_end(&threads[0]);
}
