/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Parses what the device strings of all drivers have in common. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_log.h>
#include <rte_string_fns.h>

#include "comch_args.h"

#define LIMIT_CLIENTS (1u << 20)
#define DEFAULT_CLIENTS 16384

#define ARGS_LOG(a, level, fmt, ...) \
	rte_log(RTE_LOG_##level, (a)->logtype, "%s: " fmt "\n", (a)->tag, ##__VA_ARGS__)

int
comch_args_bad(const struct comch_args *a, const char *key, const char *value,
		const char *valid)
{
	ARGS_LOG(a, ERR, "%s=%s: invalid value, expected %s", key, value, valid);
	return -EINVAL;
}

int
comch_args_each(const struct comch_args *a, const char *key,
		int (*parse)(const struct comch_args *a, const char *key, const char *value,
			void *arg), void *arg)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < a->kv->count && ret == 0; i++)
		if (strcmp(a->kv->pairs[i].key, key) == 0)
			ret = parse(a, key, a->kv->pairs[i].value, arg);
	return ret;
}

struct number {
	uint64_t min, max;
	uint64_t *out;
};

static int
parse_number(const struct comch_args *a, const char *key, const char *value, void *arg)
{
	const struct number *n = arg;
	char valid[64], *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(value, &end, 0);
	if (errno != 0 || end == value || *end != '\0' || value[0] == '-' || v < n->min ||
			v > n->max) {
		snprintf(valid, sizeof(valid), "a number from %llu to %llu",
			(unsigned long long)n->min, (unsigned long long)n->max);
		return comch_args_bad(a, key, value, valid);
	}
	*n->out = v;
	return 0;
}

int
comch_args_number(const struct comch_args *a, const char *key, uint64_t min, uint64_t max,
		uint64_t *out)
{
	struct number n = { .min = min, .max = max, .out = out };

	return comch_args_each(a, key, parse_number, &n);
}

int
comch_args_u32(const struct comch_args *a, const char *key, uint32_t min, uint32_t max,
		uint32_t *out)
{
	uint64_t v = *out;
	int ret = comch_args_number(a, key, min, max, &v);

	*out = (uint32_t)v;
	return ret;
}

static int
parse_bool(const struct comch_args *a, const char *key, const char *value, void *arg)
{
	if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
		return comch_args_bad(a, key, value, "0 or 1");
	*(bool *)arg = value[0] == '1';
	return 0;
}

int
comch_args_bool(const struct comch_args *a, const char *key, bool *out)
{
	return comch_args_each(a, key, parse_bool, out);
}

static int
parse_role(const struct comch_args *a, const char *key, const char *value, void *arg)
{
	*(bool *)arg = true;
	if (strcmp(value, "host") == 0)
		a->dev->info.role = RTE_COMCH_ROLE_HOST;
	else if (strcmp(value, "dpu") == 0)
		a->dev->info.role = RTE_COMCH_ROLE_DPU;
	else
		return comch_args_bad(a, key, value, "host or dpu");
	return 0;
}

