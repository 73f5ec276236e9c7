/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Mempools whose data rooms can be exported to a peer, and registrations of any pool. */

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "sdk/comch_log.h"
#include "mem/comch_mem.h"
#include "sdk/comch_memfd.h"

#define MAX_POOLS 256
/* Devices that may map one pool for DMA. */
#define MAX_DMA_DEVS 16

struct pool_entry {
	const struct rte_mempool *mp; /* NULL: free; published last */
	struct rte_comch_mr *mr;
	bool is_ours;                 /* made here */
	void *block;                  /* sealed memory of a pool made here; or NULL */
	size_t len;
	struct rte_device *dma_dev[MAX_DMA_DEVS];
	unsigned int nb_dma_devs;
};

static struct pool_entry pools[MAX_POOLS];
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
uint32_t comch_mem_pool_changes;

static struct pool_entry *
find_pool(const struct rte_mempool *mp)
{
	unsigned int i;

	if (mp == NULL)
		return NULL;
	/* Pairs with add_pool(). Model: publish.pml, find. */
	for (i = 0; i < MAX_POOLS; i++)
		if (__atomic_load_n(&pools[i].mp, __ATOMIC_ACQUIRE) == mp)
			return &pools[i];
	return NULL;
}

static int
add_pool(const struct rte_mempool *mp, struct rte_comch_mr *mr, bool is_ours, void *block,
		size_t len)
{
	int ret = -ENOSPC;
	unsigned int i;

	pthread_mutex_lock(&pool_lock);
	for (i = 0; i < MAX_POOLS && ret != 0; i++) {
		if (pools[i].mp != NULL)
			continue;
		pools[i].mr = mr;
		pools[i].is_ours = is_ours;
		pools[i].block = block;
		pools[i].len = len;
		pools[i].nb_dma_devs = 0;
		mr->mp = mp;
		/*
		 * Release: pairs with the acquire of a lookup, which uses the members above.
		 * Model: publish.pml, publish.
		 */
		__atomic_store_n(&pools[i].mp, mp, __ATOMIC_RELEASE);
		/* Producers cache that it was not there. */
		__atomic_fetch_add(&comch_mem_pool_changes, 1, __ATOMIC_RELAXED);
		ret = 0;
	}
	pthread_mutex_unlock(&pool_lock);
	return ret;
}

static int
extmem_add(void *block, size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = len / page, i;
	rte_iova_t *iova;
	int ret;

	/* Without physical addresses, devices use virtual ones. */
	iova = malloc(n * sizeof(*iova));
	if (iova == NULL)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		iova[i] = rte_eal_iova_mode() == RTE_IOVA_VA ?
			(rte_iova_t)((uintptr_t)block + i * page) :
			rte_mem_virt2iova((uint8_t *)block + i * page);
	ret = rte_extmem_register(block, len, iova, (unsigned int)n, page);
	free(iova);
	return ret == 0 ? 0 : -rte_errno;
}

struct rte_mempool *
rte_comch_pktmbuf_pool_create(const char *name, unsigned int n, unsigned int cache_size,
		uint16_t priv_size, uint16_t data_room_size, int socket_id)
{
	uint16_t elt = (uint16_t)RTE_ALIGN_CEIL((uint32_t)data_room_size, 64u);
	struct rte_pktmbuf_extmem ext = { .elt_size = elt };
	struct rte_comch_mr *mr;
	struct rte_mempool *mp;
	void *block;
	int ret;

	if (name == NULL || n == 0 || elt < data_room_size || elt == 0) {
		rte_errno = EINVAL;
		return NULL;
	}
	ext.buf_len = comch_memfd_round((size_t)n * elt);
	block = rte_comch_mem_alloc(ext.buf_len, socket_id);
	if (block == NULL)
		return NULL;
	ret = extmem_add(block, ext.buf_len);
	if (ret != 0)
		goto err_free;
	mr = rte_comch_mem_register(block, ext.buf_len, 0);
	if (mr == NULL) {
		ret = -rte_errno;
		goto err_extmem;
	}
	/* Mbufs are always in use, so the pages cannot be renewed. */
	comch_mem_share(mr);
	ext.buf_ptr = block;
	ext.buf_iova = rte_eal_iova_mode() == RTE_IOVA_VA ? (rte_iova_t)(uintptr_t)block :
		rte_mem_virt2iova(block);
	mp = rte_pktmbuf_pool_create_extbuf(name, n, cache_size, priv_size, data_room_size,
			socket_id, &ext, 1);
	if (mp == NULL) {
		ret = -rte_errno;
		goto err_mr;
	}
	ret = add_pool(mp, mr, true, block, ext.buf_len);
	if (ret != 0)
		goto err_pool;
	return mp;

err_pool:
	rte_mempool_free(mp);
err_mr:
	rte_comch_mem_unregister(mr);
err_extmem:
	rte_extmem_unregister(block, ext.buf_len);
err_free:
	rte_comch_mem_free(block);
	COMCH_LOG(ERR, "mbuf pool %s: %s", name, strerror(-ret));
	rte_errno = -ret;
	return NULL;
}

/* Remove a pool from the table, after its registration, which may be in use. */
static int
del_pool(struct pool_entry *e)
{
	int ret = rte_comch_mem_unregister(e->mr);

	if (ret != 0)
		return ret;
	/* No model: pool_lock orders its next use. */
	__atomic_store_n(&e->mp, NULL, __ATOMIC_RELEASE);
	/* Before another pool can be registered at this address: producers cache lookups by it. */
	__atomic_fetch_add(&comch_mem_pool_changes, 1, __ATOMIC_RELAXED);
	return 0;
}

