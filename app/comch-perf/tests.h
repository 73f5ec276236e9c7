/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef TESTS_H
#define TESTS_H

/**
 * @file
 * The table of tests.
 */

#include "engine/run.h"

/** The test behind *test* in order, the first for NULL; or NULL. */
const struct perf_test *tests_next(const struct perf_test *test);

/** Find a test by name, or NULL. */
const struct perf_test *tests_find(const char *name);

#endif /* TESTS_H */
