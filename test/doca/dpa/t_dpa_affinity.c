/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Execution units of the DPA. */

#include "dpa/call.h"
#include "t_main.h"

/* The CPUs that the process may run on. */
static unsigned int
count_cpus(cpu_set_t *cpus)
{
	T_EQ(sched_getaffinity(0, sizeof(*cpus), cpus), 0);
	return (unsigned int)CPU_COUNT(cpus);
}

T_CASE(units_are_cpus)
{
	unsigned int cores = 0, per_core = 0, total = 0, nb;
	cpu_set_t cpus;
	struct dpa_calls t;

	nb = count_cpus(&cpus);
	dpa_calls_open(&t);
	T_OK(doca_dpa_get_core_num(t.dpa, &cores));
	T_OK(doca_dpa_get_num_eus_per_core(t.dpa, &per_core));
	T_OK(doca_dpa_get_total_num_eus_available(t.dpa, &total));
	T_EQ(cores, 1);
	T_EQ(total, nb);
	T_EQ(cores * per_core, total);
	T_REFUSES_NULL(doca_dpa_get_core_num, t.dpa, &cores);
	T_REFUSES_NULL(doca_dpa_get_num_eus_per_core, t.dpa, &cores);
	T_REFUSES_NULL(doca_dpa_get_total_num_eus_available, t.dpa, &cores);
	dpa_calls_close(&t);
}

DPA_CALLS_CASE(set_and_clear, t)
{
	struct doca_dpa_eu_affinity *a;
	unsigned int eu = 77, total;

	T_OK(doca_dpa_get_total_num_eus_available(t->dpa, &total));
	T_REFUSES_NULL(doca_dpa_eu_affinity_create, t->dpa, &a);
	T_OK(doca_dpa_eu_affinity_create(t->dpa, &a));
	T_INVALID(doca_dpa_eu_affinity_get(a, &eu));
	T_INVALID(doca_dpa_eu_affinity_set(NULL, 0));
	T_INVALID(doca_dpa_eu_affinity_set(a, total));
	T_INVALID(doca_dpa_eu_affinity_set(a, ~0u));
	T_INVALID(doca_dpa_eu_affinity_get(a, &eu));
	T_EQ(eu, 77);
	T_OK(doca_dpa_eu_affinity_set(a, total - 1));
	T_REFUSES_NULL(doca_dpa_eu_affinity_get, a, &eu);
	T_GETS(doca_dpa_eu_affinity_get(a, &eu), eu, total - 1);
	T_INVALID(doca_dpa_eu_affinity_clear(NULL));
	T_OK(doca_dpa_eu_affinity_clear(a));
	T_OK(doca_dpa_eu_affinity_clear(a));
	T_INVALID(doca_dpa_eu_affinity_get(a, &eu));
	/* It is one of the context's objects. */
	T_IS(doca_dpa_stop(t->dpa), DOCA_ERROR_IN_USE);
	T_INVALID(doca_dpa_eu_affinity_destroy(NULL));
	T_OK(doca_dpa_eu_affinity_destroy(a));
}

/* Before the start, which no unit depends on. */
T_CASE(before_the_start)
{
	struct doca_dpa_eu_affinity *a;
	struct doca_dev *dev = host_dev(0);
	struct doca_dpa *dpa;
	unsigned int total;

	T_OK(doca_dpa_create(dev, &dpa));
	T_OK(doca_dpa_get_total_num_eus_available(dpa, &total));
	T_GE(total, 1);
	T_OK(doca_dpa_eu_affinity_create(dpa, &a));
	T_OK(doca_dpa_eu_affinity_set(a, 0));
	T_IS(doca_dpa_destroy(dpa), DOCA_ERROR_IN_USE);
	T_OK(doca_dpa_eu_affinity_destroy(a));
	T_OK(doca_dpa_destroy(dpa));
	T_OK(doca_dev_close(dev));
}

