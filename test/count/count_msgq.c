/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* MsgQ, its native API. */

#include "count.h"
#include "u_msgq.h"

#define BURST 32

static struct u_pair pair;
static struct rte_comch_op ops[BURST];

static void
open_msgq(void)
{
	static const uint8_t imm[RTE_COMCH_IMM_SIZE];
	unsigned int i;

	t_eal_start(1);
	u_open(&pair, NULL, NULL);
	for (i = 0; i < BURST; i++)
		ops[i] = (struct rte_comch_op) {
			.consumer_id = rte_comch_msgq_consumer_id(pair.c),
			.imm = imm, .imm_len = sizeof(imm), .cookie = i,
		};
}

static void
close_msgq(void)
{
	u_close(&pair);
	t_eal_stop();
}

static void
move(uint16_t nb)
{
	struct rte_comch_cpl in[BURST], out[BURST];
	uint16_t n;

	COUNT(COUNT_RECV, n = (uint16_t)rte_comch_msgq_credit(pair.c, nb));
	T_EQ(n, nb);
	COUNT(COUNT_SEND, n = rte_comch_msgq_send_burst(pair.p, ops, nb));
	T_EQ(n, nb);
	COUNT(COUNT_RECV, n = rte_comch_msgq_recv_burst(pair.c, in, nb));
	T_EQ(n, nb);
	COUNT(COUNT_SEND, n = rte_comch_msgq_done_burst(pair.p, out, nb));
	T_EQ(n, nb);
	T_EQ(in[nb - 1].status, 0);
	T_EQ(out[nb - 1].status, 0);
}

static void
step_one(void)
{
	move(1);
}

static void
step_burst(void)
{
	move(BURST);
}

const struct count_row count_rows_msgq[] = {
	{ "msgq", "32 bytes over a MsgQ, alone", 1, open_msgq, step_one, close_msgq },
	{ "msgq-burst", "32 bytes over a MsgQ, 32 a burst", BURST, open_msgq, step_burst,
		close_msgq },
	{ .name = NULL },
};
