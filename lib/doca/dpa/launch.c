/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Launches: a kernel that runs once in each of a number of new threads. Only the stop of
 * the context waits for them; the next launch frees those that have ended.
 *
 * The first thread waits for the launch's event, and the others for it, so that all of them run
 * or none. When all kernels have returned, the last thread updates the other event.
 */

#include <stdlib.h>

#include "dpa/core.h"
#include "log/log.h"

struct impl_dpa_launch {
	LIST_ENTRY(impl_dpa_launch) next;
	struct doca_dpa *dpa;
	void *args;
	pthread_cond_t cond;       /* is_decided or is_over was set */
	/* Protected by the context's lock. */
	struct impl_dpa_sync sync;
	unsigned int nb_running;
	bool is_decided;           /* its event has come, or it must end before */
	bool may_run;              /* then: its event has come */
	bool has_failed;           /* a kernel has not run to its end */
	bool is_over;              /* no thread is running */
	unsigned int nb_threads;
	struct launch_thread {
		struct impl_dpa_launch *launch;
		pthread_t thread;
		uint64_t told_ns;  /* CPU time when it was told to end */
		struct impl_dpa_self self;
	} threads[];
};

/* No thread is running. Called with the context's lock. */
static void
set_over(struct impl_dpa_launch *launch)
{
	impl_dpa_sync_drop_wait(&launch->sync);
	impl_dpa_sync_drop_comp(&launch->sync, !launch->has_failed);
	launch->is_over = true;
	pthread_cond_broadcast(&launch->cond);
}

/* The first thread decides, when all exist. Called with the context's lock. */
static void
wait_for_event(struct launch_thread *t)
{
	struct impl_dpa_launch *launch = t->launch;
	pthread_mutex_t *lock = &launch->dpa->root->lock;

	if (launch->sync.wait != NULL) {
		pthread_mutex_unlock(lock);
		impl_dpa_sync_wait(&t->self, &launch->sync);
		pthread_mutex_lock(lock);
		impl_dpa_sync_drop_wait(&launch->sync);
	}
	launch->may_run = !impl_dpa_is_over(&t->self);
	launch->is_decided = true;
	pthread_cond_broadcast(&launch->cond);
}

/* Wait until all threads exist and the event has come. False: the kernel must end. */
static bool
wait_to_run(struct launch_thread *t)
{
	struct impl_dpa_launch *launch = t->launch;
	pthread_mutex_t *lock = &launch->dpa->root->lock;
	bool may_run;

	pthread_mutex_lock(lock);
	if (t == launch->threads)
		wait_for_event(t);
	/* If one of them is told to end, the first one is as well, and tells the others. */
	while (!launch->is_decided)
		pthread_cond_wait(&launch->cond, lock);
	may_run = launch->may_run;
	pthread_mutex_unlock(lock);
	return may_run;
}

static void *
thread_main(void *arg)
{
	struct launch_thread *t = arg;
	struct impl_dpa_launch *launch = t->launch;
	bool is_done;
	uint64_t ret;

	impl_dpa_spawn_begin();
	impl_dpa_self_become(&t->self);
	is_done = wait_to_run(t) &&
		impl_dpa_self_call(&t->self, launch->args, &ret) == IMPL_DPA_RETURNED;
	impl_dpa_self_become(NULL);
	impl_dpa_spawn_end();
	pthread_mutex_lock(&launch->dpa->root->lock);
	launch->has_failed |= !is_done;
	if (--launch->nb_running == 0)
		set_over(launch);
	pthread_mutex_unlock(&launch->dpa->root->lock);
	return NULL;
}

static void
destroy(struct impl_dpa_launch *launch)
{
	pthread_cond_destroy(&launch->cond);
	free(launch->args);
	free(launch);
}

/* Free a launch whose threads have ended. */
static void
launch_free(struct impl_dpa_launch *launch)
{
	unsigned int i;

	for (i = 0; i < launch->nb_threads; i++) {
		pthread_join(launch->threads[i].thread, NULL);
		impl_dpa_self_remove(&launch->threads[i].self);
	}
	LIST_REMOVE(launch, next);
	destroy(launch);
}

