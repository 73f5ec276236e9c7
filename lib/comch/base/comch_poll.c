/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The poll: runs, notes and tasks. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_string_fns.h>

#include "sdk/comch_fork.h"
#include "sdk/comch_guard.h"
#include "sdk/comch_log.h"
#include "base/comch_fork_notes.h"
#include "base/comch_poll.h"

static void
poll_before_fork(struct comch_registry_entry *entry)
{
	struct rte_comch_poll *poll = container_of(entry, struct rte_comch_poll, entry);
	struct comch_fd *cfd;
	int i;

	pthread_mutex_lock(&poll->lock);
	TAILQ_FOREACH(cfd, &poll->fds, next)
		comch_fork_note_fd(cfd->fd);
	for (i = 0; i < COMCH_POLL_NB_CLASSES; i++)
		comch_fork_note_fd(poll->class_fd[i]);
	comch_fork_note_fd(poll->epoll_fd);
	pthread_mutex_unlock(&poll->lock);
}

COMCH_REGISTRY_TYPE(comch_poll_registry, poll_before_fork)

static void
own_fd_read(struct comch_fd *cfd)
{
	uint64_t count;

	/* Reading resets the counter; an empty one is fine. */
	if (read(cfd->fd, &count, sizeof(count)) < 0)
		return;
}

/* An eventfd or a timer of the poll itself. */
static struct comch_fd
own_fd(int fd)
{
	return (struct comch_fd){
		.fd = fd, .classes = RTE_COMCH_POLL_ANY, .is_level = true, .ready = own_fd_read,
	};
}

struct rte_comch_poll *
rte_comch_poll_create(const struct rte_comch_poll_conf *conf)
{
	struct rte_comch_poll_conf c = { .socket_id = SOCKET_ID_ANY };
	struct rte_comch_poll *poll;
	int i;

	if (conf != NULL && comch_obj_conf(&c, sizeof(c), conf, "poll") != 0) {
		rte_errno = EINVAL;
		return NULL;
	}
	poll = rte_zmalloc_socket("comch_poll", sizeof(*poll), RTE_CACHE_LINE_SIZE, c.socket_id);
	if (poll == NULL)
		goto err_nomem;
	poll->arena_size = COMCH_POLL_RUN_BYTES;
	poll->arena = rte_malloc_socket("comch_arena", COMCH_POLL_ARENA,
			RTE_CACHE_LINE_SIZE, c.socket_id);
	if (poll->arena == NULL)
		goto err_free;
	poll->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	poll->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	poll->timer_fd.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (poll->event_fd < 0 || poll->epoll_fd < 0 || poll->timer_fd.fd < 0)
		goto err_fd;
	for (i = 0; i < COMCH_POLL_NB_CLASSES; i++)
		poll->class_fd[i] = -1;
	STAILQ_INIT(&poll->work);
	STAILQ_INIT(&poll->later);
	poll->later_at = UINT64_MAX;
	TAILQ_INIT(&poll->sources);
	TAILQ_INIT(&poll->fds);
	pthread_mutex_init(&poll->lock, NULL);
	poll->scan_cycles = rte_get_tsc_hz() / COMCH_POLL_SCANS_PER_S;
	poll->unread_ms = COMCH_POLL_UNREAD_MS;
	poll->socket_id = c.socket_id;
	if (c.name != NULL)
		rte_strscpy(poll->name, c.name, sizeof(poll->name));
	poll->timer_fd = own_fd(poll->timer_fd.fd);
	poll->mailbox_fd = own_fd(poll->event_fd);
	if (comch_poll_fd_add(poll, &poll->mailbox_fd) != 0 ||
			comch_poll_fd_add(poll, &poll->timer_fd) != 0)
		goto err_fd;
	comch_registry_add(&comch_poll_registry, &poll->entry);
	return poll;

err_fd:
	rte_errno = errno;
	COMCH_LOG(ERR, "poll %s: cannot create its file descriptors: %s",
		c.name != NULL ? c.name : "", strerror(errno));
	if (poll->event_fd >= 0)
		close(poll->event_fd);
	if (poll->epoll_fd >= 0)
		close(poll->epoll_fd);
	if (poll->timer_fd.fd >= 0)
		close(poll->timer_fd.fd);
	rte_free(poll->arena);
	rte_free(poll);
	return NULL;
err_free:
	rte_free(poll);
err_nomem:
	COMCH_LOG(ERR, "poll: no memory for its structure or arena");
	rte_errno = ENOMEM;
	return NULL;
}

