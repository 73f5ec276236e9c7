/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A forked child of a process that has a server, a client and a flow between them: its calls
 * are refused, it may fork again, and its parent notices nothing. And a child of one that has
 * had them: it may use the library, with helper threads of its own.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_comch_counter.h>
#include <rte_comch_poll.h>

#include "mp.h"

/* Longer than the reaper leaves to the poll. */
#define LARGE (1 << 20)

/* Fork; fn of the child must return 0. */
static void
in_child(int (*fn)(int fd, void *arg), void *arg)
{
	struct t_proc child;

	t_proc_start(&child, "child", fn, arg);
	t_proc_join(&child);
}

static const struct t_driver driver = { .name = "comch_shm", .has_dir = true };

struct ends {
	struct t_pair p;
	struct t_flow f;
};

static void
ends_open(struct ends *e)
{
	const struct t_flow_conf conf = { .kind = RTE_COMCH_MEM_SEALED, .size = LARGE };

	t_driver = &driver;
	t_pair_open(&e->p, NULL);
	t_flow_open(&e->f, &e->p, &conf);
	t_flow_once(&e->f, LARGE, 1);
}

static void
ends_close(struct ends *e)
{
	t_flow_close(&e->f);
	t_pair_close(&e->p);
}

static void
begin(struct ends *e)
{
	t_eal_start(1);
	ends_open(e);
}

/* The ends still work. */
static void
end(struct ends *e)
{
	t_flow_once(&e->f, 1000, 2);
	ends_close(e);
	t_eal_stop();
}

#define ENDS_CASE(name) T_CASE_OF(struct ends, begin, end, name, e)

/* Number of the first call that is not refused; 0: all are. */
static int
refused(int fd __rte_unused, void *arg)
{
	struct ends *e = arg;
	struct rte_comch_poll *poll = e->p.dpu->poll;
	struct rte_comch_msg msg = { .data = "x", .len = 1 };
	struct rte_comch_event ev;

#define REFUSED(call) do { if ((call) != -EBADFD) return __LINE__ - first; } while (0)
	const int first = __LINE__;
	REFUSED(rte_comch_client_stop(e->p.client));
	REFUSED(rte_comch_client_destroy(e->p.client));
	REFUSED(rte_comch_server_stop(e->p.server));
	REFUSED(rte_comch_server_destroy(e->p.server));
	REFUSED(rte_comch_conn_accept(e->p.sconn));
	REFUSED(rte_comch_conn_reject(e->p.sconn, NULL));
	REFUSED(rte_comch_conn_disconnect(e->p.sconn, NULL));
	REFUSED(rte_comch_consumer_mr_add(e->f.cons, e->f.src.mr));
	REFUSED(rte_comch_consumer_stop(e->f.cons));
	REFUSED(rte_comch_consumer_destroy(e->f.cons));
	REFUSED(rte_comch_producer_stop(e->f.prod));
	REFUSED(rte_comch_producer_destroy(e->f.prod));
	REFUSED(rte_comch_poll_arm(poll, RTE_COMCH_POLL_ANY));
	REFUSED(rte_comch_poll_clear(poll));
	REFUSED(rte_comch_poll_notify(poll));
	REFUSED(rte_comch_poll_destroy(poll));
#undef REFUSED
	if (rte_comch_conn_send_burst(e->p.sconn, &msg, 1) != 0 ||
			rte_comch_poll_run(poll, &ev, 1) != 0)
		return 100;
	return 0;
}

ENDS_CASE(calls_are_refused)
{
	in_child(refused, e);
}

struct counters {
	struct rte_comch_counter *own, *shared;
	struct rte_comch_poll *poll;
};

/* A child has no counters: they are 0, and stay so. */
static int
counters_are_gone(int fd __rte_unused, void *arg)
{
	struct counters *c = arg;
	struct rte_comch_counter *each[] = { c->own, c->shared };
	uint8_t desc[RTE_COMCH_EXPORT_DESC_LEN];
	unsigned int i;

	for (i = 0; i < RTE_DIM(each); i++) {
		rte_comch_counter_set(each[i], 9);
		if (rte_comch_counter_add(each[i], 1) != 0 || rte_comch_counter_get(each[i]) != 0)
			return 1;
		if (rte_comch_counter_is(each[i], RTE_COMCH_COUNTER_EQ, 0, UINT64_MAX))
			return 2;
		if (rte_comch_counter_wait(each[i], RTE_COMCH_COUNTER_EQ, 0, 0, -1) != -EBADFD)
			return 3;
		if (rte_comch_counter_connect(each[i]) != -EBADFD ||
				rte_comch_counter_export(each[i], 0, desc) != -EBADFD ||
				rte_comch_counter_watch(each[i], 0, c->poll) != -EBADFD)
			return 4;
		rte_comch_counter_unwatch(each[i]);
		rte_comch_counter_free(each[i]);
	}
	return rte_comch_counter_create(0) == NULL ? 0 : 5;
}

