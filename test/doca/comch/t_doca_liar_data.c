/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The fast path between a client of doca_comch and a server that owns one half of each channel:
 * what its records and posts say, and what becomes of the client's tasks.
 */

#include <stdlib.h>
#include <sys/mman.h>

#include "comch/liar.h"
#include "comch/prey.h"

/* The client's consumer */

/* It runs, with all receives posted. */
static void
prey_begin(struct liar *l, struct prey *p, bool is_shown)
{
	unsigned int i;

	liar_reach(l, LIE_UP);
	liar_start_queues(l);
	prey_run(p, &l->honest, &l->a, &l->cons, is_shown);
	for (i = 0; i < LIAR_POSTS; i++)
		t_fill(l->mem.addr + i * LIAR_LEN, LIAR_LEN, i);
}

static void
prey_end(struct liar *l, struct prey *p)
{
	prey_free(p);
	liar_check_honest(l);
}

/* No receive from this one on has got anything. */
static void
check_empty(struct liar *l, unsigned int first)
{
	size_t len;

	for (; first < LIAR_POSTS; first++) {
		T_GETS(doca_buf_get_data_len(l->to[first], &len), len, 0);
		T_VERIFY(l->mem.addr + first * LIAR_LEN, LIAR_LEN, first);
	}
}

static void
bad_record(struct liar *l, const struct prey_record *r, bool is_shown)
{
	struct prey p;

	prey_begin(l, &p, is_shown);
	prey_write(&p, 0, &r->rec, r->staging_head);
	T_WAIT(liar_progress(l), liar_is_over(l));
	liar_close(l);
	T_EQ(l->cons.nb_done, 0);
	T_EQ(l->cons.nb_errors, LIAR_POSTS);
	check_empty(l, 0);
	prey_end(l, &p);
}

LIAR_CASE(invalid_records, l)
{
	unsigned int i;

	for (i = 0; i < prey_nb_records; i++) {
		if ((prey_records[i].when & PREY_SHOWN) != 0)
			bad_record(l, &prey_records[i], true);
		if ((prey_records[i].when & PREY_STAGED) != 0)
			bad_record(l, &prey_records[i], false);
	}
}

/* The one before was true: it is delivered, and once. */
LIAR_CASE(invalid_record_behind_a_message, l)
{
	static const struct comch_rec good = { .head.count = 1, .head.imm_len = 3, .len0 = 64 };
	unsigned int i;
	struct prey p;
	size_t len;

	for (i = 0; i < prey_nb_records; i++) {
		if ((prey_records[i].when & PREY_SHOWN) == 0)
			continue;
		prey_begin(l, &p, true);
		prey_write(&p, 0, &good, 0);
		prey_write(&p, 1, &prey_records[i].rec, prey_records[i].staging_head);
		T_WAIT(liar_progress(l), liar_is_over(l));
		liar_close(l);
		T_EQ(l->cons.nb_done, 1);
		T_EQ(l->cons.imm_len, 3);
		T_EQ(l->cons.nb_errors, LIAR_POSTS - 1);
		T_GETS(doca_buf_get_data_len(l->to[0], &len), len, 64);
		check_empty(l, 1);
		prey_end(l, &p);
	}
}

/* Of other rounds of the ring, and the same again: nothing comes of them. */
LIAR_CASE(sequences, l)
{
	static const uint64_t seqs[] = { 0, 2, LIAR_POSTS + 1, UINT64_MAX, UINT64_C(1) << 63 };
	static const struct comch_rec good = { .head.count = 1, .len0 = 64 };
	unsigned int i, k;
	struct prey p;

	for (i = 0; i < RTE_DIM(seqs); i++) {
		prey_begin(l, &p, true);
		prey_write(&p, 0, &good, 0);
		T_WAIT(liar_progress(l), l->cons.nb_done == 1);
		for (k = 0; k < LIAR_POSTS; k++)
			if (seqs[i] != k + 1 || k == 0)
				__atomic_store_n(&p.shared->rec[k].seq, k == 1 ? 0 : seqs[i],
					__ATOMIC_RELEASE);
		T_SETTLE(liar_progress(l));
		T_CHECK(!liar_is_over(l));
		T_EQ(l->cons.nb_done, 1);
		check_empty(l, 1);
		liar_close(l);
		T_EQ(l->cons.nb_errors, LIAR_POSTS - 1);
		prey_end(l, &p);
	}
}

