/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef SOAK_BOSS_H
#define SOAK_BOSS_H

/* The supervisor: it starts, stops and kills the others, and judges by the books. */

#include <stdio.h>

#include "actor.h"

struct soak_options {
	uint32_t seconds;
	uint32_t kills;      /* at least so many; 0: by chance */
	uint32_t clients;
	const char *journal; /* NULL: none */
	uint64_t seed;
};

/* Run: the exit status. */
int soak_run(const struct soak_options *o);

/* Lines for people, on stdout and in the journal, with the time. */
void journal_open(const char *path);
void journal_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* On a terminal, a line that the next one replaces. */
void journal_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Faults that were not said yet. */
void journal_faults(struct soak_books *b);

/* The state of all connections: judge those that have ended, watch the others. */
void judge_all(struct soak_books *b);
/* How many have been judged; how many are left. */
uint64_t judge_passed(void);
uint32_t judge_left(const struct soak_books *b);

#endif /* SOAK_BOSS_H */
