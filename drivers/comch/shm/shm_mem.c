/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Regions, and memory shown to a peer: all of it memfds that pass the checks. */

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "comch_memfd.h"
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

/* The part of a page before offset: mappings begin on pages. */
static uint64_t
page_part(uint64_t offset)
{
	return offset & ((uint64_t)sysconf(_SC_PAGESIZE) - 1);
}

int
shm_mem_import(struct rte_comch_link *link, const struct rte_comch_mem_desc *desc,
		struct rte_comch_region *region)
{
	struct shm_link *l = container_of(link, struct shm_link, base);
	const struct shm_dev *shm = link->dev->priv;
	uint64_t part = page_part(desc->offset);
	void *addr;
	int ret;

	if (desc->len > shm->max_import || desc->len > shm->max_import - l->imported)
		return -EDQUOT;
	ret = comch_memfd_check(desc->fd, desc->offset, desc->len, shm->trust_peer);
	if (ret == 0)
		ret = comch_memfd_map(desc->fd, desc->offset - part, desc->len + part, true, &addr);
	if (ret != 0)
		return ret == -ENOMEM ? ret : -EPERM;
	l->imported += desc->len;
	*region = (struct rte_comch_region){
		.addr = (uint8_t *)addr + part, .len = desc->len, .fd = -1,
		.counted = true,
	};
	return 0;
}

int
shm_mem_region_create(struct rte_comch_link *link, size_t len,
		struct rte_comch_region *region)
{
	struct shm_link *l = container_of(link, struct shm_link, base);
	void *addr = NULL;
	int fd;

	/* The peer's consumers decide how large these are. */
	if (len > shm_dev_of(link)->max_import - l->imported)
		return -EDQUOT;

	fd = comch_memfd_create("comch_region", len, COMCH_MEMFD_ONE_WRITER, &addr);
	if (fd < 0)
		return fd;
	l->imported += len;
	*region = (struct rte_comch_region){
		.addr = addr, .len = len, .fd = fd, .counted = true,
	};
	return 0;
}

int
shm_mem_region_map(struct rte_comch_link *link __rte_unused, int fd, size_t len,
		struct rte_comch_region *region)
{
	void *addr;
	int ret;

	ret = comch_memfd_check(fd, 0, len, false);
	if (ret == 0)
		ret = comch_memfd_map(fd, 0, len, false, &addr);
	if (ret != 0)
		return ret;
	*region = (struct rte_comch_region){ .addr = addr, .len = len, .fd = -1 };
	return 0;
}

void
shm_mem_region_free(struct rte_comch_link *link, struct rte_comch_region *region)
{
	struct shm_link *l = container_of(link, struct shm_link, base);
	uint64_t part = page_part((uintptr_t)region->addr);

	if (region->addr == NULL)
		return;
	if (region->counted)
		l->imported -= region->len;
	munmap((uint8_t *)region->addr - part, region->len + part);
	if (region->fd >= 0)
		close(region->fd);
	*region = (struct rte_comch_region){ .fd = -1 };
}
