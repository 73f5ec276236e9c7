/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_DPA_TYPES_H
#define COMCH_DOCA_DPA_TYPES_H

/**
 * @file
 * Types of both host code and device code: handles and log levels. doca_dpa.h and
 * doca_dpa_dev.h include this header, so that one file may include both.
 *
 * A handle is a number. The host gets it from an object (..._get_dpa_handle()) and
 * passes it to device code as an argument of a kernel or an RPC, or in device memory.
 * It is valid until the object stops or is destroyed. Later use is a fault of the
 * device code, even if another object was created since. 0 is never a valid handle.
 *
 * Reference: DOCA DPA guide 2.10.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Log level of device code: lines of this and lower values are written. */
typedef enum doca_dpa_dev_log_level {
	DOCA_DPA_DEV_LOG_LEVEL_DISABLE = 10, /**< None. */
	DOCA_DPA_DEV_LOG_LEVEL_ERROR = 30,
	DOCA_DPA_DEV_LOG_LEVEL_WARNING = 40,
	DOCA_DPA_DEV_LOG_LEVEL_INFO = 50,
	DOCA_DPA_DEV_LOG_LEVEL_DEBUG = 60,
} doca_dpa_dev_log_level_t;

/** A DPA context. */
typedef uint64_t doca_dpa_dev_t;
/** An address of device memory. */
typedef uint64_t doca_dpa_dev_uintptr_t;
/** A doca_dpa_hash_table. */
typedef uint64_t doca_dpa_dev_hash_table_t;
/** A doca_dpa_completion. */
typedef uint64_t doca_dpa_dev_completion_t;
/** A doca_dpa_async_ops. */
typedef uint64_t doca_dpa_dev_async_ops_t;
/** A doca_dpa_notification_completion. */
typedef uint64_t doca_dpa_dev_notification_completion_t;
/** A doca_mmap on one of its devices. */
typedef uint32_t doca_dpa_dev_mmap_t;

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_DPA_TYPES_H */
