/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The driver's operations, and parsing of its devargs. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_string_fns.h>

#include "sdk/comch_compat.h"
#include "sdk/comch_reaper.h"
#include "shm_private.h"

RTE_LOG_REGISTER(shm_logtype, pmd.comch.shm, NOTICE);

#define KEY_ROLE "role"
#define KEY_FUNC "func"
#define KEY_REP "rep"
#define KEY_DIR "dir"
#define KEY_TRUST_PEER "trust_peer"
#define KEY_EXPORT_EAL "export_eal"
#define KEY_MAX_CLIENTS "max_clients"
#define KEY_MAX_IMPORT "max_import"
#define KEY_TOTAL_IMPORT "total_import"
#define KEY_MAX_STAGING "max_staging"
#define KEY_TOTAL_STAGING "total_staging"
#define KEY_MAX_MSG "max_msg_size"

static const char *const valid_keys[] = {
	KEY_ROLE, KEY_FUNC, KEY_REP, KEY_DIR, KEY_TRUST_PEER, KEY_EXPORT_EAL, KEY_MAX_CLIENTS,
	KEY_MAX_IMPORT, KEY_TOTAL_IMPORT, KEY_MAX_STAGING, KEY_TOTAL_STAGING, KEY_MAX_MSG, NULL,
};

#define DEFAULT_MSG_SIZE 4080
#define LIMIT_MSG_SIZE (128u << 10)
#define MAX_CTRL_QUEUE 65536
#define DEFAULT_MAX_CLIENTS 16384
#define LIMIT_CLIENTS (1u << 20)
#define MAX_DP_QUEUE 65536
#define LIMIT_BYTES (UINT64_C(1) << 47)
/* Minimum number of frames of the maximum size that a ring holds. */
#define RING_FRAMES 3

/* State of parsing one device's arguments. */
struct shm_args {
	struct rte_comch_dev *dev;
	bool have_role;
};

static int
bad_value(const char *key, const char *value, const char *valid)
{
	SHM_LOG(ERR, "%s=%s: invalid value, expected %s", key, value, valid);
	return -EINVAL;
}

static int
parse_role(const char *key, const char *value, void *arg)
{
	struct shm_args *a = arg;

	a->have_role = true;
	if (strcmp(value, "host") == 0)
		a->dev->info.role = RTE_COMCH_ROLE_HOST;
	else if (strcmp(value, "dpu") == 0)
		a->dev->info.role = RTE_COMCH_ROLE_DPU;
	else
		return bad_value(key, value, "host or dpu");
	return 0;
}

/* "pf0", "pf0vf3", "pf0sf7": the syntax of DPDK's representors. */
static int
parse_func(const char *name, struct rte_comch_rep_info *info)
{
	char again[RTE_COMCH_DEV_NAME_SIZE];
	unsigned int pf, index = 0;
	char kind = 'p';
	int n;

	n = sscanf(name, "pf%5u%cf%5u", &pf, &kind, &index);
	if (n == 1)
		snprintf(again, sizeof(again), "pf%u", pf);
	else if (n == 3 && (kind == 'v' || kind == 's'))
		snprintf(again, sizeof(again), "pf%u%cf%u", pf, kind, index);
	else
		return -EINVAL;
	/* Refuse trailing characters and other spellings, such as leading zeros. */
	if (strcmp(again, name) != 0 || pf > UINT16_MAX || index > UINT16_MAX)
		return -EINVAL;
	memset(info, 0, sizeof(*info));
	rte_strscpy(info->name, name, sizeof(info->name));
	info->type = n == 1 ? RTE_COMCH_FUNC_PF :
		kind == 'v' ? RTE_COMCH_FUNC_VF : RTE_COMCH_FUNC_SF;
	info->pf = (uint16_t)pf;
	info->index = (uint16_t)index;
	return 0;
}

static int
add_func(struct rte_comch_dev *dev, const char *key, const char *name)
{
	struct rte_comch_rep_info info, *reps;
	uint16_t i;

	if (parse_func(name, &info) != 0)
		return bad_value(key, name, "pfN, pfNvfM or pfNsfM");
	for (i = 0; i < dev->info.nb_reps; i++)
		if (strcmp(dev->reps[i].name, name) == 0)
			return bad_value(key, name, "each function once");
	if (dev->info.nb_reps == RTE_COMCH_MAX_REPS)
		return bad_value(key, name, "at most 256 functions");
	reps = realloc(dev->reps, (dev->info.nb_reps + 1u) * sizeof(*reps));
	if (reps == NULL)
		return -ENOMEM;
	dev->reps = reps;
	dev->reps[dev->info.nb_reps++] = info;
	return 0;
}

