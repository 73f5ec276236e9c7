/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The fast path: operations that can never succeed. Each is taken, moves
 * nothing, leaves the posted buffer where it is, and comes back in order.
 */

#include <stdlib.h>
#include <sys/mman.h>

#include "conf.h"

static struct rte_comch_op
op_of(const struct t_flow *f, uint32_t len, uint64_t cookie)
{
	return (struct rte_comch_op){
		.addr = f->src.addr, .mr = f->src.mr, .len = len,
		.consumer_id = f->id, .cookie = cookie,
	};
}

/* Send op: it must be taken and come back with status. */
static void
check_refused(struct t_flow *f, const struct rte_comch_op *op, int status)
{
	struct rte_comch_cpl cpl;

	t_submit_ops(f->prod, op, 1);
	t_done(f->prod, &cpl);
	T_EQ(cpl.status, status);
	T_EQ(cpl.cookie, op->cookie);
}

/* One buffer of 64 bytes is still the next in line. */
static void
check_buffer_untouched(struct t_flow *f, uint64_t cookie)
{
	struct rte_comch_cpl cpl;

	T_CHECK(t_no_recv(f->cons));
	t_fill(f->src.addr, 64, cookie);
	t_submit(f, 0, 64, 1234);
	t_recv(f->cons, &cpl);
	T_EQ(cpl.status, 0);
	T_EQ(cpl.cookie, cookie);
	T_EQ(cpl.len, 64);
	T_VERIFY(f->dst.addr, 64, cookie);
	t_done(f->prod, &cpl);
	T_EQ(cpl.status, 0);
	T_EQ(cpl.cookie, 1234);
}

static void
longer_than_buffer(enum rte_comch_mem_kind kind)
{
	struct t_flow_conf fc = { .kind = kind };
	struct rte_comch_op op;
	struct rte_comch_cpl cpl;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, &fc);
	T_EQ(t_post(&f, 0, 64, 5), 1);
	T_EQ(t_post(&f, 1000, 128, 6), 1);
	op = op_of(&f, 65, 1);
	check_refused(&f, &op, -EMSGSIZE);
	/* The next in line counts, not a longer one behind it. */
	op = op_of(&f, 128, 2);
	check_refused(&f, &op, -EMSGSIZE);
	op = op_of(&f, 65536, 3);
	check_refused(&f, &op, -EMSGSIZE);
	check_buffer_untouched(&f, 5);
	t_submit(&f, 0, 128, 4);
	t_recv(f.cons, &cpl);
	T_EQ(cpl.cookie, 6);
	T_EQ(cpl.len, 128);
	t_done(f.prod, &cpl);
	/* An empty buffer takes no payload. */
	T_EQ(rte_comch_consumer_post_burst(f.cons,
			&(struct rte_comch_buf){ .cookie = 8 }, 1), 1);
	op = op_of(&f, 1, 4);
	check_refused(&f, &op, -EMSGSIZE);
	t_submit(&f, 0, 0, 5);
	t_recv(f.cons, &cpl);
	T_EQ(cpl.cookie, 8);
	T_EQ(cpl.status, 0);
	t_flow_close(&f);
	t_pair_close(&p);
}

CONF_CASE(dperr, longer_than_buffer, longer_than_buffer(RTE_COMCH_MEM_SEALED))
CONF_CASE(dperr, longer_than_buffer_staged, longer_than_buffer(RTE_COMCH_MEM_HEAP))

