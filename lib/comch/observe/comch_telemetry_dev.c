/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Telemetry of drivers, devices, registrations and shares, which have their own locks. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_telemetry.h>

#include "rte_comch_stats.h"
#include "ctrl/comch_dev.h"
#include "mem/comch_mem.h"
#include "observe/comch_telemetry.h"
#include "sdk/comch_quota.h"

/* Drivers: the list only grows, when a plugin is loaded. */

int
comch_tel_driver_list(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	uint32_t nb = 0;

	while (comch_driver_get(nb) != NULL)
		nb++;
	comch_tel_places(args, d, nb);
	return 0;
}

int
comch_tel_driver_info(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	const struct rte_comch_driver_ops *ops = comch_driver_get(args->val[0]);
	struct rte_tel_data *list;
	uint32_t i;

	if (ops == NULL)
		return -EINVAL;
	rte_tel_data_start_dict(d);
	comch_tel_u64(d, "id", args->val[0]);
	comch_tel_text(d, "name", ops->name);
	list = comch_tel_strings(d, "keys");
	for (i = 0; list != NULL && ops->valid_keys[i] != NULL; i++)
		rte_tel_data_add_array_string(list, ops->valid_keys[i]);
	return 0;
}

/* Devices */

static void
add_capa(struct rte_tel_data *d, uint64_t capa)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} names[] = {
		{ RTE_COMCH_CAPA_SERVER, "server" },
		{ RTE_COMCH_CAPA_CLIENT, "client" },
		{ RTE_COMCH_CAPA_DATA, "data" },
		{ RTE_COMCH_CAPA_DIRECT, "direct" },
		{ RTE_COMCH_CAPA_EVENT_FD, "event_fd" },
		{ RTE_COMCH_CAPA_SYNC_SEND, "sync_send" },
		{ RTE_COMCH_CAPA_ORDERED, "ordered" },
		{ RTE_COMCH_CAPA_HANDOVER, "handover" },
		{ RTE_COMCH_CAPA_EXPORT_EAL, "export_eal" },
	};
	struct rte_tel_data *list = comch_tel_strings(d, "capabilities");
	uint32_t i;

	for (i = 0; list != NULL && i < RTE_DIM(names); i++)
		if ((capa & names[i].bit) != 0)
			rte_tel_data_add_array_string(list, names[i].name);
}

int
comch_tel_dev_list(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	int16_t id = 0;

	comch_tel_list(d);
	if (args->nb > 0)
		id = (int16_t)RTE_MIN(args->val[0], (uint32_t)INT16_MAX);
	for (id = rte_comch_dev_next(id); id >= 0; id = rte_comch_dev_next((int16_t)(id + 1)))
		if (comch_tel_list_add(d, (uint64_t)id) != 0)
			break;
	return 0;
}

/* The memory that counts against the totals. */
static void
add_used(struct rte_tel_data *d, int16_t id)
{
	struct rte_comch_dev *dev = comch_dev_look(id);

	if (dev == NULL)
		return;
	comch_tel_u64(d, "imported", comch_load_relaxed(dev->imported));
	comch_tel_u64(d, "staged", comch_load_relaxed(dev->staged));
	comch_dev_look_end();
}

int
comch_tel_dev_info(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	struct rte_comch_rep_info rep;
	struct rte_comch_dev_info info;
	struct rte_tel_data *list;
	uint16_t i;
	int16_t id;

	if (args->val[0] > INT16_MAX)
		return -EINVAL;
	id = (int16_t)args->val[0];
	if (rte_comch_dev_info_get(id, &info) != 0)
		return -EINVAL;
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_int(d, "id", id);
	comch_tel_text(d, "name", info.name);
	comch_tel_text(d, "driver", info.driver);
	comch_tel_text(d, "role", info.role == RTE_COMCH_ROLE_DPU ? "dpu" : "host");
	add_capa(d, info.capa);
	list = comch_tel_strings(d, "functions");
	for (i = 0; list != NULL && rte_comch_dev_rep_info_get(id, i, &rep) == 0; i++)
		rte_tel_data_add_array_string(list, rep.name);
	comch_tel_u64(d, "max_name_size", info.max_name_size);
	comch_tel_u64(d, "max_msg_size", info.max_msg_size);
	comch_tel_u64(d, "max_recv_queue", info.max_recv_queue);
	comch_tel_u64(d, "max_send_queue", info.max_send_queue);
	comch_tel_u64(d, "max_clients", info.max_clients);
	comch_tel_u64(d, "max_producers", info.max_producers);
	comch_tel_u64(d, "max_consumers", info.max_consumers);
	comch_tel_u64(d, "max_dp_queue", info.max_dp_queue);
	comch_tel_u64(d, "max_imm_len", info.max_imm_len);
	comch_tel_u64(d, "max_buf_len", info.max_buf_len);
	comch_tel_u64(d, "max_import", info.max_import);
	comch_tel_u64(d, "total_import", info.total_import);
	comch_tel_u64(d, "max_staging", info.max_staging);
	comch_tel_u64(d, "total_staging", info.total_staging);
	add_used(d, id);
	return 0;
}

