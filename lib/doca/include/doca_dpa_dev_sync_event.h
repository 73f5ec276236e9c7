/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_DPA_DEV_SYNC_EVENT_H
#define DOCA_DPA_DEV_SYNC_EVENT_H

/**
 * @file
 * Device code: handles of sync events. The library does not create sync events; the
 * type exists so that programs compile.
 */

#include <stdint.h>

#include <doca_dpa_dev.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A sync event. */
typedef uint64_t doca_dpa_dev_sync_event_t;

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DPA_DEV_SYNC_EVENT_H */
