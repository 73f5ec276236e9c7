/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef FLOOR_FLOOR_H
#define FLOOR_FLOOR_H

/**
 * @file
 * Floors: what this machine does, right now, for two pinned processes that
 * share memory and run no library code at all. Figures of a channel mean
 * little by themselves, above all on a virtual machine whose CPUs move; their
 * ratio to a floor measured beside them does not.
 *
 * The program comch-perf-floor measures one and prints it; comch-perf starts it.
 */

#include <stdint.h>

/** What to measure. */
enum floor_kind {
	/** One way of a 64-byte line written, seen, and answered; p50, ns. */
	FLOOR_LINE,
	/** 64-byte slots streamed through a ring of 4,096; slots a second. */
	FLOOR_SLOT,
	/** Copies of a size into a shared window of 16 MiB; bytes a second. */
	FLOOR_MEMCPY,
	/** One way of an eventfd and epoll ping-pong; p50, ns. */
	FLOOR_WAKE,
	FLOOR_NONE,
};

/** What to measure, how and where: the arguments of the program. */
struct floor_req {
	enum floor_kind kind;
	int cpu_a;       /**< CPU of the sending process. */
	int cpu_b;       /**< CPU of the receiving process. */
	uint32_t ms;     /**< How long. */
	uint64_t size;   /**< FLOOR_MEMCPY: bytes a copy. */
};

/** The window that large messages go through, here and in the tests. */
#define FLOOR_WINDOW (UINT64_C(16) << 20)

/** Messages of a size that are in flight in a window, 2 at least. */
uint32_t floor_window_msgs(uint64_t size);

/** "line", "slot", "memcpy", "wake", "none". */
const char *floor_name(enum floor_kind kind);

/** A sentence for people. */
const char *floor_what(enum floor_kind kind);

/**
 * Start the program; blocks, asleep, so that both CPUs are free for it.
 *
 * @return
 *   The figure in the kind's unit, or a negative number if it failed.
 */
double floor_measure(const struct floor_req *req);

#endif /* FLOOR_FLOOR_H */