/* More messages than receives. */
LIAR_CASE(records_without_end, l)
{
	static const struct comch_rec good = { .head.count = 1, .len0 = 64 };
	unsigned int i;
	struct prey p;

	prey_begin(l, &p, true);
	for (i = 0; i < LIAR_POSTS; i++)
		prey_write(&p, i, &good, 0);
	T_WAIT(liar_progress(l), l->cons.nb_done == LIAR_POSTS);
	for (i = 0; i < LIAR_POSTS; i++)
		__atomic_store_n(&p.shared->rec[i].seq, LIAR_POSTS + i + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&p.shared->claim, 2 * LIAR_POSTS, __ATOMIC_RELEASE);
	T_SETTLE(liar_progress(l));
	T_EQ(l->cons.nb_done + l->cons.nb_errors, LIAR_POSTS);
	liar_close(l);
	prey_end(l, &p);
}

/* A stop waits for what was claimed, but not for ever. */
LIAR_CASE(claims, l)
{
	static const uint64_t claims[] = { 2, LIAR_POSTS + 1, INT64_MAX, UINT64_MAX };
	unsigned int i;
	struct prey p;

	for (i = 0; i < RTE_DIM(claims); i++) {
		prey_begin(l, &p, i % 2 == 0);
		__atomic_store_n(&p.shared->claim, claims[i], __ATOMIC_RELEASE);
		liar_ack(l);
		liar_stop(l);
		T_EQ(l->cons.nb_errors, LIAR_POSTS);
		check_empty(l, 0);
		prey_end(l, &p);
	}
}

/* The client's producer */

#define DEPTH 64
#define REGION 3
#define STAGING 4096

/* What the server posts from. */
struct posts {
	struct raw_cons c;
	struct raw_mem m;
};

/* The client has a producer, and was told of a consumer, to which it sends nb_puts messages. */
static void
posts_begin(struct liar *l, struct posts *p, unsigned int nb_puts)
{
	struct raw_frame f;

	l->nb_puts = nb_puts;
	liar_reach(l, LIE_UP);
	liar_start_queues(l);
	raw_mem_new(&p->m, LIAR_SRC_LEN, MFD_ALLOW_SEALING, RAW_SEALS_PAYLOAD);
	raw_send_mr_add(&l->a, REGION, 0, LIAR_SRC_LEN, p->m.fd);
	liar_hear(l, &f, COMCH_WIRE_MR_ACK);
	raw_cons_new(&p->c, 1, DEPTH, DEPTH, STAGING);
	raw_cons_announce(&l->a, &p->c);
	T_WAIT(liar_progress(l), l->nb_ids == 1);
}

static void
posts_end(struct liar *l, struct posts *p)
{
	liar_close(l);
	raw_cons_free(&p->c);
	raw_mem_free(&p->m);
	liar_check_honest(l);
}

/* Submit a send of buf until it is accepted. */
static void
put(struct liar *l, const struct doca_buf *buf)
{
	T_WAIT(liar_progress(l), liar_submit(l, queue_put_task(&l->prod, buf, NULL, 0, 1)) ==
		DOCA_SUCCESS);
}

/* The task that was sent fails in this way. */
static void
put_fails(struct liar *l, doca_error_t status)
{
	T_WAIT(liar_progress(l), l->prod.nb_errors == 1);
	T_EQ(l->prod.nb_done, 0);
	if (l->prod.status != status)
		T_FAIL("%s, not %s", doca_error_get_name(l->prod.status),
			doca_error_get_name(status));
}

LIAR_CASE(invalid_posts, l)
{
	static const struct {
		uint32_t region;
		uint64_t off;
		uint32_t len;
	} posts[] = {
		{ REGION + 1, 0, LIAR_LEN },
		{ COMCH_MAX_IMPORTS, 0, LIAR_LEN },
		{ COMCH_REGION_NONE, 0, LIAR_LEN },
		{ REGION, LIAR_SRC_LEN - LIAR_LEN + 1, LIAR_LEN },
		{ REGION, LIAR_SRC_LEN, LIAR_LEN },
		{ REGION, COMCH_DESC_OFF_MASK, LIAR_LEN },
		{ REGION, 0, LIAR_SRC_LEN + 1 },
		{ REGION, 0, UINT32_MAX },
	};
	struct posts p;
	unsigned int i;

	for (i = 0; i < RTE_DIM(posts); i++) {
		posts_begin(l, &p, 0);
		raw_cons_post(&p.c, posts[i].region, posts[i].off, posts[i].len);
		put(l, l->from);
		put_fails(l, DOCA_ERROR_CONNECTION_RESET);
		T_WAIT(liar_progress(l), liar_is_over(l));
		posts_end(l, &p);
	}
}

