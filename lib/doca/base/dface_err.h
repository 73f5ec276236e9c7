/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DFACE_ERR_H
#define DFACE_ERR_H

#include <doca_error.h>

/* What a native return value (0 or a negative errno) is to a DOCA program. */
doca_error_t dface_err(int ret);

#endif /* DFACE_ERR_H */