/* Free dead objects: events of the last run that refer to them have expired. */
static void
poll_reap(struct rte_comch_poll *poll)
{
	struct comch_obj *obj;

	comch_poll_mark_long(poll);
	while ((obj = poll->reap) != NULL) {
		poll->reap = obj->note_next;
		comch_poll_detach(poll);
		__atomic_fetch_sub(&poll->nb_cannot_wake, obj->cannot_wake, __ATOMIC_RELAXED);
		obj->free(obj);
	}
}

/* Put an object into its poll's mailbox. False: already there. */
static bool
note_put(struct comch_obj *obj, uint32_t bits)
{
	struct rte_comch_poll *poll = obj->poll;
	struct comch_obj *head;

	/*
	 * Release: pairs with the acquire in poll_take_mailbox(); the service function sees
	 * all stores before this note. Acquire: orders the push after the poll took it out.
	 * Model: note.pml, note.
	 */
	if ((__atomic_fetch_or(&obj->noted, bits, __ATOMIC_ACQ_REL) & COMCH_NOTE_IN) != 0)
		return false;
	head = comch_load_relaxed(&poll->mailbox);
	do {
		obj->note_next = head;
	} while (!__atomic_compare_exchange_n(&poll->mailbox, &head, obj, true,
			__ATOMIC_RELEASE, __ATOMIC_RELAXED)); /* note.pml, push */
	return true;
}

bool
comch_poll_sleeps(struct rte_comch_poll *poll)
{
	/*
	 * Pairs with the fence of arming: it sees the note, or we see it asleep.
	 * Model: wake.pml, publish.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return comch_load_relaxed(&poll->sleeping) != 0;
}

bool
comch_poll_wake(struct rte_comch_poll *poll)
{
	uint64_t one = 1;

	/* EAGAIN: the counter is full, so the descriptor is readable anyway. */
	return comch_poll_sleeps(poll) && write(poll->event_fd, &one, sizeof(one)) >= 0;
}

void
comch_poll_note_as(struct comch_obj *obj, uint32_t bits)
{
	struct rte_comch_poll *poll = obj->poll;

	if (note_put(obj, bits))
		comch_poll_wake(poll);
}

void
comch_poll_note_quietly(struct comch_obj *obj)
{
	note_put(obj, COMCH_NOTE_IN);
}

struct comch_poll_task *
comch_poll_task_get(struct rte_comch_poll *poll, const struct comch_poll_task_ops *ops)
{
	struct comch_poll_task *task;

	pthread_mutex_lock(&poll->lock);
	for (task = poll->tasks; task != NULL && task->ops != ops; task = task->next)
		;
	if (task == NULL)
		task = rte_zmalloc_socket("comch_task", ops->size, RTE_CACHE_LINE_SIZE,
				poll->socket_id);
	if (task != NULL && task->ops == NULL) {
		task->ops = ops;
		task->next = poll->tasks;
		ops->init(task, poll);
		/*
		 * Release: pairs with the acquires of the lockless walks of poll->tasks.
		 * Model: publish.pml, publish.
		 */
		comch_store_release(&poll->tasks, task);
	}
	pthread_mutex_unlock(&poll->lock);
	return task;
}

void
comch_poll_source_add(struct rte_comch_poll *poll, struct comch_poll_source *source)
{
	pthread_mutex_lock(&poll->lock);
	TAILQ_INSERT_TAIL(&poll->sources, source, next);
	__atomic_fetch_add(&poll->nb_sources, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&poll->nb_light_fence, source->light_fence, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&poll->lock);
}

