/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The threads with their own descriptor tables: a supervisor, which uses no descriptor of
 * a peer, starts other threads when too few are idle, and times out stuck jobs; and
 * receivers and closers, which may block for ever.
 *
 * A job reaches a thread with a descriptor of the peer's socket, which is closed
 * before any call that can block: a stuck thread holds no other descriptor than the
 * one that it drops.
 */

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_common.h>

#include "sdk/comch_foreign_private.h"

/* Number of idle threads that the supervisor keeps up, to the limit of all threads. */
#define MIN_IDLE 2
/* Time limit of a queued job: all receivers are stuck. */
#define QUEUED_TICKS (5000 / COMCH_FOREIGN_TICK_MS)
/* Maximum number of sockets that an exiting closer closes. */
#define CLOSE_BURST 64
/* Time limit of a reply: at the user's limit of descriptors in flight, which is temporary. */
#define REPLYING_TICKS (5000 / COMCH_FOREIGN_TICK_MS)
#define STACK_SIZE (256 << 10)
/* Maximum number of descriptors of a message: SCM_MAX_FD of the kernel. */
#define MAX_FDS 253
/* A closer reads this much of a socket's queue: it holds at most 278 messages by default. */
#define DRAIN_MSGS 512
#define DRAIN_BYTES 4096

static struct comch_foreign_pool *const pool = &comch_foreign_pool;

/* Bypasses sanitizers, as comch_foreign_own_close() does. */
static ssize_t
own_recvmsg(int sock, struct msghdr *msg, int flags)
{
	return syscall(SYS_recvmsg, sock, msg, flags);
}

static bool
is_memory(int fd)
{
	/* Only tmpfs and hugetlbfs answer. */
	return fcntl(fd, F_GET_SEALS) >= 0;
}

/* Does dropping it never block? True for memory, and for unix sockets via the closers. */
static bool
is_harmless(int fd)
{
	return is_memory(fd) || comch_foreign_is_unix(fd);
}

