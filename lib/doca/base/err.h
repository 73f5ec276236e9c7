/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_BASE_ERR_H
#define IMPL_BASE_ERR_H

#include <rte_branch_prediction.h>

#include <doca_error.h>

/* Convert a negative errno. */
doca_error_t impl_err_of(int ret);

/* Convert a native return value (0 or a negative errno). Each completion does. */
static inline doca_error_t
impl_err(int ret)
{
	return likely(ret == 0) ? DOCA_SUCCESS : impl_err_of(ret);
}

#endif /* IMPL_BASE_ERR_H */
