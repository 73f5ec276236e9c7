/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_DPA_OBJECTS_H
#define COMCH_DOCA_DPA_OBJECTS_H

/**
 * @file
 * The part of doca_dpa.h that only some applications need: hash tables, execution
 * units, thread groups, and copies by device code. doca_dpa.h includes this header; its
 * rules about threads and errors apply here, too.
 *
 * Reference: DOCA DPA guide 2.10, section "Host-Side API".
 */

#include <doca_dpa.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Hash tables
 * @{
 */

/**
 * Create a hash table of 32-bit keys and 64-bit values.
 *
 * @param dpa
 *   The context, started.
 * @param num_entries
 *   Maximum number of keys: 1 to 2^24.
 * @param[out] ht
 *   The table.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: *num_entries* is out of range
 *   - DOCA_ERROR_BAD_STATE: the context is not started
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_hash_table_create(struct doca_dpa *dpa, unsigned int num_entries,
		struct doca_dpa_hash_table **ht);

/** Destroy a hash table. Its handle becomes invalid. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_hash_table_destroy(struct doca_dpa_hash_table *ht);

/** Handle for device code, valid until the table is destroyed. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_hash_table_get_dpa_handle(struct doca_dpa_hash_table *ht,
		doca_dpa_dev_hash_table_t *ht_handle);
/** @} */

/** @name Execution units
 * An execution unit (EU) runs one thread at a time. With comch it is a CPU: one of
 * `dpa_cpus` in the device table, or else one of those that the process may use when a
 * context is first asked.
 * @{
 */

/** Number of cores: 1. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_core_num(struct doca_dpa *dpa, unsigned int *num_cores);

/** EUs per core: all EUs. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_num_eus_per_core(struct doca_dpa *dpa, unsigned int *eus_per_core);

/** Number of EUs that threads can be bound to. Ids start at 0. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_total_num_eus_available(struct doca_dpa *dpa,
		unsigned int *total_num_eus);

/** Create an affinity without an EU. @return DOCA_ERROR_NO_MEMORY. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_eu_affinity_create(struct doca_dpa *dpa,
		struct doca_dpa_eu_affinity **affinity);

/** Destroy an affinity. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_eu_affinity_destroy(struct doca_dpa_eu_affinity *affinity);

/** Set the EU of an affinity. @return DOCA_ERROR_INVALID_VALUE: id out of range. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_eu_affinity_set(struct doca_dpa_eu_affinity *affinity,
		unsigned int eu_id);

/** Remove the EU of an affinity. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_eu_affinity_clear(struct doca_dpa_eu_affinity *affinity);

/** The EU of an affinity. @return DOCA_ERROR_INVALID_VALUE: not set. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_eu_affinity_get(struct doca_dpa_eu_affinity *affinity,
		unsigned int *eu_id);
/** @} */

/** @name Thread groups
 * A group gives ranks to threads: doca_dpa_dev_thread_rank(),
 * doca_dpa_dev_num_threads().
 * @{
 */

/**
 * Create a group.
 *
 * @param dpa
 *   The context, which may be started later.
 * @param num_threads
 *   Number of threads: 1 to doca_dpa_get_max_threads_per_kernel().
 * @param[out] tg
 *   The group.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: *num_threads* is out of range
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_group_create(struct doca_dpa *dpa, unsigned int num_threads,
		struct doca_dpa_tg **tg);

/** Destroy a group; it is stopped first. Its threads leave the group. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_group_destroy(struct doca_dpa_tg *tg);

/** Number of threads of the group, as given at creation. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_group_get_num_threads(struct doca_dpa_tg *tg,
		unsigned int *num_threads);

/**
 * Set the thread of a rank, replacing the previous one.
 *
 * @param tg
 *   The group, not started.
 * @param thread
 *   The thread, of the same context.
 * @param rank
 *   Rank, less than the number of threads.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: *rank* is out of range, or the thread is of another
 *     context or has another rank
 *   - DOCA_ERROR_BAD_STATE: the group is started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_group_set_thread(struct doca_dpa_tg *tg,
		struct doca_dpa_thread *thread, unsigned int rank);

/**
 * Start a group: its threads, started or not, have their ranks in all later
 * activations.
 *
 * @return DOCA_ERROR_BAD_STATE: started, a rank has no thread, or one of its threads is
 * in a started group
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_group_start(struct doca_dpa_tg *tg);

/** Stop a group: its threads become rank 0 of 1. @return DOCA_ERROR_BAD_STATE: not started. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_group_stop(struct doca_dpa_tg *tg);
/** @} */

/** @name Async ops
 * A queue of memory copies for device code: doca_dpa_dev_post_memcpy().
 *
 *     doca_dpa_async_ops_create(), _attach(), _start(), _get_dpa_handle()
 *     ...
 *     doca_dpa_async_ops_stop(), _destroy()
 * @{
 */

/**
 * Create async ops.
 *
 * @param dpa
 *   The context, which may be started later.
 * @param queue_size
 *   Maximum number of operations in flight: 1 to 2^20, rounded up to a power of two.
 * @param user_data
 *   User data of the completion elements: DOCA_DPA_COMPLETION_LOG_MAX_USER_DATA bits.
 * @param[out] async_ops
 *   The async ops.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: *queue_size* is out of range, or *user_data* has more
 *     bits
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_async_ops_create(struct doca_dpa *dpa, unsigned int queue_size,
		uint64_t user_data, struct doca_dpa_async_ops **async_ops);

/** Destroy async ops; they are stopped first. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_async_ops_destroy(struct doca_dpa_async_ops *async_ops);

/** Maximum number of operations in flight: a power of two. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_async_ops_get_queue_size(struct doca_dpa_async_ops *async_ops,
		unsigned int *queue_size);

/** User data of the completion elements. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_async_ops_get_user_data(struct doca_dpa_async_ops *async_ops,
		uint64_t *user_data);

/**
 * Set the completion. Mandatory. Several async ops may share one.
 *
 * @param async_ops
 *   The async ops, not started.
 * @param dpa_comp
 *   A started completion of the same context. It can be stopped once the async ops are
 *   stopped or attached to another.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: a completion of another context
 *   - DOCA_ERROR_BAD_STATE: started, or the completion is not started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_async_ops_attach(struct doca_dpa_async_ops *async_ops,
		struct doca_dpa_completion *dpa_comp);

/**
 * Start async ops.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: started, or no completion is attached
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_async_ops_start(struct doca_dpa_async_ops *async_ops);

/**
 * Stop async ops and detach their completion. Their handle becomes invalid.
 *
 * @return DOCA_ERROR_BAD_STATE: not started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_async_ops_stop(struct doca_dpa_async_ops *async_ops);

/** Handle for device code. @return DOCA_ERROR_BAD_STATE: not started. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_async_ops_get_dpa_handle(struct doca_dpa_async_ops *async_ops,
		doca_dpa_dev_async_ops_t *handle);
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_DPA_OBJECTS_H */