/* Longer than the device's limit: an address range, reserved but not used. */
void
conf_dperr_over_device_limit(void)
{
	const size_t size = (size_t)3 << 30;
	struct rte_comch_dev_info info;
	struct rte_comch_op op = { 0 };
	struct rte_comch_mr *mr;
	struct t_flow f;
	struct t_pair p;
	void *va;

	t_pair_open(&p, NULL);
	T_EQ(rte_comch_dev_info_get(p.host_dev, &info), 0);
	if (info.max_buf_len >= UINT32_MAX)
		t_skip("no length can be over the device's limit");
	t_flow_open(&f, &p, NULL);
	va = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			-1, 0);
	T_CHECK(va != MAP_FAILED);
	mr = rte_comch_mem_register(va, size, 0);
	T_CHECK(mr != NULL);
	T_EQ(t_post(&f, 0, 64, 5), 1);
	op.addr = va;
	op.mr = mr;
	op.len = (uint32_t)info.max_buf_len + 1;
	op.consumer_id = f.id;
	op.cookie = 3;
	check_refused(&f, &op, -EMSGSIZE);
	check_buffer_untouched(&f, 5);
	t_flow_close(&f);
	T_EQ(rte_comch_mem_unregister(mr), 0);
	munmap(va, size);
	t_pair_close(&p);
}

void
conf_dperr_imm_too_long(void)
{
	struct t_flow_conf fc = { .cons.imm_size = 8 };
	uint8_t imm[64] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	struct rte_comch_cpl cpl;
	struct rte_comch_op op;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, &fc);
	T_EQ(t_post(&f, 0, 64, 5), 1);
	op = op_of(&f, 8, 1);
	op.imm = imm;
	op.imm_len = 9;
	check_refused(&f, &op, -EMSGSIZE);
	op.imm_len = 33;
	check_refused(&f, &op, -EMSGSIZE);
	op.imm_len = UINT16_MAX;
	check_refused(&f, &op, -EMSGSIZE);
	check_buffer_untouched(&f, 5);
	op.imm_len = 8;
	T_EQ(t_post(&f, 0, 64, 6), 1);
	t_submit_ops(f.prod, &op, 1);
	t_recv(f.cons, &cpl);
	T_EQ(cpl.imm_len, 8);
	T_EQ(memcmp(cpl.imm, imm, 8), 0);
	t_flow_close(&f);
	t_pair_close(&p);
}

void
conf_dperr_no_such_consumer(void)
{
	struct rte_comch_op op;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	T_EQ(t_post(&f, 0, 64, 5), 1);
	op = op_of(&f, 8, 1);
	op.consumer_id = 0;
	check_refused(&f, &op, -ENOENT);
	op.consumer_id = f.id + 1;
	check_refused(&f, &op, -ENOENT);
	op.consumer_id = f.id + 65536;
	check_refused(&f, &op, -ENOENT);
	op.consumer_id = UINT32_MAX;
	check_refused(&f, &op, -ENOENT);
	check_buffer_untouched(&f, 5);
	t_flow_close(&f);
	t_pair_close(&p);
}

/* A retired consumer is not there any more, and its id is not used again. */
void
conf_dperr_retired_consumer(void)
{
	struct rte_comch_op op;
	struct t_flow f, g;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	t_flow_once(&f, 64, 1);
	op = op_of(&f, 8, 1);
	t_consumer_end(f.cons);
	f.cons = NULL;
	T_UNTIL(t_count(p.host, RTE_COMCH_EVENT_CONSUMER_GONE, NULL) == 1);
	check_refused(&f, &op, -ENOENT);
	t_flow_open(&g, &p, NULL);
	T_NE(g.id, f.id);
	T_EQ(t_post(&g, 0, 64, 2), 1);
	check_refused(&f, &op, -ENOENT);
	check_buffer_untouched(&g, 2);
	t_flow_close(&g);
	t_flow_close(&f);
	t_pair_close(&p);
}

