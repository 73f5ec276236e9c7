/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Registration of drivers, and the table of open devices. */

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <rte_debug.h>
#include <rte_kvargs.h>
#include <rte_string_fns.h>

#include "rte_comch_stats.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_dir.h"
#include "sdk/comch_foreign.h"
#include "sdk/comch_log.h"
#include "ctrl/comch_dev.h"
#include "ctrl/comch_plugin.h"

#define MAX_DRIVERS 8
/* A host function each, of RTE_COMCH_MAX_REPS, and others. */
#define MAX_DEVS 512
/* What a device without a fast path cannot do. */
#define CAPAS_OF_DATA (RTE_COMCH_CAPA_DATA | RTE_COMCH_CAPA_DIRECT | RTE_COMCH_CAPA_SYNC_SEND)

static struct rte_comch_driver_ops drivers[MAX_DRIVERS];
static unsigned int nb_drivers;
static struct rte_comch_dev *devs[MAX_DEVS];
/* Indexed by device; kept after close, since bytes may be returned later. */
static struct {
	uint64_t imported;
	uint64_t staged;
} totals[MAX_DEVS];
static pthread_mutex_t dev_lock = PTHREAD_MUTEX_INITIALIZER;
/* Taken before dev_lock: no device is closed. It may be held for long. */
static pthread_mutex_t close_lock = PTHREAD_MUTEX_INITIALIZER;

/* Defaults of optional operations. */

static void
dummy_forked(struct rte_comch_listener *listener __rte_unused)
{
}

static int
dummy_fd(const struct rte_comch_listener *listener __rte_unused)
{
	return -1;
}

static int
dummy_link_fd(const struct rte_comch_link *link __rte_unused)
{
	return -1;
}

static void
dummy_peer(const struct rte_comch_link *link __rte_unused, struct rte_comch_peer_id *id)
{
	id->pid = id->uid = id->gid = -1;
}

static int
dummy_check(struct rte_comch_listener *listener __rte_unused, char *text __rte_unused,
		size_t size __rte_unused)
{
	return 0;
}

static bool
dummy_arm(struct rte_comch_link *link __rte_unused, bool credits __rte_unused)
{
	return false;
}

static void
dummy_rest(struct rte_comch_link *link __rte_unused)
{
}

static bool
dummy_idle(const struct rte_comch_link *link __rte_unused)
{
	return true;
}

static const uint64_t *
dummy_word(const struct rte_comch_link *link __rte_unused, uint64_t *value __rte_unused)
{
	return NULL;
}

static unsigned int
dummy_xstats(struct rte_comch_dev *dev __rte_unused, struct rte_comch_xstat *xstats __rte_unused,
		unsigned int n __rte_unused)
{
	return 0;
}

struct required_op {
	const char *name;
	size_t offset;
};
#define REQUIRED(type, member) { #member, offsetof(struct type, member) }

static const struct required_op driver_required[] = {
	REQUIRED(rte_comch_driver_ops, valid_keys), REQUIRED(rte_comch_driver_ops, probe),
	REQUIRED(rte_comch_driver_ops, remove), REQUIRED(rte_comch_driver_ops, listen),
	REQUIRED(rte_comch_driver_ops, unlisten), REQUIRED(rte_comch_driver_ops, accept),
	REQUIRED(rte_comch_driver_ops, connect), REQUIRED(rte_comch_driver_ops, link_poll),
	REQUIRED(rte_comch_driver_ops, link_close), REQUIRED(rte_comch_driver_ops, link_shutdown),
	REQUIRED(rte_comch_driver_ops, frame_tx), REQUIRED(rte_comch_driver_ops, frame_rx),
	REQUIRED(rte_comch_driver_ops, frame_pending),
};

