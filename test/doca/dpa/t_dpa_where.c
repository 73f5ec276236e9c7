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
#include "dpa/program.h"
#include "t_main.h"

static atomic_uint nb_calls;
static _Atomic uint64_t seen, posted;
static struct kernel_thread threads[3];
static char name[32];
static sigset_t mask;

static void
count(uint64_t arg __rte_unused)
{
	nb_calls++;
}

static void
look_around(uint64_t arg __rte_unused)
{
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
see_cpu(uint64_t arg __rte_unused)
{
	seen = (uint64_t)sched_getcpu();
	nb_calls++;
}

DPA_KERNEL(count)
DPA_KERNEL(look_around)
DPA_KERNEL(see_cpu)

static const struct comch_doca_dpa_func funcs[] = {
	DPA_FUNC(count, 0),
	DPA_FUNC(look_around, 0),
	DPA_FUNC(see_cpu, 0),
};
DPA_APP(app, funcs);

static void
run(struct kernel_thread *t)
{
	T_OK(doca_dpa_thread_run(t->thread));
}

DPA_CASE(what_a_kernel_finds, dpa)
{
	T_OK(doca_dpa_thread_create(dpa, &threads[0].thread));
	T_OK(doca_dpa_thread_set_local_storage(threads[0].thread, 0x1234));
	T_OK(doca_dpa_thread_set_func_arg(threads[0].thread, DPA_HOST_FUNC(look_around), 0));
	T_OK(doca_dpa_thread_start(threads[0].thread));
	T_OK(doca_dpa_thread_run(threads[0].thread));
	seen = 0;
	posted = 1;
	impl_dpa_thread_activate(threads[0].thread);
	T_AWAIT(nb_calls == 1);
	T_STR_EQ(name, "dpa-look_around");
	T_CHECK(sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGALRM) == 1);
	impl_dpa_thread_set_rank(threads[0].thread, 3, 8);
	seen = 3;
	posted = 8;
	impl_dpa_thread_activate(threads[0].thread);
	T_AWAIT(nb_calls == 2);
	T_OK(doca_dpa_thread_destroy(threads[0].thread));
	/* And what a host thread does. */
	T_EQ(doca_dpa_dev_thread_rank(), 0);
	T_EQ(doca_dpa_dev_num_threads(), 1);
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

T_CASE(cpus_of_the_table_are_taken)
{
	char keys[64];
	struct doca_dpa *dpa;
	unsigned int i;

	snprintf(keys, sizeof(keys), "dpa_cpus = %d\n", last_cpu());
	dpa_program_table(keys);
	dpa = dpa_program_start(&app);
	for (i = 0; i < 3; i++) {
		kernel_thread_start(&threads[i], dpa, DPA_HOST_FUNC(see_cpu), 0);
		run(&threads[i]);
		doca_dpa_dev_thread_notify(threads[i].handle);
		T_AWAIT(nb_calls == i + 1);
		T_EQ(seen, last_cpu());
	}
	for (i = 0; i < 3; i++)
		kernel_thread_end(&threads[i]);
	dpa_program_end(dpa);
}

DPA_CASE(an_affinity_says_the_cpu, dpa)
{
	struct doca_dpa_eu_affinity *affinity;
	unsigned int nb, i;
	int cpu;

	T_OK(doca_dpa_get_total_num_eus_available(dpa, &nb));
	T_OK(doca_dpa_eu_affinity_create(dpa, &affinity));
	T_OK(doca_dpa_thread_create(dpa, &threads[0].thread));
	T_OK(doca_dpa_thread_set_func_arg(threads[0].thread, DPA_HOST_FUNC(see_cpu), 0));
	T_OK(doca_dpa_thread_set_affinity(threads[0].thread, affinity));
	for (i = 0; i < nb; i++) {
		T_OK(doca_dpa_eu_affinity_set(affinity, i));
		cpu = impl_dpa_eu_cpu(dpa, i);
		T_GE(cpu, 0);
		nb_calls = 0;
		T_OK(doca_dpa_thread_start(threads[0].thread));
		T_OK(doca_dpa_thread_run(threads[0].thread));
		impl_dpa_thread_activate(threads[0].thread);
		T_AWAIT(nb_calls == 1);
		T_EQ(seen, cpu);
		T_OK(doca_dpa_thread_stop(threads[0].thread));
	}
	T_OK(doca_dpa_thread_destroy(threads[0].thread));
	T_OK(doca_dpa_eu_affinity_destroy(affinity));
}

T_CASE(a_cpu_that_is_not_there_is_told_of)
{
	struct doca_dpa *dpa;

	dpa_program_table("dpa_cpus = 1023\n");
	dpa = dpa_program_start(&app);
	log_keep();
	kernel_thread_start(&threads[0], dpa, DPA_HOST_FUNC(count), 0);
	T_STR_HAS(log_kept(), "DPA thread dpa-count: pin to CPU 1023: Invalid argument");
	run(&threads[0]);
	doca_dpa_dev_thread_notify(threads[0].handle);
	T_AWAIT(nb_calls == 1);
	kernel_thread_end(&threads[0]);
	dpa_program_end(dpa);
}
