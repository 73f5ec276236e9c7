/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_ERROR_H
#define DOCA_ERROR_H

/**
 * @file
 * Errors. The values are the same in all generations of DOCA.
 */

#include <doca_common_defines.h>
#include <doca_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Result of a function. */
typedef enum doca_error {
	DOCA_SUCCESS = 0,                      /**< Success. */
	DOCA_ERROR_UNKNOWN = 1,                /**< Unknown failure. */
	DOCA_ERROR_NOT_PERMITTED = 2,          /**< Not permitted in this role or state. */
	DOCA_ERROR_IN_USE = 3,                 /**< Something still uses the object. */
	DOCA_ERROR_NOT_SUPPORTED = 4,          /**< Not supported by the device or this library. */
	DOCA_ERROR_AGAIN = 5,                  /**< Temporarily unavailable: try again. */
	DOCA_ERROR_INVALID_VALUE = 6,          /**< Invalid argument. */
	DOCA_ERROR_NO_MEMORY = 7,              /**< Out of memory, or a pool is exhausted. */
	DOCA_ERROR_INITIALIZATION = 8,         /**< Initialization failed. */
	DOCA_ERROR_TIME_OUT = 9,               /**< The peer did not answer in time. */
	DOCA_ERROR_SHUTDOWN = 10,              /**< Canceled by a stop. */
	DOCA_ERROR_CONNECTION_RESET = 11,      /**< The connection was lost. */
	DOCA_ERROR_CONNECTION_ABORTED = 12,    /**< The connection was not established. */
	DOCA_ERROR_CONNECTION_INPROGRESS = 13, /**< The connection is not yet established. */
	DOCA_ERROR_NOT_CONNECTED = 14,         /**< No connection, or no progress engine. */
	DOCA_ERROR_NO_LOCK = 15,               /**< A lock was not obtained. */
	DOCA_ERROR_NOT_FOUND = 16,             /**< Not found. */
	DOCA_ERROR_IO_FAILED = 17,             /**< I/O failed. */
	DOCA_ERROR_BAD_STATE = 18,             /**< The object is in the wrong state. */
	DOCA_ERROR_UNSUPPORTED_VERSION = 19,   /**< Incompatible versions. */
	DOCA_ERROR_OPERATING_SYSTEM = 20,      /**< A system call failed. */
	DOCA_ERROR_DRIVER = 21,                /**< The driver failed. */
	DOCA_ERROR_UNEXPECTED = 22,            /**< Unexpected internal condition. */
	DOCA_ERROR_ALREADY_EXIST = 23,         /**< Already exists. */
	DOCA_ERROR_FULL = 24,                  /**< Full. */
	DOCA_ERROR_EMPTY = 25,                 /**< Empty. */
	DOCA_ERROR_IN_PROGRESS = 26,           /**< Started; a callback reports completion. */
	DOCA_ERROR_TOO_BIG = 27,               /**< Too big. */
	DOCA_ERROR_AUTHENTICATION = 28,        /**< Authentication failed. */
	DOCA_ERROR_BAD_CONFIG = 29,            /**< Invalid configuration. */
	DOCA_ERROR_SKIPPED = 30,               /**< Success, but earlier output was lost. */
} doca_error_t;

/** Whether a result is an error. */
#define DOCA_IS_ERROR(r) doca_unlikely((r) != DOCA_SUCCESS)

/** Keep the first error: assign *t* to *r* unless *r* is an error. */
#if COMCH_DOCA_GENERATION < 200
/* These releases include the semicolon, and programs may omit theirs. */
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

/** Name of an error, such as "DOCA_ERROR_AGAIN"; never NULL. Any thread. */
DOCA_STABLE
const char *doca_error_get_name(doca_error_t error);

/** Description of an error, one sentence; never NULL. Any thread. */
DOCA_STABLE
const char *doca_error_get_descr(doca_error_t error);

/** Name of doca_error_get_name() until DOCA 2.2. */
DOCA_STABLE
const char *doca_get_error_name(doca_error_t error);

/** Name of doca_error_get_descr() until DOCA 2.2. */
DOCA_STABLE
const char *doca_get_error_string(doca_error_t error);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ERROR_H */
