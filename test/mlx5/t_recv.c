/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Consumers of the driver for RDMA, and a hostile peer that has a queue pair. */

#include "u_path.h"

#define DEPTH 64
#define SLOT 512

/* A message under construction. */
struct msg {
	uint8_t data[2 * SLOT];
	uint32_t len;
};

static const struct u_path_conf raw_conf = { .no_remote = true, .depth = DEPTH };

static void
begin_of(struct u_path *u, const struct u_path_conf *conf)
{
	t_eal_start(1);
	u_path_open(u, conf);
}

static void
begin(struct u_path *u)
{
	begin_of(u, &raw_conf);
}

/* Messages are staged, with a window of four pieces. */
static void
begin_staged(struct u_path *u)
{
	begin_of(u, &(struct u_path_conf){
		.no_remote = true, .depth = DEPTH, .hides_memory = true,
		.staging_size = 4 * (SLOT - sizeof(struct comch_rec)),
	});
}

static void
end(struct u_path *u)
{
	u_path_down(u);
	u_path_close(u);
	t_eal_stop();
}

#define RECV_CASE(name) T_CASE_OF(struct u_path, begin, end, name, u)
#define STAGED_CASE(name) T_CASE_OF(struct u_path, begin_staged, end, name, u)

static struct mlx5_cons *
cons_of(struct u_path *u)
{
	return container_of(u->cons, struct mlx5_cons, dq.base);
}

static struct comch_rec
rec_of(uint64_t seq, uint8_t kind, uint8_t count, uint32_t len)
{
	struct comch_rec rec = {
		.seq = seq, .head = { .producer = 3, .count = count, .kind = kind },
	};
	uint32_t i;

	for (i = 0; i < RTE_MIN((uint32_t)count, (uint32_t)COMCH_REC_BATCH); i++)
		rec.len[i] = len;
	return rec;
}

/* Add a record and payloads of as many messages, each of len bytes of val. */
static void
add(struct msg *m, const struct comch_rec *rec, uint32_t n, uint32_t len, uint8_t val)
{
	uint32_t i;

	memcpy(m->data + m->len, rec, sizeof(*rec));
	m->len += sizeof(*rec);
	for (i = 0; i < n; i++) {
		m->len = RTE_ALIGN_CEIL(m->len, (uint32_t)MLX5_EAGER_ALIGN);
		memset(m->data + m->len, val + (int)i, len);
		m->len += len;
	}
}

/* Take posts and completions of the peer's queue pair. */
static void
reap_raw(struct u_path *u)
{
	const struct ibv_wc *wc;

	while ((wc = mlx5_qp_next(&u->raw)) != NULL)
		if (mlx5_qp_is_recv(wc) && wc->status == IBV_WC_SUCCESS)
			mlx5_qp_repost(&u->raw, wc->wr_id);
}

/* Send len bytes to the consumer. */
static void
put(struct u_path *u, const void *data, uint32_t len)
{
	T_WAIT(reap_raw(u), mlx5_qp_tx_room(&u->raw) > 0);
	memcpy(mlx5_qp_tx_buf(&u->raw), data, len);
	mlx5_qp_send(&u->raw, len);
	T_EQ(mlx5_qp_flush(&u->raw, true), 0);
}

static void
put_rec(struct u_path *u, struct comch_rec rec)
{
	put(u, &rec, sizeof(rec));
}

static void
post_n(struct u_path *u, uint32_t n, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		T_EQ(u_post(u, i * len, len, i), 1);
}

static void
expect(struct u_path *u, uint64_t cookie, uint32_t len, uint16_t copies)
{
	struct rte_comch_cpl cpl;

	T_AWAIT(u_recv(u, &cpl, 1) == 1);
	T_EQ(cpl.cookie, cookie);
	T_EQ(cpl.status, 0);
	T_EQ(cpl.len, len);
	T_EQ(cpl.peer_id, 3);
	T_EQ(cpl.copies, copies);
}

