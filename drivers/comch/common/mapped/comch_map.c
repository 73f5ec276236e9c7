/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The mapped channel's data of a link, its exported memory, and its table of operations. */

#include <errno.h>

#include <rte_malloc.h>

#include "sdk/comch_foreign.h"
#include "comch_map.h"

int
comch_map_wake_keep(struct comch_map *map, int *from)
{
	int fd = *from;

	if (!comch_foreign_is_unix(fd))
		return -EPROTO;
	if (!comch_quota_take(map->quota, COMCH_QUOTA_FDS, 1))
		return -EMFILE;
	*from = -1;
	return fd;
}

void
comch_map_wake_drop(struct comch_map *map, int fd)
{
	comch_foreign_close(fd);
	comch_quota_give(map->quota, COMCH_QUOTA_FDS, 1);
}

static int
map_open(struct rte_comch_link *link)
{
	struct comch_map *map = rte_zmalloc("comch_map", sizeof(*map), COMCH_LINE);
	struct rte_comch_peer_id id;

	if (map == NULL)
		return -ENOMEM;
	link->ops->link_peer(link, &id);
	map->quota = comch_quota_get(id.uid, id.pid);
	if (map->quota == NULL) {
		rte_free(map);
		return -ENOMEM;
	}
	rte_spinlock_init(&map->lock);
	link->data = map;
	return 0;
}

static void
map_close(struct rte_comch_link *link)
{
	struct comch_map *map = link->data;
	uint32_t i;

	for (i = 0; i < COMCH_MAX_PRODUCERS; i++)
		if (map->peer_prod[i].id != 0)
			comch_map_wake_drop(map, map->peer_prod[i].wake_fd);
	comch_quota_put(map->quota);
	rte_free(map);
	link->data = NULL;
}

static struct comch_map_peer_prod *
find_peer_prod(struct comch_map *map, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < COMCH_MAX_PRODUCERS; i++)
		if (map->peer_prod[i].id == id)
			return &map->peer_prod[i];
	return NULL;
}

static int
map_peer_prod_add(struct rte_comch_link *link, uint32_t id, struct rte_comch_ticket *peers)
{
	struct comch_map *map = link->data;
	struct comch_map_peer_prod *pp;
	int fd;

	if (id == 0 || find_peer_prod(map, id) != NULL)
		return -EPROTO;
	pp = find_peer_prod(map, 0);
	if (pp == NULL)
		return -EPROTO;
	fd = comch_map_wake_keep(map, &peers->fds[0]);
	if (fd < 0)
		return fd;
	rte_spinlock_lock(&map->lock);
	pp->id = id;
	pp->wake_fd = fd;
	rte_spinlock_unlock(&map->lock);
	/* It may sleep already, and earlier wake-ups could not reach it. */
	(void)send(pp->wake_fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	return 0;
}

static int
map_peer_prod_del(struct rte_comch_link *link, uint32_t id)
{
	struct comch_map *map = link->data;
	struct comch_map_peer_prod *pp;
	int fd;

	pp = id != 0 ? find_peer_prod(map, id) : NULL;
	if (pp == NULL)
		return -EPROTO;
	rte_spinlock_lock(&map->lock);
	fd = pp->wake_fd;
	pp->id = 0;
	rte_spinlock_unlock(&map->lock);
	comch_map_wake_drop(map, fd);
	return 0;
}

void
comch_map_wake_producers(struct rte_comch_link *link)
{
	struct comch_map *map = link->data;
	uint32_t i;

	rte_spinlock_lock(&map->lock);
	for (i = 0; i < COMCH_MAX_PRODUCERS; i++)
		if (map->peer_prod[i].id != 0)
			(void)send(map->peer_prod[i].wake_fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	rte_spinlock_unlock(&map->lock);
}

static int
map_mem_show(struct rte_comch_link *link, const struct rte_comch_mr *mr,
		struct rte_comch_mem_desc *desc, struct rte_comch_ticket *mine)
{
	int ret = comch_map_regions(link)->mem_export(link, mr, desc);

	if (ret != 0)
		return ret;
	/* Borrowed: the registration owns it. */
	mine->fds[0] = desc->fd;
	mine->nb_fds = 1;
	return 0;
}

/* Nothing to revoke: a process that mapped the memory keeps its access. */
static int
map_mem_hide(struct rte_comch_link *link __rte_unused, const struct rte_comch_mr *mr __rte_unused)
{
	return 0;
}

static int
map_mem_take(struct rte_comch_link *link, const struct rte_comch_mem_desc *desc,
		struct rte_comch_ticket *peers, struct rte_comch_region *region)
{
	struct rte_comch_mem_desc d = *desc;

	d.fd = peers->fds[0];
	return comch_map_regions(link)->mem_import(link, &d, region);
}

static void
map_mem_drop(struct rte_comch_link *link, struct rte_comch_region *region)
{
	comch_map_regions(link)->region_free(link, region);
}

const struct rte_comch_data_ops rte_comch_data_mapped = {
	.nb_fds = { .cons = 2, .cons_ack = 1, .prod = 1, .mem = 1 },
	.open = map_open,
	.close = map_close,
	.cons_create = comch_map_cons_create,
	.cons_offer = comch_map_cons_offer,
	.cons_bind = comch_map_cons_bind,
	.cons_halt = comch_map_cons_halt,
	.cons_drained = comch_map_cons_drained,
	.cons_retire = comch_map_cons_retire,
	.cons_room = comch_map_cons_room,
	.prod_create = comch_map_prod_create,
	.prod_begin = comch_map_prod_begin,
	.prod_offer = comch_map_prod_offer,
	.prod_halt = comch_map_prod_halt,
	.prod_idle = comch_map_prod_idle,
	.prod_step = comch_map_prod_step,
	.prod_abort = comch_map_prod_abort,
	.prod_epoch = comch_map_prod_epoch,
	.recv_mbufs = comch_map_recv_mbufs,
	.send_mbufs = comch_map_send_mbufs,
	.peer_prod_add = map_peer_prod_add,
	.peer_prod_del = map_peer_prod_del,
	.remote_size = comch_map_remote_size,
	.remote_create = comch_map_remote_create,
	.remote_retire = comch_map_remote_retire,
	.remote_free = comch_map_remote_free,
	.dq_destroy = comch_map_dq_destroy,
	.dq_fd = comch_map_dq_fd,
	.dq_clear = comch_map_dq_clear,
	.dq_arm = comch_map_dq_arm,
	.dq_rest = comch_map_dq_rest,
	.dq_pending = comch_map_dq_pending,
	.mem_show = map_mem_show,
	.mem_hide = map_mem_hide,
	.mem_take = map_mem_take,
	.mem_drop = map_mem_drop,
};
