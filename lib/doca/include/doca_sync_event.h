/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_SYNC_EVENT_H
#define DOCA_SYNC_EVENT_H

/**
 * @file
 * DOCA sync events: a counter of 64 bits that publishers set or add to, and subscribers wait for;
 * in one process, or on both sides.
 *
 *     one side                                     the other side
 *     doca_sync_event_create()
 *     ..._add_publisher_location_...()
 *     ..._add_subscriber_location_...()
 *     doca_sync_event_start()
 *     ..._export_to_remote_pci() -- a message -->  doca_sync_event_create_from_export()
 *                                                  doca_sync_event_start()
 *     ..._update_set(), ..._update_add()           ..._wait_eq(), ..._get(): either on both sides
 *     doca_sync_event_stop(), ..._destroy()        the same
 *
 * Or as a context, with tasks: doca_sync_event_as_ctx(), doca_pe_connect_ctx(),
 * ..._task_..._set_conf(), doca_ctx_start(). The functions without a task work then, too.
 *
 * Memory written before an update is visible after a wait for it, on both sides.
 *
 * With comch:
 *   - the counter is in memory that both processes share: an update needs no progress of either
 *     side, and a process that has exited or is stopped does not delay the other;
 *   - locations are hints, but that the event can be exported with a remote one only;
 *   - it begins with 0 at each start; an import keeps its counter when the exporter is gone;
 *   - a task that waits holds no other task up, and while nothing but waits is left,
 *     doca_pe_progress() returns 0; an engine that sleeps is woken by the update;
 *   - ..._wait_..._yield() sleep in the kernel.
 *
 * The mask of a wait is applied to the counter, not to the value.
 *
 * Threads: any may get, update and wait for a started event by functions; one at a time for all
 * else. A thread that has seen an update may stop the event. A context is its engine's. A child of
 * fork() does not have the events of its parent.
 *
 * Errors of functions: DOCA_ERROR_INVALID_VALUE for a NULL argument, and DOCA_ERROR_BAD_STATE where
 * the event must be started and is not, or the other way round; each names its others.
 *
 * Reference: DOCA Core guide 2.10, DOCA Sync Event.
 */

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_dpa;
struct doca_task;
/** An event. */
struct doca_sync_event;

/** @name Object
 * @{
 */
/** Create an event. @return DOCA_ERROR_NO_MEMORY */
#if COMCH_DOCA_GENERATION < 205
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_create(struct doca_sync_event **event)
	COMCH_DOCA_SYMBOL(doca_sync_event_create_200);
#else
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_create(struct doca_sync_event **event);
#endif

/**
 * Create an event from the descriptor of the other side's. It needs no locations. Its memory is
 * fetched when it is started.
 *
 * @param dev
 *   Any device of this side.
 * @param data
 *   The descriptor; checked, and copied.
 * @param sz
 *   Its length.
 * @param[out] event
 *   The event.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: not a device, or not a descriptor
 *   - DOCA_ERROR_NO_MEMORY
 */
#if COMCH_DOCA_GENERATION < 205
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data,
		size_t sz, struct doca_sync_event **event)
	COMCH_DOCA_SYMBOL(doca_sync_event_create_from_export_200);
#else
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data,
		size_t sz, struct doca_sync_event **event);
#endif

/**
 * Destroy an event; one that doca_sync_event_start() has started is stopped.
 *
 * @return DOCA_ERROR_IN_USE: started as a context, or in use by a launch (doca_dpa.h)
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_destroy(struct doca_sync_event *event);

/**
 * Start an event, without a context. Of an import, this fetches the counter, for which it waits
 * 5 seconds at most.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: started, or without a publisher or a subscriber
 *   - DOCA_ERROR_NOT_CONNECTED: the exporter is gone
 *   - DOCA_ERROR_TIME_OUT: it does not answer
 *   - DOCA_ERROR_OPERATING_SYSTEM: no file descriptor is left
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_start(struct doca_sync_event *event);

/**
 * Stop an event that was started so. The other side can go on with what it has imported.
 *
 * @return DOCA_ERROR_IN_USE: a launch of a kernel uses it (doca_dpa.h)
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_stop(struct doca_sync_event *event);

/** The event as a context; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event);
/** @} */

#if COMCH_DOCA_GENERATION >= 205
/** @name Locations, before the start
 * @{
 */
/** The CPU of this side sets it. @return DOCA_ERROR_INVALID_VALUE: not a device */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_cpu(struct doca_sync_event *event,
		struct doca_dev *dev);
/** The other side sets it. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_remote_pci(struct doca_sync_event *event);
/** Another machine sets it. @return DOCA_ERROR_NOT_SUPPORTED */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_remote_net(struct doca_sync_event *event);
/** The CPU of this side waits for it. @return DOCA_ERROR_INVALID_VALUE: not a device */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_subscriber_location_cpu(struct doca_sync_event *event,
		struct doca_dev *dev);
/** The other side waits for it. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_subscriber_location_remote_pci(struct doca_sync_event *event);
/** @} */

