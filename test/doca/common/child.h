/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMMON_CHILD_H
#define COMMON_CHILD_H

/*
 * A function that ends the program, or that prints: run it in a child.
 */

#include "t.h"

struct child_run {
	int status; /* exit status; 1000 + number, of a signal */
	char out[16384];
	char err[16384];
};

/* The child ends by exit(0), if the function does not end it: so a leak counts. */
void child_run(struct child_run *run, void (*fn)(void));

#endif /* COMMON_CHILD_H */
