/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMMON_THREAD_H
#define COMMON_THREAD_H

/* The state of the thread of this process with this name, as /proc says it: 'S' sleeps,
 * 'R' runs; '?' if there is none.
 */
char thread_state(const char *name);

#endif /* COMMON_THREAD_H */
