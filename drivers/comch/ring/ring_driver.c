/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Devices. All processes of an EAL find the same number in a memzone, and say it in the
 * handshake of their links; in other EALs there is another.
 */

#include <errno.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_memzone.h>
#include <rte_random.h>

#include "comch_args.h"
#include "ring_private.h"

RTE_LOG_REGISTER(comch_ring_logtype, pmd.comch.ring, NOTICE);

#define EAL_ZONE "comch_ring_eal"

static const char *const valid_keys[] = { COMCH_ARGS_KEYS, NULL };

static const struct shm_kind ring_kind = {
	.tag = RING_TAG, .logtype = &comch_ring_logtype,
	.sock_suffix = "ring.sock", .lock_suffix = "ring.lock",
	.stranger = "peer is not a process of this EAL: use comch_shm",
};

/* The EAL's number; the first process that asks makes it. 0 or -ENOMEM. */
static int
eal_number(uint32_t *number)
{
	const struct rte_memzone *zone = rte_memzone_lookup(EAL_ZONE);
	uint32_t found = 0, mine = (uint32_t)rte_rand() | 1;

	if (zone == NULL)
		zone = rte_memzone_reserve(EAL_ZONE, sizeof(mine), SOCKET_ID_ANY, 0);
	/* Another process was faster. */
	if (zone == NULL && rte_errno == EEXIST)
		zone = rte_memzone_lookup(EAL_ZONE);
	if (zone == NULL)
		return -ENOMEM;
	if (__atomic_compare_exchange_n((uint32_t *)zone->addr, &found, mine, false,
			__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) /* No model: the number is all */
		found = mine;
	*number = found;
	return 0;
}

static int
ring_probe(struct rte_comch_dev *dev, struct rte_kvargs *kv)
{
	uint32_t number;
	int ret;

	ret = eal_number(&number);
	if (ret != 0)
		return ret;
	ret = shm_driver_probe(dev, kv, &ring_kind, number);
	if (ret == 0)
		dev->info.capa |= RTE_COMCH_CAPA_HANDOVER;
	return ret;
}

/* Each run of the poll calls it, which may log what a burst must not. */
static bool
ring_frame_pending(const struct rte_comch_link *link)
{
	ring_pool_warn();
	return shm_driver_ops.frame_pending(link);
}

static struct rte_comch_driver_ops ring_ops;

/* Links are those of shared memory, so are most operations. */
RTE_INIT(ring_register)
{
	ring_ops = shm_driver_ops;
	ring_ops.name = "comch_ring";
	ring_ops.valid_keys = valid_keys;
	ring_ops.probe = ring_probe;
	ring_ops.frame_pending = ring_frame_pending;
	/* Also if all links are idle. */
	ring_ops.frame_word = NULL;
	ring_data_init();
	ring_ops.data = &ring_data_ops;
	rte_comch_driver_register_v9(&ring_ops);
}
