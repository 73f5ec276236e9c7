/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_LOG_H
#define DOCA_LOG_H

/**
 * @file
 * Messages of the program and of the library.
 *
 * DOCA_LOG_REGISTER() registers the log source of a file before main(). With comch each
 * record is one line, written at once:
 *
 *     [hh:mm:ss:usec][pid][SOURCE][LVL][file.c:line][function] text
 *
 * LVL is CRT, ERR, WRN, INF, DBG or TRC. The layout may change; the text is the
 * program's.
 *
 * There are two kinds of backends. A *program backend* gets the messages of doca_log()
 * with upper <= level <= lower: the upper limit is the most severe level, the lower
 * limit the most verbose. An *SDK backend*, from a function whose name ends in _sdk,
 * gets the library's own messages up to its SDK level. Without a backend of its kind, a
 * message is dropped at next to no cost.
 *
 *     DOCA_LOG_REGISTER(MY_APP);
 *
 *     doca_log_backend_create_standard();
 *     doca_log_backend_create_with_file_sdk(stderr, &sdk);
 *     doca_log_backend_set_sdk_level(sdk, DOCA_LOG_LEVEL_WARNING);
 *     DOCA_LOG_INFO("%u messages", n);
 *
 * Global setters change all existing backends, and the initial values of later ones.
 * Backends exist until the program ends.
 *
 * Threads: any, for all functions; constructors may call them too. Levels and limits
 * are of enum doca_log_level.
 *
 * Errors: functions return DOCA_SUCCESS, or DOCA_ERROR_INVALID_VALUE for a NULL
 * argument; each names its other errors.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Level of a message; lower values are more severe. */
enum doca_log_level {
	DOCA_LOG_LEVEL_DISABLE = 10, /**< For limits only: no messages. */
	DOCA_LOG_LEVEL_CRIT = 20,    /**< The program cannot continue. */
	DOCA_LOG_LEVEL_ERROR = 30,   /**< Something failed. */
	DOCA_LOG_LEVEL_WARNING = 40, /**< Something looks wrong. */
	DOCA_LOG_LEVEL_INFO = 50,    /**< Information for users. */
	DOCA_LOG_LEVEL_DEBUG = 60,   /**< Information for developers. */
	DOCA_LOG_LEVEL_TRACE = 70,   /**< Every step. */
};

/** A destination of messages. */
struct doca_log_backend;

/**
 * A record is in the buffer: a line with its newline and a NUL, truncated to the
 * capacity. The next record overwrites it. Called by doca_log() in the logging thread;
 * messages that it logs itself are dropped.
 */
typedef void (*log_flush_callback)(char *buf);

/**
 * Set the most verbose level of a program backend; initially the global one.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: unknown level, or an SDK backend
 *   - DOCA_ERROR_NOT_PERMITTED: more verbose than its strict limit
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend,
		uint32_t level);

/**
 * Set the most severe level of a program backend; initially the global one.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: unknown level, or an SDK backend
 *   - DOCA_ERROR_NOT_PERMITTED: more severe than its strict limit
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend,
		uint32_t upper_limit);

/**
 * Make the lower limit strict: it can only become less verbose. A global setter that
 * asks for more does not change this backend.
 *
 * @return DOCA_ERROR_INVALID_VALUE: an SDK backend
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_lower_limit_strict(struct doca_log_backend *backend);

/**
 * Make the upper limit strict: it can only become less severe. A global setter that
 * asks for more does not change this backend.
 *
 * @return DOCA_ERROR_INVALID_VALUE: an SDK backend
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_upper_limit_strict(struct doca_log_backend *backend);

/**
 * Set the lower limit of all program backends, current and future. Default
 * DOCA_LOG_LEVEL_INFO.
 *
 * @return DOCA_ERROR_INVALID_VALUE: unknown level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_lower_limit(uint32_t level);

/**
 * Set the upper limit of all program backends, current and future. Default
 * DOCA_LOG_LEVEL_CRIT.
 *
 * @return DOCA_ERROR_INVALID_VALUE: unknown level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_upper_limit(uint32_t upper_limit);

/** The global lower limit, which new backends start with. */
DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_lower_limit(void);

/** The global upper limit, which new backends start with. */
DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_upper_limit(void);

/**
 * Register a source of messages: see DOCA_LOG_REGISTER(). It needs no backend and may
 * be called before main().
 *
 * @param source_name
 *   Name for the records; copied. Enclosing quotes are removed.
 * @param[out] source
 *   Number for doca_log().
 * @return DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_register_source(const char *source_name, int *source);

/**
 * Remove a source; its number may be used again.
 *
 * @return DOCA_ERROR_INVALID_VALUE: unknown source
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_unregister_source(int source);

/**
 * Write the program's messages to a stream, which the caller owns and must keep open.
 * It is flushed after each record.
 *
 * @return DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_file(FILE *fptr, struct doca_log_backend **backend);

/**
 * Write the program's messages to a file descriptor, which the caller owns and must
 * keep open.
 *
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: negative descriptor
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_fd(int fd, struct doca_log_backend **backend);

/**
 * Pass the program's messages to a callback, in a buffer.
 *
 * @param buf
 *   The buffer; the caller owns it and keeps it until the program ends.
 * @param capacity
 *   Its size in bytes, at least 2. Longer records are truncated.
 * @param handler
 *   Called for each record.
 * @param[out] backend
 *   The backend.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: too small a capacity
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_buf(char *buf, size_t capacity,
		log_flush_callback handler, struct doca_log_backend **backend);

/**
 * Send the program's messages to syslog, with facility "user" and the pid.
 *
 * @param name
 *   Name of the program in syslog; copied. A process has one, so the last call wins, as
 *   with openlog(3).
 * @param[out] backend
 *   The backend.
 * @return DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_syslog(const char *name,
		struct doca_log_backend **backend);

/**
 * Set the most verbose level of an SDK backend; initially the global one.
 *
 * @return DOCA_ERROR_INVALID_VALUE: unknown level, or not an SDK backend
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level);

/** As doca_log_backend_create_with_file(), for the library's messages. */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_file_sdk(FILE *fptr,
		struct doca_log_backend **backend);

