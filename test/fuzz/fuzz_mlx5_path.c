/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The fast path of the driver for RDMA, on fake verbs: a queue pair that sends what the
 * input says stands in for the producers of a consumer, or for the consumer of producers.
 * And the tickets of a peer.
 */

#include <stdlib.h>

#include "fuzz.h"
#include "mlx5_data.h"
#include "u_path.h"

#define DEPTH 32u
#define SLOT 512u
#define BUF 256u
/* Fewer than there are slots: a message that finds none would wait for a timer. */
#define MAX_MESSAGES 24u

enum op {
	OP_RECORD,   /* as a producer could send it, or a little wrong */
	OP_POSTS,    /* the same of a consumer */
	OP_BYTES,
	OP_POST,
	OP_RECEIVE,
	OP_SEND,
	OP_DONE,
	OP_HALT,
	OP_TICKET,
	OP_SLEEP,
	OP_RETIRE,   /* the peer's consumer is gone */
	NB_OPS
};

static struct u_path u;
static struct {
	bool is_consumer;   /* the library's end */
	uint32_t nb_messages;
	uint64_t nb_posted, nb_received, nb_sent, nb_done;
	uint64_t arrived;   /* positions that records covered */
	uint64_t first;     /* positions that were posted */
	bool is_retired;
	uint8_t msg[2 * SLOT];
	uint32_t len;
} s;

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	RTE_SET_USED(argc);
	RTE_SET_USED(argv);
	t_eal_start(1);
	return 0;
}

static void
reap(void)
{
	const struct ibv_wc *wc;

	while ((wc = mlx5_qp_next(&u.raw)) != NULL)
		if (mlx5_qp_is_recv(wc) && wc->status == IBV_WC_SUCCESS)
			mlx5_qp_repost(&u.raw, wc->wr_id);
}

/* Send s.msg. */
static void
put(void)
{
	reap();
	if (s.nb_messages++ == MAX_MESSAGES || u.raw.is_err || mlx5_qp_tx_room(&u.raw) == 0)
		return;
	s.len = RTE_MIN(s.len, u.raw.conf.tx_size);
	memcpy(mlx5_qp_tx_buf(&u.raw), s.msg, s.len);
	mlx5_qp_send(&u.raw, s.len);
	(void)mlx5_qp_flush(&u.raw, true);
	s.len = 0;
}

static void
add_record(struct fuzz_in *in)
{
	const uint8_t how = fuzz_u8(in);
	struct comch_rec rec = {
		.seq = s.arrived + 1,
		.head = { .producer = 3, .kind = fuzz_u8(in) % 6, .count = 1 + (how >> 4) },
	};
	uint32_t i, len = fuzz_u8(in);

	if (s.len + sizeof(rec) > sizeof(s.msg))
		return;
	if (rec.head.count == 1)
		rec.head.imm_len = fuzz_u8(in) % 40;
	for (i = 0; i < COMCH_REC_BATCH; i++)
		rec.len[i] = rec.head.kind == MLX5_REC_EAGER ? len % 16 : len;
	if (rec.head.kind == MLX5_REC_PIECE || rec.head.kind == COMCH_REC_ABORT)
		rec.seq -= fuzz_u8(in) % 4;
	else
		s.arrived += rec.head.count;
	if ((how & 7) == 7)
		((uint8_t *)&rec)[fuzz_u8(in) % sizeof(rec)] = fuzz_u8(in);
	memcpy(s.msg + s.len, &rec, sizeof(rec));
	s.len += sizeof(rec);
	/* Payloads: zeros, which are no record. */
	len = how & 8 ? fuzz_u8(in) : rec.head.kind == MLX5_REC_PIECE ? rec.len0 :
		rec.head.kind == MLX5_REC_EAGER ? rec.head.count * 16u : 0;
	len = RTE_MIN(RTE_ALIGN_CEIL(len, 8u), (uint32_t)sizeof(s.msg) - s.len);
	memset(s.msg + s.len, 0, len);
	s.len += len;
	if ((fuzz_u8(in) & 3) != 0)
		put();
}

