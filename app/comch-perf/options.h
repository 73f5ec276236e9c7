/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef OPTIONS_H
#define OPTIONS_H

/**
 * @file
 * The command line behind `--`.
 */

#include "engine/params.h"
#include "values.h"

/** Exit status for a command line that makes no sense. */
#define EXIT_USAGE 2

#define PERF_MAX_TESTS 16

enum perf_role {
	PERF_ROLE_BOTH,
	PERF_ROLE_HOST,
	PERF_ROLE_DPU,
};

enum perf_format {
	PERF_FORMAT_TEXT,
	PERF_FORMAT_CSV,
	PERF_FORMAT_JSON,
};

/** The command line. */
struct options {
	struct perf_params params;       /**< Those in `set` count. */
	uint32_t set;                    /**< PERF_OPT_* given. */
	uint64_t sizes[PERF_MAX_SIZES];
	uint32_t nb_sizes;
	const char *tests[PERF_MAX_TESTS];
	uint32_t nb_tests;
	enum perf_role role;
	enum perf_format format;
	const char *dev;
	const char *output;
	const char *sweep;
	uint64_t attempts;               /**< At a row, at most. */
	bool histogram;
	int nb_eal_args;                 /**< What stood before `--`. */
	char *const *eal_args;
};

/**
 * Parse the command line; --help and --version are answered here.
 *
 * @return
 *   0: go on; 1: answered, exit with success; -EINVAL: refused, and stderr
 *   says why.
 */
int options_parse(struct options *opts, int argc, char **argv);

/**
 * Set one test parameter from text, as on the command line or in a sweep.
 *
 * @param params
 *   The parameters.
 * @param name
 *   Name of the option without dashes.
 * @param value
 *   Its value; for switches "yes" or "no".
 * @param[out] error
 *   A sentence, PERF_ERROR_SIZE bytes, if it is refused.
 * @return
 *   The option's PERF_OPT_* bit, or -EINVAL.
 */
int options_set(struct perf_params *params, const char *name, const char *value,
		char *error);

/** Names of the options in a mask, "--size, --iters", for messages. */
const char *options_names(uint32_t mask, char *buf, size_t size);

/** Take over the fields that a mask of PERF_OPT_* names. */
void options_copy(struct perf_params *to, const struct perf_params *from, uint32_t mask);

#endif /* OPTIONS_H */
