/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The list of backends: their limits, and which of them write a record. */

#include <pthread.h>

#include <rte_common.h>

#include "log/backend.h"

/* Recursive: a buffer's handler may change limits. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static STAILQ_HEAD(, doca_log_backend) backends = STAILQ_HEAD_INITIALIZER(backends);
/* By kind: program, SDK. */
static uint32_t global[2][IMPL_BACKEND_NB_LIMITS] = {
	{ DOCA_LOG_LEVEL_INFO, DOCA_LOG_LEVEL_CRIT },
	{ DOCA_LOG_LEVEL_INFO, DOCA_LOG_LEVEL_CRIT },
};
/* By kind, atomic: the most verbose level that any backend shows. */
static uint32_t max_level[2] = { DOCA_LOG_LEVEL_DISABLE, DOCA_LOG_LEVEL_DISABLE };
/* A record is being written: messages of its handler are dropped. */
static bool is_writing;

static bool
is_limit(uint32_t level)
{
	return level >= DOCA_LOG_LEVEL_DISABLE && level <= DOCA_LOG_LEVEL_TRACE && level % 10 == 0;
}

bool
impl_backend_is_level(uint32_t level)
{
	return is_limit(level) && level != DOCA_LOG_LEVEL_DISABLE;
}

/* Called with the lock after each change. */
static void
find_max_level(void)
{
	uint32_t levels[] = { DOCA_LOG_LEVEL_DISABLE, DOCA_LOG_LEVEL_DISABLE };
	const struct doca_log_backend *b;

	STAILQ_FOREACH(b, &backends, next)
		levels[b->sdk] = RTE_MAX(levels[b->sdk],
			RTE_MIN(b->limit[IMPL_BACKEND_LOWER], b->last));
	__atomic_store_n(&max_level[0], levels[0], __ATOMIC_RELAXED);
	__atomic_store_n(&max_level[1], levels[1], __ATOMIC_RELAXED);
}

void
impl_backend_add(struct doca_log_backend *backend)
{
	pthread_mutex_lock(&lock);
	backend->limit[IMPL_BACKEND_LOWER] = global[backend->sdk][IMPL_BACKEND_LOWER];
	backend->limit[IMPL_BACKEND_UPPER] = global[backend->sdk][IMPL_BACKEND_UPPER];
	STAILQ_INSERT_TAIL(&backends, backend, next);
	find_max_level();
	pthread_mutex_unlock(&lock);
}

bool
impl_backend_wants(bool sdk, uint32_t level)
{
	return level <= __atomic_load_n(&max_level[sdk], __ATOMIC_RELAXED);
}

static bool
shows(const struct doca_log_backend *b, bool sdk, uint32_t level)
{
	return b->sdk == sdk && level >= b->first && level <= b->last &&
		level >= b->limit[IMPL_BACKEND_UPPER] && level <= b->limit[IMPL_BACKEND_LOWER];
}

doca_error_t
impl_backend_write(bool sdk, uint32_t level, const char *record, size_t len)
{
	doca_error_t result = DOCA_SUCCESS, written;
	const struct doca_log_backend *b;

	pthread_mutex_lock(&lock);
	if (is_writing) {
		pthread_mutex_unlock(&lock);
		return DOCA_ERROR_IN_USE;
	}
	is_writing = true;
	STAILQ_FOREACH(b, &backends, next) {
		if (shows(b, sdk, level)) {
			written = b->write(b, level, record, len);
			DOCA_ERROR_PROPAGATE(result, written);
		}
	}
	is_writing = false;
	pthread_mutex_unlock(&lock);
	return result;
}

/* Called with the lock. */
static doca_error_t
set_limit(struct doca_log_backend *b, enum impl_backend_limit which, uint32_t level)
{
	const uint32_t now = b->limit[which];
	const bool more = which == IMPL_BACKEND_LOWER ? level > now : level < now;

	if (more && b->strict[which])
		return DOCA_ERROR_NOT_PERMITTED;
	b->limit[which] = level;
	find_max_level();
	return DOCA_SUCCESS;
}

static doca_error_t
set_one(struct doca_log_backend *b, bool sdk, enum impl_backend_limit which, uint32_t level)
{
	doca_error_t result;

	if (b == NULL || b->sdk != sdk || !is_limit(level))
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	result = set_limit(b, which, level);
	pthread_mutex_unlock(&lock);
	return result;
}

static doca_error_t
set_strict(struct doca_log_backend *b, enum impl_backend_limit which)
{
	if (b == NULL || b->sdk)
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	b->strict[which] = true;
	pthread_mutex_unlock(&lock);
	return DOCA_SUCCESS;
}

static doca_error_t
set_all(bool sdk, enum impl_backend_limit which, uint32_t level)
{
	struct doca_log_backend *b;

	if (!is_limit(level))
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	global[sdk][which] = level;
	STAILQ_FOREACH(b, &backends, next)
		if (b->sdk == sdk)
			set_limit(b, which, level); /* strict limits may stay */
	pthread_mutex_unlock(&lock);
	return DOCA_SUCCESS;
}

static uint32_t
get_global(bool sdk, enum impl_backend_limit which)
{
	uint32_t level;

	pthread_mutex_lock(&lock);
	level = global[sdk][which];
	pthread_mutex_unlock(&lock);
	return level;
}

doca_error_t
doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend, uint32_t level)
{
	return set_one(backend, false, IMPL_BACKEND_LOWER, level);
}

doca_error_t
doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend, uint32_t upper_limit)
{
	return set_one(backend, false, IMPL_BACKEND_UPPER, upper_limit);
}

doca_error_t
doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level)
{
	return set_one(backend, true, IMPL_BACKEND_LOWER, level);
}

doca_error_t
doca_log_backend_set_level_lower_limit_strict(struct doca_log_backend *backend)
{
	return set_strict(backend, IMPL_BACKEND_LOWER);
}

doca_error_t
doca_log_backend_set_level_upper_limit_strict(struct doca_log_backend *backend)
{
	return set_strict(backend, IMPL_BACKEND_UPPER);
}

doca_error_t
doca_log_level_set_global_lower_limit(uint32_t level)
{
	return set_all(false, IMPL_BACKEND_LOWER, level);
}

doca_error_t
doca_log_level_set_global_upper_limit(uint32_t upper_limit)
{
	return set_all(false, IMPL_BACKEND_UPPER, upper_limit);
}

doca_error_t
doca_log_level_set_global_sdk_limit(uint32_t level)
{
	return set_all(true, IMPL_BACKEND_LOWER, level);
}

uint32_t
doca_log_level_get_global_lower_limit(void)
{
	return get_global(false, IMPL_BACKEND_LOWER);
}

uint32_t
doca_log_level_get_global_upper_limit(void)
{
	return get_global(false, IMPL_BACKEND_UPPER);
}

uint32_t
doca_log_level_get_global_sdk_limit(void)
{
	return get_global(true, IMPL_BACKEND_LOWER);
}
