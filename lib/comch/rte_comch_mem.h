/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_MEM_H
#define RTE_COMCH_MEM_H

/**
 * @file
 * Memory for the fast path.
 *
 * Every buffer that a producer sends from or a consumer posts lies in a
 * *registration* (struct rte_comch_mr). Any memory can be registered; what
 * kind it is decides how many copies a message takes on shared memory:
 *
 * | memory                             | kind   | CPU copies a message          |
 * |------------------------------------|--------|-------------------------------|
 * | rte_comch_mem_alloc(), and pools   | SEALED | 1: producer into the buffer   |
 * | of rte_comch_pktmbuf_pool_create() |        |                               |
 * | EAL hugepages, devarg export_eal=1 | EAL    | 1, if the peer trusts us      |
 * | anything else: malloc, stack, bss  | HEAP   | 2: producer into a staging    |
 * |                                    |        | ring, consumer out of it      |
 *
 * Only the consumer's memory matters: a producer's is never shown to anyone.
 *
 * What sharing means. When a consumer names a SEALED registration, its whole
 * memory becomes readable and writable for the peer process until the memory
 * is freed or renewed: disconnecting cannot revoke a mapping. So keep in it
 * only buffers to be posted, and one peer's only: a registration is bound to
 * the first peer it was shown to (user id and host function) and refused to
 * others, unless RTE_COMCH_MEM_F_SHARED. A client's memory is mapped by one
 * process at a time: a second one stages, unless RTE_COMCH_MEM_F_SHARED; when
 * the first one is gone, rte_comch_consumer_start() gives the memory fresh
 * pages, so that the next can map it. A peer may also change bytes after
 * they were delivered; RTE_COMCH_CONSUMER_F_SNAPSHOT avoids it for a copy.
 *
 * Thread rule: any thread; these functions lock and are meant for set-up.
 */

#include <rte_mempool.h>

#include <rte_comch.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The registration may be shown to peers of several trust domains, and processes. */
#define RTE_COMCH_MEM_F_SHARED (UINT32_C(1) << 0)

/** Kinds of registered memory. */
enum rte_comch_mem_kind {
	RTE_COMCH_MEM_SEALED, /**< Sealed shareable allocation. */
	RTE_COMCH_MEM_EAL,    /**< EAL memory, shareable on request. */
	RTE_COMCH_MEM_HEAP,   /**< Anything else: staged. */
};

/** Name of a kind, for messages: "sealed", "eal", "heap". */
const char *rte_comch_mem_kind_name(enum rte_comch_mem_kind kind);

/** What is known of a registration. */
struct rte_comch_mr_info {
	void *addr;
	size_t len;
	enum rte_comch_mem_kind kind;
	uint32_t flags;    /**< RTE_COMCH_MEM_F_* */
	uint32_t id;       /**< Unique among live registrations. */
	uint32_t nb_users; /**< Producers' and consumers' claims on it. */
};

/**
 * Allocate shareable memory: a memfd of fixed size, mapped, zeroed, aligned to
 * its page size.
 *
 * @param len
 *   Bytes; rounded up to pages.
 * @param socket_id
 *   NUMA socket preferred, or SOCKET_ID_ANY.
 * @return
 *   The memory, or NULL with rte_errno: EINVAL (len 0), ENOMEM, EMFILE.
 */
void *rte_comch_mem_alloc(size_t len, int socket_id);

/**
 * Give shareable memory back. Peers that mapped it keep what they mapped;
 * our pages are gone.
 *
 * @param addr
 *   What rte_comch_mem_alloc() returned; NULL is allowed.
 * @return
 *   0, -EINVAL (not the start of an allocation), -EBUSY (registered).
 */
int rte_comch_mem_free(void *addr);

/**
 * Replace the pages of an allocation by fresh ones with the same contents at
 * the same address: peers that mapped it see it no more.
 *
 * @return
 *   0, -EINVAL (not the start of an allocation), -EBUSY (consumers use it),
 *   -ENOMEM.
 */
int rte_comch_mem_renew(void *addr);

/**
 * Register memory.
 *
 * @param addr
 *   Start; any alignment.
 * @param len
 *   Bytes.
 * @param flags
 *   RTE_COMCH_MEM_F_* or 0.
 * @return
 *   The registration, or NULL with rte_errno: EINVAL (no address, length 0,
 *   address + length overflows, unknown flag), ENOSPC (too many), ENOMEM.
 */
struct rte_comch_mr *rte_comch_mem_register(void *addr, size_t len, uint32_t flags);

/**
 * Take a registration back.
 *
 * @return
 *   0, -EINVAL, -EBUSY (a producer, a consumer or a pool uses it).
 */
int rte_comch_mem_unregister(struct rte_comch_mr *mr);

/** @return 0, -EINVAL. */
int rte_comch_mem_info_get(const struct rte_comch_mr *mr,
		struct rte_comch_mr_info *info);

/**
 * A packet mbuf pool whose data rooms lie in shareable memory. The mbuf
 * headers stay in private memory: a peer can write payload, never a header.
 * The pool is registered (rte_comch_mempool_mr()).
 *
 * Parameters as rte_pktmbuf_pool_create().
 *
 * @return
 *   The pool, or NULL with rte_errno.
 */
struct rte_mempool *rte_comch_pktmbuf_pool_create(const char *name, unsigned int n,
		unsigned int cache_size, uint16_t priv_size,
		uint16_t data_room_size, int socket_id);

/**
 * Free such a pool and its memory.
 *
 * @return
 *   0, -EINVAL (not such a pool), -EBUSY (mbufs are out, or queues use it).
 */
int rte_comch_pktmbuf_pool_free(struct rte_mempool *mp);

/**
 * Map the pool's memory for DMA by a port, so that a NIC receives into it.
 *
 * @return
 *   0, -EINVAL (not such a pool, or no such port), or from
 *   rte_dev_dma_map().
 */
int rte_comch_pktmbuf_pool_dma_map(struct rte_mempool *mp, uint16_t port_id);

/**
 * Register the memory of any mempool, so that the mbuf bursts of
 * rte_comch_mbuf.h take its mbufs.
 *
 * @return
 *   The registration, or NULL with rte_errno: EINVAL, EEXIST (it is already),
 *   ENOTSUP (its memory has holes wider than itself), ENOSPC, ENOMEM.
 */
struct rte_comch_mr *rte_comch_mempool_register(struct rte_mempool *mp, uint32_t flags);

/** Undo rte_comch_mempool_register(). @return 0, -EINVAL, -ENOENT, -EBUSY. */
int rte_comch_mempool_unregister(struct rte_mempool *mp);

/** The registration of a mempool, or NULL. */
struct rte_comch_mr *rte_comch_mempool_mr(const struct rte_mempool *mp);

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_MEM_H */
