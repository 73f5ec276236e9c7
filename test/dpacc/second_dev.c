/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* More of the device code of t_app.c: the sources of an application are one program. */

#include <doca_dpa_dev.h>

#include "second.h"

extern uint64_t nb_calls;
uint64_t calls_of_second;

static int
total(int value)
{
	return value;
}

void second(uint64_t arg)
{
	calls_of_second += arg;
	nb_calls += (uint64_t)total(1);
}
