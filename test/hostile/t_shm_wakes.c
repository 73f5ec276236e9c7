/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Wake-ups that nobody asked for: few are read in a run, and they end the connection. */

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "victim.h"

V_SUITE(wakes);

/* A socket of the attacker, into which it sends a wake-up for each one that the victim reads. */
static int endless = -1;
static unsigned int nb_reads;

static void
one_more(void)
{
	nb_reads++;
	/* An end all the same, or a victim that goes on reading would never come back. */
	if (endless >= 0 && nb_reads < 100000)
		raw_sock_send(endless, "w", 1, NULL, 0);
}

/* Instead of libc's: the library reads wake-ups by recv(), and several by recvmmsg(). */
ssize_t
recv(int fd, void *buf, size_t len, int flags)
{
	one_more();
	return recvfrom(fd, buf, len, flags, NULL, NULL);
}

int
recvmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags, struct timespec *timeout)
{
	unsigned int i;
	ssize_t len;

	if ((flags & MSG_PEEK) != 0)
		return (int)syscall(SYS_recvmmsg, fd, msgs, n, flags, timeout);
	for (i = 0; i < n; i++) {
		one_more();
		len = recvmsg(fd, &msgs[i].msg_hdr, flags);
		if (len < 0)
			break;
		msgs[i].msg_len = (unsigned int)len;
	}
	return i > 0 ? (int)i : -1;
}

/* The first run that reads them says that they are too many. */
static const char *
wakes_without_end(struct victim *v, struct raw_peer *a, const struct rte_comch_conn *conn,
		unsigned int max_reads)
{
	const struct t_ev *ev;
	unsigned int i;

	for (i = 0; i < 4; i++)
		raw_wake(a);
	nb_reads = 0;
	endless = a->sock;
	ev = v_expect_down(v, conn);
	endless = -1;
	T_EQ(ev->e.status, -EPROTO);
	T_GT(nb_reads, 4);
	T_LE(nb_reads, max_reads);
	v_expect_hangup(a);
	raw_close(a);
	return ev->text;
}

/* While the victim looks for the descriptors of a frame, and without one. */
Test(wakes, before_fds)
{
	const struct raw_send s = {
		.type = COMCH_WIRE_MSG, .lie = true, .say_len = 16, .say_fds = 1,
	};
	const struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	T_STR_HAS(wakes_without_end(&v, &a, conn, 32), "wake-ups");
	t_forget(v.p.dpu);
	conn = v_connect(&v, &a);
	raw_send(&a, &s);
	T_STR_HAS(wakes_without_end(&v, &a, conn, 32), "wake-ups");
	v_close(&v);
}

/* The victim has asked for many, of which none came so far. */
Test(wakes, after_many_arms)
{
	const struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;
	unsigned int i;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	for (i = 0; i < 2000; i++) {
		rte_comch_poll_arm(v.p.dpu->poll, RTE_COMCH_POLL_ANY);
		t_step(v.p.dpu);
	}
	T_STR_HAS(wakes_without_end(&v, &a, conn, 300), "wake-ups");
	v_close(&v);
}

static bool has_big_sockets;

/* Instead of libc's: as on a machine whose net.core.wmem_default is larger than Linux's. */
int
socketpair(int domain, int type, int protocol, int fds[2])
{
	const int size = 4 << 20;
	int i, ret = (int)syscall(SYS_socketpair, domain, type, protocol, fds);

	for (i = 0; ret == 0 && has_big_sockets && i < 2; i++)
		T_EQ(setsockopt(fds[i], SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)), 0);
	return ret;
}

/* An honest peer wakes all producers, and the thread of one of them comes late. */
Test(wakes, honest_wakes)
{
	struct rte_comch_producer_conf conf = { .conf_size = sizeof(conf) };
	struct rte_comch_producer *late;
	struct t_node *node, *late_node;
	struct t_flow_conf fc = { 0 };
	struct rte_comch_cpl cpl;
	unsigned int i;
	struct t_flow f;
	struct victim v;

	has_big_sockets = true;
	v_open(&v, NULL);
	node = t_node_new();
	late_node = t_node_new();
	fc.prod.poll = node->poll;
	t_flow_open(&f, &v.p, &fc);
	conf.poll = late_node->poll;
	late = t_producer_new(f.prod_conn, &conf);
	t_settle();
	late_node->paused = true;
	for (i = 0; i < 1000; i++) {
		T_EQ(t_put(&f, 0, 8, i), 0);
		T_WAIT(t_step(node), rte_comch_poll_arm(node->poll, RTE_COMCH_POLL_TX) == 0);
		T_EQ(t_post(&f, 0, 8, i), 1);
		t_submit(&f, 0, 8, i);
		t_recv(f.cons, &cpl);
		t_done(f.prod, &cpl);
	}
	late_node->paused = false;
	t_settle();
	t_no_end(v.p.host, f.prod_conn);
	t_producer_end(late);
	t_flow_close(&f);
	t_node_free(late_node);
	t_node_free(node);
	v_close(&v);
	has_big_sockets = false;
}

/* Run until nb_ended connections have ended. Returns the most wake-ups that a run read. */
static unsigned int
most_reads(struct victim *v, unsigned int nb_ended)
{
	const uint64_t end = t_deadline();
	unsigned int most = 0;

	while (t_count(v->p.dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) < nb_ended) {
		nb_reads = 0;
		v_run(v);
		most = RTE_MAX(most, nb_reads);
		T_LT(t_now_ms(), end);
	}
	return most;
}

/* Many at once, all of whose sockets are full when the victim looks: few are read in a run. */
Test(wakes, of_many)
{
	enum { NB = 16, MAX_READS = 32 };
	const struct rte_comch_conn *conn[NB];
	struct raw_peer a[NB];
	struct victim v;
	unsigned int i, round;

	v_open(&v, NULL);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < NB; i++)
			conn[i] = v_connect(&v, &a[i]);
		for (i = 0; i < NB; i++)
			while (raw_sock_send(a[i].sock, "w", 1, NULL, 0) == 1)
				;
		T_LE(most_reads(&v, NB), NB * MAX_READS);
		v_trip(&v);
		for (i = 0; i < NB; i++)
			T_STR_HAS(v_expect_down(&v, conn[i])->text, "wake-ups");
		for (i = 0; i < NB; i++)
			raw_close(&a[i]);
		t_forget(v.p.dpu);
	}
	v_check_runs(&v);
	v_close(&v);
}

/* What is read at once of a queue's wake socket: more than it holds. */
#define QUEUE_READS 512

/* The wake socket of a producer, which has its own: read once, whatever comes meanwhile. */
Test(wakes, of_a_producer)
{
	struct rte_comch_producer *prod;
	struct rte_comch_conn *conn;
	struct raw_frame f;
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	prod = t_producer_new(conn, NULL);
	v_hear(&a, &f, COMCH_WIRE_PRODUCER_NEW);
	T_EQ(f.nb_fds, 1);
	nb_reads = 0;
	endless = f.fds[0];
	T_EQ(raw_sock_send(endless, "w", 1, NULL, 0), 1);
	T_STR_HAS(v_expect_down(&v, conn)->text, "floods a wake socket");
	endless = -1;
	T_GE(nb_reads, QUEUE_READS);
	/* The others are of that run: of the link, and of the honest one. */
	T_LE(nb_reads, QUEUE_READS + 32);
	raw_frame_free(&f);
	t_producer_end(prod);
	raw_close(&a);
	v_close(&v);
}
