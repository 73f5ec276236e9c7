/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The other end's region holds lies: a fault, never a stray byte. */

#include <stdlib.h>

#include <criterion/criterion.h>

#include "u_chan.h"

#define DEPTH 16
#define LEN 64

static struct u_chan *u;

static void
setup(void)
{
	u = u_chan_create(&(struct u_conf){ .depth = DEPTH, .staging_size = 256 });
}

static void
teardown(void)
{
	u_chan_free(u);
}

TestSuite(chan_hostile, .init = setup, .fini = teardown);

/* What a lying consumer may do to a producer */

static void
set_desc(uint64_t pos, uint64_t region, uint64_t off, uint32_t len)
{
	u->post->desc[pos % DEPTH].where = region << COMCH_DESC_OFF_BITS | off;
	u->post->desc[pos % DEPTH].len = len;
}

static void
check_prod_fault(int status)
{
	cr_assert_eq(u_done_status(u), status);
	cr_assert_eq(u->prod_faults, 1u);
	cr_assert_eq(u->last_fault, -EPROTO);
	cr_assert_eq(u->rec->claim, 0u);
}

Test(chan_hostile, post_tail_too_far_ahead)
{
	static const uint64_t tails[] = {
		DEPTH + 1, DEPTH + 2, UINT32_MAX, INT64_MAX,
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(tails); i++) {
		u->post->tail = tails[i];
		cr_assert_eq(u_send(u, 0, 1, 1), 1);
		check_prod_fault(-EPROTO);
		u->prod_faults = 0;
		cr_assert(comch_chan_prod_pending(&u->prod[0]) == false);
	}
}

/* A tail behind what was claimed is a consumer that gives no more credit. */
Test(chan_hostile, post_tail_goes_back)
{
	static const uint64_t tails[] = { 3, 0, UINT64_MAX, (UINT64_C(1) << 63) + 100 };
	struct rte_comch_op ops[5];
	struct rte_comch_cpl cpl;
	unsigned int i;

	u_post_many(u, U_MR_DIRECT, 8, LEN);
	for (i = 0; i < 5; i++)
		ops[i] = u_op(u, 0, 1, i);
	cr_assert_eq(comch_chan_send(&u->prod[0], ops, 5), 5);
	/* The tail that was seen is used up first. */
	cr_assert_eq(comch_chan_send(&u->prod[0], ops, 3), 3);
	for (i = 0; i < RTE_DIM(tails); i++) {
		u->post->tail = tails[i];
		cr_assert_eq(u_send(u, 0, 1, 1), 0, "%u", i);
		cr_assert(!comch_chan_prod_pending(&u->prod[0]) ||
			comch_chan_done(&u->prod[0], &cpl, 1) == 1);
	}
	cr_assert_eq(u->rec->claim, 8u);
	cr_assert_eq(u->prod_faults, 0u);
}

Test(chan_hostile, descriptor_outside)
{
	const uint64_t size = u->mem_size;
	const struct {
		uint64_t region, off;
		uint32_t len;
	} bad[] = {
		{ U_REGION, size, 1 },
		{ U_REGION, size - 1, 2 },
		{ U_REGION, size + 1, 8 },
		{ U_REGION, 0, (uint32_t)size + 1 },
		{ U_REGION, 1, (uint32_t)size },
		{ U_REGION, 0, UINT32_MAX },
		{ U_REGION, 1, UINT32_MAX },
		{ U_REGION, COMCH_DESC_OFF_MASK, 1 },
		{ U_REGION, COMCH_DESC_OFF_MASK, UINT32_MAX },
		{ U_REGION, COMCH_DESC_OFF_MASK - UINT32_MAX + 2, UINT32_MAX },
		{ U_REGION + 1, 0, 8 }, /* no such import */
		{ COMCH_MAX_IMPORTS - 1, 0, 8 },
		{ COMCH_MAX_IMPORTS, 0, 8 },
		{ COMCH_REGION_NONE, 0, 8 },
		{ 0x8000, 0, 8 },
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(bad); i++) {
		u->post->tail = 1;
		set_desc(0, bad[i].region, bad[i].off, bad[i].len);
		cr_assert_eq(u_send(u, 0, 1, i), 1);
		check_prod_fault(-EPROTO);
		u->prod_faults = 0;
	}
}

