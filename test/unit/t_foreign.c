/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Messages with descriptors, received by the threads. comch_foreign.c, comch_foreign_threads.c. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "sdk/comch_foreign_private.h"
#include "t.h"

static bool
no_news(void *ctx, bool can_wake)
{
	RTE_SET_USED(ctx);
	RTE_SET_USED(can_wake);
	return false;
}

static void
send_fd(int sock, int fd)
{
	struct iovec iov = { .iov_base = &(char){ 'm' }, .iov_len = 1 };
	union comch_foreign_control control;
	struct msghdr msg;

	comch_foreign_pack(&msg, &iov, &control, &fd, 1);
	cr_assert_eq(sendmsg(sock, &msg, 0), 1);
}

/* May receivers be pulled to the CPU of the thread that hands them a message? */
static void
let_pull(bool may)
{
	pthread_mutex_lock(&comch_foreign_pool.lock);
	comch_foreign_pool.away_until = may ? 0 : UINT64_MAX;
	pthread_mutex_unlock(&comch_foreign_pool.lock);
}

/* A pair of sockets, with memory on the way to the first. Returns the memory. */
static int
send_memory(int *sv)
{
	int fd = memfd_create("t_foreign", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	cr_assert(fd >= 0);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, sv), 0);
	send_fd(sv[1], fd);
	return fd;
}

/* The threads hold the lock for moments. */
static struct comch_foreign_job *
start(int sock, const struct comch_foreign_peer *peer)
{
	struct comch_foreign_job *job;
	int ret;

	T_AWAIT((ret = comch_foreign_recv(sock, peer, NULL, no_news, NULL, &job)) != -EBUSY);
	cr_assert_eq(ret, 0);
	return job;
}

static void *
hold_lock(void *arg)
{
	sem_t *sem = arg;

	pthread_mutex_lock(&comch_foreign_pool.lock);
	sem_post(&sem[0]);
	sem_wait(&sem[1]);
	pthread_mutex_unlock(&comch_foreign_pool.lock);
	return NULL;
}

/* The holder may have lost its CPU to the peer: a run must not wait for it. */
Test(foreign, does_not_wait_for_a_thread_that_holds_the_lock)
{
	struct comch_foreign_peer peer = { 0 };
	struct comch_foreign_job *job, *none;
	struct comch_foreign_msg msg;
	pthread_t thread;
	sem_t sem[2];
	int sv[2], fd;

	t_eal_start(1);
	cr_assert_eq(comch_foreign_start(), 0);
	fd = send_memory(sv);
	job = start(sv[0], &peer);
	sem_init(&sem[0], 0, 0);
	sem_init(&sem[1], 0, 0);
	cr_assert_eq(pthread_create(&thread, NULL, hold_lock, sem), 0);
	sem_wait(&sem[0]);
	cr_assert_eq(comch_foreign_take(job, &msg), -EBUSY);
	cr_assert_eq(comch_foreign_recv(sv[0], &peer, NULL, no_news, NULL, &none), -EBUSY);
	sem_post(&sem[1]);
	pthread_join(thread, NULL);
	T_AWAIT(comch_foreign_take(job, &msg) == 0);
	cr_assert_eq(msg.nb_fds, 1);
	close(msg.fds[0]);
	comch_foreign_unmap(&msg);
	close(sv[0]);
	close(sv[1]);
	close(fd);
	t_eal_stop();
}

#define MAX_THREADS 256

static int
list_threads(int *tids)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	int n = 0;

	cr_assert(dir != NULL);
	while ((entry = readdir(dir)) != NULL) {
		cr_assert(n < MAX_THREADS);
		if (entry->d_name[0] != '.')
			tids[n++] = atoi(entry->d_name);
	}
	closedir(dir);
	return n;
}

static bool
are_alive(const int *tids, int n)
{
	while (n > 0)
		if (syscall(SYS_tgkill, getpid(), tids[--n], 0) != 0)
			return false;
	return true;
}

static bool
is_closed(int fd)
{
	return fcntl(fd, F_GETFD) < 0 && errno == EBADF;
}

