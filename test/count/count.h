/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COUNT_H
#define COUNT_H

/*
 * Instructions per message, counted by callgrind, and system calls, counted by a parent that
 * traces. Both ends are stepped by one
 * thread and every call is known to succeed, so nothing waits in a loop and the
 * figures repeat exactly.
 *
 * A row is a way to move messages. Its step() moves nb of them, and wraps each
 * call that counts in COUNT(): to the side that sends, or to the one that
 * receives.
 */

#include <callgrind.h>

#include "t.h"

enum count_side {
	COUNT_NONE,
	COUNT_SEND,
	COUNT_RECV,
};

struct count_row {
	const char *name;
	const char *help;
	unsigned int nb;    /**< Messages in a step. */
	void (*open)(void);
	void (*step)(void);
	void (*close)(void);
};

/** The side whose calls are counted now. */
extern enum count_side count_side;

/** A call of a side begins, or ends: for who counts system calls. */
void count_mark(enum count_side side);

/** Called when the library sleeps next, within its call of epoll_wait(); counts by itself. */
extern void (*count_asleep)(void);

/* The toggles add the same few instructions to every call. */
#define COUNT(side, call) \
	do { \
		count_mark(side); \
		if (count_side == (side)) \
			CALLGRIND_TOGGLE_COLLECT; \
		call; \
		if (count_side == (side)) \
			CALLGRIND_TOGGLE_COLLECT; \
		count_mark(side); \
	} while (0)

/* The rows of each file; the last one has no name. */
extern const struct count_row count_rows_native[];
extern const struct count_row count_rows_msgq[];
extern const struct count_row count_rows_doca[];
extern const struct count_row count_rows_cchan[];

#endif /* COUNT_H */
