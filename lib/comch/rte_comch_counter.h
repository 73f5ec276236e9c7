/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_COUNTER_H
#define RTE_COMCH_COUNTER_H

/**
 * @file
 * Counters: a word of 64 bits that two processes or more set, add to and wait for.
 *
 *     owner                                     other side
 *     rte_comch_counter_create()
 *     rte_comch_counter_export() -- 144 bytes -> rte_comch_counter_import()
 *                                               rte_comch_counter_connect() until it is there
 *     rte_comch_counter_set(), _add(), _get()   the same
 *     rte_comch_counter_wait()                  the same
 *     rte_comch_counter_free()                  rte_comch_counter_free()
 *
 * The word is in memory that all of them share, so an update is visible at once, and a process that
 * has exited or is stopped delays no other. Memory written before an update is visible after a wait
 * for it.
 *
 * Who waits sleeps in the kernel (futex(2)); an update makes a system call only if somebody does. A
 * *watch* has a poll woken by an update, so that a thread can sleep for counters and for all else.
 *
 * Peers may be hostile: all that one of them can do is to update the counter at will, to wake
 * others or fail to wake them, which then look again within RTE_COMCH_COUNTER_LOOK_MS, and to
 * have updates cost a system call each.
 *
 * The descriptor has a key: see rte_comch_remote.h. Both are on one machine.
 *
 * Threads: any, for the functions of a connected counter; export, connect, watch and free: one at
 * a time. A thread that has seen an update may free the counter, even if the call that made the
 * update has not returned yet. A watch belongs to the thread of its poll.
 *
 * A child of fork() does not have the counters of its parent: they are 0, cannot be changed, and
 * the other functions return -EBADFD.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_comch.h>
#include <rte_comch_remote.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rte_comch_counter;

/** A sleeper looks at least so often, whatever peers do. */
#define RTE_COMCH_COUNTER_LOOK_MS 10

/** What is waited for, of the counter under a mask. */
enum rte_comch_counter_cond {
	RTE_COMCH_COUNTER_EQ,  /**< is equal to the value */
	RTE_COMCH_COUNTER_NE,
	RTE_COMCH_COUNTER_GT,  /**< unsigned */
};

/** Other processes may import it. */
#define RTE_COMCH_COUNTER_F_SHARED (UINT32_C(1) << 0)

/**
 * Create a counter, which is 0.
 *
 * @param flags
 *   RTE_COMCH_COUNTER_F_SHARED or 0.
 * @return
 *   The counter, or NULL with rte_errno: EINVAL (an unknown flag), ENOMEM, EMFILE.
 */
struct rte_comch_counter *rte_comch_counter_create(uint32_t flags);

/**
 * Export a counter, and get the descriptor for importers. Further calls return the same one.
 *
 * @param counter
 *   A counter with RTE_COMCH_COUNTER_F_SHARED, of this process.
 * @param dev_id
 *   A device whose two sides are on one machine.
 * @param[out] desc
 *   The descriptor.
 * @return
 *   0, -EINVAL (NULL), -ENOTSUP (no such counter or device, or another device than before), or
 *   as rte_comch_export_create().
 */
int rte_comch_counter_export(struct rte_comch_counter *counter, int16_t dev_id,
		uint8_t desc[RTE_COMCH_EXPORT_DESC_LEN]);

/**
 * Import a counter. Nothing is connected yet.
 *
 * @return
 *   The counter, or NULL with rte_errno: EINVAL (NULL, or not a descriptor), ENOMEM.
 */
struct rte_comch_counter *rte_comch_counter_import(const uint8_t desc[RTE_COMCH_EXPORT_DESC_LEN]);

/**
 * Get the memory of an imported counter, from its owner, once.
 *
 * @return
 *   - 0: it is there; also for an owner's counter.
 *   - -EAGAIN: the owner has not answered yet, or has no file descriptor left.
 *   - -ENOTCONN: the owner is gone, has freed it, or has something else by that descriptor; logged
 *     once.
 *   - -EINVAL: NULL.
 *   - -ENOMEM, -EMFILE, -ENFILE: of this process. It may be called again.
 */
int rte_comch_counter_connect(struct rte_comch_counter *counter);

/** Free a counter that no call uses. The other side keeps its own. NULL is allowed. */
void rte_comch_counter_free(struct rte_comch_counter *counter);

/** The value. The counter is connected, here and below. */
uint64_t rte_comch_counter_get(const struct rte_comch_counter *counter);

/** Set the value. */
void rte_comch_counter_set(struct rte_comch_counter *counter, uint64_t value);

/** Add to the value, modulo 2^64. @return The value before. */
uint64_t rte_comch_counter_add(struct rte_comch_counter *counter, uint64_t value);

/** Whether (counter & mask) is as a condition says, now. */
bool rte_comch_counter_is(const struct rte_comch_counter *counter,
		enum rte_comch_counter_cond cond, uint64_t value, uint64_t mask);

/**
 * Wait for a condition; this thread looks for some microseconds, then sleeps.
 *
 * @param counter
 *   The counter.
 * @param cond
 *   What to wait for.
 * @param value
 *   What (counter & mask) is compared with.
 * @param mask
 *   Of the counter; UINT64_MAX: all of it.
 * @param timeout_ms
 *   Longest time; -1: none.
 * @return 0; -ETIMEDOUT.
 */
int rte_comch_counter_wait(struct rte_comch_counter *counter, enum rte_comch_counter_cond cond,
		uint64_t value, uint64_t mask, int timeout_ms);

/**
 * Have a poll woken (rte_comch_poll_notify()) once the counter is not *seen* any more; at once, if
 * it is not now. One watch of a counter; another one replaces it.
 *
 * @return 0, -EINVAL (NULL, or not connected), -EAGAIN (a thread cannot be created).
 */
int rte_comch_counter_watch(struct rte_comch_counter *counter, uint64_t seen,
		struct rte_comch_poll *poll);

/** End the watch of a counter, if it has one: its poll is not touched any more. */
void rte_comch_counter_unwatch(struct rte_comch_counter *counter);

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_COUNTER_H */