static bool
all_idle(void)
{
	bool idle = true;
	int i;

	pthread_mutex_lock(&comch_foreign_pool.lock);
	for (i = 0; i < COMCH_FOREIGN_SLOTS; i++)
		idle &= !comch_foreign_pool.slot[i].used || !comch_foreign_pool.slot[i].busy;
	idle &= comch_foreign_pool.nb_queued[COMCH_FOREIGN_CLOSER] == 0;
	pthread_mutex_unlock(&comch_foreign_pool.lock);
	return idle;
}

/* A thread that ends gives back its stack, and a poll that maps memory waits for that. */
Test(foreign, closers_of_memory_stay)
{
	int tids[MAX_THREADS], sv[2], fd, i, n;

	t_eal_start(1);
	cr_assert_eq(comch_foreign_start(), 0);
	fd = send_memory(sv);
	comch_foreign_close(sv[0]);
	close(sv[1]);
	T_AWAIT(all_idle());
	n = list_threads(tids);
	for (i = 0; i < 20; i++) {
		comch_foreign_close(dup(fd));
		cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, sv), 0);
		send_fd(sv[1], fd);
		cr_assert_eq(send(sv[1], "x", 1, 0), 1);
		send_fd(sv[1], fd);
		cr_assert_eq(send(sv[0], "x", 1, 0), 1);
		close(sv[1]);
		comch_foreign_close(sv[0]);
		T_AWAIT(is_closed(sv[0]));
		T_AWAIT(all_idle());
		cr_assert(are_alive(tids, n));
	}
	close(fd);
	t_eal_stop();
}

/* The kernel reports unread data of a peer that is gone first, once, and then its messages. */
Test(foreign, last_message_of_a_peer_that_left_data_unread)
{
	struct comch_foreign_peer peer = { 0 };
	struct comch_foreign_job *job;
	struct comch_foreign_msg msg;
	int sv[2], fd;

	t_eal_start(1);
	cr_assert_eq(comch_foreign_start(), 0);
	fd = send_memory(sv);
	cr_assert_eq(send(sv[0], "x", 1, 0), 1);
	close(sv[1]);
	job = start(sv[0], &peer);
	T_AWAIT(comch_foreign_take(job, &msg) == 0);
	cr_assert_eq(msg.len, 1, "%d", msg.len);
	cr_assert_eq(msg.nb_fds, 1);
	cr_assert_eq(msg.data[0], 'm');
	close(msg.fds[0]);
	comch_foreign_unmap(&msg);
	cr_assert_eq(comch_foreign_next(sv[0]), COMCH_FOREIGN_END);
	close(sv[0]);
	close(fd);
	t_eal_stop();
}

#define LOW_LIMIT 32

/*
 * Become a user of our own, with more descriptors in flight than it may have at the low limit
 * of open ones.
 */
static void
fly_many(void)
{
	uid_t uid = 1000000 + (uid_t)getpid();
	int sv[2], i;

	if (setresuid(uid, uid, uid) != 0)
		t_skip("another user's id: %s", strerror(errno));
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, sv), 0);
	for (i = 0; i <= LOW_LIMIT; i++)
		send_fd(sv[1], sv[1]);
}

