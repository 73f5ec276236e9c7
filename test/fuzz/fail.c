/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What a failed check does in a fuzzer. See t.h. */

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "t.h"

/* Aborts: libFuzzer saves the input of a process that dies by a signal. */
void
t_fail_at(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "%s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	abort();
}

void
t_skip(const char *fmt, ...)
{
	va_list ap;

	printf("skipped: ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	t_dir_remove();
	_exit(T_EXIT_SKIP);
}