/* Receive a message. Returns its length or a negative errno. */
static int
receive(int sock, struct comch_foreign_msg *m)
{
	union comch_foreign_control control;
	struct iovec iov = { .iov_base = m->data, .iov_len = sizeof(m->data) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf,
		/* Not CMSG_SPACE(): its padding has space for another descriptor. */
		.msg_controllen = CMSG_LEN(sizeof(int) * COMCH_FOREIGN_FDS),
	};
	ssize_t len;
	uint32_t i;

	len = own_recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	/* The peer closed with unread data: its messages can be read (comch_foreign_next()). */
	if (len < 0 && errno == ECONNRESET)
		len = own_recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (len < 0)
		return -errno;
	m->nb_fds = comch_foreign_unpack(&msg, m->fds);
	if ((msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
		return -EPROTO;
	for (i = 0; i < m->nb_fds; i++)
		if (!is_harmless(m->fds[i]))
			return -EPROTO;
	return (int)len;
}

/* Map and seal the unsealed payload memory of a message. */
static void
map_unsealed(const struct comch_peermap_limit *limit, struct comch_foreign_msg *m)
{
	uint32_t i;
	int seals, ret;

	for (i = 0; i < m->nb_fds && limit->used != NULL; i++) {
		seals = fcntl(m->fds[i], F_GET_SEALS);
		if (seals < 0 || (seals & F_SEAL_SEAL) != 0)
			continue;
		ret = comch_peermap_get(m->fds[i], 0, 0, limit, &m->map[i]);
		if (ret == 0)
			continue;
		m->map[i] = NULL;
		/* -EPERM is the file's fault: the import detects it again. */
		if (ret != -EPERM)
			m->map_err = ret;
	}
}

/*
 * Send a job's descriptors to the program, unless the job was cancelled. The peer cannot make
 * this wait: the supervisor gives it more time, and the thread is not stuck.
 */
static void
reply(struct comch_foreign_slot *slot, struct comch_foreign_job *job,
		struct comch_foreign_msg *m, int len)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	struct iovec iov = { .iov_base = &job, .iov_len = sizeof(job) };
	union comch_foreign_control control;
	struct msghdr msg;

	job->state = COMCH_FOREIGN_REPLYING;
	job->ticks = 0;
	comch_foreign_pack(&msg, &iov, &control, m->fds, m->nb_fds);
	while (job->state == COMCH_FOREIGN_REPLYING && !job->cancelled) {
		if (syscall(SYS_sendmsg, pool->reply_out, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
			job->replied = true;
			memcpy(job->msg.map, m->map, sizeof(m->map));
			job->msg.map_err = m->map_err;
			memset(m->map, 0, sizeof(m->map));
			comch_foreign_finish(job, len);
			return;
		}
		pool->drain = true;
		slot->ticks = 0;
		pthread_cond_signal(&pool->wake);
		pthread_mutex_unlock(&pool->lock);
		nanosleep(&nap, NULL);
		pthread_mutex_lock(&pool->lock);
	}
}

static void
run_job(struct comch_foreign_slot *slot, struct comch_foreign_job *job, int sock)
{
	struct comch_foreign_msg m = { 0 };
	bool goes_home = false;
	uint32_t i;
	int len = 0;

	pthread_mutex_lock(&pool->lock);
	if (job->state == COMCH_FOREIGN_QUEUED && !job->cancelled) {
		job->state = COMCH_FOREIGN_RUNNING;
		job->ticks = 0;
		slot->peer = job->peer;
		pthread_mutex_unlock(&pool->lock);
		len = receive(sock, &m);
		if (len >= 0)
			map_unsealed(&job->limit, &m);
		pthread_mutex_lock(&pool->lock);
	}
	if (job->state == COMCH_FOREIGN_RUNNING) {
		memcpy(job->msg.data, m.data, sizeof(m.data));
		if (len >= 0 && m.nb_fds > 0)
			reply(slot, job, &m, len);
		else
			comch_foreign_finish(job, len);
	}
	/* Dropping a file can take as long as its pages are many, or for ever. */
	if (m.nb_fds > 0 && !job->replied) {
		goes_home = comch_foreign_cpu_leave_others(slot);
		if (pool->supervisor_sleeps)
			pthread_cond_signal(&pool->work);
	}
	comch_foreign_unref(job);
	pthread_mutex_unlock(&pool->lock);
	if (goes_home)
		comch_foreign_cpu_go_home();
	comch_foreign_unmap(&m);
	/* This may drop the peer's last reference, and block: only this thread suffers. */
	comch_foreign_own_close(sock);
	for (i = 0; i < m.nb_fds; i++)
		comch_foreign_own_close(m.fds[i]);
}

/* Discard a reply for which the program has no free descriptors; this thread has. */
static void
discard_reply(void)
{
	union comch_foreign_control control;
	struct comch_foreign_job *job = NULL;
	struct iovec iov = { .iov_base = &job, .iov_len = sizeof(job) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.buf, .msg_controllen = sizeof(control.buf),
	};

	pthread_mutex_lock(&pool->lock);
	(void)own_recvmsg(pool->reply_discard, &msg, MSG_DONTWAIT);
	pool->discard = COMCH_FOREIGN_DISCARD_NONE;
	TAILQ_FOREACH(job, &pool->jobs, next)
		if (job->state == COMCH_FOREIGN_DONE)
			comch_foreign_notify(job);
	pthread_mutex_unlock(&pool->lock);
	/* Exiting closes them with this thread's table. */
}

static void
mark_busy(struct comch_foreign_slot *slot, const struct comch_foreign_job *job)
{
	bool is_watched;

	pthread_mutex_lock(&pool->lock);
	is_watched = job != NULL && job->is_watched;
	pool->nb_queued[slot->kind]--;
	slot->busy = true;
	slot->ticks = 0;
	slot->peer = (struct comch_foreign_peer){ .uid = -1, .pid = -1 };
	/* The supervisor times out stuck jobs, and starts other threads. */
	if ((pool->supervisor_sleeps && !is_watched) || comch_foreign_nb_idle(slot->kind) == 0)
		pthread_cond_signal(&pool->work);
	pthread_mutex_unlock(&pool->lock);
}

/*
 * Wait for a message for threads of this kind. False with MSG_DONTWAIT: none. fd: the
 * socket of the message, or -1.
 */
static bool
next_message(const struct comch_foreign_slot *slot, int flags, struct comch_foreign_job **job,
		int *fd)
{
	struct iovec iov = { .iov_base = job, .iov_len = sizeof(*job) };
	union comch_foreign_control control;
	int fds[COMCH_FOREIGN_FDS];
	struct msghdr msg;
	ssize_t len;

	do {
		msg = (struct msghdr){
			.msg_iov = &iov, .msg_iovlen = 1,
			.msg_control = control.buf, .msg_controllen = sizeof(control.buf),
		};
		len = own_recvmsg(pool->in[slot->kind], &msg, flags | MSG_CMSG_CLOEXEC);
	} while (len < 0 && errno == EINTR);
	*fd = len == sizeof(*job) && comch_foreign_unpack(&msg, fds) == 1 ? fds[0] : -1;
	return len == sizeof(*job);
}

static void
receiver_main(struct comch_foreign_slot *slot)
{
	struct comch_foreign_job *job;
	int sock;

	while (next_message(slot, 0, &job, &sock)) {
		mark_busy(slot, job);
		run_job(slot, job, sock);
		pthread_mutex_lock(&pool->lock);
		slot->busy = false;
		comch_foreign_line_freed();
		pthread_mutex_unlock(&pool->lock);
	}
}

/* The control data of any message, with room for all descriptors: the kernel drops none. */
union many_fds {
	struct cmsghdr align;
	char buf[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int) * MAX_FDS)];
};

