/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <sys/stat.h>
#include <unistd.h>

#include "t_main.h"

static bool forked_from_threads;

/* Called by LeakSanitizer at the end of a process. */
int __lsan_is_turned_off(void);

int
__lsan_is_turned_off(void)
{
	return forked_from_threads;
}

static bool
has_threads(void)
{
	struct stat st;

	/* "." and "..", and a directory for each thread. */
	if (stat("/proc/self/task", &st) != 0)
		T_FAIL("/proc/self/task: %s", strerror(errno));
	return st.st_nlink > 3;
}

pid_t
t_fork(void)
{
	bool threads = has_threads();
	pid_t pid;

	fflush(stdout);
	fflush(stderr);
	pid = fork();
	if (pid < 0)
		T_FAIL("fork: %s", strerror(errno));
	if (pid == 0 && threads)
		forked_from_threads = true;
	return pid;
}
