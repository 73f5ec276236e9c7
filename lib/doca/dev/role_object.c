/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Linked into a program, this says which side it is: compiled once for each
 * ROLE. It may be named twice: its functions are static, and of its symbol, which
 * is in a group, the linker takes one.
 *
 * librte_comch.a defines that symbol, too, but in no group. So a program cannot be
 * linked with it: libcomch_doca brings librte_comch.so, and with two copies of it
 * in one process, each would know a half of the devices and objects.
 */

#include <comch_doca.h>

__asm__(".pushsection .rodata.comch_role,\"aG\",%progbits,comch_role,comdat\n"
	".globl comch_is_static_but_doca_needs_it_shared\n"
	"comch_is_static_but_doca_needs_it_shared:\n"
	".byte 0\n"
	".popsection");

__attribute__((constructor)) static void
say_role(void)
{
	comch_doca_role_set(ROLE);
}
