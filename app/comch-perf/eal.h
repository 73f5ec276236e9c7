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

/** What a side's EAL is made of. */
struct eal_setup {
	const struct options *opts;
	bool host;
	uint32_t nb_workers;
	uint32_t mem_mb;
	char prefix[EAL_PREFIX_SIZE]; /**< --file-prefix; empty: given by the user. */
};

/** CPUs that may be used. @return how many, or -EINVAL with words on stderr */
int eal_cpus(const struct options *opts, uint16_t *cpus, uint32_t max);

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

/** Is the argument given (as `-x VALUE`, `-xVALUE`, `--xx VALUE`, `--xx=VALUE`)? */
bool eal_given(const struct options *opts, const char *name, const char **value);

#endif /* EAL_H */
