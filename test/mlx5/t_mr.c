/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Memory of the driver for RDMA: showing, taking, revoking, and keys to send with. */

#include "u_path.h"

static void
begin(struct u_path *u)
{
	t_eal_start(1);
	u_path_open(u, &(struct u_path_conf){ 0 });
}

static void
end(struct u_path *u)
{
	u_path_close(u);
	t_eal_stop();
}

#define MR_CASE(name) T_CASE_OF(struct u_path, begin, end, name, u)

static struct mlx5_data *
sender(struct u_path *u)
{
	return mlx5_data_of(&u->side[1].link);
}

MR_CASE(tickets_are_checked)
{
	const struct mlx5_mem_ticket good = {
		.magic = MLX5_MAGIC, .rkey = 5, .addr = UINT64_C(0xdead0000), .len = 4096,
	};
	struct rte_comch_mem_desc desc = { .len = 4096, .fd = -1 };
	struct rte_comch_link *link = &u->side[1].link.base;
	struct rte_comch_ticket peers = { .len = sizeof(good) };
	struct rte_comch_region region;
	struct mlx5_mem_ticket t;

	memcpy(peers.data, &good, sizeof(good));
	T_EQ(mlx5_mem_take(link, &desc, &peers, &region), 0);
	T_EQ((uintptr_t)region.addr, good.addr);
	T_EQ(region.len, 4096);
	T_EQ(mlx5_mem_rkey(&region), 5);
	mlx5_mem_drop(link, &region);
#define BAD(member, value) \
	do { \
		t = good; \
		t.member = (value); \
		memcpy(peers.data, &t, sizeof(t)); \
		T_EQ(mlx5_mem_take(link, &desc, &peers, &region), -EPROTO); \
	} while (0)
	BAD(magic, 0);
	BAD(addr, 0);
	BAD(addr, UINT64_MAX - 4094);
	BAD(len, 0);
	BAD(len, 4095);
	BAD(len, UINT64_MAX);
	memcpy(peers.data, &good, sizeof(good));
	desc.offset = 1;
	T_EQ(mlx5_mem_take(link, &desc, &peers, &region), -EPROTO);
	desc.offset = 0;
	peers.len = 0;
	T_EQ(mlx5_mem_take(link, &desc, &peers, &region), -EPROTO);
}

/* A device that cannot have the memory: messages are staged. */
MR_CASE(showing_may_fail)
{
	struct rte_comch_link *link = &u->side[0].link.base;
	uint64_t pinned = u->side[0].dev.pinned;
	struct rte_comch_ticket ticket = { 0 };
	struct rte_comch_mem_desc desc;

	fv_fail_call(FV_CALL_REG_MR, 0, ENOMEM);
	T_EQ(u_late(mlx5_mem_show(link, &u->mr[1], &desc, &ticket)), -ENOTSUP);
	T_EQ(u->side[0].dev.pinned, pinned);
	T_EQ(u_late(mlx5_mem_show(link, &u->mr[1], &desc, &ticket)), 0);
	T_EQ(u->side[0].dev.pinned, pinned + U_MEM);
	T_EQ(u_late(mlx5_mem_hide(link, &u->mr[1])), 0);
	T_EQ(u->side[0].dev.pinned, pinned);
	T_EQ(u_late(mlx5_mem_hide(link, &u->mr[1])), 0);
	T_EQ(u->side[0].dev.pinned, pinned);
}

/* Hidden memory cannot be written any more. */
MR_CASE(hiding_revokes)
{
	struct rte_comch_op op = u_op(u, 0, 4096, 1);

	T_EQ(u_post(u, 0, 4096, 1), 1);
	memset(u->mr[1].addr, 7, 4096);
	T_EQ(u_late(mlx5_mem_hide(&u->side[0].link.base, &u->mr[0])), 0);
	T_AWAIT(u_send(u, 0, &op, 1) == 1);
	T_WAIT(mlx5_data_check(&u->side[1].link, t_now_ms()), u->side[1].fault != 0);
	T_EQ(u->side[1].fault, -EPROTO);
	T_EQ(u->mr[0].addr[0], 0);
	u_path_down(u);
	mlx5_data_ops.cons_halt(u->cons, RTE_COMCH_HALT_DOWN);
	T_AWAIT((u_recv(u, &(struct rte_comch_cpl){ 0 }, 1),
		mlx5_data_ops.cons_drained(u->cons)));
}

