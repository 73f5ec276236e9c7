/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <signal.h>

#include "t.h"
#include "u_flip.h"

/* More instructions than a trial has: 1 << MAX_BITS. */
#define MAX_BITS 12

/* What flips in the trial under way. */
static struct {
	const struct u_flip *f;
	void *field;
	unsigned int bit;
	unsigned int opposite;
	unsigned int steps;
} now;

static void
store(uint64_t value)
{
	switch (now.f->width) {
	case 1:
		__atomic_store_n((uint8_t *)now.field, (uint8_t)value, __ATOMIC_RELEASE);
		break;
	case 4:
		__atomic_store_n((uint32_t *)now.field, (uint32_t)value, __ATOMIC_RELEASE);
		break;
	default:
		__atomic_store_n((uint64_t *)now.field, value, __ATOMIC_RELEASE);
	}
}

static void
store_now(void)
{
	store(now.f->value[(now.steps >> now.bit & 1) ^ now.opposite]);
}

static void
on_trap(int sig)
{
	RTE_SET_USED(sig);
	now.steps++;
	store_now();
}

void
u_flip_or_skip(void)
{
#ifndef __x86_64__
	t_skip("no trap after each instruction on this machine");
#endif
	if (t_sanitized())
		t_skip("instrumented code");
	T_CHECK(signal(SIGTRAP, on_trap) != SIG_ERR);
}

void
u_flip(const struct u_flip *f, void *field, void (*trial)(void *arg), void *arg)
{
	unsigned int most = 0;

	now.f = f;
	now.field = field;
	for (now.bit = 0; now.bit < MAX_BITS; now.bit++) {
		for (now.opposite = 0; now.opposite < 2; now.opposite++) {
			now.steps = 0;
			store_now();
			trial(arg);
			most = RTE_MAX(most, now.steps);
		}
	}
	store(f->value[0]);
	T_LT(most, 1u << MAX_BITS);
	/* Stepped at all? */
	T_GT(most, 10);
}
