/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMMON_RESULT_H
#define COMMON_RESULT_H

/* Checks of what a DOCA function returns. */

#include <doca_error.h>

#include "t.h"

#define T_IS(expr, error) \
	do { \
		const doca_error_t r_ = (expr); \
		if (r_ != (error)) \
			T_FAIL("%s is %s, not %s", #expr, doca_error_get_name(r_), #error); \
	} while (0)
#define T_OK(expr) T_IS(expr, DOCA_SUCCESS)

#endif /* COMMON_RESULT_H */