struct where {
	struct dpa_call_kernel kernel;
	cpu_set_t cpus;
	atomic_bool is_said;
};

static void
say_where(void *arg)
{
	struct where *w = arg;

	T_EQ(sched_getaffinity(0, sizeof(w->cpus), &w->cpus), 0);
	atomic_store(&w->is_said, true);
	doca_dpa_dev_thread_finish();
}

/* The CPU that a thread of this affinity runs on. */
static void
run_on(struct dpa_calls *t, const struct doca_dpa_eu_affinity *a, struct where *w)
{
	struct doca_dpa_notification_completion *comp;
	doca_dpa_dev_notification_completion_t handle;
	const struct doca_dpa_eu_affinity *got;
	struct doca_dpa_thread *thread;

	w->kernel = (struct dpa_call_kernel){ say_where, w };
	atomic_init(&w->is_said, false);
	T_OK(doca_dpa_thread_create(t->dpa, &thread));
	T_OK(doca_dpa_thread_set_func_arg(thread, dpa_call_kernel_func(), (uintptr_t)&w->kernel));
	T_OK(doca_dpa_thread_set_affinity(thread, a));
	T_GETS(doca_dpa_thread_get_affinity(thread, &got), got, a);
	T_OK(doca_dpa_thread_start(thread));
	T_OK(doca_dpa_notification_completion_create(t->dpa, thread, &comp));
	T_OK(doca_dpa_notification_completion_start(comp));
	T_OK(doca_dpa_notification_completion_get_dpa_handle(comp, &handle));
	T_OK(doca_dpa_thread_run(thread));
	doca_dpa_dev_thread_notify(handle);
	T_AWAIT(atomic_load(&w->is_said));
	T_OK(doca_dpa_notification_completion_stop(comp));
	T_OK(doca_dpa_notification_completion_destroy(comp));
	dpa_call_thread_destroy(thread);
}

T_CASE(threads_run_there)
{
	struct doca_dpa_eu_affinity *a;
	unsigned int total, eu, cpu;
	struct where w;
	cpu_set_t cpus;
	struct dpa_calls t;

	count_cpus(&cpus);
	dpa_calls_open(&t);
	T_OK(doca_dpa_get_total_num_eus_available(t.dpa, &total));
	T_OK(doca_dpa_eu_affinity_create(t.dpa, &a));
	for (eu = 0, cpu = 0; eu < total; eu++, cpu++) {
		while (!CPU_ISSET(cpu, &cpus))
			cpu++;
		T_OK(doca_dpa_eu_affinity_set(a, eu));
		run_on(&t, a, &w);
		T_EQ(CPU_COUNT(&w.cpus), 1);
		T_CHECK(CPU_ISSET(cpu, &w.cpus));
	}
	T_OK(doca_dpa_eu_affinity_destroy(a));
	dpa_calls_close(&t);
}

/* A table with one CPU for the DPA: the last that there is. */
T_CASE(of_the_table)
{
	struct doca_dpa_eu_affinity *a;
	unsigned int total = 0, cpu;
	struct where w;
	cpu_set_t cpus;
	char keys[64];
	struct dpa_calls t;

	count_cpus(&cpus);
	for (cpu = CPU_SETSIZE - 1; !CPU_ISSET(cpu, &cpus); cpu--)
		;
	snprintf(keys, sizeof(keys), "dpa_cpus = %u\n", cpu);
	dpa_program_table(keys);
	dpa_calls_open(&t);
	T_GETS(doca_dpa_get_total_num_eus_available(t.dpa, &total), total, 1);
	T_OK(doca_dpa_eu_affinity_create(t.dpa, &a));
	T_INVALID(doca_dpa_eu_affinity_set(a, 1));
	run_on(&t, a, &w);
	T_EQ(CPU_COUNT(&w.cpus), 1);
	T_CHECK(CPU_ISSET(cpu, &w.cpus));
	T_OK(doca_dpa_eu_affinity_destroy(a));
	dpa_calls_close(&t);
}
