/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* MsgQ: copies with a message after them, by the CPU and by DPDK's skeleton of a DMA device. */

#include <rte_dev.h>
#include <rte_dmadev.h>
#include <rte_malloc.h>

#include "u_msgq.h"

#define LEN 4096
#define DMA_NAME "dma_skeleton0"

static void
by_cpu(void)
{
	struct rte_comch_msgq_copy op = { .consumer_id = 1, .cookie = 5, .len = LEN };
	struct rte_comch_producer_stats ps;
	static uint8_t src[LEN], dst[LEN];
	struct rte_comch_cpl cpl;
	struct u_pair u;
	uint64_t imm = 8;

	t_eal_start(1);
	t_fill(src, sizeof(src), 1);
	u_open(&u, NULL, NULL);
	op.src = src;
	op.dst = dst;
	op.imm = &imm;
	op.imm_len = sizeof(imm);
	/* Without credit nothing is copied. */
	T_EQ(rte_comch_msgq_copy_burst(u.p, &op, 1), 0);
	T_EQ(dst[0] | dst[1] | dst[LEN - 1], 0);
	T_EQ(rte_comch_msgq_credit(u.c, 2), 2);
	T_EQ(rte_comch_msgq_copy_burst(u.p, &op, 1), 1);
	T_VERIFY(dst, sizeof(dst), 1);
	T_EQ(rte_comch_msgq_recv_burst(u.c, &cpl, 1), 1);
	T_EQ(cpl.len, LEN);
	T_EQ(u_imm_u64(&cpl), 8);
	T_EQ(rte_comch_msgq_done_burst(u.p, &cpl, 1), 1);
	T_EQ(cpl.cookie, 5);
	T_EQ(cpl.len, LEN);
	T_EQ(cpl.copies, 1);
	rte_comch_msgq_producer_stats_get(u.p, &ps);
	T_EQ(ps.bytes, LEN);
	T_EQ(ps.copies, 1);
	u_close(&u);
	t_eal_stop();
}

static void
what_is_refused(void)
{
	static uint8_t mem[2 * LEN];
	const struct rte_comch_msgq_copy ops[] = {
		{ .consumer_id = 1, .dst = mem, .src = mem + LEN, .len = LEN },
		{ .consumer_id = 1, .dst = mem, .src = mem + LEN - 1, .len = LEN },
		{ .consumer_id = 1, .dst = mem + LEN - 1, .src = mem, .len = LEN },
		{ .consumer_id = 1, .dst = mem, .src = mem, .len = 1 },
		{ .consumer_id = 1, .dst = NULL, .src = mem, .len = 1 },
		{ .consumer_id = 1, .dst = mem, .src = NULL, .len = 1 },
		{ .consumer_id = 1, .dst = mem, .src = mem + LEN, .len = (1u << 30) + 1 },
		{ .consumer_id = 1, .imm = mem, .imm_len = RTE_COMCH_IMM_SIZE + 1 },
		{ .consumer_id = 9, .dst = mem, .src = mem + LEN, .len = 1 },
		{ .consumer_id = 1, .flags = RTE_COMCH_OP_F_SGL },
		{ .consumer_id = 1 },
	};
	static const int status[] = {
		0, -EINVAL, -EINVAL, -EINVAL, -EINVAL, -EINVAL, -EMSGSIZE, -EMSGSIZE, -ENOENT,
		-EINVAL, 0,
	};
	struct rte_comch_cpl cpl[RTE_DIM(ops)];
	struct u_pair u;
	unsigned int i;

	t_eal_start(1);
	u_open(&u, NULL, NULL);
	T_EQ(rte_comch_msgq_credit(u.c, 16), 16);
	T_EQ(rte_comch_msgq_copy_burst(u.p, ops, RTE_DIM(ops)), RTE_DIM(ops));
	T_EQ(rte_comch_msgq_done_burst(u.p, cpl, RTE_DIM(ops)), RTE_DIM(ops));
	for (i = 0; i < RTE_DIM(ops); i++)
		T_EQ(cpl[i].status, status[i]);
	T_EQ(rte_comch_msgq_recv_burst(u.c, cpl, RTE_DIM(ops)), 2);
	u_close(&u);
	t_eal_stop();
}

static void
dma_start(struct rte_comch_msgq_dma *dma)
{
	const struct rte_dma_conf conf = { .nb_vchans = 1 };
	const struct rte_dma_vchan_conf vconf = {
		.direction = RTE_DMA_DIR_MEM_TO_MEM, .nb_desc = 64,
	};
	int id;

	if (rte_eal_hotplug_add("vdev", DMA_NAME, "") != 0)
		t_skip("DPDK has no driver " DMA_NAME " here");
	id = rte_dma_get_dev_id_by_name(DMA_NAME);
	T_GE(id, 0);
	dma->dev_id = (int16_t)id;
	dma->vchan = 0;
	T_EQ(rte_dma_configure(dma->dev_id, &conf), 0);
	T_EQ(rte_dma_vchan_setup(dma->dev_id, 0, &vconf), 0);
	T_EQ(rte_dma_start(dma->dev_id), 0);
}

