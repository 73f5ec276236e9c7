/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * What the machine says of its RDMA devices: PCI addresses, and why a program cannot open
 * a device that the kernel has.
 */

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <rte_string_fns.h>

#include "mlx5_host.h"

#define IBDEVS "/sys/class/infiniband"
#define UVERBS "/sys/class/infiniband_verbs"
#define FILES "/dev/infiniband"
#define REMEDY "let the user's group read and write it, by a udev rule"

const char *mlx5_host_root = "";

static void
put_path(char *path, const char *dir, const char *file)
{
	snprintf(path, PATH_MAX, "%s%s%s%s", mlx5_host_root, dir, file[0] != '\0' ? "/" : "", file);
}

/* The next entry of a directory of sysfs. */
static const struct dirent *
next_entry(DIR *dir)
{
	const struct dirent *e;

	do {
		e = readdir(dir);
	} while (e != NULL && e->d_name[0] == '.');
	return e;
}

static DIR *
open_dir(const char *name)
{
	char path[PATH_MAX];

	put_path(path, name, "");
	return opendir(path);
}

bool
mlx5_host_pci(const char *ibdev_path, char *pci, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *last;
	ssize_t n;

	/* A device without a bus, such as Soft-RoCE, has no such link. */
	snprintf(path, sizeof(path), "%s/device", ibdev_path);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	last = strrchr(target, '/');
	return rte_strscpy(pci, last != NULL ? last + 1 : target, size) > 0;
}

void
mlx5_host_each(void (*found)(const char *ibdev, void *arg), void *arg)
{
	DIR *dir = open_dir(IBDEVS);
	const struct dirent *e;

	if (dir == NULL)
		return;
	while ((e = next_entry(dir)) != NULL)
		found(e->d_name, arg);
	closedir(dir);
}

/* Can the user open a file of the RDMA subsystem? Otherwise says why not. */
static int
check_file(const char *name, const char *missing, char *why, size_t size)
{
	char path[PATH_MAX];

	put_path(path, FILES, name);
	if (access(path, R_OK | W_OK) == 0)
		return 0;
	if (errno == EACCES || errno == EPERM) {
		snprintf(why, size, "no permission for " FILES "/%s: " REMEDY, name);
		return -EACCES;
	}
	snprintf(why, size, FILES "/%s does not exist: %s", name, missing);
	return -ENODEV;
}

/* The first line of a file, without its end. */
static bool
read_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "re");
	bool ok;

	if (f == NULL)
		return false;
	ok = fgets(line, (int)size, f) != NULL;
	fclose(f);
	if (ok)
		line[strcspn(line, "\n")] = '\0';
	return ok;
}

/* "uverbs0" of "mlx5_0" */
static bool
find_uverbs(const char *ibdev, char *uverbs, size_t size)
{
	char sub[NAME_MAX + sizeof("/ibdev")], path[PATH_MAX], name[NAME_MAX];
	DIR *dir = open_dir(UVERBS);
	const struct dirent *e;
	bool found = false;

	if (dir == NULL)
		return false;
	while (!found && (e = next_entry(dir)) != NULL) {
		snprintf(sub, sizeof(sub), "%s/ibdev", e->d_name);
		put_path(path, UVERBS, sub);
		found = read_line(path, name, sizeof(name)) && strcmp(name, ibdev) == 0 &&
			rte_strscpy(uverbs, e->d_name, size) > 0;
	}
	closedir(dir);
	return found;
}

int
mlx5_host_blocked(const char *ibdev, char *why, size_t size)
{
	char path[PATH_MAX], uverbs[64];
	int ret;

	put_path(path, IBDEVS, ibdev);
	if (access(path, F_OK) != 0)
		return -ENOENT;
	if (!find_uverbs(ibdev, uverbs, sizeof(uverbs))) {
		snprintf(why, size, "the kernel module ib_uverbs is not loaded (modprobe "
			"ib_uverbs)");
		return -ENODEV;
	}
	ret = check_file(uverbs, "in a container, add the device", why, size);
	if (ret == 0)
		ret = mlx5_host_check_cm(why, size);
	if (ret != 0)
		return ret;
	snprintf(why, size, "libibverbs cannot use it: install its provider (ibverbs-providers, "
		"rdma-core), and see the messages of ibv_devinfo -d %s", ibdev);
	return -ENODEV;
}

int
mlx5_host_check_cm(char *why, size_t size)
{
	return check_file("rdma_cm", "the kernel module rdma_ucm is not loaded (modprobe "
		"rdma_ucm), or a container lacks the device", why, size);
}

static void
count(const char *ibdev __rte_unused, void *arg)
{
	++*(unsigned int *)arg;
}

int
mlx5_host_no_device(char *why, size_t size)
{
	unsigned int nb = 0;

	mlx5_host_each(count, &nb);
	if (nb > 0)
		return mlx5_host_check_cm(why, size);
	snprintf(why, size, "this machine has no RDMA device: " IBDEVS " has none. Is a card there "
		"(lspci), and its kernel module loaded (mlx5_ib)?");
	return -ENODEV;
}

void
mlx5_host_memlock(char *text, size_t size)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_MEMLOCK, &lim) != 0 || lim.rlim_cur == RLIM_INFINITY)
		snprintf(text, size, "unlimited");
	else
		snprintf(text, size, "%llu KiB", (unsigned long long)lim.rlim_cur / 1024);
}