static int
first_fault(const struct u_path *u)
{
	return u->side[0].fault != 0 ? u->side[0].fault : u->side[1].fault;
}

/*
 * What was sent last must end the link. Messages before it are received, and each posted
 * buffer comes back once.
 */
static void
refused(struct u_path *u, uint32_t posted, uint32_t good)
{
	struct rte_comch_cpl cpl;
	uint32_t i, ok = 0;

	for (i = 0; i < posted; i++) {
		T_AWAIT(u_recv(u, &cpl, 1) == 1);
		T_EQ(cpl.cookie, i);
		ok += cpl.status == 0;
		if (cpl.status != 0)
			T_EQ(cpl.status, -ECANCELED);
	}
	T_EQ(ok, good);
	T_AWAIT((u_recv(u, &cpl, 1), first_fault(u) != 0));
	T_EQ(first_fault(u), -EPROTO);
	T_CHECK(mlx5_data_ops.cons_drained(u->cons));
}

/* Several records in a message, with payloads at odd lengths. */
RECV_CASE(records_share_a_message)
{
	struct comch_rec a = rec_of(1, MLX5_REC_EAGER, 3, 5);
	struct comch_rec b = rec_of(4, COMCH_REC_DIRECT, 2, 0);
	struct comch_rec c = rec_of(6, MLX5_REC_EAGER, 1, 13);
	struct rte_comch_consumer_stats *st = u->cons->stats;
	struct msg m = { .len = 0 };
	uint32_t i;

	post_n(u, 7, 64);
	add(&m, &a, 3, 5, 10);
	m.len = RTE_ALIGN_CEIL(m.len, (uint32_t)MLX5_EAGER_ALIGN);
	add(&m, &b, 0, 0, 0);
	c.head.imm_len = 4;
	memcpy(c.imm, "imm", 4);
	add(&m, &c, 1, 13, 77);
	put(u, m.data, m.len);
	for (i = 0; i < 3; i++) {
		expect(u, i, 5, 1);
		T_EQ(u->mr[0].addr[i * 64], 10 + i);
		T_EQ(u->mr[0].addr[i * 64 + 4], 10 + i);
		T_EQ(u->mr[0].addr[i * 64 + 5], 0);
	}
	expect(u, 3, 0, 0);
	expect(u, 4, 0, 0);
	expect(u, 5, 13, 1);
	T_EQ(u->mr[0].addr[5 * 64 + 12], 77);
	T_EQ(st->msgs, 6);
	T_EQ(st->copies, 4);
	T_EQ(st->staged, 0);
	T_EQ(st->imm_msgs, 1);
	T_EQ(first_fault(u), 0);
}

/* Refused buffers between posted ones have no position. */
RECV_CASE(eager_payloads_pass_over_refused_buffers)
{
	struct rte_comch_buf bad = { .addr = u->mr[0].addr + U_MEM, .mr = &u->mr[0], .len = 8 };
	struct comch_rec rec = rec_of(1, MLX5_REC_EAGER, 2, 8);
	struct rte_comch_cpl cpl;
	struct msg m = { .len = 0 };
	uint32_t round;

	for (round = 0; round < 3 * DEPTH; round++) {
		bad.cookie = 90;
		T_EQ(u->cons_core.post(u->cons_core.queue, &bad, 1), 1);
		T_EQ(u_post(u, 0, 64, 1), 1);
		T_EQ(u->cons_core.post(u->cons_core.queue, &bad, 1), 1);
		T_EQ(u->cons_core.post(u->cons_core.queue, &bad, 1), 1);
		T_EQ(u_post(u, 64, 64, 2), 1);
		/* Some are returned before the message arrives, which overwrites their entries. */
		if (round % 2 == 0) {
			T_EQ(u_recv(u, &cpl, 1), 1);
			T_EQ(cpl.status, -EFAULT);
		}
		reap_raw(u);
		rec.seq = 2 * round + 1;
		m.len = 0;
		add(&m, &rec, 2, 8, (uint8_t)round);
		put(u, m.data, m.len);
		if (round % 2 != 0) {
			T_AWAIT(u_recv(u, &cpl, 1) == 1);
			T_EQ(cpl.status, -EFAULT);
		}
		expect(u, 1, 8, 1);
		T_EQ(u->mr[0].addr[0], (uint8_t)round);
		T_EQ(u_recv(u, &cpl, 1), 1);
		T_EQ(u_recv(u, &cpl, 1), 1);
		T_EQ(cpl.status, -EFAULT);
		expect(u, 2, 8, 1);
		T_EQ(u->mr[0].addr[64], (uint8_t)(round + 1));
	}
	T_EQ(first_fault(u), 0);
}

