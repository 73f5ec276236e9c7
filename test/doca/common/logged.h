/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMMON_LOGGED_H
#define COMMON_LOGGED_H

/* All that the library logs from here on, ... */
void logged_begin(void);
/* ... and what it was: lines of printable characters. */
const char *logged_end(void);

#endif /* COMMON_LOGGED_H */
