/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DEV_ROLE_H
#define IMPL_DEV_ROLE_H

#include <stdbool.h>

#include <doca_error.h>

/* The side of this program. DOCA_ERROR_INITIALIZATION: unknown; logs how to set it. Any
 * thread.
 */
doca_error_t impl_role_is_dpu(bool *is_dpu);

#endif /* IMPL_DEV_ROLE_H */
