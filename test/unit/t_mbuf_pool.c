/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Pools of mbufs and registrations of mempools: what is refused, and what that leaves. */

#include <sys/mman.h>

#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <rte_comch_mem.h>

#include "t_log.h"
#include "t_main.h"

#define ROOM 2048
/* More than can be registered. */
#define MANY 300

struct none {
	unsigned int fds;
};

static void
begin(struct none *n)
{
	t_eal_start(1);
	/* What the first one opens, it keeps. */
	rte_comch_pktmbuf_pool_free(rte_comch_pktmbuf_pool_create("first", 1, 0, 0, ROOM,
		SOCKET_ID_ANY));
	n->fds = t_fd_count();
}

static void
end(struct none *n)
{
	T_EQ(t_fd_count(), n->fds);
	t_eal_stop();
}

#define POOL_CASE(name) T_CASE_OF(struct none, begin, end, name, n)

static struct rte_mempool *
create(const char *name, unsigned int nb, uint16_t room)
{
	return rte_comch_pktmbuf_pool_create(name, nb, 0, 0, room, SOCKET_ID_ANY);
}

static struct rte_mempool *
create_multiproc(const char *name, unsigned int nb, uint16_t room)
{
	return rte_comch_pktmbuf_pool_create_multiproc(name, nb, 0, 0, room, SOCKET_ID_ANY);
}

POOL_CASE(creation)
{
	struct rte_mempool *mp;
	struct t_log log;

	RTE_SET_USED(n);
	T_NULL_ERRNO(create(NULL, 1, ROOM), EINVAL);
	T_NULL_ERRNO(create("p", 0, ROOM), EINVAL);
	T_NULL_ERRNO(create("p", 1, 0), EINVAL);
	/* A data room is a multiple of 64 bytes. */
	T_NULL_ERRNO(create("p", 1, UINT16_MAX), EINVAL);
	T_NULL_ERRNO(create_multiproc(NULL, 1, ROOM), EINVAL);
	T_NULL_ERRNO(create_multiproc("p", 0, ROOM), EINVAL);
	T_NULL_ERRNO(create_multiproc("p", 1, 0), EINVAL);
	mp = create("p", 1, ROOM);
	T_CHECK(mp != NULL);
	t_log_begin(&log);
	T_NULL_ERRNO(create("p", 1, ROOM), EEXIST);
	t_log_end(&log, "mbuf pool p: File exists");
	t_log_begin(&log);
	T_NULL_ERRNO(create_multiproc("p", 1, ROOM), EEXIST);
	t_log_end(&log, "mbuf pool p on a lock-free stack");
	T_EQ(rte_comch_pktmbuf_pool_free(mp), 0);
}

POOL_CASE(registration)
{
	struct rte_mempool *mp, *ours;
	struct rte_comch_mr *mr;
	struct rte_mbuf *m;
	struct t_log log;

	RTE_SET_USED(n);
	mp = rte_pktmbuf_pool_create("theirs", 1, 0, 0, ROOM, SOCKET_ID_ANY);
	ours = create("ours", 1, ROOM);
	T_CHECK(mp != NULL && ours != NULL);
	T_NULL_ERRNO(rte_comch_mempool_register(NULL, 0), EINVAL);
	T_EQ(rte_comch_mempool_unregister(NULL), -EINVAL);
	T_EQ(rte_comch_mempool_unregister(mp), -ENOENT);
	T_CHECK(rte_comch_mempool_mr(mp) == NULL);
	mr = rte_comch_mempool_register(mp, 0);
	T_CHECK(mr != NULL && rte_comch_mempool_mr(mp) == mr);
	T_NULL_ERRNO(rte_comch_mempool_register(mp, 0), EEXIST);
	T_NULL_ERRNO(rte_comch_mempool_register(ours, 0), EEXIST);
	/* Each kind ends by its own call. */
	T_EQ(rte_comch_mempool_unregister(ours), -EINVAL);
	T_EQ(rte_comch_pktmbuf_pool_free(mp), -EINVAL);
	T_EQ(rte_comch_pktmbuf_pool_free(NULL), -EINVAL);
	m = rte_pktmbuf_alloc(ours);
	T_CHECK(m != NULL);
	t_log_begin(&log);
	T_EQ(rte_comch_pktmbuf_pool_free(ours), -EBUSY);
	t_log_end(&log, "mbuf pool ours: cannot free: mbufs or queues are in use");
	rte_pktmbuf_free(m);
	T_EQ(rte_comch_pktmbuf_pool_free(ours), 0);
	T_EQ(rte_comch_mempool_unregister(mp), 0);
	rte_mempool_free(mp);
}

