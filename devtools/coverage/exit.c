/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Preloaded by devtools/coverage.sh: a process that ends by _exit(), as the children of most
 * tests do, writes its counters first. exit() writes them anyway.
 */

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* More than one process ever loads; beyond it, counters are lost. */
#define MAX_DUMPS 64

/* More than a program keeps open while it writes counters. */
#define MORE_FDS 64

static void (*dumps[MAX_DUMPS])(void);
static unsigned int nb_dumps;

/* A test may have left the process without descriptors, which counters need. */
static void
make_room(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur += MORE_FDS;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_max = limit.rlim_cur;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

void coverage_register(void (*dump)(void));

/* Called by constructors, which the loader runs one after the other. */
void
coverage_register(void (*dump)(void))
{
	unsigned int i;

	/* Before the destructors that write them. */
	if (nb_dumps == 0)
		(void)atexit(make_room);
	for (i = 0; i < nb_dumps; i++)
		if (dumps[i] == dump)
			return;
	if (nb_dumps < MAX_DUMPS)
		dumps[nb_dumps++] = dump;
}

void
_exit(int status)
{
	void (*next)(int) = (void (*)(int))(uintptr_t)dlsym(RTLD_NEXT, "_exit");
	Dl_info info;
	unsigned int i;

	make_room();
	for (i = 0; i < nb_dumps; i++)
		/* The library may have been unloaded, which writes its counters, too. */
		if (dladdr((void *)(uintptr_t)dumps[i], &info) != 0)
			dumps[i]();
	next(status);
	__builtin_unreachable();
}
