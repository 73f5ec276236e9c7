/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"
#include "t.h"

#define MAX_QPS 512
#define MAX_MRS 512
#define MAX_PDS 256
/** Work requests of tests, beside the driver's. */
#define MORE_WRS 256
/** The bytes to be sent of one protection domain, used in turn. */
#define SLAB_SIZE 65536

struct pd {
	const struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint8_t *slab;
	uint32_t used;
};

struct qp {
	struct ibv_qp *qp; /* NULL: destroyed */
	uint32_t qpn;
	bool is_mute;
};

struct mr {
	const struct ibv_mr *mr; /* NULL: deregistered */
	const void *addr;
	uint32_t rkey;
};

static const struct mlx5_glue *real;
static struct mlx5_glue table;
/* The driver's helper threads register memory and make queue pairs. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pd pds[MAX_PDS];
static struct qp qps[MAX_QPS];
static struct mr mrs[MAX_MRS];
static unsigned int nb_pds, nb_qps, nb_mrs;
static uint32_t client_qpn;
static bool lies;
static bool failed[IBV_WC_TM_RNDV_INCOMPLETE + 1];

static struct qp *
qp_of(const struct ibv_qp *qp)
{
	unsigned int i;

	for (i = 0; i < nb_qps; i++)
		if (qps[i].qp == qp)
			return &qps[i];
	T_FAIL("queue pair %p is not known", (const void *)qp);
}

static struct pd *
pd_of(const struct ibv_pd *pd)
{
	unsigned int i;

	for (i = 0; i < nb_pds; i++)
		if (pds[i].pd == pd)
			return &pds[i];
	T_LT(nb_pds, MAX_PDS);
	pds[nb_pds] = (struct pd){ .pd = pd };
	return &pds[nb_pds++];
}

/* What the driver calls */

static int
dealloc_pd(struct ibv_pd *pd)
{
	struct pd *p;

	pthread_mutex_lock(&lock);
	p = pd_of(pd);
	if (p->mr != NULL)
		T_EQ(real->dereg_mr(p->mr), 0);
	free(p->slab);
	*p = pds[--nb_pds];
	pthread_mutex_unlock(&lock);
	return real->dealloc_pd(pd);
}

static struct ibv_mr *
reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	struct ibv_mr *mr = real->reg_mr(pd, addr, len, access);

	if (mr == NULL || (access & IBV_ACCESS_REMOTE_WRITE) == 0)
		return mr;
	pthread_mutex_lock(&lock);
	T_LT(nb_mrs, MAX_MRS);
	mrs[nb_mrs++] = (struct mr){ .mr = mr, .addr = addr, .rkey = mr->rkey };
	/* Some bits are an index, others count its uses. */
	if (lies)
		mr->rkey ^= 0x55;
	pthread_mutex_unlock(&lock);
	return mr;
}

static int
dereg_mr(struct ibv_mr *mr)
{
	unsigned int i;
	int ret;

	ret = real->dereg_mr(mr);
	pthread_mutex_lock(&lock);
	for (i = 0; i < nb_mrs; i++)
		if (mrs[i].mr == mr)
			mrs[i].mr = NULL;
	pthread_mutex_unlock(&lock);
	return ret;
}

static struct ibv_cq *
create_cq(struct ibv_context *ctx, int cqe, void *cq_ctx, struct ibv_comp_channel *channel,
		int vector)
{
	return real->create_cq(ctx, cqe + MORE_WRS, cq_ctx, channel, vector);
}

static struct ibv_qp *
create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *qp;

	attr->cap.max_send_wr += MORE_WRS;
	qp = real->create_qp(pd, attr);
	if (qp == NULL)
		return NULL;
	pthread_mutex_lock(&lock);
	T_LT(nb_qps, MAX_QPS);
	qps[nb_qps++] = (struct qp){ .qp = qp, .qpn = qp->qp_num };
	pthread_mutex_unlock(&lock);
	return qp;
}

/* The driver has a completion queue for each queue pair. */
static int
poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	const int got = real->poll_cq(cq, n, wc);
	int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < got; i++)
		failed[wc[i].status] = true;
	pthread_mutex_unlock(&lock);
	return got;
}

static int
destroy_qp(struct ibv_qp *qp)
{
	struct ibv_wc wc;
	struct qp *q;

	/* The driver may not look any more. */
	while (poll_cq(qp->send_cq, 1, &wc) > 0)
		;
	pthread_mutex_lock(&lock);
	q = qp_of(qp);
	memmove(q, q + 1, (size_t)(&qps[--nb_qps] - q) * sizeof(*q));
	pthread_mutex_unlock(&lock);
	return real->destroy_qp(qp);
}

