/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Tickets and posts of a hostile peer, which has a queue pair and no consumer. */

#include "u_path.h"

/* Send a post of count descriptors, or of len bytes if that is not 0. */
static void
post(struct u_path *u, const struct mlx5_post_hdr *hdr, uint32_t len)
{
	uint8_t *buf;

	T_AWAIT((mlx5_qp_next(&u->raw), mlx5_qp_tx_room(&u->raw) > 0));
	buf = mlx5_qp_tx_buf(&u->raw);
	memset(buf, 0, u->raw.conf.tx_size);
	memcpy(buf, hdr, sizeof(*hdr));
	if (len == 0)
		len = sizeof(*hdr) + hdr->count * sizeof(struct comch_desc);
	mlx5_qp_send(&u->raw, len);
	T_EQ(mlx5_qp_flush(&u->raw, true), 0);
}

static void
step(struct u_path *u)
{
	mlx5_data_check(&u->side[1].link, t_now_ms());
}

static void
begin(struct u_path *u)
{
	t_eal_start(1);
	u_path_open(u, &(struct u_path_conf){ .no_consumer = true, .depth = 64 });
}

static void
end(struct u_path *u)
{
	u_path_down(u);
	u_path_close(u);
	t_eal_stop();
}

/* A post that must end the link. */
static void
refused(struct u_path *u, const struct mlx5_post_hdr *hdr, uint32_t len, const char *text)
{
	post(u, hdr, len);
	T_WAIT(step(u), u->side[1].fault != 0);
	T_EQ(u->side[1].fault, -EPROTO);
	T_STR_HAS(u->side[1].fault_text, text);
}

#define POST_CASE(name) T_CASE_OF(struct u_path, begin, end, name, u)
#define POST(...) (&(struct mlx5_post_hdr){ __VA_ARGS__ })

POST_CASE(valid_posts_are_applied)
{
	struct rte_comch_op op;

	post(u, POST(.first = 0, .count = 32), 0);
	post(u, POST(.first = 32, .count = 32), 0);
	T_WAIT(step(u), u_remote(u)->post->tail == 64);
	T_EQ(u->side[1].fault, 0);
	/* Empty messages fit the empty descriptors; then their positions are posted again. */
	op = u_op(u, 0, 0, 1);
	T_EQ(u_send(u, 0, &op, 1), 1);
	post(u, POST(.first = 64, .count = 1), 0);
	T_WAIT(step(u), u_remote(u)->post->tail == 65);
	refused(u, POST(.first = 65, .count = 1), 0, "depth");
}

POST_CASE(post_shorter_than_its_header)
{
	refused(u, POST(.count = 0), 15, "header");
}

POST_CASE(post_of_no_bytes)
{
	refused(u, POST(.count = 1), 1, "header");
}

POST_CASE(post_of_odd_length)
{
	refused(u, POST(.count = 1), 16 + 17, "length");
}

POST_CASE(post_with_too_few_descriptors)
{
	refused(u, POST(.count = 2), 16 + 16, "length");
}

POST_CASE(post_of_too_many_descriptors)
{
	/* Longer than a slot: the device of this end refuses it. */
	post(u, POST(.count = 33), 0);
	T_WAIT(step(u), u->side[1].fault != 0);
	T_EQ(u->side[1].fault, -EPROTO);
}

POST_CASE(post_of_a_huge_count)
{
	refused(u, POST(.count = UINT16_MAX), 16 + 32 * 16, "length");
}

POST_CASE(post_of_nothing)
{
	refused(u, POST(.count = 0), 0, "empty");
}

POST_CASE(post_ahead_of_its_turn)
{
	refused(u, POST(.first = 1, .count = 1), 0, "follow");
}

POST_CASE(post_again)
{
	post(u, POST(.first = 0, .count = 8), 0);
	refused(u, POST(.first = 0, .count = 8), 0, "follow");
}

POST_CASE(post_beyond_the_depth)
{
	post(u, POST(.first = 0, .count = 32), 0);
	post(u, POST(.first = 32, .count = 31), 0);
	refused(u, POST(.first = 63, .count = 2), 0, "depth");
}

POST_CASE(pieces_that_were_not_sent)
{
	refused(u, POST(.first = 0, .count = 1, .taken = 1), 0, "pieces");
}

POST_CASE(pieces_that_count_back)
{
	refused(u, POST(.first = 0, .count = 1, .taken = UINT32_MAX), 0, "pieces");
}

/* A buffer outside of the memory that the peer shows. */
POST_CASE(descriptor_out_of_range)
{
	struct rte_comch_op op = u_op(u, 0, 8, 1);
	struct rte_comch_cpl cpl;
	struct comch_desc desc = { .where = U_MEM - 4, .len = 8 };
	const struct mlx5_post_hdr hdr = { .count = 1 };
	uint8_t *buf = mlx5_qp_tx_buf(&u->raw);

	memcpy(buf, &hdr, sizeof(hdr));
	memcpy(buf + sizeof(hdr), &desc, sizeof(desc));
	mlx5_qp_send(&u->raw, sizeof(hdr) + sizeof(desc));
	T_EQ(mlx5_qp_flush(&u->raw, true), 0);
	T_AWAIT(u_send(u, 0, &op, 1) == 1);
	T_AWAIT(u_done(u, 0, &cpl, 1) == 1);
	T_EQ(cpl.status, -EPROTO);
	T_EQ(u->side[1].fault, -EPROTO);
}

