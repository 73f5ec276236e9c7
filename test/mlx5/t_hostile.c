/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A raw verbs peer: the host's end posts what its driver never would, and the DPU's ends
 * the connection with a reason, and serves the next. On fake verbs; on a real device if
 * T_REP_ADDR says where the host is, "@10.0.0.2", and T_KEYS_DPU and T_KEYS_HOST have
 * the keys of the devices (see t_pair.h).
 */

#include <stdlib.h>

#include "fv.h"
#include "mlx5_layout.h"
#include "raw.h"
#include "t_main.h"
#include "t_pair.h"

static const char *rep_addr;

static void
add_rep_addr(char *buf, size_t size, const char *args)
{
	t_args_rep_addr(buf, size, args, rep_addr);
}

static const struct t_driver driver = {
	.name = "comch_mlx5",
	.args = add_rep_addr,
	.has_dir = true,
	.wakes_itself = true,
	.shows_heap = true,
};

static void
begin(struct t_pair *p)
{
	bool is_real;

	rep_addr = getenv("T_REP_ADDR");
	is_real = rep_addr != NULL;
	if (!is_real) {
		rep_addr = "@10.0.1.1";
		setenv("T_KEYS_DPU", "dev=fv0,gid=6", 1);
		setenv("T_KEYS_HOST", "dev=fv1,peer=10.0.0.1,gid=4", 1);
		setenv("T_KEYS", "dead_ms=800", 1);
	}
	t_eal_start(1);
	t_driver = &driver;
	raw_open(is_real ? mlx5_verbs : &fv_glue);
	memset(p, 0, sizeof(*p));
}

static void
end(struct t_pair *p)
{
	if (p->dpu != NULL)
		t_pair_close(p);
	T_EQ(rte_comch_dev_count(), 0);
	T_EQ(fv_nb_live(FV_ALL), 0);
}

#define HOSTILE_CASE(name) T_CASE_OF(struct t_pair, begin, end, name, p)

/* The DPU's end hears why. */
static const struct t_ev *
victim_ends(struct t_pair *p, int status)
{
	const struct t_ev *ev;

	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	ev = t_find(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL, 0);
	printf("   %s\n", ev->text);
	T_EQ(ev->e.status, status);
	T_CHECK(ev->text[0] != '\0');
	return ev;
}

/* The next connection, and a message over it. */
static void
serves_again(struct t_pair *p)
{
	t_pair_disconnect(p);
	t_forget(p->dpu);
	t_forget(p->host);
	t_pair_connect(p);
	t_send(p->cconn, "again", 5, 1);
	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_MSG, NULL) == 1);
}

/* Control messages of odd lengths, of wrong counts, beyond what was granted. */
HOSTILE_CASE(control_messages)
{
	static const struct {
		struct mlx5_ctrl_hdr hdr;
		uint32_t len;
	} bad[] = {
		{ { .frame_len = 0 }, 8 },
		{ { .frame_len = 0 }, 0 },
		{ { .nb_need = MLX5_MAX_NEED + 1 }, 48 },
		{ { .nb_need = 3 }, 48 },
		{ { .nb_halted = MLX5_MAX_HALTED + 1 }, 48 },
		{ { .nb_halted = 5 }, 48 },
		{ { .returned = 1000 }, 16 },
		{ { .returned = UINT32_MAX }, 16 },
		{ { .frame_len = 0 }, 17 },
		{ { .fragment = 1 }, 16 },
		{ { .frame_len = 100, .fragment = 1 }, 48 },
		{ { .frame_len = 15 }, 31 },
		{ { .frame_len = 1 << 20 }, 48 },
		{ { .frame_len = UINT32_MAX }, 48 },
		{ { .frame_len = 16 }, 48 },
		{ { .frame_len = 100 }, 16 },
	};
	uint8_t msg[64] = { 0 };
	unsigned int i;

	t_pair_ends(p, NULL);
	for (i = 0; i < RTE_DIM(bad); i++) {
		t_forget(p->dpu);
		t_pair_connect(p);
		memcpy(msg, &bad[i].hdr, sizeof(bad[i].hdr));
		raw_send(raw_ctrl_qp(), msg, bad[i].len);
		T_STR_HAS(victim_ends(p, -EPROTO)->text, "invalid control message from peer");
		T_UNTIL(rte_comch_client_state(p->client) == RTE_COMCH_STATE_IDLE);
	}
	/* Fragments of two frames. */
	t_forget(p->dpu);
	t_pair_connect(p);
	memcpy(msg, &(struct mlx5_ctrl_hdr){ .frame_len = 100 }, 16);
	raw_send(raw_ctrl_qp(), msg, 48);
	t_settle();
	t_no_end(p->dpu, NULL);
	memcpy(msg, &(struct mlx5_ctrl_hdr){ .frame_len = 99, .fragment = 1 }, 16);
	raw_send(raw_ctrl_qp(), msg, 48);
	victim_ends(p, -EPROTO);
	serves_again(p);
}

