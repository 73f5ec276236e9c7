/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Lies in post regions and record regions. */

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "queue.h"

V_SUITE(data);

/* A descriptor that cannot be: the send fails, and so does the connection. */
static void
bad_desc(uint32_t region, uint64_t off, uint32_t len)
{
	struct rte_comch_cpl cpl;
	struct to_attacker t;

	out_open(&t, 0);
	raw_cons_post(&t.c, region, off, len);
	T_EQ(out_send(&t, 100), 1);
	t_done(t.prod, &cpl);
	T_EQ(cpl.status, -EPROTO);
	v_expect_end(&t.v, t.conn);
	out_close(&t);
}

Test(data, desc_good)
{
	struct rte_comch_cpl cpl;
	struct to_attacker t;

	out_open(&t, 0);
	raw_cons_post(&t.c, 3, MEM_LEN - 100, 100);
	T_EQ(out_send(&t, 100), 1);
	t_done(t.prod, &cpl);
	T_EQ(cpl.status, 0);
	T_VERIFY((uint8_t *)t.m.addr + MEM_LEN - 100, 100, 9);
	out_close(&t);
}

/* A number is free again at once, with other memory behind it. */
Test(data, desc_region_again)
{
	struct rte_comch_cpl cpl;
	struct to_attacker t;
	struct raw_mem m;
	int32_t status;

	out_open(&t, 0);
	raw_mem_new(&m, 4096, MFD_ALLOW_SEALING, RAW_SEALS_PAYLOAD);
	/* The victim reads both in one run: nothing was given up in between. */
	raw_send_id(&t.a, COMCH_WIRE_MR_DEL, 3);
	raw_send_mr_add(&t.a, 3, 0, 4096, m.fd);
	status = v_hear_status(&t.a, COMCH_WIRE_MR_ACK);
	T_EQ(status, 0);
	raw_cons_post(&t.c, 3, 4096 - 100, 100);
	T_EQ(out_send(&t, 100), 1);
	t_done(t.prod, &cpl);
	T_EQ(cpl.status, 0);
	T_VERIFY((uint8_t *)m.addr + 4096 - 100, 100, 9);
	T_EQ(*(uint8_t *)t.m.addr, 0);
	/* Within the old memory only. */
	raw_cons_post(&t.c, 3, 4096 - 99, 100);
	T_EQ(out_send(&t, 100), 1);
	t_done(t.prod, &cpl);
	T_EQ(cpl.status, -EPROTO);
	v_expect_end(&t.v, t.conn);
	raw_mem_free(&m);
	out_close(&t);
}

/* What the victim has not given up yet does not grow without end. */
Test(data, regions_without_end)
{
	enum { TURNS = 200 };
	const struct rte_comch_conn *conn;
	unsigned int granted = 0, i;
	struct raw_peer a;
	struct victim v;
	struct raw_mem m;
	int32_t status;

	v_open(&v, NULL);
	conn = v_connect_cells(&v, &a, 1024);
	raw_mem_new(&m, 4096, MFD_ALLOW_SEALING, RAW_SEALS_PAYLOAD);
	for (i = 0; i < TURNS; i++) {
		raw_send_mr_add(&a, 3, 0, 4096, m.fd);
		raw_send_id(&a, COMCH_WIRE_MR_DEL, 3);
	}
	for (i = 0; i < TURNS; i++) {
		status = v_hear_status(&a, COMCH_WIRE_MR_ACK);
		T_CHECK(status == 0 || status == -EBUSY);
		granted += status == 0;
	}
	/* Each is received by another thread: some are given up before the next comes. */
	T_GE(granted, COMCH_MAX_IMPORTS);
	/* Once it is given up there is room again. */
	t_settle();
	raw_send_mr_add(&a, 3, 0, 4096, m.fd);
	status = v_hear_status(&a, COMCH_WIRE_MR_ACK);
	T_EQ(status, 0);
	v_expect_alive(&v, &a, conn);
	raw_mem_free(&m);
	raw_close(&a);
	v_close(&v);
}

Test(data, desc_unknown_region)
{
	bad_desc(4, 0, 100);
}

Test(data, desc_region_over_table)
{
	bad_desc(COMCH_MAX_IMPORTS, 0, 100);
}

