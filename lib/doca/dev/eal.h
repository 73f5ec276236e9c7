/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DEV_EAL_H
#define IMPL_DEV_EAL_H

#include <stdbool.h>

#include <doca_error.h>

/*
 * Start EAL unless the program or an earlier call has done so. Any thread, any number of
 * times; cheap once it is started.
 *
 * DOCA_ERROR_INITIALIZATION: it failed to start; reported once, also to stderr.
 * DOCA_ERROR_NOT_SUPPORTED: this process is a fork of one that had started EAL.
 */
doca_error_t impl_eal_start(void);
/* Whether EAL was started by impl_eal_start(). */
bool impl_eal_is_own(void);

#endif /* IMPL_DEV_EAL_H */