void
conf_dperr_producer_memory(void)
{
	struct rte_comch_op op;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	T_EQ(t_post(&f, 0, 64, 5), 1);
	op = op_of(&f, 64, 1);
	op.addr = f.src.addr + f.src.len - 63;
	check_refused(&f, &op, -EFAULT);
	op.addr = f.src.addr - 1;
	check_refused(&f, &op, -EFAULT);
	op.addr = (void *)(UINTPTR_MAX - 7);
	check_refused(&f, &op, -EFAULT);
	op.addr = (void *)(uintptr_t)8;
	check_refused(&f, &op, -EFAULT);
	op = op_of(&f, 64, 2);
	op.mr = NULL;
	check_refused(&f, &op, -EINVAL);
	op = op_of(&f, 64, 3);
	op.addr = NULL;
	check_refused(&f, &op, -EINVAL);
	op = op_of(&f, 64, 4);
	op.flags = UINT16_C(1) << 15;
	check_refused(&f, &op, -EINVAL);
	op = op_of(&f, 64, 6);
	op.imm_len = 4; /* and no immediate data */
	check_refused(&f, &op, -EINVAL);
	check_buffer_untouched(&f, 5);
	/* The last byte of the registration is within it. */
	T_EQ(t_post(&f, f.dst.len - 64, 64, 6), 1);
	t_submit(&f, f.src.len - 64, 64, 7);
	t_recv(f.cons, &(struct rte_comch_cpl){ 0 });
	t_flow_close(&f);
	t_pair_close(&p);
}

void
conf_dperr_segments(void)
{
	struct rte_comch_sge sges[2];
	struct rte_comch_op op = { 0 };
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	T_EQ(t_post(&f, 0, 64, 5), 1);
	sges[0] = (struct rte_comch_sge){ f.src.mr, f.src.addr, 10 };
	sges[1] = (struct rte_comch_sge){ f.src.mr, f.src.addr, 20 };
	op.addr = sges;
	op.nb_sges = 2;
	op.len = 30;
	op.flags = RTE_COMCH_OP_F_SGL;
	op.consumer_id = f.id;
	op.len = 31; /* not their sum */
	check_refused(&f, &op, -EINVAL);
	op.len = 29;
	check_refused(&f, &op, -EINVAL);
	op.len = 30;
	op.nb_sges = 0;
	check_refused(&f, &op, -EINVAL);
	op.nb_sges = 2;
	op.addr = NULL;
	check_refused(&f, &op, -EINVAL);
	op.addr = sges;
	sges[1].mr = NULL;
	check_refused(&f, &op, -EINVAL);
	sges[1].mr = f.src.mr;
	sges[1].addr = f.src.addr + f.src.len - 19;
	check_refused(&f, &op, -EFAULT);
	/* A sum that wraps around. */
	sges[0].len = UINT32_MAX;
	sges[1].len = 31;
	op.len = 30;
	sges[1].addr = f.src.addr;
	t_submit_ops(f.prod, &op, 1);
	{
		struct rte_comch_cpl cpl;

		t_done(f.prod, &cpl);
		T_CHECK(cpl.status == -EINVAL || cpl.status == -EFAULT);
	}
	check_buffer_untouched(&f, 5);
	t_flow_close(&f);
	t_pair_close(&p);
}

/* Bad ones among good ones: the others go on, completions are in order. */
void
conf_dperr_in_order(void)
{
	static const int want[] = { 0, -EFAULT, 0, -ENOENT, -EINVAL, 0, -EMSGSIZE, 0 };
	struct rte_comch_op ops[RTE_DIM(want)];
	struct rte_comch_cpl cpls[RTE_DIM(want)];
	unsigned int i;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	for (i = 0; i < RTE_DIM(want); i++) {
		ops[i] = op_of(&f, 64, i);
		T_EQ(t_post(&f, i * 64, 64, i), 1);
	}
	ops[1].addr = f.src.addr + f.src.len;
	ops[3].consumer_id = 4711;
	ops[4].mr = NULL;
	ops[6].len = 65;
	t_submit_ops(f.prod, ops, RTE_DIM(want));
	t_done_n(f.prod, cpls, RTE_DIM(want));
	for (i = 0; i < RTE_DIM(want); i++) {
		T_EQ(cpls[i].cookie, i);
		T_EQ(cpls[i].status, want[i]);
	}
	for (i = 0; i < 4; i++) {
		t_recv(f.cons, &cpls[0]);
		T_EQ(cpls[0].status, 0);
		T_EQ(cpls[0].cookie, i);
	}
	T_CHECK(t_no_recv(f.cons));
	t_flow_close(&f);
	t_pair_close(&p);
}