/* Set the limit of open descriptors, and so that of those in flight. */
static void
set_limit(rlim_t nb)
{
	struct rlimit limit;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = RTE_MIN(nb, limit.rlim_max);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static enum comch_foreign_state
state_of(const struct comch_foreign_job *job)
{
	enum comch_foreign_state state;

	pthread_mutex_lock(&comch_foreign_pool.lock);
	state = job->state;
	pthread_mutex_unlock(&comch_foreign_pool.lock);
	return state;
}

/* Start a job whose reply meets the limit; again, if the receiver was faster than we are. */
static struct comch_foreign_job *
start_at_limit(int *sv)
{
	struct comch_foreign_peer peer = { 0 };
	struct comch_foreign_job *job;
	struct comch_foreign_msg msg;

	t_eal_start(1);
	cr_assert_eq(comch_foreign_start(), 0);
	/* Receivers that run at once have replied before the limit is set. */
	let_pull(false);
	fly_many();
	for (;;) {
		close(send_memory(sv));
		job = start(sv[0], &peer);
		set_limit(LOW_LIMIT);
		T_AWAIT(state_of(job) >= COMCH_FOREIGN_REPLYING);
		if (state_of(job) == COMCH_FOREIGN_REPLYING)
			return job;
		set_limit(RLIM_INFINITY);
		T_AWAIT(comch_foreign_take(job, &msg) == 0);
		/* None, if the receiver had no CPU for a second. */
		while (msg.nb_fds > 0)
			close(msg.fds[--msg.nb_fds]);
		close(sv[0]);
		close(sv[1]);
	}
}

/* The user's limit of descriptors in flight is temporary: 2.5 s are no reason to give up. */
Test(foreign, reply_waits_for_other_descriptors_in_flight)
{
	struct comch_foreign_job *job;
	struct comch_foreign_msg msg;
	int sv[2];

	job = start_at_limit(sv);
	usleep(2500000);
	cr_assert_eq(state_of(job), COMCH_FOREIGN_REPLYING);
	set_limit(RLIM_INFINITY);
	T_AWAIT(comch_foreign_take(job, &msg) == 0);
	cr_assert_eq(msg.len, 1, "%d", msg.len);
	cr_assert_eq(msg.nb_fds, 1);
	close(msg.fds[0]);
	t_eal_stop();
}

Test(foreign, reply_does_not_wait_for_ever)
{
	struct comch_foreign_job *job;
	struct comch_foreign_msg msg;
	int sv[2];

	job = start_at_limit(sv);
	T_AWAIT(comch_foreign_take(job, &msg) == 0);
	cr_assert_eq(msg.len, -EMFILE, "%d", msg.len);
	t_eal_stop();
}

/* The CPUs of the receivers */

/* The receivers that may run on one CPU only, which is *cpu. */
static uint32_t
count_pulled(int *cpu)
{
	const struct comch_foreign_slot *s;
	uint32_t n = 0;
	cpu_set_t set;

	pthread_mutex_lock(&comch_foreign_pool.lock);
	for (s = comch_foreign_pool.slot; s < comch_foreign_pool.slot + COMCH_FOREIGN_SLOTS; s++) {
		if (!s->used || s->kind != COMCH_FOREIGN_RECEIVER || s->tid == 0)
			continue;
		cr_assert_eq(sched_getaffinity(s->tid, sizeof(set), &set), 0);
		if (CPU_COUNT(&set) > 1)
			continue;
		n++;
		for (*cpu = 0; !CPU_ISSET(*cpu, &set); (*cpu)++)
			;
	}
	pthread_mutex_unlock(&comch_foreign_pool.lock);
	return n;
}

static bool
receiver_runs(void)
{
	const struct comch_foreign_slot *s;
	bool runs = false;

	pthread_mutex_lock(&comch_foreign_pool.lock);
	for (s = comch_foreign_pool.slot; s < comch_foreign_pool.slot + COMCH_FOREIGN_SLOTS; s++)
		runs |= s->used && s->kind == COMCH_FOREIGN_RECEIVER && s->tid != 0;
	pthread_mutex_unlock(&comch_foreign_pool.lock);
	return runs;
}

/* Start, and stay on a CPU of which the receivers have others as well. */
static void
stay_on_cpu(int *cpu)
{
	cpu_set_t set;

	cr_assert_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	if (CPU_COUNT(&set) < 2)
		t_skip("one CPU only");
	t_eal_start(1);
	/* EAL has taken a CPU for this thread. The others have all. */
	cr_assert_eq(sched_setaffinity(0, sizeof(set), &set), 0);
	cr_assert_eq(comch_foreign_start(), 0);
	T_AWAIT(receiver_runs());
	*cpu = sched_getcpu();
	CPU_ZERO(&set);
	CPU_SET(*cpu, &set);
	cr_assert_eq(sched_setaffinity(0, sizeof(set), &set), 0);
}

static void
receive_memory(void)
{
	struct comch_foreign_peer peer = { 0 };
	struct comch_foreign_job *job;
	struct comch_foreign_msg msg;
	int sv[2], fd;

	fd = send_memory(sv);
	job = start(sv[0], &peer);
	T_AWAIT(comch_foreign_take(job, &msg) == 0);
	cr_assert_eq(msg.nb_fds, 1);
	close(msg.fds[0]);
	close(sv[0]);
	close(sv[1]);
	close(fd);
}

static void
pull_now(bool expected)
{
	pthread_mutex_lock(&comch_foreign_pool.lock);
	cr_assert_eq(comch_foreign_cpu_pull(), expected);
	pthread_mutex_unlock(&comch_foreign_pool.lock);
}

/* On another CPU they have to be woken, which takes longer than their work. */
Test(foreign, receivers_run_on_the_cpu_of_the_poll)
{
	int cpu, pulled_to;

	stay_on_cpu(&cpu);
	let_pull(true);
	pull_now(true);
	cr_assert_gt(count_pulled(&pulled_to), 0);
	cr_assert_eq(pulled_to, cpu);
	receive_memory();
	let_pull(false);
	pull_now(false);
	cr_assert_eq(count_pulled(&pulled_to), 0);
	receive_memory();
	t_eal_stop();
}

/* What a peer sends may take long to drop. */
Test(foreign, receivers_go_home_with_what_they_refuse)
{
	struct comch_foreign_peer peer = { 0 };
	struct comch_foreign_job *job;
	struct comch_foreign_msg msg;
	int cpu, sv[2], fds[2];

	stay_on_cpu(&cpu);
	let_pull(true);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, sv), 0);
	cr_assert_eq(pipe(fds), 0);
	send_fd(sv[1], fds[0]);
	job = start(sv[0], &peer);
	T_AWAIT(comch_foreign_take(job, &msg) == 0);
	cr_assert_eq(msg.len, -EPROTO, "%d", msg.len);
	/* The one that refused it goes once it has given back the lock. */
	T_AWAIT(count_pulled(&cpu) == 0);
	cr_assert_gt(comch_foreign_pool.away_until, 0);
	close(fds[0]);
	close(fds[1]);
	close(sv[0]);
	close(sv[1]);
	t_eal_stop();
}

