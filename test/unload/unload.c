/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <dlfcn.h>
#include <sys/stat.h>

#include "unload.h"

#define NB_ROUNDS 50

static unsigned int
nb_threads(void)
{
	struct stat st;

	/* "." and "..", and a directory for each thread. */
	CHECK(stat("/proc/self/task", &st) == 0);
	return (unsigned int)st.st_nlink - 2;
}

void *
unload_symbol(void *lib, const char *name)
{
	void *symbol = dlsym(lib, name);

	if (symbol == NULL)
		fprintf(stderr, "%s\n", dlerror());
	CHECK(symbol != NULL);
	return symbol;
}

int
unload_main(const char *path, void (*use)(void *lib, unsigned int round))
{
	unsigned int i;
	void *lib;

	CHECK(path != NULL);
	for (i = 0; i < NB_ROUNDS; i++) {
		lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (lib == NULL)
			fprintf(stderr, "%s\n", dlerror());
		CHECK(lib != NULL);
		use(lib, i);
		CHECK(dlclose(lib) == 0);
	}
	printf("%u threads after %u rounds\n", nb_threads(), NB_ROUNDS);
	/* Some start late; but not one in each round. */
	CHECK(nb_threads() < NB_ROUNDS);
	return 0;
}