/* A flood is handled in portions, and ends the link. */
POST_CASE(flood_of_posts)
{
	uint32_t i;

	for (i = 0; i < 60; i++)
		post(u, POST(.first = 5, .count = 1), 0);
	T_WAIT(step(u), u->side[1].fault != 0);
	T_EQ(u->side[1].fault, -EPROTO);
}

/* The final position of a consumer that lies. */
POST_CASE(final_position_out_of_range)
{
	comch_dir_remove(&u->dir, U_CONS_ID);
	mlx5_data_ops.remote_retire(u->remote, 1);
	T_EQ(u->side[1].fault, -EPROTO);
	T_STR_HAS(u->side[1].fault_text, "final position");
}

static int
create(struct u_path *u, const struct mlx5_qp_ticket *t, uint32_t len, uint32_t staging_size)
{
	const struct rte_comch_remote_args args = {
		.id = 9, .depth = 64, .imm_size = 32, .staging_size = staging_size,
		.imports = u->imports,
	};
	struct rte_comch_ticket peers = { .len = len }, mine = { 0 };
	struct rte_comch_remote *remote;
	int ret;

	memcpy(peers.data, t, sizeof(*t));
	ret = u_late(mlx5_data_ops.remote_create(&u->side[1].link.base, &args, &peers, &mine,
		&remote));
	if (ret == 0)
		T_EQ(mlx5_data_ops.remote_free(&u->side[1].link.base, remote), 0);
	return ret;
}

POST_CASE(tickets_are_checked)
{
	const struct mlx5_qp_ticket good = {
		.magic = MLX5_MAGIC, .version = MLX5_WIRE_VERSION, .mtu = IBV_MTU_1024,
		.qpn = 77, .psn = 5, .slot_size = 512, .nb_slots = 64 + 16 + 4, .nb_pieces = 4,
	};
	struct mlx5_qp_ticket t = good;
	unsigned int live = fv_nb_live(FV_ALL);

	T_EQ(create(u, &good, sizeof(t), 4096), 0);
#define BAD(member, value) \
	do { \
		t = good; \
		t.member = (value); \
		T_EQ(create(u, &t, sizeof(t), 4096), -EPROTO); \
	} while (0)
	BAD(magic, 0);
	BAD(version, 2);
	BAD(mtu, 0);
	BAD(mtu, 6);
	BAD(qpn, 0);
	BAD(qpn, 1);
	BAD(qpn, 1u << 24);
	BAD(psn, 1u << 24);
	BAD(slot_size, 255);
	BAD(slot_size, 4097);
	BAD(slot_size, UINT32_MAX);
	BAD(nb_slots, 83);
	BAD(nb_slots, 0);
	BAD(nb_pieces, 0);
	BAD(nb_pieces, 5);
	BAD(nb_pieces, UINT32_MAX);
	T_EQ(create(u, &good, sizeof(t) - 1, 4096), -EPROTO);
	T_EQ(create(u, &good, 0, 4096), -EPROTO);
	/* Pieces without a staging ring. */
	T_EQ(create(u, &good, sizeof(t), 0), -EPROTO);
	/* More slots than the device has. */
	t = good;
	t.nb_pieces = 100000;
	t.nb_slots = 200000;
	T_EQ(create(u, &t, sizeof(t), 1 << 20), -EDQUOT);
	T_AWAIT(fv_nb_live(FV_ALL) == live);
}

/* The peer chooses the sizes, and many consumers: all of them together are limited. */
POST_CASE(staging_is_limited)
{
	const struct mlx5_qp_ticket good = {
		.magic = MLX5_MAGIC, .version = MLX5_WIRE_VERSION, .mtu = IBV_MTU_1024,
		.qpn = 77, .psn = 5, .slot_size = 512, .nb_slots = 64 + 16 + 4, .nb_pieces = 4,
	};
	struct u_side *s = &u->side[1];
	struct rte_comch_dev_info *info = &s->cdev.info;
	const uint64_t used = s->staged;

	/* Of the path's own remote: at least its slots. */
	T_GT(used, 64 * MLX5_POST_SLOT);
	info->max_staging = used + 84 * MLX5_POST_SLOT;
	T_EQ(create(u, &good, sizeof(good), 4096), -EDQUOT);
	T_EQ(s->staged, used);
	info->max_staging = used + 100000;
	T_EQ(create(u, &good, sizeof(good), 4096), 0);
	info->total_staging = used + 84 * MLX5_POST_SLOT;
	T_EQ(create(u, &good, sizeof(good), 4096), -EDQUOT);
	T_EQ(s->staged, used);
	info->total_staging = used + 100000;
	T_EQ(create(u, &good, sizeof(good), 4096), 0);
	T_EQ(s->staged, used);
}

POST_CASE(creation_fails_clean)
{
	const struct mlx5_qp_ticket good = {
		.magic = MLX5_MAGIC, .version = MLX5_WIRE_VERSION, .mtu = IBV_MTU_1024,
		.qpn = 77, .psn = 5, .slot_size = 512, .nb_slots = 64 + 16,
	};
	static const enum fv_call calls[] = {
		FV_CALL_REG_MR, FV_CALL_CREATE_CQ, FV_CALL_CREATE_QP, FV_CALL_MODIFY_QP,
		FV_CALL_POST_RECV,
	};
	unsigned int i, live = fv_nb_live(FV_ALL);

	for (i = 0; i < RTE_DIM(calls); i++) {
		fv_fail_call(calls[i], 0, ENOMEM);
		T_EQ(create(u, &good, sizeof(good), 0), -ENOMEM);
		T_AWAIT(fv_nb_live(FV_ALL) == live);
	}
}
