/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Contexts. An extended one is for another device of the same accelerator: its memory,
 * application, log and faults are the base's.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "dev/dev.h"
#include "dpa/core.h"
#include "log/log.h"

/** Maximum threads of a launch, as on hardware. */
#define MAX_THREADS 128

bool
impl_dpa_is_started(const struct doca_dpa *dpa)
{
	return atomic_load_explicit(&dpa->is_started, memory_order_acquire);
}

bool
impl_dpa_is_usable(const struct doca_dpa *dpa)
{
	return impl_dpa_is_started(dpa) && !atomic_load(&dpa->root->fault);
}

uint32_t
impl_dpa_stop_ms(const struct doca_dpa *dpa)
{
	uint32_t ms = dpa->root->max_run_ms;

	return ms == 0 ? IMPL_DPA_STOP_MS : ms;
}

bool
impl_dpa_is_same(const struct doca_dpa *dpa, const struct doca_dpa *other)
{
	return dpa->root == other->root;
}

doca_error_t
impl_dpa_join(struct doca_dpa *dpa)
{
	bool ok;

	pthread_mutex_lock(&dpa->root->lock);
	ok = impl_dpa_is_started(dpa) && !dpa->is_stopping;
	if (ok)
		dpa->nb_users++;
	pthread_mutex_unlock(&dpa->root->lock);
	return ok ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE;
}

void
impl_dpa_hold(struct doca_dpa *dpa)
{
	pthread_mutex_lock(&dpa->root->lock);
	dpa->nb_users++;
	pthread_mutex_unlock(&dpa->root->lock);
}

void
impl_dpa_drop(struct doca_dpa *dpa)
{
	pthread_mutex_lock(&dpa->root->lock);
	dpa->nb_users--;
	pthread_mutex_unlock(&dpa->root->lock);
}

void
impl_dpa_locate(struct doca_dpa *dpa, int nb)
{
	pthread_mutex_lock(&dpa->root->lock);
	dpa->nb_located += nb;
	pthread_mutex_unlock(&dpa->root->lock);
}

struct doca_dev *
impl_dpa_dev(const struct doca_dpa *dpa)
{
	return dpa->dev;
}

const struct comch_doca_dpa_func *
impl_dpa_func(const struct doca_dpa *dpa, doca_dpa_func_t *func)
{
	const struct doca_dpa_app *app = dpa->root->app;
	const struct comch_doca_dpa_unit *unit;
	uint32_t u, f;

	for (u = 0; app != NULL && u < app->nb_units; u++) {
		unit = app->units[u];
		for (f = 0; f < unit->nb_funcs; f++)
			if (unit->funcs[f].func == func)
				return &unit->funcs[f];
	}
	return NULL;
}

doca_error_t
doca_dpa_cap_is_supported(const struct doca_devinfo *devinfo)
{
	/* The accelerator is emulated for all devices. */
	return impl_devinfo_supports(devinfo);
}

/* root: NULL for a base, which then has a lock. Returns NULL if out of memory. */
static struct doca_dpa *
create(struct doca_dev *dev, struct doca_dpa *root)
{
	struct doca_dpa *dpa = calloc(1, sizeof(*dpa));

	if (dpa == NULL)
		return NULL;
	if (root == NULL && pthread_mutex_init(&dpa->lock, NULL) != 0) {
		free(dpa);
		return NULL;
	}
	dpa->root = root == NULL ? dpa : root;
	dpa->dev = dev;
	dpa->max_run_ms = impl_dev_dpa_max_run_ms(dev);
	atomic_init(&dpa->level, DOCA_DPA_DEV_LOG_LEVEL_INFO);
	LIST_INIT(&dpa->launches);
	impl_dev_hold(dev);
	return dpa;
}

