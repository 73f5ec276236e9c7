/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef UNLOAD_H
#define UNLOAD_H

/*
 * A program that loads a library again and again, as those that use it by plug-ins of their
 * own do. Its threads outlive each dlclose(), which must not take their code away; and there
 * are few of them after the last round.
 */

#include <stdio.h>
#include <stdlib.h>

/* A function of the loaded library: LOADED(lib, rte_eal_init)(argc, argv). */
#define LOADED(lib, function) ((__typeof__(&function))unload_symbol(lib, #function))

#define CHECK(cond) \
	do { \
		if (!(cond)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			exit(1); \
		} \
	} while (0)

void *unload_symbol(void *lib, const char *name);
/* Load the library of this path, call use, and unload it; in a number of rounds. */
int unload_main(const char *path, void (*use)(void *lib, unsigned int round));

#endif /* UNLOAD_H */