/* Close the memory of a message. False: it has other files, which stay in this table. */
static bool
close_memory(struct msghdr *msg)
{
	int fds[MAX_FDS];
	uint32_t i, n = comch_foreign_unpack(msg, fds);
	bool all = true;

	for (i = 0; i < n; i++) {
		if (is_memory(fds[i]))
			comch_foreign_own_close(fds[i]);
		else
			all = false;
	}
	return all;
}

/*
 * Empty the queue of a socket. False: closing it or what it held may block. Memory does not,
 * and is what floods consist of: connections are refused before their first message is read.
 */
static bool
drain(int sock)
{
	char data[DRAIN_BYTES];
	struct iovec iov = { .iov_base = data, .iov_len = sizeof(data) };
	union many_fds control;
	const int yes = 1;
	struct msghdr msg;
	unsigned int i;
	ssize_t len;

	/* Nothing can be added then. Credentials: as in comch_foreign_is_drained(). */
	if (setsockopt(sock, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) != 0 ||
			shutdown(sock, SHUT_RDWR) != 0)
		return false;
	for (i = 0; i < DRAIN_MSGS; i++) {
		msg = (struct msghdr){
			.msg_iov = &iov, .msg_iovlen = 1,
			.msg_control = control.buf, .msg_controllen = sizeof(control.buf),
		};
		len = own_recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		/* Reported once, if the peer closed with unread data. */
		if (len < 0 && errno == ECONNRESET)
			continue;
		/* A listener, for instance. */
		if (len < 0)
			return false;
		if (!close_memory(&msg))
			return false;
		if (len == 0 && msg.msg_controllen == 0)
			return true;
	}
	return false;
}

/*
 * A closer of a socket with files in its queue also takes other waiting sockets, and
 * exits: the kernel closes them with its table, and an exiting task does not linger for
 * the files in their queues. It exits only for those: at an exit it has to give back its
 * stack, and a poll that maps memory then waits for it, which may have lost its CPU.
 */
static void
closer_main(struct comch_foreign_slot *slot)
{
	struct comch_foreign_job *none;
	int n = 0, sock;

	while (n < CLOSE_BURST && next_message(slot, n > 0 ? MSG_DONTWAIT : 0, &none, &sock)) {
		mark_busy(slot, NULL);
		/* An exit during a fork() is a risk, so only for sockets that may block. */
		if (sock >= 0 && n == 0 && (is_memory(sock) || drain(sock))) {
			comch_foreign_own_close(sock);
		} else {
			n++;
			if (sock < 0)
				discard_reply();
		}
		if (n > 0)
			continue;
		pthread_mutex_lock(&pool->lock);
		slot->busy = false;
		pthread_mutex_unlock(&pool->lock);
	}
}

static void
slot_main(struct comch_foreign_slot *slot)
{
	comch_foreign_cpu_slice();
	pthread_mutex_lock(&pool->lock);
	slot->tid = gettid();
	pthread_mutex_unlock(&pool->lock);
	if (slot->kind == COMCH_FOREIGN_RECEIVER)
		receiver_main(slot);
	else
		closer_main(slot);
}

static void *
thread_main(void *arg)
{
	struct comch_foreign_slot *slot = arg;
	int keep[] = { pool->in[slot->kind], pool->reply_out, pool->reply_discard };

	const struct timespec nap = { .tv_nsec = 100000000 };

	if (comch_foreign_own_table(keep, RTE_DIM(keep)) != 0)
		nanosleep(&nap, NULL); /* limits the rate of retries */
	else
		slot_main(slot);
	pthread_mutex_lock(&pool->lock);
	pool->nb_threads[slot->kind]--;
	slot->used = false;
	pthread_cond_signal(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* Under the lock. */
static void
add_thread(enum comch_foreign_kind kind)
{
	struct comch_foreign_slot *slot = pool->slot;
	pthread_attr_t attr;
	pthread_t thread;

	while (slot->used)
		slot++;
	*slot = (struct comch_foreign_slot){ .used = true, .kind = kind, .cpu = -1 };
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, thread_main, slot) == 0)
		pool->nb_threads[kind]++;
	else
		slot->used = false;
	pthread_attr_destroy(&attr);
}