/* Offer refused operations, take what is done; is that all? */
static bool
flood_turn(struct t_flow *f, uint64_t *sent, uint64_t *done)
{
	struct rte_comch_cpl cpl;

	while (*sent < 1000 && t_put(f, f->src.len, 8, *sent) == 1)
		(*sent)++;
	T_LE(*sent - *done, 4);
	if (rte_comch_producer_done_burst(f->prod, &cpl, 1) == 0)
		return false;
	T_EQ(cpl.cookie, *done);
	T_EQ(cpl.status, -EFAULT);
	return ++*done == 1000;
}

/* More refused than the queue holds: short counts, never lost. */
void
conf_dperr_flood(void)
{
	struct t_flow_conf fc = { .prod.queue_size = 4 };
	uint64_t sent = 0, done = 0;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, &fc);
	T_UNTIL(flood_turn(&f, &sent, &done));
	t_flow_close(&f);
	t_pair_close(&p);
}

static void
check_post_status(struct t_flow *f, const struct rte_comch_buf *buf, int status)
{
	struct rte_comch_cpl cpl;

	T_EQ(rte_comch_consumer_post_burst(f->cons, buf, 1), 1);
	t_recv(f->cons, &cpl);
	T_EQ(cpl.cookie, buf->cookie);
	T_EQ(cpl.status, status);
}

void
conf_dperr_post(void)
{
	struct rte_comch_buf buf;
	struct rte_comch_cpl cpl;
	struct t_mem other;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, NULL);
	t_mem_new(&other, RTE_COMCH_MEM_SEALED, 4096, 0);
	buf = (struct rte_comch_buf){ .addr = f.dst.addr + f.dst.len - 63,
		.mr = f.dst.mr, .len = 64, .cookie = 1 };
	check_post_status(&f, &buf, -EFAULT);
	buf.addr = f.dst.addr - 1;
	check_post_status(&f, &buf, -EFAULT);
	buf.addr = (void *)(UINTPTR_MAX - 7);
	check_post_status(&f, &buf, -EFAULT);
	/* Registered, but not named to this consumer. */
	buf = (struct rte_comch_buf){ .addr = other.addr, .mr = other.mr,
		.len = 64, .cookie = 2 };
	check_post_status(&f, &buf, -EINVAL);
	buf.mr = NULL;
	check_post_status(&f, &buf, -EINVAL);
	/* Nothing of it reached the producer. */
	T_NEVER(t_put(&f, 0, 1, 1) != 0);
	/* Between good ones, in the order of posting. */
	T_EQ(t_post(&f, 0, 64, 10), 1);
	T_EQ(rte_comch_consumer_post_burst(f.cons, &buf, 1), 1);
	T_EQ(t_post(&f, 64, 64, 11), 1);
	t_submit(&f, 0, 64, 1);
	t_submit(&f, 0, 64, 2);
	t_recv(f.cons, &cpl);
	T_EQ(cpl.cookie, 10);
	T_EQ(cpl.status, 0);
	t_recv(f.cons, &cpl);
	T_EQ(cpl.cookie, 2);
	T_EQ(cpl.status, -EINVAL);
	t_recv(f.cons, &cpl);
	T_EQ(cpl.cookie, 11);
	T_EQ(cpl.status, 0);
	t_flow_close(&f);
	t_mem_free(&other);
	t_pair_close(&p);
}

/* More refused posts than the queue holds. */
void
conf_dperr_post_flood(void)
{
	struct t_flow_conf fc = { .cons.queue_size = 4 };
	uint64_t posted = 0, got = 0;
	struct rte_comch_cpl cpl;
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, &fc);
	while (got < 1000) {
		while (posted < 1000 && t_post(&f, f.dst.len, 8, posted) == 1)
			posted++;
		T_LE(posted - got, 4);
		t_recv(f.cons, &cpl);
		T_EQ(cpl.cookie, got);
		T_EQ(cpl.status, -EFAULT);
		got++;
	}
	t_flow_once(&f, 100, 5);
	t_flow_close(&f);
	t_pair_close(&p);
}

