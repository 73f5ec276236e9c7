/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The mapped channel's sending ends, each towards one consumer of the peer. */

#include <errno.h>
#include <unistd.h>

#include <rte_malloc.h>

#include "sdk/comch_foreign.h"
#include "sdk/comch_log.h"
#include "sdk/comch_staging_budget.h"
#include "comch_map.h"
#include "sdk/comch_memfd.h"

uint64_t
comch_map_remote_size(const struct rte_comch_remote_args *args)
{
	return comch_memfd_round(comch_chan_rec_len(args->depth, args->staging_size));
}

/* Charged to the limits before it is created: the peer chooses its size. */
static int
rec_create(struct rte_comch_link *link, struct comch_chan_remote *rc, size_t len)
{
	struct comch_map *map = link->data;
	char why[256];
	int ret = comch_staging_take(&map->staging, link, len, why, sizeof(why));

	if (why[0] != '\0')
		COMCH_LOG_PEER(COMCH_LOG, "%s", why);
	if (ret != 0)
		return ret;
	ret = comch_map_regions(link)->region_create(link, len, &rc->rec_region);
	if (ret != 0) {
		comch_budget_give(&map->staging.used, len);
		comch_budget_give(link->dev->staged, len);
		return ret;
	}
	/* The device's share is released when the region is unmapped. */
	rc->rec_region.used = link->dev->staged;
	return 0;
}

static int
remote_map(struct rte_comch_link *link, struct comch_chan_remote *rc, int post_fd)
{
	const struct rte_comch_region_ops *regions = comch_map_regions(link);
	size_t post_len = comch_memfd_round(comch_chan_post_len(rc->to.base.depth));
	size_t rec_len = comch_memfd_round(comch_chan_rec_len(rc->to.base.depth,
		rc->to.base.staging_size));
	int ret;

	ret = regions->region_map(link, post_fd, post_len, &rc->post_region);
	if (ret != 0)
		return ret == -EPERM ? -EPROTO : ret;
	ret = rec_create(link, rc, rec_len);
	if (ret != 0) {
		regions->region_free(link, &rc->post_region);
		return ret;
	}
	rc->to.post_shared = rc->post_region.addr;
	rc->rec = rc->rec_region.addr;
	rc->to.claim = &rc->rec->claim;
	if (rc->to.base.staging_size > 0)
		rc->staging = (uint8_t *)&rc->rec->rec[rc->to.base.depth];
	return 0;
}

int
comch_map_remote_create(struct rte_comch_link *link, const struct rte_comch_remote_args *args,
		struct rte_comch_ticket *peers, struct rte_comch_ticket *mine,
		struct rte_comch_remote **remote)
{
	struct comch_chan_remote *rc;
	int ret, fd;

	fd = comch_map_wake_keep(link->data, &peers->fds[1]);
	if (fd < 0)
		return fd;
	rc = rte_zmalloc("comch_chan_remote", sizeof(*rc), COMCH_LINE);
	if (rc == NULL) {
		ret = -ENOMEM;
		goto err_drop;
	}
	rc->to.base = (struct rte_comch_remote){
		.ops = link->ops->data, .id = args->id, .depth = args->depth,
		.imm_size = args->imm_size, .staging_size = args->staging_size,
	};
	rc->to.mask = args->depth - 1;
	rc->to.imports = args->imports;
	rc->fences = link->fences;
	ret = remote_map(link, rc, peers->fds[0]);
	if (ret != 0)
		goto err_free;
	rc->wake_fd = fd;
	mine->fds[0] = rc->rec_region.fd;
	mine->nb_fds = 1;
	mine->to_close = 1;
	rc->rec_region.fd = -1;
	*remote = &rc->to.base;
	return 0;

err_free:
	rte_free(rc);
err_drop:
	comch_map_wake_drop(link->data, fd);
	return ret;
}

void
comch_map_remote_retire(struct rte_comch_remote *remote, uint64_t final __rte_unused)
{
	struct comch_chan_remote *rc = container_of(remote, struct comch_chan_remote, to.base);

	comch_store_relaxed(&rc->retired, 1);
}

int
comch_map_remote_free(struct rte_comch_link *link, struct rte_comch_remote *remote)
{
	struct comch_chan_remote *rc = container_of(remote, struct comch_chan_remote, to.base);
	struct comch_map *map = link->data;

	/*
	 * A producer with a stream refers to it between bursts, too.
	 * Pairs with stage_release(). Model: leave.pml, left.
	 */
	if (comch_load_acquire(&rc->streaming) != COMCH_STAGE_FREE)
		return -EBUSY;
	comch_map_regions(link)->region_free(link, &rc->post_region);
	comch_budget_give(&map->staging.used, rc->rec_region.len);
	comch_map_regions(link)->region_free(link, &rc->rec_region);
	comch_map_wake_drop(map, rc->wake_fd);
	rte_free(rc);
	return 0;
}
