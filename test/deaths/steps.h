/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef STEPS_H
#define STEPS_H

/*
 * Runs the first thread of a child step by step: system calls (entry and exit are a step
 * each) or machine instructions. The child marks the beginning of each phase of its life by
 * steps_mark(). Its other threads run freely.
 */

#include "t_proc.h"

enum steps_kind {
	STEPS_CALLS,
	STEPS_INSNS,
};

/* Number of STEPS_CALLS steps that a mark itself takes. */
#define STEPS_OF_MARK 4

/* In the child: a phase begins. */
void steps_mark(void);

/* Before the child's first mark. Fails with what is missing if this process may not trace it. */
void steps_begin(struct t_proc *p);
/*
 * Run to the mark of a phase (0: the first), then n more steps, at most to the next mark. Returns
 * the number of steps. Phases are in order.
 */
uint64_t steps_run(struct t_proc *p, unsigned int *at, unsigned int phase,
		enum steps_kind kind, uint64_t n);
/* One step; false: at a mark. */
bool steps_one(struct t_proc *p, enum steps_kind kind);

#endif /* STEPS_H */
