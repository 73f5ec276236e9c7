/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_POLL_H
#define RTE_COMCH_POLL_H

/**
 * @file
 * A poll advances all objects attached to it.
 *
 * Busy polling
 * ------------
 *
 *     for (;;) {
 *         n = rte_comch_poll_run(poll, ev, RTE_DIM(ev));
 *         for (i = 0; i < n; i++)
 *             handle(&ev[i]);
 *     }
 *
 * A run with nothing to do makes no syscall.
 *
 * Sleeping
 * --------
 *
 *     fd = rte_comch_poll_fd(poll, RTE_COMCH_POLL_ANY);
 *     for (;;) {
 *         while ((n = rte_comch_poll_run(poll, ev, RTE_DIM(ev))) > 0)
 *             handle(ev, n);
 *         if (rte_comch_poll_arm(poll, RTE_COMCH_POLL_ANY) == 0)
 *             poll/select/epoll_wait on fd
 *     }
 *
 * rte_comch_poll_arm() checks every queue again after it has notified the peers. Whatever
 * arrives before, during or after the call makes it return -EAGAIN or makes the fd
 * readable. No wake-up is lost, but some may be spurious. rte_comch_poll_run() may be
 * called at any time, and disarms the poll.
 *
 * A thread that sleeps for this poll only needs no fd, and fewer syscalls:
 *
 *     for (;;) {
 *         while ((n = rte_comch_poll_run(poll, ev, RTE_DIM(ev))) > 0)
 *             handle(ev, n);
 *         rte_comch_poll_wait(poll, RTE_COMCH_POLL_ANY, -1);
 *     }
 *
 * A poll with only producers and consumers (one per lcore, say) wakes for them: for a
 * buffer posted by the peer, a message or a change of state.
 *
 * Threads: one at a time for run, arm, wait and clear. Any thread may call
 * rte_comch_poll_notify().
 */

#include <rte_comch.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Classes of events to sleep for
 * They can be combined in rte_comch_poll_arm(). Each class has an fd.
 * @{
 */
/** Control messages and fast-path messages. */
#define RTE_COMCH_POLL_RX   (UINT32_C(1) << 0)
/** Room to send: control credits (and so SENT events), posted buffers. */
#define RTE_COMCH_POLL_TX   (UINT32_C(1) << 1)
/** Connections, states, and the peer's consumers. */
#define RTE_COMCH_POLL_LINK (UINT32_C(1) << 2)
/** Everything. */
#define RTE_COMCH_POLL_ANY  (RTE_COMCH_POLL_RX | RTE_COMCH_POLL_TX | RTE_COMCH_POLL_LINK)
/** @} */

/** Configuration of a poll. Zero means default. */
struct rte_comch_poll_conf {
	size_t conf_size;  /**< sizeof(struct rte_comch_poll_conf) */
	const char *name;  /**< For logs and telemetry; copied; may be NULL. */
	int socket_id;     /**< NUMA socket of its memory; SOCKET_ID_ANY. */
};

/** Counters of a poll. */
struct rte_comch_poll_stats {
	uint64_t runs;      /**< Calls of rte_comch_poll_run(). */
	uint64_t busy_runs; /**< Runs that returned an event. */
	uint64_t events;    /**< Events returned. */
	uint64_t arms;      /**< Calls of rte_comch_poll_arm() and _wait() that armed. */
	uint64_t wakes;     /**< Runs, or waits, that found an fd readable after arming. */
	/**
	 * Longest measured run, in nanoseconds of elapsed time (preemption included). Runs
	 * that only return messages are measured about once a millisecond, all others always.
	 */
	uint64_t longest_run_ns;
};

/**
 * Create a poll.
 *
 * @param conf
 *   NULL for defaults.
 * @return
 *   The poll, or NULL with rte_errno: EINVAL, ENOMEM, EMFILE, ENFILE.
 */
struct rte_comch_poll *rte_comch_poll_create(const struct rte_comch_poll_conf *conf);

/**
 * Destroy a poll.
 *
 * @return
 *   0, -EINVAL (NULL), -EBUSY (objects are attached), -EBADFD (in a forked child).
 */
int rte_comch_poll_destroy(struct rte_comch_poll *poll);

/**
 * Advance all objects of the poll and return events.
 *
 * @param poll
 *   The poll.
 * @param[out] events
 *   Array for the events. What they point to is valid until the next call.
 * @param max
 *   Size of the array. 0 is allowed: states advance, and events are kept.
 * @return
 *   Number of events. If it is *max*, there may be more.
 */
uint16_t rte_comch_poll_run(struct rte_comch_poll *poll,
		struct rte_comch_event *events, uint16_t max);

/**
 * The file descriptor to sleep on for a class of events. The poll owns it and it never
 * changes. It is readable (POLLIN, EPOLLIN, also edge-triggered) when an armed poll has
 * an event of that class.
 *
 * @param poll
 *   The poll.
 * @param cls
 *   Exactly one of RTE_COMCH_POLL_ANY, _RX, _TX or _LINK.
 * @return
 *   The descriptor, -EINVAL, -EMFILE.
 */
int rte_comch_poll_fd(struct rte_comch_poll *poll, uint32_t cls);

/**
 * Arm the poll: request a wake-up from all peers.
 *
 * @param poll
 *   The poll.
 * @param cls
 *   Classes to wake for, RTE_COMCH_POLL_*. Without RTE_COMCH_POLL_TX a peer does not
 *   wake the poll just because it has received messages.
 * @return
 *   - 0: armed; sleep on the fd.
 *   - -EAGAIN: there is something to do; call rte_comch_poll_run().
 *   - -EINVAL: no poll, no class or an unknown one.
 *   - -ENOTSUP: a device of an attached connection, producer or consumer lacks
 *     RTE_COMCH_CAPA_EVENT_FD; poll without sleeping.
 *   - -EBADFD: in a forked child.
 */
int rte_comch_poll_arm(struct rte_comch_poll *poll, uint32_t cls);

/**
 * Arm the poll, sleep on its fd and disarm it again: in one syscall if nothing else is to do.
 *
 * @param poll
 *   The poll.
 * @param cls
 *   As for rte_comch_poll_arm().
 * @param timeout_ms
 *   Maximum time to sleep; -1: no limit.
 * @return
 *   - 1: there may be something to do; call rte_comch_poll_run(), and the bursts of the
 *     poll's consumers and producers. Some wake-ups are spurious.
 *   - 0: the time is over.
 *   - -EINTR: a signal handler ran during the sleep. One that runs just before it does not end
 *     it: call rte_comch_poll_notify() in the handler, which does.
 *   - -EINVAL, -ENOTSUP, -EBADFD: as for rte_comch_poll_arm().
 */
int rte_comch_poll_wait(struct rte_comch_poll *poll, uint32_t cls, int timeout_ms);

/**
 * Make the fds unreadable again and disarm. rte_comch_poll_run() does so itself; this
 * is for programs that sleep again without running the poll.
 *
 * @return
 *   0, -EINVAL, -EBADFD (in a forked child).
 */
int rte_comch_poll_clear(struct rte_comch_poll *poll);

/**
 * Wake a thread that sleeps on the poll's fd. Any thread.
 *
 * @return
 *   0, -EINVAL, -EBADFD (in a forked child).
 */
int rte_comch_poll_notify(struct rte_comch_poll *poll);

/** Get the counters of a poll. Any thread. @return 0, -EINVAL. */
int rte_comch_poll_stats_get(const struct rte_comch_poll *poll,
		struct rte_comch_poll_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_POLL_H */