Test(data, desc_staged_without_ring)
{
	bad_desc(COMCH_REGION_STAGED, 0, 100);
}

Test(data, desc_none_with_length)
{
	bad_desc(COMCH_REGION_NONE, 0, 100);
}

Test(data, desc_one_byte_over)
{
	bad_desc(3, MEM_LEN - 99, 100);
}

Test(data, desc_behind)
{
	bad_desc(3, MEM_LEN, 100);
}

Test(data, desc_far)
{
	bad_desc(3, COMCH_DESC_OFF_MASK, 100);
}

Test(data, desc_length_huge)
{
	bad_desc(3, 0, UINT32_MAX);
}

Test(data, desc_length_over)
{
	bad_desc(3, 0, MEM_LEN + 1);
}

static void
bad_tail(uint64_t tail)
{
	struct rte_comch_cpl cpl;
	struct to_attacker t;

	out_open(&t, 0);
	raw_cons_post(&t.c, 3, 0, 100);
	__atomic_store_n(&t.c.shared->tail, tail, __ATOMIC_RELEASE);
	T_EQ(out_send(&t, 100), 1);
	t_done(t.prod, &cpl);
	T_EQ(cpl.status, -EPROTO);
	v_expect_end(&t.v, t.conn);
	out_close(&t);
}

Test(data, tail_jumps)
{
	bad_tail(DEPTH + 1);
}

Test(data, tail_jumps_far)
{
	bad_tail(INT64_MAX);
}

/* Backwards: just nothing is posted. */
Test(data, tail_backwards)
{
	struct rte_comch_cpl cpl;
	struct to_attacker t;
	int i;

	out_open(&t, 0);
	for (i = 0; i < 10; i++)
		raw_cons_post(&t.c, 3, 0, 100);
	for (i = 0; i < 5; i++)
		T_EQ(out_send(&t, 100), 1);
	__atomic_store_n(&t.c.shared->tail, 2, __ATOMIC_RELEASE);
	for (i = 0; i < 50; i++)
		out_send(&t, 100);
	__atomic_store_n(&t.c.shared->tail, UINT64_MAX - 5, __ATOMIC_RELEASE);
	for (i = 0; i < 50; i++)
		out_send(&t, 100);
	while (rte_comch_producer_done_burst(t.prod, &cpl, 1) == 1)
		T_EQ(cpl.status, 0);
	v_check(&t.v);
	out_close(&t);
}

static void
bad_staging_tail(uint64_t tail)
{
	struct rte_comch_cpl cpl;
	struct to_attacker t;

	out_open(&t, 4096);
	raw_cons_post(&t.c, COMCH_REGION_STAGED, 0, 100);
	__atomic_store_n(&t.c.shared->staging_tail, tail, __ATOMIC_RELEASE);
	T_EQ(out_send(&t, 100), 1);
	t_done(t.prod, &cpl);
	T_EQ(cpl.status, -EPROTO);
	v_expect_end(&t.v, t.conn);
	out_close(&t);
}

Test(data, staging_tail_ahead)
{
	bad_staging_tail(64);
}

Test(data, staging_tail_behind)
{
	bad_staging_tail(UINT64_MAX - 8191);
}

/* A stream to a consumer that stops reading, lies, or goes. */
static void
bad_stream(int how)
{
	struct rte_comch_cpl cpl = { 0 };
	struct to_attacker t;

	out_open(&t, 4096);
	raw_cons_post(&t.c, COMCH_REGION_STAGED, 0, MEM_LEN);
	T_EQ(out_send(&t, MEM_LEN), 1);
	T_EQ(rte_comch_producer_done_burst(t.prod, &cpl, 1), 0);
	if (how == 0)
		__atomic_store_n(&t.c.shared->staging_tail, 1 << 20, __ATOMIC_RELEASE);
	else if (how == 1)
		raw_send_id(&t.a, COMCH_WIRE_CONSUMER_GONE, 1);
	else
		raw_close(&t.a);
	t_done(t.prod, &cpl);
	T_LT(cpl.status, 0);
	v_check(&t.v);
	out_close(&t);
}

Test(data, stream_tail_ahead)
{
	bad_stream(0);
}