static const struct required_op data_required[] = {
	REQUIRED(rte_comch_data_ops, open), REQUIRED(rte_comch_data_ops, close),
	REQUIRED(rte_comch_data_ops, cons_create), REQUIRED(rte_comch_data_ops, cons_offer),
	REQUIRED(rte_comch_data_ops, cons_bind), REQUIRED(rte_comch_data_ops, cons_halt),
	REQUIRED(rte_comch_data_ops, cons_drained), REQUIRED(rte_comch_data_ops, cons_retire),
	REQUIRED(rte_comch_data_ops, cons_room), REQUIRED(rte_comch_data_ops, prod_create),
	REQUIRED(rte_comch_data_ops, prod_begin), REQUIRED(rte_comch_data_ops, prod_offer),
	REQUIRED(rte_comch_data_ops, prod_halt), REQUIRED(rte_comch_data_ops, prod_idle),
	REQUIRED(rte_comch_data_ops, prod_abort), REQUIRED(rte_comch_data_ops, prod_epoch),
	REQUIRED(rte_comch_data_ops, peer_prod_add), REQUIRED(rte_comch_data_ops, peer_prod_del),
	REQUIRED(rte_comch_data_ops, remote_size), REQUIRED(rte_comch_data_ops, remote_create),
	REQUIRED(rte_comch_data_ops, remote_retire), REQUIRED(rte_comch_data_ops, remote_free),
	REQUIRED(rte_comch_data_ops, dq_destroy), REQUIRED(rte_comch_data_ops, dq_fd),
	REQUIRED(rte_comch_data_ops, dq_clear), REQUIRED(rte_comch_data_ops, dq_arm),
	REQUIRED(rte_comch_data_ops, dq_pending), REQUIRED(rte_comch_data_ops, mem_show),
	REQUIRED(rte_comch_data_ops, mem_hide), REQUIRED(rte_comch_data_ops, mem_take),
	REQUIRED(rte_comch_data_ops, mem_drop),
};

static const struct required_op regions_required[] = {
	REQUIRED(rte_comch_region_ops, mem_export), REQUIRED(rte_comch_region_ops, mem_import),
	REQUIRED(rte_comch_region_ops, region_free), REQUIRED(rte_comch_region_ops, region_create),
	REQUIRED(rte_comch_region_ops, region_map),
};

/* The name of the first required operation that is NULL, or NULL. */
static const char *
missing_op(const void *ops, const struct required_op *required, size_t n)
{
	void *fn;
	size_t i;

	for (i = 0; i < n; i++) {
		memcpy(&fn, (const char *)ops + required[i].offset, sizeof(fn));
		if (fn == NULL)
			return required[i].name;
	}
	return NULL;
}

static bool
driver_is_complete(const struct rte_comch_driver_ops *o)
{
	const char *missing = missing_op(o, driver_required, RTE_DIM(driver_required));

	if (missing == NULL && o->data != NULL)
		missing = missing_op(o->data, data_required, RTE_DIM(data_required));
	if (missing == NULL && o->data == &rte_comch_data_mapped)
		missing = o->regions == NULL ? "regions" :
			missing_op(o->regions, regions_required, RTE_DIM(regions_required));
	if (missing != NULL)
		/* Called by constructors: EAL writes to stderr until it has a log. */
		COMCH_LOG(ERR, "driver %s refused: missing operation %s", o->name, missing);
	return missing == NULL;
}

void
rte_comch_driver_register_v9(const struct rte_comch_driver_ops *ops)
{
	struct rte_comch_driver_ops *o;

	if (ops->name == NULL || !driver_is_complete(ops))
		return;
	if (nb_drivers == MAX_DRIVERS) {
		COMCH_LOG(ERR, "driver %s refused: limit of drivers reached", ops->name);
		return;
	}
	o = &drivers[nb_drivers];
	*o = *ops;
	if (o->listener_forked == NULL)
		o->listener_forked = dummy_forked;
	if (o->listener_fd == NULL)
		o->listener_fd = dummy_fd;
	if (o->listener_watch_fd == NULL)
		o->listener_watch_fd = dummy_fd;
	if (o->listener_check == NULL)
		o->listener_check = dummy_check;
	if (o->link_fd == NULL)
		o->link_fd = dummy_link_fd;
	if (o->link_peer == NULL)
		o->link_peer = dummy_peer;
	if (o->link_arm == NULL)
		o->link_arm = dummy_arm;
	if (o->link_rest == NULL)
		o->link_rest = dummy_rest;
	if (o->link_idle == NULL)
		o->link_idle = dummy_idle;
	if (o->frame_word == NULL)
		o->frame_word = dummy_word;
	if (o->dev_xstats == NULL)
		o->dev_xstats = dummy_xstats;
	/*
	 * Release: pairs with comch_driver_get(), as a plugin may register at any time.
	 * Model: publish.pml, publish.
	 */
	comch_store_release(&nb_drivers, nb_drivers + 1);
}

