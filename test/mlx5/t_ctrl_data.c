/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Consumers and producers of the RDMA driver when something goes wrong below them. */

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "u_ctrl.h"

#define MAX_FDS 256

/* The queue pair of a flow's end at the host: the youngest on fv1. */
static struct ibv_qp *
data_qp(void)
{
	struct ibv_qp *qp, *data = NULL;
	unsigned int i;

	for (i = 0; (qp = fv_qp(i)) != NULL; i++)
		if (qp->context == fv_ctx("fv1") && qp != u_ctrl_qp())
			data = qp;
	T_CHECK(data != NULL);
	return data;
}

/* That of a consumer, or of a producer's end. */
static void
completion_queue_fails(struct t_pair *p, bool to_host)
{
	const struct t_flow_conf conf = { .to_host = to_host };
	struct t_flow f;

	t_pair_open(p, NULL);
	t_flow_open(&f, p, &conf);
	t_flow_once(&f, 3000, 1);
	fv_event_cq(data_qp()->send_cq);
	u_both_end(p, -EIO, "error of a completion queue");
	t_flow_close(&f);
	u_connect_again(p);
}

CTRL_CASE(completion_queue_of_a_consumer_fails)
{
	completion_queue_fails(p, true);
}

CTRL_CASE(completion_queue_of_a_producer_fails)
{
	completion_queue_fails(p, false);
}

/*
 * Message 1 has failed, and sends were short since, as CONSUMER_GONE is to say why. Message
 * 2 was taken when the connection ended for want of it.
 */
static void
check_end(struct t_pair *p, struct t_flow *f)
{
	struct rte_comch_cpl cpl;
	const struct t_ev *ev;
	uint64_t i;

	ev = t_find(p->host, RTE_COMCH_EVENT_DISCONNECTED, NULL, 0);
	T_EQ(ev->e.status, -ETIMEDOUT);
	T_STR_HAS(ev->text, "it failed, and the peer did not stop the consumer");
	for (i = 1; i <= 2; i++) {
		t_done(f->prod, &cpl);
		T_EQ(cpl.cookie, i);
		T_EQ(cpl.status, -ECONNRESET);
	}
	T_CHECK(t_no_done(f->prod));
}

static void
flow_with_posts(struct t_pair *p, struct t_flow *f)
{
	unsigned int i;

	u_dead_ms = DEAD_MS;
	t_pair_open(p, NULL);
	t_flow_open(f, p, NULL);
	t_flow_once(f, 64, 1);
	for (i = 0; i < 4; i++)
		T_EQ(t_post(f, 0, 64, i), 1);
	t_settle();
}

CTRL_CASE(sends_are_short_until_a_failure_is_explained)
{
	struct t_flow f;

	flow_with_posts(p, &f);
	fv_fail_wr(&(struct fv_fault){
		.qp = data_qp(), .opcode = -1, .status = IBV_WC_RETRY_EXC_ERR });
	t_submit(&f, 0, 64, 1);
	T_UNTIL(t_put(&f, 0, 64, 2) == 1);
	T_UNTIL(t_count(p->host, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	check_end(p, &f);
	t_flow_close(&f);
	u_connect_again(p);
}

/* The same for a consumer that was stopped, by a process that does not run its poll. */
CTRL_CASE(sends_are_short_until_a_stopped_consumer_is_told)
{
	struct t_flow f;

	flow_with_posts(p, &f);
	p->dpu->paused = true;
	T_EQ(rte_comch_consumer_stop(f.cons), -EINPROGRESS);
	t_submit(&f, 0, 64, 1);
	T_UNTIL(t_put(&f, 0, 64, 2) == 1);
	T_UNTIL(t_count(p->host, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	check_end(p, &f);
	p->dpu->paused = false;
	t_flow_close(&f);
	u_connect_again(p);
}

/* A producer that sleeps for a short send is woken by the end. */
CTRL_CASE(short_send_asleep)
{
	struct t_flow f;

	flow_with_posts(p, &f);
	p->dpu->paused = true;
	T_EQ(rte_comch_consumer_stop(f.cons), -EINPROGRESS);
	t_submit(&f, 0, 64, 1);
	T_SLEEP_UNTIL(t_put(&f, 0, 64, 2) == 1);
	T_SLEEP_UNTIL(t_count(p->host, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	check_end(p, &f);
	p->dpu->paused = false;
	t_flow_close(&f);
	u_connect_again(p);
}

/* The consumer's process runs its poll: the stop is told, and sends fail at once. */
CTRL_CASE(sends_fail_when_a_stop_is_told)
{
	struct rte_comch_cpl cpl;
	struct t_flow f;
	uint64_t i;

	flow_with_posts(p, &f);
	T_EQ(rte_comch_consumer_stop(f.cons), -EINPROGRESS);
	t_submit(&f, 0, 64, 1);
	T_UNTIL(t_put(&f, 0, 64, 2) == 1);
	t_consumer_end(f.cons);
	f.cons = NULL;
	for (i = 1; i <= 2; i++) {
		t_done(f.prod, &cpl);
		T_EQ(cpl.cookie, i);
		T_EQ(cpl.status, -ENOENT);
	}
	t_no_end(p->host, NULL);
	t_flow_close(&f);
}

static bool
is_null(int fd)
{
	char path[64], target[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	return strcmp(target, "/dev/null") == 0;
}

/* No descriptor passes exec(). */
static void
check_close_on_exec(const bool *was_open)
{
	int fd, flags;

	for (fd = 0; fd < MAX_FDS; fd++) {
		flags = fcntl(fd, F_GETFD);
		if (flags >= 0 && !was_open[fd] && (flags & FD_CLOEXEC) == 0)
			T_FAIL("descriptor %d is not close-on-exec", fd);
	}
}

/* In a child: those that keep the connection alive in the kernel are not the parent's. */
static void
check_child(const struct t_pair *p, const bool *was_null)
{
	unsigned int fd, nb = 0;

	for (fd = 0; fd < MAX_FDS; fd++)
		nb += is_null((int)fd) && !was_null[fd];
	/* Of each end: the channel of the connection manager, and the device's context. */
	T_EQ(nb, 4);
	T_CHECK(is_null(fv_ctx("fv0")->cmd_fd));
	T_CHECK(is_null(fv_ctx("fv1")->cmd_fd));
	T_EQ(rte_comch_poll_arm(p->dpu->poll, RTE_COMCH_POLL_ANY), -EBADFD);
	_exit(0);
}

CTRL_CASE(descriptors_and_fork)
{
	bool was_open[MAX_FDS], was_null[MAX_FDS];
	struct t_flow f;
	int status, fd;
	pid_t pid;

	T_GE(fv_ctx("fv0")->cmd_fd, 0);
	for (fd = 0; fd < MAX_FDS; fd++)
		was_open[fd] = fcntl(fd, F_GETFD) >= 0;
	t_pair_open(p, NULL);
	t_flow_open(&f, p, NULL);
	check_close_on_exec(was_open);
	for (fd = 0; fd < MAX_FDS; fd++)
		was_null[fd] = is_null(fd);
	pid = fork();
	T_GE(pid, 0);
	if (pid == 0)
		check_child(p, was_null);
	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
	/* The parent goes on. */
	t_flow_once(&f, 3000, 1);
	t_flow_close(&f);
}
