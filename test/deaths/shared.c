/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Two threads send to one consumer. If one dies between claiming buffers and filling them, messages
 * of the other behind the gap are lost.
 */

#include "deaths.h"

#define BURST 4

/* In immediate data. */
struct message {
	uint64_t seq;
	uint32_t thread;
	uint32_t reserved;
};

void
deaths_shared_send(struct deaths_shared *s, unsigned int thread)
{
	struct message msgs[BURST] = { 0 };
	struct rte_comch_op ops[BURST] = { 0 };
	struct rte_comch_cpl cpls[BURST];
	uint16_t i, n;

	for (i = 0; i < BURST; i++) {
		msgs[i].thread = thread;
		msgs[i].seq = s->sent[thread] + i;
		ops[i].consumer_id = 1 + DEATHS_SHARED;
		ops[i].imm = &msgs[i];
		ops[i].imm_len = sizeof(msgs[i]);
	}
	__atomic_store_n(&s->is_sending[thread], true, __ATOMIC_SEQ_CST);
	n = rte_comch_producer_send_burst(s->prod[thread], ops, BURST);
	__atomic_store_n(&s->is_sending[thread], false, __ATOMIC_SEQ_CST);
	s->sent[thread] += n;
	n = rte_comch_producer_done_burst(s->prod[thread], cpls, BURST);
	for (i = 0; i < n; i++)
		T_EQ(cpls[i].status, 0);
	s->done[thread] += n;
}

void
deaths_shared_recv(struct deaths_shared *s)
{
	const struct rte_comch_buf buf = { 0 };
	struct rte_comch_cpl cpl;
	struct message msg;

	if (rte_comch_consumer_state(s->cons) == RTE_COMCH_STATE_RUNNING)
		while (rte_comch_consumer_post_burst(s->cons, &buf, 1) == 1)
			s->posted++;
	while (rte_comch_consumer_recv_burst(s->cons, &cpl, 1) == 1) {
		if (cpl.status != 0) {
			T_CHECK(cpl.status == -ECANCELED || cpl.status == -EBADFD);
			s->flushed++;
			continue;
		}
		T_EQ(s->flushed, 0);
		T_EQ(cpl.imm_len, sizeof(msg));
		memcpy(&msg, cpl.imm, sizeof(msg));
		T_LT(msg.thread, DEATHS_NB_THREADS);
		T_EQ(msg.seq, s->got[msg.thread]);
		s->got[msg.thread]++;
	}
}

void
deaths_shared_check(const struct deaths_shared *here, const struct deaths_shared *dead)
{
	unsigned int i;

	T_EQ(here->got[0] + here->got[1] + here->flushed, here->posted);
	for (i = 0; i < DEATHS_NB_THREADS; i++) {
		T_LE(here->got[i], dead->sent[i] + BURST);
		if (here->got[i] >= dead->done[i])
			continue;
		printf("   %u messages of thread %u are lost behind one of the other\n",
			(unsigned int)(dead->done[i] - here->got[i]), i);
		T_CHECK(dead->is_sending[1 - i]);
	}
}
