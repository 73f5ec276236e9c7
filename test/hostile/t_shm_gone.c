/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Consumers that are gone while a producer's thread has lost its CPU in the middle of a burst: their
 * memory is still in use, and the peer is not refused new ones for it.
 */

#include <sys/socket.h>

#include "queue.h"

V_SUITE(gone);

/* What max_staging, 8 MiB, has room for beside the record of each, and what comes and goes. */
#define MAX_CONS 7
#define NB_CONS 6
#define FIRST_ID 2
#define LARGE (1 << 20)

/* Done in the middle of a burst, once. */
static void (*in_burst)(struct to_attacker *t);
static struct to_attacker *attacker;
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

static void
announce(struct to_attacker *t, uint32_t id)
{
	struct raw_cons c;

	raw_cons_new(&c, id, DEPTH, DEPTH, LARGE);
	raw_cons_announce(&t->a, &c);
	raw_cons_free(&c);
}

/* Was one heard? */
static bool
step_and_hear(struct to_attacker *t)
{
	unsigned int before = nb_acked;
	struct raw_frame f;

	t_step(t->v.p.dpu);
	while (raw_recv(&t->a, &f)) {
		T_CHECK(f.type != COMCH_WIRE_CONSUMER_ACK || *(int32_t *)(f.body + 4) == 0);
		nb_acked += f.type == COMCH_WIRE_CONSUMER_ACK;
		raw_frame_free(&f);
	}
	return nb_acked > before;
}

/* The attacker gives all of them back, and wants as many again. */
static void
replace_all(struct to_attacker *t)
{
	uint32_t id;

	for (id = FIRST_ID; id < FIRST_ID + NB_CONS; id++)
		raw_send_id(&t->a, COMCH_WIRE_CONSUMER_GONE, id);
	for (; id < FIRST_ID + 2 * NB_CONS; id++)
		announce(t, id);
	T_AWAIT(step_and_hear(t));
	/* Another thread receives the descriptors of those behind the first. */
	T_SETTLE(step_and_hear(t));
}

Test(gone, in_a_burst)
{
	struct to_attacker t;
	uint32_t id;

	attacker = &t;
	out_open(&t, STAGING);
	for (id = FIRST_ID; id < FIRST_ID + NB_CONS; id++) {
		announce(&t, id);
		T_EQ(v_hear_status(&t.a, COMCH_WIRE_CONSUMER_ACK), 0);
	}
	raw_cons_post(&t.c, COMCH_REGION_STAGED, 0, COMCH_LINE);
	__atomic_add_fetch(&t.c.shared->armed, 1, __ATOMIC_RELAXED);
	in_burst = replace_all;
	T_EQ(out_send(&t, COMCH_LINE), 1);
	T_CHECK(in_burst == NULL);
	/* The others wait for the memory of those that are gone. */
	T_EQ(nb_acked, MAX_CONS - NB_CONS);
	for (; nb_acked < NB_CONS; nb_acked++)
		T_EQ(v_hear_status(&t.a, COMCH_WIRE_CONSUMER_ACK), 0);
	out_close(&t);
}