/* Most counters that a driver has; more are left out. */
#define MAX_XSTATS 64

int
comch_tel_dev_xstats(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	struct rte_comch_xstat xstats[MAX_XSTATS];
	int i, n;

	if (args->val[0] > INT16_MAX)
		return -EINVAL;
	n = rte_comch_dev_xstats_get((int16_t)args->val[0], xstats, MAX_XSTATS);
	if (n < 0)
		return -EINVAL;
	rte_tel_data_start_dict(d);
	for (i = 0; i < RTE_MIN(n, MAX_XSTATS); i++)
		comch_tel_u64(d, xstats[i].name, xstats[i].value);
	return 0;
}

/* Registrations: their table is locked while it is walked */

struct mem_walk {
	struct rte_tel_data *d;
	uint32_t id; /* requested, or the first of a list */
	bool found;
};

static int
on_mem_list(const struct rte_comch_mr *mr, void *arg)
{
	struct mem_walk *w = arg;

	return mr->id < w->id ? 0 : comch_tel_list_add(w->d, mr->id);
}

int
comch_tel_mem_list(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	struct mem_walk w = { .d = d, .id = args->nb > 0 ? args->val[0] : 0 };

	comch_tel_list(d);
	comch_mem_walk(on_mem_list, &w);
	return 0;
}

static int
on_mem_info(const struct rte_comch_mr *mr, void *arg)
{
	struct mem_walk *w = arg;
	char addr[32];

	if (mr->id != w->id)
		return 0;
	w->found = true;
	snprintf(addr, sizeof(addr), "%p", (void *)mr->addr);
	rte_tel_data_start_dict(w->d);
	comch_tel_u64(w->d, "id", mr->id);
	comch_tel_text(w->d, "addr", addr);
	comch_tel_u64(w->d, "len", mr->len);
	comch_tel_text(w->d, "kind", rte_comch_mem_kind_name(mr->kind));
	rte_tel_data_add_dict_int(w->d, "pool", mr->mp != NULL);
	rte_tel_data_add_dict_int(w->d, "shared", (mr->flags & RTE_COMCH_MEM_F_SHARED) != 0);
	comch_tel_u64(w->d, "users", mr->nb_users);
	if (mr->bound) {
		rte_tel_data_add_dict_int(w->d, "shown_to_uid", mr->bound_uid);
		comch_tel_text(w->d, "shown_to_function", mr->bound_func);
	}
	return 1;
}

int
comch_tel_mem_info(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	struct mem_walk w = { .d = d, .id = args->val[0] };

	comch_mem_walk(on_mem_info, &w);
	return w.found ? 0 : -EINVAL;
}

/* Shares: one dictionary per scarce resource */

int
comch_tel_shares(const struct comch_tel_args *args, struct rte_tel_data *d)
{
	static const char *const names[COMCH_NB_QUOTAS] = {
		[COMCH_QUOTA_FDS] = "descriptors",
		[COMCH_QUOTA_FDS_OUT] = "descriptors_in_flight",
		[COMCH_QUOTA_MAPS] = "mappings",
		[COMCH_QUOTA_RINGS] = "larger_rings",
	};
	struct comch_quota_info info;
	struct rte_tel_data *share;
	unsigned int i;

	RTE_SET_USED(args);
	rte_tel_data_start_dict(d);
	for (i = 0; i < COMCH_NB_QUOTAS; i++) {
		share = comch_tel_dict(d, names[i]);
		if (share == NULL)
			break;
		comch_quota_info((enum comch_quota_of)i, &info);
		comch_tel_u64(share, "max", info.max);
		comch_tel_u64(share, "used", info.used);
		comch_tel_u64(share, "most", info.most);
		rte_tel_data_add_dict_int(share, "most_uid", info.most_uid);
		rte_tel_data_add_dict_int(share, "most_pid", info.most_pid);
	}
	return 0;
}
