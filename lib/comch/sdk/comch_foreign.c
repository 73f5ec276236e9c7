/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The callers' side: see comch_foreign.h. */

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <rte_common.h>

#include "sdk/comch_compat.h"
#include "sdk/comch_foreign_private.h"
#include "sdk/comch_log.h"

/* While more wait for the closers than this, nothing is received that may have to be closed. */
#define FULL_ATTIC 256
/* It is looked through so often. */
#define ATTIC_MS 2

struct comch_foreign_pool comch_foreign_pool = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.out = { -1, -1 },
	.reply = -1,
	.jobs = TAILQ_HEAD_INITIALIZER(comch_foreign_pool.jobs),
	.spare = TAILQ_HEAD_INITIALIZER(comch_foreign_pool.spare),
};

static struct comch_foreign_pool *const pool = &comch_foreign_pool;
/* Descriptors that found no place in the closers' queue. */
static int *attic;
static uint32_t nb_attic, max_attic;

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

static void empty_attic(void);
static void ask_discard(void);
static bool next_reply(void);

/*
 * The one thread with the program's table: wakes polls, and hands over what
 * found no place with the closers. It drops no descriptor of a peer.
 */
static comch_thread_ret_t
herald(void *arg)
{
	struct comch_foreign_job *job;
	struct timespec until;

	RTE_SET_USED(arg);
	pthread_mutex_lock(&pool->lock);
	for (;;) {
		TAILQ_FOREACH(job, &pool->jobs, next) {
			if (job->wake && !job->cancelled)
				job->news(job->ctx, true);
			job->wake = false;
		}
		empty_attic();
		ask_discard();
		/* Replies for polls that do not run must not fill the socket. */
		while (pool->drain && next_reply())
			;
		pool->drain = false;
		if (nb_attic == 0 && pool->discard != COMCH_FOREIGN_DISCARD_WANTED) {
			pthread_cond_wait(&pool->wake, &pool->lock);
		} else {
			comch_foreign_in_ms(&until, ATTIC_MS);
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
start_herald(void)
{
	if (pool->has_herald)
		return 0;
	init_conds();
	pool->has_herald = comch_ctrl_thread("comch-wake", herald, NULL) == 0;
	return pool->has_herald ? 0 : -EAGAIN;
}

static int
start_locked(void)
{
	int ours[3] = { -1, -1, -1 }, theirs[4] = { -1, -1, -1, -1 };
	struct comch_foreign_start start = { .ret = -EAGAIN };
	int ret;

	ret = start_herald();
	if (ret == 0)
		ret = open_ends(ours, theirs);
	if (ret != 0)
		goto err_close;
	memcpy(pool->out, ours, sizeof(pool->out));
	pool->reply = ours[2];
	memcpy(pool->in, theirs, sizeof(pool->in));
	pool->reply_out = theirs[2];
	pool->reply_discard = theirs[3];
	sem_init(&start.ready, 0, 0);
	ret = -EAGAIN;
	if (comch_ctrl_thread("comch-fds", comch_foreign_keeper, &start) == 0) {
		while (sem_wait(&start.ready) != 0)
			;
		ret = start.ret;
	}
	sem_destroy(&start.ready);
	if (ret != 0)
		goto err_close;
	/* The keeper has a table of its own now, with its ends; they are not needed here. */
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
		ret = start_locked();
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

/* The threads are the parent's; a child that needs some starts its own. */
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
	memset(pool->slot, 0, sizeof(pool->slot));
	for (i = 0; i < COMCH_FOREIGN_NB_KINDS; i++)
		pool->nb_queued[i] = pool->nb_threads[i] = 0;
	pool->keeper_sleeps = false;
	pool->has_herald = false;
	close_ends(attic, nb_attic);
	nb_attic = 0;
	pthread_mutex_unlock(&pool->lock);
}

RTE_INIT(comch_foreign_init)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

/* Jobs */

void
comch_foreign_unshow(struct comch_foreign_msg *msg)
{
	uint32_t i;

	for (i = 0; i < COMCH_FOREIGN_FDS; i++) {
		if (msg->shown[i] != NULL)
			comch_shown_put(msg->shown[i]);
		msg->shown[i] = NULL;
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
	comch_foreign_tell(job);
}

/* Has no descriptor table of the program, maybe: see comch_news_t. */
void
comch_foreign_tell(struct comch_foreign_job *job)
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

static bool
is_same(int32_t a, int32_t b)
{
	return a >= 0 && a == b;
}

/*
 * May the peer have one more message under way? 0, -EAGAIN, or -EDQUOT if those
 * that it has are stuck.
 */
static int
check_share(const struct comch_foreign_peer *peer)
{
	const struct comch_foreign_slot *s;
	const struct comch_foreign_job *job;
	uint32_t pids = 0, uids = 0, stuck = 0;

	for (s = pool->slot; s < pool->slot + COMCH_FOREIGN_SLOTS; s++) {
		if (!s->used || !s->busy || !is_same(s->peer.uid, peer->uid))
			continue;
		uids++;
		pids += is_same(s->peer.pid, peer->pid);
		stuck += s->ticks >= COMCH_FOREIGN_STUCK_TICKS;
	}
	TAILQ_FOREACH(job, &pool->jobs, next) {
		if (job->state != COMCH_FOREIGN_QUEUED || !is_same(job->peer.uid, peer->uid))
			continue;
		uids++;
		pids += is_same(job->peer.pid, peer->pid);
	}
	if (pids < COMCH_FOREIGN_PER_PID && uids < COMCH_FOREIGN_PER_UID)
		return 0;
	return stuck >= COMCH_FOREIGN_PER_PID ? -EDQUOT : -EAGAIN;
}

/* Hand a socket to a kind of threads: the descriptor stays in our table as well. */
static int
hand_over(enum comch_foreign_kind kind, struct comch_foreign_job *job, int fd)
{
	struct iovec iov = { .iov_base = &job, .iov_len = sizeof(job) };
	union comch_foreign_control control;
	struct msghdr msg;

	comch_foreign_pack(&msg, &iov, &control, &fd, 1);
	if (sendmsg(pool->out[kind], &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		/* Too many wait there, or too many of our user are under way. */
		return errno == ETOOMANYREFS ? -EAGAIN : -errno;
	pool->nb_queued[kind]++;
	if (comch_foreign_nb_idle(kind) < pool->nb_queued[kind])
		pthread_cond_signal(&pool->work);
	return 0;
}

/* Under the lock. */
static void
empty_attic(void)
{
	while (nb_attic > 0 && hand_over(COMCH_FOREIGN_CLOSER, NULL, attic[nb_attic - 1]) == 0)
		close(attic[--nb_attic]);
}

/* Under the lock. Without memory it stays open: better than a close() that may block. */
static void
put_attic(int fd)
{
	uint32_t max = 2 * max_attic + 64;
	int *larger;

	if (nb_attic == max_attic) {
		larger = realloc(attic, max * sizeof(*attic));
		if (larger == NULL) {
			COMCH_LOG(ERR, "no memory: descriptor %d of a peer stays open", fd);
			return;
		}
		attic = larger;
		max_attic = max;
	}
	attic[nb_attic++] = fd;
	pthread_cond_signal(&pool->wake);
}

/*
 * Under the lock, which a closer takes before it closes: this close() is never the
 * last one of the file.
 */
static void
close_locked(int fd)
{
	empty_attic();
	if (hand_over(COMCH_FOREIGN_CLOSER, NULL, fd) == 0)
		close(fd);
	else
		put_attic(fd);
}

void
comch_foreign_close(int fd)
{
	if (comch_foreign_start() != 0) {
		COMCH_LOG(ERR, "descriptor %d of a peer stays open", fd);
		return;
	}
	pthread_mutex_lock(&pool->lock);
	close_locked(fd);
	pthread_mutex_unlock(&pool->lock);
}

int
comch_foreign_recv(int sock, const struct comch_foreign_peer *peer,
		const struct comch_shown_limit *limit, comch_news_t news, void *ctx,
		struct comch_foreign_job **job)
{
	struct comch_foreign_job *j;
	int ret;

	ret = comch_foreign_start();
	if (ret != 0)
		return ret;
	pthread_mutex_lock(&pool->lock);
	j = new_job();
	if (j == NULL) {
		ret = -ENOMEM;
		goto unlock;
	}
	j->state = COMCH_FOREIGN_QUEUED;
	j->refs = 2;
	j->peer = *peer;
	if (limit != NULL)
		j->limit = *limit;
	j->news = news;
	j->ctx = ctx;
	empty_attic();
	ret = nb_attic < FULL_ATTIC ? check_share(peer) : -EAGAIN;
	TAILQ_INSERT_TAIL(&pool->jobs, j, next);
	if (ret == 0)
		ret = hand_over(COMCH_FOREIGN_RECEIVER, j, sock);
	if (ret != 0) {
		j->refs = 1;
		comch_foreign_unref(j);
	} else {
		*job = j;
	}
unlock:
	pthread_mutex_unlock(&pool->lock);
	return ret;
}

/* No descriptor is left for the oldest reply: a closer takes it out of the way. */
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
	comch_foreign_unshow(msg);
	while (msg->nb_fds > 0)
		close_locked(msg->fds[--msg->nb_fds]);
}

/*
 * Take the oldest reply, for whichever job it is. It is looked at before it
 * is consumed: with no descriptor left, recvmsg() would drop the peer's here.
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
	/* The oldest one is of a job that may be gone. */
	if (pool->discard != COMCH_FOREIGN_DISCARD_NONE || recvmsg(pool->reply, &msg,
			MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != sizeof(j))
		return false;
	n = comch_foreign_unpack(&msg, j->msg.fds);
	j->replied = false;
	if ((msg.msg_flags & MSG_CTRUNC) != 0) {
		/* The reply keeps the files: these are not the last ones. */
		while (n > 0)
			close(j->msg.fds[--n]);
		comch_foreign_unshow(&j->msg);
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

/* A receiver may have it for long; its caller has nothing to do with it any more. */
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

	pthread_mutex_lock(&pool->lock);
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
	while (job->replied && next_reply())
		;
	forget(job);
	/* With a reply under way next_reply() drops the reference. */
	if (!job->replied) {
		close_fds_locked(&job->msg);
		comch_foreign_unref(job);
	}
	pthread_mutex_unlock(&pool->lock);
}
