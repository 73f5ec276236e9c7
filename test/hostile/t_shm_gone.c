/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Consumers that are gone while a thread of this process has lost its CPU: a producer's in the
 * middle of a burst, or the one that unmaps. Their memory is still in use, and the peer is not
 * refused new ones for it.
 */

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "queue.h"

V_SUITE(gone);

/* What 8 MiB have room for beside the record of each, and what comes and goes. */
#define MAX_CONS 7
#define NB_CONS 6
#define FIRST_ID 2
#define LARGE (1 << 20)

/* Done in the middle of a burst, once. */
static void (*in_burst)(struct to_attacker *t);
static struct to_attacker *attacker;
/* No other thread unmaps meanwhile. */
static bool hold_unmap;
/* New ones that the victim accepted. */
static unsigned int nb_acked;

/* Instead of libc's: the library wakes the attacker's consumer. */
ssize_t
send(int fd, const void *buf, size_t len, int flags)
{
	void (*fn)(struct to_attacker *t) = in_burst;

	in_burst = NULL;
	if (fn != NULL)
		fn(attacker);
	return sendto(fd, buf, len, flags, NULL, 0);
}

/* Instead of libc's. */
int
munmap(void *addr, size_t len)
{
	while (gettid() != getpid() && __atomic_load_n(&hold_unmap, __ATOMIC_ACQUIRE))
		usleep(100);
	return (int)syscall(SYS_munmap, addr, len);
}

static void
announce(struct raw_peer *a, uint32_t id)
{
	struct raw_cons c;

	raw_cons_new(&c, id, DEPTH, DEPTH, LARGE);
	raw_cons_announce(a, &c);
	raw_cons_free(&c);
}

static void
announce_first(struct raw_peer *a)
{
	uint32_t id;

	for (id = FIRST_ID; id < FIRST_ID + NB_CONS; id++) {
		announce(a, id);
		T_EQ(v_hear_status(a, COMCH_WIRE_CONSUMER_ACK), 0);
	}
}

/* Was one heard? */
static bool
step_and_hear(struct victim *v, struct raw_peer *a)
{
	unsigned int before = nb_acked;
	struct raw_frame f;

	t_step(v->p.dpu);
	while (raw_recv(a, &f)) {
		T_CHECK(f.type != COMCH_WIRE_CONSUMER_ACK || *(int32_t *)(f.body + 4) == 0);
		nb_acked += f.type == COMCH_WIRE_CONSUMER_ACK;
		raw_frame_free(&f);
	}
	return nb_acked > before;
}

/* The attacker gives all of them back, and wants as many again, most of which have to wait. */
static void
replace_all(struct victim *v, struct raw_peer *a)
{
	uint32_t id;

	for (id = FIRST_ID; id < FIRST_ID + NB_CONS; id++)
		raw_send_id(a, COMCH_WIRE_CONSUMER_GONE, id);
	for (; id < FIRST_ID + 2 * NB_CONS; id++)
		announce(a, id);
	T_AWAIT(step_and_hear(v, a));
	/* Another thread receives the descriptors of those behind the first. */
	T_SETTLE(step_and_hear(v, a));
	T_EQ(nb_acked, MAX_CONS - NB_CONS);
}

static void
hear_rest(struct raw_peer *a)
{
	for (; nb_acked < NB_CONS; nb_acked++)
		T_EQ(v_hear_status(a, COMCH_WIRE_CONSUMER_ACK), 0);
}

static void
replace_in_burst(struct to_attacker *t)
{
	replace_all(&t->v, &t->a);
}

Test(gone, in_a_burst)
{
	struct to_attacker t;

	attacker = &t;
	out_open(&t, STAGING);
	announce_first(&t.a);
	raw_cons_post(&t.c, COMCH_REGION_STAGED, 0, COMCH_LINE);
	__atomic_add_fetch(&t.c.shared->armed, 1, __ATOMIC_RELAXED);
	in_burst = replace_in_burst;
	T_EQ(out_send(&t, COMCH_LINE), 1);
	T_CHECK(in_burst == NULL);
	hear_rest(&t.a);
	out_close(&t);
}

/* They have left the connection's share, but not that of all connections. */
Test(gone, not_unmapped)
{
	const struct t_pair_conf conf = { .dpu_args = ",total_staging=8388608" };
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;

	v_open(&v, &conf);
	conn = v_connect(&v, &a);
	announce_first(&a);
	__atomic_store_n(&hold_unmap, true, __ATOMIC_RELEASE);
	replace_all(&v, &a);
	__atomic_store_n(&hold_unmap, false, __ATOMIC_RELEASE);
	hear_rest(&a);
	raw_close(&a);
	v_expect_down(&v, conn);
	v_close(&v);
}
