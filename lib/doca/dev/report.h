/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DEV_REPORT_H
#define IMPL_DEV_REPORT_H

/*
 * Report an error in the set-up of the library: to the log, and to stderr with EAL's log,
 * which works before EAL is started. Most programs have no SDK backend, so their users
 * would not see the log.
 */
void impl_report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Of its lines in EAL's log. */
extern int impl_say_logtype;

#endif /* IMPL_DEV_REPORT_H */