const struct rte_comch_driver_ops *
comch_driver_get(uint32_t number)
{
	/* Acquire: pairs with rte_comch_driver_register_v9(). Model: publish.pml, find. */
	return number < comch_load_acquire(&nb_drivers) ? &drivers[number] : NULL;
}

/* "comch_shm0" is an instance of "comch_shm". */
static const struct rte_comch_driver_ops *
find_driver(const char *dev_name)
{
	const char *rest;
	unsigned int i;

	for (i = 0; i < nb_drivers; i++) {
		if (strncmp(dev_name, drivers[i].name, strlen(drivers[i].name)) != 0)
			continue;
		rest = dev_name + strlen(drivers[i].name);
		if (rest[strspn(rest, "0123456789")] == '\0')
			return &drivers[i];
	}
	return NULL;
}

static void
join_names(char *buf, size_t size, const char *const *names)
{
	size_t used = 0;

	buf[0] = '\0';
	for (; *names != NULL && used < size; names++)
		used += (size_t)snprintf(buf + used, size - used, "%s%s",
				used > 0 ? ", " : "", *names);
}

static void
log_drivers(const char *dev_name)
{
	const char *names[MAX_DRIVERS + 1] = { NULL };
	char list[256];
	unsigned int i;

	for (i = 0; i < nb_drivers; i++)
		names[i] = drivers[i].name;
	join_names(list, sizeof(list), names);
	COMCH_LOG(ERR, "device %s: unknown driver; available: %s", dev_name, list);
}

/* Parse the devargs; errors log the valid keys. */
static struct rte_kvargs *
parse_args(const struct rte_comch_driver_ops *ops, const char *name, const char *args)
{
	struct rte_kvargs *kv;
	char keys[256];
	unsigned int i;

	kv = rte_kvargs_parse(args, NULL);
	if (kv == NULL) {
		COMCH_LOG(ERR, "device %s: malformed arguments '%s'", name, args);
		return NULL;
	}
	join_names(keys, sizeof(keys), ops->valid_keys);
	for (i = 0; i < kv->count; i++) {
		const char *const *k = ops->valid_keys;

		while (*k != NULL && strcmp(*k, kv->pairs[i].key) != 0)
			k++;
		if (*k == NULL || kv->pairs[i].value == NULL) {
			COMCH_LOG(ERR, "device %s: key '%s' is %s; valid keys: %s", name,
				kv->pairs[i].key, *k == NULL ? "unknown" : "without value", keys);
			rte_kvargs_free(kv);
			return NULL;
		}
	}
	return kv;
}

static int
dev_slot(const char *name)
{
	int i, slot = -ENOSPC;

	for (i = MAX_DEVS - 1; i >= 0; i--) {
		if (devs[i] == NULL)
			slot = i;
		else if (strcmp(devs[i]->info.name, name) == 0)
			return -EEXIST;
	}
	return slot;
}

/* The driver of a device's name, which may have to be loaded; NULL after a log line. */
static const struct rte_comch_driver_ops *
load_driver(const char *dev_name)
{
	const struct rte_comch_driver_ops *ops = find_driver(dev_name);

	if (ops == NULL && comch_plugin_load(dev_name))
		ops = find_driver(dev_name);
	if (ops == NULL)
		log_drivers(dev_name);
	return ops;
}

