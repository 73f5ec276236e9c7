/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * DPA threads: each is a system thread, from start to stop, that calls its kernel once
 * for each activation.
 *
 * All requests to a thread are in one word, its *wants*:
 *
 *     activate   wants |= ACTIVE          (after storing what the kernel must see)
 *     run        wants |= RUN
 *     stop       wants |= STOP
 *     thread     wants &= ~ACTIVE         then calls the kernel
 *                wants |= SLEEP           then sleeps while wants has not changed
 *
 * These are read-modify-writes of one location, so they have a total order and none is
 * lost. An activation is either before the "&= ~ACTIVE" of the kernel's next call, which
 * then sees (acquire) what the activator stored before (release); or after it, and the
 * word has ACTIVE set when the kernel ends. A request that finds SLEEP set wakes the
 * thread: if it came before futex(2) compares, the wait ends at once; if it came after
 * the thread was queued, the wake-up finds it. Other requests make no system call.
 */

#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_pause.h>

#include "ctx/yield.h"
#include "dpa/core.h"
#include "log/log.h"

#define ACTIVE 1u
#define RUN 2u
#define STOP 4u
#define SLEEP 8u

/** Maximum (when waits are short) and minimum checks of the word before a sleep. */
#define MAX_SPIN 2048
#define MIN_SPIN 16
/** A short wait: about as long as a sleep and a wake-up take. */
#define SHORT_NS 50000

struct doca_dpa_thread {
	/* Written by activators. */
	_Atomic uint32_t wants;
	atomic_bool is_started;
	/* Used by the thread itself. */
	uint32_t spin;
	struct impl_dpa_self self;
	/* Protected by the context's lock. */
	struct doca_dpa *dpa;
	doca_dpa_func_t *func;
	uint64_t arg;
	doca_dpa_dev_uintptr_t storage;
	const struct doca_dpa_eu_affinity *affinity;
	unsigned int nb_held;      /* completions and groups that use it */
	bool is_stopping;          /* a stop waits for its end */
	bool is_gone;              /* it has ended or is about to */
	pthread_t thread;
	uint64_t told_ns;          /* its CPU time when it was told to stop */
	pthread_cond_t cond;
};

/* Whether there is a request to handle. */
static bool
has_work(uint32_t wants)
{
	return (wants & STOP) != 0 || (wants & (ACTIVE | RUN)) == (ACTIVE | RUN);
}

