/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Regions, and memory exported to and imported from a peer: checked memfds. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sdk/comch_budget.h"
#include "sdk/comch_log.h"
#include "sdk/comch_peermap.h"
#include "sdk/comch_memfd.h"
#include "sdk/comch_reaper.h"
#include "shm_private.h"

int
shm_mem_export(struct rte_comch_link *link, const struct rte_comch_mr *mr,
		struct rte_comch_mem_desc *desc)
{
	struct rte_comch_mr_info info;
	int ret;

	ret = rte_comch_mem_info_get(mr, &info);
	if (ret != 0)
		return ret;
	if (info.kind == RTE_COMCH_MEM_HEAP ||
			(info.kind == RTE_COMCH_MEM_EAL && !shm_dev_of(link)->export_eal))
		return -ENOTSUP;
	desc->fd = rte_comch_mr_fd(mr, &desc->offset);
	if (desc->fd < 0)
		return -ENOTSUP;
	desc->kind = info.kind;
	desc->len = info.len;
	return 0;
}

/* Log once per connection that its peer exceeds a limit. */
static void
warn_over(struct shm_link *l, uint64_t len, const struct comch_peermap_limit *total)
{
	if (l->warned_over)
		return;
	l->warned_over = true;
	COMCH_LOG_PEER(SHM_LOG, "%s: refused %" PRIu64 " bytes of peer memory: connection uses %"
		PRIu64 " of max_import=%" PRIu64 ", device %" PRIu64 " of total_import=%" PRIu64
		", or its process has used up its share of %u mappings; messages are staged",
		l->base.dev->info.name, len, l->imported, l->base.dev->info.max_import,
		*total->used, total->max, comch_quota_max(COMCH_QUOTA_MAPS));
}

struct comch_peermap_limit
shm_mem_limit(struct rte_comch_link *link)
{
	const struct shm_link *l = container_of(link, const struct shm_link, base);

	return (struct comch_peermap_limit){
		.max_file = RTE_MAX(link->dev->info.max_import - l->imported, UINT64_C(1)),
		.used = link->dev->imported, .max = link->dev->info.total_import,
		.trusted = shm_dev_of(link)->trust_peer, .no_wait = true,
	};
}

bool
shm_mem_take(struct shm_link *l, uint64_t len)
{
	if (!comch_quota_take(l->out.quota, COMCH_QUOTA_MAPS, 1))
		return false;
	if (comch_budget_take(&l->imported, l->base.dev->info.max_import, len))
		return true;
	comch_quota_give(l->out.quota, COMCH_QUOTA_MAPS, 1);
	return false;
}

void
shm_mem_give(struct shm_link *l, uint64_t len)
{
	comch_budget_give(&l->imported, len);
	comch_quota_give(l->out.quota, COMCH_QUOTA_MAPS, 1);
}

/*
 * A file counts once per connection, with its full size: all of it stays allocated
 * while a part is mapped. Takes over the reference f.
 */
static int
add_import(struct shm_link *l, struct comch_peermap *f, struct shm_import **import)
{
	struct shm_import *imp;

	for (imp = l->imports; imp != NULL; imp = imp->next) {
		if (imp->foreign != f)
			continue;
		comch_peermap_put(f);
		imp->refs++;
		*import = imp;
		return 0;
	}
	imp = calloc(1, sizeof(*imp));
	if (imp == NULL)
		return -ENOMEM;
	if (!shm_mem_take(l, f->len)) {
		free(imp);
		return -EDQUOT;
	}
	*imp = (struct shm_import){ .foreign = f, .refs = 1, .next = l->imports };
	l->imports = imp;
	*import = imp;
	return 0;
}

static void
del_import(struct shm_link *l, struct shm_import *imp)
{
	struct shm_import **at = &l->imports;

	if (--imp->refs > 0)
		return;
	while (*at != imp)
		at = &(*at)->next;
	*at = imp->next;
	shm_mem_give(l, imp->foreign->len);
	comch_peermap_put(imp->foreign);
	free(imp);
}

int
shm_mem_import(struct rte_comch_link *link, const struct rte_comch_mem_desc *desc,
		struct rte_comch_region *region)
{
	struct shm_link *l = container_of(link, struct shm_link, base);
	const struct comch_peermap_limit total = shm_mem_limit(link);
	struct comch_peermap *f = NULL;
	struct shm_import *imp = NULL;
	int ret = -EDQUOT;

	/* The receiver threads have mapped and sealed files that need sealing. */
	if (desc->len <= link->dev->info.max_import)
		ret = comch_peermap_get(desc->fd, desc->offset, desc->len, &total, &f);
	if (ret == -EPERM && l->map_err != 0)
		ret = l->map_err;
	l->map_err = 0;
	/* The import has its own reference now: drop that of the frame. */
	shm_fds_unmap(l);
	if (ret == 0)
		ret = add_import(l, f, &imp);
	if (ret == -EDQUOT)
		warn_over(l, f != NULL ? f->len : desc->len, &total);
	if (ret != 0) {
		if (f != NULL)
			comch_peermap_put(f);
		return ret;
	}
	*region = (struct rte_comch_region){
		.addr = imp->foreign->addr + (desc->offset - imp->foreign->offset),
		.len = desc->len, .fd = -1, .priv = imp,
	};
	return 0;
}

int
shm_mem_region_create(struct rte_comch_link *link __rte_unused, size_t len,
		struct rte_comch_region *region)
{
	void *addr = NULL;
	int fd;

	fd = comch_memfd_create("comch_region", len, COMCH_MEMFD_ONE_WRITER, &addr);
	if (fd < 0)
		return fd;
	*region = (struct rte_comch_region){ .addr = addr, .len = len, .fd = fd };
	return 0;
}

int
shm_mem_region_map(struct rte_comch_link *link, int fd, size_t len,
		struct rte_comch_region *region)
{
	struct shm_link *l = container_of(link, struct shm_link, base);
	const struct comch_peermap_limit total = shm_mem_limit(link);
	void *addr;
	int ret;

	ret = comch_memfd_check_control(fd, len);
	if (ret != 0)
		return ret;
	if (!comch_budget_take(total.used, total.max, len)) {
		warn_over(l, len, &total);
		return -EDQUOT;
	}
	ret = -EDQUOT;
	if (!shm_mem_take(l, len)) {
		warn_over(l, len, &total);
		goto err_give;
	}
	ret = comch_memfd_map(fd, 0, len, false, &addr);
	if (ret != 0)
		goto err_give_link;
	*region = (struct rte_comch_region){
		.addr = addr, .len = len, .fd = -1, .used = total.used,
	};
	return 0;

err_give_link:
	shm_mem_give(l, len);
err_give:
	comch_budget_give(total.used, len);
	return ret;
}

void
shm_mem_region_free(struct rte_comch_link *link, struct rte_comch_region *region)
{
	struct shm_link *l = container_of(link, struct shm_link, base);

	if (region->addr == NULL)
		return;
	if (region->priv != NULL) {
		del_import(l, region->priv);
	} else {
		if (region->used == link->dev->imported)
			shm_mem_give(l, region->len);
		comch_reaper_unmap(region->addr, region->len, region->used);
	}
	if (region->fd >= 0)
		close(region->fd);
	*region = (struct rte_comch_region){ .fd = -1 };
}
