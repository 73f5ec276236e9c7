/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* A peer that does not read: neither frames nor descriptors, nor does it hang up. */

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "t_proc.h"
#include "victim.h"

V_SUITE(unread);

/* Descriptors without their frames at which a link stops reading. */
#define FULL_STASH (32 - RTE_COMCH_FRAME_FDS + 1)

/* A peer that never reads gets a bounded number of answers. */
Test(unread, never_reads)
{
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;
	struct raw_mem m;
	unsigned int i, taken = 0;
	uint8_t body[24] = { 0 };
	struct raw_send s = { .type = COMCH_WIRE_MR_ADD, .body = body, .len = 24, .nb_fds = 1 };
	uint64_t rss;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	raw_mem_new(&m, 4096, MFD_ALLOW_SEALING, 0);
	body[17] = 16; /* 4096 bytes */
	s.fds[0] = m.fd;
	a.mute = true;
	rss = t_rss_kb();
	for (i = 0; i < 20000; i++) {
		taken += raw_try(&a, &s);
		t_step(v.p.dpu);
	}
	T_LT(taken, 2000);
	if (!t_sanitized())
		T_LE(t_rss_kb(), rss + 4096);
	v_check(&v);
	t_no_end(v.p.dpu, conn);
	raw_mem_free(&m);
	raw_close(&a);
	T_EQ(v_expect_down(&v, conn)->e.status, -ECONNRESET);
	v_close(&v);
}

static bool
has_read(const struct raw_peer *a)
{
	return __atomic_load_n(&a->vic->rx_pos, __ATOMIC_ACQUIRE) == a->tx_pos;
}

/* Send requests until the victim, with too many answers unsent, stops reading. */
static void
fill_up(struct victim *v, struct raw_peer *a)
{
	struct raw_mem m;
	unsigned int i;

	raw_mem_new(&m, 4096, MFD_ALLOW_SEALING, 0);
	do {
		raw_send_mr_add(a, 0, 0, 4096, m.fd);
		/* A thread of the library takes the descriptor. */
		for (i = 0; i < 1000 && !has_read(a); i++) {
			t_step(v->p.dpu);
			usleep(50);
		}
	} while (has_read(a));
	raw_mem_free(&m);
}

static void
lets_sleep(bool is_full)
{
	unsigned int i, naps = 0;
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	v_connect(&v, &a);
	v_clog(&v, &a, 10);
	if (is_full)
		fill_up(&v, &a);
	t_settle();
	for (i = 0; i < 200; i++) {
		t_step(v.p.dpu);
		naps += rte_comch_poll_arm(v.p.dpu->poll, RTE_COMCH_POLL_ANY) == 0;
	}
	raw_close(&a);
	if (naps == 0)
		T_FAIL("the victim can sleep no more");
	v_close(&v);
}

/* ... and does not keep the victim awake. */
Test(unread, never_reads_lets_sleep)
{
	lets_sleep(false);
}

/* Nor do frames that it does not read before its answers are read. */
Test(unread, unread_frames_let_sleep)
{
	lets_sleep(true);
}

/* Its own messages are read all the same, as many as it has credits for. */
Test(unread, credits)
{
	enum { NB = 1000 };
	const struct t_pair_conf conf = { .server.recv_queue = NB };
	struct rte_comch_conn_stats stats;
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;
	unsigned int i;

	v_open(&v, &conf);
	conn = v_connect(&v, &a);
	a.mute = true;
	for (i = 0; i < NB; i++) {
		raw_send_msg(&a, "m", 1);
		t_steps(v.p.dpu, 2);
	}
	T_EQ(rte_comch_conn_stats_get(conn, &stats), 0);
	T_EQ(stats.rx_msgs, NB);
	raw_close(&a);
	v_expect_down(&v, conn);
	v_close(&v);
}

static bool
has_received_all(const struct raw_peer *a)
{
	int left = -1;

	return ioctl(a->sock, SIOCOUTQ, &left) == 0 && left == 0;
}

