/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DEV_REPORT_H
#define IMPL_DEV_REPORT_H

#include <stdatomic.h>

/*
 * Report an error in the set-up of the library: to the log, and to stderr with EAL's log,
 * which works before EAL is started. Most programs have no SDK backend, so their users
 * would not see the log.
 */
void impl_report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * As impl_report(), of what a program may repeat: a place in the code reports the first times in a
 * process.
 */
#define IMPL_REPORTS 8
#define impl_report_few(...) do { \
	static atomic_uint reports_of_place; \
	if (atomic_fetch_add_explicit(&reports_of_place, 1, memory_order_relaxed) < IMPL_REPORTS) \
		impl_report(__VA_ARGS__); \
} while (0)

/* Of its lines in EAL's log. */
extern int impl_say_logtype;

#endif /* IMPL_DEV_REPORT_H */