static void
tidy_all(struct doca_dpa *dpa)
{
	struct impl_dpa_launch *launch, *next;

	LIST_FOREACH_SAFE(launch, &dpa->launches, next, next)
		if (launch->is_over)
			launch_free(launch);
}

static void
end_one(struct impl_dpa_launch *launch)
{
	unsigned int i;

	for (i = 0; i < launch->nb_threads; i++) {
		launch->threads[i].told_ns = impl_dpa_spawn_ran_ns(launch->threads[i].thread);
		atomic_store(&launch->threads[i].self.over, true);
	}
}

/* End the launches that wait for an event, since it may never be updated any more. */
static void
end_waiting(struct doca_dpa *dpa)
{
	struct impl_dpa_launch *launch;

	LIST_FOREACH(launch, &dpa->launches, next) {
		if (impl_dpa_sync_has_come(&launch->sync))
			continue;
		IMPL_WARN("launch of kernel %s: ended before its event has come: the context stops",
			launch->threads[0].self.func->name);
		end_one(launch);
	}
}

/* Has one of its threads run so long since then? */
static bool
has_run(const void *arg, uint64_t ns)
{
	const struct impl_dpa_launch *launch = arg;
	unsigned int i;

	for (i = 0; i < launch->nb_threads; i++)
		if (impl_dpa_spawn_ran_ns(launch->threads[i].thread) >
				launch->threads[i].told_ns + ns)
			return true;
	return false;
}

doca_error_t
impl_dpa_launch_end_all(struct doca_dpa *dpa)
{
	uint32_t ms = impl_dpa_stop_ms(dpa);
	struct impl_dpa_launch *launch;
	pthread_mutex_t *lock = &dpa->root->lock;

	end_waiting(dpa);
	while ((launch = LIST_FIRST(&dpa->launches)) != NULL) {
		/* Wait for the time it may take, then force it to end in its next device call. */
		if (!impl_dpa_cond_wait(&launch->cond, lock, &launch->is_over, ms)) {
			end_one(launch);
			impl_dpa_cond_wait_end(&launch->cond, lock, &launch->is_over, ms, has_run,
				launch);
		}
		if (!launch->is_over) {
			IMPL_ERR("launch of kernel %s does not end: no call of a DPA function for "
				"%u ms", launch->threads[0].self.func->name, ms);
			return DOCA_ERROR_DRIVER;
		}
		launch_free(launch);
	}
	return DOCA_SUCCESS;
}

/* NULL: out of memory. */
static struct impl_dpa_launch *
create(struct doca_dpa *dpa, const struct comch_doca_dpa_func *func, unsigned int nb)
{
	struct impl_dpa_launch *launch;

	launch = calloc(1, sizeof(*launch) + nb * sizeof(launch->threads[0]));
	if (launch == NULL)
		return NULL;
	launch->args = calloc(1, func->args_size + 1);
	if (launch->args == NULL || impl_dpa_cond_init(&launch->cond) != 0) {
		free(launch->args);
		free(launch);
		return NULL;
	}
	launch->dpa = dpa;
	return launch;
}

static doca_error_t
start_thread(struct impl_dpa_launch *launch, const struct comch_doca_dpa_func *func,
		unsigned int nb)
{
	struct launch_thread *t = &launch->threads[launch->nb_threads];
	const struct impl_dpa_spawn how = { .dpa = launch->dpa, .eu = -1, .name = func->name,
		.run = thread_main, .arg = t };
	doca_error_t ret;

	t->launch = launch;
	t->self.dpa = launch->dpa;
	t->self.role = IMPL_DPA_LAUNCH;
	t->self.func = func;
	atomic_init(&t->self.rank, launch->nb_threads);
	atomic_init(&t->self.nb_threads, nb);
	impl_dpa_self_add(&t->self);
	ret = impl_dpa_spawn(&how, &t->thread);
	if (ret != DOCA_SUCCESS) {
		impl_dpa_self_remove(&t->self);
		return ret;
	}
	launch->nb_threads++;
	launch->nb_running++;
	return DOCA_SUCCESS;
}

