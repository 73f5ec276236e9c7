/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The poll goes to sleep, and wakes up. */

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "sdk/comch_asym.h"
#include "sdk/comch_fork.h"
#include "sdk/comch_log.h"
#include "base/comch_poll.h"

/* Wake-up interval of a sleeping poll while a task waits for something. */
#define WAKE_INTERVAL_NS (10 * 1000 * 1000)

static void
poll_awake(struct rte_comch_poll *poll)
{
	poll->armed = false;
	poll->rest_at = rte_rdtsc() + COMCH_POLL_REST_SCANS * poll->scan_cycles;
	comch_store_relaxed(&poll->sleeping, 0);
}

void
comch_poll_disarm(struct rte_comch_poll *poll)
{
	if (!poll->armed)
		return;
	poll_awake(poll);
	comch_poll_scan_at(poll, 0);
}

void
comch_poll_rest(struct rte_comch_poll *poll)
{
	struct comch_poll_source *source;
	struct comch_poll_task *task;

	poll->asks_fences = false;
	/* Model: publish.pml, find. */
	for (task = comch_load_acquire(&poll->tasks); task != NULL; task = task->next)
		task->ops->rest(task);
	pthread_mutex_lock(&poll->lock);
	TAILQ_FOREACH(source, &poll->sources, next)
		if (source->rest != NULL)
			source->rest(source);
	pthread_mutex_unlock(&poll->lock);
}

/*
 * Arm all tasks and sources. True: a task waits for something. *heavy: one of them needs the
 * heavy fence.
 */
static bool
poll_arm_all(struct rte_comch_poll *poll, uint32_t cls, bool *heavy)
{
	struct comch_poll_source *source;
	struct comch_poll_task *task;
	bool waits = false;

	*heavy = false;
	poll->asks_fences = true;
	comch_store_relaxed(&poll->sleeping, 1);
	/* Model: publish.pml, find. */
	for (task = comch_load_acquire(&poll->tasks); task != NULL; task = task->next)
		waits |= task->ops->arm(task, cls, heavy);
	pthread_mutex_lock(&poll->lock);
	TAILQ_FOREACH(source, &poll->sources, next)
		if ((source->classes & cls) != 0)
			*heavy |= source->arm(source);
	pthread_mutex_unlock(&poll->lock);
	return waits;
}

/* Order the stores of arming before the loads of poll_pending(); see comch_asym.h. */
static void
poll_arm_fence(struct rte_comch_poll *poll, bool heavy)
{
	if (heavy)
		comch_fence_sleep(); /* wake.pml, sleep */
	else
		__atomic_thread_fence(__ATOMIC_SEQ_CST); /* wake.pml, sleep */
	/* Threads of this process use light fences as well. Model: wake.pml, sleep. */
	if (comch_load_relaxed(&poll->nb_light_fence) > 0)
		comch_fence_heavy();
}

/* Has a run anything to do or to return? */
static bool
poll_pending(struct rte_comch_poll *poll, uint32_t cls)
{
	struct comch_poll_source *source;
	struct comch_poll_task *task;
	bool pending;

	pending = !STAILQ_EMPTY(&poll->work) || !STAILQ_EMPTY(&poll->later) ||
		comch_load_relaxed(&poll->mailbox) != NULL ||
		comch_load_acquire(&poll->notified) != 0; /* publish.pml, find */
	/* Model: publish.pml, find. */
	for (task = comch_load_acquire(&poll->tasks); task != NULL; task = task->next)
		pending |= task->ops->pending(task);
	if (pending)
		return true;
	pthread_mutex_lock(&poll->lock);
	TAILQ_FOREACH(source, &poll->sources, next)
		if ((source->classes & cls) != 0)
			pending |= source->pending(source);
	pthread_mutex_unlock(&poll->lock);
	return pending;
}

/* Wake the poll for retries and deadlines of tasks; or not any more, if none waits. */
static int
poll_set_timer(struct rte_comch_poll *poll, bool waits)
{
	const struct itimerspec in = { .it_value.tv_nsec = waits ? WAKE_INTERVAL_NS : 0 };

	if (!waits && !poll->timer_is_set)
		return 0;
	if (timerfd_settime(poll->timer_fd.fd, 0, &in, NULL) != 0)
		return -errno;
	poll->timer_is_set = waits;
	return 0;
}

/* drain: make the descriptors unreadable first. */
static int
poll_arm(struct rte_comch_poll *poll, uint32_t cls, bool drain)
{
	bool waits, heavy;

	if (poll == NULL || cls == 0 || (cls & ~RTE_COMCH_POLL_ANY) != 0)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	if (comch_load_relaxed(&poll->nb_cannot_wake) > 0) {
		COMCH_LOG(ERR, "poll %s: arm: %u objects use devices without event descriptors",
			poll->name, poll->nb_cannot_wake);
		return -ENOTSUP;
	}
	/* If it has something to do already, do not ask peers for wake-ups. */
	if (poll_pending(poll, cls)) {
		comch_poll_disarm(poll);
		poll->next_look = 0;
		return -EAGAIN;
	}
	if (drain)
		comch_poll_drain_fds(poll);
	poll->armed = true;
	waits = poll_arm_all(poll, cls, &heavy);
	poll_arm_fence(poll, heavy);
	if (poll_pending(poll, cls) || poll_set_timer(poll, waits) != 0) {
		comch_poll_disarm(poll);
		return -EAGAIN;
	}
	comch_count(&poll->stats.arms, 1);
	poll->has_slept = true;
	return 0;
}

int
rte_comch_poll_arm(struct rte_comch_poll *poll, uint32_t cls)
{
	return poll_arm(poll, cls, true);
}

int
rte_comch_poll_wait(struct rte_comch_poll *poll, uint32_t cls, int timeout_ms)
{
	/* The sleep serves descriptors that are readable already, and is over then. */
	int ret = poll_arm(poll, cls, false);

	if (ret != 0)
		return ret == -EAGAIN ? 1 : ret;
	ret = comch_poll_sleep(poll, timeout_ms);
	/* The sleep has looked at the descriptors: a run need not. */
	poll_awake(poll);
	poll->has_slept = false;
	poll->next_look = 0; /* a notification may have woken the poll */
	if (ret <= 0)
		return ret;
	comch_count(&poll->stats.wakes, 1);
	return 1;
}

int
rte_comch_poll_clear(struct rte_comch_poll *poll)
{
	if (poll == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	comch_poll_disarm(poll);
	poll->has_slept = false;
	comch_poll_drain_fds(poll);
	poll->next_look = 0; /* a notification may have woken the poll */
	return 0;
}

int
rte_comch_poll_notify(struct rte_comch_poll *poll)
{
	uint64_t one = 1;

	if (poll == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	/*
	 * Release: pairs with the acquire in poll_pending(), which then refuses to sleep.
	 * Model: publish.pml, publish.
	 */
	comch_store_release(&poll->notified, 1);
	/* EAGAIN: the counter is full, so the descriptor is readable anyway. */
	if (write(poll->event_fd, &one, sizeof(one)) != sizeof(one) && errno != EAGAIN)
		return -errno;
	return 0;
}
