/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef OPTIONS_H
#define OPTIONS_H

/**
 * @file
 * The command line behind `--`. One table of options (options.c) drives the
 * parsing, the help, the keys of sweep files and the copying of parameters.
 */

#include "engine/run.h"

/** Exit status for a command line that makes no sense. */
#define EXIT_USAGE 2

#define PERF_MAX_TESTS 16
/** The most sizes of one list. */
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

/** @name Words on the command line, by enum; NULL-terminated
 * @{
 */
extern const char *const perf_api_names[];
extern const char *const perf_memory_names[];
extern const char *const perf_wait_names[];
/** @} */

/** The command line. */
struct options {
	struct perf_params params;       /**< Those in `set` count. */
	uint32_t set;                    /**< PERF_OPT_* given. */
	uint64_t sizes[PERF_MAX_SIZES];  /**< --size. */
	uint32_t nb_sizes;
	const char *tests[PERF_MAX_TESTS];
	uint32_t nb_tests;
	uint8_t role;                    /**< enum perf_role */
	uint8_t format;                  /**< enum perf_format */
	uint8_t histogram;
	uint32_t attempts;               /**< At a row, at most. */
	const char *dev;
	const char *output;
	const char *sweep;
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
 * Set a parameter of a test from text, as a sweep file does: the option's name
 * without dashes; for switches "yes" or "no".
 *
 * @return 0, or -EINVAL with a sentence in *error*, PERF_ERROR_SIZE bytes
 */
int options_set(struct options *opts, const char *name, const char *value, char *error);

/** Names of the options in a mask, "--size, --iters", for messages. */
const char *options_names(uint32_t mask, char *buf, size_t size);

/** Take over the parameters that a mask of PERF_OPT_* names. */
void options_copy(struct perf_params *to, const struct perf_params *from, uint32_t mask);

/**
 * Parse `N`, `A,B,C`, `A:B`, `A:B:xM` or `A:B:+N` with K, M and G suffixes.
 *
 * @return
 *   How many of at most PERF_MAX_SIZES were written, or -EINVAL.
 */
int sizes_parse(const char *text, uint64_t *sizes);

/** A whole number with an optional suffix; moves *text* behind it. 0 or -EINVAL. */
int sizes_number(const char **text, uint64_t *value);

#endif /* OPTIONS_H */