static void
add_posts(struct fuzz_in *in)
{
	const uint8_t how = fuzz_u8(in);
	struct {
		struct mlx5_post_hdr hdr;
		struct comch_desc desc[MLX5_POST_MAX + 1];
	} post = { .hdr = { .first = s.first, .count = 1 + how % 8 } };
	static const uint16_t regions[] = {
		0, 0, 0, 0, COMCH_REGION_STAGED, COMCH_REGION_STAGED, COMCH_REGION_NONE, 1,
	};
	uint32_t i;
	uint8_t kind;

	for (i = 0; i < post.hdr.count; i++) {
		kind = fuzz_u8(in);
		post.desc[i].where = (uint64_t)regions[kind & 7] << COMCH_DESC_OFF_BITS;
		post.desc[i].where |= kind & 0x80 ? fuzz_number(in) & COMCH_DESC_OFF_MASK : i * BUF;
		post.desc[i].len = BUF << (kind >> 4) % 4;
	}
	if (how & 0x40)
		post.hdr.taken = fuzz_u8(in) % 4;
	s.first += post.hdr.count;
	s.len = (uint32_t)(sizeof(post.hdr) + post.hdr.count * sizeof(post.desc[0]));
	if ((how & 0x38) == 0x38)
		((uint8_t *)&post)[fuzz_u8(in) % sizeof(post)] = fuzz_u8(in);
	memcpy(s.msg, &post, sizeof(post));
	put();
}

static void
post(struct fuzz_in *in)
{
	const uint8_t how = fuzz_u8(in);
	uint32_t i;

	for (i = 0; i < 1u + how % 4 && u.cons != NULL; i++)
		s.nb_posted += u_post(&u, (uint32_t)(s.nb_posted % DEPTH) * BUF,
			how & 0x80 ? 0 : how, s.nb_posted);
}

static void
receive(uint16_t n)
{
	struct rte_comch_cpl cpls[16];
	uint16_t i, got;

	if (u.cons == NULL)
		return;
	got = u_recv(&u, cpls, RTE_MIN(n, RTE_DIM(cpls)));
	for (i = 0; i < got; i++) {
		T_EQ(cpls[i].cookie, s.nb_received + i);
		T_LE(cpls[i].status, 0);
		T_LE(cpls[i].len, BUF);
		T_LE(cpls[i].imm_len, RTE_COMCH_IMM_SIZE);
	}
	s.nb_received += got;
	T_LE(s.nb_received, s.nb_posted);
}

static void
send_some(struct fuzz_in *in)
{
	const uint8_t how = fuzz_u8(in);
	struct rte_comch_op op = u_op(&u, 0, how & 0x80 ? 8u * how : how, s.nb_sent);

	s.nb_sent += u_send(&u, 0, &op, 1);
	mlx5_data_check(&u.side[1].link, t_now_ms());
}

static void
done(void)
{
	struct rte_comch_cpl cpls[16];

	s.nb_done += u_done(&u, 0, cpls, RTE_DIM(cpls));
	T_LE(s.nb_done, s.nb_sent);
}

