/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_BASE_ERR_H
#define IMPL_BASE_ERR_H

#include <doca_error.h>

/* Convert a native return value (0 or a negative errno). */
doca_error_t impl_err(int ret);

#endif /* IMPL_BASE_ERR_H */
