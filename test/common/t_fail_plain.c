/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdarg.h>
#include <unistd.h>

#include "t.h"

/*
 * No exit handlers: other threads may still be at work, and what this process
 * holds is given back as at any death.
 */

void
t_fail_at(const char *file, int line, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fflush(stdout);
	fprintf(stderr, "%s:%d: pid %d: %s\n", file, line, (int)getpid(), text);
	t_dir_remove();
	_exit(1);
}

void
t_skip(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	printf("skipped: %s\n", text);
	fflush(stdout);
	t_dir_remove();
	_exit(T_EXIT_SKIP);
}