/* It would let them wait for as long as it runs. */
Test(foreign, receivers_stay_away_from_a_thread_of_another_class)
{
	const struct sched_param param = { 0 };
	int cpu;

	stay_on_cpu(&cpu);
	let_pull(true);
	cr_assert_eq(sched_setscheduler(0, SCHED_IDLE, &param), 0);
	pull_now(false);
	cr_assert_eq(count_pulled(&cpu), 0);
	receive_memory();
	t_eal_stop();
}

/* The receivers cannot be reached: the caller learns of it, and nothing is left behind. */
Test(foreign, job_that_cannot_be_sent)
{
	struct comch_foreign_peer peer = { 0 };
	struct comch_foreign_job *job;
	int sv[2], fd, out, ret;

	t_eal_start(1);
	cr_assert_eq(comch_foreign_start(), 0);
	fd = send_memory(sv);
	out = comch_foreign_pool.out[COMCH_FOREIGN_RECEIVER];
	comch_foreign_pool.out[COMCH_FOREIGN_RECEIVER] = -1;
	T_AWAIT((ret = comch_foreign_recv(sv[0], &peer, NULL, no_news, NULL, &job)) != -EBUSY);
	cr_assert_eq(ret, -EBADF, "%d", ret);
	comch_foreign_pool.out[COMCH_FOREIGN_RECEIVER] = out;
	cr_assert_eq(comch_foreign_pool.nb_queued[COMCH_FOREIGN_RECEIVER], 0);
	cr_assert(TAILQ_EMPTY(&comch_foreign_pool.jobs));
	receive_memory();
	close(sv[0]);
	close(sv[1]);
	close(fd);
	t_eal_stop();
}
