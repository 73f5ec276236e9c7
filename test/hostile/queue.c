/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>
#include <sys/mman.h>

#include "queue.h"

void
out_open(struct to_attacker *t, uint32_t staging)
{
	struct raw_frame f;

	v_open(&t->v, NULL);
	t->conn = v_connect(&t->v, &t->a);
	raw_mem_new(&t->m, MEM_LEN, MFD_ALLOW_SEALING, RAW_SEALS_PAYLOAD);
	raw_send_mr_add(&t->a, 3, 0, MEM_LEN, t->m.fd);
	v_hear(&t->a, &f, COMCH_WIRE_MR_ACK);
	raw_cons_new(&t->c, 1, DEPTH, DEPTH, staging);
	raw_cons_announce(&t->a, &t->c);
	v_hear(&t->a, &f, COMCH_WIRE_CONSUMER_ACK);
	T_EQ(f.nb_fds, 1);
	raw_cons_map(&t->c, f.fds[0]);
	raw_frame_free(&f);
	t_mem_new(&t->src, RTE_COMCH_MEM_SEALED, MEM_LEN, 0);
	t_fill(t->src.addr, MEM_LEN, 9);
	t->prod = t_producer_new(t->conn, NULL);
	t_settle();
}

void
out_close(struct to_attacker *t)
{
	raw_close(&t->a);
	v_expect_down(&t->v, t->conn);
	t_producer_end(t->prod);
	T_VERIFY(t->src.addr, MEM_LEN, 9);
	t_mem_free(&t->src);
	raw_cons_free(&t->c);
	raw_mem_free(&t->m);
	v_close(&t->v);
}

uint16_t
out_send(struct to_attacker *t, uint32_t len)
{
	const struct rte_comch_op op = {
		.addr = t->src.addr, .mr = t->src.mr, .len = len, .consumer_id = 1,
	};

	return rte_comch_producer_send_burst(t->prod, &op, 1);
}

void
in_open(struct to_victim *t, bool heap)
{
	struct rte_comch_consumer_conf cc = { .queue_size = DEPTH, .staging_size = STAGING };
	struct raw_frame f;

	v_open(&t->v, NULL);
	t->heap = heap;
	t->conn = v_connect(&t->v, &t->a);
	t_mem_new(&t->dst, heap ? RTE_COMCH_MEM_HEAP : RTE_COMCH_MEM_SEALED, MEM_LEN, 0);
	t_fill(t->dst.addr, MEM_LEN, 77);
	t->cons = t_consumer_new(t->conn, &cc, t->dst.mr);
	T_EQ(rte_comch_consumer_start(t->cons), -EINPROGRESS);
	if (!heap) {
		v_hear(&t->a, &f, COMCH_WIRE_MR_ADD);
		raw_frame_free(&f);
		raw_send_status(&t->a, COMCH_WIRE_MR_ACK, *(uint32_t *)f.body, 0, -1);
	}
	v_hear(&t->a, &f, COMCH_WIRE_CONSUMER_NEW);
	raw_frame_free(&f);
	raw_mem_new(&t->rec, (comch_chan_rec_len(DEPTH, STAGING) + 4095) & ~UINT64_C(4095),
		MFD_ALLOW_SEALING, RAW_SEALS);
	t->shared = t->rec.addr;
	raw_send_status(&t->a, COMCH_WIRE_CONSUMER_ACK, *(uint32_t *)f.body, 0, t->rec.fd);
	T_UNTIL(rte_comch_consumer_state(t->cons) == RTE_COMCH_STATE_RUNNING);
}

struct rte_comch_buf
in_buf(const struct to_victim *t)
{
	return (struct rte_comch_buf){
		.addr = t->dst.addr + IN_OFF, .mr = t->dst.mr, .len = IN_LEN,
	};
}

void
in_post(struct to_victim *t, unsigned int n)
{
	const struct rte_comch_buf b = in_buf(t);

	while (n-- > 0)
		T_EQ(rte_comch_consumer_post_burst(t->cons, &b, 1), 1);
}

/* Only the posted buffer may have changed. */
static void
check_unposted(const struct to_victim *t)
{
	uint8_t *was = malloc(MEM_LEN);

	T_CHECK(was != NULL);
	t_fill(was, MEM_LEN, 77);
	T_EQ(memcmp(was, t->dst.addr, IN_OFF), 0);
	T_EQ(memcmp(was + IN_OFF + IN_LEN, t->dst.addr + IN_OFF + IN_LEN,
		MEM_LEN - IN_OFF - IN_LEN), 0);
	free(was);
}

void
in_close(struct to_victim *t)
{
	raw_close(&t->a);
	v_expect_down(&t->v, t->conn);
	t_consumer_end(t->cons);
	check_unposted(t);
	t_mem_free(&t->dst);
	raw_mem_free(&t->rec);
	v_close(&t->v);
}
