/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "u_chan.h"

static void
on_wake_peer(struct comch_chan_cons *c)
{
	struct u_chan *u = container_of(c, struct u_chan, c);

	__atomic_fetch_add(&u->prod_wakes, 1, __ATOMIC_RELAXED);
}

static void
on_cons_fault(void *ctx, int err, const char *text)
{
	struct u_chan *u = ctx;

	RTE_SET_USED(text);
	comch_store_relaxed(&u->last_fault, err);
	__atomic_fetch_add(&u->cons_faults, 1, __ATOMIC_RELAXED);
}

static void
on_prod_fault(void *ctx, int err, const char *text)
{
	struct u_chan *u = ctx;

	RTE_SET_USED(text);
	comch_store_relaxed(&u->last_fault, err);
	__atomic_fetch_add(&u->prod_faults, 1, __ATOMIC_RELAXED);
}

static void
on_drained(void *ctx)
{
	struct u_chan *u = ctx;

	__atomic_fetch_add(&u->nb_drained, 1, __ATOMIC_RELAXED);
}

static void
on_wake_others(struct comch_chan_prod *p)
{
	struct u_chan *u = p->tx.ctx;

	__atomic_fetch_add(&u->others_woken, 1, __ATOMIC_RELAXED);
}

static void
on_copies_started(struct comch_chan_prod *p)
{
	struct u_chan *u = p->tx.ctx;

	__atomic_fetch_add(&u->copies_started, 1, __ATOMIC_RELAXED);
}

static void *
alloc(size_t size)
{
	size_t len = RTE_ALIGN_CEIL(size, (size_t)COMCH_LINE);
	void *p = aligned_alloc(COMCH_LINE, len);

	if (p == NULL)
		T_FAIL("no memory");
	memset(p, 0, len);
	return p;
}

static void
make_mr(struct rte_comch_mr *mr, size_t len, enum rte_comch_mem_kind kind)
{
	mr->addr = alloc(len);
	mr->len = len;
	mr->kind = kind;
}

static void
make_cons(struct u_chan *u, const struct u_conf *conf)
{
	struct comch_chan_cons *c = &u->c;

	c->rx.entry = alloc(conf->depth * sizeof(*c->rx.entry));
	c->rx.depth = conf->depth;
	c->rx.mask = conf->depth - 1;
	c->rx.halt = RTE_COMCH_HALT_STOP;
	c->rx.drained = 1;
	c->rx.imm_size = conf->imm_size != 0 ? conf->imm_size : RTE_COMCH_IMM_SIZE;
	c->timeout_cycles = conf->timeout_cycles;
	c->rx.mrs = &u->mrs;
	u->mrs.nb = 2;
	u->mrs.mr[U_MR_DIRECT] = (struct comch_cons_mr){
		.mr = &u->direct, .region = U_REGION, .ready = 1,
		.addr = u->direct.addr, .len = u->direct.len,
	};
	u->mrs.mr[U_MR_STAGED] = (struct comch_cons_mr){
		.mr = &u->staged, .region = COMCH_REGION_STAGED, .ready = 1,
		.addr = u->staged.addr, .len = u->staged.len,
	};
	c->wake_peer = on_wake_peer;
	c->rx.fault = on_cons_fault;
	c->rx.drained_cb = on_drained;
	c->rx.ctx = u;
	comch_chan_cons_bind(c, u->post, u->rec, conf->staging_size);
}

static void
make_rcons(struct u_chan *u, const struct u_conf *conf)
{
	struct comch_chan_remote *rc = &u->rc;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
		T_FAIL("socketpair: %s", strerror(errno));
	u->wake_fd = fds[0];
	rc->wake_fd = fds[1];
	rc->to.post_shared = u->post;
	rc->rec = u->rec;
	rc->to.claim = &u->rec->claim;
	rc->to.imports = u->imports;
	rc->to.base.staging_size = conf->staging_size;
	if (conf->staging_size > 0)
		rc->staging = (uint8_t *)&u->rec->rec[conf->depth];
	rc->to.base.id = U_CONS_ID;
	rc->to.base.depth = conf->depth;
	rc->to.mask = conf->depth - 1;
	rc->to.base.imm_size = u->c.rx.imm_size;
	u->import.addr = u->direct.addr;
	u->import.len = u->direct.len;
	u->imports[U_REGION] = &u->import;
	T_EQ(comch_dir_add(&u->dir, &rc->to.base), 0);
}

