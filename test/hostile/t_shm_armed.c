/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The attacker changes its armed word after every publication, so that it always seems to sleep:
 * count the wake-ups that this costs the victim.
 */

#include <linux/membarrier.h>
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sdk/comch_armed.h"
#include "queue.h"

V_SUITE(armed);

/* The messages of the fast path are the only ones that the library sends by send(). */
static unsigned int nb_sends;
static uint32_t *flapping;

/* Instead of libc's: the attacker arms again before it returns. */
ssize_t
send(int fd, const void *buf, size_t len, int flags)
{
	if (flapping != NULL) {
		nb_sends++;
		__atomic_add_fetch(flapping, 1, __ATOMIC_RELAXED);
	}
	return sendto(fd, buf, len, flags, NULL, 0);
}

/* Wake-ups for frames go by sendmsg(); nothing else does here. */
ssize_t
sendmsg(int fd, const struct msghdr *msg, int flags)
{
	if (flapping != NULL) {
		nb_sends++;
		__atomic_add_fetch(flapping, 1, __ATOMIC_RELAXED);
	}
	return syscall(SYS_sendmsg, fd, msg, flags);
}

static void
flap(uint32_t *word)
{
	nb_sends = 0;
	__atomic_add_fetch(word, 1, __ATOMIC_RELAXED);
	flapping = word;
}

/* All producers that the attacker may have; they share a socket, whose other end it reads. */
static void
producers(struct to_victim *t, int wake[2])
{
	uint32_t id;

	T_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, wake), 0);
	for (id = 1; id <= COMCH_MAX_PRODUCERS; id++) {
		raw_send_producer(&t->a, id, wake[0]);
		t_step_all();
	}
	T_UNTIL(__atomic_load_n(&t->a.vic->rx_pos, __ATOMIC_ACQUIRE) == t->a.tx_pos);
	t_no_end(t->v.p.dpu, t->conn);
}

static void
close_wake(int wake[2])
{
	flapping = NULL;
	close(wake[0]);
	close(wake[1]);
}

/* One of each producer for a burst, however many buffers it posts. */
Test(armed, posts)
{
	struct rte_comch_buf bufs[DEPTH / 2];
	struct to_victim t;
	unsigned int i;
	int wake[2];

	in_open(&t, false);
	producers(&t, wake);
	flap(&t.shared->armed);
	for (i = 0; i < RTE_DIM(bufs); i++)
		bufs[i] = in_buf(&t);
	T_EQ(rte_comch_consumer_post_burst(t.cons, bufs, RTE_DIM(bufs)), RTE_DIM(bufs));
	T_EQ(nb_sends, COMCH_MAX_PRODUCERS);
	nb_sends = 0;
	in_post(&t, 1);
	T_EQ(nb_sends, COMCH_MAX_PRODUCERS);
	/* A word that stays as it is asks once. */
	flapping = NULL;
	in_post(&t, 1);
	nb_sends = 0;
	in_post(&t, 1);
	T_EQ(nb_sends, 0);
	close_wake(wake);
	in_close(&t);
}

/* A staged message frees room of the ring; those of a burst together wake once. */
Test(armed, receives)
{
	enum { NB = DEPTH / 2 };
	struct rte_comch_cpl cpls[NB];
	struct to_victim t;
	unsigned int i;
	int wake[2];

	in_open(&t, true);
	producers(&t, wake);
	in_post(&t, NB);
	for (i = 0; i < NB; i++) {
		t.shared->rec[i].head = (struct comch_rec_head){
			.count = 1, .kind = COMCH_REC_STAGED, .producer = 1,
		};
		t.shared->rec[i].len0 = COMCH_LINE;
		__atomic_store_n(&t.shared->claim, i + 1, __ATOMIC_RELEASE);
		__atomic_store_n(&t.shared->staging_head, (i + 1) * COMCH_LINE, __ATOMIC_RELEASE);
		__atomic_store_n(&t.shared->rec[i].seq, i + 1, __ATOMIC_RELEASE);
	}
	flap(&t.shared->armed);
	T_EQ(rte_comch_consumer_recv_burst(t.cons, cpls, NB), NB);
	for (i = 0; i < NB; i++)
		T_EQ(cpls[i].status, 0);
	fprintf(stderr, "%u wake-ups for %d messages of a burst\n", nb_sends, NB);
	T_EQ(nb_sends, COMCH_MAX_PRODUCERS);
	close_wake(wake);
	in_close(&t);
}

