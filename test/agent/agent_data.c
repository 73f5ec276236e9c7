/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Calls about producers and consumers. */

#include <stdlib.h>

#include "agent.h"

/** Operations, buffers or completions of one burst at most. */
#define MAX_BURST 256

/* Segments belong to the channel until the operation is done: until the session ends. */
struct segments {
	struct segments *next;
	struct rte_comch_sge sges[];
};

static struct segments *segments;

static void
producer_create(struct wire *w)
{
	struct rte_comch_conn *conn = wire_get_ptr(w);
	const bool has_conf = wire_get_u64(w) != 0;
	struct rte_comch_producer_conf conf = { 0 };

	if (has_conf) {
		wire_get(w, &conf, sizeof(conf));
		conf.poll = wire_get_ptr(w);
	}
	wire_reply(w, (int64_t)(uintptr_t)rte_comch_producer_create(conn,
			has_conf ? &conf : NULL));
}

static void
consumer_create(struct wire *w)
{
	struct rte_comch_conn *conn = wire_get_ptr(w);
	const bool has_conf = wire_get_u64(w) != 0;
	struct rte_comch_consumer_conf conf = { 0 };
	struct rte_comch_mr *mrs[64];
	unsigned int i;

	if (has_conf) {
		wire_get(w, &conf, sizeof(conf));
		conf.poll = wire_get_ptr(w);
		T_LE(conf.nb_mrs, RTE_DIM(mrs));
		for (i = 0; i < conf.nb_mrs; i++)
			mrs[i] = wire_get_ptr(w);
		conf.mrs = conf.mrs == NULL ? NULL : mrs;
	}
	wire_reply(w, (int64_t)(uintptr_t)rte_comch_consumer_create(conn,
			has_conf ? &conf : NULL));
}

static void
consumer_mr_add(struct wire *w)
{
	struct rte_comch_consumer *cons = wire_get_ptr(w);

	wire_reply(w, rte_comch_consumer_mr_add(cons, wire_get_ptr(w)));
}

static const void *
get_segments(struct wire *w, uint16_t nb)
{
	struct segments *s;

	if (wire_get_u64(w) == 0)
		return NULL;
	s = malloc(sizeof(*s) + nb * sizeof(s->sges[0]));
	if (s == NULL)
		T_FAIL("no memory");
	s->next = segments;
	segments = s;
	wire_get(w, s->sges, nb * sizeof(s->sges[0]));
	return s->sges;
}

static void
data_send(struct wire *w)
{
	struct rte_comch_producer *prod = wire_get_ptr(w);
	const uint16_t n = (uint16_t)wire_get_u64(w);
	struct rte_comch_op ops[MAX_BURST];
	uint32_t len;
	uint16_t i;

	T_LE(n, RTE_DIM(ops));
	for (i = 0; i < n; i++) {
		wire_get(w, &ops[i], sizeof(ops[i]));
		ops[i].imm = wire_get_bytes(w, &len);
		if ((ops[i].flags & RTE_COMCH_OP_F_SGL) != 0)
			ops[i].addr = get_segments(w, ops[i].nb_sges);
	}
	wire_reply(w, rte_comch_producer_send_burst(prod, ops, n));
}

static void
data_post(struct wire *w)
{
	struct rte_comch_consumer *cons = wire_get_ptr(w);
	const uint16_t n = (uint16_t)wire_get_u64(w);
	struct rte_comch_buf bufs[MAX_BURST];

	T_LE(n, RTE_DIM(bufs));
	wire_get(w, bufs, n * sizeof(bufs[0]));
	wire_reply(w, rte_comch_consumer_post_burst(cons, bufs, n));
}

static void
put_cpls(struct wire *w, const struct rte_comch_cpl *cpls, uint16_t n)
{
	wire_reply(w, n);
	wire_put(w, cpls, n * sizeof(*cpls));
}

static void
data_done(struct wire *w)
{
	struct rte_comch_producer *prod = wire_get_ptr(w);
	const uint64_t n = wire_get_u64(w);
	struct rte_comch_cpl cpls[MAX_BURST];

	put_cpls(w, cpls, rte_comch_producer_done_burst(prod, cpls,
			(uint16_t)RTE_MIN(n, RTE_DIM(cpls))));
}

static void
data_recv(struct wire *w)
{
	struct rte_comch_consumer *cons = wire_get_ptr(w);
	const uint64_t n = wire_get_u64(w);
	struct rte_comch_cpl cpls[MAX_BURST];

	put_cpls(w, cpls, rte_comch_consumer_recv_burst(cons, cpls,
			(uint16_t)RTE_MIN(n, RTE_DIM(cpls))));
}

const agent_handler agent_data_calls[NB_CALLS] = {
	[CALL_PRODUCER_CREATE] = producer_create,
	[CALL_CONSUMER_CREATE] = consumer_create,
	[CALL_CONSUMER_MR_ADD] = consumer_mr_add,
	[CALL_SEND] = data_send,
	[CALL_DONE] = data_done,
	[CALL_POST] = data_post,
	[CALL_RECV] = data_recv,
};