Test(data, stream_consumer_gone)
{
	bad_stream(1);
}

Test(data, stream_death)
{
	bad_stream(2);
}

/* A record that cannot be: all buffers come back, and the connection ends. */
static void
bad_rec(const struct comch_rec *r, bool heap, uint64_t head)
{
	struct rte_comch_cpl cpl;
	struct to_victim t;
	unsigned int i;

	in_open(&t, heap);
	in_post(&t, 4);
	memcpy((uint8_t *)&t.shared->rec[0] + 8, (const uint8_t *)r + 8, sizeof(*r) - 8);
	__atomic_store_n(&t.shared->staging_head, head, __ATOMIC_RELEASE);
	__atomic_store_n(&t.shared->claim, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&t.shared->rec[0].seq, 1, __ATOMIC_RELEASE);
	for (i = 0; i < 4; i++) {
		t_recv(t.cons, &cpl);
		T_EQ(cpl.status, -ECANCELED);
	}
	v_expect_end(&t.v, t.conn);
	in_close(&t);
}

Test(data, rec_count_0)
{
	bad_rec(&(struct comch_rec){ .head.count = 0 }, false, 0);
}

Test(data, rec_count_over_posted)
{
	bad_rec(&(struct comch_rec){ .head.count = 5 }, false, 0);
}

Test(data, rec_count_255)
{
	bad_rec(&(struct comch_rec){ .head.count = 255 }, false, 0);
}

Test(data, rec_len_over)
{
	bad_rec(&(struct comch_rec){ .head.count = 1, .len0 = 257 }, false, 0);
}

Test(data, rec_len_huge)
{
	bad_rec(&(struct comch_rec){ .head.count = 1, .len0 = UINT32_MAX }, false, 0);
}

Test(data, rec_imm_over)
{
	bad_rec(&(struct comch_rec){ .head.count = 1, .head.imm_len = 33 }, false, 0);
}

Test(data, rec_imm_255)
{
	bad_rec(&(struct comch_rec){ .head.count = 1, .head.imm_len = 255 }, false, 0);
}

Test(data, rec_imm_of_many)
{
	bad_rec(&(struct comch_rec){ .head.count = 2, .head.imm_len = 4 }, false, 0);
}

Test(data, rec_kind)
{
	bad_rec(&(struct comch_rec){ .head.count = 1, .head.kind = 3 }, false, 0);
}

Test(data, rec_staged_to_direct)
{
	bad_rec(&(struct comch_rec){ .head.count = 1, .head.kind = COMCH_REC_STAGED, .len0 = 64 },
		false, 64);
}

Test(data, rec_direct_to_staged)
{
	bad_rec(&(struct comch_rec){ .head.count = 1, .len0 = 64 }, true, 64);
}

Test(data, rec_staged_len_over)
{
	bad_rec(&(struct comch_rec){ .head.count = 1, .head.kind = COMCH_REC_STAGED, .len0 = 257 },
		true, 320);
}

Test(data, rec_staging_head_ahead)
{
	bad_rec(&(struct comch_rec){ .head.count = 1, .head.kind = COMCH_REC_STAGED, .len0 = 64 },
		true, 4097);
}

Test(data, rec_staging_head_behind)
{
	bad_rec(&(struct comch_rec){ .head.count = 1, .head.kind = COMCH_REC_STAGED, .len0 = 64 },
		true, UINT64_MAX - 63);
}

Test(data, rec_stop_at_odd)
{
	bad_rec(&(struct comch_rec){ .head.count = 1, .head.kind = COMCH_REC_STAGED, .len0 = 64,
		.stop_at = 33 }, true, 0);
}

Test(data, rec_stop_at_far)
{
	bad_rec(&(struct comch_rec){ .head.count = 1, .head.kind = COMCH_REC_STAGED, .len0 = 64,
		.stop_at = (1 << 20) | COMCH_REC_STOPPED }, true, 0);
}

