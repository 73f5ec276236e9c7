/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <dirent.h>
#include <limits.h>
#include <mntent.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_eal.h>

#include "mp_eal.h"

/* MiB at the start, and at most. Several tests may run at a time. */
#define EAL_MIB "16"
#define FREE_MIB 40

static const struct t_driver ring_driver = {
	.name = "comch_ring", .has_dir = true, .has_kernel_peer = true, .shows_heap = true,
	.maps_memory = true,
};

/* Files ...map_N of this director, and of those that are gone, hold pages. */
static void
remove_maps(const char *dir)
{
	const char *own = t_own_names();
	char path[PATH_MAX];
	struct dirent *e;
	DIR *d;

	d = opendir(dir);
	if (d == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		if (strncmp(e->d_name, own, strlen(own)) != 0 && !t_is_leftover(e->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		unlink(path);
	}
	closedir(d);
}

/* The first hugetlbfs that this process can write. */
static bool
find_huge_dir(char *dir, size_t size)
{
	struct mntent *m;
	bool found = false;
	FILE *f;

	f = setmntent("/proc/mounts", "re");
	if (f == NULL)
		return false;
	while (!found && (m = getmntent(f)) != NULL) {
		if (strcmp(m->mnt_type, "hugetlbfs") != 0 || access(m->mnt_dir, W_OK) != 0)
			continue;
		/* Those of 1 GiB are too large. */
		found = strstr(m->mnt_opts, "pagesize=1G") == NULL &&
			strstr(m->mnt_opts, "pagesize=1024M") == NULL;
		snprintf(dir, size, "%s", m->mnt_dir);
	}
	endmntent(f);
	return found;
}

/* A value of /proc/meminfo; 0: it has none. */
static unsigned long
meminfo(const char *key)
{
	unsigned long value = 0;
	char line[128];
	FILE *f;

	f = fopen("/proc/meminfo", "re");
	if (f == NULL)
		return 0;
	while (fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, key, strlen(key)) == 0)
			value = strtoul(line + strlen(key), NULL, 10);
	fclose(f);
	return value;
}

void
mp_eal_new(struct mp_eal *eal)
{
	unsigned long mib;

	memset(eal, 0, sizeof(*eal));
	if (!find_huge_dir(eal->huge_dir, sizeof(eal->huge_dir)))
		t_skip("no hugetlbfs is mounted that can be written: devtools/setup.sh hugepages");
	remove_maps(eal->huge_dir);
	mib = meminfo("HugePages_Free:") * meminfo("Hugepagesize:") / 1024;
	if (mib < FREE_MIB)
		t_skip("%lu MiB of hugepages are free, %u needed: devtools/setup.sh hugepages",
			mib, FREE_MIB);
	snprintf(eal->prefix, sizeof(eal->prefix), "%s%lx", t_own_names(),
		(unsigned long)t_now_ms());
}

void
mp_eal_remove(struct mp_eal *eal)
{
	remove_maps(eal->huge_dir);
}

void
mp_eal_join(const struct mp_eal *eal, bool is_primary, unsigned int lcore)
{
	char prefix_arg[96], dir_arg[160], lcores_arg[64], log_arg[64];
	const char *level = getenv("T_LOG");
	char *argv[] = {
		(char *)(uintptr_t)"test", prefix_arg, dir_arg, lcores_arg, log_arg,
		(char *)(uintptr_t)"-m", (char *)(uintptr_t)EAL_MIB,
		(char *)(uintptr_t)"--no-pci", (char *)(uintptr_t)"--no-telemetry",
		(char *)(uintptr_t)"--iova-mode=va",
		(char *)(uintptr_t)(is_primary ? "--proc-type=primary" : "--proc-type=secondary"),
		NULL,
	};

	snprintf(prefix_arg, sizeof(prefix_arg), "--file-prefix=%s", eal->prefix);
	snprintf(dir_arg, sizeof(dir_arg), "--huge-dir=%s", eal->huge_dir);
	snprintf(lcores_arg, sizeof(lcores_arg), "--lcores=%u@(0-%ld)", lcore,
		sysconf(_SC_NPROCESSORS_ONLN) - 1);
	snprintf(log_arg, sizeof(log_arg), "--log-level=*:%s", level == NULL ? "2" : level);
	if (rte_eal_init((int)RTE_DIM(argv) - 1, argv) < 0)
		T_FAIL("rte_eal_init: %s", rte_strerror(rte_errno));
	t_driver = &ring_driver;
}

struct rte_mempool *
mp_pool_new(const char *name, unsigned int n)
{
	struct rte_mempool *mp;

	mp = rte_comch_pktmbuf_pool_create_multiproc(name, n, 0, 0,
			MP_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	if (mp == NULL)
		T_FAIL("pool %s: %s", name, rte_strerror(rte_errno));
	return mp;
}

struct rte_mempool *
mp_pool_find(const char *name)
{
	struct rte_mempool *mp = rte_mempool_lookup(name);

	if (mp == NULL)
		T_FAIL("pool %s: %s", name, rte_strerror(rte_errno));
	if (rte_comch_mempool_mr(mp) == NULL)
		T_CHECK(rte_comch_mempool_register(mp, 0) != NULL);
	return mp;
}
