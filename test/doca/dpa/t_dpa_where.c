/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Where DPA threads run, and what kernels find there.
 */

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include <rte_lcore.h>

#include "dpa/dpa.h"
#include "t_main.h"
#include "dpa/program.h"

static atomic_uint nb_calls;
static _Atomic uint64_t seen, posted;
static struct tdpa_thread threads[3];
static char name[32];
static sigset_t mask;

static void
count(uint64_t arg)
{
	RTE_SET_USED(arg);
	nb_calls++;
}

static void
look_around(uint64_t arg)
{
	RTE_SET_USED(arg);
	pthread_getname_np(pthread_self(), name, sizeof(name));
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	/* It has caches of mempools. */
	T_NE(rte_lcore_id(), LCORE_ID_ANY);
	T_EQ(doca_dpa_dev_thread_get_local_storage(), 0x1234);
	T_EQ(doca_dpa_dev_thread_rank(), seen);
	T_EQ(doca_dpa_dev_num_threads(), posted);
	nb_calls++;
}

static void
see_cpu(uint64_t arg)
{
	RTE_SET_USED(arg);
	seen = (uint64_t)sched_getcpu();
	nb_calls++;
}

TDPA_KERNEL(count)
TDPA_KERNEL(look_around)
TDPA_KERNEL(see_cpu)

static const struct comch_doca_dpa_func funcs[] = {
	TDPA_FUNC(count, 0),
	TDPA_FUNC(look_around, 0),
	TDPA_FUNC(see_cpu, 0),
};
TDPA_APP(app, funcs);

static void
run(struct tdpa_thread *t)
{
	TD_OK(doca_dpa_thread_run(t->thread));
}

static void
what_a_kernel_finds(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);

	TD_OK(doca_dpa_thread_create(dpa, &threads[0].thread));
	TD_OK(doca_dpa_thread_set_local_storage(threads[0].thread, 0x1234));
	TD_OK(doca_dpa_thread_set_func_arg(threads[0].thread, TDPA_F(look_around), 0));
	TD_OK(doca_dpa_thread_start(threads[0].thread));
	TD_OK(doca_dpa_thread_run(threads[0].thread));
	seen = 0;
	posted = 1;
	impl_dpa_thread_activate(threads[0].thread);
	TDPA_UNTIL(nb_calls == 1);
	T_STR_EQ(name, "dpa-look_around");
	T_CHECK(sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGALRM) == 1);
	impl_dpa_thread_set_rank(threads[0].thread, 3, 8);
	seen = 3;
	posted = 8;
	impl_dpa_thread_activate(threads[0].thread);
	TDPA_UNTIL(nb_calls == 2);
	TD_OK(doca_dpa_thread_destroy(threads[0].thread));
	/* And what a host thread does. */
	T_EQ(doca_dpa_dev_thread_rank(), 0);
	T_EQ(doca_dpa_dev_num_threads(), 1);
	tdpa_end(dpa);
}

/* The last CPU that this process may run on. */
static int
last_cpu(void)
{
	int cpu = CPU_SETSIZE - 1;
	cpu_set_t set;

	T_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
	while (!CPU_ISSET(cpu, &set))
		cpu--;
	return cpu;
}

static void
cpus_of_the_table_are_taken(void)
{
	char keys[64];
	struct doca_dpa *dpa;
	unsigned int i;

	snprintf(keys, sizeof(keys), "dpa_cpus = %d\n", last_cpu());
	tdpa_table(keys);
	dpa = tdpa_start(&app);
	for (i = 0; i < 3; i++) {
		tdpa_thread_start(&threads[i], dpa, TDPA_F(see_cpu), 0);
		run(&threads[i]);
		doca_dpa_dev_thread_notify(threads[i].handle);
		TDPA_UNTIL(nb_calls == i + 1);
		T_EQ(seen, last_cpu());
	}
	for (i = 0; i < 3; i++)
		tdpa_thread_end(&threads[i]);
	tdpa_end(dpa);
}

static void
an_affinity_says_the_cpu(void)
{
	struct doca_dpa *dpa = tdpa_start(&app);
	struct doca_dpa_eu_affinity *affinity;
	unsigned int nb, i;
	int cpu;

	TD_OK(doca_dpa_get_total_num_eus_available(dpa, &nb));
	TD_OK(doca_dpa_eu_affinity_create(dpa, &affinity));
	TD_OK(doca_dpa_thread_create(dpa, &threads[0].thread));
	TD_OK(doca_dpa_thread_set_func_arg(threads[0].thread, TDPA_F(see_cpu), 0));
	TD_OK(doca_dpa_thread_set_affinity(threads[0].thread, affinity));
	for (i = 0; i < nb; i++) {
		TD_OK(doca_dpa_eu_affinity_set(affinity, i));
		cpu = impl_dpa_eu_cpu(dpa, i);
		T_GE(cpu, 0);
		nb_calls = 0;
		TD_OK(doca_dpa_thread_start(threads[0].thread));
		TD_OK(doca_dpa_thread_run(threads[0].thread));
		impl_dpa_thread_activate(threads[0].thread);
		TDPA_UNTIL(nb_calls == 1);
		T_EQ(seen, cpu);
		TD_OK(doca_dpa_thread_stop(threads[0].thread));
	}
	TD_OK(doca_dpa_thread_destroy(threads[0].thread));
	TD_OK(doca_dpa_eu_affinity_destroy(affinity));
	tdpa_end(dpa);
}

static void
a_cpu_that_is_not_there_is_told_of(void)
{
	struct doca_dpa *dpa;

	tdpa_table("dpa_cpus = 1023\n");
	dpa = tdpa_start(&app);
	tdpa_log_begin();
	tdpa_thread_start(&threads[0], dpa, TDPA_F(count), 0);
	T_STR_HAS(tdpa_log(), "DPA thread dpa-count cannot have CPU 1023: Invalid argument");
	run(&threads[0]);
	doca_dpa_dev_thread_notify(threads[0].handle);
	TDPA_UNTIL(nb_calls == 1);
	tdpa_thread_end(&threads[0]);
	tdpa_end(dpa);
}

#define CASE(fn) { #fn, fn }

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		CASE(what_a_kernel_finds),
		CASE(cpus_of_the_table_are_taken),
		CASE(an_affinity_says_the_cpu),
		CASE(a_cpu_that_is_not_there_is_told_of),
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
