/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DEV_EAL_H
#define IMPL_DEV_EAL_H

#include <stdbool.h>

#include <doca_error.h>

/*
 * Have an EAL: the program's, or one that is started here. Any thread, any
 * number of times; cheap when it is there.
 *
 * DOCA_ERROR_INITIALIZATION: it does not start; said once, aloud.
 * DOCA_ERROR_NOT_SUPPORTED: this process was forked by one that had it.
 */
doca_error_t impl_eal_start(void);
/* Is there one, and was it started here? */
bool impl_eal_is_own(void);

#endif /* IMPL_DEV_EAL_H */