/* In the middle of a burst: what was fine before it is sent. */
Test(chan_hostile, descriptor_outside_within_a_burst)
{
	struct rte_comch_op ops[4];
	uint16_t i;

	u_post_many(u, U_MR_DIRECT, 4, LEN);
	set_desc(2, U_REGION, u->mem_size - 1, LEN);
	for (i = 0; i < 4; i++)
		ops[i] = u_op(u, 0, 8, i);
	cr_assert(comch_chan_send(&u->prod[0], ops, 4) >= 3);
	cr_assert_eq(u->rec->claim, 2u);
	cr_assert_eq(u_done_status(u), 0);
	cr_assert_eq(u_done_status(u), 0);
	cr_assert_eq(u_done_status(u), -EPROTO);
	cr_assert(u->prod_faults >= 1);
}

/* Staged, although no ring was agreed upon. */
Test(chan_hostile, descriptor_staged_without_a_ring)
{
	struct u_chan *v = u_chan_create(&(struct u_conf){ .depth = 4 });

	v->post->tail = 1;
	v->post->desc[0].where = (uint64_t)COMCH_REGION_STAGED << COMCH_DESC_OFF_BITS;
	v->post->desc[0].len = 8;
	cr_assert_eq(u_send(v, 0, 1, 1), 1);
	cr_assert_eq(u_done_status(v), -EPROTO);
	cr_assert_eq(v->prod_faults, 1u);
	u_chan_free(v);
}

Test(chan_hostile, staging_tail)
{
	static const uint64_t tails[] = { 1, 256, UINT64_MAX - 256, UINT64_C(1) << 63 };
	unsigned int i;

	u_post_many(u, U_MR_STAGED, 1, LEN);
	for (i = 0; i < RTE_DIM(tails); i++) {
		u->post->staging_tail = tails[i];
		cr_assert_eq(u_send(u, 0, LEN, 1), 1);
		check_prod_fault(-EPROTO);
		u->prod_faults = 0;
	}
	cr_assert_eq(u->rc.streaming, 0u);
}

/* A lie while a message streams ends it. */
Test(chan_hostile, staging_tail_within_a_stream)
{
	cr_assert(u_post(u, U_MR_STAGED, 0, 1000, 1));
	cr_assert_eq(u_send(u, 0, 1000, 1), 1);
	cr_assert_not_null(u->prod[0].stream);
	u->post->staging_tail = 1000;
	cr_assert_eq(u_send(u, 0, 1, 2), 0);
	cr_assert_eq(u_done_status(u), -EPROTO);
	cr_assert_eq(u->prod_faults, 1u);
	cr_assert_null(u->prod[0].stream);
}

/* What a lying producer may do to a consumer */

/* All that is posted comes back canceled, and the fault is told. */
static void
check_cons_fault(uint32_t nb_posted)
{
	cr_assert_eq(u_recv_all(u, -ECANCELED), nb_posted);
	cr_assert(u->cons_faults >= 1);
	cr_assert_eq(u->last_fault, -EPROTO);
	cr_assert_eq(u->nb_drained, 1u);
}

struct bad_rec {
	uint8_t kind, count, imm_len;
	uint32_t len;
};

static void
check_bad_rec(const struct bad_rec *bad)
{
	u_post_many(u, U_MR_DIRECT, 4, LEN);
	u_publish(u, 0, bad->kind, bad->count, bad->len);
	u_rec(u, 0)->head.imm_len = bad->imm_len;
	check_cons_fault(4);
}