int
rte_comch_pktmbuf_pool_free(struct rte_mempool *mp)
{
	struct pool_entry *e, old;
	int ret = -EINVAL;

	pthread_mutex_lock(&pool_lock);
	e = find_pool(mp);
	if (e == NULL || !e->is_ours)
		goto unlock;
	ret = -EBUSY;
	if (rte_mempool_avail_count(mp) != mp->size)
		goto unlock;
	old = *e;
	ret = del_pool(e);
unlock:
	pthread_mutex_unlock(&pool_lock);
	if (ret != 0) {
		COMCH_LOG(ERR, "mbuf pool %s: cannot free: %s", mp != NULL ? mp->name : "(none)",
			ret == -EBUSY ? "mbufs or queues are in use" : strerror(-ret));
		return ret;
	}
	/* Not locked: callbacks for mempools that are freed may call these functions. */
	rte_mempool_free(mp);
	if (old.block == NULL)
		return 0;
	while (old.nb_dma_devs > 0)
		rte_dev_dma_unmap(old.dma_dev[--old.nb_dma_devs], old.block,
			(uintptr_t)old.block, old.len);
	rte_extmem_unregister(old.block, old.len);
	rte_comch_mem_free(old.block);
	return 0;
}

int
rte_comch_pktmbuf_pool_dma_map(struct rte_mempool *mp, uint16_t port_id)
{
	struct rte_eth_dev_info info;
	struct pool_entry *e = find_pool(mp);
	unsigned int i;
	int ret;

	if (e == NULL || !e->is_ours || rte_eth_dev_info_get(port_id, &info) != 0)
		return -EINVAL;
	/* EAL has mapped its own memory. */
	if (e->block == NULL)
		return 0;
	/* Ports may share a device. */
	for (i = 0; i < e->nb_dma_devs; i++)
		if (e->dma_dev[i] == info.device)
			return 0;
	if (e->nb_dma_devs == MAX_DMA_DEVS)
		return -ENOSPC;
	ret = rte_dev_dma_map(info.device, e->block, (uintptr_t)e->block, e->len);
	if (ret != 0)
		return rte_errno != 0 ? -rte_errno : ret;
	e->dma_dev[e->nb_dma_devs++] = info.device;
	return 0;
}

struct pool_range {
	uintptr_t start;
	uintptr_t end;
	size_t sum;
};

static void
add_chunk(struct rte_mempool *mp __rte_unused, void *arg, struct rte_mempool_memhdr *hdr,
		unsigned int idx __rte_unused)
{
	struct pool_range *r = arg;

	r->start = RTE_MIN(r->start, (uintptr_t)hdr->addr);
	r->end = RTE_MAX(r->end, (uintptr_t)hdr->addr + hdr->len);
	r->sum += hdr->len;
}

static struct rte_comch_mr *
register_pool(struct rte_mempool *mp, uint32_t flags, bool is_ours)
{
	struct pool_range r = { .start = UINTPTR_MAX };
	struct rte_comch_mr *mr;

	if (find_pool(mp) != NULL) {
		rte_errno = EEXIST;
		return NULL;
	}
	rte_mempool_mem_iter(mp, add_chunk, &r);
	if (r.sum == 0 || r.end - r.start > 2 * r.sum) {
		COMCH_LOG(ERR, "mempool %s: %zu bytes spread over %zu: too sparse to register",
			mp->name, r.sum, (size_t)(r.end - r.start));
		rte_errno = ENOTSUP;
		return NULL;
	}
	mr = rte_comch_mem_register((void *)r.start, r.end - r.start, flags);
	if (mr == NULL)
		return NULL;
	if (add_pool(mp, mr, is_ours, NULL, 0) != 0) {
		rte_comch_mem_unregister(mr);
		rte_errno = ENOSPC;
		return NULL;
	}
	return mr;
}

struct rte_comch_mr *
rte_comch_mempool_register(struct rte_mempool *mp, uint32_t flags)
{
	if (mp == NULL) {
		rte_errno = EINVAL;
		return NULL;
	}
	return register_pool(mp, flags, false);
}

struct rte_mempool *
rte_comch_pktmbuf_pool_create_multiproc(const char *name, unsigned int n,
		unsigned int cache_size, uint16_t priv_size, uint16_t data_room_size,
		int socket_id)
{
	struct rte_mempool *mp;
	int ret;

	if (name == NULL || n == 0 || data_room_size == 0) {
		rte_errno = EINVAL;
		return NULL;
	}
	mp = rte_pktmbuf_pool_create_by_ops(name, n, cache_size, priv_size, data_room_size,
			socket_id, "lf_stack");
	if (mp == NULL) {
		ret = rte_errno;
		COMCH_LOG(ERR, "mbuf pool %s on a lock-free stack (the mempool driver \"stack\"): "
			"%s", name, rte_strerror(ret));
		rte_errno = ret;
		return NULL;
	}
	if (register_pool(mp, 0, true) == NULL) {
		ret = rte_errno;
		rte_mempool_free(mp);
		rte_errno = ret;
		return NULL;
	}
	return mp;
}

int
rte_comch_mempool_unregister(struct rte_mempool *mp)
{
	struct pool_entry *e;
	int ret;

	if (mp == NULL)
		return -EINVAL;
	pthread_mutex_lock(&pool_lock);
	e = find_pool(mp);
	if (e == NULL)
		ret = -ENOENT;
	else if (e->is_ours)
		ret = -EINVAL;
	else
		ret = del_pool(e);
	pthread_mutex_unlock(&pool_lock);
	return ret;
}

struct rte_comch_mr *
rte_comch_mempool_mr(const struct rte_mempool *mp)
{
	const struct pool_entry *e = find_pool(mp);

	return e != NULL ? e->mr : NULL;
}
