/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The descriptors of a poll: one epoll set of all, and one per class on request. */

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "sdk/comch_log.h"
#include "base/comch_poll.h"

/* Maximum number of descriptors that one scan returns. */
#define SCAN_EVENTS 64
/* While a task waits for something, scans are this much more frequent: 50,000 a second. */
#define BUSY_SCANS 50
/* Those of an idle poll: 20,000 a second, for 0.5 to 2 % of its time. */
#define IDLE_SCANS 20
/*
 * For half a millisecond after a scan that has found something, 200,000 a second, without a fast
 * path: the steps of a handshake follow one another.
 */
#define BRISK_SCANS 200
/*
 * A poll is idle if it has at least this many runs in a millisecond, and at most one of this many
 * returns events.
 */
#define IDLE_RUNS 1024

static const uint32_t class_of[COMCH_POLL_NB_CLASSES] = {
	RTE_COMCH_POLL_RX, RTE_COMCH_POLL_TX, RTE_COMCH_POLL_LINK,
};

static uint32_t
epoll_events(const struct comch_fd *cfd)
{
	return EPOLLIN | (cfd->is_level ? 0 : EPOLLRDHUP | (uint32_t)EPOLLET);
}

/* 0, or the first error that is not *unless*. */
static int
add_to_all(struct rte_comch_poll *poll, struct comch_fd *cfd, int unless)
{
	struct epoll_event ev = { .events = epoll_events(cfd), .data.ptr = cfd };
	int i, fd, ret = 0;

	if (epoll_ctl(poll->epoll_fd, EPOLL_CTL_ADD, cfd->fd, &ev) != 0 && errno != unless)
		ret = -errno;
	for (i = 0; i < COMCH_POLL_NB_CLASSES && ret == 0; i++) {
		/* Acquire: pairs with the release in class_fd_open(). Model: publish.pml, find. */
		fd = comch_load_acquire(&poll->class_fd[i]);
		if (fd >= 0 && (cfd->classes & class_of[i]) != 0 &&
				epoll_ctl(fd, EPOLL_CTL_ADD, cfd->fd, &ev) != 0 &&
				errno != unless)
			ret = -errno;
	}
	return ret;
}

static void
del_from_all(struct rte_comch_poll *poll, const struct comch_fd *cfd)
{
	int i, fd;

	epoll_ctl(poll->epoll_fd, EPOLL_CTL_DEL, cfd->fd, NULL);
	for (i = 0; i < COMCH_POLL_NB_CLASSES; i++) {
		/* Acquire: pairs with the release in class_fd_open(). Model: publish.pml, find. */
		fd = comch_load_acquire(&poll->class_fd[i]);
		if (fd >= 0)
			epoll_ctl(fd, EPOLL_CTL_DEL, cfd->fd, NULL);
	}
}

int
comch_poll_fd_add(struct rte_comch_poll *poll, struct comch_fd *cfd)
{
	int ret;

	pthread_mutex_lock(&poll->lock);
	ret = add_to_all(poll, cfd, 0);
	if (ret == 0)
		TAILQ_INSERT_TAIL(&poll->fds, cfd, next);
	else
		del_from_all(poll, cfd);
	pthread_mutex_unlock(&poll->lock);
	return ret;
}

/*
 * These two go without the lock, since their caller has the lock of a connection. A class's set
 * that another thread opens meanwhile may keep the old file until that is closed: what such a
 * set returns is not looked at.
 */
void
comch_poll_fd_suspend(struct rte_comch_poll *poll, const struct comch_fd *cfd)
{
	if (cfd->fd >= 0)
		del_from_all(poll, cfd);
}

int
comch_poll_fd_resume(struct rte_comch_poll *poll, struct comch_fd *cfd)
{
	return cfd->fd < 0 ? 0 : add_to_all(poll, cfd, EEXIST);
}

void
comch_poll_fd_del(struct rte_comch_poll *poll, struct comch_fd *cfd)
{
	if (cfd->fd < 0)
		return;
	pthread_mutex_lock(&poll->lock);
	del_from_all(poll, cfd);
	TAILQ_REMOVE(&poll->fds, cfd, next);
	pthread_mutex_unlock(&poll->lock);
	cfd->fd = -1;
}

/*
 * The poll has spun for the last millisecond, hardly any run has returned events, and there is no
 * fast path: a server's poll that waits for clients, or a client's that waits for its server. A
 * connection should not wait for the next millisecond. A thread that has other work as well does
 * not spin.
 */
static bool
is_idle(struct rte_comch_poll *poll, uint64_t now)
{
	const uint64_t runs = poll->stats.runs - poll->idle_runs;
	const uint64_t busy = poll->stats.busy_runs - poll->idle_busy_runs;

	if (now >= poll->idle_until) {
		poll->idle_until = now + poll->scan_cycles;
		poll->idle_runs = poll->stats.runs;
		poll->idle_busy_runs = poll->stats.busy_runs;
		poll->idle = (busy + 1) * IDLE_RUNS <= runs;
	}
	return poll->idle && comch_load_relaxed(&poll->nb_sources) == 0;
}

/* From the begin of a scan to that of the next one, TSC. */
static uint64_t
scan_interval(struct rte_comch_poll *poll, uint64_t now, bool waits)
{
	const bool idle = is_idle(poll, now);

	if (now < poll->brisk_until && comch_load_relaxed(&poll->nb_sources) == 0)
		return poll->scan_cycles / BRISK_SCANS;
	if (waits)
		return poll->scan_cycles / BUSY_SCANS;
	return idle ? poll->scan_cycles / IDLE_SCANS : poll->scan_cycles;
}

