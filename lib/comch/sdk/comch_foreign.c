/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The callers' side of comch_foreign.h: starting, and receiving. */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "sdk/comch_compat.h"
#include "sdk/comch_foreign_private.h"
#include "sdk/comch_log.h"

/* Interval of attempts to hand the backlog to the closers, ms. */
#define BACKLOG_RETRY_MS 2

struct comch_foreign_pool comch_foreign_pool = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.out = { -1, -1 },
	.reply = -1,
	.jobs = TAILQ_HEAD_INITIALIZER(comch_foreign_pool.jobs),
	.lines = TAILQ_HEAD_INITIALIZER(comch_foreign_pool.lines),
	.spare = TAILQ_HEAD_INITIALIZER(comch_foreign_pool.spare),
};

static struct comch_foreign_pool *const pool = &comch_foreign_pool;

void
comch_foreign_in_ms(struct timespec *ts, uint32_t ms)
{
	clock_gettime(CLOCK_MONOTONIC, ts);
	ts->tv_nsec += ms * 1000000L;
	if (ts->tv_nsec >= 1000000000L) {
		ts->tv_nsec -= 1000000000L;
		ts->tv_sec++;
	}
}

/* Starting and forking */

static int
socket_pair(int *a, int *b)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
		return -errno;
	*a = fds[0];
	*b = fds[1];
	return 0;
}

static void
close_ends(int *ends, unsigned int n)
{
	while (n-- > 0) {
		if (ends[n] >= 0)
			close(ends[n]);
		ends[n] = -1;
	}
}

/* All ends, while they are still in one table. */
static int
open_ends(int ours[3], int theirs[4])
{
	int i, ret = 0;

	for (i = 0; i < 3 && ret == 0; i++)
		ret = socket_pair(&ours[i], &theirs[i]);
	if (ret == 0) {
		theirs[3] = fcntl(ours[2], F_DUPFD_CLOEXEC, 0);
		ret = theirs[3] < 0 ? -errno : 0;
	}
	return ret;
}

static void ask_discard(void);
static bool next_reply(void);

/*
 * A thread with the program's descriptor table: wakes polls, hands messages that wait for
 * their turn to the receivers, and waiting descriptors to the closers. It drops no
 * descriptor of a peer.
 */
static comch_thread_ret_t
waker(void *arg)
{
	struct comch_foreign_job *job;
	struct timespec until;

	RTE_SET_USED(arg);
	pthread_mutex_lock(&pool->lock);
	for (;;) {
		comch_foreign_line_advance();
		TAILQ_FOREACH(job, &pool->jobs, next) {
			if (job->wake && !job->cancelled)
				job->news(job->ctx, true);
			job->wake = false;
		}
		comch_foreign_backlog_flush();
		ask_discard();
		/* Drain replies for polls that do not run, before they fill the socket. */
		while (pool->drain && next_reply())
			;
		pool->drain = false;
		if (!comch_foreign_has_backlog() && !pool->lines_blocked &&
				pool->discard != COMCH_FOREIGN_DISCARD_WANTED) {
			pthread_cond_wait(&pool->wake, &pool->lock);
		} else {
			comch_foreign_in_ms(&until, BACKLOG_RETRY_MS);
			pthread_cond_timedwait(&pool->wake, &pool->lock, &until);
		}
	}
	return 0;
}

static void
init_conds(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&pool->work, &attr);
	pthread_cond_init(&pool->wake, &attr);
	pthread_condattr_destroy(&attr);
}

static int
start_waker(void)
{
	if (pool->has_waker)
		return 0;
	init_conds();
	pool->has_waker = comch_ctrl_thread("comch-wake", waker, NULL) == 0;
	return pool->has_waker ? 0 : -EAGAIN;
}

