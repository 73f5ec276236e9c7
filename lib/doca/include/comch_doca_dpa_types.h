/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_DPA_TYPES_H
#define COMCH_DOCA_DPA_TYPES_H

/**
 * @file
 * What host code and code of the accelerator both know: handles and log levels.
 * doca_dpa.h and doca_dpa_dev.h include it, so that one file may include both.
 *
 * A handle is a number. The host gets it from an object (..._get_dpa_handle())
 * and passes it on: as an argument of a kernel or an RPC, or in memory of the
 * accelerator. It is good until the object stops or is destroyed; from then on
 * its use is a fault of the code that uses it, even when another object has
 * been made since. 0 is never a good handle.
 *
 * Reference: DOCA DPA guide 2.10.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Which log lines of device code are wanted: those of this level and below. */
typedef enum doca_dpa_dev_log_level {
	DOCA_DPA_DEV_LOG_LEVEL_DISABLE = 10, /**< None. */
	DOCA_DPA_DEV_LOG_LEVEL_ERROR = 30,
	DOCA_DPA_DEV_LOG_LEVEL_WARNING = 40,
	DOCA_DPA_DEV_LOG_LEVEL_INFO = 50,
	DOCA_DPA_DEV_LOG_LEVEL_DEBUG = 60,
} doca_dpa_dev_log_level_t;

/** A DPA context. */
typedef uint64_t doca_dpa_dev_t;
/** An address of the accelerator's memory. */
typedef uint64_t doca_dpa_dev_uintptr_t;
/** A doca_dpa_hash_table. */
typedef uint64_t doca_dpa_dev_hash_table_t;
/** A doca_dpa_completion. */
typedef uint64_t doca_dpa_dev_completion_t;
/** A doca_dpa_async_ops. */
typedef uint64_t doca_dpa_dev_async_ops_t;
/** A doca_dpa_notification_completion. */
typedef uint64_t doca_dpa_dev_notification_completion_t;
/** A doca_mmap, of one of its devices. */
typedef uint32_t doca_dpa_dev_mmap_t;

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_DPA_TYPES_H */
