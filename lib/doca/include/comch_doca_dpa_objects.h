/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_DPA_OBJECTS_H
#define COMCH_DOCA_DPA_OBJECTS_H

/**
 * @file
 * The part of doca_dpa.h that only some applications need: hash tables, execution
 * units, thread groups, and copies by device code. Included by it; what it says of
 * threads and errors is also true here.
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
 *   How many keys it can have; not 0, up to 2^24.
 * @param[out] ht
 *   The table.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also, no entries or too many
 *   - DOCA_ERROR_BAD_STATE: the context is not started
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_hash_table_create(struct doca_dpa *dpa, unsigned int num_entries,
		struct doca_dpa_hash_table **ht);

/** Destroy a hash table. Its handle is bad from now on. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_hash_table_destroy(struct doca_dpa_hash_table *ht);

/** The handle for device code, until the table is destroyed. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_hash_table_get_dpa_handle(struct doca_dpa_hash_table *ht,
		doca_dpa_dev_hash_table_t *ht_handle);
/** @} */

/** @name Execution units
 * An execution unit (EU) runs one thread at a time. Here it is a CPU, of those that
 * the device table gives (`dpa_cpus`), else of those that the process may run on
 * when the context is asked first.
 * @{
 */

/** Cores: 1. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_core_num(struct doca_dpa *dpa, unsigned int *num_cores);

/** EUs of a core: all of them. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_num_eus_per_core(struct doca_dpa *dpa, unsigned int *eus_per_core);

/** EUs that threads can be bound to: ids from 0 up. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_get_total_num_eus_available(struct doca_dpa *dpa,
		unsigned int *total_num_eus);

/** Create an affinity, without an EU. @return DOCA_ERROR_NO_MEMORY. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_eu_affinity_create(struct doca_dpa *dpa,
		struct doca_dpa_eu_affinity **affinity);

/** Destroy an affinity. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_eu_affinity_destroy(struct doca_dpa_eu_affinity *affinity);

/** Set its EU. @return DOCA_ERROR_INVALID_VALUE: also, there is no such EU. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_eu_affinity_set(struct doca_dpa_eu_affinity *affinity,
		unsigned int eu_id);

/** Have no EU. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_eu_affinity_clear(struct doca_dpa_eu_affinity *affinity);

/** The EU that is set. @return DOCA_ERROR_INVALID_VALUE: also, none is. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_eu_affinity_get(struct doca_dpa_eu_affinity *affinity,
		unsigned int *eu_id);
/** @} */

/** @name Thread groups
 * Give threads numbers: what doca_dpa_dev_thread_rank() and _num_threads() say.
 * @{
 */

/**
 * Create a group.
 *
 * @param dpa
 *   The context, which may be started later.
 * @param num_threads
 *   Its threads; not 0, up to doca_dpa_get_max_threads_per_kernel().
 * @param[out] tg
 *   The group.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also, no threads or too many
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_group_create(struct doca_dpa *dpa, unsigned int num_threads,
		struct doca_dpa_tg **tg);

/** Destroy a group. It is stopped before; its threads are in no group any more. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_group_destroy(struct doca_dpa_tg *tg);

/** Threads of the group, as it was created. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_group_get_num_threads(struct doca_dpa_tg *tg,
		unsigned int *num_threads);

/**
 * Put a thread into a group, in the place of the one that has the rank.
 *
 * @param tg
 *   The group, not started.
 * @param thread
 *   The thread, of the same context.
 * @param rank
 *   Its number, from 0 up.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also, a rank that is not less than the number of
 *     threads, a thread of another context, or one that has another rank
 *   - DOCA_ERROR_BAD_STATE: the group is started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_group_set_thread(struct doca_dpa_tg *tg,
		struct doca_dpa_thread *thread, unsigned int rank);

/**
 * Start a group: its threads get their ranks, whether they are started or not, for
 * the activations that follow.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: started, a rank has no thread, or a thread of it is in a
 *     started group
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_group_start(struct doca_dpa_tg *tg);

/** Stop a group: its threads are rank 0 of 1. @return DOCA_ERROR_BAD_STATE: not started. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_thread_group_stop(struct doca_dpa_tg *tg);
/** @} */

/** @name Async ops
 * Device code has memory copied by them: doca_dpa_dev_post_memcpy().
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
 *   Operations under way at once; rounded up to a power of two. Not 0.
 * @param user_data
 *   What elements of the completion tell: DOCA_DPA_COMPLETION_LOG_MAX_USER_DATA
 *   bits.
 * @param[out] async_ops
 *   The async ops.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also, a size of 0 or over 2^20, or user data of more
 *     bits
 *   - DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_async_ops_create(struct doca_dpa *dpa, unsigned int queue_size,
		uint64_t user_data, struct doca_dpa_async_ops **async_ops);

/** Destroy async ops. They are stopped before. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_async_ops_destroy(struct doca_dpa_async_ops *async_ops);

/** Operations under way at once: a power of two. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_async_ops_get_queue_size(struct doca_dpa_async_ops *async_ops,
		unsigned int *queue_size);

/** The user data. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_async_ops_get_user_data(struct doca_dpa_async_ops *async_ops,
		uint64_t *user_data);

/**
 * Set where elements go. Mandatory. Several async ops may have the same completion.
 *
 * @param async_ops
 *   The async ops, not started.
 * @param dpa_comp
 *   The completion, of the same context, started; it can be stopped when the async
 *   ops are stopped, or are attached to another one.
 * @return
 *   - DOCA_ERROR_INVALID_VALUE: also, a completion of another context
 *   - DOCA_ERROR_BAD_STATE: started, or the completion is not
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
 * Stop async ops. Their handle is bad from now on, and no completion is attached.
 *
 * @return
 *   - DOCA_ERROR_BAD_STATE: not started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_async_ops_stop(struct doca_dpa_async_ops *async_ops);

/** The handle for device code. @return DOCA_ERROR_BAD_STATE: not started. */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_async_ops_get_dpa_handle(struct doca_dpa_async_ops *async_ops,
		doca_dpa_dev_async_ops_t *handle);
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* COMCH_DOCA_DPA_OBJECTS_H */