static void
dma_stop(const struct rte_comch_msgq_dma *dma)
{
	T_EQ(rte_dma_stop(dma->dev_id), 0);
	T_EQ(rte_eal_hotplug_remove("vdev", DMA_NAME), 0);
}

/* Messages stay in order, whether a copy comes before them or not, and see their data. */
static void
by_dma(void)
{
	enum { N = 400, SLOTS = 16 };
	struct rte_comch_msgq_producer_conf p_conf = { .conf_size = sizeof(p_conf) };
	struct rte_comch_msgq_copy op = { .consumer_id = 1, .len = LEN };
	uint64_t sent = 0, got = 0, done = 0, val;
	struct rte_comch_msgq_dma dma;
	struct rte_comch_cpl cpl[8];
	uint8_t *src, *dst;
	struct u_pair u;
	uint16_t i, n;

	t_eal_start(1);
	dma_start(&dma);
	p_conf.dma = &dma;
	u_open(&u, &p_conf, NULL);
	src = rte_malloc(NULL, SLOTS * LEN, 64);
	dst = rte_zmalloc(NULL, SLOTS * LEN, 64);
	T_CHECK(src != NULL && dst != NULL);
	T_EQ(rte_comch_msgq_credit(u.c, SLOTS / 2), SLOTS / 2);
	while (got < N) {
		if (sent < N && sent - done < SLOTS / 2) {
			op.src = src + sent % SLOTS * LEN;
			op.dst = dst + sent % SLOTS * LEN;
			op.cookie = sent;
			op.imm = &sent;
			op.imm_len = sizeof(sent);
			t_fill(src + sent % SLOTS * LEN, LEN, sent);
			/* Every third is a message alone. */
			sent += sent % 3 == 2 ? u_send_u64(u.p, 1, sent) :
				rte_comch_msgq_copy_burst(u.p, &op, 1);
		}
		n = rte_comch_msgq_done_burst(u.p, cpl, RTE_DIM(cpl));
		for (i = 0; i < n; i++, done++) {
			T_EQ(cpl[i].status, 0);
			T_EQ(cpl[i].cookie, done % 3 == 2 ? 0 : done);
			T_EQ(cpl[i].copies, 0);
		}
		n = rte_comch_msgq_recv_burst(u.c, cpl, RTE_DIM(cpl));
		for (i = 0; i < n; i++, got++) {
			val = u_imm_u64(&cpl[i]);
			T_EQ(val, got);
			T_EQ(cpl[i].len, val % 3 == 2 ? 0 : LEN);
			if (val % 3 != 2)
				T_VERIFY(dst + val % SLOTS * LEN, LEN, val);
		}
		T_EQ(rte_comch_msgq_credit(u.c, n), n);
	}
	while (done < N)
		done += rte_comch_msgq_done_burst(u.p, cpl, RTE_DIM(cpl));
	u_close(&u);
	dma_stop(&dma);
	t_eal_stop();
}

/* A copy that waits holds a producer, not the others' messages; and it goes with its consumer. */
static void
dma_without_credit(void)
{
	struct rte_comch_msgq_producer_conf p_conf = { .conf_size = sizeof(p_conf) };
	struct rte_comch_msgq_copy op = { .consumer_id = 1, .len = LEN };
	struct rte_comch_msgq_producer *other;
	struct rte_comch_msgq_dma dma;
	struct rte_comch_cpl cpl[4];
	struct u_pair u;

	t_eal_start(1);
	dma_start(&dma);
	p_conf.dma = &dma;
	u_open(&u, &p_conf, NULL);
	other = rte_comch_msgq_producer_create(u.q, NULL);
	op.src = rte_zmalloc(NULL, LEN, 64);
	op.dst = rte_zmalloc(NULL, LEN, 64);
	T_EQ(rte_comch_msgq_copy_burst(u.p, &op, 1), 1);
	T_EQ(rte_comch_msgq_producer_destroy(u.p), -EBUSY);
	T_EQ(rte_comch_msgq_done_burst(u.p, cpl, 4), 0);
	T_EQ(rte_comch_msgq_credit(u.c, 1), 1);
	T_EQ(u_send_u64(other, 1, 3), 1);
	T_EQ(rte_comch_msgq_recv_burst(u.c, cpl, 4), 1);
	T_EQ(u_imm_u64(&cpl[0]), 3);
	T_EQ(rte_comch_msgq_consumer_stop(u.c), 0);
	while (rte_comch_msgq_done_burst(u.p, cpl, 4) == 0)
		;
	T_EQ(cpl[0].status, -ENOENT);
	T_EQ(rte_comch_msgq_consumer_destroy(u.c), 0);
	T_EQ(rte_comch_msgq_producer_destroy(other), 0);
	T_EQ(rte_comch_msgq_producer_destroy(u.p), 0);
	T_EQ(rte_comch_msgq_destroy(u.q), 0);
	dma_stop(&dma);
	t_eal_stop();
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "by_cpu", by_cpu },
		{ "what_is_refused", what_is_refused },
		{ "by_dma", by_dma },
		{ "dma_without_credit", dma_without_credit },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
