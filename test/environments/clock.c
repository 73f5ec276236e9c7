/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* A program whose time of day jumps by an hour each time it looks. By LD_PRELOAD. */

#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define HOUR 3600

static atomic_uint nb_looks;

int
clock_gettime(clockid_t clock, struct timespec *ts)
{
	long ret = syscall(SYS_clock_gettime, clock, ts);

	if (ret == 0 && clock == CLOCK_REALTIME)
		ts->tv_sec += atomic_fetch_add(&nb_looks, 1) % 2 == 0 ? HOUR : -HOUR;
	return (int)ret;
}

int
gettimeofday(struct timeval *tv, void *zone)
{
	struct timespec ts;

	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &ts) != 0)
		return -1;
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

time_t
time(time_t *result)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (result != NULL)
		*result = ts.tv_sec;
	return ts.tv_sec;
}