#define BAD_REC(name, ...) \
	Test(chan_hostile, record_ ## name) \
	{ \
		check_bad_rec(&(struct bad_rec){ __VA_ARGS__ }); \
	}

BAD_REC(count_0, COMCH_REC_DIRECT, 0, 0, 1)
BAD_REC(count_5_of_4, COMCH_REC_DIRECT, 5, 0, 1)
BAD_REC(count_12_of_4, COMCH_REC_DIRECT, 12, 0, 1)
BAD_REC(count_13, COMCH_REC_DIRECT, 13, 0, 1)
BAD_REC(count_255, COMCH_REC_DIRECT, 255, 0, 1)
BAD_REC(imm_33, COMCH_REC_DIRECT, 1, 33, 1)
BAD_REC(imm_255, COMCH_REC_DIRECT, 1, 255, 1)
BAD_REC(imm_in_a_batch, COMCH_REC_DIRECT, 2, 4, 1)
BAD_REC(kind_3, COMCH_REC_ABORT + 1, 1, 0, 1)
BAD_REC(kind_255, 255, 1, 0, 1)
BAD_REC(batch_of_aborts, COMCH_REC_ABORT, 2, 0, 1)
BAD_REC(batch_of_staged, COMCH_REC_STAGED, 2, 0, 1)
BAD_REC(too_long, COMCH_REC_DIRECT, 1, 0, LEN + 1)
BAD_REC(far_too_long, COMCH_REC_DIRECT, 1, 0, UINT32_MAX)
BAD_REC(too_long_with_imm, COMCH_REC_DIRECT, 1, 4, LEN + 1)
BAD_REC(negative_length, COMCH_REC_DIRECT, 1, 0, UINT32_C(1) << 31)
BAD_REC(staged_into_direct, COMCH_REC_STAGED, 1, 0, 1)

/* More immediate data than this consumer takes, though the format has room. */
Test(chan_hostile, record_imm_over_agreed)
{
	u->c.rx.imm_size = 8;
	check_bad_rec(&(struct bad_rec){ COMCH_REC_DIRECT, 1, 9, 1 });
}

/* 13 posted: a count of 13 is within what is posted, but not within a record. */
Test(chan_hostile, record_count_13_of_16)
{
	u_post_many(u, U_MR_DIRECT, DEPTH, LEN);
	u_publish(u, 0, COMCH_REC_DIRECT, 13, 1);
	check_cons_fault(DEPTH);
}

Test(chan_hostile, record_direct_into_staged)
{
	u_post_many(u, U_MR_STAGED, 2, LEN);
	u_publish(u, 0, COMCH_REC_DIRECT, 1, 1);
	check_cons_fault(2);
}

Test(chan_hostile, record_payload_into_empty)
{
	struct rte_comch_buf empty = { .cookie = 1 };

	cr_assert_eq(comch_chan_post(&u->c, &empty, 1), 1);
	u_publish(u, 0, COMCH_REC_DIRECT, 1, 1);
	check_cons_fault(1);
}

Test(chan_hostile, record_staged_into_empty)
{
	struct rte_comch_buf empty = { .cookie = 1 };

	cr_assert_eq(comch_chan_post(&u->c, &empty, 1), 1);
	u_publish(u, 0, COMCH_REC_STAGED, 1, 0);
	check_cons_fault(1);
}

/* The second of a batch is too long: the first one counts. */
Test(chan_hostile, record_bad_within_a_batch)
{
	struct rte_comch_cpl cpls[4];

	u_post_many(u, U_MR_DIRECT, 4, LEN);
	u_publish(u, 0, COMCH_REC_DIRECT, 3, 8);
	u_rec(u, 0)->len[1] = LEN + 1;
	cr_assert_eq(comch_chan_recv(&u->c, cpls, 4), 4);
	cr_assert_eq(cpls[0].status, 0);
	cr_assert_eq(cpls[1].status, -ECANCELED);
	cr_assert_eq(cpls[2].status, -ECANCELED);
	cr_assert_eq(cpls[3].status, -ECANCELED);
	cr_assert_eq(u->cons_faults, 1u);
}

/*
 * After a fault nothing of the peer is believed any more: what is flushed one
 * by one is flushed to the end, also if a record would fit a later buffer.
 */
Test(chan_hostile, nothing_is_delivered_after_a_fault)
{
	struct rte_comch_cpl cpl;

	cr_assert(u_post(u, U_MR_DIRECT, 0, 8, 1));
	cr_assert(u_post(u, U_MR_DIRECT, 64, 64, 2));
	cr_assert(u_post(u, U_MR_DIRECT, 128, 64, 3));
	u_publish(u, 0, COMCH_REC_DIRECT, 1, 9);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.status, -ECANCELED);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.cookie, 2u);
	cr_assert_eq(cpl.status, -ECANCELED, "%d: a message that was for buffer 1", cpl.status);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.status, -ECANCELED);
	cr_assert_eq(u->cons_faults, 1u);
}

