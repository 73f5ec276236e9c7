/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMMON_CAPTURE_H
#define COMMON_CAPTURE_H

/* What goes to stderr from here on, ... */
void t_capture_begin(void);
/* ... and what it was. */
const char *t_capture_end(void);

#endif /* COMMON_CAPTURE_H */
