/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A program that gets a signal each millisecond, whose handler does not restart system
 * calls. By LD_PRELOAD.
 */

#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

static void
on_tick(int sig)
{
	(void)sig;
}

__attribute__((constructor)) static void
start(void)
{
	const struct sigaction action = { .sa_handler = on_tick };
	const struct itimerval each = { { 0, 1000 }, { 0, 1000 } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &each, NULL);
}
