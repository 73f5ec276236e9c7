/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Linked into a program, this sets its side; compiled once for each ROLE. It may be
 * linked twice: its function is static, and its symbol is in a COMDAT group, of which
 * the linker keeps one.
 *
 * librte_comch.a defines the same symbol outside of a group, so that a program with both
 * does not link: libcomch_doca loads librte_comch.so, and with two copies in a process
 * each would have only some of the devices and objects.
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