static void
wake(struct doca_dpa_thread *t, uint32_t before, uint32_t now)
{
	if ((before & SLEEP) != 0 && !has_work(before) && has_work(now))
		syscall(SYS_futex, &t->wants, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void
want(struct doca_dpa_thread *t, uint32_t what)
{
	uint32_t before = atomic_fetch_or_explicit(&t->wants, what, memory_order_acq_rel);

	wake(t, before, before | what);
}

void
impl_dpa_thread_activate(struct doca_dpa_thread *thread)
{
	want(thread, ACTIVE);
}

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void
sleep_once(struct doca_dpa_thread *t)
{
	uint32_t wants = atomic_fetch_or_explicit(&t->wants, SLEEP, memory_order_acq_rel) | SLEEP;

	if (!has_work(wants))
		syscall(SYS_futex, &t->wants, FUTEX_WAIT_PRIVATE, wants, NULL, NULL, 0);
	atomic_fetch_and_explicit(&t->wants, ~SLEEP, memory_order_acq_rel);
}

/* Spin, then sleep, until there is a request. Returns the requests. */
static uint32_t
wait_work(struct doca_dpa_thread *t)
{
	uint32_t wants, i = 0;

	for (;;) {
		wants = atomic_load_explicit(&t->wants, memory_order_relaxed);
		if (has_work(wants))
			return wants;
		if (i++ >= t->spin) {
			sleep_once(t);
			continue;
		}
		rte_pause();
		impl_yield_idle();
	}
}

/* As wait_work(), and adapt the spinning: it only pays off for short waits. */
static uint32_t
wait_and_learn(struct doca_dpa_thread *t)
{
	uint32_t wants = atomic_load_explicit(&t->wants, memory_order_relaxed);
	uint64_t begin;

	if (has_work(wants))
		return wants;
	begin = now_ns();
	wants = wait_work(t);
	t->spin = now_ns() - begin < SHORT_NS ? RTE_MIN(2 * t->spin, (uint32_t)MAX_SPIN) :
		RTE_MAX(t->spin / 2, (uint32_t)MIN_SPIN);
	return wants;
}

static void
run_kernels(struct doca_dpa_thread *t)
{
	enum impl_dpa_end end;
	uint64_t ret;

	do {
		if ((wait_and_learn(t) & STOP) != 0 || impl_dpa_is_over(&t->self))
			return;
		atomic_fetch_and_explicit(&t->wants, ~ACTIVE, memory_order_acq_rel);
		impl_yield_busy();
		end = impl_dpa_self_call(&t->self, &t->arg, &ret);
	} while (end == IMPL_DPA_RETURNED || end == IMPL_DPA_RESCHEDULED);
}

static void *
thread_main(void *arg)
{
	struct doca_dpa_thread *t = arg;

	impl_dpa_spawn_begin();
	impl_dpa_self_become(&t->self);
	run_kernels(t);
	impl_dpa_self_become(NULL);
	impl_dpa_spawn_end();
	pthread_mutex_lock(&t->dpa->root->lock);
	t->is_gone = true;
	pthread_cond_signal(&t->cond);
	pthread_mutex_unlock(&t->dpa->root->lock);
	return NULL;
}

doca_error_t
doca_dpa_thread_create(struct doca_dpa *dpa, struct doca_dpa_thread **dpa_thread)
{
	struct doca_dpa_thread *t;

	if (dpa == NULL || dpa_thread == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	t = calloc(1, sizeof(*t));
	if (t == NULL)
		return DOCA_ERROR_NO_MEMORY;
	if (impl_dpa_cond_init(&t->cond) != 0) {
		free(t);
		return DOCA_ERROR_NO_MEMORY;
	}
	t->dpa = dpa;
	t->self.dpa = dpa;
	t->self.role = IMPL_DPA_THREAD;
	t->self.thread = t;
	impl_dpa_thread_set_rank(t, 0, 1);
	impl_dpa_hold(dpa);
	*dpa_thread = t;
	return DOCA_SUCCESS;
}

/* A kernel of a thread has one argument of up to 64 bits: the first packed bytes. */
static const struct comch_doca_dpa_func *
find_kernel(const struct doca_dpa_thread *t, doca_dpa_func_t *func)
{
	const struct comch_doca_dpa_func *found = impl_dpa_func(t->dpa, func);

	if (found == NULL)
		IMPL_ERR("DPA thread: %p is not a kernel of the application",
			(void *)(uintptr_t)func);
	else if (found->is_rpc != 0 || found->args_size > sizeof(t->arg))
		IMPL_ERR("%s: a DPA thread needs a __dpa_global__ function with one uint64_t "
			"parameter", found->name);
	else
		return found;
	return NULL;
}

static doca_error_t
start_locked(struct doca_dpa_thread *t)
{
	struct impl_dpa_spawn how = { .dpa = t->dpa, .eu = -1, .run = thread_main, .arg = t };
	doca_error_t ret;

	if (impl_dpa_thread_is_started(t) || !impl_dpa_is_started(t->dpa) || t->func == NULL)
		return DOCA_ERROR_BAD_STATE;
	t->self.func = find_kernel(t, t->func);
	if (t->self.func == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (t->affinity != NULL)
		how.eu = impl_dpa_affinity_eu(t->affinity);
	how.name = t->self.func->name;
	atomic_store(&t->wants, 0);
	t->spin = MIN_SPIN;
	t->is_gone = false;
	impl_dpa_self_add(&t->self);
	ret = impl_dpa_spawn(&how, &t->thread);
	if (ret == DOCA_SUCCESS)
		atomic_store_explicit(&t->is_started, true, memory_order_release);
	else
		impl_dpa_self_remove(&t->self);
	return ret;
}

doca_error_t
doca_dpa_thread_start(struct doca_dpa_thread *dpa_thread)
{
	doca_error_t ret;

	if (dpa_thread == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&dpa_thread->dpa->root->lock);
	ret = start_locked(dpa_thread);
	pthread_mutex_unlock(&dpa_thread->dpa->root->lock);
	return ret;
}

static bool
has_run(const void *arg, uint64_t ns)
{
	const struct doca_dpa_thread *t = arg;

	return impl_dpa_spawn_ran_ns(t->thread) > t->told_ns + ns;
}

static doca_error_t
stop_locked(struct doca_dpa_thread *t)
{
	uint32_t ms = impl_dpa_stop_ms(t->dpa);

	if (!impl_dpa_thread_is_started(t) || t->is_stopping)
		return DOCA_ERROR_BAD_STATE;
	if (impl_dpa_self_now() == &t->self) {
		IMPL_ERR("DPA thread: cannot stop itself (use doca_dpa_dev_thread_finish())");
		return DOCA_ERROR_BAD_STATE;
	}
	t->told_ns = impl_dpa_spawn_ran_ns(t->thread);
	atomic_store(&t->self.over, true);
	want(t, STOP);
	t->is_stopping = true;
	impl_dpa_cond_wait_end(&t->cond, &t->dpa->root->lock, &t->is_gone, ms, has_run, t);
	t->is_stopping = false;
	if (!t->is_gone) {
		IMPL_ERR("DPA thread dpa-%s (kernel %s) does not stop: no call of a DPA function "
			"for %u ms", t->self.func->name, t->self.func->name,
			ms);
		return DOCA_ERROR_DRIVER;
	}
	/* The thread has released this lock for the last time. */
	pthread_join(t->thread, NULL);
	impl_dpa_self_remove(&t->self);
	atomic_store_explicit(&t->is_started, false, memory_order_release);
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_thread_stop(struct doca_dpa_thread *dpa_thread)
{
	doca_error_t ret;

	if (dpa_thread == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&dpa_thread->dpa->root->lock);
	ret = stop_locked(dpa_thread);
	pthread_mutex_unlock(&dpa_thread->dpa->root->lock);
	return ret;
}

doca_error_t
doca_dpa_thread_destroy(struct doca_dpa_thread *dpa_thread)
{
	struct doca_dpa_thread *t = dpa_thread;
	doca_error_t ret = DOCA_SUCCESS;

	if (t == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&t->dpa->root->lock);
	if (t->nb_held > 0) {
		IMPL_ERR("DPA thread is in use by %u completions or groups",
			t->nb_held);
		ret = DOCA_ERROR_BAD_STATE;
	} else if (impl_dpa_thread_is_started(t)) {
		ret = stop_locked(t);
	}
	pthread_mutex_unlock(&t->dpa->root->lock);
	if (ret != DOCA_SUCCESS)
		return ret;
	impl_dpa_drop(t->dpa);
	pthread_cond_destroy(&t->cond);
	free(t);
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_thread_run(struct doca_dpa_thread *dpa_thread)
{
	struct doca_dpa_thread *t = dpa_thread;
	unsigned int nb_held;

	if (t == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (!impl_dpa_thread_is_started(t) || !impl_dpa_is_started(t->dpa))
		return DOCA_ERROR_BAD_STATE;
	if (!impl_dpa_is_usable(t->dpa))
		return DOCA_ERROR_DRIVER;
	pthread_mutex_lock(&t->dpa->root->lock);
	nb_held = t->nb_held;
	pthread_mutex_unlock(&t->dpa->root->lock);
	if (nb_held == 0)
		IMPL_WARN("DPA thread dpa-%s has no completion or notification completion: "
			"nothing activates it", t->self.func->name);
	want(t, RUN);
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_thread_set_func_arg(struct doca_dpa_thread *dpa_thread, doca_dpa_func_t *func,
		uint64_t arg)
{
	if (dpa_thread == NULL || func == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_dpa_thread_is_started(dpa_thread))
		return DOCA_ERROR_BAD_STATE;
	/* Before the context is started, the thread's start checks this. */
	if (impl_dpa_is_started(dpa_thread->dpa) && find_kernel(dpa_thread, func) == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	dpa_thread->func = func;
	dpa_thread->arg = arg;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_thread_get_func_arg(struct doca_dpa_thread *dpa_thread, doca_dpa_func_t **func,
		uint64_t *arg)
{
	if (dpa_thread == NULL || func == NULL || arg == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*func = dpa_thread->func;
	*arg = dpa_thread->arg;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_thread_set_local_storage(struct doca_dpa_thread *dpa_thread,
		doca_dpa_dev_uintptr_t dev_ptr)
{
	if (dpa_thread == NULL || dev_ptr == 0)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_dpa_thread_is_started(dpa_thread))
		return DOCA_ERROR_BAD_STATE;
	dpa_thread->storage = dev_ptr;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_thread_get_local_storage(struct doca_dpa_thread *dpa_thread,
		doca_dpa_dev_uintptr_t *dev_ptr)
{
	if (dpa_thread == NULL || dev_ptr == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*dev_ptr = dpa_thread->storage;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_thread_set_affinity(struct doca_dpa_thread *dpa_thread,
		const struct doca_dpa_eu_affinity *affinity)
{
	if (dpa_thread == NULL || affinity == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_dpa_thread_is_started(dpa_thread))
		return DOCA_ERROR_BAD_STATE;
	dpa_thread->affinity = affinity;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_thread_get_affinity(struct doca_dpa_thread *dpa_thread,
		const struct doca_dpa_eu_affinity **affinity)
{
	if (dpa_thread == NULL || affinity == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*affinity = dpa_thread->affinity;
	return DOCA_SUCCESS;
}

bool
impl_dpa_thread_is_started(const struct doca_dpa_thread *thread)
{
	return atomic_load_explicit(&thread->is_started, memory_order_acquire);
}

struct doca_dpa *
impl_dpa_thread_dpa(const struct doca_dpa_thread *thread)
{
	return thread->dpa;
}

void
impl_dpa_thread_hold(struct doca_dpa_thread *thread)
{
	pthread_mutex_lock(&thread->dpa->root->lock);
	thread->nb_held++;
	pthread_mutex_unlock(&thread->dpa->root->lock);
}

void
impl_dpa_thread_drop(struct doca_dpa_thread *thread)
{
	pthread_mutex_lock(&thread->dpa->root->lock);
	thread->nb_held--;
	pthread_mutex_unlock(&thread->dpa->root->lock);
}

void
impl_dpa_thread_set_rank(struct doca_dpa_thread *thread, unsigned int rank,
		unsigned int nb_threads)
{
	atomic_store_explicit(&thread->self.rank, rank, memory_order_relaxed);
	atomic_store_explicit(&thread->self.nb_threads, nb_threads, memory_order_relaxed);
}

doca_dpa_dev_uintptr_t
impl_dpa_thread_storage(const struct doca_dpa_thread *thread)
{
	return thread->storage;
}