static void
make_prod(struct u_chan *u, uint32_t i, uint32_t done_size)
{
	struct comch_chan_prod *p = &u->prod[i];
	uint32_t size = rte_align32pow2(done_size);

	p->tx.dir = &u->dir;
	p->tx.id = 100 + i;
	p->tx.done.ring = alloc(size * sizeof(*p->tx.done.ring));
	p->tx.done.mask = size - 1;
	p->tx.done.size = done_size;
	p->tx.fault = on_prod_fault;
	p->wake_others = on_wake_others;
	p->copies_started = on_copies_started;
	p->tx.ctx = u;
}

struct u_chan *
u_chan_create(const struct u_conf *conf)
{
	struct u_chan *u = alloc(sizeof(*u));
	uint32_t i;

	u->mem_size = conf->mem_size != 0 ? conf->mem_size : (size_t)conf->depth * 256;
	make_mr(&u->direct, u->mem_size, RTE_COMCH_MEM_SEALED);
	make_mr(&u->staged, u->mem_size, RTE_COMCH_MEM_HEAP);
	make_mr(&u->src, u->mem_size, RTE_COMCH_MEM_HEAP);
	t_fill(u->src.addr, u->mem_size, 1);
	u->post = alloc(comch_chan_post_len(conf->depth));
	u->rec = alloc(comch_chan_rec_len(conf->depth, conf->staging_size));
	make_cons(u, conf);
	make_rcons(u, conf);
	u->nb_prods = conf->nb_prods != 0 ? conf->nb_prods : 1;
	for (i = 0; i < u->nb_prods; i++)
		make_prod(u, i, conf->done_size != 0 ? conf->done_size : 64);
	return u;
}

void
u_chan_free(struct u_chan *u)
{
	uint32_t i;

	for (i = 0; i < u->nb_prods; i++)
		free(u->prod[i].tx.done.ring);
	close(u->wake_fd);
	close(u->rc.wake_fd);
	free(u->c.rx.entry);
	free(u->post);
	free(u->rec);
	free(u->direct.addr);
	free(u->staged.addr);
	free(u->src.addr);
	free(u);
}

bool
u_post(struct u_chan *u, uint32_t kind, size_t off, uint32_t len, uint64_t cookie)
{
	struct rte_comch_mr *mr = u->mrs.mr[kind].mr;
	struct rte_comch_buf buf = {
		.addr = mr->addr + off, .mr = mr, .len = len, .cookie = cookie,
	};

	return comch_chan_post(&u->c, &buf, 1) == 1;
}

void
u_post_many(struct u_chan *u, uint32_t kind, uint32_t n, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		T_CHECK(u_post(u, kind, (size_t)i * len, len, i));
}

struct rte_comch_op
u_op(const struct u_chan *u, size_t off, uint32_t len, uint64_t cookie)
{
	return (struct rte_comch_op){
		.addr = u->src.addr + off, .mr = (struct rte_comch_mr *)(uintptr_t)&u->src,
		.len = len, .cookie = cookie, .consumer_id = U_CONS_ID,
	};
}

uint16_t
u_send(struct u_chan *u, size_t off, uint32_t len, uint64_t cookie)
{
	struct rte_comch_op op = u_op(u, off, len, cookie);

	return comch_chan_send(&u->prod[0], &op, 1);
}

int
u_done_status(struct u_chan *u)
{
	struct rte_comch_cpl cpl;

	T_EQ(comch_chan_done(&u->prod[0], &cpl, 1), 1);
	return cpl.status;
}

bool
u_recv(struct u_chan *u, struct rte_comch_cpl *cpl)
{
	return comch_chan_recv(&u->c, cpl, 1) == 1;
}

uint32_t
u_recv_all(struct u_chan *u, int status)
{
	struct rte_comch_cpl cpl;
	uint32_t n = 0;

	while (u_recv(u, &cpl)) {
		T_EQ(cpl.status, status);
		n++;
	}
	return n;
}

struct comch_rec *
u_rec(struct u_chan *u, uint64_t pos)
{
	return &u->rec->rec[pos & u->rc.to.mask];
}

void
u_publish(struct u_chan *u, uint64_t pos, uint8_t kind, uint8_t count, uint32_t len)
{
	struct comch_rec *rec = u_rec(u, pos);

	memset(rec, 0, sizeof(*rec));
	rec->head.producer = 100;
	rec->head.kind = kind;
	rec->head.count = count;
	rec->len[0] = len;
	if (pos >= u->rec->claim)
		u->rec->claim = pos + count;
	comch_store_release(&rec->seq, pos + 1);
}
