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

#include "eal.h"
#include "options.h"
#include "plan.h"

/**
 * Run everything: start the side or sides, wait for them, clean up.
 *
 * @return
 *   The program's exit status.
 */
int proc_supervise(const struct options *opts, const struct plan *plan,
		const struct eal_cpus *cpus);

#endif /* PROC_H */