void
comch_poll_source_del(struct rte_comch_poll *poll, struct comch_poll_source *source)
{
	pthread_mutex_lock(&poll->lock);
	TAILQ_REMOVE(&poll->sources, source, next);
	__atomic_fetch_sub(&poll->nb_sources, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&poll->nb_light_fence, source->light_fence, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&poll->lock);
}

/* Move the mailbox to the work list, oldest first. */
static void
poll_take_mailbox(struct rte_comch_poll *poll)
{
	struct comch_obj *obj, *next, *oldest = NULL;

	obj = __atomic_exchange_n(&poll->mailbox, NULL, __ATOMIC_ACQUIRE); /* note.pml, take */
	for (; obj != NULL; obj = next) {
		next = obj->note_next;
		obj->note_next = oldest;
		oldest = obj;
	}
	for (obj = oldest; obj != NULL; obj = next) {
		next = obj->note_next;
		/*
		 * From here on, a note puts the object into the mailbox again.
		 * Model: note.pml, out.
		 */
		__atomic_fetch_and(&obj->noted, ~COMCH_NOTE_IN, __ATOMIC_ACQ_REL);
		if (!obj->working) {
			obj->working = true;
			STAILQ_INSERT_TAIL(&poll->work, obj, work);
		}
	}
}

/* Fairness: the object that used up the last run's limit of frees goes last. */
static void
poll_rotate(struct rte_comch_poll *poll)
{
	struct comch_obj *first = STAILQ_FIRST(&poll->work);

	poll->free_again = false;
	if (first == NULL)
		return;
	STAILQ_REMOVE_HEAD(&poll->work, work);
	STAILQ_INSERT_TAIL(&poll->work, first, work);
}

/*
 * Serve this object again. Objects that wait for time are on poll->later: testing a thousand
 * of them in each run would take longer than the run.
 */
static void
serve_again(struct rte_comch_poll *poll, struct comch_obj *obj)
{
	obj->working = true;
	if (poll->needs_time)
		STAILQ_INSERT_TAIL(&poll->later, obj, work);
	else
		STAILQ_INSERT_TAIL(&poll->work, obj, work);
}

/* Serve noted objects, free destroyed ones. No model: the mailbox acquired the notes. */
static void
poll_serve(struct rte_comch_poll *poll, struct comch_run *run)
{
	struct comch_obj_list todo = STAILQ_HEAD_INITIALIZER(todo);
	struct comch_obj *obj;

	comch_poll_mark_long(poll);
	if (comch_load_relaxed(&poll->mailbox) != NULL)
		poll_take_mailbox(poll);
	if (poll->free_again)
		poll_rotate(poll);
	STAILQ_CONCAT(&todo, &poll->work);
	while ((obj = STAILQ_FIRST(&todo)) != NULL) {
		STAILQ_REMOVE_HEAD(&todo, work);
		obj->working = false;
		poll->needs_time = false;
		if (obj->service(obj, run)) {
			if (!obj->working)
				serve_again(poll, obj);
		} else if (comch_load_acquire(&obj->noted) == COMCH_NOTE_DEAD && !obj->working) {
			obj->note_next = poll->reap;
			poll->reap = obj;
			poll->next_look = 0;
		}
	}
}

/* Update longest_run_ns at the end of a run. */
static __rte_noinline void
poll_measure(struct rte_comch_poll *poll)
{
	const uint64_t cycles = rte_rdtsc() - poll->long_since;
	const double ns = (double)cycles * NS_PER_S / (double)rte_get_tsc_hz();

	poll->may_be_long = false;
	if ((uint64_t)ns > poll->stats.longest_run_ns)
		comch_store_relaxed(&poll->stats.longest_run_ns, (uint64_t)ns);
}

/*
 * What only some runs do: free what died in the last one, whose events have expired, and look
 * at descriptors. A notification only keeps the poll from sleeping, and the first run after an
 * attempt to sleep comes here: so it is forgotten here.
 */
