/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef EAL_H
#define EAL_H

/**
 * @file
 * EAL of one side: its arguments, made up as far as they are not given, and
 * what it leaves behind.
 */

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

/** Sizes of what a side is told by the supervisor. */
#define EAL_PREFIX_SIZE 64
#define EAL_MAX_CPUS    (2 * PERF_MAX_WORKERS)

/** CPUs that may be used. */
struct eal_cpus {
	uint16_t ids[EAL_MAX_CPUS];
	uint32_t nb;
};

/** What a side's EAL is made of. */
struct eal_setup {
	const struct options *opts;
	bool host;
	uint32_t nb_workers;
	uint32_t mem_mb;
	bool share;                   /**< Its memory is to be shown to the peer. */
	const struct eal_cpus *cpus;
	char prefix[EAL_PREFIX_SIZE]; /**< --file-prefix */
};

/**
 * Find the CPUs that may be used: those that -l names for both sides, or those
 * of the process, which has only one left once EAL has started.
 *
 * @return
 *   0, or -EINVAL with words on stderr.
 */
int eal_cpus_find(const struct options *opts, struct eal_cpus *cpus);

/**
 * The CPU of a worker: those of the host on every other one from the first,
 * those of the DPU on the ones in between, so that each faces its peer.
 */
uint16_t eal_worker_cpu(const struct eal_cpus *cpus, bool host, uint32_t worker);

/**
 * Make the file prefix of a side, unique to *pid*; a prefix of the user's gets
 * the side's name behind it when both sides run.
 */
void eal_prefix(struct eal_setup *setup, int pid);

/** Start EAL. @return 0 or a negative errno; EAL has said why. */
int eal_start(const struct eal_setup *setup);

/** Remove what EAL leaves in the file system. */
void eal_clean(const char *prefix);

/** Remove a directory and all in it. */
void eal_remove_tree(const char *path);

#endif /* EAL_H */
