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
#define T_INVALID(expr) T_IS(expr, DOCA_ERROR_INVALID_VALUE)
/* A getter succeeds, and this is what it got. */
#define T_GETS(get, result, value) \
	do { \
		T_OK(get); \
		T_EQ(result, value); \
	} while (0)

/* A function of an object and a pointer takes neither if it is NULL. */
#define T_REFUSES_NULL(fn, object, pointer) \
	do { \
		T_INVALID(fn(NULL, pointer)); \
		T_INVALID(fn(object, NULL)); \
	} while (0)
/* The same for three pointers. */
#define T_REFUSES_NULLS(fn, first, second, third) \
	do { \
		T_INVALID(fn(NULL, second, third)); \
		T_INVALID(fn(first, NULL, third)); \
		T_INVALID(fn(first, second, NULL)); \
	} while (0)

#endif /* COMMON_RESULT_H */
