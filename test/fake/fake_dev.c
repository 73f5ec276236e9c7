/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Devices of the driver in memory: keys of device strings, and limits. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_string_fns.h>

#include "rte_comch_stats.h"

#include "fake_private.h"

#define MAX_MSG 4080
#define MAX_QUEUE 65536

const char *const fake_keys[] = {
	"role", "func", "rep", "delay", "mbufs", "eagain_every", "drop_at", "slow_accept",
	"short_import", "no_queue", "no_event_fd", NULL,
};

/* "pf0", "pf0vf3" or "pf0sf7", with nothing after it. */
static int
parse_func(const char *name, struct rte_comch_rep_info *info)
{
	unsigned int pf, index = 0;
	int end = -1, kind_end = -1;
	char kind = 'p';

	memset(info, 0, sizeof(*info));
	if (sscanf(name, "pf%5u%n%cf%5u%n", &pf, &end, &kind, &index, &kind_end) < 1)
		return -EINVAL;
	if (kind_end > 0 && (kind == 'v' || kind == 's'))
		end = kind_end;
	if (end < 0 || name[end] != '\0' || pf > UINT16_MAX || index > UINT16_MAX)
		return -EINVAL;
	if (rte_strscpy(info->name, name, sizeof(info->name)) < 0)
		return -EINVAL;
	info->type = kind == 'v' ? RTE_COMCH_FUNC_VF :
		kind == 's' ? RTE_COMCH_FUNC_SF : RTE_COMCH_FUNC_PF;
	info->pf = (uint16_t)pf;
	info->index = (uint16_t)index;
	return 0;
}

static int
add_rep(const char *key, const char *name, void *arg)
{
	struct rte_comch_dev *dev = arg;
	struct rte_comch_rep_info info, *reps;
	uint16_t i;

	RTE_SET_USED(key);
	if (dev->info.nb_reps == RTE_COMCH_MAX_REPS || parse_func(name, &info) != 0)
		return -EINVAL;
	for (i = 0; i < dev->info.nb_reps; i++)
		if (strcmp(dev->reps[i].name, name) == 0)
			return -EINVAL;
	reps = realloc(dev->reps, (dev->info.nb_reps + 1u) * sizeof(*reps));
	if (reps == NULL)
		return -ENOMEM;
	dev->reps = reps;
	reps[dev->info.nb_reps++] = info;
	return 0;
}

/* One function, or a list such as "[pf0,pf1]". */
static int
add_reps(const char *key, const char *value, void *arg)
{
	char list[RTE_COMCH_DEV_NAME_SIZE * 8], *name, *save = NULL;

	if (value[0] != '[')
		return add_rep(key, value, arg);
	if (rte_strscpy(list, value, sizeof(list)) < 0)
		return -EINVAL;
	for (name = strtok_r(list, "[,]", &save); name != NULL;
			name = strtok_r(NULL, "[,]", &save))
		if (add_rep(key, name, arg) != 0)
			return -EINVAL;
	return 0;
}

static int
parse_role(const char *key, const char *value, void *arg)
{
	struct rte_comch_dev *dev = arg;

	RTE_SET_USED(key);
	if (strcmp(value, "dpu") == 0)
		dev->info.role = RTE_COMCH_ROLE_DPU;
	else if (strcmp(value, "host") == 0)
		dev->info.role = RTE_COMCH_ROLE_HOST;
	else
		return -EINVAL;
	return 0;
}

static int
parse_u32(const char *key, const char *value, void *arg)
{
	char *end;

	RTE_SET_USED(key);
	*(uint32_t *)arg = (uint32_t)strtoul(value, &end, 10);
	return *value != '\0' && *end == '\0' ? 0 : -EINVAL;
}

static int
parse_bool(const char *key, const char *value, void *arg)
{
	RTE_SET_USED(key);
	*(bool *)arg = strcmp(value, "1") == 0;
	return strcmp(value, "0") == 0 || strcmp(value, "1") == 0 ? 0 : -EINVAL;
}

