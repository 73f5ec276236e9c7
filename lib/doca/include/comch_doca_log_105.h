/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_LOG_105_H
#define COMCH_DOCA_LOG_105_H

/**
 * @file
 * Functions of doca_log.h until DOCA 2.2 whose names or arguments have changed since.
 * doca_log.h includes this header in these generations.
 *
 * A backend was called *logger*. It had one level, its most verbose one, and did not
 * get the library's own messages. A message has a line number but neither file nor
 * function: its record shows "?" instead. Developer messages, of DOCA_DLOG() and the
 * macros after it, are compiled in only if DOCA_LOGGING_ALLOW_DLOG is defined.
 *
 * "As" means: an older name of that function, with the same errors and thread rule. The
 * rate-limited variants are not provided.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <doca_log.h>

#if COMCH_DOCA_GENERATION < 205

#ifdef __cplusplus
extern "C" {
#endif

/** A destination of messages: a struct doca_log_backend. */
struct doca_logger_backend;

/** As doca_log_register_source(). */
DOCA_EXPERIMENTAL
doca_error_t doca_log_source_register(const char *source_name, int *source)
		COMCH_DOCA_SYMBOL(doca_log_register_source);

/** As doca_log_unregister_source(). */
DOCA_EXPERIMENTAL
doca_error_t doca_log_source_destroy(int source) COMCH_DOCA_SYMBOL(doca_log_unregister_source);

/** As doca_log_level_set_global_lower_limit(). */
DOCA_EXPERIMENTAL
doca_error_t doca_log_global_level_set(uint32_t level)
		COMCH_DOCA_SYMBOL(doca_log_level_set_global_lower_limit);

/** As doca_log_level_get_global_lower_limit(). */
DOCA_EXPERIMENTAL
uint32_t doca_log_global_level_get(void)
		COMCH_DOCA_SYMBOL(doca_log_level_get_global_lower_limit);

/** As doca_log_backend_set_level_lower_limit(). */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_level_set(struct doca_logger_backend *backend, uint32_t level)
		COMCH_DOCA_SYMBOL(doca_log_backend_set_level_lower_limit);

/** As doca_log_backend_create_with_file(). */
DOCA_EXPERIMENTAL
doca_error_t doca_log_create_file_backend(FILE *fptr, struct doca_logger_backend **backend)
		COMCH_DOCA_SYMBOL(doca_log_backend_create_with_file);

/** As doca_log_backend_create_with_fd(). */
DOCA_EXPERIMENTAL
doca_error_t doca_log_create_fd_backend(int fd, struct doca_logger_backend **backend)
		COMCH_DOCA_SYMBOL(doca_log_backend_create_with_fd);

/** As doca_log_backend_create_with_buf(). */
DOCA_EXPERIMENTAL
doca_error_t doca_log_create_buffer_backend(char *buf, size_t capacity,
		log_flush_callback handler, struct doca_logger_backend **backend)
		COMCH_DOCA_SYMBOL(doca_log_backend_create_with_buf);

/** As doca_log_backend_create_with_syslog(). */
DOCA_EXPERIMENTAL
doca_error_t doca_log_create_syslog_backend(const char *name,
		struct doca_logger_backend **backend)
		COMCH_DOCA_SYMBOL(doca_log_backend_create_with_syslog);

/**
 * Log a message; the macros are shorter.
 *
 * @param level
 *   DOCA_LOG_LEVEL_CRIT to DOCA_LOG_LEVEL_TRACE.
 * @param source
 *   From doca_log_source_register().
 * @param line
 *   Line in the source file.
 * @param format
 *   As for printf, without a newline at the end.
 * @return
 *   As doca_log() since DOCA 2.5.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log(uint32_t level, int source, int line, const char *format, ...)
		COMCH_DOCA_SYMBOL(doca_log_105) __attribute__((format(printf, 4, 5)));

/** Log a developer message: as doca_log(). */
DOCA_EXPERIMENTAL
doca_error_t doca_log_developer(uint32_t level, int source, int line, const char *format, ...)
		COMCH_DOCA_SYMBOL(doca_log_105) __attribute__((format(printf, 4, 5)));

/** DOCA_LOG() with the same arguments in all generations. */
#define COMCH_DOCA_LOG(level, ...) doca_log(level, log_source, __LINE__, __VA_ARGS__)

/**
 * Log a message of the source of DOCA_LOG_REGISTER(): level, format, values. The level
 * is without DOCA_LOG_LEVEL_, such as INFO.
 */
#define DOCA_LOG(level, ...) COMCH_DOCA_LOG(DOCA_LOG_LEVEL_##level, __VA_ARGS__)

/** Log a developer message: level, format, values; as DOCA_LOG(). */
#ifdef DOCA_LOGGING_ALLOW_DLOG
#define DOCA_DLOG(level, ...) \
	doca_log_developer(DOCA_LOG_LEVEL_##level, log_source, __LINE__, __VA_ARGS__)
#else
#define DOCA_DLOG(level, ...) \
	do { \
	} while (0)
#endif

/** Log a critical error for developers: format, values. */
#define DOCA_DLOG_CRIT(...) DOCA_DLOG(CRIT, __VA_ARGS__)
/** Log an error for developers: format, values. */
#define DOCA_DLOG_ERR(...) DOCA_DLOG(ERROR, __VA_ARGS__)
/** Log a warning for developers: format, values. */
#define DOCA_DLOG_WARN(...) DOCA_DLOG(WARNING, __VA_ARGS__)
/** Log information for users, as a developer message: format, values. */
#define DOCA_DLOG_INFO(...) DOCA_DLOG(INFO, __VA_ARGS__)
/** Log information for developers: format, values. */
#define DOCA_DLOG_DBG(...) DOCA_DLOG(DEBUG, __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_GENERATION < 205 */

#endif /* COMCH_DOCA_LOG_105_H */