static void
add_threads(void)
{
	static const uint32_t max[COMCH_FOREIGN_NB_KINDS] = {
		COMCH_FOREIGN_RECEIVERS, COMCH_FOREIGN_CLOSERS,
	};
	int kind;

	for (kind = 0; kind < COMCH_FOREIGN_NB_KINDS; kind++)
		if (comch_foreign_nb_idle(kind) < MIN_IDLE && pool->nb_threads[kind] < max[kind])
			add_thread(kind);
}

/* End a job that takes too long; its thread may stay for ever. */
static void
time_out(struct comch_foreign_job *job)
{
	switch (job->state) {
	case COMCH_FOREIGN_WAITING:
	case COMCH_FOREIGN_QUEUED:
		if (job->ticks > QUEUED_TICKS)
			comch_foreign_finish(job, -ETIMEDOUT);
		break;
	case COMCH_FOREIGN_RUNNING:
		if (job->ticks > COMCH_FOREIGN_STUCK_TICKS)
			comch_foreign_finish(job, -ETIMEDOUT);
		break;
	case COMCH_FOREIGN_REPLYING:
		if (job->ticks > REPLYING_TICKS)
			comch_foreign_finish(job, -EMFILE);
		break;
	case COMCH_FOREIGN_DONE:
		break;
	}
}

/* Time is counted in ticks, so that a stopped process does not time out its jobs. */
static void
tick(void)
{
	struct comch_foreign_slot *slot;
	struct comch_foreign_job *job;

	for (slot = pool->slot; slot < pool->slot + COMCH_FOREIGN_SLOTS; slot++) {
		slot->ticks += slot->used && slot->busy;
		if (slot->used && slot->busy && slot->cpu >= 0 && slot->ticks > 1)
			comch_foreign_cpu_leave();
	}
	/* Messages that wait behind stuck ones are refused; and shares may have grown. */
	comch_foreign_line_freed();
	TAILQ_FOREACH(job, &pool->jobs, next) {
		if (job->state == COMCH_FOREIGN_DONE || job->cancelled)
			continue;
		job->ticks++;
		/* Perhaps no receiver gets the CPU to which they were pulled. */
		if (job->state == COMCH_FOREIGN_QUEUED && job->ticks > 1)
			comch_foreign_cpu_leave();
		time_out(job);
	}
}

static bool
all_idle(void)
{
	uint32_t i;

	for (i = 0; i < COMCH_FOREIGN_SLOTS; i++)
		if (pool->slot[i].used && pool->slot[i].busy)
			return false;
	return pool->nb_queued[COMCH_FOREIGN_RECEIVER] == 0 &&
		pool->nb_queued[COMCH_FOREIGN_CLOSER] == 0;
}

comch_thread_ret_t
comch_foreign_supervisor(void *arg)
{
	int keep[] = {
		pool->in[COMCH_FOREIGN_RECEIVER], pool->in[COMCH_FOREIGN_CLOSER],
		pool->reply_out, pool->reply_discard,
	};
	struct comch_foreign_start *start = arg;
	struct timespec until;

	comch_foreign_cpu_slice();
	comch_foreign_cpu_home();
	start->ret = comch_foreign_own_table(keep, RTE_DIM(keep));
	if (start->ret != 0) {
		sem_post(&start->ready);
		return 0;
	}
	sem_post(&start->ready);
	comch_foreign_in_ms(&until, COMCH_FOREIGN_TICK_MS);
	pthread_mutex_lock(&pool->lock);
	for (;;) {
		add_threads();
		if (all_idle()) {
			pool->supervisor_sleeps = true;
			pthread_cond_wait(&pool->work, &pool->lock);
			pool->supervisor_sleeps = false;
			comch_foreign_in_ms(&until, COMCH_FOREIGN_TICK_MS);
			continue;
		}
		if (pthread_cond_timedwait(&pool->work, &pool->lock, &until) == ETIMEDOUT) {
			tick();
			comch_foreign_in_ms(&until, COMCH_FOREIGN_TICK_MS);
		}
	}
	return 0;
}
