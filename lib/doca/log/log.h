/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_LOG_LOG_H
#define IMPL_LOG_LOG_H

/*
 * The library's own messages, for backends from doca_log_backend_create_with_*_sdk().
 * Never used in the data path.
 */

#include <stdarg.h>
#include <stdbool.h>

#include <doca_log.h>

/* Log a line, without a newline. */
void impl_log(uint32_t level, const char *file, int line, const char *func,
		const char *format, ...) __attribute__((format(printf, 5, 6)));
void impl_vlog(uint32_t level, const char *file, int line, const char *func,
		const char *format, va_list args) __attribute__((format(printf, 5, 0)));

/* Whether a backend shows this level. */
bool impl_log_wanted(uint32_t level);

#define IMPL_LOG(level, ...) \
	impl_log(DOCA_LOG_LEVEL_##level, __FILE__, __LINE__, __func__, __VA_ARGS__)

#define IMPL_ERR(...) IMPL_LOG(ERROR, __VA_ARGS__)
#define IMPL_WARN(...) IMPL_LOG(WARNING, __VA_ARGS__)
#define IMPL_INFO(...) IMPL_LOG(INFO, __VA_ARGS__)

#endif /* IMPL_LOG_LOG_H */