/* Pieces in order, records of others in between, then the end of a message given up. */
STAGED_CASE(pieces_and_records_of_others)
{
	const uint32_t most = SLOT - sizeof(struct comch_rec);
	struct comch_rec piece = rec_of(1, MLX5_REC_PIECE, 1, most);
	struct comch_rec eager = rec_of(2, MLX5_REC_EAGER, 1, 7);
	struct rte_comch_consumer_stats *st = u->cons->stats;
	struct msg m = { .len = 0 };
	struct rte_comch_cpl cpl;

	post_n(u, 4, 1024);
	put_rec(u, rec_of(1, COMCH_REC_STAGED, 1, most + 10));
	add(&m, &piece, 1, most, 1);
	put(u, m.data, m.len);
	T_EQ(u_recv(u, &cpl, 1), 0);
	m.len = 0;
	add(&m, &eager, 1, 7, 2);
	put(u, m.data, m.len);
	T_EQ(u_recv(u, &cpl, 1), 0);
	piece.len0 = 10;
	m.len = 0;
	add(&m, &piece, 1, 10, 3);
	put(u, m.data, m.len);
	expect(u, 0, most + 10, 1);
	T_EQ(u->mr[0].addr[most - 1], 1);
	T_EQ(u->mr[0].addr[most], 3);
	T_EQ(u->mr[0].addr[most + 10], 0);
	expect(u, 1, 7, 1);
	T_EQ(u->mr[0].addr[1024], 2);
	T_EQ(st->staged, 1);
	T_EQ(st->copies, 2);
	put_rec(u, rec_of(3, COMCH_REC_STAGED, 1, 100));
	put_rec(u, rec_of(3, COMCH_REC_ABORT, 1, 0));
	T_AWAIT(u_recv(u, &cpl, 1) == 1);
	T_EQ(cpl.status, -ECANCELED);
	put_rec(u, rec_of(4, COMCH_REC_STAGED, 1, 0));
	expect(u, 3, 0, 1);
	T_EQ(first_fault(u), 0);
	T_EQ(cons_of(u)->taken, 3);
}

/* Taken pieces are returned before the window is exhausted. */
STAGED_CASE(pieces_are_returned)
{
	struct comch_rec piece = rec_of(1, MLX5_REC_PIECE, 1, 1);
	const struct mlx5_post_hdr *post;
	const struct ibv_wc *wc;
	struct rte_comch_cpl cpl;
	struct msg m;
	uint32_t i;

	T_EQ(u_post(u, 0, 1024, 0), 1);
	T_AWAIT((wc = mlx5_qp_next(&u->raw)) != NULL);
	put_rec(u, rec_of(1, COMCH_REC_STAGED, 1, 1000));
	for (i = 1; i < 1000; i++) {
		m.len = 0;
		add(&m, &piece, 1, 1, (uint8_t)i);
		put(u, m.data, m.len);
		T_AWAIT((u_recv(u, &cpl, 1), cons_of(u)->taken == i));
		T_EQ(cons_of(u)->taken - cons_of(u)->told_taken, i % 2);
		if (i % 2 != 0)
			continue;
		do {
			T_AWAIT((wc = mlx5_qp_next(&u->raw)) != NULL);
		} while (!mlx5_qp_is_recv(wc));
		post = mlx5_qp_slot(&u->raw, wc);
		T_EQ(wc->byte_len, sizeof(*post));
		T_EQ(post->first, 1);
		T_EQ(post->count, 0);
		T_EQ(post->taken, i);
		mlx5_qp_repost(&u->raw, wc->wr_id);
	}
	T_EQ(first_fault(u), 0);
}

