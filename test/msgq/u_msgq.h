/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef U_MSGQ_H
#define U_MSGQ_H

/* One MsgQ with one end of each kind, for tests. */

#include <rte_comch_msgq.h>

#include "t.h"
#include "t_main.h"

struct u_pair {
	struct rte_comch_msgq *q;
	struct rte_comch_msgq_producer *p;
	struct rte_comch_msgq_consumer *c;
};

static inline void
u_open(struct u_pair *u, const struct rte_comch_msgq_producer_conf *p_conf,
		const struct rte_comch_msgq_consumer_conf *c_conf)
{
	u->q = rte_comch_msgq_create(NULL);
	T_CHECK(u->q != NULL);
	u->c = rte_comch_msgq_consumer_create(u->q, c_conf);
	T_CHECK(u->c != NULL);
	u->p = rte_comch_msgq_producer_create(u->q, p_conf);
	T_CHECK(u->p != NULL);
}

static inline void
u_close_consumer(struct rte_comch_msgq_consumer *c)
{
	struct rte_comch_cpl cpl[8];
	int ret = rte_comch_msgq_consumer_stop(c);

	T_CHECK(ret == 0 || ret == -EINPROGRESS);
	while (rte_comch_msgq_consumer_state(c) != RTE_COMCH_STATE_IDLE)
		rte_comch_msgq_recv_burst(c, cpl, RTE_DIM(cpl));
	T_EQ(rte_comch_msgq_consumer_destroy(c), 0);
}

static inline void
u_close(struct u_pair *u)
{
	u_close_consumer(u->c);
	T_EQ(rte_comch_msgq_producer_destroy(u->p), 0);
	T_EQ(rte_comch_msgq_destroy(u->q), 0);
}

static inline uint16_t
u_send(struct rte_comch_msgq_producer *p, uint32_t id, const void *imm, uint16_t len)
{
	const struct rte_comch_op op = { .consumer_id = id, .imm = imm, .imm_len = len };

	return rte_comch_msgq_send_burst(p, &op, 1);
}

static inline uint16_t
u_send_u64(struct rte_comch_msgq_producer *p, uint32_t id, uint64_t val)
{
	return u_send(p, id, &val, sizeof(val));
}

static inline uint64_t
u_imm_u64(const struct rte_comch_cpl *cpl)
{
	uint64_t val;

	T_EQ(cpl->imm_len, sizeof(val));
	memcpy(&val, cpl->imm, sizeof(val));
	return val;
}

#endif /* U_MSGQ_H */
