/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_MEM_H
#define RTE_COMCH_MEM_H

/**
 * @file
 * Memory for the fast path.
 *
 * Every buffer that a producer sends from or a consumer posts is within a
 * *registration* (struct rte_comch_mr). Any memory can be registered. Its kind decides
 * how often a message is copied on shared memory:
 *
 * | memory                             | kind   | CPU copies per message        |
 * |------------------------------------|--------|-------------------------------|
 * | rte_comch_mem_alloc(), and pools   | SEALED | 1: producer to buffer         |
 * | of rte_comch_pktmbuf_pool_create() |        |                               |
 * | EAL hugepages, devarg export_eal=1 | EAL    | 1, if the peer trusts this end|
 * | anything else: malloc, stack, bss  | HEAP   | 2: producer to staging ring,  |
 * |                                    |        | consumer from it              |
 *
 * Only the consumer's memory matters: a producer's memory is never exported. A network
 * card writes directly into posted memory of any kind, and so does a producer of the same
 * process or EAL (the ring driver).
 *
 * Consequences of sharing: when a consumer uses a SEALED registration, the peer process
 * can read and write all of its memory until the memory is freed or renewed, because a
 * disconnect cannot revoke a mapping. So keep only buffers for one peer in it. A
 * registration is bound to the first peer it was exported to (user id and host
 * function), and refused to others unless it has RTE_COMCH_MEM_F_SHARED. That includes
 * HEAP memory on devices whose driver exports it. A network card loses access, unlike a
 * process, when no consumer of the connection uses the registration any more. Memory of a
 * client is mapped by one process at a time; messages from a second one are staged
 * unless RTE_COMCH_MEM_F_SHARED is set. When the first process is gone,
 * rte_comch_consumer_start() renews the memory so that the next can map it. A peer can
 * also change bytes after delivery; RTE_COMCH_CONSUMER_F_SNAPSHOT prevents that at the
 * cost of a copy.
 *
 * fork(): memory of rte_comch_mem_alloc() is not mapped in the child. Other memory that a
 * network card writes must not become copy-on-write: that needs Linux 5.12, or
 * ibv_fork_init() on older kernels.
 *
 * Threads: any. These functions take locks and are meant for set-up.
 */

#include <rte_memory.h>

#include <rte_comch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* <rte_mempool.h> takes a compiler half a second: include it where you use it. */
struct rte_mempool;

/** The registration may be exported to several peers and processes. */
#define RTE_COMCH_MEM_F_SHARED (UINT32_C(1) << 0)

/** Kinds of registered memory. */
enum rte_comch_mem_kind {
	RTE_COMCH_MEM_SEALED, /**< Sealed shareable allocation. */
	RTE_COMCH_MEM_EAL,    /**< EAL memory, shareable on request. */
	RTE_COMCH_MEM_HEAP,   /**< Anything else: staged on shared memory. */
};

/** Name of a kind, for messages: "sealed", "eal", "heap". */
const char *rte_comch_mem_kind_name(enum rte_comch_mem_kind kind);

/** Properties of a registration. */
struct rte_comch_mr_info {
	void *addr;
	size_t len;
	enum rte_comch_mem_kind kind;
	uint32_t flags;    /**< RTE_COMCH_MEM_F_* */
	uint32_t id;       /**< Unique among existing registrations. */
	uint32_t nb_users; /**< Producers and consumers that use it. */
};

/**
 * Allocate shareable memory: a memfd of fixed size, mapped, zeroed, and aligned to its
 * page size.
 *
 * @param len
 *   Bytes; rounded up to pages.
 * @param socket_id
 *   Preferred NUMA socket, or SOCKET_ID_ANY.
 * @return
 *   The memory, or NULL with rte_errno: EINVAL (len 0), ENOMEM, EMFILE.
 */
void *rte_comch_mem_alloc(size_t len, int socket_id);

/**
 * Free shareable memory. Peers that mapped it keep their mapping.
 *
 * @param addr
 *   Result of rte_comch_mem_alloc(); NULL is allowed.
 * @return
 *   0, -EINVAL (not the start of an allocation), -EBUSY (registered).
 */
int rte_comch_mem_free(void *addr);

/**
 * Replace the pages of an allocation by new ones with the same contents at the same
 * address. Peers that mapped the old pages no longer have access. Operations that send
 * from it are done.
 *
 * @return
 *   0, -EINVAL (not the start of an allocation), -EBUSY (consumers use it), -ENOMEM.
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
 * Remove a registration. Operations that send from it are done.
 *
 * @return
 *   0, -EINVAL, -EBUSY (a producer, a consumer or a pool uses it).
 */
int rte_comch_mem_unregister(struct rte_comch_mr *mr);

/** @return 0, -EINVAL. */
int rte_comch_mem_info_get(const struct rte_comch_mr *mr,
		struct rte_comch_mr_info *info);

/**
 * Create a packet mbuf pool with its data rooms in shareable memory. The mbuf headers
 * stay in private memory: a peer can write payload, never a header. The pool is
 * registered (rte_comch_mempool_mr()).
 *
 * Parameters as for rte_pktmbuf_pool_create().
 *
 * @return
 *   The pool, or NULL with rte_errno.
 */
struct rte_mempool *rte_comch_pktmbuf_pool_create(const char *name, unsigned int n,
		unsigned int cache_size, uint16_t priv_size,
		uint16_t data_room_size, int socket_id);

/**
 * Create a packet mbuf pool for several processes of one EAL, between which the ring
 * driver hands its mbufs over (see the guide, "The ring driver").
 *
 * The data rooms are EAL memory. The free mbufs are on a lock-free stack, "lf_stack" of the
 * mempool driver "stack": if a process is killed in the middle of an allocation, the others
 * never wait for it. The default, a ring, would have them spin for ever.
 *
 * The pool is registered in this process. The others find it with rte_mempool_lookup() and
 * call rte_comch_mempool_register().
 *
 * Parameters as for rte_pktmbuf_pool_create(). *cache_size* should be 0: a killed process
 * leaves the cache of its lcore undefined, and no other process may use that lcore again.
 *
 * @return
 *   The pool, or NULL with rte_errno.
 */
struct rte_mempool *rte_comch_pktmbuf_pool_create_multiproc(const char *name,
		unsigned int n, unsigned int cache_size, uint16_t priv_size,
		uint16_t data_room_size, int socket_id);

/**
 * Free a pool of rte_comch_pktmbuf_pool_create() or
 * rte_comch_pktmbuf_pool_create_multiproc(), and its memory.
 *
 * @return
 *   0, -EINVAL (another kind of pool), -EBUSY (mbufs or queues are in use).
 */
int rte_comch_pktmbuf_pool_free(struct rte_mempool *mp);

/**
 * Map the pool's memory for DMA by a port, so that a NIC can receive into it.
 * Free the pool before the port's device is removed: freeing it unmaps the memory.
 *
 * @return
 *   0 (also if the port's device has mapped it already), -EINVAL (another kind of pool, or
 *   unknown port), -ENOSPC (16 devices have mapped it), or from rte_dev_dma_map().
 */
int rte_comch_pktmbuf_pool_dma_map(struct rte_mempool *mp, uint16_t port_id);

/**
 * Register the memory of any mempool, so that the bursts of rte_comch_mbuf.h accept its
 * mbufs.
 *
 * @return
 *   The registration, or NULL with rte_errno: EINVAL, EEXIST (registered already),
 *   ENOTSUP (its memory is too sparse), ENOSPC, ENOMEM.
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
