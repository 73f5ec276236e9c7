/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef U_FV_H
#define U_FV_H

/* Two ends on fake verbs, for their tests. */

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fv.h"
#include "t_main.h"

#define U_WRS 8
#define U_BUF 4096

struct u_end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *ch;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buf;
};

struct u_ends {
	struct u_end a, b;
};

static inline void
u_end_open(struct u_end *e, const char *dev)
{
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = U_WRS, .max_recv_wr = U_WRS, .max_send_sge = 4,
			.max_recv_sge = 4, .max_inline_data = 64 },
		.qp_type = IBV_QPT_RC,
	};

	e->ctx = fv_ctx(dev);
	e->pd = fv_glue.alloc_pd(e->ctx);
	e->ch = fv_glue.create_comp_channel(e->ctx);
	e->cq = fv_glue.create_cq(e->ctx, 2 * U_WRS, e, e->ch, 0);
	init.send_cq = init.recv_cq = e->cq;
	e->qp = fv_glue.create_qp(e->pd, &init);
	T_CHECK(e->qp != NULL);
	e->buf = calloc(1, U_BUF);
	e->mr = fv_glue.reg_mr(e->pd, e->buf, U_BUF,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	T_CHECK(e->mr != NULL);
}

static inline void
u_end_close(struct u_end *e)
{
	T_EQ(fv_glue.destroy_qp(e->qp), 0);
	T_EQ(fv_glue.destroy_cq(e->cq), 0);
	T_EQ(fv_glue.destroy_comp_channel(e->ch), 0);
	T_EQ(fv_glue.dereg_mr(e->mr), 0);
	T_EQ(fv_glue.dealloc_pd(e->pd), 0);
	free(e->buf);
}

/* Index and value of the RoCE v2 GID of an address. */
static inline void
u_gid(struct ibv_context *ctx, const char *addr, union ibv_gid *gid, uint8_t *index)
{
	struct ibv_gid_entry table[64];
	ssize_t i, nb = fv_glue.query_gid_table(ctx, table, 64, 0);

	memset(gid, 0, sizeof(*gid));
	gid->raw[10] = gid->raw[11] = 0xff;
	T_EQ(inet_pton(AF_INET, addr, &gid->raw[12]), 1);
	for (i = 0; i < nb; i++)
		if (table[i].gid_type == IBV_GID_TYPE_ROCE_V2 &&
				memcmp(&table[i].gid, gid, sizeof(*gid)) == 0) {
			*index = (uint8_t)table[i].gid_index;
			return;
		}
	T_FAIL("no GID of %s", addr);
}

static inline int
u_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	return fv_glue.modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			IBV_QP_ACCESS_FLAGS);
}

static inline int
u_rtr(struct ibv_qp *qp, const char *mine, const char *peers, uint32_t qpn, uint32_t psn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qpn,
		.rq_psn = psn, .min_rnr_timer = 1,
		.ah_attr = { .is_global = 1, .port_num = 1, .grh.hop_limit = 64 },
	};
	union ibv_gid own;

	u_gid(qp->context, mine, &own, &attr.ah_attr.grh.sgid_index);
	attr.ah_attr.grh.dgid = own;
	T_EQ(inet_pton(AF_INET, peers, &attr.ah_attr.grh.dgid.raw[12]), 1);
	return fv_glue.modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			IBV_QP_MIN_RNR_TIMER);
}

static inline int
u_rts(struct ibv_qp *qp, uint32_t psn, uint8_t rnr_retry)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .sq_psn = psn, .timeout = 8, .retry_cnt = 7,
		.rnr_retry = rnr_retry,
	};

	return fv_glue.modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
			IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

static inline int
u_set_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return fv_glue.modify_qp(qp, &attr, IBV_QP_STATE);
}

static inline void
u_connect(struct u_ends *u, uint8_t rnr_retry)
{
	T_EQ(u_init(u->a.qp), 0);
	T_EQ(u_init(u->b.qp), 0);
	T_EQ(u_rtr(u->a.qp, "10.0.0.1", "10.0.1.1", u->b.qp->qp_num, 7), 0);
	T_EQ(u_rtr(u->b.qp, "10.0.1.1", "10.0.0.1", u->a.qp->qp_num, 9), 0);
	T_EQ(u_rts(u->a.qp, 9, rnr_retry), 0);
	T_EQ(u_rts(u->b.qp, 7, rnr_retry), 0);
}

/* a on fv0, b on fv1, connected. */
static inline void
u_open(struct u_ends *u)
{
	u_end_open(&u->a, "fv0");
	u_end_open(&u->b, "fv1");
	u_connect(u, 6);
}

static inline void
u_close(struct u_ends *u)
{
	u_end_close(&u->a);
	u_end_close(&u->b);
	T_EQ(fv_nb_live(FV_ALL), 0);
	fv_reset();
}

static inline int
u_recv(struct u_end *e, uint64_t wr_id, size_t at, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)e->buf + at, len, e->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

	return fv_glue.post_recv(e->qp, &wr, &bad);
}

static inline int
u_send(struct u_end *e, uint64_t wr_id, size_t at, uint32_t len, unsigned int flags)
{
	struct ibv_sge sge = { (uintptr_t)e->buf + at, len, e->mr->lkey };
	struct ibv_send_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_SEND, .send_flags = flags }, *bad;

	return fv_glue.post_send(e->qp, &wr, &bad);
}

/* RDMA WRITE of [at, at + len) to offset "to" of the other end's buffer. */
static inline int
u_write(struct u_end *e, struct u_end *peer, uint64_t wr_id, size_t at, uint32_t len,
		size_t to, unsigned int flags)
{
	struct ibv_sge sge = { (uintptr_t)e->buf + at, len, e->mr->lkey };
	struct ibv_send_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = flags,
		.wr.rdma = { (uintptr_t)peer->buf + to, peer->mr->rkey } }, *bad;

	return fv_glue.post_send(e->qp, &wr, &bad);
}

/* The next completion, waited for. */
static inline struct ibv_wc
u_wc(struct u_end *e)
{
	struct ibv_wc wc;

	T_AWAIT(fv_glue.poll_cq(e->cq, 1, &wc) == 1);
	return wc;
}

static inline void
u_expect(struct u_end *e, uint64_t wr_id, enum ibv_wc_status status)
{
	const struct ibv_wc wc = u_wc(e);

	T_EQ(wc.wr_id, wr_id);
	T_EQ(wc.status, status);
	T_EQ(wc.qp_num, e->qp->qp_num);
}

static inline bool
u_is_empty(struct u_end *e)
{
	struct ibv_wc wc;

	return fv_glue.poll_cq(e->cq, 1, &wc) == 0;
}

/* What ends the program, does it in a child. */
#define U_DIES(expr) \
	do { \
		int status_; \
		pid_t pid_ = fork(); \
		if (pid_ == 0) { \
			(void)(expr); \
			_exit(0); \
		} \
		T_EQ(waitpid(pid_, &status_, 0), pid_); \
		T_CHECK(WIFSIGNALED(status_) && WTERMSIG(status_) == SIGABRT); \
	} while (0)

#endif /* U_FV_H */
