/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef FLOOR_WAKE_H
#define FLOOR_WAKE_H

/**
 * @file
 * Two processes wake each other by turns: each sleeps in epoll until its eventfd is written.
 */

#include <stdatomic.h>
#include <stdint.h>

/**
 * Wake process B and sleep, again and again.
 *
 * @param event
 *   The eventfds of A, this process, and of B.
 * @param over
 *   Set at the end, before the last wake-up.
 * @return
 *   Median of half a round trip, ns.
 */
double floor_wake_ask(const int event[2], uint32_t ms, _Atomic uint64_t *over);

/** Answer until *over is not 0. */
void floor_wake_answer(const int event[2], const _Atomic uint64_t *over);

#endif /* FLOOR_WAKE_H */
