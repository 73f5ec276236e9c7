/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Linked into a program, this says which side it is: compiled once for each
 * ROLE. It has no symbols of its own to collide, so it may be named twice.
 */

#include <comch_doca.h>

__attribute__((constructor)) static void
say_role(void)
{
	comch_doca_role_set(ROLE);
}