static int
parse_all(struct rte_comch_dev *dev, struct fake_dev *fake, struct rte_kvargs *kv)
{
	const struct {
		const char *key;
		arg_handler_t parse;
		void *arg;
	} todo[] = {
		{ "role", parse_role, dev },
		{ "rep", add_reps, dev },
		{ "func", add_rep, dev },
		{ "delay", parse_u32, &fake->delay },
		{ "mbufs", parse_bool, &fake->mbufs },
		{ "eagain_every", parse_u32, &fake->eagain_every },
		{ "drop_at", parse_u32, &fake->drop_at },
		{ "slow_accept", parse_u32, &fake->slow_accept },
		{ "short_import", parse_bool, &fake->short_import },
		{ "no_queue", parse_bool, &fake->no_queue },
		{ "no_event_fd", parse_bool, &fake->no_event_fd },
	};
	bool dpu;
	size_t i;

	if (rte_kvargs_count(kv, "role") != 1)
		return -EINVAL;
	for (i = 0; i < RTE_DIM(todo); i++)
		if (rte_kvargs_process(kv, todo[i].key, todo[i].parse, todo[i].arg) != 0)
			return -EINVAL;
	dpu = dev->info.role == RTE_COMCH_ROLE_DPU;
	if (rte_kvargs_count(kv, dpu ? "func" : "rep") > 0 ||
			(!dpu && rte_kvargs_count(kv, "func") > 1))
		return -EINVAL;
	return dev->info.nb_reps > 0 ? 0 : add_rep("func", "pf0", dev);
}

int
fake_dev_probe(struct rte_comch_dev *dev, struct rte_kvargs *kv)
{
	struct rte_comch_dev_info *info = &dev->info;
	struct fake_dev *fake;

	fake = calloc(1, sizeof(*fake));
	if (fake == NULL)
		return -ENOMEM;
	if (parse_all(dev, fake, kv) != 0) {
		free(fake);
		return -EINVAL;
	}
	dev->priv = fake;
	info->capa = RTE_COMCH_CAPA_DATA | RTE_COMCH_CAPA_DIRECT | RTE_COMCH_CAPA_EVENT_FD |
		(info->role == RTE_COMCH_ROLE_DPU ? RTE_COMCH_CAPA_SERVER :
			RTE_COMCH_CAPA_CLIENT);
	if (fake->no_event_fd)
		info->capa &= ~RTE_COMCH_CAPA_EVENT_FD;
	/* A frame with a delay is not visible when the send returns. */
	if (fake->delay == 0)
		info->capa |= RTE_COMCH_CAPA_ORDERED;
	info->max_name_size = RTE_COMCH_NAME_SIZE;
	info->max_msg_size = MAX_MSG;
	info->max_clients = 16384;
	info->max_recv_queue = MAX_QUEUE;
	info->max_send_queue = MAX_QUEUE;
	info->max_producers = COMCH_MAX_PRODUCERS;
	info->max_consumers = COMCH_MAX_CONSUMERS;
	info->max_dp_queue = MAX_QUEUE;
	info->max_imm_len = RTE_COMCH_IMM_SIZE;
	info->max_buf_len = UINT64_C(1) << 30;
	info->max_staging = UINT64_C(1) << 30;
	info->total_staging = UINT64_C(1) << 30;
	info->max_import = UINT64_MAX;
	info->total_import = UINT64_MAX;
	return 0;
}

void
fake_dev_remove(struct rte_comch_dev *dev)
{
	free(dev->priv);
}

void (*fake_on_xstats)(void);

unsigned int
fake_dev_xstats(struct rte_comch_dev *dev, struct rte_comch_xstat *xstats, unsigned int n)
{
	const struct fake_dev *fake = dev->priv;

	if (fake_on_xstats != NULL)
		fake_on_xstats();
	pthread_mutex_lock(&fake_lock);
	if (n > 0)
		xstats[0] = (struct rte_comch_xstat){ "frames", fake->nb_frames };
	if (n > 1)
		xstats[1] = (struct rte_comch_xstat){ "ticks", fake->nb_ticks };
	pthread_mutex_unlock(&fake_lock);
	return 2;
}