Test(chan_hostile, no_record_is_read_after_a_fault)
{
	struct rte_comch_cpl cpl;

	u_post_many(u, U_MR_DIRECT, 3, LEN);
	u_publish(u, 0, COMCH_REC_DIRECT, 0, 1);
	u_publish(u, 1, COMCH_REC_DIRECT, 1, 1);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.status, -ECANCELED);
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.status, -ECANCELED, "%d", cpl.status);
	cr_assert_eq(u->cons_faults, 1u);
}

/* Sequences that are not the next one are not there. */
Test(chan_hostile, record_sequence)
{
	static const uint64_t seqs[] = { 0, 2, 1 + DEPTH, UINT64_MAX, UINT64_C(1) << 32 | 1 };
	struct rte_comch_cpl cpl;
	unsigned int i;

	u_post_many(u, U_MR_DIRECT, 1, LEN);
	u_publish(u, 0, COMCH_REC_DIRECT, 1, 1);
	for (i = 0; i < RTE_DIM(seqs); i++) {
		u_rec(u, 0)->seq = seqs[i];
		cr_assert(!u_recv(u, &cpl));
		cr_assert(!comch_chan_cons_pending(&u->c));
	}
	/* A message for which nothing is posted is not looked at either. */
	u_rec(u, 0)->seq = 1;
	cr_assert(u_recv(u, &cpl));
	u_publish(u, 1, COMCH_REC_DIRECT, 1, 1);
	cr_assert(!u_recv(u, &cpl));
	cr_assert(!comch_chan_cons_pending(&u->c));
}

/* The record changes after it was taken: the copy counts. */
Test(chan_hostile, record_changes_later)
{
	struct rte_comch_cpl cpl;

	u_post_many(u, U_MR_DIRECT, 4, LEN);
	u_publish(u, 0, COMCH_REC_DIRECT, 3, 8);
	cr_assert(u_recv(u, &cpl));
	memset(u_rec(u, 0), 0xff, sizeof(struct comch_rec));
	cr_assert_eq(u_recv_all(u, 0), 2u);
	cr_assert_eq(u->cons_faults, 0u);
}

static void
check_staging_head(uint64_t head, bool fits)
{
	struct rte_comch_cpl cpl;

	u_post_many(u, U_MR_STAGED, 1, 200);
	u_publish(u, 0, COMCH_REC_STAGED, 1, 100);
	u->rec->staging_head = head;
	if (fits) {
		cr_assert(u_recv(u, &cpl));
		cr_assert_eq(cpl.status, 0);
		return;
	}
	check_cons_fault(1);
}

Test(chan_hostile, staging_head_full)
{
	check_staging_head(256, true);
}

Test(chan_hostile, staging_head_over)
{
	check_staging_head(257, false);
}

Test(chan_hostile, staging_head_negative)
{
	check_staging_head(UINT64_MAX, false);
}

/* It goes back behind what was already pulled. */
Test(chan_hostile, staging_head_goes_back)
{
	struct rte_comch_cpl cpl;

	u_post_many(u, U_MR_STAGED, 1, 200);
	u_publish(u, 0, COMCH_REC_STAGED, 1, 200);
	u->rec->staging_head = 128;
	cr_assert(!u_recv(u, &cpl));
	cr_assert_eq(u->post->staging_tail, 128u);
	u->rec->staging_head = 127;
	check_cons_fault(1);
}

Test(chan_hostile, staged_record_longer_than_the_buffer)
{
	u_post_many(u, U_MR_STAGED, 1, 200);
	u_publish(u, 0, COMCH_REC_STAGED, 1, 201);
	u->rec->staging_head = 256;
	check_cons_fault(1);
}