/* Too short is an error of that message only: the next one arrives, where it should. */
LIAR_CASE(short_posts, l)
{
	static const uint32_t lens[] = { 0, 1, LIAR_LEN - 1 };
	struct posts p;
	unsigned int i;

	for (i = 0; i < RTE_DIM(lens); i++) {
		t_fill(l->src.addr, LIAR_LEN, 5);
		posts_begin(l, &p, 0);
		raw_cons_post(&p.c, lens[i] == 0 ? COMCH_REGION_NONE : REGION, 0, lens[i]);
		put(l, l->from);
		put_fails(l, DOCA_ERROR_INVALID_VALUE);
		T_CHECK(!liar_is_over(l));
		posts_end(l, &p);
	}
	posts_begin(l, &p, 0);
	raw_cons_post(&p.c, REGION, LIAR_SRC_LEN - LIAR_LEN, LIAR_LEN);
	put(l, l->from);
	T_WAIT(liar_progress(l), l->prod.nb_done == 1);
	T_VERIFY((uint8_t *)p.m.addr + LIAR_SRC_LEN - LIAR_LEN, LIAR_LEN, 5);
	posts_end(l, &p);
}

/* Positions beyond what may be posted, and behind what was used. */
LIAR_CASE(tails, l)
{
	static const uint64_t tails[] = { DEPTH + 1, INT64_MAX, UINT64_MAX / 2 + 1 };
	struct posts p;
	unsigned int i;

	for (i = 0; i < RTE_DIM(tails); i++) {
		posts_begin(l, &p, 0);
		raw_cons_post(&p.c, REGION, 0, LIAR_LEN);
		__atomic_store_n(&p.c.shared->tail, tails[i], __ATOMIC_RELEASE);
		if (tails[i] <= INT64_MAX) {
			put(l, l->from);
			put_fails(l, DOCA_ERROR_CONNECTION_RESET);
		} else {
			T_IS(liar_submit(l, queue_put_task(&l->prod, l->from, NULL, 0, 1)),
				DOCA_ERROR_AGAIN);
		}
		posts_end(l, &p);
	}
}

LIAR_CASE(staging_tails, l)
{
	static const uint64_t tails[] = { 64, INT64_MAX, UINT64_MAX - 8191 };
	struct posts p;
	unsigned int i;

	for (i = 0; i < RTE_DIM(tails); i++) {
		posts_begin(l, &p, 0);
		raw_cons_post(&p.c, COMCH_REGION_STAGED, 0, LIAR_LEN);
		__atomic_store_n(&p.c.shared->staging_tail, tails[i], __ATOMIC_RELEASE);
		put(l, l->from);
		put_fails(l, DOCA_ERROR_CONNECTION_RESET);
		posts_end(l, &p);
	}
}

/* A message longer than the staging ring is on its way: the server lies, leaves or closes. */
static void
stream(struct liar *l, unsigned int how)
{
	struct doca_buf *big = memory_buf(&l->src, 0, LIAR_SRC_LEN, true);
	struct posts p;

	posts_begin(l, &p, 0);
	raw_cons_post(&p.c, COMCH_REGION_STAGED, 0, LIAR_SRC_LEN);
	put(l, big);
	T_SETTLE(liar_progress(l));
	T_EQ(l->prod.nb_done + l->prod.nb_errors, 0);
	if (how == 0)
		__atomic_store_n(&p.c.shared->staging_tail, 1 << 20, __ATOMIC_RELEASE);
	else if (how == 1)
		raw_send_id(&l->a, COMCH_WIRE_CONSUMER_GONE, 1);
	else if (how == 2)
		liar_stop_queues(l);
	else
		raw_close(&l->a);
	put_fails(l, how == 1 ? DOCA_ERROR_NOT_FOUND : how == 2 ? DOCA_ERROR_SHUTDOWN :
		DOCA_ERROR_CONNECTION_RESET);
	posts_end(l, &p);
	T_OK(doca_buf_dec_refcount(big, NULL));
}

LIAR_CASE(streams, l)
{
	unsigned int how;

	for (how = 0; how < 4; how++)
		stream(l, how);
}

/* Sends wait for a post when the consumer goes, and another comes with its id. */
LIAR_CASE(consumer_goes, l)
{
	unsigned int i, nb_waited = 0;
	struct posts p;

	for (i = 0; i < 6; i++) {
		posts_begin(l, &p, 3);
		raw_send_id(&l->a, COMCH_WIRE_CONSUMER_GONE, 1);
		T_WAIT(liar_progress(l), l->nb_ids == 0);
		if (i % 2 == 0 && l->nb_accepted > 0) {
			T_WAIT(liar_progress(l), l->prod.nb_errors == l->nb_accepted);
			T_IS(l->prod.status, DOCA_ERROR_NOT_FOUND);
		}
		raw_cons_announce(&l->a, &p.c);
		T_WAIT(liar_progress(l), l->nb_ids == 1);
		T_CHECK(!liar_is_over(l));
		posts_end(l, &p);
		T_EQ(l->prod.nb_done, 0);
		T_EQ(l->prod.nb_errors, l->nb_accepted);
		nb_waited += l->nb_accepted;
	}
	/* On the connection's engine they are a batch. */
	T_GT(nb_waited, 0);
}
