/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef T_FUTEX_H
#define T_FUTEX_H

/*
 * The sleeps of counters in this program and in those that it forks: a syscall() of its own, which
 * the library calls instead of that of libc.
 */

#include <stdatomic.h>
#include <stdbool.h>

/*
 * Whether a sleep on a counter ends by a wake-up only, so that a lost one is seen. Otherwise
 * sleepers look again by themselves.
 */
extern bool t_futex_never_looks;
/* Sleeps so far. */
extern atomic_uint t_futex_nb_waits;

#endif /* T_FUTEX_H */
