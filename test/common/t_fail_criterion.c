/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/hooks.h>

#include "t.h"

/*
 * LeakSanitizer asks at the end of each process. Tests run in processes of
 * their own, which Criterion marks by a variable; what its runner leaks now
 * and then is not ours.
 */
int __lsan_is_turned_off(void);

int
__lsan_is_turned_off(void)
{
	return getenv("BXFI_MAP") == NULL;
}

/* Criterion ends a test by a long jump, which only the test's thread may do. */
static bool
is_main_thread(void)
{
	return syscall(SYS_gettid) == getpid();
}

void
t_fail_at(const char *file, int line, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!is_main_thread()) {
		fprintf(stderr, "%s:%d: %s (in a thread)\n", file, line, text);
		abort();
	}
	cr_assert_fail("%s:%d: %s", file, line, text);
	abort();
}

void
t_skip(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* Criterion itself reports it with --verbose only. */
	fprintf(stderr, "skipped: %s::%s: %s\n", criterion_current_test->category,
			criterion_current_test->name, text);
	cr_skip_test("%s", text);
	abort();
}

/* Where all tests were skipped, Criterion would report success. */
ReportHook(POST_ALL)(struct criterion_global_stats *stats)
{
	if (stats->tests_passed + stats->tests_failed + stats->tests_crashed == 0)
		exit(T_EXIT_SKIP);
}