static int
dev_open(const char *name, const char *args, int slot)
{
	const struct rte_comch_driver_ops *ops = load_driver(name);
	struct rte_comch_dev *dev;
	struct rte_kvargs *kv;
	int ret;

	if (ops == NULL)
		return -ENODEV;
	kv = parse_args(ops, name, args);
	if (kv == NULL)
		return -EINVAL;
	dev = calloc(1, sizeof(*dev));
	if (dev == NULL) {
		rte_kvargs_free(kv);
		return -ENOMEM;
	}
	dev->ops = ops;
	dev->id = (int16_t)slot;
	dev->imported = &totals[slot].imported;
	dev->staged = &totals[slot].staged;
	rte_strscpy(dev->info.name, name, sizeof(dev->info.name));
	rte_strscpy(dev->info.driver, ops->name, sizeof(dev->info.driver));
	/* Start the threads for peers' descriptors now: later it would be in a poll run. */
	ret = comch_foreign_start();
	if (ret == 0)
		ret = ops->probe(dev, kv);
	rte_kvargs_free(kv);
	if (ret != 0) {
		free(dev->reps);
		free(dev);
		return ret;
	}
	if (ops->data == NULL)
		dev->info.capa &= ~CAPAS_OF_DATA;
	/* Limits of the core's tables. */
	dev->info.max_consumers = RTE_MIN(dev->info.max_consumers, (uint32_t)COMCH_MAX_CONSUMERS);
	dev->info.max_producers = RTE_MIN(dev->info.max_producers, (uint32_t)COMCH_MAX_PRODUCERS);
	devs[slot] = dev;
	return 0;
}

int
rte_comch_dev_probe(const char *devargs, int16_t *dev_id)
{
	char name[RTE_COMCH_DEV_NAME_SIZE];
	const char *comma;
	size_t len;
	int slot, ret;

	if (devargs == NULL || dev_id == NULL) {
		COMCH_LOG(ERR, "device: devargs or dev_id is NULL");
		return -EINVAL;
	}
	comma = strchrnul(devargs, ',');
	len = (size_t)(comma - devargs);
	if (len == 0 || len >= sizeof(name)) {
		COMCH_LOG(ERR, "device string '%s': the name has %zu characters, valid are "
			"1 to %zu", devargs, len, sizeof(name) - 1);
		return -EINVAL;
	}
	memcpy(name, devargs, len);
	name[len] = '\0';
	pthread_mutex_lock(&dev_lock);
	slot = dev_slot(name);
	if (slot < 0) {
		ret = slot;
		COMCH_LOG(ERR, "device %s: %s", name, ret == -EEXIST ? "already open" :
			"limit of " RTE_STR(MAX_DEVS) " open devices reached");
	} else {
		ret = dev_open(name, *comma == ',' ? comma + 1 : "", slot);
	}
	if (ret == 0)
		*dev_id = (int16_t)slot;
	pthread_mutex_unlock(&dev_lock);
	return ret;
}

/* dev_lock held. */
static struct rte_comch_dev *
dev_find(int16_t dev_id)
{
	return dev_id >= 0 && dev_id < MAX_DEVS ? devs[dev_id] : NULL;
}

struct rte_comch_dev *
comch_dev_get(int16_t dev_id)
{
	struct rte_comch_dev *dev;

	pthread_mutex_lock(&dev_lock);
	dev = dev_find(dev_id);
	if (dev != NULL)
		dev->nb_users++;
	pthread_mutex_unlock(&dev_lock);
	return dev;
}

void
comch_dev_put(struct rte_comch_dev *dev)
{
	pthread_mutex_lock(&dev_lock);
	dev->nb_users--;
	pthread_mutex_unlock(&dev_lock);
}

struct rte_comch_dev *
comch_dev_look(int16_t dev_id)
{
	struct rte_comch_dev *dev;

	pthread_mutex_lock(&close_lock);
	pthread_mutex_lock(&dev_lock);
	dev = dev_find(dev_id);
	pthread_mutex_unlock(&dev_lock);
	if (dev == NULL)
		pthread_mutex_unlock(&close_lock);
	return dev;
}

