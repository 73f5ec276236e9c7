/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_LOG_H
#define DOCA_LOG_H

/**
 * @file
 * Messages of the program and of the library.
 *
 * DOCA_LOG_REGISTER() makes the source of a file's messages before main(). With
 * comch each record is one line, written at once:
 *
 *     [hh:mm:ss:usec][pid][SOURCE][LVL][file.c:line][function] text
 *
 * LVL is one of CRT, ERR, WRN, INF, DBG, TRC. The layout may change; the text
 * is the program's.
 *
 * There are two kinds of backends. A *program's* backend gets what doca_log()
 * is given; it shows levels between its upper limit (the most severe) and its
 * lower limit (the chattiest): upper <= level <= lower. An *SDK's* backend, of
 * a function whose name ends in _sdk, gets the library's own messages up to
 * its SDK level. Without a backend of its kind, a message goes nowhere and
 * costs next to nothing.
 *
 *     DOCA_LOG_REGISTER(MY_APP);
 *
 *     doca_log_backend_create_standard();
 *     doca_log_backend_create_with_file_sdk(stderr, &sdk);
 *     doca_log_backend_set_sdk_level(sdk, DOCA_LOG_LEVEL_WARNING);
 *     DOCA_LOG_INFO("%u messages", n);
 *
 * Global setters change all backends there are, and what later ones begin
 * with. Backends live until the program ends.
 *
 * All functions are for any thread, and for constructors too. A limit is one
 * of enum doca_log_level.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How severe a message is: the less, the worse. */
enum doca_log_level {
	DOCA_LOG_LEVEL_DISABLE = 10, /**< Of limits only: below all messages. */
	DOCA_LOG_LEVEL_CRIT = 20,    /**< The program cannot go on. */
	DOCA_LOG_LEVEL_ERROR = 30,   /**< Something failed. */
	DOCA_LOG_LEVEL_WARNING = 40, /**< Something looks wrong. */
	DOCA_LOG_LEVEL_INFO = 50,    /**< What a user may want to know. */
	DOCA_LOG_LEVEL_DEBUG = 60,   /**< What a developer may want to know. */
	DOCA_LOG_LEVEL_TRACE = 70,   /**< Every step. */
};

/** Where messages go. */
struct doca_log_backend;

/**
 * A record is in the buffer: a line with its newline, ending in NUL, cut to
 * the buffer's size. The next one overwrites it. Runs within doca_log(), on
 * the thread that logs; what it logs itself is dropped.
 */
typedef void (*log_flush_callback)(char *buf);

/**
 * Set the chattiest level that a program's backend shows; at first the global
 * one.
 *
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_INVALID_VALUE: NULL, no such level, or an SDK's backend
 *   - DOCA_ERROR_NOT_PERMITTED: chattier than the limit that was made strict
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend,
		uint32_t level);

/**
 * Set the most severe level that a program's backend shows; at first the
 * global one.
 *
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_INVALID_VALUE: NULL, no such level, or an SDK's backend
 *   - DOCA_ERROR_NOT_PERMITTED: more severe than the limit that was made strict
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend,
		uint32_t upper_limit);

/**
 * Make the lower limit strict: from now on it may become less chatty only. A
 * global setter that asks for more leaves this backend as it is.
 *
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, or an SDK's backend
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_lower_limit_strict(struct doca_log_backend *backend);

/**
 * Make the upper limit strict: from now on it may become less severe only. A
 * global setter that asks for more leaves this backend as it is.
 *
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, or an SDK's backend
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_upper_limit_strict(struct doca_log_backend *backend);

/**
 * Set the lower limit of all program's backends, those to come too. The first
 * value is DOCA_LOG_LEVEL_INFO.
 *
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: no such level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_lower_limit(uint32_t level);

/**
 * Set the upper limit of all program's backends, those to come too. The first
 * value is DOCA_LOG_LEVEL_CRIT.
 *
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: no such level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_upper_limit(uint32_t upper_limit);

/** The global lower limit: what a new backend begins with. */
DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_lower_limit(void);

/** The global upper limit: what a new backend begins with. */
DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_upper_limit(void);