static int
parse_func_key(const char *key, const char *value, void *arg)
{
	struct shm_args *a = arg;

	if (a->dev->info.nb_reps > 0)
		return bad_value(key, value, "one function; representors are the DPU side's");
	return add_func(a->dev, key, value);
}

/* rep=pf0 or rep=[pf0,pf0vf0] */
static int
parse_rep(const char *key, const char *value, void *arg)
{
	struct shm_args *a = arg;
	char *list, *save = NULL, *name;
	int ret = 0;

	list = strdup(value);
	if (list == NULL)
		return -ENOMEM;
	for (name = strtok_r(list, "[,]", &save); name != NULL && ret == 0;
			name = strtok_r(NULL, "[,]", &save))
		ret = add_func(a->dev, key, name);
	free(list);
	return ret;
}

static int
parse_dir(const char *key, const char *value, void *arg)
{
	struct shm_dev *shm = ((struct shm_args *)arg)->dev->priv;

	if (value[0] != '/')
		return bad_value(key, value, "an absolute path");
	if (rte_strscpy(shm->dir, value, sizeof(shm->dir)) < 0)
		return bad_value(key, value, "a shorter path");
	shm->dir_is_open = false;
	return 0;
}

static int
parse_bool(const char *key, const char *value, void *arg)
{
	if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
		return bad_value(key, value, "0 or 1");
	*(bool *)arg = value[0] == '1';
	return 0;
}

static int
parse_number(const char *key, const char *value, uint64_t max, uint64_t *out)
{
	char valid[64], *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(value, &end, 0);
	if (errno != 0 || end == value || *end != '\0' || value[0] == '-' || v == 0 || v > max) {
		snprintf(valid, sizeof(valid), "a number from 1 to %llu", (unsigned long long)max);
		return bad_value(key, value, valid);
	}
	*out = v;
	return 0;
}

static int
parse_bytes(const char *key, const char *value, void *arg)
{
	return parse_number(key, value, LIMIT_BYTES, arg);
}

static int
parse_max_clients(const char *key, const char *value, void *arg)
{
	uint64_t v = 0;
	int ret = parse_number(key, value, LIMIT_CLIENTS, &v);

	if (ret == 0)
		*(uint32_t *)arg = (uint32_t)v;
	return ret;
}

static int
parse_max_msg(const char *key, const char *value, void *arg)
{
	uint64_t v = 0;
	int ret = parse_number(key, value, LIMIT_MSG_SIZE, &v);

	if (ret == 0)
		*(uint32_t *)arg = (uint32_t)v;
	return ret;
}

static int
parse_all(struct shm_args *a, struct rte_kvargs *kv)
{
	struct rte_comch_dev_info *info = &a->dev->info;
	struct shm_dev *shm = a->dev->priv;
	const struct {
		const char *key;
		arg_handler_t parse;
		void *arg;
	} todo[] = {
		{ KEY_ROLE, parse_role, a },
		{ KEY_DIR, parse_dir, a },
		{ KEY_TRUST_PEER, parse_bool, &shm->trust_peer },
		{ KEY_EXPORT_EAL, parse_bool, &shm->export_eal },
		{ KEY_MAX_CLIENTS, parse_max_clients, &info->max_clients },
		{ KEY_MAX_IMPORT, parse_bytes, &info->max_import },
		{ KEY_TOTAL_IMPORT, parse_bytes, &info->total_import },
		{ KEY_MAX_STAGING, parse_bytes, &info->max_staging },
		{ KEY_TOTAL_STAGING, parse_bytes, &info->total_staging },
		{ KEY_MAX_MSG, parse_max_msg, &info->max_msg_size },
	};
	bool dpu;
	size_t i;

	for (i = 0; i < RTE_DIM(todo); i++)
		if (rte_kvargs_process(kv, todo[i].key, todo[i].parse, todo[i].arg) != 0)
			return -EINVAL;
	if (!a->have_role) {
		SHM_LOG(ERR, "device %s: role is required: role=host or role=dpu", info->name);
		return -EINVAL;
	}
	dpu = info->role == RTE_COMCH_ROLE_DPU;
	if (rte_kvargs_count(kv, dpu ? KEY_FUNC : KEY_REP) > 0) {
		SHM_LOG(ERR, "device %s: '%s' is for the %s side", info->name,
			dpu ? KEY_FUNC : KEY_REP, dpu ? "host" : "DPU");
		return -EINVAL;
	}
	if (rte_kvargs_process(kv, KEY_REP, parse_rep, a) != 0 ||
			rte_kvargs_process(kv, KEY_FUNC, parse_func_key, a) != 0)
		return -EINVAL;
	return info->nb_reps > 0 ? 0 : add_func(a->dev, KEY_FUNC, "pf0");
}