/* Violations of records */

#define BAD_REC(name, ...) \
	RECV_CASE(name) \
	{ \
		struct comch_rec rec = rec_of(1, COMCH_REC_DIRECT, 1, 0); \
		post_n(u, 2, 64); \
		put_rec(u, rec); \
		rec.seq = 2; \
		__VA_ARGS__; \
		put_rec(u, rec); \
		refused(u, 2, 1); \
	}

BAD_REC(record_again, rec.seq = 1)
BAD_REC(record_ahead_of_its_turn, rec.seq = 3)
BAD_REC(record_of_position_0, rec.seq = 0)
BAD_REC(record_of_nothing, rec.head.count = 0)
BAD_REC(record_beyond_the_posts, rec.head.count = 2)
BAD_REC(record_of_many, rec.head.count = 255)
BAD_REC(record_of_an_unknown_kind, rec.head.kind = 5)
BAD_REC(record_too_long_for_the_buffer, rec.len0 = 65)
BAD_REC(record_of_4_gib, rec.len0 = UINT32_MAX)
BAD_REC(too_much_immediate_data, rec.head.imm_len = RTE_COMCH_IMM_SIZE + 1)
BAD_REC(staged_without_a_window, rec.head.kind = COMCH_REC_STAGED; rec.len0 = 8)
BAD_REC(piece_of_nothing_staged, rec.head.kind = MLX5_REC_PIECE; rec.len0 = 8)
BAD_REC(nothing_to_give_up, rec.head.kind = COMCH_REC_ABORT)
BAD_REC(eager_without_payload, rec.head.kind = MLX5_REC_EAGER; rec.len0 = 8)
BAD_REC(eager_of_4_gib, rec.head.kind = MLX5_REC_EAGER; rec.len0 = UINT32_MAX)

RECV_CASE(record_with_nothing_posted)
{
	put_rec(u, rec_of(1, COMCH_REC_DIRECT, 1, 0));
	refused(u, 0, 0);
}

RECV_CASE(eager_of_more_than_a_batch)
{
	struct comch_rec rec = rec_of(1, MLX5_REC_EAGER, COMCH_REC_BATCH + 1, 1);

	post_n(u, 20, 64);
	put_rec(u, rec);
	refused(u, 20, 0);
}

RECV_CASE(eager_too_long_for_the_buffer)
{
	struct comch_rec rec = rec_of(1, MLX5_REC_EAGER, 1, 65);
	struct msg m = { .len = 0 };

	post_n(u, 1, 64);
	add(&m, &rec, 1, 65, 1);
	put(u, m.data, m.len);
	refused(u, 1, 0);
	T_EQ(u->mr[0].addr[0], 0);
}

/* Lengths of messages. */
RECV_CASE(message_of_odd_length)
{
	static const uint32_t lens[] = { 0, 1, 63, 65, 127 };
	uint8_t data[128] = { 0 };
	struct comch_rec rec = rec_of(1, COMCH_REC_DIRECT, 1, 0);
	uint32_t i;

	memcpy(data, &rec, sizeof(rec));
	for (i = 0; i < RTE_DIM(lens); i++) {
		if (i > 0) {
			u_path_down(u);
			u_path_close(u);
			u_path_open(u, &raw_conf);
		}
		post_n(u, 4, 64);
		put(u, data, lens[i]);
		refused(u, 4, lens[i] > 64);
	}
}