/** As doca_log_backend_create_with_fd(), for the library's messages. */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend);

/** As doca_log_backend_create_with_buf(), for the library's messages. */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_buf_sdk(char *buf, size_t capacity,
		log_flush_callback handler, struct doca_log_backend **backend);

/** As doca_log_backend_create_with_syslog(), for the library's messages. */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_syslog_sdk(const char *name,
		struct doca_log_backend **backend);

/**
 * Set the level of all SDK backends, current and future. Default DOCA_LOG_LEVEL_INFO.
 *
 * @return DOCA_ERROR_INVALID_VALUE: unknown level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level);

/** The global SDK level, which new SDK backends start with. */
DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_sdk_limit(void);

/**
 * Write the program's messages to stderr (WARNING and more severe) and stdout (the
 * rest). Only the global limits apply. Further calls have no effect.
 *
 * @return DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_standard(void);

/** Name of doca_log_backend_create_standard() until DOCA 2.2. */
DOCA_EXPERIMENTAL
doca_error_t doca_log_create_standard_backend(void);

#if COMCH_DOCA_GENERATION < 205
#include <comch_doca_log_105.h>
#else

/**
 * Log a message; the macros below are shorter.
 *
 * @param level
 *   DOCA_LOG_LEVEL_CRIT to DOCA_LOG_LEVEL_TRACE.
 * @param source
 *   From doca_log_register_source().
 * @param fname
 *   Source file; its directories are not logged.
 * @param line
 *   Line number.
 * @param func
 *   Function name.
 * @param format
 *   As for printf, without a newline at the end.
 * @return
 *   - DOCA_SUCCESS: written, or no backend shows this level
 *   - DOCA_ERROR_INVALID_VALUE: unknown level, or unknown source (checked only if the
 *     message is shown)
 *   - DOCA_ERROR_NO_MEMORY
 *   - DOCA_ERROR_IO_FAILED: a backend failed to write it
 *   - DOCA_ERROR_IN_USE: dropped, called from a log_flush_callback
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log(uint32_t level, int source, const char *fname, int line, const char *func,
		const char *format, ...) __attribute__((format(printf, 6, 7)));

/** DOCA_LOG() with the same arguments in all generations. */
#define COMCH_DOCA_LOG(level, ...) \
	doca_log(level, log_source, __FILE__, __LINE__, __func__, __VA_ARGS__)

/** Log a message of the source of DOCA_LOG_REGISTER(): level, format, values. */
#define DOCA_LOG(level, ...) COMCH_DOCA_LOG(level, __VA_ARGS__)

#endif /* COMCH_DOCA_GENERATION < 205 */

/** Log a critical error: format, values. */
#define DOCA_LOG_CRIT(...) COMCH_DOCA_LOG(DOCA_LOG_LEVEL_CRIT, __VA_ARGS__)
/** Log an error: format, values. */
#define DOCA_LOG_ERR(...) COMCH_DOCA_LOG(DOCA_LOG_LEVEL_ERROR, __VA_ARGS__)
/** Log a warning: format, values. */
#define DOCA_LOG_WARN(...) COMCH_DOCA_LOG(DOCA_LOG_LEVEL_WARNING, __VA_ARGS__)
/** Log information for users: format, values. */
#define DOCA_LOG_INFO(...) COMCH_DOCA_LOG(DOCA_LOG_LEVEL_INFO, __VA_ARGS__)
/** Log information for developers: format, values. */
#define DOCA_LOG_DBG(...) COMCH_DOCA_LOG(DOCA_LOG_LEVEL_DEBUG, __VA_ARGS__)
/** Log a step: format, values. Compiled in only with DOCA_LOGGING_ALLOW_TRACE. */
#ifdef DOCA_LOGGING_ALLOW_TRACE
#define DOCA_LOG_TRC(...) COMCH_DOCA_LOG(DOCA_LOG_LEVEL_TRACE, __VA_ARGS__)
#else
#define DOCA_LOG_TRC(...) \
	do { \
	} while (0)
#endif

/**
 * Register the log source of this file; once, at file scope. The name may be any tokens,
 * such as MY_APP or MY::APP, or a string.
 */
#define DOCA_LOG_REGISTER(...) \
	static int log_source; \
	static void __attribute__((constructor(101))) comch_doca_log_register(void) \
	{ \
		(void)doca_log_register_source(#__VA_ARGS__, &log_source); \
	}

#ifdef __cplusplus
}
#endif

#endif /* DOCA_LOG_H */
