/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The attacker changes its armed word after every publication, so that it always seems to sleep:
 * count the wake-ups that this costs the victim.
 */

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

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
