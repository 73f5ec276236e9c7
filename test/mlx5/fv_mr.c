/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Protection domains, memory regions, and bytes that get to their place late. */

#include <sys/mman.h>
#include <unistd.h>

#include "fv_private.h"

/*
 * A key is index << 8 | generation, so that those of deregistered regions are refused
 * also when the index is used again. Keys for the peer differ from local ones.
 */
#define RKEY_BIT 0x40000000u

static struct {
	struct fv_mr *mr;
	uint8_t generation;
} *table;
static uint32_t table_size;

static struct fv_pd *
pd_of(const struct ibv_pd *pd)
{
	return FV_OF(pd, struct fv_pd, ibv);
}

struct ibv_pd *
fv_alloc_pd(struct ibv_context *ctx)
{
	struct fv_dev *dev = fv_dev_of(ctx);
	struct fv_pd *pd = NULL;
	int err;

	fv_lock();
	err = fv_call_err(FV_CALL_ALLOC_PD);
	if (err == 0 && dev->dead)
		err = EIO;
	if (err == 0 && dev->nb_pd >= fv.conf.max_pd)
		err = ENOMEM;
	if (err == 0) {
		pd = fv_new(FV_PD, sizeof(*pd));
		pd->ibv.context = ctx;
		dev->nb_pd++;
	}
	fv_unlock();
	if (pd == NULL) {
		errno = err;
		return NULL;
	}
	return &pd->ibv;
}

int
fv_dealloc_pd(struct ibv_pd *ibv)
{
	struct fv_pd *pd = pd_of(ibv);

	fv_lock();
	FV_CHECK(pd, FV_PD);
	if (pd->nb_users > 0) {
		FV_SAY("%u regions or queue pairs use this domain", pd->nb_users);
		fv_unlock();
		return EBUSY;
	}
	fv_dev_of(ibv->context)->nb_pd--;
	fv_free(pd, sizeof(*pd));
	fv_unlock();
	return 0;
}

void
fv_pd_use(struct ibv_pd *ibv, int change)
{
	struct fv_pd *pd = pd_of(ibv);

	FV_CHECK(pd, FV_PD);
	pd->nb_users += (unsigned int)change;
}

/* What would be pinned must be mapped. */
static bool
is_mapped(const void *addr, size_t len)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t end = ((uintptr_t)addr + len + page - 1) & ~(page - 1);
	uintptr_t at = (uintptr_t)addr & ~(page - 1);
	unsigned char vec[1024];

	while (at < end) {
		size_t part = FV_MIN(end - at, sizeof(vec) * page);

		if (mincore((void *)at, part, vec) != 0)
			return false;
		at += part;
	}
	return true;
}

static uint32_t
key_new(struct fv_mr *mr)
{
	uint32_t i;

	for (i = 1; i < table_size && table[i].mr != NULL; i++)
		;
	if (i >= table_size) {
		uint32_t size = table_size == 0 ? 64 : 2 * table_size;

		table = realloc(table, size * sizeof(*table));
		if (table == NULL)
			FV_DIE("out of memory");
		memset(&table[table_size], 0, (size - table_size) * sizeof(*table));
		table_size = size;
	}
	table[i].mr = mr;
	table[i].generation++;
	return i << 8 | table[i].generation;
}

void
fv_mr_forget_keys(void)
{
	free(table);
	table = NULL;
	table_size = 0;
}

static int
reg_err(struct fv_dev *dev, const void *addr, size_t len, unsigned int access)
{
	const unsigned int need_local = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	int err = fv_call_err(FV_CALL_REG_MR);

	if (err != 0)
		return err;
	if (dev->dead)
		return EIO;
	if (len == 0 || ((access & need_local) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0))
		return EINVAL;
	if ((access & IBV_ACCESS_ON_DEMAND) != 0)
		return EOPNOTSUPP;
	if (dev->nb_mr >= fv.conf.max_mr || len > fv.conf.max_pinned ||
			fv.stats.pinned > fv.conf.max_pinned - len)
		return ENOMEM;
	return is_mapped(addr, len) ? 0 : EFAULT;
}

struct ibv_mr *
fv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	struct fv_dev *dev = fv_dev_of(pd->context);
	struct fv_mr *mr;
	int err;

	fv_call_wait(FV_CALL_REG_MR);
	fv_lock();
	FV_CHECK(pd_of(pd), FV_PD);
	err = reg_err(dev, addr, len, (unsigned int)access);
	if (err != 0) {
		fv_unlock();
		errno = err;
		return NULL;
	}
	mr = fv_new(FV_MR, sizeof(*mr));
	mr->access = (unsigned int)access;
	mr->ibv.context = pd->context;
	mr->ibv.pd = pd;
	mr->ibv.addr = addr;
	mr->ibv.length = len;
	mr->ibv.lkey = key_new(mr);
	if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)) != 0)
		mr->ibv.rkey = mr->ibv.lkey | RKEY_BIT;
	fv_pd_use(pd, 1);
	dev->nb_mr++;
	fv.stats.regs++;
	fv.stats.pinned += len;
	fv_unlock();
	return &mr->ibv;
}

