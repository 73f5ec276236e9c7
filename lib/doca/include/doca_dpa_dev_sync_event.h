/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_DPA_DEV_SYNC_EVENT_H
#define DOCA_DPA_DEV_SYNC_EVENT_H

/**
 * @file
 * Device code: sync events, by a handle of doca_sync_event_get_dpa_handle().
 *
 * With comch, publishers and subscribers may do all of this, and what was written before an update
 * is seen after a wait for it, on the CPU, the DPA and the other side.
 *
 * Threads: any. An event that the host has stopped is a fault.
 *
 * Reference: DOCA DPA guide 2.10, section "Device-Side API".
 */

#include <stdint.h>

#include <doca_dpa_dev.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A sync event. */
typedef uint64_t doca_dpa_dev_sync_event_t;

/** Get the counter. */
void doca_dpa_dev_sync_event_get(doca_dpa_dev_sync_event_t event, uint64_t *value);
/** Set the counter. */
void doca_dpa_dev_sync_event_update_set(doca_dpa_dev_sync_event_t event, uint64_t value);
/** Add to the counter, modulo 2^64. */
void doca_dpa_dev_sync_event_update_add(doca_dpa_dev_sync_event_t event, uint64_t value);
/** Wait until (counter & mask) > value, unsigned. The thread polls. */
void doca_dpa_dev_sync_event_wait_gt(doca_dpa_dev_sync_event_t event, uint64_t value,
		uint64_t mask);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DPA_DEV_SYNC_EVENT_H */