/* Nothing is left of what does not fit, and there is room again. */
POOL_CASE(too_many)
{
	struct rte_mempool *mp[MANY];
	char name[RTE_MEMPOOL_NAMESIZE];
	struct t_log log;
	unsigned int i, nb;

	RTE_SET_USED(n);
	for (nb = 0; nb < MANY; nb++) {
		snprintf(name, sizeof(name), "pool%u", nb);
		mp[nb] = rte_pktmbuf_pool_create(name, 1, 0, 0, ROOM, SOCKET_ID_ANY);
		T_CHECK(mp[nb] != NULL);
		if (rte_comch_mempool_register(mp[nb], 0) == NULL)
			break;
	}
	T_EQ(rte_errno, ENOSPC);
	T_LT(nb, MANY);
	t_log_begin(&log);
	T_NULL_ERRNO(create("late", 1, ROOM), ENOSPC);
	t_log_end(&log, "mbuf pool late: No space left on device");
	T_CHECK(rte_mempool_lookup("late") == NULL);
	T_NULL_ERRNO(create_multiproc("late", 1, ROOM), ENOSPC);
	T_CHECK(rte_mempool_lookup("late") == NULL);
	T_EQ(rte_comch_mempool_unregister(mp[0]), 0);
	T_CHECK(rte_comch_mempool_register(mp[nb], 0) != NULL);
	for (i = 1; i <= nb; i++)
		T_EQ(rte_comch_mempool_unregister(mp[i]), 0);
	for (i = 0; i <= nb; i++)
		rte_mempool_free(mp[i]);
}

/* Two pieces of memory with nothing of the pool's in between, which a peer would see. */
POOL_CASE(sparse)
{
	const size_t len = 64 << 10, gap = (size_t)1 << 28;
	struct rte_mempool *mp;
	struct t_log log;
	uint8_t *addr;

	RTE_SET_USED(n);
	addr = mmap(NULL, gap + len, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	T_CHECK(addr != MAP_FAILED);
	mp = rte_mempool_create_empty("sparse", 64, ROOM, 0, 0, SOCKET_ID_ANY, 0);
	T_CHECK(mp != NULL);
	T_EQ(rte_mempool_set_ops_byname(mp, "ring_mp_mc", NULL), 0);
	T_GT(rte_mempool_populate_iova(mp, (char *)addr, RTE_BAD_IOVA, len, NULL, NULL), 0);
	T_GT(rte_mempool_populate_iova(mp, (char *)addr + gap, RTE_BAD_IOVA, len, NULL, NULL), 0);
	t_log_begin(&log);
	T_NULL_ERRNO(rte_comch_mempool_register(mp, 0), ENOTSUP);
	t_log_end(&log, "mempool sparse: 131072 bytes spread over 268500992: too sparse");
	T_CHECK(rte_comch_mempool_mr(mp) == NULL);
	rte_mempool_free(mp);
	T_EQ(munmap(addr, gap + len), 0);
}

POOL_CASE(dma_map)
{
	struct rte_mempool *theirs, *eal, *ours;
	uint16_t port;

	RTE_SET_USED(n);
	ours = create("ours", 1, ROOM);
	eal = create_multiproc("eal", 1, ROOM);
	theirs = rte_pktmbuf_pool_create("theirs", 1, 0, 0, ROOM, SOCKET_ID_ANY);
	T_CHECK(ours != NULL && eal != NULL && theirs != NULL);
	T_EQ(rte_comch_pktmbuf_pool_dma_map(ours, 0), -EINVAL);
	if (rte_eal_hotplug_add("vdev", "net_null0", "") == 0) {
		T_EQ(rte_eth_dev_get_port_by_name("net_null0", &port), 0);
		T_EQ(rte_comch_pktmbuf_pool_dma_map(theirs, port), -EINVAL);
		/* EAL's memory is mapped. */
		T_EQ(rte_comch_pktmbuf_pool_dma_map(eal, port), 0);
		T_EQ(rte_comch_pktmbuf_pool_dma_map(ours, port), 0);
		/* It is unmapped, so the device is needed. */
		T_EQ(rte_comch_pktmbuf_pool_free(ours), 0);
		ours = NULL;
		T_EQ(rte_eal_hotplug_remove("vdev", "net_null0"), 0);
	}
	rte_mempool_free(theirs);
	T_EQ(rte_comch_pktmbuf_pool_free(eal), 0);
	if (ours != NULL)
		T_EQ(rte_comch_pktmbuf_pool_free(ours), 0);
}