int
comch_args_role(const struct comch_args *a)
{
	bool have_role = false;

	if (comch_args_each(a, COMCH_ARGS_ROLE, parse_role, &have_role) != 0)
		return -EINVAL;
	if (have_role)
		return 0;
	ARGS_LOG(a, ERR, "device %s: role is required: role=host or role=dpu",
		a->dev->info.name);
	return -EINVAL;
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
add_func(const struct comch_args *a, const char *key, char *name)
{
	struct rte_comch_dev *dev = a->dev;
	struct rte_comch_rep_info info, *reps;
	char *addrs = a->on_addrs != NULL ? strchr(name, '@') : NULL;
	uint16_t i;

	if (addrs != NULL)
		*addrs++ = '\0';
	if (parse_func(name, &info) != 0)
		return comch_args_bad(a, key, name, "pfN, pfNvfM or pfNsfM");
	for (i = 0; i < dev->info.nb_reps; i++)
		if (strcmp(dev->reps[i].name, name) == 0)
			return comch_args_bad(a, key, name, "each function once");
	if (dev->info.nb_reps == RTE_COMCH_MAX_REPS)
		return comch_args_bad(a, key, name, "at most 256 functions");
	reps = realloc(dev->reps, (dev->info.nb_reps + 1u) * sizeof(*reps));
	if (reps == NULL)
		return -ENOMEM;
	dev->reps = reps;
	dev->reps[dev->info.nb_reps++] = info;
	return addrs != NULL ? a->on_addrs(a, dev->info.nb_reps - 1, key, addrs) : 0;
}

/* func=pf0 */
static int
parse_func_key(const struct comch_args *a, const char *key, const char *value,
		void *arg __rte_unused)
{
	char *name;
	int ret;

	if (a->dev->info.nb_reps > 0)
		return comch_args_bad(a, key, value,
			"one function; representors are the DPU side's");
	name = strdup(value);
	ret = name != NULL ? add_func(a, key, name) : -ENOMEM;
	free(name);
	return ret;
}

/* rep=pf0 or rep=[pf0,pf0vf0] */
static int
parse_rep(const struct comch_args *a, const char *key, const char *value,
		void *arg __rte_unused)
{
	char *list, *save = NULL, *name;
	int ret = 0;

	list = strdup(value);
	if (list == NULL)
		return -ENOMEM;
	for (name = strtok_r(list, "[,]", &save); name != NULL && ret == 0;
			name = strtok_r(NULL, "[,]", &save))
		ret = add_func(a, key, name);
	free(list);
	return ret;
}

int
comch_args_funcs(const struct comch_args *a)
{
	const struct rte_comch_dev_info *info = &a->dev->info;
	bool dpu = info->role == RTE_COMCH_ROLE_DPU;
	char pf0[] = "pf0";
	int ret;

	if (rte_kvargs_count(a->kv, dpu ? COMCH_ARGS_FUNC : COMCH_ARGS_REP) > 0) {
		ARGS_LOG(a, ERR, "device %s: '%s' is for the %s side", info->name,
			dpu ? COMCH_ARGS_FUNC : COMCH_ARGS_REP, dpu ? "host" : "DPU");
		return -EINVAL;
	}
	ret = dpu ? comch_args_each(a, COMCH_ARGS_REP, parse_rep, NULL) :
		comch_args_each(a, COMCH_ARGS_FUNC, parse_func_key, NULL);
	if (ret != 0 || info->nb_reps > 0)
		return ret;
	return add_func(a, COMCH_ARGS_FUNC, pf0);
}

int
comch_args_limits(const struct comch_args *a)
{
	struct rte_comch_dev_info *info = &a->dev->info;
	const struct {
		const char *key;
		uint64_t *out;
	} bytes[] = {
		{ COMCH_ARGS_MAX_IMPORT, &info->max_import },
		{ COMCH_ARGS_TOTAL_IMPORT, &info->total_import },
		{ COMCH_ARGS_MAX_STAGING, &info->max_staging },
		{ COMCH_ARGS_TOTAL_STAGING, &info->total_staging },
	};
	size_t i;

	info->max_clients = DEFAULT_CLIENTS;
	info->max_msg_size = COMCH_ARGS_DEFAULT_MSG;
	for (i = 0; i < RTE_DIM(bytes); i++)
		if (comch_args_number(a, bytes[i].key, 1, COMCH_ARGS_MAX_BYTES,
				bytes[i].out) != 0)
			return -EINVAL;
	if (comch_args_u32(a, COMCH_ARGS_MAX_CLIENTS, 1, LIMIT_CLIENTS,
			&info->max_clients) != 0)
		return -EINVAL;
	return comch_args_u32(a, COMCH_ARGS_MAX_MSG, 1, COMCH_ARGS_LIMIT_MSG,
			&info->max_msg_size);
}
