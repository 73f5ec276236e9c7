/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Accelerators in EAL's telemetry. */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_telemetry.h>

#include "accel/observe.h"
#include "ctx/ctx.h"
#include "sdk/comch_compat.h"

TAILQ_HEAD(observed_list, impl_observed);

static struct observed_list all = TAILQ_HEAD_INITIALIZER(all);
static uint32_t last_id;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Objects */

static void
take_lock(void)
{
	pthread_mutex_lock(&lock);
}

static void
release_lock(void)
{
	pthread_mutex_unlock(&lock);
}

/* The telemetry thread, which may hold the lock, is not in the child. */
static void
watch_forks(void)
{
	pthread_atfork(take_lock, release_lock, release_lock);
}

void
impl_observe_begin(struct impl_observed *o, const struct doca_ctx *ctx)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
	o->ctx = ctx;
	o->kind = ctx->ops->name;
	o->has_threads = ctx->ops->jobs != NULL;
	take_lock();
	o->id = last_id++;
	TAILQ_INSERT_TAIL(&all, o, next);
	release_lock();
}

void
impl_observe_end(struct impl_observed *o)
{
	take_lock();
	TAILQ_REMOVE(&all, o, next);
	release_lock();
}

void
impl_observe_dev(struct impl_observed *o, const struct doca_dev *dev)
{
	char name[sizeof(o->dev)] = "";

	if (dev != NULL)
		doca_devinfo_get_pci_addr_str(doca_dev_as_devinfo(dev), name);
	take_lock();
	memcpy(o->dev, name, sizeof(o->dev));
	release_lock();
}

/* Requests */

static uint64_t
load(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Those from this id on. */
static int
on_list(const struct impl_observed *first, struct rte_tel_data *d)
{
	const struct impl_observed *o;

	comch_tel_list(d);
	for (o = first; o != NULL; o = TAILQ_NEXT(o, next))
		if (comch_tel_list_add(d, o->id) != 0)
			break;
	return 0;
}

static int
on_info(const struct impl_observed *o, struct rte_tel_data *d)
{
	const uint8_t state = __atomic_load_n(&o->ctx->state, __ATOMIC_RELAXED);

	rte_tel_data_start_dict(d);
	comch_tel_u64(d, "id", o->id);
	rte_tel_data_add_dict_string(d, "kind", o->kind);
	rte_tel_data_add_dict_string(d, "device", o->dev);
	rte_tel_data_add_dict_string(d, "state", impl_ctx_state_name(state));
	return 0;
}

static int
on_stats(const struct impl_observed *o, struct rte_tel_data *d)
{
	const struct impl_counters *c = &o->counters;
	/* First: more may be submitted meanwhile, and end. */
	const uint64_t done = load(&c->done), failed = load(&c->failed);

	rte_tel_data_start_dict(d);
	comch_tel_u64(d, "submitted", load(&c->submitted));
	comch_tel_u64(d, "done", done);
	comch_tel_u64(d, "failed", failed);
	comch_tel_u64(d, "bytes", load(&c->bytes));
	comch_tel_u64(d, "offloaded", load(&c->offloaded));
	return 0;
}

static const struct {
	const char *cmd;
	bool is_list;   /* from an id on, which need not be given */
	int (*fn)(const struct impl_observed *o, struct rte_tel_data *d);
	const char *help;
} cmds[] = {
	{ "/comch/accel/list", true, on_list,
		"Numbers of the accelerators of DOCA. Parameter: the first to list (optional)" },
	{ "/comch/accel/info", false, on_info,
		"Kind, device and state of an accelerator. Parameter: its number" },
	{ "/comch/accel/stats", false, on_stats,
		"Counters of an accelerator's tasks. Parameter: its number" },
};

/* The one with this id, or the first one behind it. NULL: none. */
static const struct impl_observed *
find(uint32_t id)
{
	const struct impl_observed *o;

	TAILQ_FOREACH(o, &all, next)
		if (o->id >= id)
			return o;
	return NULL;
}

static int
parse_id(const char *params, uint32_t *id)
{
	unsigned long long val;
	char *end;

	if (params == NULL || *params < '0' || *params > '9')
		return -EINVAL;
	errno = 0;
	val = strtoull(params, &end, 10);
	if (errno != 0 || *end != '\0' || val > UINT32_MAX)
		return -EINVAL;
	*id = (uint32_t)val;
	return 0;
}

static int
answer(unsigned int i, uint32_t id, struct rte_tel_data *d)
{
	const struct impl_observed *o = find(id);

	if (!cmds[i].is_list && (o == NULL || o->id != id))
		return -ENOENT;
	return cmds[i].fn(o, d);
}

static int
on_request(const char *cmd, const char *params, struct rte_tel_data *d)
{
	uint32_t id = 0;
	unsigned int i;
	int ret;

	for (i = 0; i < RTE_DIM(cmds) && strcmp(cmds[i].cmd, cmd) != 0; i++)
		;
	if (i == RTE_DIM(cmds))
		return -EINVAL;
	if (!(cmds[i].is_list && params == NULL) && parse_id(params, &id) != 0)
		return -EINVAL;
	take_lock();
	ret = answer(i, id, d);
	release_lock();
	return ret;
}

RTE_INIT(impl_observe_init)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(cmds); i++)
		rte_telemetry_register_cmd(cmds[i].cmd, on_request, cmds[i].help);
}