/* Objects that do not run refuse politely. */
void
conf_dperr_not_running(void)
{
	struct rte_comch_producer_conf pc = { .conf_size = sizeof(pc) };
	struct rte_comch_producer *prod;
	struct rte_comch_consumer *cons;
	struct rte_comch_buf buf = { .cookie = 8 };
	struct rte_comch_cpl cpl;
	struct rte_comch_op op = { .cookie = 7, .consumer_id = 1 };
	struct t_pair p;

	t_pair_open(&p, NULL);
	prod = rte_comch_producer_create(p.cconn, &pc);
	T_CHECK(prod != NULL);
	T_CHECK(t_no_done(prod));
	t_submit_ops(prod, &op, 1);
	t_done(prod, &cpl);
	T_EQ(cpl.status, -EBADFD);
	T_EQ(cpl.cookie, 7);
	T_EQ(rte_comch_producer_start(prod), 0);
	t_producer_stop(prod);
	t_submit_ops(prod, &op, 1);
	t_done(prod, &cpl);
	T_EQ(cpl.status, -EBADFD);
	T_EQ(rte_comch_producer_destroy(prod), 0);
	cons = t_consumer_new(p.sconn, NULL, NULL);
	T_CHECK(t_no_recv(cons));
	T_EQ(rte_comch_consumer_post_burst(cons, &buf, 1), 1);
	t_recv(cons, &cpl);
	T_EQ(cpl.status, -EBADFD);
	T_EQ(cpl.cookie, 8);
	t_consumer_run(cons);
	T_EQ(rte_comch_consumer_stop(cons), -EINPROGRESS);
	T_UNTIL(rte_comch_consumer_recv_burst(cons, &cpl, 1) == 0 &&
			rte_comch_consumer_state(cons) == RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_consumer_post_burst(cons, &buf, 1), 1);
	t_recv(cons, &cpl);
	T_EQ(cpl.status, -EBADFD);
	t_consumer_end(cons);
	t_pair_close(&p);
}

/* Before a connection is established there are no queues. */
void
conf_dperr_not_established(void)
{
	struct rte_comch_producer_conf pc = { .conf_size = sizeof(pc) };
	struct rte_comch_consumer_conf cc = { .conf_size = sizeof(cc) };
	struct rte_comch_conn *conn;
	struct t_pair p;

	t_pair_ends(&p, NULL);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	conn = rte_comch_client_conn(p.client);
	T_NULL_ERRNO(rte_comch_producer_create(conn, &pc), EBADFD);
	T_NULL_ERRNO(rte_comch_consumer_create(conn, &cc), EBADFD);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_RUNNING);
	t_pair_close(&p);
}

/* Before the peer announced it, a consumer cannot be reached by its id. */
void
conf_dperr_not_announced(void)
{
	struct rte_comch_producer *prod;
	struct rte_comch_consumer *cons;
	struct rte_comch_op op = { .cookie = 7, .consumer_id = 1 };
	struct rte_comch_cpl cpl;
	struct t_pair p;

	t_pair_open(&p, NULL);
	prod = t_producer_new(p.cconn, NULL);
	cons = t_consumer_new(p.sconn, NULL, NULL);
	op.consumer_id = rte_comch_consumer_id(cons);
	t_submit_ops(prod, &op, 1);
	t_done(prod, &cpl);
	T_EQ(cpl.status, -ENOENT);
	t_consumer_run(cons);
	T_UNTIL(t_knows_consumer(p.host, p.cconn, op.consumer_id));
	T_EQ(rte_comch_consumer_post_burst(cons,
			&(struct rte_comch_buf){ .cookie = 3 }, 1), 1);
	t_submit_ops(prod, &op, 1);
	t_recv(cons, &cpl);
	T_EQ(cpl.cookie, 3);
	t_producer_end(prod);
	t_consumer_end(cons);
	t_pair_close(&p);
}