/* Kernels start when the lock is released; none starts if a thread is missing. */
static doca_error_t
start_locked(struct impl_dpa_launch *launch, const struct comch_doca_dpa_func *func,
		unsigned int nb)
{
	doca_error_t ret = DOCA_SUCCESS;
	unsigned int i;

	tidy_all(launch->dpa);
	LIST_INSERT_HEAD(&launch->dpa->launches, launch, next);
	for (i = 0; i < nb && ret == DOCA_SUCCESS; i++)
		ret = start_thread(launch, func, nb);
	if (ret == DOCA_SUCCESS)
		return ret;
	launch->has_failed = true;
	end_one(launch);
	if (launch->nb_running == 0)
		set_over(launch);
	return ret;
}

static doca_error_t
check(struct doca_dpa *dpa, const struct comch_doca_dpa_func *func, unsigned int nb)
{
	unsigned int max;

	if (func == NULL || func->is_rpc != 0) {
		IMPL_ERR("%s is not a __dpa_global__ function of the application",
			func == NULL ? "a function" : func->name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_dpa_get_max_threads_per_kernel(dpa, &max);
	if (nb > 0 && nb <= max)
		return DOCA_SUCCESS;
	IMPL_ERR("launch of kernel %s: %u threads, expected 1 to %u", func->name, nb, max);
	return DOCA_ERROR_INVALID_VALUE;
}

/* What a program asks for. */
struct request {
	struct doca_sync_event *wait, *comp;
	struct impl_dpa_sync sync; /* what to do with them */
	unsigned int nb_threads;
	doca_dpa_func_t *func;
};

static doca_error_t
start(struct doca_dpa *dpa, const struct request *req, const struct comch_doca_dpa_func *func,
		va_list *list)
{
	struct impl_dpa_launch *launch = create(dpa, func, req->nb_threads);
	doca_error_t ret;

	if (launch == NULL)
		return DOCA_ERROR_DRIVER;
	launch->sync = req->sync;
	ret = impl_dpa_sync_hold(&launch->sync, dpa, req->wait, req->comp);
	if (ret != DOCA_SUCCESS) {
		destroy(launch);
		return ret;
	}
	func->pack(launch->args, list);
	pthread_mutex_lock(&dpa->root->lock);
	ret = start_locked(launch, func, req->nb_threads);
	pthread_mutex_unlock(&dpa->root->lock);
	return ret;
}

static doca_error_t
launch(struct doca_dpa *dpa, const struct request *req, va_list *list)
{
	const struct comch_doca_dpa_func *found;
	doca_error_t ret = DOCA_ERROR_BAD_STATE;

	if (dpa == NULL || req->func == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_dpa_join(dpa) != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	if (impl_dpa_is_usable(dpa)) {
		found = impl_dpa_func(dpa, req->func);
		ret = check(dpa, found, req->nb_threads);
		if (ret == DOCA_SUCCESS)
			ret = start(dpa, req, found, list);
	}
	impl_dpa_drop(dpa);
	return ret;
}

doca_error_t
doca_dpa_kernel_launch_update_set(struct doca_dpa *dpa, struct doca_sync_event *wait_event,
		uint64_t wait_threshold, struct doca_sync_event *comp_event, uint64_t comp_count,
		unsigned int num_threads, doca_dpa_func_t *func, ...)
{
	const struct request req = { .wait = wait_event, .sync.threshold = wait_threshold,
		.comp = comp_event, .sync.count = comp_count,
		.nb_threads = num_threads, .func = func };
	doca_error_t ret;
	va_list list;

	va_start(list, func);
	ret = launch(dpa, &req, &list);
	va_end(list);
	return ret;
}

doca_error_t
doca_dpa_kernel_launch_update_add(struct doca_dpa *dpa, struct doca_sync_event *wait_event,
		uint64_t wait_threshold, struct doca_sync_event *comp_event, uint64_t comp_count,
		unsigned int num_threads, doca_dpa_func_t *func, ...)
{
	const struct request req = { .wait = wait_event, .sync.threshold = wait_threshold,
		.comp = comp_event, .sync.count = comp_count, .sync.is_add = true,
		.nb_threads = num_threads, .func = func };
	doca_error_t ret;
	va_list list;

	va_start(list, func);
	ret = launch(dpa, &req, &list);
	va_end(list);
	return ret;
}
