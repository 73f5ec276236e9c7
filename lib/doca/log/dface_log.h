/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DFACE_LOG_H
#define DFACE_LOG_H

/*
 * The library's own messages. They go to the backends that were created with
 * a doca_log_backend_create_with_*_sdk() function. Never from a task's way.
 */

#include <stdarg.h>
#include <stdbool.h>

#include <doca_log.h>

/* A line without its end; printf's format. */
void dface_log(uint32_t level, const char *file, int line, const char *func,
		const char *format, ...) __attribute__((format(printf, 5, 6)));
void dface_vlog(uint32_t level, const char *file, int line, const char *func,
		const char *format, va_list args) __attribute__((format(printf, 5, 0)));

/* Would anybody see it? */
bool dface_log_wanted(uint32_t level);

#define DFACE_LOG(level, ...) \
	dface_log(DOCA_LOG_LEVEL_##level, __FILE__, __LINE__, __func__, __VA_ARGS__)

#define DFACE_ERR(...) DFACE_LOG(ERROR, __VA_ARGS__)
#define DFACE_WARN(...) DFACE_LOG(WARNING, __VA_ARGS__)
#define DFACE_INFO(...) DFACE_LOG(INFO, __VA_ARGS__)

#endif /* DFACE_LOG_H */
