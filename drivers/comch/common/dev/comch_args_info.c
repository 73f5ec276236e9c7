/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The device info of all drivers: what they offer, and the limits of memory for peers. */

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#include "sdk/comch_dir.h"
#include "comch_args.h"

#define MAX_CTRL_QUEUE 65536
#define MAX_DP_QUEUE 65536
#define MAX_BUF_LEN (UINT64_C(1) << 30)
#define CGROUPS "/sys/fs/cgroup"
#define MIB (UINT64_C(1) << 20)

static uint64_t
read_bytes(const char *path)
{
	unsigned long long bytes;
	FILE *f = fopen(path, "re");
	int n;

	if (f == NULL)
		return UINT64_MAX;
	/* "max" means no limit. */
	n = fscanf(f, "%llu", &bytes);
	fclose(f);
	return n == 1 ? bytes : UINT64_MAX;
}

/* The lowest limit from a cgroup up to its root. In a container the path may be the host's. */
static uint64_t
cgroup_limit(const char *root, char *group, const char *leaf)
{
	char path[2 * PATH_MAX], *slash;
	uint64_t least = UINT64_MAX, bytes;

	for (;;) {
		snprintf(path, sizeof(path), "%s%s/%s", root, group, leaf);
		bytes = read_bytes(path);
		least = RTE_MIN(least, bytes);
		slash = strrchr(group, '/');
		if (slash == NULL)
			return least;
		*slash = '\0';
	}
}

/* The memory that this process may use: the machine's, or the limit of its cgroups. */
static uint64_t
memory_limit(void)
{
	uint64_t least = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	char line[PATH_MAX], *group;
	uint64_t bytes;
	FILE *f;

	f = fopen("/proc/self/cgroup", "re");
	if (f == NULL)
		return least;
	while (fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		bytes = UINT64_MAX;
		group = strchr(line, '/');
		if (group == NULL)
			continue;
		if (strncmp(line, "0::", 3) == 0)
			bytes = cgroup_limit(CGROUPS, group, "memory.max");
		else if (strstr(line, ":memory:") != NULL)
			bytes = cgroup_limit(CGROUPS "/memory", group, "memory.limit_in_bytes");
		least = RTE_MIN(least, bytes);
	}
	fclose(f);
	return least;
}

static void
set_default(uint64_t *limit, uint64_t value)
{
	if (*limit == 0)
		*limit = value;
}

/* Limits of the memory that peers make this process map and allocate. */
static void
limit_memory(struct rte_comch_dev_info *info, uint64_t max_staging)
{
	uint64_t mem = memory_limit();

	/* A device's total is at least the limit of one connection. */
	set_default(&info->total_import, RTE_MAX(mem / 4, info->max_import));
	set_default(&info->max_import, RTE_MIN(info->total_import / 2, 8192 * MIB));
	set_default(&info->total_staging,
		RTE_MAX(RTE_MIN(mem / 16, 256 * MIB), info->max_staging));
	set_default(&info->max_staging, RTE_MIN(info->total_staging, max_staging));
}

void
comch_args_fill_info(struct rte_comch_dev_info *info, uint64_t max_staging)
{
	info->capa = RTE_COMCH_CAPA_DATA | RTE_COMCH_CAPA_DIRECT | RTE_COMCH_CAPA_EVENT_FD |
		(info->role == RTE_COMCH_ROLE_DPU ? RTE_COMCH_CAPA_SERVER :
			RTE_COMCH_CAPA_CLIENT);
	info->max_name_size = RTE_COMCH_NAME_SIZE;
	info->max_recv_queue = MAX_CTRL_QUEUE;
	info->max_send_queue = MAX_CTRL_QUEUE;
	info->max_producers = COMCH_MAX_PRODUCERS;
	info->max_consumers = COMCH_MAX_CONSUMERS;
	info->max_dp_queue = MAX_DP_QUEUE;
	info->max_imm_len = RTE_COMCH_IMM_SIZE;
	info->max_buf_len = MAX_BUF_LEN;
	limit_memory(info, max_staging);
}