/* A consumer that always sleeps costs one wake-up for each message at most. */
static void
sends(uint32_t region, uint32_t staging)
{
	struct to_attacker t;
	unsigned int i;

	out_open(&t, staging);
	for (i = 0; i < DEPTH; i++)
		raw_cons_post(&t.c, region, 0, COMCH_LINE);
	flap(&t.c.shared->armed);
	for (i = 0; i < DEPTH / 2; i++)
		T_EQ(out_send(&t, COMCH_LINE), 1);
	T_EQ(nb_sends, DEPTH / 2);
	flapping = NULL;
	out_close(&t);
}

Test(armed, sends)
{
	sends(3, 0);
}

Test(armed, sends_staged)
{
	sends(COMCH_REGION_STAGED, STAGING);
}

/* So does a client, for each frame: of a message, and its credit. */
Test(armed, frames)
{
	enum { NB = 32 };
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;
	unsigned int i;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	t_settle();
	flap(&a.own->armed);
	for (i = 0; i < NB; i++)
		t_send(conn, "message", 7, i);
	T_EQ(nb_sends, NB);
	/* Runs without a frame wake nobody. */
	t_steps(v.p.dpu, 100);
	T_EQ(nb_sends, NB);
	flapping = NULL;
	raw_close(&a);
	v_expect_down(&v, conn);
	v_close(&v);
}

#define OLD_FLAGS (SHM_HELLO_F_MEMBARRIER | SHM_HELLO_F_CREDIT_BIT)

static struct rte_comch_conn *
connect_with(struct victim *v, struct raw_peer *a, uint32_t link_flags)
{
	const unsigned int before = t_count(v->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL);
	struct raw_frame f;

	raw_prepare(a, v_dial(), RAW_CELLS);
	a->link_flags = link_flags;
	raw_hello(a);
	T_UNTIL(raw_is_up(a));
	raw_send_hello(a, V_NAME, 4080, 64);
	v_hear(a, &f, COMCH_WIRE_ACCEPT);
	T_UNTIL(t_count(v->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) > before);
	t_settle();
	return t_find(v->p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL, before)->e.conn;
}

/* A peer that asks for fences asks for nothing else, whether it takes the flag away or not. */
Test(armed, flag_of_fences)
{
	enum { NB = 32 };
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;
	unsigned int i;

	v_open(&v, NULL);
	conn = connect_with(&v, &a, OLD_FLAGS | SHM_HELLO_F_FENCE_BIT);
	flap(&a.own->armed);
	t_send(conn, "message", 7, 0);
	flapping = NULL;
	t_send(conn, "message", 7, 1); /* which answers the last change */
	nb_sends = 0;
	for (i = 0; i < NB; i++) {
		__atomic_xor_fetch(&a.own->armed, COMCH_ARMED_FENCE, __ATOMIC_RELAXED);
		t_send(conn, "message", 7, i);
	}
	T_EQ(nb_sends, 0);
	raw_close(&a);
	v_expect_down(&v, conn);
	v_close(&v);
}

static bool
has_membarrier(void)
{
	const long can = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	return can > 0 && (can & MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0;
}

static uint32_t
arm(struct victim *v, struct raw_peer *a)
{
	T_UNTIL(rte_comch_poll_arm(v->p.dpu->poll, RTE_COMCH_POLL_ANY) == 0);
	return __atomic_load_n(&a->vic->armed, __ATOMIC_RELAXED);
}

static bool
flag_is_gone(struct victim *v, struct raw_peer *a)
{
	t_step(v->p.dpu);
	return (__atomic_load_n(&a->vic->armed, __ATOMIC_RELAXED) & COMCH_ARMED_FENCE) == 0;
}

/* The victim asks when it sleeps, until it has been awake for long; but not an old peer. */
Test(armed, asks_for_fences)
{
	uint32_t first, second;
	struct raw_peer a, old;
	struct victim v;

	v_open(&v, NULL);
	connect_with(&v, &a, OLD_FLAGS | SHM_HELLO_F_FENCE_BIT);
	connect_with(&v, &old, OLD_FLAGS);
	T_UNTIL(flag_is_gone(&v, &a));
	first = arm(&v, &a);
	second = arm(&v, &a);
	T_EQ(second - first, COMCH_ARMED_STEP);
	T_EQ((first & COMCH_ARMED_FENCE) != 0, has_membarrier());
	T_EQ(__atomic_load_n(&old.vic->armed, __ATOMIC_RELAXED) & COMCH_ARMED_FENCE, 0);
	T_UNTIL(flag_is_gone(&v, &a));
	raw_close(&old);
	raw_close(&a);
	t_settle();
	v_close(&v);
}

/* A peer that sends a message, with the wake-up for it, when the victim is asleep. */
static struct raw_peer *sends_asleep;
static bool sends_more;  /* behind the wake-up: something long, and a descriptor */
static unsigned int nb_dropped;

static void
send_asleep(struct raw_peer *a)
{
	static const char odd[COMCH_LINE];
	int fd;

	raw_send_msg(a, "x", 1);
	raw_wake(a);
	if (!sends_more)
		return;
	fd = memfd_create("dropped", MFD_CLOEXEC);
	T_GE(fd, 0);
	T_EQ(raw_sock_send(a->sock, odd, sizeof(odd), NULL, 0), sizeof(odd));
	T_EQ(raw_sock_send(a->sock, "f", 1, &fd, 1), 1);
	close(fd);
}

/* Instead of libc's. */
int
epoll_wait(int epfd, struct epoll_event *events, int n, int timeout)
{
	struct raw_peer *a = sends_asleep;

	if (timeout != 0 && a != NULL) {
		sends_asleep = NULL;
		send_asleep(a);
	}
	return epoll_pwait(epfd, events, n, timeout, NULL);
}

/* Instead of libc's: the victim's thread must not receive descriptors, which would be dropped. */
int
recvmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags, struct timespec *timeout)
{
	int i, ret = (int)syscall(SYS_recvmmsg, fd, msgs, n, flags, timeout);

	for (i = 0; i < ret && (flags & MSG_PEEK) == 0; i++)
		nb_dropped += (msgs[i].msg_hdr.msg_flags & MSG_CTRUNC) != 0;
	return ret;
}