/* Longer than a slot: this end's device refuses it. */
RECV_CASE(message_longer_than_a_slot)
{
	uint8_t data[SLOT + 8] = { 0 };
	struct rte_comch_cpl cpl;

	post_n(u, 2, 64);
	put(u, data, sizeof(data));
	T_AWAIT((u_recv(u, &cpl, 1), first_fault(u) != 0));
	T_EQ(first_fault(u), -EPROTO);
	/* The buffers come back once the connection halts the consumer. */
	T_EQ(u_recv(u, &cpl, 1), 0);
	mlx5_data_ops.cons_halt(u->cons, RTE_COMCH_HALT_DOWN);
	T_AWAIT((u_recv(u, &cpl, 1), mlx5_data_ops.cons_drained(u->cons)));
}

/* It takes a slot as a SEND does, but writes nothing there. */
RECV_CASE(write_with_immediate_value)
{
	struct comch_rec rec = rec_of(1, COMCH_REC_DIRECT, 1, 0);
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .wr_id = 1,
	};

	post_n(u, 3, 64);
	put_rec(u, rec);
	T_EQ(mlx5_verbs->post_send(u->raw.qp, &wr, &bad), 0);
	refused(u, 3, 1);
}

/* Violations of pieces */

#define BAD_PIECE(name, ...) \
	STAGED_CASE(name) \
	{ \
		struct comch_rec rec = rec_of(1, MLX5_REC_PIECE, 1, 8); \
		struct msg m = { .len = 0 }; \
		uint32_t len = 8; \
		post_n(u, 2, 64); \
		put_rec(u, rec_of(1, COMCH_REC_STAGED, 1, 16)); \
		__VA_ARGS__; \
		add(&m, &rec, 1, len, 1); \
		put(u, m.data, m.len); \
		refused(u, 2, 0); \
		T_EQ(u->mr[0].addr[16], 0); \
	}

BAD_PIECE(piece_of_another_message, rec.seq = 2)
BAD_PIECE(piece_of_no_bytes, rec.len0 = 0; len = 0)
BAD_PIECE(piece_longer_than_its_message, rec.len0 = 9)
BAD_PIECE(piece_longer_than_the_rest, rec.len0 = len = 17)
BAD_PIECE(end_of_another_message, rec.head.kind = COMCH_REC_ABORT; rec.seq = 2)
BAD_PIECE(staged_within_staged, rec.head.kind = COMCH_REC_STAGED; rec.seq = 2)

STAGED_CASE(staged_too_long_for_the_buffer)
{
	post_n(u, 1, 64);
	put_rec(u, rec_of(1, COMCH_REC_STAGED, 1, 65));
	refused(u, 1, 0);
}

STAGED_CASE(direct_to_memory_that_is_not_shown)
{
	post_n(u, 1, 64);
	put_rec(u, rec_of(1, COMCH_REC_DIRECT, 1, 1));
	refused(u, 1, 0);
}

/* A flood of valid pieces beyond the window does not hold up a burst. */
STAGED_CASE(flood_of_pieces)
{
	struct comch_rec piece = rec_of(1, MLX5_REC_PIECE, 1, 1);
	const uint32_t slots = cons_of(u)->qp.conf.nb_rx;
	struct msg m = { .len = 0 };
	struct rte_comch_cpl cpl;
	uint32_t i, before;

	post_n(u, 1, 64 * 1024);
	put_rec(u, rec_of(1, COMCH_REC_STAGED, 1, 64 * 1024));
	T_EQ(u_recv(u, &cpl, 1), 0);
	add(&m, &piece, 1, 1, 1);
	for (i = 0; i < slots - 1; i++)
		put(u, m.data, m.len);
	before = cons_of(u)->taken;
	T_EQ(u_recv(u, &cpl, 1), 0);
	T_LE(cons_of(u)->taken - before, slots);
	T_AWAIT((u_recv(u, &cpl, 1), cons_of(u)->taken == slots - 1));
	T_EQ(first_fault(u), 0);
}

/* Posts */

