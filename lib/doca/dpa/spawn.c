/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Threads for kernels. All signals are blocked in them, since the program's handlers
 * expect the program's threads. A thread without an execution unit gets the next one of
 * the device table, so that threads spread; if the table names none, it may run on any
 * CPU of the process.
 */

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <rte_lcore.h>

#include "dev/cpus.h"
#include "dev/dev.h"
#include "dev/eal.h"
#include "dpa/core.h"
#include "log/log.h"

static void
pin(const struct impl_dpa_spawn *how, pthread_t thread)
{
	unsigned int eu = (unsigned int)how->eu, nb = impl_dpa_nb_eus(how->dpa);
	cpu_set_t set;
	int cpu, ret;

	if (how->eu < 0 && CPU_COUNT(impl_dev_dpa_cpus(impl_dpa_dev(how->dpa))) == 0) {
		/* EAL may have pinned the creating thread, so do not inherit its CPU. */
		if (CPU_COUNT(impl_process_cpus()) > 0)
			pthread_setaffinity_np(thread, sizeof(cpu_set_t), impl_process_cpus());
		return;
	}
	if (how->eu < 0)
		eu = atomic_fetch_add(&how->dpa->root->next_eu, 1) % (nb > 0 ? nb : 1);
	cpu = impl_dpa_eu_cpu(how->dpa, eu);
	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET((unsigned int)cpu, &set);
	ret = pthread_setaffinity_np(thread, sizeof(set), &set);
	if (ret != 0)
		IMPL_WARN("DPA thread dpa-%s: pin to CPU %d: %s; runs on any CPU", how->name,
			cpu, strerror(ret));
}

doca_error_t
impl_dpa_spawn(const struct impl_dpa_spawn *how, pthread_t *thread)
{
	sigset_t all, before;
	char name[16];
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(thread, NULL, how->run, how->arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (ret != 0) {
		IMPL_ERR("kernel %s: pthread_create: %s", how->name, strerror(ret));
		return DOCA_ERROR_DRIVER;
	}
	snprintf(name, sizeof(name), "dpa-%.11s", how->name);
	pthread_setname_np(*thread, name);
	pin(how, *thread);
	return DOCA_SUCCESS;
}

/* EAL has a lock for this, which TSan does not see. */
static pthread_mutex_t lcores_lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * As an lcore the thread has mempool caches; without them it is just slower. Not in a
 * program's own EAL, where a registered thread would prevent secondary processes.
 */
void
impl_dpa_spawn_begin(void)
{
	int ret;

	if (!impl_eal_is_own())
		return;
	pthread_mutex_lock(&lcores_lock);
	ret = rte_thread_register();
	pthread_mutex_unlock(&lcores_lock);
	if (ret != 0)
		IMPL_LOG(DEBUG, "no lcore id left for a DPA thread");
}

void
impl_dpa_spawn_end(void)
{
	pthread_mutex_lock(&lcores_lock);
	rte_thread_unregister();
	pthread_mutex_unlock(&lcores_lock);
}

int
impl_dpa_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;
	int ret;

	ret = pthread_condattr_init(&attr);
	if (ret != 0)
		return ret;
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	ret = pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
	return ret;
}

bool
impl_dpa_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, const bool *flag, uint32_t ms)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += ms / 1000;
	end.tv_nsec += (long)(ms % 1000) * 1000000;
	if (end.tv_nsec >= 1000000000) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000;
	}
	while (!*flag)
		if (pthread_cond_timedwait(cond, lock, &end) == ETIMEDOUT)
			break;
	return *flag;
}

uint64_t
impl_dpa_spawn_ran_ns(pthread_t thread)
{
	struct timespec ts;
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

bool
impl_dpa_cond_wait_end(pthread_cond_t *cond, pthread_mutex_t *lock, const bool *flag,
		uint32_t ms, bool (*has_run)(const void *arg, uint64_t ns), const void *arg)
{
	uint64_t waited = ms;

	while (!impl_dpa_cond_wait(cond, lock, flag, ms)) {
		if (waited >= IMPL_DPA_STOP_MS || has_run(arg, ms * UINT64_C(1000000)))
			return false;
		waited += ms;
	}
	return true;
}
