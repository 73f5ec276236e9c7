/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DEV_REPORT_H
#define IMPL_DEV_REPORT_H

/*
 * A mistake in how the library is set up: a line to the log, and one to stderr
 * by EAL's log, which needs no EAL. For most programs have no backend for the
 * messages of the library, and their users could not know what to do.
 */
void impl_report(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* IMPL_DEV_REPORT_H */