static void
apply_one(struct fv_asides *aside, struct fv_late *l)
{
	TAILQ_REMOVE(aside, l, next);
	memcpy(l->to, l->bytes, l->len);
	free(l);
}

static void
apply_of_key(struct fv_asides *aside, uint32_t key)
{
	struct fv_late *l, *tmp;

	FV_FOREACH_SAFE(l, aside, next, tmp)
		if (l->key == key)
			apply_one(aside, l);
}

void
fv_aside_apply(struct fv_asides *aside)
{
	while (!TAILQ_EMPTY(aside))
		apply_one(aside, TAILQ_FIRST(aside));
}

/* From the return of dereg_mr() a device touches the memory no more. */
static void
apply_before_dereg(uint32_t key)
{
	struct fv_cqe *cqe;
	struct fv_cq *cq;
	struct fv_qp *qp;

	TAILQ_FOREACH(cq, &fv.cqs, next)
		TAILQ_FOREACH(cqe, &cq->cqes, next)
			apply_of_key(&cqe->aside, key);
	TAILQ_FOREACH(qp, &fv.qps, next)
		apply_of_key(&qp->aside, key);
}

int
fv_dereg_mr(struct ibv_mr *ibv)
{
	struct fv_mr *mr = FV_OF(ibv, struct fv_mr, ibv);

	fv_call_wait(FV_CALL_DEREG_MR);
	fv_lock();
	FV_CHECK(mr, FV_MR);
	apply_before_dereg(ibv->lkey);
	table[ibv->lkey >> 8].mr = NULL;
	fv_pd_use(ibv->pd, -1);
	fv_dev_of(ibv->context)->nb_mr--;
	fv.stats.pinned -= ibv->length;
	fv_free(mr, sizeof(*mr));
	fv_unlock();
	return 0;
}

const struct fv_mr *
fv_mr_check(const struct ibv_pd *pd, uint32_t key, bool remote, uint64_t addr, size_t len,
		unsigned int access)
{
	const uint32_t index = (key & ~RKEY_BIT) >> 8;
	const struct fv_mr *mr;
	uint64_t begin;

	if (((key & RKEY_BIT) != 0) != remote || index >= table_size)
		return NULL;
	mr = table[index].mr;
	if (mr == NULL || mr->ibv.lkey != (key & ~RKEY_BIT) || mr->ibv.pd != pd ||
			(mr->access & access) != access)
		return NULL;
	begin = (uint64_t)(uintptr_t)mr->ibv.addr;
	if (addr < begin || len > mr->ibv.length || addr - begin > mr->ibv.length - len)
		return NULL;
	return mr;
}

bool
fv_mr_resolve(const struct ibv_pd *pd, const struct ibv_sge *sges, int nb,
		unsigned int access, struct fv_iov *iov, int *nb_iov)
{
	int i;

	*nb_iov = 0;
	for (i = 0; i < nb; i++) {
		if (sges[i].length == 0)
			continue;
		if (fv_mr_check(pd, sges[i].lkey, false, sges[i].addr, sges[i].length,
				access) == NULL)
			return false;
		iov[(*nb_iov)++] = (struct fv_iov) {
			.addr = (uint8_t *)(uintptr_t)sges[i].addr,
			.len = sges[i].length,
			.key = sges[i].lkey,
		};
	}
	return true;
}

static void
copy_part(const struct fv_iov *to, size_t to_at, const uint8_t *from, size_t len,
		struct fv_asides *aside)
{
	struct fv_late *l;

	if (aside == NULL) {
		memmove(to->addr + to_at, from, len);
		return;
	}
	l = malloc(sizeof(*l) + len);
	if (l == NULL)
		FV_DIE("out of memory");
	l->key = to->key & ~RKEY_BIT;
	l->to = to->addr + to_at;
	l->len = len;
	memcpy(l->bytes, from, len);
	TAILQ_INSERT_TAIL(aside, l, next);
}

/* aside: where to put the bytes aside; NULL: to their place. */
void
fv_iov_copy(const struct fv_iov *to, int nb_to, const struct fv_iov *from, int nb_from,
		size_t len, struct fv_asides *aside)
{
	size_t to_at = 0, from_at = 0;

	while (len > 0 && nb_to > 0 && nb_from > 0) {
		size_t part = FV_MIN(to->len - to_at, from->len - from_at);

		part = FV_MIN(part, len);
		copy_part(to, to_at, from->addr + from_at, part, aside);
		len -= part;
		to_at += part;
		from_at += part;
		if (to_at == to->len) {
			to++;
			nb_to--;
			to_at = 0;
		}
		if (from_at == from->len) {
			from++;
			nb_from--;
			from_at = 0;
		}
	}
	if (len > 0)
		FV_DIE("%zu bytes have no place", len);
}