/* The ticket of another consumer of the peer, and one of memory. */
static void
ticket(struct fuzz_in *in)
{
	const struct rte_comch_remote_args args = {
		.id = U_CONS_ID + 1, .depth = 4, .imm_size = RTE_COMCH_IMM_SIZE,
		.imports = u.imports, .staging_size = fuzz_u8(in) & 1 ? 1024 : 0,
	};
	struct rte_comch_ticket theirs = { 0 }, mine = { 0 };
	struct mlx5_qp_ticket t = {
		.magic = MLX5_MAGIC, .version = MLX5_WIRE_VERSION, .mtu = IBV_MTU_1024,
		.qpn = 77, .slot_size = SLOT, .nb_slots = 64, .nb_pieces = args.staging_size / 256,
	};
	struct rte_comch_link *link = &u.side[1].link.base;
	struct rte_comch_mem_desc desc = { .len = fuzz_number(in) };
	struct rte_comch_region region = { 0 };
	struct rte_comch_remote *remote;
	int ret;

	if (fuzz_u8(in) & 1)
		((uint8_t *)&t)[fuzz_u8(in) % sizeof(t)] = fuzz_u8(in);
	memcpy(theirs.data, &t, sizeof(t));
	theirs.len = sizeof(t);
	ret = u_late(mlx5_data_ops.remote_create(link, &args, &theirs, &mine, &remote));
	if (ret == 0) {
		T_EQ(mine.len, sizeof(t));
		T_AWAIT(mlx5_data_ops.remote_free(link, remote) == 0);
	} else {
		T_LT(ret, 0);
	}
	theirs.len = (uint32_t)fuzz_take(in, theirs.data, fuzz_u8(in) % 32);
	ret = mlx5_data_ops.mem_take(link, &desc, &theirs, &region);
	T_CHECK(ret == -EPROTO || (ret == 0 && region.len == desc.len));
	if (ret == 0)
		mlx5_data_ops.mem_drop(link, &region);
}

static void
sleep_on(struct rte_comch_dq *dq)
{
	mlx5_data_ops.dq_arm(dq);
	(void)mlx5_data_ops.dq_pending(dq);
	mlx5_data_ops.dq_clear(dq);
}

static void
retire(uint64_t final)
{
	if (s.is_retired)
		return;
	s.is_retired = true;
	comch_dir_remove(&u.dir, U_CONS_ID);
	mlx5_data_ops.remote_retire(u.remote, final);
}

static void
step(struct fuzz_in *in)
{
	switch ((enum op)(fuzz_u8(in) % NB_OPS)) {
	case OP_RECORD:
		if (s.is_consumer)
			add_record(in);
		break;
	case OP_POSTS:
		if (!s.is_consumer)
			add_posts(in);
		break;
	case OP_BYTES:
		s.len = (uint32_t)fuzz_take(in, s.msg, fuzz_u8(in));
		put();
		break;
	case OP_POST:
		post(in);
		break;
	case OP_RECEIVE:
		receive(1 + fuzz_u8(in) % 16);
		break;
	case OP_SEND:
		if (!s.is_consumer)
			send_some(in);
		break;
	case OP_DONE:
		done();
		break;
	case OP_HALT:
		if (s.is_consumer)
			mlx5_data_ops.cons_halt(u.cons, RTE_COMCH_HALT_STOP);
		break;
	case OP_SLEEP:
		sleep_on(u.cons != NULL ? u.cons : u.prod[0]);
		break;
	case OP_RETIRE:
		if (!s.is_consumer)
			retire(fuzz_u8(in));
		break;
	default:
		if (!s.is_consumer)
			ticket(in);
		break;
	}
}

/* The connection ends: all that was posted comes back. */
static void
end(void)
{
	const struct t_wait wait = t_wait_begin(__FILE__, __LINE__, "all came back");

	u_path_down(&u);
	if (u.cons != NULL)
		mlx5_data_ops.cons_halt(u.cons, RTE_COMCH_HALT_DOWN);
	while (s.nb_received < s.nb_posted || s.nb_done < s.nb_sent) {
		t_wait_check(&wait);
		receive(16);
		done();
	}
	u_path_close(&u);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };
	const uint8_t how = fuzz_u8(&in);
	const bool is_staged = (how & 2) != 0;
	const struct u_path_conf conf = {
		.depth = DEPTH, .slot = SLOT, .hides_memory = is_staged,
		.staging_size = is_staged ? 4 * (SLOT - sizeof(struct comch_rec)) : 0,
		.no_remote = how & 1, .no_consumer = !(how & 1),
	};

	memset(&s, 0, sizeof(s));
	s.is_consumer = how & 1;
	u_path_open(&u, &conf);
	while (in.left > 0)
		step(&in);
	end();
	return 0;
}