/* Does the victim leave unread what the peer has sent? Then its descriptors count as in flight. */
static bool
is_unread(const struct raw_peer *a)
{
	int left;

	T_EQ(ioctl(a->sock, SIOCOUTQ, &left), 0);
	return left != 0;
}

static int
wait_ms(struct victim *v, int ms)
{
	return rte_comch_poll_wait(v->p.dpu->poll, RTE_COMCH_POLL_ANY, ms);
}

/* The peer wakes the victim from a sleep. */
static void
wake_victim(struct victim *v, struct raw_peer *a)
{
	sends_asleep = a;
	do {
		t_step(v->p.dpu);
		T_EQ(wait_ms(v, T_TIMEOUT_MS), 1);
	} while (sends_asleep != NULL); /* it had something to do, and has not slept */
}

/* A wake-up that has served its purpose is not read at once, but by runs, or in a longer sleep. */
Test(armed, left_unread)
{
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;
	unsigned int i;

	v_open(&v, NULL);
	conn = connect_with(&v, &a, OLD_FLAGS | SHM_HELLO_F_FENCE_BIT);
	wake_victim(&v, &a);
	T_CHECK(is_unread(&a));
	T_WAIT(t_step(v.p.dpu), !is_unread(&a));
	for (i = 0; i < 40; i++) {
		wake_victim(&v, &a);
		do {
			t_step(v.p.dpu);
		} while (wait_ms(&v, 15) != 0);
		T_CHECK(!is_unread(&a));
	}
	T_EQ(t_count(v.p.dpu, RTE_COMCH_EVENT_MSG, conn), 41);
	raw_close(&a);
	v_expect_down(&v, conn);
	v_close(&v);
}

/* Nor does it stay there because another peer keeps waking the victim. */
Test(armed, unread_beside_a_busy_one)
{
	struct raw_peer quiet, busy;
	const uint64_t end = t_deadline();
	struct victim v;

	v_open(&v, NULL);
	connect_with(&v, &quiet, OLD_FLAGS | SHM_HELLO_F_FENCE_BIT);
	connect_with(&v, &busy, OLD_FLAGS | SHM_HELLO_F_FENCE_BIT);
	wake_victim(&v, &quiet);
	while (is_unread(&quiet)) {
		wake_victim(&v, &busy);
		T_LT(t_now_ms(), end);
	}
	raw_close(&busy);
	raw_close(&quiet);
	t_settle();
	v_close(&v);
}

/* What is behind the wake-ups when they are read at last is not taken for one of them. */
Test(armed, odd_behind_unread)
{
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;
	unsigned int i;

	v_open(&v, NULL);
	conn = connect_with(&v, &a, OLD_FLAGS | SHM_HELLO_F_FENCE_BIT);
	for (i = 0; i < 15; i++)
		wake_victim(&v, &a);
	sends_more = true;
	wake_victim(&v, &a);
	T_STR_HAS(v_expect_down(&v, conn)->text, "unexpected message");
	T_EQ(nb_dropped, 0);
	raw_close(&a);
	v_close(&v);
}
