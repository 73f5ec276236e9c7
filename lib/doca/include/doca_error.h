/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_ERROR_H
#define DOCA_ERROR_H

/**
 * @file
 * Errors. The values never change, so that all generations share them.
 */

#include <doca_common_defines.h>
#include <doca_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a function returns. */
typedef enum doca_error {
	DOCA_SUCCESS = 0,                      /**< Done. */
	DOCA_ERROR_UNKNOWN = 1,                /**< A failure without a better name. */
	DOCA_ERROR_NOT_PERMITTED = 2,          /**< Refused in this role, state or configuration. */
	DOCA_ERROR_IN_USE = 3,                 /**< Something still uses the object. */
	DOCA_ERROR_NOT_SUPPORTED = 4,          /**< The device or this library cannot do it. */
	DOCA_ERROR_AGAIN = 5,                  /**< Not now: try again. */
	DOCA_ERROR_INVALID_VALUE = 6,          /**< An argument is wrong. */
	DOCA_ERROR_NO_MEMORY = 7,              /**< No memory, or a pool is used up. */
	DOCA_ERROR_INITIALIZATION = 8,         /**< It could not be set up. */
	DOCA_ERROR_TIME_OUT = 9,               /**< The other side did not answer in time. */
	DOCA_ERROR_SHUTDOWN = 10,              /**< Flushed by a stop. */
	DOCA_ERROR_CONNECTION_RESET = 11,      /**< The peer is gone. */
	DOCA_ERROR_CONNECTION_ABORTED = 12,    /**< The connection was not established. */
	DOCA_ERROR_CONNECTION_INPROGRESS = 13, /**< The connection is not yet established. */
	DOCA_ERROR_NOT_CONNECTED = 14,         /**< No connection, or no progress engine. */
	DOCA_ERROR_NO_LOCK = 15,               /**< A lock was not obtained. */
	DOCA_ERROR_NOT_FOUND = 16,             /**< There is no such thing. */
	DOCA_ERROR_IO_FAILED = 17,             /**< Input or output failed. */
	DOCA_ERROR_BAD_STATE = 18,             /**< The object is in the wrong state. */
	DOCA_ERROR_UNSUPPORTED_VERSION = 19,   /**< The versions do not fit. */
	DOCA_ERROR_OPERATING_SYSTEM = 20,      /**< The operating system refused. */
	DOCA_ERROR_DRIVER = 21,                /**< The driver failed. */
	DOCA_ERROR_UNEXPECTED = 22,            /**< What cannot be, was. */
	DOCA_ERROR_ALREADY_EXIST = 23,         /**< It is there already. */
	DOCA_ERROR_FULL = 24,                  /**< No more room. */
	DOCA_ERROR_EMPTY = 25,                 /**< Nothing left. */
	DOCA_ERROR_IN_PROGRESS = 26,           /**< Begun; a callback tells the end. */
	DOCA_ERROR_TOO_BIG = 27,               /**< It does not fit. */
	DOCA_ERROR_AUTHENTICATION = 28,        /**< Authentication failed. */
	DOCA_ERROR_BAD_CONFIG = 29,            /**< The configuration is wrong. */
	DOCA_ERROR_SKIPPED = 30,               /**< Good, but an earlier output was lost. */
} doca_error_t;

/** Is it an error? */
#define DOCA_IS_ERROR(r) doca_unlikely((r) != DOCA_SUCCESS)

/** Keep the first error: *t* goes to *r* only if *r* is none so far. */
#if COMCH_DOCA_GENERATION < 200
/* With its semicolon, as it was: programs may leave it out. */
#define DOCA_ERROR_PROPAGATE(r, t) \
	do { \
		if ((r) == DOCA_SUCCESS) \
			(r) = (t); \
	} while (0);
#else
#define DOCA_ERROR_PROPAGATE(r, t) \
	do { \
		if ((r) == DOCA_SUCCESS) \
			(r) = (t); \
	} while (0)
#endif

/** Name of an error, as "DOCA_ERROR_AGAIN"; never NULL. Any thread. */
DOCA_STABLE
const char *doca_error_get_name(doca_error_t error);

/** What an error means, in a sentence; never NULL. Any thread. */
DOCA_STABLE
const char *doca_error_get_descr(doca_error_t error);

/** The name that doca_error_get_name() had until DOCA 2.2. */
DOCA_STABLE
const char *doca_get_error_name(doca_error_t error);

/** The name that doca_error_get_descr() had until DOCA 2.2. */
DOCA_STABLE
const char *doca_get_error_string(doca_error_t error);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ERROR_H */
