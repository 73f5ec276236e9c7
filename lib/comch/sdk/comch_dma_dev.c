/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DMA devices: found by name, configured, started, and shared out. */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <rte_common.h>
#include <rte_dmadev.h>
#include <rte_eal.h>

#include "sdk/comch_compat.h"
#include "sdk/comch_dma_dev.h"

#define MAX_QUEUES 32
/* Copies in flight per queue that are asked for. */
#define QUEUE_DESCS 64

struct comch_dma_dev {
	LIST_ENTRY(comch_dma_dev) next;
	int16_t id;
	uint16_t nb_queues;
	uint32_t nb_users;
	uint32_t taken[MAX_QUEUES]; /* 1: by a producer */
};

static pthread_mutex_t devs_lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, comch_dma_dev) devs = LIST_HEAD_INITIALIZER(devs);

/* The names of all DMA devices. */
static void
list_names(char *names, size_t size)
{
	struct rte_dma_info info;
	size_t used = 0;
	int16_t id;

	names[0] = '\0';
	for (id = rte_dma_next_dev(0); id >= 0; id = rte_dma_next_dev((int16_t)(id + 1))) {
		if (rte_dma_info_get(id, &info) != 0 || used >= size)
			continue;
		used += (size_t)snprintf(names + used, size - used, "%s%s", used > 0 ? ", " : "",
			info.dev_name);
	}
	if (names[0] == '\0')
		snprintf(names, size, "none: have EAL open it, by -a or --vdev");
}

static int
check_capa(const struct rte_dma_info *info, char *why, size_t size)
{
	const uint64_t need = RTE_DMA_CAPA_MEM_TO_MEM | RTE_DMA_CAPA_OPS_COPY;

	if ((info->dev_capa & need) != need) {
		snprintf(why, size, "it does not copy from memory to memory");
		return -ENOTSUP;
	}
	if ((info->dev_capa & RTE_DMA_CAPA_SVA) == 0) {
		snprintf(why, size, "it does not work on virtual addresses (RTE_DMA_CAPA_SVA)");
		return -ENOTSUP;
	}
	return 0;
}

static int
setup_queues(const struct rte_dma_info *info, struct comch_dma_dev *d)
{
	struct rte_dma_vchan_conf vchan = { .direction = RTE_DMA_DIR_MEM_TO_MEM };
	struct rte_dma_conf conf = {
		.nb_vchans = RTE_MIN(info->max_vchans, (uint16_t)MAX_QUEUES),
	};
	int ret = rte_dma_configure(d->id, &conf);
	uint16_t i;

	vchan.nb_desc = (uint16_t)RTE_MAX((uint32_t)info->min_desc,
		RTE_MIN((uint32_t)info->max_desc, (uint32_t)QUEUE_DESCS));
	for (i = 0; i < conf.nb_vchans && ret == 0; i++)
		ret = rte_dma_vchan_setup(d->id, i, &vchan);
	d->nb_queues = conf.nb_vchans;
	return ret != 0 ? ret : rte_dma_start(d->id);
}

static int
dev_start(struct comch_dma_dev *d, char *why, size_t size)
{
	struct rte_dma_info info;
	int ret = rte_dma_info_get(d->id, &info);

	if (ret == 0)
		ret = check_capa(&info, why, size);
	if (ret != 0)
		return ret;
	ret = setup_queues(&info, d);
	if (ret == -EBUSY)
		snprintf(why, size, "this process uses it for something else");
	else if (ret != 0)
		snprintf(why, size, "it cannot be started: %s", strerror(-ret));
	return ret;
}

static struct comch_dma_dev *
find(int16_t id)
{
	struct comch_dma_dev *d;

	LIST_FOREACH(d, &devs, next)
		if (d->id == id)
			return d;
	return NULL;
}

/* Call with devs_lock held. */
static int
dev_get(int16_t id, struct comch_dma_dev **dev, char *why, size_t size)
{
	struct comch_dma_dev *d = find(id);
	int ret;

	if (d != NULL) {
		d->nb_users++;
		*dev = d;
		return 0;
	}
	d = calloc(1, sizeof(*d));
	if (d == NULL)
		return -ENOMEM;
	d->id = id;
	d->nb_users = 1;
	ret = dev_start(d, why, size);
	if (ret != 0) {
		free(d);
		return ret;
	}
	LIST_INSERT_HEAD(&devs, d, next);
	*dev = d;
	return 0;
}

int
comch_dma_dev_open(const char *name, struct comch_dma_dev **dev, char *why, size_t size)
{
	char names[256];
	int id, ret;

	snprintf(why, size, "no memory");
	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		snprintf(why, size, "this is a secondary process of EAL, which cannot start it");
		return -ENOTSUP;
	}
	pthread_mutex_lock(&devs_lock);
	id = rte_dma_get_dev_id_by_name(name);
	if (id < 0) {
		list_names(names, sizeof(names));
		snprintf(why, size, "no such DMA device; there are: %s", names);
		ret = -ENODEV;
	} else {
		ret = dev_get((int16_t)id, dev, why, size);
	}
	pthread_mutex_unlock(&devs_lock);
	return ret;
}

void
comch_dma_dev_close(struct comch_dma_dev *dev)
{
	pthread_mutex_lock(&devs_lock);
	if (--dev->nb_users == 0) {
		rte_dma_stop(dev->id);
		LIST_REMOVE(dev, next);
		free(dev);
	}
	pthread_mutex_unlock(&devs_lock);
}

int16_t
comch_dma_dev_id(const struct comch_dma_dev *dev)
{
	return dev->id;
}

int
comch_dma_dev_take_queue(struct comch_dma_dev *dev)
{
	uint16_t i;

	for (i = 0; i < dev->nb_queues; i++)
		/* Acquire: pairs with comch_dma_dev_give_queue(). Model: lock.pml, lock. */
		if (comch_load_relaxed(&dev->taken[i]) == 0 &&
				__atomic_exchange_n(&dev->taken[i], 1, __ATOMIC_ACQUIRE) == 0)
			return i;
	return -EBUSY;
}

void
comch_dma_dev_give_queue(struct comch_dma_dev *dev, int queue)
{
	/* Release: pairs with comch_dma_dev_take_queue(). Model: lock.pml, unlock. */
	comch_store_release(&dev->taken[queue], 0);
}
