/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

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

#include "sdk/comch_asym.h"
#include "sdk/comch_fork.h"
#include "sdk/comch_guard.h"
#include "sdk/comch_log.h"
#include "comch_private.h"

/* A connection stays hot for so many runs after its last frame. */
#define HOT_RUNS 64
/* Cold connections that one run looks at. */
#define COLD_PER_RUN 8
/* Descriptors that one look takes. */
#define LOOK_EVENTS 64
/* Between two looks: as a rule, and while somebody shakes hands. */
#define LOOKS_PER_S 1000
#define BUSY_LOOKS_PER_S 50000
/* Regions of peers that a run frees, some 10 us each. */
#define MAX_FREES 256
/* A sleeping poll looks after its handshakes so often. */
#define HANDSHAKE_NAP_NS (10 * 1000 * 1000)

static const uint32_t class_of[COMCH_POLL_NB_CLASSES] = {
	RTE_COMCH_POLL_RX, RTE_COMCH_POLL_TX, RTE_COMCH_POLL_LINK,
};

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
	poll->arena_size = COMCH_POLL_ARENA;
	poll->arena = rte_malloc_socket("comch_arena", poll->arena_size,
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
	TAILQ_INIT(&poll->hot);
	TAILQ_INIT(&poll->cold);
	comch_order_init(&poll->order);
	TAILQ_INIT(&poll->owing);
	TAILQ_INIT(&poll->waiting);
	TAILQ_INIT(&poll->new_cons);
	TAILQ_INIT(&poll->queues);
	TAILQ_INIT(&poll->guests);
	TAILQ_INIT(&poll->fds);
	pthread_mutex_init(&poll->lock, NULL);
	poll->look_cycles = rte_get_tsc_hz() / LOOKS_PER_S;
	poll->socket_id = c.socket_id;
	if (c.name != NULL)
		rte_strscpy(poll->name, c.name, sizeof(poll->name));
	poll->timer_fd.type = COMCH_FD_TIMER;
	poll->timer_fd.classes = RTE_COMCH_POLL_ANY;
	poll->mailbox_fd = (struct comch_fd){
		.type = COMCH_FD_MAILBOX, .fd = poll->event_fd,
		.classes = RTE_COMCH_POLL_ANY,
	};
	if (comch_poll_fd_add(poll, &poll->mailbox_fd) != 0 ||
			comch_poll_fd_add(poll, &poll->timer_fd) != 0)
		goto err_fd;
	comch_registry_add_poll(poll);
	return poll;

err_fd:
	rte_errno = errno;
	COMCH_LOG(ERR, "poll %s: no descriptor: %s", c.name != NULL ? c.name : "",
		strerror(errno));
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
	COMCH_LOG(ERR, "poll: no memory");
	rte_errno = ENOMEM;
	return NULL;
}

/* Free what was buried before the last run: nobody was promised it any longer. */
static void
poll_reap(struct rte_comch_poll *poll)
{
	struct comch_obj *obj;

	while ((obj = poll->reap) != NULL) {
		poll->reap = obj->note_next;
		__atomic_fetch_sub(&poll->nb_attached, 1, __ATOMIC_RELAXED);
		obj->free(obj);
	}
}

void
comch_poll_attach(struct rte_comch_poll *poll)
{
	__atomic_fetch_add(&poll->nb_attached, 1, __ATOMIC_RELAXED);
}

/* Put an object into its poll's mailbox. False: it is there. */
static bool
note_put(struct comch_obj *obj, uint32_t bits)
{
	struct rte_comch_poll *poll = obj->poll;
	struct comch_obj *head;

	/* Acquire and release: what was done before this note is seen when it is served. */
	if ((__atomic_fetch_or(&obj->noted, bits, __ATOMIC_ACQ_REL) & COMCH_NOTE_IN) != 0)
		return false;
	head = comch_load_relaxed(&poll->mailbox);
	do {
		obj->note_next = head;
	} while (!__atomic_compare_exchange_n(&poll->mailbox, &head, obj, true,
			__ATOMIC_RELEASE, __ATOMIC_RELAXED));
	return true;
}