/* A key is made on request, once, and dropped with its registration. */
MR_CASE(keys_come_and_go)
{
	struct mlx5_data *data = sender(u);
	struct rte_comch_mr *mr = &u->mr[1], other = *mr;
	uint32_t lkey = 0, again = 0;
	struct fv_stats before, st;

	fv_get_stats(&before);
	T_CHECK(!mlx5_mem_lkey(data, mr, &lkey));
	T_CHECK(!mlx5_mem_lkey(data, mr, &lkey));
	T_CHECK(!mlx5_mem_is_refused(data, mr));
	T_WAIT(mlx5_mem_service(data), mlx5_mem_lkey(data, mr, &lkey));
	mlx5_mem_service(data);
	T_CHECK(mlx5_mem_lkey(data, mr, &again));
	T_EQ(again, lkey);
	fv_get_stats(&st);
	T_EQ(st.regs, before.regs + 1);
	/* Another registration with its number does not get its key. */
	T_CHECK(!mlx5_mem_lkey(data, &other, &again));
	mlx5_mem_gone(data, &other);
	T_CHECK(mlx5_mem_lkey(data, mr, &again));
	mlx5_data_ops.mem_gone(&u->side[1].cdev, mr);
	T_CHECK(!mlx5_mem_lkey(data, mr, &again));
	fv_get_stats(&st);
	T_EQ(st.pinned, before.pinned);
	/* The request of the last look is forgotten as well. */
	mlx5_data_ops.mem_gone(&u->side[1].cdev, mr);
	mlx5_mem_service(data);
	fv_get_stats(&st);
	T_EQ(st.pinned, before.pinned);
	/* Devices of others keep theirs. */
	T_CHECK(!mlx5_mem_lkey(data, mr, &lkey));
	T_WAIT(mlx5_mem_service(data), mlx5_mem_lkey(data, mr, &lkey));
	mlx5_data_ops.mem_gone(&u->side[0].cdev, mr);
	T_CHECK(mlx5_mem_lkey(data, mr, &lkey));
}

MR_CASE(keys_of_many_registrations)
{
	struct rte_comch_mr mrs[3 * MLX5_KEY_PAGE];
	struct mlx5_data *data = sender(u);
	uint32_t i, lkey, left = RTE_DIM(mrs);

	for (i = 0; i < RTE_DIM(mrs); i++) {
		mrs[i] = u->mr[1];
		mrs[i].id = i * 21;
	}
	/* A few requests at a time. */
	while (left > 0) {
		left = 0;
		for (i = 0; i < RTE_DIM(mrs); i++)
			left += !mlx5_mem_lkey(data, &mrs[i], &lkey);
		mlx5_mem_service(data);
	}
	for (i = 0; i < RTE_DIM(mrs); i++)
		T_CHECK(mlx5_mem_lkey(data, &mrs[i], &lkey));
	mlx5_mem_gone(data, &mrs[5]);
	T_CHECK(!mlx5_mem_lkey(data, &mrs[5], &lkey));
	mlx5_mem_gone(data, &mrs[5]);
}

/* The device cannot have the memory: a send fails, and the next ones. */
MR_CASE(memory_to_send_is_refused)
{
	struct rte_comch_op op = u_op(u, 0, 4096, 1);
	struct rte_comch_cpl cpl;

	T_EQ(u_post(u, 0, 4096, 1), 1);
	fv_fail_call(FV_CALL_REG_MR, 0, ENOMEM);
	T_AWAIT(u_send(u, 0, &op, 1) == 1);
	T_AWAIT(u_done(u, 0, &cpl, 1) == 1);
	T_EQ(cpl.status, -ENOMEM);
	T_CHECK(mlx5_mem_is_refused(sender(u), &u->mr[1]));
	/* A registration anew. */
	mlx5_mem_gone(sender(u), &u->mr[1]);
	T_AWAIT(u_send(u, 0, &op, 1) == 1);
	T_AWAIT(u_recv(u, &cpl, 1) == 1);
	T_EQ(cpl.status, 0);
	T_AWAIT(u_done(u, 0, &cpl, 1) == 1);
	T_EQ(cpl.status, 0);
}
