/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A forked child of a process that has a server, a client and a flow between them: its calls
 * are refused, it may fork again, and its parent notices nothing. And a child of one that has
 * had them: it may use the library, with helper threads of its own.
 */

#include <fcntl.h>
#include <unistd.h>

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