/*
 * Peers decide how long a scan takes: they connect, and never go on. So runs without a scan have
 * half of the time at least.
 */
static void
schedule_scan(struct rte_comch_poll *poll, uint64_t begin, bool waits)
{
	const uint64_t end = rte_rdtsc();
	const uint64_t interval = scan_interval(poll, end, waits);

	poll->scan_not_before = end + (end - begin);
	comch_poll_scan_at(poll, RTE_MIN(poll->later_at,
		RTE_MAX(begin + interval, poll->scan_not_before)));
}

/* Serve n readable descriptors, and the tasks that look at others. */
static void
scanned(struct rte_comch_poll *poll, const struct epoll_event *ev, int n, uint64_t now)
{
	struct comch_poll_task *task;
	struct comch_fd *cfd;
	bool waits = false;
	int i;

	for (i = 0; i < n; i++) {
		cfd = ev[i].data.ptr;
		/* -1: closed by an earlier ready(); its memory is valid until the next run. */
		if (cfd->fd < 0)
			continue;
		cfd->hung_up = (ev[i].events & ~(uint32_t)EPOLLIN) != 0;
		cfd->ready(cfd);
	}
	/* Pairs with comch_poll_task_get(). Model: publish.pml, find. */
	for (task = comch_load_acquire(&poll->tasks); task != NULL; task = task->next)
		waits |= task->ops->scanned(task, now, n < SCAN_EVENTS);
	if (now >= poll->later_at)
		comch_poll_take_later(poll);
	if (n > 0)
		poll->brisk_until = now + poll->scan_cycles / 2;
	schedule_scan(poll, now, waits);
}

bool
comch_poll_scan(struct rte_comch_poll *poll, uint64_t now)
{
	struct epoll_event ev[SCAN_EVENTS];
	int n;

	comch_poll_mark_long(poll);
	n = epoll_wait(poll->epoll_fd, ev, SCAN_EVENTS, 0);
	scanned(poll, ev, n, now);
	return n > 0;
}

/* Returns the number of descriptors served, or a negative errno. */
static int
sleep_and_serve(struct rte_comch_poll *poll, int timeout_ms, bool may_leave)
{
	struct epoll_event ev[SCAN_EVENTS];
	int n = epoll_wait(poll->epoll_fd, ev, SCAN_EVENTS, timeout_ms);
	uint64_t now;

	if (n < 0)
		return -errno;
	now = rte_rdtsc();
	/* Links leave wake-ups unread; but not if one has done so for long. */
	poll->sleeps = may_leave && (poll->nb_unread == 0 || now < poll->unread_until);
	scanned(poll, ev, n, now);
	poll->sleeps = false;
	return n;
}

int
comch_poll_sleep(struct rte_comch_poll *poll, int timeout_ms)
{
	const bool is_long = timeout_ms < 0 || timeout_ms > poll->unread_ms;
	const int first = poll->nb_unread > 0 && is_long ? poll->unread_ms : timeout_ms;
	int ret = sleep_and_serve(poll, first, true);

	if (ret != 0 || poll->nb_unread == 0)
		return ret;
	/* Nothing has come for a while: now read what was left unread. */
	ret = sleep_and_serve(poll, 0, false);
	if (ret != 0 || first == timeout_ms)
		return ret;
	return sleep_and_serve(poll, timeout_ms < 0 ? timeout_ms : timeout_ms - first, true);
}

static int
class_fd_open(struct rte_comch_poll *poll, int idx)
{
	struct epoll_event ev;
	struct comch_fd *cfd;
	int fd;

	fd = epoll_create1(EPOLL_CLOEXEC);
	if (fd < 0)
		return -errno;
	pthread_mutex_lock(&poll->lock);
	/*
	 * Release: pairs with the acquires in add_to_all() and del_from_all().
	 * Model: publish.pml, publish.
	 */
	comch_store_release(&poll->class_fd[idx], fd);
	TAILQ_FOREACH(cfd, &poll->fds, next) {
		ev.events = epoll_events(cfd);
		ev.data.ptr = cfd;
		if ((cfd->classes & class_of[idx]) != 0)
			epoll_ctl(fd, EPOLL_CTL_ADD, cfd->fd, &ev);
	}
	pthread_mutex_unlock(&poll->lock);
	return fd;
}

int
rte_comch_poll_fd(struct rte_comch_poll *poll, uint32_t cls)
{
	int i;

	if (poll == NULL)
		return -EINVAL;
	if (cls == RTE_COMCH_POLL_ANY)
		return poll->epoll_fd;
	for (i = 0; i < COMCH_POLL_NB_CLASSES; i++)
		if (cls == class_of[i])
			return poll->class_fd[i] >= 0 ? poll->class_fd[i] :
				class_fd_open(poll, i);
	COMCH_LOG(ERR, "poll %s: invalid class %#x: expected one RTE_COMCH_POLL_* value",
		poll->name, cls);
	return -EINVAL;
}

void
comch_poll_drain_fds(struct rte_comch_poll *poll)
{
	struct epoll_event ev[SCAN_EVENTS];
	int i;

	/* Each set stores edges: drop those of the classes, the scan below has them too. */
	for (i = 0; i < COMCH_POLL_NB_CLASSES; i++)
		while (poll->class_fd[i] >= 0 &&
				epoll_wait(poll->class_fd[i], ev, SCAN_EVENTS, 0) == SCAN_EVENTS)
			;
	comch_poll_scan(poll, rte_rdtsc());
}