/* Start a consumer and stop it before its memory's MR_ADD was answered. */
static uint32_t
shown_in_vain(struct rte_comch_consumer *cons, struct raw_peer *a)
{
	struct raw_frame f;
	uint32_t id;

	T_EQ(rte_comch_consumer_start(cons), -EINPROGRESS);
	v_hear(a, &f, COMCH_WIRE_MR_ADD);
	raw_frame_free(&f);
	memcpy(&id, f.body, sizeof(id));
	T_EQ(rte_comch_consumer_stop(cons), -EINPROGRESS);
	v_hear(a, &f, COMCH_WIRE_MR_DEL);
	T_UNTIL(rte_comch_consumer_state(cons) == RTE_COMCH_STATE_IDLE);
	return id;
}

/* An answer that comes late is not the answer to the next one of that number. */
Test(data, late_mr_ack)
{
	const struct rte_comch_consumer_conf cc = { .queue_size = DEPTH };
	struct rte_comch_consumer *cons;
	struct rte_comch_conn *conn;
	struct raw_frame f;
	struct raw_peer a;
	struct victim v;
	struct t_mem mem;
	uint32_t id, staging;
	int i;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	t_mem_new(&mem, RTE_COMCH_MEM_SEALED, MEM_LEN, 0);
	cons = t_consumer_new(conn, &cc, mem.mr);
	for (i = 0; i < COMCH_MAX_IMPORTS; i++)
		T_EQ(shown_in_vain(cons, &a), (uint32_t)i);
	T_EQ(rte_comch_consumer_start(cons), -EINPROGRESS);
	v_hear(&a, &f, COMCH_WIRE_MR_ADD);
	raw_frame_free(&f);
	memcpy(&id, f.body, sizeof(id));
	T_EQ(id, 0);
	/* The first was mapped, and this one is refused: it must be staged. */
	raw_send_status(&a, COMCH_WIRE_MR_ACK, 0, 0, -1);
	t_settle();
	raw_send_status(&a, COMCH_WIRE_MR_ACK, 0, -EBUSY, -1);
	v_hear(&a, &f, COMCH_WIRE_CONSUMER_NEW);
	raw_frame_free(&f);
	memcpy(&staging, f.body + 12, sizeof(staging));
	T_GT(staging, 0);
	raw_close(&a);
	v_expect_down(&v, conn);
	t_consumer_end(cons);
	t_mem_free(&mem);
	v_close(&v);
}

/* Sequences of other positions mean nothing. */
Test(data, rec_seq_lies)
{
	struct rte_comch_cpl cpl;
	struct to_victim t;
	unsigned int i;

	in_open(&t, false);
	in_post(&t, 4);
	for (i = 0; i < DEPTH; i++)
		t.shared->rec[i] = (struct comch_rec){ .seq = i + DEPTH + 1, .head.count = 1 };
	T_EQ(rte_comch_consumer_recv_burst(t.cons, &cpl, 1), 0);
	t.shared->rec[0].seq = 0;
	t.shared->rec[1].seq = 1;
	T_EQ(rte_comch_consumer_recv_burst(t.cons, &cpl, 1), 0);
	v_check(&t.v);
	in_close(&t);
}

/* A stop waits for what was claimed, but not for ever. */
static void
claim_lie(uint64_t claim)
{
	struct rte_comch_cpl cpl;
	struct to_victim t;
	uint64_t begin;

	in_open(&t, false);
	in_post(&t, 4);
	__atomic_store_n(&t.shared->claim, claim, __ATOMIC_RELEASE);
	begin = t_now_ms();
	T_EQ(rte_comch_consumer_stop(t.cons), -EINPROGRESS);
	T_UNTIL(rte_comch_consumer_recv_burst(t.cons, &cpl, 1) == 1);
	T_EQ(cpl.status, -ECANCELED);
	T_TIME_LE(t_now_ms() - begin, 5000);
	T_UNTIL(rte_comch_consumer_recv_burst(t.cons, &cpl, 1) == 0 &&
		rte_comch_consumer_state(t.cons) == RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_consumer_destroy(t.cons), 0);
	raw_close(&t.a);
	v_expect_down(&t.v, t.conn);
	t_mem_free(&t.dst);
	raw_mem_free(&t.rec);
	v_close(&t.v);
}

Test(data, claim_stalled)
{
	claim_lie(2);
}

Test(data, claim_huge)
{
	claim_lie(UINT64_MAX);
}
