/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef OPTIONS_H
#define OPTIONS_H

/**
 * @file
 * The command line after `--`. The table in options.c drives parsing, the help,
 * the keys of sweep files and the copying of parameters.
 */

#include "engine/run.h"

/** Exit status of usage errors. */
#define EXIT_USAGE 2

#define PERF_MAX_TESTS 16
/** Maximum sizes in a list. */
#define PERF_MAX_SIZES 1024

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

/** @name Option values by enum; NULL-terminated
 * @{
 */
extern const char *const perf_api_names[];
extern const char *const perf_wait_names[];
/** @} */

/** The command line. */
struct options {
	struct perf_params params;       /**< Valid for the bits in `set`. */
	uint32_t set;                    /**< PERF_OPT_* given. */
	uint64_t sizes[PERF_MAX_SIZES];  /**< --size. */
	uint32_t nb_sizes;
	const char *tests[PERF_MAX_TESTS];
	uint32_t nb_tests;
	uint8_t role;                    /**< enum perf_role */
	uint8_t format;                  /**< enum perf_format */
	uint8_t histogram;
	uint8_t same_process;             /**< Both sides are threads of one process. */
	uint32_t attempts;               /**< Maximum per measurement. */
	uint32_t repeat;                 /**< Measurements of each row. */
	const char *dev;
	const char *output;
	const char *sweep;
	const char *plot;                /**< Directory for pictures. */
	int nb_eal_args;                 /**< Arguments before `--`. */
	char *const *eal_args;
};

/**
 * Parse the command line; prints the output of --help and --version.
 *
 * @return
 *   0: continue; 1: --help or --version, exit with success; -EINVAL: refused, with
 *   the reason on stderr.
 */
int options_parse(struct options *opts, int argc, char **argv);

/**
 * Set a test parameter from text, as in a sweep file: the option name without
 * dashes; switches take "yes" or "no".
 *
 * @return 0, or -EINVAL with a message in *error*, PERF_ERROR_SIZE bytes
 */
int options_set(struct options *opts, const char *name, const char *value, char *error);

/** Names of the options in a mask, "--size, --iters", for messages. */
const char *options_names(uint32_t mask, char *buf, size_t size);

/** Copy the parameters in a mask of PERF_OPT_*. */
void options_copy(struct perf_params *to, const struct perf_params *from, uint32_t mask);

/**
 * Parse `N`, `A,B,C`, `A:B`, `A:B:xM` or `A:B:+N` with K, M and G suffixes.
 *
 * @return
 *   Number of sizes, at most PERF_MAX_SIZES, or -EINVAL.
 */
int sizes_parse(const char *text, uint64_t *sizes);

#endif /* OPTIONS_H */