#if COMCH_DOCA_GENERATION >= 207
/** @name The DPA
 * Device code uses an event by its handle, and launches of kernels use events: doca_dpa.h,
 * doca_dpa_dev_sync_event.h. The context may be stopped before the event, but not be destroyed.
 * @{
 */
/** A handle in device code. */
typedef uint64_t doca_dpa_dev_sync_event_t;
/** The DPA sets it. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_dpa(struct doca_sync_event *event,
		struct doca_dpa *dpa);
/** The DPA waits for it. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_subscriber_location_dpa(struct doca_sync_event *event,
		struct doca_dpa *dpa);
/**
 * Get the handle for device code, valid until the event is stopped.
 *
 * @param event
 *   Started.
 * @param dpa
 *   A context of its location, or one that extends it.
 * @param[out] handle
 *   The handle.
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: it has no location on this DPA
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get_dpa_handle(struct doca_sync_event *event, struct doca_dpa *dpa,
		doca_dpa_dev_sync_event_t *handle);
/** @} */

/** @name Other machines, which are not supported
 * @{
 */
struct doca_sync_event_remote_net;
/** @return DOCA_ERROR_NOT_SUPPORTED */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_remote_net_create_from_export(struct doca_dev *dev,
		const uint8_t *data, size_t sz, struct doca_sync_event_remote_net **event);
/** @return DOCA_ERROR_NOT_SUPPORTED */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_remote_net_destroy(struct doca_sync_event_remote_net *event);
/** @} */
#endif

/** @name The other side
 * @{
 */
/**
 * Get a descriptor for the other side: at most 256 bytes, the event's until it is stopped. It works
 * any number of times.
 *
 * @param event
 *   Started, with a location of the other side.
 * @param dev
 *   Any device that the program has opened.
 * @param[out] data
 *   The descriptor.
 * @param[out] sz
 *   Its length.
 * @return
 *   - DOCA_ERROR_NOT_PERMITTED: no such location
 *   - DOCA_ERROR_NOT_SUPPORTED: the device connects two machines, or it was exported by another one
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_to_remote_pci(struct doca_sync_event *event,
		struct doca_dev *dev, const uint8_t **data, size_t *sz);
/** For another machine. @return DOCA_ERROR_NOT_SUPPORTED */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_to_remote_net(struct doca_sync_event *event,
		const uint8_t **data, size_t *sz);
/** Whether a device exports events: all do. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_is_export_to_remote_pci_supported(
		const struct doca_devinfo *devinfo);
/** Whether a device imports events: all do. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_is_create_from_export_supported(
		const struct doca_devinfo *devinfo);
/** @} */
#endif

/** @name Functions
 * @{
 */
/** Get the counter. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value);
/** Set the counter. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_update_set(struct doca_sync_event *event, uint64_t value);
/** Add to the counter, modulo 2^64. *fetched* is the value before; it may be NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_update_add(struct doca_sync_event *event, uint64_t value,
		uint64_t *fetched);
/** Wait until (counter & mask) > value. This thread polls: it has a CPU to itself. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_gt(struct doca_sync_event *event, uint64_t value, uint64_t mask);
/** The same; this thread sleeps. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_gt_yield(struct doca_sync_event *event, uint64_t value,
		uint64_t mask);
#if COMCH_DOCA_GENERATION >= 205
/** Wait until (counter & mask) == value, by polling. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_eq(struct doca_sync_event *event, uint64_t value, uint64_t mask);
/** The same; this thread sleeps. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_eq_yield(struct doca_sync_event *event, uint64_t value,
		uint64_t mask);
/** Wait until (counter & mask) != value, by polling. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_neq(struct doca_sync_event *event, uint64_t value, uint64_t mask);
/** The same; this thread sleeps. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_neq_yield(struct doca_sync_event *event, uint64_t value,
		uint64_t mask);
#endif
/** @} */

#if COMCH_DOCA_GENERATION >= 205
/** @name Tasks
 *
 * The functions of each kind of task are alike:
 *   - doca_sync_event_cap_task_..._is_supported(): all devices run them.
 *   - ..._set_conf(), while IDLE: the callbacks, which can be the same, and how many tasks there
 *     can be; 0 stands for 16. DOCA_ERROR_INVALID_VALUE: too many.
 *   - ..._alloc_init(): a task, which can be submitted again after each completion. What it names
 *     is the caller's, until then. DOCA_ERROR_BAD_STATE: IDLE; DOCA_ERROR_NO_MEMORY: all are
 *     allocated.
 *   - ..._as_doca_task(): NULL for NULL.
 *
 * The error callback means that the context was stopped: DOCA_ERROR_SHUTDOWN.
 * @{
 */
/** A task that gets the counter. */
struct doca_sync_event_task_get;
/** It has completed: see doca_task_get_status(). */
typedef void (*doca_sync_event_task_get_completion_cb_t)(struct doca_sync_event_task_get *task,
		union doca_data task_user_data, union doca_data ctx_user_data);
