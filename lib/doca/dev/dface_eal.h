/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DFACE_EAL_H
#define DFACE_EAL_H

#include <doca_error.h>

/* Start EAL, if the program has not. Any thread. */
doca_error_t dface_eal_start(void);

#endif /* DFACE_EAL_H */
