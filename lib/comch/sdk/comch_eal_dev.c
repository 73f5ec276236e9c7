/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Devices of EAL: found by name, started, and shared out. */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <rte_eal.h>

#include "sdk/comch_compat.h"
#include "sdk/comch_eal_dev.h"

struct comch_eal_dev {
	LIST_ENTRY(comch_eal_dev) next;
	const struct comch_eal_dev_class *dev_class;
	int id;
	uint16_t nb_queues;
	uint32_t nb_users;
	uint32_t taken[COMCH_EAL_DEV_MAX_QUEUES]; /* 1: by a user */
};

static pthread_mutex_t devs_lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, comch_eal_dev) devs = LIST_HEAD_INITIALIZER(devs);

/* The names of all devices of a class. */
static void
list_names(const struct comch_eal_dev_class *dev_class, char *names, size_t size)
{
	const char *name;
	size_t used = 0;
	int id = 0;

	names[0] = '\0';
	for (name = dev_class->next(&id); name != NULL && used < size;
			id++, name = dev_class->next(&id))
		used += (size_t)snprintf(names + used, size - used, "%s%s", used > 0 ? ", " : "",
			name);
	if (names[0] == '\0')
		snprintf(names, size, "none: have EAL open it, by -a or --vdev");
}

static int
dev_start(struct comch_eal_dev *d, char *why, size_t size)
{
	int ret;

	why[0] = '\0';
	d->nb_queues = COMCH_EAL_DEV_MAX_QUEUES;
	ret = d->dev_class->start(d->id, &d->nb_queues, why, size);
	if (ret == 0 || why[0] != '\0')
		return ret;
	if (ret == -EBUSY)
		snprintf(why, size, "this process uses it for something else");
	else
		snprintf(why, size, "it cannot be started: %s", strerror(-ret));
	return ret;
}

static struct comch_eal_dev *
find(const struct comch_eal_dev_class *dev_class, int id)
{
	struct comch_eal_dev *d;

	LIST_FOREACH(d, &devs, next)
		if (d->dev_class == dev_class && d->id == id)
			return d;
	return NULL;
}

/* Call with devs_lock held. */
static int
dev_get(const struct comch_eal_dev_class *dev_class, int id, struct comch_eal_dev **dev,
		char *why, size_t size)
{
	struct comch_eal_dev *d = find(dev_class, id);
	int ret;

	if (d != NULL) {
		d->nb_users++;
		*dev = d;
		return 0;
	}
	d = calloc(1, sizeof(*d));
	if (d == NULL)
		return -ENOMEM;
	d->dev_class = dev_class;
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
comch_eal_dev_open(const struct comch_eal_dev_class *dev_class, const char *name,
		struct comch_eal_dev **dev, char *why, size_t size)
{
	char names[256];
	int id, ret;

	snprintf(why, size, "no memory");
	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		snprintf(why, size, "this is a secondary process of EAL, which cannot start it");
		return -ENOTSUP;
	}
	pthread_mutex_lock(&devs_lock);
	id = dev_class->find(name);
	if (id < 0) {
		list_names(dev_class, names, sizeof(names));
		snprintf(why, size, "no such %s; there are: %s", dev_class->what, names);
		ret = -ENODEV;
	} else {
		ret = dev_get(dev_class, id, dev, why, size);
	}
	pthread_mutex_unlock(&devs_lock);
	return ret;
}

void
comch_eal_dev_close(struct comch_eal_dev *dev)
{
	pthread_mutex_lock(&devs_lock);
	if (--dev->nb_users == 0 && dev->dev_class->stop != NULL) {
		dev->dev_class->stop(dev->id);
		LIST_REMOVE(dev, next);
		free(dev);
	}
	pthread_mutex_unlock(&devs_lock);
}

int
comch_eal_dev_id(const struct comch_eal_dev *dev)
{
	return dev->id;
}

int
comch_eal_dev_take_queue(struct comch_eal_dev *dev)
{
	uint16_t i;

	for (i = 0; i < dev->nb_queues; i++)
		/* Acquire: pairs with comch_eal_dev_give_queue(). Model: lock.pml, lock. */
		if (comch_load_relaxed(&dev->taken[i]) == 0 &&
				__atomic_exchange_n(&dev->taken[i], 1, __ATOMIC_ACQUIRE) == 0)
			return i;
	return -EBUSY;
}

void
comch_eal_dev_give_queue(struct comch_eal_dev *dev, int queue)
{
	/* Release: pairs with comch_eal_dev_take_queue(). Model: lock.pml, unlock. */
	comch_store_release(&dev->taken[queue], 0);
}