int
comch_foreign_start_locked(void)
{
	int ours[3] = { -1, -1, -1 }, theirs[4] = { -1, -1, -1, -1 };
	struct comch_foreign_start start = { .ret = -EAGAIN };
	int ret;

	ret = start_waker();
	if (ret == 0)
		ret = open_ends(ours, theirs);
	if (ret != 0)
		goto err_close;
	comch_foreign_close_start();
	memcpy(pool->out, ours, sizeof(pool->out));
	pool->reply = ours[2];
	memcpy(pool->in, theirs, sizeof(pool->in));
	pool->reply_out = theirs[2];
	pool->reply_discard = theirs[3];
	sem_init(&start.ready, 0, 0);
	ret = -EAGAIN;
	if (comch_ctrl_thread("comch-fds", comch_foreign_supervisor, &start) == 0) {
		while (sem_wait(&start.ready) != 0)
			;
		ret = start.ret;
	}
	sem_destroy(&start.ready);
	if (ret != 0)
		goto err_close;
	/* The supervisor has its own table now: close its ends in this one. */
	close_ends(theirs, RTE_DIM(theirs));
	pool->started = true;
	return 0;

err_close:
	COMCH_LOG(ERR, "cannot start the threads that receive descriptors: %s", strerror(-ret));
	close_ends(ours, RTE_DIM(ours));
	close_ends(theirs, RTE_DIM(theirs));
	return ret;
}

int
comch_foreign_start(void)
{
	int ret = 0;

	pthread_mutex_lock(&pool->lock);
	if (!pool->started)
		ret = comch_foreign_start_locked();
	pthread_mutex_unlock(&pool->lock);
	return ret;
}

static void
before_fork(void)
{
	pthread_mutex_lock(&pool->lock);
}

static void
in_parent(void)
{
	pthread_mutex_unlock(&pool->lock);
}

/* A child has no threads: it starts new ones when needed. */
static void
in_child(void)
{
	int i;

	if (pool->started) {
		close_ends(pool->out, RTE_DIM(pool->out));
		close_ends(&pool->reply, 1);
	}
	pool->started = false;
	pool->discard = COMCH_FOREIGN_DISCARD_NONE;
	TAILQ_INIT(&pool->jobs);
	TAILQ_INIT(&pool->lines);
	memset(pool->slot, 0, sizeof(pool->slot));
	for (i = 0; i < COMCH_FOREIGN_NB_KINDS; i++)
		pool->nb_queued[i] = pool->nb_threads[i] = 0;
	pool->supervisor_sleeps = false;
	pool->has_waker = false;
	comch_foreign_close_forked();
	pthread_mutex_unlock(&pool->lock);
}

RTE_INIT(comch_foreign_init)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

/* Jobs */

void
comch_foreign_unmap(struct comch_foreign_msg *msg)
{
	uint32_t i;

	for (i = 0; i < COMCH_FOREIGN_FDS; i++) {
		if (msg->map[i] != NULL)
			comch_peermap_put(msg->map[i]);
		msg->map[i] = NULL;
	}
}

void
comch_foreign_unref(struct comch_foreign_job *job)
{
	if (--job->refs > 0)
		return;
	TAILQ_REMOVE(&pool->jobs, job, next);
	TAILQ_INSERT_HEAD(&pool->spare, job, next);
}

/* Under the lock. */
static struct comch_foreign_job *
new_job(void)
{
	struct comch_foreign_job *job = TAILQ_FIRST(&pool->spare);

	if (job != NULL)
		TAILQ_REMOVE(&pool->spare, job, next);
	else
		job = malloc(sizeof(*job));
	if (job != NULL)
		memset(job, 0, sizeof(*job));
	return job;
}

void
comch_foreign_finish(struct comch_foreign_job *job, int len)
{
	job->state = COMCH_FOREIGN_DONE;
	job->msg.len = len;
	comch_foreign_notify(job);
}

/* May run in a thread with another descriptor table: see comch_news_t. */
void
comch_foreign_notify(struct comch_foreign_job *job)
{
	if (job->cancelled || !job->news(job->ctx, false))
		return;
	job->wake = true;
	pthread_cond_signal(&pool->wake);
}

uint32_t
comch_foreign_nb_idle(enum comch_foreign_kind kind)
{
	uint32_t i, n = 0;

	for (i = 0; i < COMCH_FOREIGN_SLOTS; i++)
		n += pool->slot[i].used && pool->slot[i].kind == kind &&
			!pool->slot[i].busy;
	return n;
}