T_CASE(counters_are_not_in_the_child)
{
	struct counters c;

	t_eal_start(1);
	c.own = rte_comch_counter_create(0);
	c.shared = rte_comch_counter_create(RTE_COMCH_COUNTER_F_SHARED);
	c.poll = rte_comch_poll_create(NULL);
	T_CHECK(c.own != NULL && c.shared != NULL && c.poll != NULL);
	rte_comch_counter_set(c.own, 5);
	rte_comch_counter_set(c.shared, 6);
	T_EQ(rte_comch_counter_watch(c.shared, 6, c.poll), 0);
	in_child(counters_are_gone, &c);
	/* The parent's are as before. */
	T_EQ(rte_comch_counter_get(c.own), 5);
	T_EQ(rte_comch_counter_add(c.shared, 1), 6);
	rte_comch_counter_free(c.own);
	rte_comch_counter_free(c.shared);
	T_EQ(rte_comch_poll_destroy(c.poll), 0);
	t_eal_stop();
}

static int
fork_again(int fd __rte_unused, void *arg)
{
	in_child(refused, arg);
	return 0;
}

ENDS_CASE(grandchild_is_refused)
{
	in_child(fork_again, e);
}

static int
stdin_is_open(int fd __rte_unused, void *arg __rte_unused)
{
	return fcntl(STDIN_FILENO, F_GETFD) >= 0 ? 0 : 1;
}

static int
fork_later(int fd, void *arg __rte_unused)
{
	t_hear(fd, 'C');
	in_child(stdin_is_open, NULL);
	return 0;
}

/*
 * The child's lists of objects are its parent's, which has freed these meanwhile: the
 * descriptors that another fork would have its child close are any.
 */
T_CASE(fork_after_the_parent_closed)
{
	struct t_proc child;
	struct ends e;

	T_EQ(dup2(open("/dev/null", O_RDWR), STDIN_FILENO), STDIN_FILENO);
	begin(&e);
	t_proc_start(&child, "child", fork_later, NULL);
	end(&e);
	t_say(child.fd, 'C', 0);
	t_proc_join(&child);
}

/* How many descriptors an exec would pass on. */
static unsigned int
nb_inherited(void)
{
	unsigned int n = 0;
	struct dirent *e;
	int flags;
	DIR *d;

	d = opendir("/proc/self/fd");
	T_CHECK(d != NULL);
	while ((e = readdir(d)) != NULL) {
		flags = fcntl(atoi(e->d_name), F_GETFD);
		n += e->d_name[0] != '.' && flags >= 0 && (flags & FD_CLOEXEC) == 0;
	}
	closedir(d);
	return n;
}

T_CASE(an_exec_passes_nothing_on)
{
	unsigned int before;
	struct ends e;

	/* EAL's own ones are EAL's. */
	t_eal_start(1);
	before = nb_inherited();
	ends_open(&e);
	T_EQ(nb_inherited(), before);
	end(&e);
}

static int
memory_is_there(int fd __rte_unused, void *arg)
{
	const struct ends *e = arg;
	unsigned char vec;

	return mincore(e->f.dst.addr, 1, &vec) == 0 || errno != ENOMEM;
}

ENDS_CASE(memory_is_not_in_the_child)
{
	unsigned char vec;

	T_EQ(mincore(e->f.dst.addr, 1, &vec), 0);
	in_child(memory_is_there, e);
}

/* As security.md says: they do not ask whether they are in a child. */
ENDS_CASE(bursts_end_the_child)
{
	const struct rte_comch_op op = { .consumer_id = e->f.id, .imm = "x", .imm_len = 1 };
	int status;
	pid_t pid;

	pid = fork();
	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		rte_comch_producer_send_burst(e->f.prod, &op, 1);
		_exit(0);
	}
	T_EQ(waitpid(pid, &status, 0), pid);
	T_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
#ifdef COMCH_DEBUG_CHECKS
	/* The child took the producer's guard with it: it is in EAL's memory, which both have. */
	_exit(0);
#endif
}

static pid_t director;

/* A server, whose child lives on: until the director is gone, or kills it. */
static int
server_with_child(int fd, void *arg __rte_unused)
{
	struct mp_end e;
	pid_t child;

	mp_end_open(&e, true);
	child = fork();
	if (child == 0) {
		while (kill(director, 0) == 0)
			usleep(10000);
		_exit(0);
	}
	t_say(fd, 'C', (uint64_t)child);
	/* It is killed. */
	while (t_hear(fd, 'E') != 1)
		;
	return 0;
}

T_CASE(the_peer_sees_the_end_of_the_parent)
{
	struct t_proc server;
	struct mp_end e;
	pid_t child;

	t_dir();
	director = getpid();
	t_proc_start(&server, "server", server_with_child, NULL);
	mp_end_open(&e, false);
	child = (pid_t)t_hear(server.fd, 'C');
	t_proc_kill(&server);
	T_UNTIL(t_count(e.node, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	T_EQ(kill(child, SIGKILL), 0);
	mp_close(&e);
}

/* Imports more than what a poll unmaps itself; closing the devices waits for the reaper. */
static int
open_and_close(int fd __rte_unused, void *arg __rte_unused)
{
	struct ends e;

	ends_open(&e);
	ends_close(&e);
	return 0;
}

T_CASE(child_of_a_process_without_objects)
{
	t_eal_start(1);
	open_and_close(-1, NULL);
	in_child(open_and_close, NULL);
	open_and_close(-1, NULL);
	t_eal_stop();
}
