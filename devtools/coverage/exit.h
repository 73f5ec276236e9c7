/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Included into each source file of the coverage build (devtools/coverage.sh). Every program
 * and library has its own counters and a __gcov_dump() of its own that writes only them, so
 * each tells exit.c about its function.
 */

#ifndef COVERAGE_EXIT_H
#define COVERAGE_EXIT_H

#ifdef __cplusplus
extern "C" {
#endif

void __gcov_dump(void);

/* Missing in a program that runs without the preloaded exit.c. */
__attribute__((weak)) void coverage_register(void (*dump)(void));

__attribute__((constructor)) static void
coverage_constructor(void)
{
	if (coverage_register)
		coverage_register(__gcov_dump);
}

#ifdef __cplusplus
}
#endif

#endif /* COVERAGE_EXIT_H */