static int
post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	bool is_mute;

	pthread_mutex_lock(&lock);
	is_mute = qp_of(qp)->is_mute;
	pthread_mutex_unlock(&lock);
	return is_mute ? 0 : real->post_recv(qp, wr, bad);
}

static int
connect_client(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	pthread_mutex_lock(&lock);
	client_qpn = param->qp_num;
	pthread_mutex_unlock(&lock);
	return real->connect(id, param);
}

void
raw_open(const struct mlx5_glue *verbs)
{
	real = verbs;
	table = *verbs;
	table.dealloc_pd = dealloc_pd;
	table.reg_mr = reg_mr;
	table.dereg_mr = dereg_mr;
	table.create_cq = create_cq;
	table.create_qp = create_qp;
	table.destroy_qp = destroy_qp;
	table.post_recv = post_recv;
	table.poll_cq = poll_cq;
	table.connect = connect_client;
	mlx5_verbs = &table;
}

/* What tests call */

struct ibv_qp *
raw_ctrl_qp(void)
{
	struct ibv_qp *found = NULL;
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < nb_qps; i++)
		if (qps[i].qpn == client_qpn)
			found = qps[i].qp;
	pthread_mutex_unlock(&lock);
	T_CHECK(found != NULL);
	return found;
}

struct ibv_qp *
raw_data_qp(void)
{
	const struct ibv_qp *ctrl = raw_ctrl_qp();
	struct ibv_qp *found = NULL;
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < nb_qps; i++)
		if (qps[i].qp->pd == ctrl->pd && qps[i].qp != ctrl)
			found = qps[i].qp;
	pthread_mutex_unlock(&lock);
	T_CHECK(found != NULL);
	return found;
}

/* Bytes in memory that the device can read. */
static struct ibv_sge
copied(struct ibv_pd *pd, const void *bytes, uint32_t len)
{
	struct ibv_sge sge;
	struct pd *p;

	pthread_mutex_lock(&lock);
	p = pd_of(pd);
	if (p->slab == NULL) {
		p->slab = calloc(1, SLAB_SIZE);
		T_CHECK(p->slab != NULL);
		p->mr = real->reg_mr(pd, p->slab, SLAB_SIZE, IBV_ACCESS_LOCAL_WRITE);
		T_CHECK(p->mr != NULL);
	}
	if (p->used + len > SLAB_SIZE)
		p->used = 0;
	sge = (struct ibv_sge){ (uintptr_t)p->slab + p->used, len, p->mr->lkey };
	memcpy(p->slab + p->used, bytes, len);
	p->used += len;
	pthread_mutex_unlock(&lock);
	return sge;
}

void
raw_send(struct ibv_qp *qp, const void *msg, uint32_t len)
{
	struct ibv_sge sge = copied(qp->pd, msg, len);
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = len > 0 ? 1 : 0, .opcode = IBV_WR_SEND,
	}, *bad;

	T_EQ(real->post_send(qp, &wr, &bad), 0);
}

void
raw_write(struct ibv_qp *qp, const void *bytes, uint32_t len, uint64_t addr, uint32_t rkey)
{
	struct ibv_sge sge = copied(qp->pd, bytes, len);
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { addr, rkey },
	}, *bad;

	T_EQ(real->post_send(qp, &wr, &bad), 0);
}

bool
raw_failed(enum ibv_wc_status status)
{
	bool ret;

	pthread_mutex_lock(&lock);
	ret = failed[status];
	pthread_mutex_unlock(&lock);
	return ret;
}

uint32_t
raw_rkey_of(const void *addr)
{
	unsigned int i;
	uint32_t rkey;

	pthread_mutex_lock(&lock);
	for (i = nb_mrs; i > 0 && mrs[i - 1].addr != addr; i--)
		;
	T_GT(i, 0);
	rkey = mrs[i - 1].rkey;
	pthread_mutex_unlock(&lock);
	return rkey;
}

bool
raw_is_shown(uint32_t rkey)
{
	bool is_shown = false;
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < nb_mrs; i++)
		is_shown |= mrs[i].mr != NULL && mrs[i].rkey == rkey;
	pthread_mutex_unlock(&lock);
	return is_shown;
}

void
raw_lie(bool on)
{
	pthread_mutex_lock(&lock);
	lies = on;
	pthread_mutex_unlock(&lock);
}

void
raw_mute(struct ibv_qp *qp)
{
	pthread_mutex_lock(&lock);
	qp_of(qp)->is_mute = true;
	pthread_mutex_unlock(&lock);
}
