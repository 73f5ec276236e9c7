/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The check of the thread rule, as a build with -Ddebug_checks=true has it. */

#undef COMCH_DEBUG_CHECKS
#define COMCH_DEBUG_CHECKS

#include <signal.h>

#include <criterion/criterion.h>

#include "sdk/comch_guard.h"

Test(guard, one_after_the_other)
{
	uint32_t guard = 0;
	int i;

	for (i = 0; i < 3; i++) {
		comch_guard_enter(&guard, "a test");
		comch_guard_leave(&guard);
	}
	cr_assert(COMCH_GUARDS);
	cr_assert_eq(guard, 0u);
}

Test(guard, two_at_once, .signal = SIGABRT)
{
	uint32_t guard = 0;

	comch_guard_enter(&guard, "a test");
	comch_guard_enter(&guard, "a test");
}