/* One message for 32 buffers, one doorbell for a burst, few completions. */
RECV_CASE(posts_share_work_requests)
{
	struct mlx5_qp_stats *st = &cons_of(u)->qp.stats;
	struct rte_comch_buf bufs[DEPTH];
	struct rte_comch_cpl cpl;
	uint32_t i;

	for (i = 0; i < DEPTH; i++)
		bufs[i] = (struct rte_comch_buf){ .cookie = i };
	T_EQ(u->cons_core.post(u->cons_core.queue, bufs, DEPTH), DEPTH);
	T_EQ(st->sends, DEPTH / MLX5_POST_MAX);
	T_EQ(st->doorbells, 1);
	/* Alone: a work request each. */
	for (i = 0; i < 320; i++) {
		put_rec(u, rec_of(i + 1, COMCH_REC_DIRECT, 1, 0));
		expect(u, i % DEPTH, 0, 0);
		bufs[0].cookie = i % DEPTH;
		T_EQ(u->cons_core.post(u->cons_core.queue, bufs, 1), 1);
		reap_raw(u);
	}
	T_EQ(st->sends, DEPTH / MLX5_POST_MAX + 320);
	T_LE(st->signalled, 320 / MLX5_CONS_SIGNAL + 1);
	T_EQ(u_recv(u, &cpl, 1), 0);
}

/*
 * Acknowledgements are lost while messages arrive: posts go on, as long as messages are
 * delivered, and messages wait at last. The ring of work requests is never exceeded.
 */
RECV_CASE(late_acknowledgements_hold_up_messages)
{
	struct mlx5_cons *c = cons_of(u);
	struct rte_comch_cpl cpl;
	uint32_t i, n = 0;

	post_n(u, DEPTH, 0);
	for (i = 0; i < 4 * DEPTH; i++) {
		/* As if the completions of posts had not come. */
		while (mlx5_qp_next(&c->qp) != NULL)
			;
		put_rec(u, rec_of(i + 1, COMCH_REC_DIRECT, 1, 0));
		reap_raw(u);
		c->qp.tx_head = 0;
		if (u_recv(u, &cpl, 1) == 1) {
			n++;
			T_EQ(u_post(u, 0, 0, 0), 1);
		}
		T_LE(c->qp.tx_tail, c->qp.conf.nb_tx);
		if (n < i)
			break;
	}
	T_EQ(n, MLX5_CONS_TX_SPARE);
	T_EQ(c->qp.tx_tail, c->qp.conf.nb_tx);
	/* They come. */
	c->qp.tx_head = c->qp.tx_tail;
	T_AWAIT(u_recv(u, &cpl, 1) == 1);
	T_EQ(first_fault(u), 0);
}

/* Stop */

/* What arrived is received, and the rest of the buffers comes back. */
RECV_CASE(stop_receives_what_arrived)
{
	struct rte_comch_cpl cpl;
	uint64_t final = 99;
	uint32_t i;

	post_n(u, 10, 64);
	for (i = 0; i < 4; i++)
		put_rec(u, rec_of(i + 1, COMCH_REC_DIRECT, 1, 0));
	T_AWAIT((mlx5_qp_next(&u->raw), u->raw.tx_head == u->raw.tx_tail));
	T_CHECK(!mlx5_data_has_halted(&u->side[0].link));
	mlx5_data_ops.cons_halt(u->cons, RTE_COMCH_HALT_STOP);
	T_CHECK(mlx5_data_has_halted(&u->side[0].link));
	for (i = 0; i < 10; i++) {
		T_AWAIT(u_recv(u, &cpl, 1) == 1);
		T_EQ(cpl.cookie, i);
		T_EQ(cpl.status, i < 4 ? 0 : -ECANCELED);
	}
	T_CHECK(mlx5_data_ops.cons_drained(u->cons));
	T_CHECK(mlx5_data_ops.cons_retire(u->cons, &final));
	T_EQ(final, 4);
	T_EQ(first_fault(u), 0);
}