/**
 * Make a source of messages: see DOCA_LOG_REGISTER(). Works before main() and
 * before there is a backend.
 *
 * @param source_name
 *   Name for the records; copied, and without the quotes if it is in some.
 * @param[out] source
 *   Number for doca_log().
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_INVALID_VALUE: NULL
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_register_source(const char *source_name, int *source);

/**
 * Take a source back; its number may come again.
 *
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: no such source
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_unregister_source(int source);

/**
 * Write the program's messages to a stream, which stays the caller's and has
 * to stay open. It is flushed after each record.
 *
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_INVALID_VALUE: NULL
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_file(FILE *fptr, struct doca_log_backend **backend);

/**
 * Write the program's messages to a descriptor, which stays the caller's and
 * has to stay open.
 *
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_INVALID_VALUE: a negative descriptor, or NULL
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_fd(int fd, struct doca_log_backend **backend);

/**
 * Hand the program's messages to a callback, in a buffer.
 *
 * @param buf
 *   The buffer, the caller's; in use until the program ends.
 * @param capacity
 *   Bytes, 2 or more. Longer records are cut.
 * @param handler
 *   Called for each record.
 * @param[out] backend
 *   The backend.
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_INVALID_VALUE: NULL, or no capacity
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_buf(char *buf, size_t capacity,
		log_flush_callback handler, struct doca_log_backend **backend);

/**
 * Send the program's messages to syslog, as a user's with the pid.
 *
 * @param name
 *   Name of the program there; copied. A process has one: the last one counts,
 *   as with openlog(3).
 * @param[out] backend
 *   The backend.
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_INVALID_VALUE: NULL
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_syslog(const char *name,
		struct doca_log_backend **backend);

/**
 * Set the chattiest level that an SDK's backend shows; at first the global one.
 *
 * @return
 *   DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, no such level, or not an
 *   SDK's backend
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
 * Set the level of all SDK's backends, those to come too. The first value is
 * DOCA_LOG_LEVEL_INFO.
 *
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: no such level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level);

/** The global SDK level: what a new SDK's backend begins with. */
DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_sdk_limit(void);

/**
 * Write the program's messages as most programs do: WARNING and worse to
 * stderr, INFO and chattier to stdout. Only the global limits change what is
 * shown. A second call changes nothing.
 *
 * @return
 *   - DOCA_SUCCESS
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_standard(void);

/** The name that doca_log_backend_create_standard() had until DOCA 2.2. */
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
 *   Source file; directories are left out.
 * @param line
 *   Line in it.
 * @param func
 *   Function.
 * @param format
 *   As printf's, without a newline at the end.
 * @return
 *   - DOCA_SUCCESS: written, or not to be shown
 *   - DOCA_ERROR_INVALID_VALUE: NULL, no such level, or no such source (not
 *     looked at unless the message is to be shown)
 *   - DOCA_ERROR_NO_MEMORY
 *   - DOCA_ERROR_IO_FAILED: a backend could not write it
 *   - DOCA_ERROR_IN_USE: dropped, as this is within a log_flush_callback
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log(uint32_t level, int source, const char *fname, int line, const char *func,
		const char *format, ...) __attribute__((format(printf, 6, 7)));

/** DOCA_LOG() in the words of all generations. */
#define COMCH_DOCA_LOG(level, ...) \
	doca_log(level, log_source, __FILE__, __LINE__, __func__, __VA_ARGS__)

/** Log a message of the source that DOCA_LOG_REGISTER() made: level, format, values. */
#define DOCA_LOG(level, ...) COMCH_DOCA_LOG(level, __VA_ARGS__)

#endif /* COMCH_DOCA_GENERATION < 205 */

/** Log that the program cannot go on: format, values. */
#define DOCA_LOG_CRIT(...) COMCH_DOCA_LOG(DOCA_LOG_LEVEL_CRIT, __VA_ARGS__)
/** Log an error: format, values. */
#define DOCA_LOG_ERR(...) COMCH_DOCA_LOG(DOCA_LOG_LEVEL_ERROR, __VA_ARGS__)
/** Log a warning: format, values. */
#define DOCA_LOG_WARN(...) COMCH_DOCA_LOG(DOCA_LOG_LEVEL_WARNING, __VA_ARGS__)
/** Log something for the user: format, values. */
#define DOCA_LOG_INFO(...) COMCH_DOCA_LOG(DOCA_LOG_LEVEL_INFO, __VA_ARGS__)
/** Log something for the developer: format, values. */
#define DOCA_LOG_DBG(...) COMCH_DOCA_LOG(DOCA_LOG_LEVEL_DEBUG, __VA_ARGS__)
/** Log a step: format, values. Nothing unless DOCA_LOGGING_ALLOW_TRACE is defined. */
#ifdef DOCA_LOGGING_ALLOW_TRACE
#define DOCA_LOG_TRC(...) COMCH_DOCA_LOG(DOCA_LOG_LEVEL_TRACE, __VA_ARGS__)
#else
#define DOCA_LOG_TRC(...) \
	do { \
	} while (0)
#endif

/**
 * Make the source of this file's messages; at file scope, once. The name may be
 * any tokens, as MY_APP or MY::APP, or a string.
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