/** Whether a device runs such tasks. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_get_is_supported(const struct doca_devinfo *devinfo);
/** Configure such tasks. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_get_set_conf(struct doca_sync_event *event,
		doca_sync_event_task_get_completion_cb_t completion_cb,
		doca_sync_event_task_get_completion_cb_t error_cb, uint32_t num_tasks);
/** Allocate such a task. *value* is the counter when it has completed. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_get_alloc_init(struct doca_sync_event *event,
		uint64_t *value, union doca_data user_data,
		struct doca_sync_event_task_get **task);
/** Such a task as a doca_task. */
DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_get_as_doca_task(
		struct doca_sync_event_task_get *task);

/** A task that sets the counter. */
struct doca_sync_event_task_notify_set;
/** It has completed: see doca_task_get_status(). */
typedef void (*doca_sync_event_task_notify_set_completion_cb_t)(
		struct doca_sync_event_task_notify_set *task, union doca_data task_user_data,
		union doca_data ctx_user_data);
/** Whether a device runs such tasks. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_notify_set_is_supported(const struct doca_devinfo *devinfo);
/** Configure such tasks. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_notify_set_set_conf(struct doca_sync_event *event,
		doca_sync_event_task_notify_set_completion_cb_t completion_cb,
		doca_sync_event_task_notify_set_completion_cb_t error_cb, uint32_t num_tasks);
/** Allocate such a task. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_notify_set_alloc_init(struct doca_sync_event *event,
		uint64_t value, union doca_data user_data,
		struct doca_sync_event_task_notify_set **task);
/** Such a task as a doca_task. */
DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_notify_set_as_doca_task(
		struct doca_sync_event_task_notify_set *task);

/** A task that adds to the counter. */
struct doca_sync_event_task_notify_add;
/** It has completed: see doca_task_get_status(). */
typedef void (*doca_sync_event_task_notify_add_completion_cb_t)(
		struct doca_sync_event_task_notify_add *task, union doca_data task_user_data,
		union doca_data ctx_user_data);
/** Whether a device runs such tasks. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_notify_add_is_supported(const struct doca_devinfo *devinfo);
/** Configure such tasks. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_notify_add_set_conf(struct doca_sync_event *event,
		doca_sync_event_task_notify_add_completion_cb_t completion_cb,
		doca_sync_event_task_notify_add_completion_cb_t error_cb, uint32_t num_tasks);
/** Allocate such a task. *fetched* is the value before; it may be NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_notify_add_alloc_init(struct doca_sync_event *event,
		uint64_t value, uint64_t *fetched, union doca_data user_data,
		struct doca_sync_event_task_notify_add **task);
/** Such a task as a doca_task. */
DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_notify_add_as_doca_task(
		struct doca_sync_event_task_notify_add *task);

/** A task that waits until (counter & mask) == value. */
struct doca_sync_event_task_wait_eq;
/** It has completed: see doca_task_get_status(). */
typedef void (*doca_sync_event_task_wait_eq_completion_cb_t)(
		struct doca_sync_event_task_wait_eq *task, union doca_data task_user_data,
		union doca_data ctx_user_data);
/** Whether a device runs such tasks. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_wait_eq_is_supported(const struct doca_devinfo *devinfo);
/** Configure such tasks. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_wait_eq_set_conf(struct doca_sync_event *event,
		doca_sync_event_task_wait_eq_completion_cb_t completion_cb,
		doca_sync_event_task_wait_eq_completion_cb_t error_cb, uint32_t num_tasks);
/** Allocate such a task. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_wait_eq_alloc_init(struct doca_sync_event *event,
		uint64_t value, uint64_t mask, union doca_data user_data,
		struct doca_sync_event_task_wait_eq **task);
/** Such a task as a doca_task. */
DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_wait_eq_as_doca_task(
		struct doca_sync_event_task_wait_eq *task);

/** A task that waits until (counter & mask) != value. */
struct doca_sync_event_task_wait_neq;
/** It has completed: see doca_task_get_status(). */
typedef void (*doca_sync_event_task_wait_neq_completion_cb_t)(
		struct doca_sync_event_task_wait_neq *task, union doca_data task_user_data,
		union doca_data ctx_user_data);
/** Whether a device runs such tasks. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_wait_neq_is_supported(const struct doca_devinfo *devinfo);
/** Configure such tasks. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_wait_neq_set_conf(struct doca_sync_event *event,
		doca_sync_event_task_wait_neq_completion_cb_t completion_cb,
		doca_sync_event_task_wait_neq_completion_cb_t error_cb, uint32_t num_tasks);
/** Allocate such a task. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_wait_neq_alloc_init(struct doca_sync_event *event,
		uint64_t value, uint64_t mask, union doca_data user_data,
		struct doca_sync_event_task_wait_neq **task);
/** Such a task as a doca_task. */
DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_wait_neq_as_doca_task(
		struct doca_sync_event_task_wait_neq *task);
/** @} */
#endif

#ifdef __cplusplus
}
#endif

#if COMCH_DOCA_GENERATION < 205
#include <comch_doca_sync_event_200.h>
#endif

#endif /* DOCA_SYNC_EVENT_H */
