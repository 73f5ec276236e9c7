/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef FLOOR_LINES_H
#define FLOOR_LINES_H

/**
 * @file
 * Cache lines per message of FLOOR_SLOT, in units of 1/FLOOR_ONE_LINE. If the number
 * has a fraction, messages of two lengths alternate so that it is their mean: 2.25 is
 * three messages of two lines, then one of three.
 */

#include <stdint.h>

/** One line per message. */
#define FLOOR_ONE_LINE  1000
#define FLOOR_MAX_LINES 16
/** Bytes of a line, whatever the CPU has. */
#define FLOOR_LINE_SIZE 64

/**
 * Parse a number of lines from 1 to FLOOR_MAX_LINES with at most three decimals.
 *
 * @return 0 or -EINVAL
 */
int floor_lines_parse(const char *text, uint32_t *lines);

/** The lengths of successive messages. */
struct floor_lengths {
	uint32_t whole;    /**< Lines of each message. */
	uint32_t fraction; /**< Rest of the mean. */
	uint32_t sum;      /**< Of the rests since the last message with one line more. */
};

static inline struct floor_lengths
floor_lengths_init(uint32_t lines)
{
	return (struct floor_lengths){
		.whole = lines / FLOOR_ONE_LINE,
		.fraction = lines % FLOOR_ONE_LINE,
	};
}

/** Length of the next message, lines. */
static inline uint32_t
floor_lengths_next(struct floor_lengths *l)
{
	l->sum += l->fraction;
	if (l->sum < FLOOR_ONE_LINE)
		return l->whole;
	l->sum -= FLOOR_ONE_LINE;
	return l->whole + 1;
}

#endif /* FLOOR_LINES_H */