/* Far more messages than there are slots: others are served meanwhile. */
HOSTILE_CASE(flood_of_control_messages)
{
	const struct mlx5_ctrl_hdr hdr = { .frame_len = 0 };
	struct rte_comch_client *other;
	struct ibv_qp *qp;
	unsigned int i;

	t_pair_open(p, NULL);
	qp = raw_ctrl_qp();
	other = t_client_new(p->host, p->host_dev, T_NAME, NULL);
	T_EQ(rte_comch_client_start(other), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(other) == RTE_COMCH_STATE_RUNNING);
	t_forget(p->dpu);
	for (i = 0; i < 100; i++)
		raw_send(qp, &hdr, sizeof(hdr));
	t_send(rte_comch_client_conn(other), "other", 5, 1);
	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_MSG, NULL) == 1);
	t_client_end(other);
	serves_again(p);
}

/* Slots are returned, and not posted: sends find none for ever. */
HOSTILE_CASE(no_receives_of_control_messages)
{
	t_pair_open(p, NULL);
	raw_mute(raw_ctrl_qp());
	T_UNTIL((t_offer(p->sconn, "x", 1, 1, 0),
		t_count(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1));
	victim_ends(p, -ETIMEDOUT);
	serves_again(p);
}

/* Close a flow whose connection is over. */
static void
flow_is_over(struct t_pair *p, struct t_flow *f)
{
	t_flow_close(f);
	T_UNTIL(rte_comch_client_state(p->client) == RTE_COMCH_STATE_IDLE);
	t_forget(p->dpu);
}

/* Records of odd lengths, of wrong sequence, of counts and kinds that are not. */
HOSTILE_CASE(records)
{
	static const struct {
		struct comch_rec rec;
		uint32_t len;
	} bad[] = {
		{ { .seq = 1, .head.count = 1 }, 0 },
		{ { .seq = 1, .head.count = 1 }, 1 },
		{ { .seq = 1, .head.count = 1 }, 63 },
		{ { .seq = 1, .head.count = 1 }, 65 },
		{ { .seq = 0, .head.count = 1 }, 64 },
		{ { .seq = 2, .head.count = 1 }, 64 },
		{ { .seq = UINT64_MAX, .head.count = 1 }, 64 },
		{ { .seq = 1, .head.count = 0 }, 64 },
		{ { .seq = 1, .head.count = 4 }, 64 },
		{ { .seq = 1, .head.count = 255 }, 64 },
		{ { .seq = 1, .head.count = 1, .head.kind = 9 }, 64 },
		{ { .seq = 1, .head.count = 1, .len = { 4097 } }, 64 },
		{ { .seq = 1, .head.count = 1, .len = { UINT32_MAX } }, 64 },
		{ { .seq = 1, .head.count = 1, .head.kind = MLX5_REC_EAGER, .len = { 9 } }, 72 },
		{ { .seq = 1, .head.count = 1, .head.kind = MLX5_REC_EAGER, .len = { 4097 } },
			256 },
		{ { .seq = 1, .head.count = 1, .head.kind = COMCH_REC_STAGED, .len = { 9 } }, 64 },
		{ { .seq = 1, .head.count = 1, .head.kind = MLX5_REC_PIECE, .len = { 9 } }, 80 },
		{ { .seq = 1, .head.count = 1, .head.kind = COMCH_REC_ABORT }, 64 },
	};
	struct rte_comch_cpl cpl;
	uint8_t msg[256] = { 0 };
	struct t_flow f;
	unsigned int i;

	t_pair_ends(p, NULL);
	for (i = 0; i < RTE_DIM(bad); i++) {
		t_pair_connect(p);
		t_flow_open(&f, p, NULL);
		T_EQ(t_post(&f, 0, 4096, 1), 1);
		T_EQ(t_post(&f, 4096, 4096, 2), 1);
		memcpy(msg, &bad[i].rec, sizeof(bad[i].rec));
		raw_send(raw_data_qp(), msg, bad[i].len);
		T_UNTIL((rte_comch_consumer_recv_burst(f.cons, &cpl, 1),
			t_count(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1));
		victim_ends(p, -EPROTO);
		flow_is_over(p, &f);
	}
	serves_again(p);
}

/* A record longer than a slot. */
HOSTILE_CASE(record_beyond_slot)
{
	static const uint8_t msg[8192];
	struct rte_comch_cpl cpl;
	struct t_flow f;

	t_pair_open(p, NULL);
	t_flow_open(&f, p, NULL);
	T_EQ(t_post(&f, 0, 4096, 1), 1);
	raw_send(raw_data_qp(), msg, sizeof(msg));
	T_UNTIL((rte_comch_consumer_recv_burst(f.cons, &cpl, 1),
		t_count(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1));
	victim_ends(p, -EPROTO);
	flow_is_over(p, &f);
	serves_again(p);
}

/* A producer of the DPU's sends to the host's consumer. */
static void
open_to_host(struct t_pair *p, struct t_flow *f)
{
	const struct t_flow_conf conf = { .to_host = true };

	t_pair_connect(p);
	t_flow_open(f, p, &conf);
}

static void
send_until_over(struct t_pair *p, struct t_flow *f)
{
	struct rte_comch_cpl cpl;

	T_UNTIL((t_put(f, 0, 4096, 1), rte_comch_producer_done_burst(f->prod, &cpl, 1),
		t_count(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1));
}

/* Posts of odd lengths, count 0, out of order, beyond the depth, of foreign memory. */
HOSTILE_CASE(posts)
{
	static const struct {
		struct mlx5_post_hdr hdr;
		struct comch_desc desc;
		uint32_t len;
	} bad[] = {
		{ { .first = 0, .count = 1 }, { .len = 64 }, 0 },
		{ { .first = 0, .count = 1 }, { .len = 64 }, 15 },
		{ { .first = 0, .count = 1 }, { .len = 64 }, 31 },
		{ { .first = 0, .count = 1 }, { .len = 64 }, 33 },
		{ { .first = 0, .count = 0 }, { .len = 0 }, 16 },
		{ { .first = 0, .count = 0, .taken = 1 }, { .len = 0 }, 16 },
		{ { .first = 1, .count = 1 }, { .len = 64 }, 32 },
		{ { .first = UINT64_MAX, .count = 1 }, { .len = 64 }, 32 },
		{ { .first = 0, .count = MLX5_POST_MAX + 1 }, { .len = 64 },
			16 + 16 * (MLX5_POST_MAX + 1) },
		{ { .first = 0, .count = UINT16_MAX }, { .len = 64 }, 32 },
		{ { .first = 0, .count = 1, .taken = UINT32_MAX }, { .len = 64 }, 32 },
		{ { .first = 0, .count = 1 }, { .where = 1 << 20, .len = 4096 }, 32 },
		{ { .first = 0, .count = 1 }, { .where = COMCH_DESC_OFF_MASK, .len = 4096 }, 32 },
		{ { .first = 0, .count = 1 },
			{ .where = UINT64_C(63) << COMCH_DESC_OFF_BITS, .len = 4096 }, 32 },
		{ { .first = 0, .count = 1 }, { .len = UINT32_MAX }, 32 },
	};
	uint8_t msg[1024] = { 0 };
	struct t_flow f;
	unsigned int i;

	t_pair_ends(p, NULL);
	for (i = 0; i < RTE_DIM(bad); i++) {
		open_to_host(p, &f);
		memcpy(msg, &bad[i].hdr, sizeof(bad[i].hdr));
		memcpy(msg + sizeof(bad[i].hdr), &bad[i].desc, sizeof(bad[i].desc));
		raw_send(raw_data_qp(), msg, bad[i].len);
		send_until_over(p, &f);
		victim_ends(p, -EPROTO);
		flow_is_over(p, &f);
	}
	serves_again(p);
}

/* Whole posts, more than the consumer is deep. */
HOSTILE_CASE(posts_beyond_depth)
{
	struct {
		struct mlx5_post_hdr hdr;
		struct comch_desc desc[MLX5_POST_MAX];
	} msg = { .hdr.count = MLX5_POST_MAX };
	struct t_flow f;
	unsigned int i;

	for (i = 0; i < MLX5_POST_MAX; i++)
		msg.desc[i].len = 64;
	t_pair_ends(p, NULL);
	open_to_host(p, &f);
	for (i = 0; i < 40; i++) {
		raw_send(raw_data_qp(), &msg, sizeof(msg));
		msg.hdr.first += MLX5_POST_MAX;
	}
	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	victim_ends(p, -EPROTO);
	flow_is_over(p, &f);
	serves_again(p);
}

/* The consumer's end posts no receives: a message finds none for ever. */
HOSTILE_CASE(no_receives_of_a_consumer)
{
	struct rte_comch_cpl cpl;
	struct t_flow f;
	unsigned int i;

	t_pair_ends(p, NULL);
	open_to_host(p, &f);
	raw_mute(raw_data_qp());
	/* While a message is on its way only the victim looks: the failure is the peer's, too. */
	for (i = 0; t_count(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 0; i++) {
		while (t_put(&f, 0, 64, i) != 1) {
			(void)t_post(&f, 0, 4096, i);
			t_step(p->dpu);
			(void)rte_comch_consumer_recv_burst(f.cons, &cpl, 1);
			t_step(p->host);
		}
		while (rte_comch_producer_done_burst(f.prod, &cpl, 1) == 0)
			t_step(p->dpu);
	}
	victim_ends(p, -ETIMEDOUT);
	flow_is_over(p, &f);
	serves_again(p);
}

/* The key that the peer has told does not open its memory. */
HOSTILE_CASE(wrong_key)
{
	struct rte_comch_cpl cpl;
	struct t_flow f;

	t_pair_ends(p, NULL);
	raw_lie(true);
	open_to_host(p, &f);
	raw_lie(false);
	T_EQ(t_post(&f, 0, 4096, 1), 1);
	t_submit(&f, 0, 4096, 1);
	t_done(f.prod, &cpl);
	T_CHECK(cpl.status < 0);
	victim_ends(p, -EPROTO);
	flow_is_over(p, &f);
	serves_again(p);
}

/* A payload may go where the consumer's memory is, as long as it is shown. */
HOSTILE_CASE(write_after_mr_del)
{
	static const struct t_flow_conf conf = { .kind = RTE_COMCH_MEM_HEAP };
	static const uint8_t evil[64] = "evil";
	struct t_flow f, g;
	uint8_t *target;
	uint32_t rkey;

	t_pair_open(p, NULL);
	t_flow_open(&f, p, &conf);
	target = f.dst.addr + 4096;
	rkey = raw_rkey_of(f.dst.addr);
	raw_write(raw_data_qp(), evil, sizeof(evil), (uintptr_t)target, rkey);
	T_UNTIL(*(volatile uint8_t *)target == evil[0]);
	/* All that used the memory ends, and so does the peer's right to it. */
	t_producer_end(f.prod);
	t_consumer_end(f.cons);
	f.prod = NULL;
	f.cons = NULL;
	T_EQ(rte_comch_mem_unregister(f.dst.mr), 0);
	T_UNTIL(!raw_is_shown(rkey));
	memset(f.dst.addr, 0x11, f.dst.len);
	t_flow_open(&g, p, NULL);
	raw_write(raw_data_qp(), evil, sizeof(evil), (uintptr_t)target, rkey);
	T_UNTIL(raw_failed(IBV_WC_REM_ACCESS_ERR));
	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_DISCONNECTED, NULL) == 1);
	T_EQ(target[0], 0x11);
	flow_is_over(p, &g);
	free(f.dst.addr);
	t_mem_free(&f.src);
	serves_again(p);
}

/* The address that the client has belongs to no function of this server's. */
HOSTILE_CASE(address_of_no_function)
{
	const struct t_ev *ev;

	rep_addr = "@10.99.99.99";
	t_pair_ends(p, NULL);
	T_EQ(rte_comch_client_start(p->client), -EINPROGRESS);
	T_UNTIL(t_state_ev(p->host, p->client) != NULL &&
			rte_comch_client_state(p->client) == RTE_COMCH_STATE_IDLE);
	ev = t_state_ev(p->host, p->client);
	T_EQ(ev->e.status, -EACCES);
	T_STR_HAS(ev->text, "address not listed for the host function (rep=)");
	T_EQ(t_count(p->dpu, RTE_COMCH_EVENT_CONNECT_REQUEST, NULL), 0);
}