/* $COMCH_DIR, else a directory that depends on the user. */
static int
default_dir(struct shm_dev *shm)
{
	const char *env = getenv("COMCH_DIR");
	size_t size = sizeof(shm->dir);
	char *dir = shm->dir;
	int n;

	if (env != NULL && env[0] == '/')
		n = snprintf(dir, size, "%s", env);
	else if (geteuid() == 0)
		n = snprintf(dir, size, "/run/comch");
	else if ((env = getenv("XDG_RUNTIME_DIR")) != NULL && env[0] == '/')
		n = snprintf(dir, size, "%s/comch", env);
	else {
		n = snprintf(dir, size, "/tmp/comch-%u", geteuid());
		shm->dir_is_open = true;
	}
	return n > 0 && (size_t)n < size ? 0 : -ENAMETOOLONG;
}

static uint32_t
ring_cells(uint32_t max_msg_size)
{
	uint32_t frame = sizeof(struct shm_frame_prefix) + RTE_COMCH_FRAME_OVERHEAD + max_msg_size;
	uint32_t cells = (frame + SHM_CELL_DATA - 1) / SHM_CELL_DATA;

	return rte_align32pow2(RTE_MAX(RING_FRAMES * cells, (uint32_t)SHM_MIN_CELLS));
}

static void
set_limits(struct rte_comch_dev_info *info)
{
	info->capa = RTE_COMCH_CAPA_DATA | RTE_COMCH_CAPA_DIRECT | RTE_COMCH_CAPA_EVENT_FD |
		RTE_COMCH_CAPA_SYNC_SEND | RTE_COMCH_CAPA_ORDERED |
		(info->role == RTE_COMCH_ROLE_DPU ? RTE_COMCH_CAPA_SERVER :
			RTE_COMCH_CAPA_CLIENT);
	info->max_name_size = RTE_COMCH_NAME_SIZE;
	info->max_recv_queue = MAX_CTRL_QUEUE;
	info->max_send_queue = MAX_CTRL_QUEUE;
	info->max_producers = 256;
	info->max_consumers = 256;
	info->max_dp_queue = MAX_DP_QUEUE;
	info->max_imm_len = RTE_COMCH_IMM_SIZE;
	info->max_buf_len = UINT64_C(1) << 30;
}

static int
shm_probe(struct rte_comch_dev *dev, struct rte_kvargs *kv)
{
	struct shm_args args = { .dev = dev };
	struct shm_dev *shm;
	int ret;

	shm = calloc(1, sizeof(*shm));
	if (shm == NULL)
		return -ENOMEM;
	dev->priv = shm;
	dev->info.max_msg_size = DEFAULT_MSG_SIZE;
	dev->info.max_clients = DEFAULT_MAX_CLIENTS;
	dev->where = shm->dir;
	ret = default_dir(shm);
	if (ret == 0)
		ret = parse_all(&args, kv);
	if (ret == 0 && dev->info.role == RTE_COMCH_ROLE_DPU)
		ret = shm_sock_make_dirs(dev);
	if (ret != 0) {
		free(shm);
		dev->priv = NULL;
		return ret;
	}
	shm->cells = ring_cells(dev->info.max_msg_size);
	set_limits(&dev->info);
	shm_limits_default(&dev->info);
	return 0;
}

static void
shm_remove(struct rte_comch_dev *dev)
{
	/* Memory that is not unmapped yet counts against this device. */
	comch_reaper_wait();
	free(dev->priv);
}

static const struct rte_comch_region_ops shm_regions = {
	.mem_export = shm_mem_export,
	.mem_import = shm_mem_import,
	.region_free = shm_mem_region_free,
	.region_create = shm_mem_region_create,
	.region_map = shm_mem_region_map,
};

static const struct rte_comch_driver_ops shm_ops = {
	.name = "comch_shm",
	.valid_keys = valid_keys,
	.probe = shm_probe,
	.remove = shm_remove,
	.listen = shm_sock_listen,
	.unlisten = shm_sock_unlisten,
	.accept = shm_sock_accept,
	.listener_forked = shm_sock_listener_forked,
	.listener_fd = shm_sock_listener_fd,
	.listener_watch_fd = shm_watch_fd,
	.listener_check = shm_watch_check,
	.connect = shm_sock_connect,
	.link_poll = shm_link_poll,
	.link_close = shm_link_close,
	.link_shutdown = shm_link_shutdown,
	.link_peer = shm_link_peer,
	.link_fd = shm_link_fd,
	.link_arm = shm_link_arm,
	.frame_tx = shm_frame_tx,
	.frame_rx = shm_frame_rx,
	.frame_pending = shm_frame_pending,
	.data = &rte_comch_data_mapped,
	.regions = &shm_regions,
};

RTE_COMCH_DRIVER_REGISTER(shm, shm_ops)
