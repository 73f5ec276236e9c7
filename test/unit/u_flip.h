/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef U_FLIP_H
#define U_FLIP_H

/*
 * A field of the peer's memory changes between a valid value and an invalid one while code of
 * ours reads it: if it is read twice, it is checked with the one and used with the other. A
 * thread of the attacker would hardly ever hit that moment; here the CPU traps after each
 * instruction. The value before instruction s is bit number `bit` of s, or its opposite: for any
 * two instructions there is a trial in which the first reads the one value and the second the
 * other.
 */

#include <stdint.h>

#include <rte_common.h>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

/* The trap flag of x86. */
#define U_TRAP_FLAG 0x100

struct u_flip {
	const char *name;
	uint32_t width; /* of the field, bytes: 1, 4 or 8 */
	uint64_t value[2]; /* the valid one first */
};

/* Not where the CPU cannot do that, nor under a sanitizer, whose code reads for itself. */
void u_flip_or_skip(void);
/* Run all trials of a field; afterwards it has its valid value. */
void u_flip(const struct u_flip *f, void *field, void (*trial)(void *arg), void *arg);

/* In a trial: what is stepped is between them. */
static __rte_always_inline void
u_flip_begin(void)
{
#ifdef __x86_64__
	__writeeflags(__readeflags() | U_TRAP_FLAG);
#endif
}

static __rte_always_inline void
u_flip_end(void)
{
#ifdef __x86_64__
	__writeeflags(__readeflags() & ~(unsigned long long)U_TRAP_FLAG);
#endif
}

#endif /* U_FLIP_H */
