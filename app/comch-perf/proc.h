/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef PROC_H
#define PROC_H

/**
 * @file
 * Processes: a supervisor that does nothing but start the sides, pass
 * signals on, and clean up after them however they end.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "eal.h"
#include "options.h"
#include "plan.h"

/**
 * Have the kernel send a signal when the parent dies. Called first in a
 * child; ends it at once if the parent is gone already.
 */
void proc_die_with_parent(pid_t parent, int sig);

/** Name of the process in ps and top. */
void proc_name(const char *name);

/** A signal asked this process to end: unwind. Any thread. */
bool proc_quit(void);

/**
 * Run everything: start the side or sides, wait for them, clean up.
 *
 * @return
 *   The program's exit status.
 */
int proc_supervise(const struct options *opts, const struct plan *plan,
		const struct eal_cpus *cpus);

#endif /* PROC_H */