doca_error_t
doca_dpa_create(struct doca_dev *dev, struct doca_dpa **dpa)
{
	if (!impl_dev_is_one(dev) || dpa == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*dpa = create(dev, NULL);
	return *dpa == NULL ? DOCA_ERROR_NO_MEMORY : DOCA_SUCCESS;
}

/* The version is the first field in all versions. */
static doca_error_t
check_app(const struct doca_dpa_app *app)
{
	if (app == NULL) {
		IMPL_ERR("DPA context: no application is set (call doca_dpa_set_app())");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (app->version != COMCH_DOCA_DPA_APP_VERSION) {
		IMPL_ERR("DPA application has version %u, expected %u: rebuild it with "
			"comch-dpacc", app->version, COMCH_DOCA_DPA_APP_VERSION);
		return DOCA_ERROR_DRIVER;
	}
	return DOCA_SUCCESS;
}

static doca_error_t
open_sinks(struct doca_dpa *dpa)
{
	doca_error_t ret = impl_dpa_sink_open(&dpa->log);

	if (ret != DOCA_SUCCESS)
		return ret;
	ret = impl_dpa_sink_open(&dpa->trace);
	if (ret != DOCA_SUCCESS)
		impl_dpa_sink_close(&dpa->log);
	return ret;
}

static void
close_sinks(struct doca_dpa *dpa)
{
	impl_dpa_sink_close(&dpa->trace);
	impl_dpa_sink_close(&dpa->log);
}

static doca_error_t
start_locked(struct doca_dpa *dpa)
{
	doca_error_t ret;

	if (impl_dpa_is_started(dpa))
		return DOCA_ERROR_BAD_STATE;
	ret = check_app(dpa->app);
	if (ret != DOCA_SUCCESS)
		return ret;
	ret = open_sinks(dpa);
	if (ret != DOCA_SUCCESS)
		return ret;
	ret = impl_dpa_watch_begin(dpa->max_run_ms);
	if (ret != DOCA_SUCCESS)
		goto close_sinks;
	ret = DOCA_ERROR_NO_MEMORY;
	dpa->handle = impl_dpa_handle_create(IMPL_DPA_CONTEXT, dpa);
	if (dpa->handle == 0)
		goto end_watch;
	atomic_store_explicit(&dpa->is_started, true, memory_order_release);
	return DOCA_SUCCESS;

end_watch:
	impl_dpa_watch_end(dpa->max_run_ms);
close_sinks:
	close_sinks(dpa);
	return ret;
}

doca_error_t
doca_dpa_start(struct doca_dpa *dpa)
{
	doca_error_t ret;

	if (dpa == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	/* An extended context cannot be started again. */
	if (dpa->root != dpa)
		return DOCA_ERROR_BAD_STATE;
	pthread_mutex_lock(&dpa->lock);
	ret = start_locked(dpa);
	pthread_mutex_unlock(&dpa->lock);
	return ret;
}

static doca_error_t
stop_locked(struct doca_dpa *dpa)
{
	doca_error_t ret;

	if (!impl_dpa_is_started(dpa) || dpa->is_stopping)
		return DOCA_ERROR_BAD_STATE;
	if (dpa->nb_users > 0) {
		IMPL_ERR("DPA context: cannot stop with %u objects",
			dpa->nb_users);
		return DOCA_ERROR_IN_USE;
	}
	/* impl_dpa_join() fails meanwhile. */
	dpa->is_stopping = true;
	ret = impl_dpa_launch_end_all(dpa);
	dpa->is_stopping = false;
	if (ret != DOCA_SUCCESS)
		return ret;
	atomic_store_explicit(&dpa->is_started, false, memory_order_release);
	impl_dpa_handle_destroy(dpa->handle);
	dpa->handle = 0;
	if (dpa->root == dpa) {
		impl_dpa_watch_end(dpa->max_run_ms);
		close_sinks(dpa);
	}
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_stop(struct doca_dpa *dpa)
{
	doca_error_t ret;

	if (dpa == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&dpa->root->lock);
	ret = stop_locked(dpa);
	pthread_mutex_unlock(&dpa->root->lock);
	return ret;
}

static void
free_root(struct doca_dpa *dpa)
{
	impl_dpa_mem_fini(&dpa->mem);
	impl_dpa_sink_fini(&dpa->log);
	impl_dpa_sink_fini(&dpa->trace);
	pthread_mutex_destroy(&dpa->lock);
}

static doca_error_t
may_destroy_locked(struct doca_dpa *dpa)
{
	if (dpa->nb_located > 0) {
		IMPL_ERR("DPA context: cannot destroy: sync events have %d locations on it",
			dpa->nb_located);
		return DOCA_ERROR_IN_USE;
	}
	if (impl_dpa_is_started(dpa))
		return stop_locked(dpa);
	return dpa->nb_users > 0 ? DOCA_ERROR_IN_USE : DOCA_SUCCESS;
}

doca_error_t
doca_dpa_destroy(struct doca_dpa *dpa)
{
	doca_error_t ret;

	if (dpa == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&dpa->root->lock);
	ret = may_destroy_locked(dpa);
	pthread_mutex_unlock(&dpa->root->lock);
	if (ret != DOCA_SUCCESS)
		return ret;
	if (dpa->root == dpa)
		free_root(dpa);
	else
		impl_dpa_drop(dpa->root);
	impl_dev_drop(dpa->dev);
	free(dpa);
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_set_app(struct doca_dpa *dpa, struct doca_dpa_app *app)
{
	if (dpa == NULL || app == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (impl_dpa_is_started(dpa) || dpa->root != dpa)
		return DOCA_ERROR_BAD_STATE;
	dpa->app = app;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_get_app(struct doca_dpa *dpa, struct doca_dpa_app **app)
{
	if (dpa == NULL || app == NULL || dpa->root->app == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*app = dpa->root->app;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_app_get_name(struct doca_dpa_app *app, char *app_name, uint32_t *app_name_len)
{
	if (app == NULL || app->name == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return impl_dpa_copy_text(app->name, app_name, app_name_len);
}

doca_error_t
doca_dpa_set_log_level(struct doca_dpa *dpa, doca_dpa_dev_log_level_t log_level)
{
	static const doca_dpa_dev_log_level_t levels[] = {
		DOCA_DPA_DEV_LOG_LEVEL_DISABLE, DOCA_DPA_DEV_LOG_LEVEL_ERROR,
		DOCA_DPA_DEV_LOG_LEVEL_WARNING, DOCA_DPA_DEV_LOG_LEVEL_INFO,
		DOCA_DPA_DEV_LOG_LEVEL_DEBUG,
	};
	unsigned int i = 0;

	while (i < RTE_DIM(levels) && levels[i] != log_level)
		i++;
	if (dpa == NULL || i == RTE_DIM(levels))
		return DOCA_ERROR_INVALID_VALUE;
	if (dpa->root != dpa)
		return DOCA_ERROR_NOT_PERMITTED;
	if (impl_dpa_is_started(dpa))
		return DOCA_ERROR_BAD_STATE;
	atomic_store_explicit(&dpa->level, (uint32_t)log_level, memory_order_relaxed);
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_get_log_level(struct doca_dpa *dpa, doca_dpa_dev_log_level_t *log_level)
{
	if (dpa == NULL || log_level == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*log_level = (doca_dpa_dev_log_level_t)atomic_load_explicit(&dpa->root->level,
		memory_order_relaxed);
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_device_extend(struct doca_dpa *dpa, struct doca_dev *other_dev,
		struct doca_dpa **extended_dpa)
{
	struct doca_dpa *ext;

	if (dpa == NULL || !impl_dev_is_one(other_dev) || extended_dpa == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (dpa->root != dpa || impl_dpa_join(dpa) != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	ext = create(other_dev, dpa);
	if (ext == NULL)
		goto drop;
	ext->handle = impl_dpa_handle_create(IMPL_DPA_CONTEXT, ext);
	if (ext->handle == 0)
		goto free_ext;
	atomic_store_explicit(&ext->is_started, true, memory_order_release);
	*extended_dpa = ext;
	return DOCA_SUCCESS;

free_ext:
	impl_dev_drop(other_dev);
	free(ext);
drop:
	impl_dpa_drop(dpa);
	return DOCA_ERROR_NO_MEMORY;
}

doca_error_t
doca_dpa_get_dpa_handle(struct doca_dpa *dpa, doca_dpa_dev_t *handle)
{
	if (dpa == NULL || handle == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (!impl_dpa_is_started(dpa))
		return DOCA_ERROR_BAD_STATE;
	*handle = dpa->handle;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_get_max_threads_per_kernel(const struct doca_dpa *dpa, unsigned int *value)
{
	if (dpa == NULL || value == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*value = MAX_THREADS;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_get_kernel_max_run_time(const struct doca_dpa *dpa, unsigned long long *value)
{
	if (dpa == NULL || value == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*value = ((unsigned long long)dpa->root->max_run_ms + 999) / 1000;
	return DOCA_SUCCESS;
}

doca_error_t
doca_dpa_peek_at_last_error(const struct doca_dpa *dpa)
{
	if (dpa == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return atomic_load(&dpa->root->fault) ? DOCA_ERROR_BAD_STATE : DOCA_SUCCESS;
}
