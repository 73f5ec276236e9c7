/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef D_RUN_H
#define D_RUN_H

/*
 * A function that ends the program, or that prints: run it in a child.
 */

#include "t.h"

struct d_run {
	int status; /* exit status; 1000 + number, of a signal */
	char out[16384];
	char err[16384];
};

/* The child ends by exit(0), if the function does not end it: so a leak counts. */
void d_run(struct d_run *run, void (*fn)(void));

#endif /* D_RUN_H */