static void
check_stop_at(uint64_t stop_at, int status)
{
	struct rte_comch_cpl cpl;

	u_post_many(u, U_MR_STAGED, 1, 1000);
	u_publish(u, 0, COMCH_REC_STAGED, 1, 1000);
	u->rec->staging_head = 128;
	cr_assert(!u_recv(u, &cpl));
	u_rec(u, 0)->stop_at = stop_at;
	cr_assert(u_recv(u, &cpl));
	cr_assert_eq(cpl.status, -ECANCELED);
	cr_assert_eq(u->cons_faults, status == 0 ? 0u : 1u);
	cr_assert_eq(u->last_fault, status);
}

Test(chan_hostile, stop_at_where_it_is)
{
	check_stop_at(128 | COMCH_REC_STOPPED, 0);
	cr_assert_eq(u->post->staging_tail, 128u);
}

Test(chan_hostile, stop_at_a_ring_ahead)
{
	check_stop_at((128 + 256) | COMCH_REC_STOPPED, 0);
	cr_assert_eq(u->post->staging_tail, 384u);
}

Test(chan_hostile, stop_at_behind)
{
	check_stop_at(64 | COMCH_REC_STOPPED, -EPROTO);
}

Test(chan_hostile, stop_at_too_far)
{
	check_stop_at((192 + 256) | COMCH_REC_STOPPED, -EPROTO);
}

Test(chan_hostile, stop_at_off_the_line)
{
	check_stop_at(130 | COMCH_REC_STOPPED, -EPROTO);
}

Test(chan_hostile, stop_at_negative)
{
	check_stop_at(UINT64_MAX, -EPROTO);
}

/* A claim that cannot be does not make a stop wait. */
static void
check_claim(uint64_t claim)
{
	u->c.timeout_cycles = UINT64_MAX / 4;
	u_post_many(u, U_MR_DIRECT, 4, LEN);
	u->rec->claim = claim;
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_STOP);
	cr_assert_eq(u_recv_all(u, -ECANCELED), 4u);
	cr_assert_eq(u->nb_drained, 1u);
	cr_assert_eq(u->cons_faults, 0u);
}

Test(chan_hostile, claim_beyond_what_is_posted)
{
	check_claim(5);
}

Test(chan_hostile, claim_far_beyond)
{
	check_claim(UINT64_MAX);
}

/* Random bytes in the whole record region: a fault or not, but nothing else. */
Test(chan_hostile, random_records)
{
	struct rte_comch_cpl cpls[DEPTH];
	uint32_t round, i;
	uint8_t *bytes;
	uint16_t k;

	srandom(7);
	for (round = 0; round < 3000; round++) {
		teardown();
		u = u_chan_create(&(struct u_conf){ .depth = DEPTH, .staging_size = 256 });
		u_post_many(u, round & 1 ? U_MR_STAGED : U_MR_DIRECT, DEPTH, LEN);
		bytes = (uint8_t *)u->rec;
		for (i = 0; i < comch_chan_rec_len(DEPTH, 256); i++)
			bytes[i] = (uint8_t)(random() >> 8);
		for (i = 0; i < DEPTH; i++) {
			u_rec(u, i)->seq = i + 1;
			u_rec(u, i)->head.count = (uint8_t)(random() % 5);
			u_rec(u, i)->head.kind = (uint8_t)(random() % 4);
			u_rec(u, i)->head.imm_len = (uint8_t)(random() % 40);
			u_rec(u, i)->len[0] = (uint32_t)random() % (LEN + 8);
		}
		u->rec->staging_head = (uint64_t)random() % 300;
		for (i = 0; i < 4 * DEPTH; i++) {
			k = comch_chan_recv(&u->c, cpls, (uint16_t)(1 + i % 3));
			while (k-- > 0)
				cr_assert(cpls[k].len <= LEN && cpls[k].imm_len <= 32);
		}
		cr_assert(u->c.rx.entry_head <= u->c.rx.entry_tail && u->c.rx.head <= u->c.rx.tail);
	}
}