/* -EAGAIN: the queue is full, or the user is at its limit of descriptors in flight. */
static int
send_fd(enum comch_foreign_kind kind, struct comch_foreign_job *job, int fd)
{
	struct iovec iov = { .iov_base = &job, .iov_len = sizeof(job) };
	union comch_foreign_control control;
	struct msghdr msg;

	comch_foreign_pack(&msg, &iov, &control, &fd, 1);
	if (sendmsg(pool->out[kind], &msg, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return 0;
	return errno == ETOOMANYREFS ? -EAGAIN : -errno;
}

void
comch_foreign_count_queued(enum comch_foreign_kind kind)
{
	pool->nb_queued[kind]++;
	if (comch_foreign_nb_idle(kind) < pool->nb_queued[kind])
		pthread_cond_signal(&pool->work);
}

int
comch_foreign_hand_over(enum comch_foreign_kind kind, struct comch_foreign_job *job, int fd)
{
	int ret = send_fd(kind, job, fd);

	if (ret == 0)
		comch_foreign_count_queued(kind);
	return ret;
}

/* False also if a thread holds the lock: a receiver, say, which has lost this CPU. */
static bool
is_done(const struct comch_foreign_job *job)
{
	bool done;

	if (pthread_mutex_trylock(&pool->lock) != 0)
		return false;
	done = job->state == COMCH_FOREIGN_DONE;
	pthread_mutex_unlock(&pool->lock);
	return done;
}

/*
 * A receiver was pulled to this CPU. It has run already, or has its chance now; or else it is
 * watched by the supervisor, elsewhere. since: TSC.
 */
static void
yield_to_receiver(const struct comch_foreign_job *job, bool supervisor_sleeps, uint64_t since)
{
	bool done = is_done(job);

	if (!done) {
		sched_yield();
		done = is_done(job);
	}
	if (done && rte_rdtsc() - since < rte_get_tsc_hz() / MS_PER_S)
		return;
	if (pthread_mutex_trylock(&pool->lock) == 0) {
		comch_foreign_cpu_leave();
		pthread_mutex_unlock(&pool->lock);
	}
	if (!done && supervisor_sleeps)
		pthread_cond_signal(&pool->work);
}

/* Under the lock. */
static int
make_job(int sock, const struct comch_foreign_peer *peer, const struct comch_peermap_limit *limit,
		comch_news_t news, void *ctx, struct comch_foreign_job **job)
{
	struct comch_foreign_job *j;
	int ret = 0;

	if (!pool->started)
		ret = comch_foreign_start_locked();
	if (ret != 0)
		return ret;
	j = new_job();
	if (j == NULL)
		return -ENOMEM;
	j->sock = sock;
	j->peer = *peer;
	if (limit != NULL)
		j->limit = *limit;
	j->news = news;
	j->ctx = ctx;
	comch_foreign_backlog_flush();
	ret = comch_foreign_line_start(j);
	if (ret == 0)
		*job = j;
	else
		TAILQ_INSERT_HEAD(&pool->spare, j, next);
	return ret;
}

/* A job that was queued could not be sent. */
static int
unsent(struct comch_foreign_job *job, int err)
{
	int ret;

	pthread_mutex_lock(&pool->lock);
	ret = comch_foreign_line_unsent(job, err);
	if (ret != 0)
		TAILQ_INSERT_HEAD(&pool->spare, job, next);
	pthread_mutex_unlock(&pool->lock);
	return ret;
}

/*
 * The socket is sent without the lock. Otherwise a receiver that preempts this thread would wait
 * for the lock, and be woken twice within microseconds. Linux lets a waking thread preempt only if
 * it has run less than its share: after the second wake-up, it would often wait for a tick.
 */
int
comch_foreign_recv(int sock, const struct comch_foreign_peer *peer,
		const struct comch_peermap_limit *limit, comch_news_t news, void *ctx,
		struct comch_foreign_job **job)
{
	const uint64_t since = rte_rdtsc();
	bool is_near, is_queued, supervisor_sleeps;
	int ret;

	if (pthread_mutex_trylock(&pool->lock) != 0)
		return -EBUSY;
	is_near = comch_foreign_cpu_pull();
	ret = make_job(sock, peer, limit, news, ctx, job);
	is_queued = ret == 0 && (*job)->state == COMCH_FOREIGN_QUEUED;
	is_near = is_near && is_queued;
	if (ret == 0)
		(*job)->is_watched = is_near;
	supervisor_sleeps = pool->supervisor_sleeps;
	pthread_mutex_unlock(&pool->lock);
	if (!is_queued)
		return ret;
	ret = send_fd(COMCH_FOREIGN_RECEIVER, *job, sock);
	if (ret != 0)
		return unsent(*job, ret);
	if (is_near)
		yield_to_receiver(*job, supervisor_sleeps, since);
	return 0;
}

/* No free descriptor for the oldest reply: a closer discards it. */
static void
ask_discard(void)
{
	struct comch_foreign_job *none = NULL;

	if (pool->discard == COMCH_FOREIGN_DISCARD_WANTED &&
			send(pool->out[COMCH_FOREIGN_CLOSER], &none, sizeof(none),
				MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(none)) {
		pool->discard = COMCH_FOREIGN_DISCARD_ASKED;
		pool->nb_queued[COMCH_FOREIGN_CLOSER]++;
	}
}

static void
close_fds_locked(struct comch_foreign_msg *msg)
{
	comch_foreign_unmap(msg);
	while (msg->nb_fds > 0)
		comch_foreign_close_locked(msg->fds[--msg->nb_fds]);
}

/*
 * Take the oldest reply, of any job. It is peeked first: without a free descriptor,
 * recvmsg() would drop the peer's descriptors in this thread.
 */
static bool
next_reply(void)
{
	union comch_foreign_control control;
	struct comch_foreign_job *j = NULL;
	struct iovec iov = { .iov_base = &j, .iov_len = sizeof(j) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.buf, .msg_controllen = sizeof(control.buf),
	};
	uint32_t n;

	ask_discard();
	/* The job of the oldest reply may be cancelled. */
	if (pool->discard != COMCH_FOREIGN_DISCARD_NONE || recvmsg(pool->reply, &msg,
			MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != sizeof(j))
		return false;
	n = comch_foreign_unpack(&msg, j->msg.fds);
	j->replied = false;
	if ((msg.msg_flags & MSG_CTRUNC) != 0) {
		/* The queued reply still holds the files, so this drops none. */
		while (n > 0)
			close(j->msg.fds[--n]);
		comch_foreign_unmap(&j->msg);
		j->msg.len = -EMFILE;
		pool->discard = COMCH_FOREIGN_DISCARD_WANTED;
		ask_discard();
	} else {
		j->msg.nb_fds = n;
		(void)recv(pool->reply, control.buf, 1, MSG_DONTWAIT);
	}
	if (j->cancelled) {
		close_fds_locked(&j->msg);
		comch_foreign_unref(j);
	}
	return true;
}

/* A receiver may keep the job for long; the caller has no reference any more. */
static void
forget(struct comch_foreign_job *job)
{
	job->cancelled = true;
	job->wake = false;
}

int
comch_foreign_take(struct comch_foreign_job *job, struct comch_foreign_msg *msg)
{
	int ret = -EINPROGRESS;

	if (pthread_mutex_trylock(&pool->lock) != 0)
		return -EBUSY;
	while (job->state == COMCH_FOREIGN_DONE && job->replied && next_reply())
		;
	if (job->state == COMCH_FOREIGN_DONE && !job->replied) {
		*msg = job->msg;
		forget(job);
		comch_foreign_unref(job);
		ret = 0;
	}
	pthread_mutex_unlock(&pool->lock);
	return ret;
}

void
comch_foreign_cancel(struct comch_foreign_job *job)
{
	pthread_mutex_lock(&pool->lock);
	if (job->state == COMCH_FOREIGN_WAITING) {
		comch_foreign_line_leave(job);
		TAILQ_INSERT_HEAD(&pool->spare, job, next);
		goto unlock;
	}
	while (job->replied && next_reply())
		;
	forget(job);
	/* If a reply is queued, next_reply() drops the reference. */
	if (!job->replied) {
		close_fds_locked(&job->msg);
		comch_foreign_unref(job);
	}
unlock:
	pthread_mutex_unlock(&pool->lock);
}