bool
comch_poll_sleeps(struct rte_comch_poll *poll)
{
	/* Pairs with the fence in rte_comch_poll_arm(): it sees the note, or we see it asleep. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return comch_load_relaxed(&poll->sleeping) != 0;
}

bool
comch_poll_wake(struct rte_comch_poll *poll)
{
	uint64_t one = 1;

	/* A full counter is readable as well. */
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

void
comch_poll_guest_add(struct rte_comch_poll *poll, struct comch_poll_guest *guest)
{
	pthread_mutex_lock(&poll->lock);
	TAILQ_INSERT_TAIL(&poll->guests, guest, next);
	__atomic_fetch_add(&poll->nb_guests, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&poll->lock);
	comch_poll_attach(poll);
	/* One that sleeps has not armed it. */
	rte_comch_poll_notify(poll);
}

void
comch_poll_guest_del(struct rte_comch_poll *poll, struct comch_poll_guest *guest)
{
	pthread_mutex_lock(&poll->lock);
	TAILQ_REMOVE(&poll->guests, guest, next);
	__atomic_fetch_sub(&poll->nb_guests, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&poll->lock);
	__atomic_fetch_sub(&poll->nb_attached, 1, __ATOMIC_RELAXED);
}

/* Move the mailbox to the work list, oldest first. */
static void
poll_take_mailbox(struct rte_comch_poll *poll)
{
	struct comch_obj *obj, *next, *oldest = NULL;

	obj = __atomic_exchange_n(&poll->mailbox, NULL, __ATOMIC_ACQUIRE);
	for (; obj != NULL; obj = next) {
		next = obj->note_next;
		obj->note_next = oldest;
		oldest = obj;
	}
	for (obj = oldest; obj != NULL; obj = next) {
		next = obj->note_next;
		/* From here on another note is a new one. */
		__atomic_fetch_and(&obj->noted, ~COMCH_NOTE_IN, __ATOMIC_ACQ_REL);
		if (!obj->working) {
			obj->working = true;
			STAILQ_INSERT_TAIL(&poll->work, obj, work);
		}
	}
}

bool
comch_poll_may_free(struct rte_comch_poll *poll, uint32_t n)
{
	if (poll->free_run != poll->run_no) {
		poll->free_run = poll->run_no;
		poll->nb_freed = 0;
	}
	/* Too many for any run are not too many for one that freed nothing. */
	if (poll->nb_freed > 0 && n > MAX_FREES - RTE_MIN(poll->nb_freed, (uint32_t)MAX_FREES)) {
		poll->free_again = true;
		return false;
	}
	poll->nb_freed += n;
	return true;
}

/* What the last run freed for the first may have left nothing for others: they are first now. */
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

static void
poll_serve(struct rte_comch_poll *poll, struct comch_run *run)
{
	struct comch_obj_list todo = STAILQ_HEAD_INITIALIZER(todo);
	struct comch_obj *obj;

	if (comch_load_relaxed(&poll->mailbox) != NULL)
		poll_take_mailbox(poll);
	if (poll->free_again)
		poll_rotate(poll);
	STAILQ_CONCAT(&todo, &poll->work);
	while ((obj = STAILQ_FIRST(&todo)) != NULL) {
		STAILQ_REMOVE_HEAD(&todo, work);
		obj->working = false;
		if (obj->service(obj, run)) {
			if (!obj->working) {
				obj->working = true;
				STAILQ_INSERT_TAIL(&poll->work, obj, work);
			}
		} else if (comch_load_acquire(&obj->noted) == COMCH_NOTE_DEAD && !obj->working) {
			obj->note_next = poll->reap;
			poll->reap = obj;
		}
	}
}

/*
 * What others hold the far end of can stay readable whatever we do: a listener
 * without descriptors to accept, a socket whose other end is gone. Only a
 * change of those may wake us; they are read until nothing is left.
 */
static uint32_t
epoll_events(const struct comch_fd *cfd)
{
	bool ours = cfd->type == COMCH_FD_MAILBOX || cfd->type == COMCH_FD_TIMER;

	return EPOLLIN | (ours ? 0 : (uint32_t)EPOLLET);
}

int
comch_poll_fd_add(struct rte_comch_poll *poll, struct comch_fd *cfd)
{
	struct epoll_event ev = { .events = epoll_events(cfd), .data.ptr = cfd };
	int i, ret = 0;

	pthread_mutex_lock(&poll->lock);
	if (epoll_ctl(poll->epoll_fd, EPOLL_CTL_ADD, cfd->fd, &ev) != 0)
		ret = -errno;
	for (i = 0; i < COMCH_POLL_NB_CLASSES && ret == 0; i++)
		if (poll->class_fd[i] >= 0 && (cfd->classes & class_of[i]) != 0 &&
				epoll_ctl(poll->class_fd[i], EPOLL_CTL_ADD, cfd->fd, &ev) != 0)
			ret = -errno;
	if (ret == 0)
		TAILQ_INSERT_TAIL(&poll->fds, cfd, next);
	pthread_mutex_unlock(&poll->lock);
	return ret;
}

void
comch_poll_fd_del(struct rte_comch_poll *poll, struct comch_fd *cfd)
{
	int i;

	if (cfd->fd < 0)
		return;
	pthread_mutex_lock(&poll->lock);
	epoll_ctl(poll->epoll_fd, EPOLL_CTL_DEL, cfd->fd, NULL);
	for (i = 0; i < COMCH_POLL_NB_CLASSES; i++)
		if (poll->class_fd[i] >= 0)
			epoll_ctl(poll->class_fd[i], EPOLL_CTL_DEL, cfd->fd, NULL);
	TAILQ_REMOVE(&poll->fds, cfd, next);
	pthread_mutex_unlock(&poll->lock);
	cfd->fd = -1;
}

static void
look_at(struct comch_fd *cfd)
{
	uint64_t count;

	/* It may have gone since the kernel listed it; its memory lives until the next run. */
	if (cfd->fd < 0)
		return;
	switch (cfd->type) {
	case COMCH_FD_MAILBOX:
	case COMCH_FD_TIMER:
		if (read(cfd->fd, &count, sizeof(count)) < 0)
			return;
		break;
	case COMCH_FD_LISTENER:
		comch_server_accept(COMCH_OBJ_OF(rte_comch_server, cfd->obj));
		break;
	case COMCH_FD_WATCH:
		comch_server_check(COMCH_OBJ_OF(rte_comch_server, cfd->obj));
		break;
	case COMCH_FD_LINK:
		comch_conn_look(COMCH_OBJ_OF(rte_comch_conn, cfd->obj));
		break;
	case COMCH_FD_QUEUE:
		comch_queue_clear(COMCH_OBJ_OF(comch_queue, cfd->obj));
		break;
	}
}

/* Listeners that had more than a burst, or no descriptor left. */
static void
accept_again(struct rte_comch_poll *poll)
{
	struct comch_fd *cfd;

	poll->accept_again = false;
	TAILQ_FOREACH(cfd, &poll->fds, next)
		if (cfd->type == COMCH_FD_LISTENER)
			comch_server_accept(COMCH_OBJ_OF(rte_comch_server, cfd->obj));
}

/* Look at the descriptors: connections, deaths, wake-ups. Returns whether there were any. */
static bool
poll_look(struct rte_comch_poll *poll, uint64_t now)
{
	struct epoll_event ev[LOOK_EVENTS];
	struct rte_comch_conn *conn, *tmp;
	int i, n;

	n = epoll_wait(poll->epoll_fd, ev, LOOK_EVENTS, 0);
	for (i = 0; i < n; i++)
		look_at(ev[i].data.ptr);
	if (poll->accept_again)
		accept_again(poll);
	TAILQ_FOREACH_SAFE(conn, &poll->waiting, waiting_next, tmp) {
		if (conn->phase == COMCH_PHASE_DIALLING)
			comch_handshake_dial(conn);
		else if (conn->wants_room && conn->phase == COMCH_PHASE_HELLO)
			comch_handshake_room(conn, n < LOOK_EVENTS);
		else if (conn->phase == COMCH_PHASE_LINKING && conn->link->try_again &&
				now <= conn->deadline)
			comch_conn_look(conn);
		else if (conn->draining)
			comch_poll_note(&conn->obj);
		else if (now > conn->deadline)
			comch_handshake_timeout(conn);
	}
	poll->next_look = now + (TAILQ_EMPTY(&poll->waiting) ? poll->look_cycles :
		poll->look_cycles / (BUSY_LOOKS_PER_S / LOOKS_PER_S));
	return n > 0;
}

/* Is there anything on a connection for this run? */
static inline void
conn_check(struct rte_comch_conn *conn, struct comch_run *run)
{
	if (conn->ops->frame_pending(conn->link))
		comch_conn_rx(conn, run);
}

static void
poll_receive(struct rte_comch_poll *poll, struct comch_run *run)
{
	struct rte_comch_conn *conn, *tmp, *first;
	unsigned int i;

	TAILQ_FOREACH_SAFE(conn, &poll->hot, link_next, tmp) {
		if (comch_run_full(run) && TAILQ_EMPTY(&poll->waiting))
			break;
		if (comch_conn_has_room(conn, run))
			conn_check(conn, run);
		if (poll->run_no - conn->last_active > HOT_RUNS && conn->is_hot) {
			conn->is_hot = false;
			TAILQ_REMOVE(&poll->hot, conn, link_next);
			TAILQ_INSERT_TAIL(&poll->cold, conn, link_next);
		}
	}
	/* The first of the hot ones must not always be served first. */
	if (comch_run_full(run) && (conn = TAILQ_FIRST(&poll->hot)) != NULL) {
		TAILQ_REMOVE(&poll->hot, conn, link_next);
		TAILQ_INSERT_TAIL(&poll->hot, conn, link_next);
	}
	first = TAILQ_FIRST(&poll->cold);
	for (i = 0; i < COLD_PER_RUN; i++) {
		/* Handshakes go on without an event. */
		if (comch_run_full(run) && TAILQ_EMPTY(&poll->waiting))
			break;
		conn = TAILQ_FIRST(&poll->cold);
		/* Each once: a look is a line that the peer may have. */
		if (conn == NULL || (i > 0 && conn == first))
			break;
		TAILQ_REMOVE(&poll->cold, conn, link_next);
		TAILQ_INSERT_TAIL(&poll->cold, conn, link_next);
		if (comch_conn_has_room(conn, run))
			conn_check(conn, run);
	}
}

/* With ordered connections: both kinds are the first to fill a run by turns. */
static void
poll_receive_both(struct rte_comch_poll *poll, struct comch_run *run)
{
	if (poll->run_no % 2 == 0)
		poll_receive(poll, run);
	comch_order_run(poll, run);
	if (poll->run_no % 2 != 0)
		poll_receive(poll, run);
}

static void
poll_pay_credits(struct rte_comch_poll *poll)
{
	struct rte_comch_conn *conn;

	while ((conn = TAILQ_FIRST(&poll->owing)) != NULL) {
		TAILQ_REMOVE(&poll->owing, conn, owing_next);
		conn->owing = false;
		comch_conn_credit(conn);
	}
}

static void
poll_disarm(struct rte_comch_poll *poll)
{
	if (!poll->armed)
		return;
	poll->armed = false;
	comch_store_relaxed(&poll->sleeping, 0);
	poll->next_look = 0;
}

uint16_t
rte_comch_poll_run(struct rte_comch_poll *poll, struct rte_comch_event *events, uint16_t max)
{
	struct comch_run run = { .poll = poll, .events = events, .max = max };
	bool was_armed;
	uint64_t now;

	if (unlikely(poll == NULL || (events == NULL && max > 0) || comch_forked))
		return 0;
	comch_guard_enter(&poll->guard, "runs of a poll");
	was_armed = poll->armed;
	poll_disarm(poll);
	poll->run_no++;
	if (unlikely(comch_load_relaxed(&poll->notified) != 0))
		comch_store_relaxed(&poll->notified, 0);
	poll->arena_used = 0;
	if (unlikely(poll->reap != NULL))
		poll_reap(poll);
	poll_pay_credits(poll);
	now = rte_rdtsc();
	if (now >= poll->next_look && poll_look(poll, now) && was_armed)
		comch_count(&poll->stats.wakes, 1);
	if (!STAILQ_EMPTY(&poll->work) || comch_load_relaxed(&poll->mailbox) != NULL)
		poll_serve(poll, &run);
	if (unlikely(!TAILQ_EMPTY(&poll->new_cons)))
		comch_remote_step(poll, &run);
	if (likely(TAILQ_EMPTY(&poll->order.conns)))
		poll_receive(poll, &run);
	else
		poll_receive_both(poll, &run);
	comch_count(&poll->stats.runs, 1);
	if (run.n > 0) {
		comch_count(&poll->stats.busy_runs, 1);
		comch_count(&poll->stats.events, run.n);
	}
	comch_guard_leave(&poll->guard);
	return run.n;
}

void *
comch_poll_room(struct rte_comch_poll *poll, uint32_t size)
{
	if (size > poll->arena_size - poll->arena_used)
		return NULL;
	return poll->arena + poll->arena_used;
}

void
comch_poll_keep(struct rte_comch_poll *poll, uint32_t used)
{
	poll->arena_used += RTE_ALIGN_CEIL(used, (uint32_t)RTE_CACHE_LINE_SIZE);
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
	poll->class_fd[idx] = fd;
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
	COMCH_LOG(ERR, "poll %s: no class %#x has a descriptor", poll->name, cls);
	return -EINVAL;
}

/* Take back what made the descriptors readable. */
static void
poll_harvest(struct rte_comch_poll *poll)
{
	struct epoll_event ev[LOOK_EVENTS];
	int i;

	/* Edges are remembered by each set: these are told again below, by the set of all. */
	for (i = 0; i < COMCH_POLL_NB_CLASSES; i++)
		while (poll->class_fd[i] >= 0 &&
				epoll_wait(poll->class_fd[i], ev, LOOK_EVENTS, 0) == LOOK_EVENTS)
			;
	poll_look(poll, rte_rdtsc());
}

/* Ask for a wake-up, by credits too if somebody waits for them. */
static void
conn_arm(struct rte_comch_conn *conn, uint32_t cls)
{
	conn->ops->link_arm(conn->link, (cls & RTE_COMCH_POLL_TX) != 0 || conn->draining);
}

/* Ask everybody for a wake-up. */
static void
poll_arm_all(struct rte_comch_poll *poll, uint32_t cls)
{
	struct comch_poll_guest *guest;
	struct rte_comch_conn *conn;
	struct comch_queue *q;

	comch_store_relaxed(&poll->sleeping, 1);
	TAILQ_FOREACH(conn, &poll->hot, link_next)
		conn_arm(conn, cls);
	TAILQ_FOREACH(conn, &poll->cold, link_next)
		conn_arm(conn, cls);
	TAILQ_FOREACH(conn, &poll->order.conns, link_next)
		conn_arm(conn, cls);
	pthread_mutex_lock(&poll->lock);
	TAILQ_FOREACH(q, &poll->queues, poll_next)
		if ((q->fd.classes & cls) != 0)
			comch_queue_arm(q);
	TAILQ_FOREACH(guest, &poll->guests, next)
		if ((guest->classes & cls) != 0)
			guest->arm(guest);
	pthread_mutex_unlock(&poll->lock);
}

/* W: we say that we sleep before we look once more. */
static void
poll_arm_fence(struct rte_comch_poll *poll)
{
	comch_fence_sleep();
	/* Other threads of this process, whose fences are light as well. */
	if (comch_load_relaxed(&poll->nb_guests) > 0)
		comch_fence_heavy();
}

/* Is there anything that a run would return or do? */
static bool
poll_pending(struct rte_comch_poll *poll, uint32_t cls)
{
	struct comch_poll_guest *guest;
	struct rte_comch_conn *conn;
	struct comch_queue *q;
	bool pending;

	pending = !STAILQ_EMPTY(&poll->work) || !TAILQ_EMPTY(&poll->new_cons) ||
		comch_load_relaxed(&poll->mailbox) != NULL ||
		comch_load_acquire(&poll->notified) != 0;
	TAILQ_FOREACH(conn, &poll->hot, link_next)
		pending |= conn->ops->frame_pending(conn->link);
	TAILQ_FOREACH(conn, &poll->cold, link_next)
		pending |= conn->ops->frame_pending(conn->link);
	/* One that waits for its turn is there, though its link may be empty. */
	pending |= !RB_EMPTY(&poll->order.held);
	TAILQ_FOREACH(conn, &poll->order.conns, link_next)
		pending |= conn->ops->frame_pending(conn->link);
	if (pending)
		return true;
	pthread_mutex_lock(&poll->lock);
	TAILQ_FOREACH(q, &poll->queues, poll_next)
		if ((q->fd.classes & cls) != 0)
			pending |= comch_queue_pending(q);
	TAILQ_FOREACH(guest, &poll->guests, next)
		if ((guest->classes & cls) != 0)
			pending |= guest->pending(guest);
	pthread_mutex_unlock(&poll->lock);
	return pending;
}

/* Somebody shakes hands: wake up by ourselves to try again or to give up. */
static int
poll_arm_timer(struct rte_comch_poll *poll)
{
	const struct itimerspec in = { .it_value.tv_nsec = HANDSHAKE_NAP_NS };

	return timerfd_settime(poll->timer_fd.fd, 0, &in, NULL) == 0 ? 0 : -errno;
}

int
rte_comch_poll_arm(struct rte_comch_poll *poll, uint32_t cls)
{
	if (poll == NULL || cls == 0 || (cls & ~RTE_COMCH_POLL_ANY) != 0)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	/* Nobody may have to wait for a credit while we sleep. */
	poll_pay_credits(poll);
	poll_harvest(poll);
	poll->armed = true;
	poll->armed_classes = cls;
	poll_arm_all(poll, cls);
	poll_arm_fence(poll);
	if (poll_pending(poll, cls) ||
			((!TAILQ_EMPTY(&poll->waiting) || poll->accept_again) &&
			 poll_arm_timer(poll) != 0)) {
		poll_disarm(poll);
		return -EAGAIN;
	}
	comch_count(&poll->stats.arms, 1);
	return 0;
}

int
rte_comch_poll_clear(struct rte_comch_poll *poll)
{
	if (poll == NULL)
		return -EINVAL;
	poll_disarm(poll);
	poll_harvest(poll);
	return 0;
}

int
rte_comch_poll_notify(struct rte_comch_poll *poll)
{
	uint64_t one = 1;

	if (poll == NULL)
		return -EINVAL;
	/* Remembered as well: whoever is about to sleep must not. */
	comch_store_release(&poll->notified, 1);
	/* A full counter is readable as well. */
	if (write(poll->event_fd, &one, sizeof(one)) != sizeof(one) && errno != EAGAIN)
		return -errno;
	return 0;
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
	return 0;
}

int
rte_comch_poll_destroy(struct rte_comch_poll *poll)
{
	int i;

	if (poll == NULL)
		return -EINVAL;
	/* What was destroyed and not freed yet goes now: two runs, and the reaping. */
	rte_comch_poll_run(poll, NULL, 0);
	rte_comch_poll_run(poll, NULL, 0);
	poll_reap(poll);
	if (comch_load_relaxed(&poll->nb_attached) != 0) {
		COMCH_LOG(ERR, "poll %s: %u objects are attached", poll->name, poll->nb_attached);
		return -EBUSY;
	}
	comch_registry_del_poll(poll);
	comch_poll_fd_del(poll, &poll->mailbox_fd);
	i = poll->timer_fd.fd;
	comch_poll_fd_del(poll, &poll->timer_fd);
	close(i);
	for (i = 0; i < COMCH_POLL_NB_CLASSES; i++)
		if (poll->class_fd[i] >= 0)
			close(poll->class_fd[i]);
	close(poll->epoll_fd);
	close(poll->event_fd);
	pthread_mutex_destroy(&poll->lock);
	rte_free(poll->arena);
	rte_free(poll);
	return 0;
}
