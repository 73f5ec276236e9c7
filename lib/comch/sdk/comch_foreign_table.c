/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The descriptor table of a thread that receives or closes. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_common.h>

#include "sdk/comch_foreign_private.h"

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1u << 1)
#endif

/*
 * In these threads, descriptor numbers refer to other files than in the rest of the
 * program. Sanitizers do not know this, so bypass their interceptors.
 */
void
comch_foreign_own_close(int fd)
{
	syscall(SYS_close, fd);
}

static int
compare_fds(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Close all descriptors of this table except *keep*, without close_range(). */
static void
close_listed(const int *keep, unsigned int n)
{
	DIR *dir = opendir("/proc/thread-self/fd");
	const struct dirent *entry;
	unsigned int i;
	int fd;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		fd = atoi(entry->d_name);
		for (i = 0; i < n && keep[i] != fd; i++)
			;
		if (entry->d_name[0] != '.' && i == n && fd != dirfd(dir))
			comch_foreign_own_close(fd);
	}
	if (dir != NULL)
		closedir(dir);
}

int
comch_foreign_own_table(const int *keep, unsigned int n)
{
	unsigned int i, next = 0;
	int fds[8], fd;

	memcpy(fds, keep, n * sizeof(*keep));
	qsort(fds, n, sizeof(*fds), compare_fds);
	/* High numbers first: the kernel does not copy them. Not before Linux 5.9. */
	if (syscall(SYS_close_range, fds[n - 1] + 1, ~0u, CLOSE_RANGE_UNSHARE) != 0) {
		if (syscall(SYS_unshare, CLONE_FILES) != 0)
			return -errno;
		close_listed(fds, n);
	}
	for (i = 0; i < n; i++) {
#ifdef __SANITIZE_ADDRESS__
		/* Keep the standard descriptors: reports go to stderr. */
		next = RTE_MAX(next, 3u);
#endif
		if (fds[i] > (int)next)
			syscall(SYS_close_range, next, fds[i] - 1, 0);
		next = (unsigned int)fds[i] + 1;
	}
	/* Occupy the standard descriptors, so that output never reaches a peer's file. */
	do {
		fd = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		comch_foreign_own_close(fd);
	return 0;
}
