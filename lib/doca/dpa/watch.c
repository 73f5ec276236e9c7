/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The watchdog: one thread, while contexts with a limit are started, that periodically
 * checks for kernels that run for too long.
 */

#include <signal.h>

#include <rte_common.h>

#include "dpa/core.h"
#include "log/log.h"

/** Minimum period of the checks, ms. */
#define MIN_PERIOD 5
#define MAX_PERIOD 1000

static struct {
	pthread_mutex_t life;    /* for begin and end */
	pthread_mutex_t lock;    /* for the rest */
	pthread_cond_t cond;
	pthread_t thread;
	unsigned int nb;
	uint32_t period;
	bool is_over;
} watch = {
	.life = PTHREAD_MUTEX_INITIALIZER,
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

static void *
run(void *arg)
{
	RTE_SET_USED(arg);
	pthread_mutex_lock(&watch.lock);
	while (!impl_dpa_cond_wait(&watch.cond, &watch.lock, &watch.is_over, watch.period)) {
		pthread_mutex_unlock(&watch.lock);
		impl_dpa_self_watch();
		pthread_mutex_lock(&watch.lock);
	}
	pthread_mutex_unlock(&watch.lock);
	return NULL;
}

static int
create(void)
{
	sigset_t all, before;
	int ret = impl_dpa_cond_init(&watch.cond);

	if (ret != 0)
		return ret;
	watch.is_over = false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&watch.thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (ret != 0)
		pthread_cond_destroy(&watch.cond);
	else
		pthread_setname_np(watch.thread, "dpa-watch");
	return ret;
}

doca_error_t
impl_dpa_watch_begin(uint32_t limit_ms)
{
	uint32_t period = RTE_MIN(RTE_MAX(limit_ms / 4, MIN_PERIOD), MAX_PERIOD);
	int ret = 0;

	if (limit_ms == 0)
		return DOCA_SUCCESS;
	pthread_mutex_lock(&watch.life);
	pthread_mutex_lock(&watch.lock);
	/* A shorter period takes effect after the next check. */
	watch.period = watch.nb == 0 ? period : RTE_MIN(watch.period, period);
	pthread_mutex_unlock(&watch.lock);
	if (watch.nb == 0)
		ret = create();
	if (ret == 0)
		watch.nb++;
	pthread_mutex_unlock(&watch.life);
	if (ret != 0)
		IMPL_ERR("DPA watchdog: pthread_create: error %d", ret);
	return ret == 0 ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

void
impl_dpa_watch_end(uint32_t limit_ms)
{
	if (limit_ms == 0)
		return;
	pthread_mutex_lock(&watch.life);
	if (--watch.nb == 0) {
		pthread_mutex_lock(&watch.lock);
		watch.is_over = true;
		pthread_cond_signal(&watch.cond);
		pthread_mutex_unlock(&watch.lock);
		pthread_join(watch.thread, NULL);
		pthread_cond_destroy(&watch.cond);
	}
	pthread_mutex_unlock(&watch.life);
}