void
comch_dev_look_end(void)
{
	pthread_mutex_unlock(&close_lock);
}

int
rte_comch_dev_close(int16_t dev_id)
{
	struct rte_comch_dev *dev;
	int ret = 0;

	pthread_mutex_lock(&close_lock);
	pthread_mutex_lock(&dev_lock);
	dev = dev_find(dev_id);
	if (dev == NULL) {
		ret = -ENODEV;
	} else if (dev->nb_users > 0) {
		COMCH_LOG(ERR, "device %s: %u servers, clients or connections exist",
			dev->info.name, dev->nb_users);
		ret = -EBUSY;
	} else {
		devs[dev_id] = NULL;
	}
	pthread_mutex_unlock(&dev_lock);
	if (ret == 0) {
		/* Without dev_lock, which polls take: a driver may wait for its threads. */
		dev->ops->remove(dev);
		free(dev->reps);
		free(dev);
	}
	pthread_mutex_unlock(&close_lock);
	return ret;
}

void
comch_dev_mr_gone(const struct rte_comch_mr *mr)
{
	struct rte_comch_dev *dev;
	int16_t i;

	for (i = 0; i < MAX_DEVS; i++) {
		dev = comch_dev_look(i);
		if (dev == NULL)
			continue;
		/* Without dev_lock: a driver may take long to release memory. */
		if (dev->ops->data != NULL && dev->ops->data->mem_gone != NULL)
			dev->ops->data->mem_gone(dev, mr);
		comch_dev_look_end();
	}
}

int
rte_comch_dev_scan(const char *driver, rte_comch_dev_prop_t prop, void *ctx)
{
	const struct rte_comch_driver_ops *ops;

	if (driver == NULL || prop == NULL)
		return -EINVAL;
	pthread_mutex_lock(&dev_lock);
	ops = load_driver(driver);
	pthread_mutex_unlock(&dev_lock);
	if (ops == NULL)
		return -ENODEV;
	if (ops->props == NULL)
		return -ENOTSUP;
	ops->props(NULL, prop, ctx);
	return 0;
}

int16_t
rte_comch_dev_next(int16_t from)
{
	int16_t i, found = -1;

	pthread_mutex_lock(&dev_lock);
	for (i = RTE_MAX(from, (int16_t)0); i < MAX_DEVS && found < 0; i++)
		if (devs[i] != NULL)
			found = i;
	pthread_mutex_unlock(&dev_lock);
	return found;
}

int
rte_comch_dev_by_name(const char *name)
{
	int i, found = -ENODEV;

	if (name == NULL)
		return -EINVAL;
	pthread_mutex_lock(&dev_lock);
	for (i = 0; i < MAX_DEVS; i++)
		if (devs[i] != NULL && strcmp(devs[i]->info.name, name) == 0)
			found = i;
	pthread_mutex_unlock(&dev_lock);
	return found;
}

int
rte_comch_dev_info_get(int16_t dev_id, struct rte_comch_dev_info *info)
{
	const struct rte_comch_dev *dev;
	int ret = -ENODEV;

	if (info == NULL)
		return -EINVAL;
	pthread_mutex_lock(&dev_lock);
	dev = dev_find(dev_id);
	if (dev != NULL) {
		*info = dev->info;
		ret = 0;
	}
	pthread_mutex_unlock(&dev_lock);
	return ret;
}

int
rte_comch_dev_rep_info_get(int16_t dev_id, uint16_t rep, struct rte_comch_rep_info *info)
{
	const struct rte_comch_dev *dev;
	int ret = 0;

	if (info == NULL)
		return -EINVAL;
	pthread_mutex_lock(&dev_lock);
	dev = dev_find(dev_id);
	if (dev == NULL)
		ret = -ENODEV;
	else if (rep >= dev->info.nb_reps)
		ret = -ENOENT;
	else
		*info = dev->reps[rep];
	pthread_mutex_unlock(&dev_lock);
	return ret;
}