/* A message without its last piece was not received, nor were those behind it. */
STAGED_CASE(stop_within_a_message)
{
	struct comch_rec eager = rec_of(3, MLX5_REC_EAGER, 1, 7);
	struct comch_rec piece = rec_of(2, MLX5_REC_PIECE, 1, 8);
	struct msg m = { .len = 0 };
	struct rte_comch_cpl cpl;
	uint64_t final = 99;
	uint32_t i;

	post_n(u, 5, 64);
	put_rec(u, rec_of(1, COMCH_REC_DIRECT, 1, 0));
	put_rec(u, rec_of(2, COMCH_REC_STAGED, 1, 16));
	add(&m, &piece, 1, 8, 1);
	put(u, m.data, m.len);
	m.len = 0;
	add(&m, &eager, 1, 7, 2);
	put(u, m.data, m.len);
	mlx5_data_ops.cons_halt(u->cons, RTE_COMCH_HALT_STOP);
	for (i = 0; i < 5; i++) {
		T_AWAIT(u_recv(u, &cpl, 1) == 1);
		T_EQ(cpl.cookie, i);
		T_EQ(cpl.status, i < 1 ? 0 : -ECANCELED);
	}
	T_CHECK(mlx5_data_ops.cons_retire(u->cons, &final));
	T_EQ(final, 1);
}

RECV_CASE(stop_with_nothing_posted)
{
	struct mlx5_halted halted[2];
	uint64_t final = 99;

	mlx5_data_ops.cons_halt(u->cons, RTE_COMCH_HALT_STOP);
	T_CHECK(mlx5_data_ops.cons_drained(u->cons));
	T_CHECK(mlx5_data_ops.cons_retire(u->cons, &final));
	T_EQ(final, 0);
	/* The peer is told even now. */
	T_EQ(mlx5_data_halted(&u->side[0].link, halted, 2), 1);
	T_EQ(halted[0].consumer, U_CONS_ID);
	T_CHECK(!mlx5_data_has_halted(&u->side[0].link));
	T_EQ(mlx5_data_halted(&u->side[0].link, halted, 2), 0);
}

/* Frames wait for posts, each announced once. */
RECV_CASE(needs_are_told_once)
{
	struct mlx5_link *l = &u->side[0].link;
	struct mlx5_need need[2];

	T_EQ(mlx5_data_needs(l, need, 2), 0);
	post_n(u, 3, 64);
	T_EQ(mlx5_data_needs(l, need, 0), 0);
	T_EQ(mlx5_data_needs(l, need, 2), 1);
	T_EQ(need[0].consumer, U_CONS_ID);
	T_EQ(need[0].tail, 3);
	T_EQ(mlx5_data_needs(l, need, 2), 0);
	post_n(u, 1, 64);
	T_EQ(mlx5_data_needs(l, need, 2), 1);
	T_EQ(need[0].tail, 4);
	post_n(u, 1, 64);
	mlx5_data_ops.cons_halt(u->cons, RTE_COMCH_HALT_STOP);
	T_EQ(mlx5_data_needs(l, need, 2), 0);
}

/* Tickets of the sending end. */
RECV_CASE(tickets_are_checked)
{
	struct mlx5_qp_ticket t, good = {
		.magic = MLX5_MAGIC, .version = MLX5_WIRE_VERSION, .mtu = IBV_MTU_1024,
		.qpn = 77, .psn = 5, .slot_size = MLX5_POST_SLOT, .nb_slots = DEPTH,
	};
	struct rte_comch_ticket peers = { .len = sizeof(t) };

#define BAD(member, value) \
	do { \
		t = good; \
		t.member = (value); \
		memcpy(peers.data, &t, sizeof(t)); \
		T_EQ(mlx5_data_ops.cons_bind(u->cons, &peers), -EPROTO); \
	} while (0)
	BAD(magic, 1);
	BAD(version, 0);
	BAD(mtu, 0);
	BAD(mtu, 6);
	BAD(qpn, 0);
	BAD(qpn, 1);
	BAD(qpn, 1u << 24);
	BAD(psn, 1u << 24);
	BAD(slot_size, MLX5_POST_SLOT - 1);
	BAD(nb_slots, DEPTH - 1);
	memcpy(peers.data, &good, sizeof(good));
	peers.len--;
	T_EQ(mlx5_data_ops.cons_bind(u->cons, &peers), -EPROTO);
}