static __rte_noinline void
poll_look(struct rte_comch_poll *poll, uint64_t now)
{
	const bool has_slept = poll->has_slept;

	poll->has_slept = false;
	poll->next_look = UINT64_MAX;
	/* Acquire: what a notification was about is seen after it. Model: publish.pml, find. */
	if (comch_load_relaxed(&poll->notified) != 0)
		(void)__atomic_exchange_n(&poll->notified, 0, __ATOMIC_ACQUIRE);
	if (poll->reap != NULL)
		poll_reap(poll);
	if (poll->asks_fences && now >= poll->rest_at)
		comch_poll_rest(poll);
	if (now < poll->next_scan)
		comch_poll_scan_at(poll, poll->next_scan);
	else if (comch_poll_scan(poll, now) && has_slept)
		comch_count(&poll->stats.wakes, 1);
}

uint16_t
rte_comch_poll_run(struct rte_comch_poll *poll, struct rte_comch_event *events, uint16_t max)
{
	struct comch_run run = { .poll = poll, .events = events, .max = max };
	struct comch_poll_task *task;
	uint64_t now;

	if (unlikely(poll == NULL || (events == NULL && max > 0) || comch_forked))
		return 0;
	comch_guard_enter(&poll->guard, "runs of a poll");
	comch_poll_disarm(poll);
	poll->run_no++;
	poll->arena_used = 0;
	now = rte_rdtsc();
	if (now >= poll->next_look)
		poll_look(poll, now);
	if (!STAILQ_EMPTY(&poll->work) || comch_load_relaxed(&poll->mailbox) != NULL)
		poll_serve(poll, &run);
	/* Model: publish.pml, find. */
	for (task = comch_load_acquire(&poll->tasks); task != NULL; task = task->next)
		task->ops->run(task, &run);
	comch_count(&poll->stats.runs, 1);
	if (run.n > 0) {
		comch_count(&poll->stats.busy_runs, 1);
		comch_count(&poll->stats.events, run.n);
	}
	if (unlikely(poll->may_be_long))
		poll_measure(poll);
	comch_guard_leave(&poll->guard);
	return run.n;
}

int
rte_comch_poll_stats_get(const struct rte_comch_poll *poll, struct rte_comch_poll_stats *stats)
{
	if (poll == NULL || stats == NULL)
		return -EINVAL;
	stats->runs = comch_load_relaxed(&poll->stats.runs);
	stats->busy_runs = comch_load_relaxed(&poll->stats.busy_runs);
	stats->events = comch_load_relaxed(&poll->stats.events);
	stats->arms = comch_load_relaxed(&poll->stats.arms);
	stats->wakes = comch_load_relaxed(&poll->stats.wakes);
	stats->longest_run_ns = comch_load_relaxed(&poll->stats.longest_run_ns);
	return 0;
}

int
rte_comch_poll_destroy(struct rte_comch_poll *poll)
{
	struct comch_poll_task *task;
	int i;

	if (poll == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	/* Free destroyed objects: one run services them, the next frees them. */
	for (i = 0; i < 2; i++) {
		memset(poll->slow, 0, sizeof(poll->slow));
		comch_poll_take_later(poll);
		rte_comch_poll_run(poll, NULL, 0);
	}
	poll_reap(poll);
	if (comch_load_relaxed(&poll->nb_attached) != 0) {
		COMCH_LOG(ERR, "poll %s: destroy: %u objects are attached", poll->name,
			poll->nb_attached);
		return -EBUSY;
	}
	comch_registry_del(&comch_poll_registry, &poll->entry);
	comch_poll_fd_del(poll, &poll->mailbox_fd);
	i = poll->timer_fd.fd;
	comch_poll_fd_del(poll, &poll->timer_fd);
	close(i);
	for (i = 0; i < COMCH_POLL_NB_CLASSES; i++)
		if (poll->class_fd[i] >= 0)
			close(poll->class_fd[i]);
	close(poll->epoll_fd);
	close(poll->event_fd);
	while ((task = poll->tasks) != NULL) {
		poll->tasks = task->next;
		rte_free(task);
	}
	pthread_mutex_destroy(&poll->lock);
	rte_free(poll->arena);
	rte_free(poll);
	return 0;
}
