/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef T_MAIN_H
#define T_MAIN_H

/*
 * A plain test program: cases that run one after the other, each in a child
 * process, so that each has a fresh EAL and one that crashes fails alone. The
 * program needs no Criterion and so also runs under TSan.
 */

#include "t.h"

struct t_case {
	const char *name;
	void (*fn)(void);
};

/* Run the cases whose names are arguments, or all. Exit status: 0, 1 if one
 * failed, 77 if all were skipped.
 */
int t_main(const struct t_case *cases, unsigned int nb, int argc, char **argv);

#endif /* T_MAIN_H */