/* Take the victim's frames; false: there is none. */
static bool
take_frames(struct raw_peer *a)
{
	struct raw_frame f;
	bool any = false;

	while (raw_recv(a, &f)) {
		raw_frame_free(&f);
		any = true;
	}
	return any;
}

/*
 * A wake-up behind descriptors for which the victim had no room. It is read once there is
 * some: a peer that waits until all its descriptors have arrived would wait for ever.
 */
Test(unread, wake_behind_descriptors)
{
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;
	struct raw_mem m;
	unsigned int i;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	raw_mem_new(&m, 4096, MFD_ALLOW_SEALING, 0);
	a.mute = true;
	do {
		raw_send_mr_add(&a, 0, 0, 4096, m.fd);
		for (i = 0; i < 100 && !has_read(&a); i++) {
			t_step(v.p.dpu);
			t_settle();
		}
	} while (has_read(&a));
	for (i = 1; i < FULL_STASH; i++)
		raw_send_mr_add(&a, 0, 0, 4096, m.fd);
	raw_wake(&a);
	for (i = 0; i < 1000; i++)
		t_step(v.p.dpu);
	T_CHECK(!has_received_all(&a));
	a.mute = false;
	T_UNTIL(take_frames(&a) || has_read(&a));
	T_UNTIL((take_frames(&a), has_received_all(&a)));
	t_no_end(v.p.dpu, conn);
	raw_mem_free(&m);
	raw_close(&a);
	v_expect_down(&v, conn);
	v_close(&v);
}

/* An answer to no question; an honest peer sends none. */
Test(unread, answer_unasked)
{
	const struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	raw_send_status(&a, COMCH_WIRE_CONSUMER_ACK, 1, -EDQUOT, -1);
	v_expect_end(&v, conn);
	raw_close(&a);
	v_close(&v);
}

/* Receive the descriptors in flight to the attacker, and count them. */
static unsigned int
fds_in_flight(struct raw_peer *a)
{
	char buf[CMSG_SPACE(sizeof(int) * 32)], c[4];
	struct iovec iov = { .iov_base = c, .iov_len = sizeof(c) };
	const struct cmsghdr *h;
	struct msghdr msg;
	unsigned int n = 0, i, nb;

	for (;;) {
		msg = (struct msghdr){ .msg_iov = &iov, .msg_iovlen = 1, .msg_control = buf,
			.msg_controllen = sizeof(buf) };
		if (recvmsg(a->sock, &msg, MSG_DONTWAIT) <= 0)
			return n;
		h = CMSG_FIRSTHDR(&msg);
		nb = h == NULL ? 0 : (unsigned int)((h->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		for (i = 0; i < nb; i++)
			close(((const int *)CMSG_DATA(h))[i]);
		n += nb;
	}
}

/*
 * The attacker receives no descriptors. Those in flight count against the victim's user, which
 * must still be able to send some to others.
 */
Test(unread, takes_no_descriptors)
{
	uint32_t body[4] = { 1, 16, 0, 4096 };
	struct raw_send add = {
		.type = COMCH_WIRE_CONSUMER_NEW, .body = body, .len = sizeof(body), .nb_fds = 2,
	};
	const struct rte_comch_conn *conn;
	struct raw_frame f;
	struct raw_peer a;
	struct raw_cons c;
	struct victim v;
	unsigned int before;
	uint64_t end;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	before = t_fd_count();
	a.deaf = true;
	raw_cons_new(&c, 1, 16, 16, 4096);
	add.fds[0] = c.post.fd;
	add.fds[1] = c.wake[1];
	end = t_now_ms() + 1000;
	while (t_now_ms() < end) {
		if (body[0] <= COMCH_MAX_CONSUMERS)
			body[0] += raw_try(&a, &add);
		t_step(v.p.dpu);
		while (raw_recv(&a, &f))
			raw_frame_free(&f);
	}
	/* Nor does the victim keep many that it could not send. */
	T_LE(t_fd_count(), before + 160);
	v_check(&v);
	t_no_end(v.p.dpu, conn);
	T_LE(fds_in_flight(&a), 32);
	raw_cons_free(&c);
	raw_close(&a);
	v_expect_down(&v, conn);
	v_close(&v);
}
