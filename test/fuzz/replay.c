/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Runs a fuzzer on the files of the directories that are its arguments, without libFuzzer. */

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>

#include "fuzz.h"

static void
replay(const char *path)
{
	uint8_t *data;
	FILE *f;
	long size;

	f = fopen(path, "rbe");
	if (f == NULL || fseek(f, 0, SEEK_END) != 0)
		T_FAIL("%s: %s", path, strerror(errno));
	size = ftell(f);
	T_GE(size, 0);
	rewind(f);
	/* The allocation ends where the input ends: a sanitizer sees a longer read. */
	data = malloc((size_t)size);
	T_CHECK(data != NULL || size == 0);
	if (size > 0)
		T_EQ(fread(data, 1, (size_t)size, f), size);
	fclose(f);
	/* The last line of a failed test names the input. */
	printf("%s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
}

static unsigned int
replay_dir(const char *dir)
{
	char path[PATH_MAX];
	struct dirent **names;
	int i, n;

	n = scandir(dir, &names, NULL, alphasort);
	if (n < 0)
		T_FAIL("%s: %s", dir, strerror(errno));
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			replay(path);
		free(names[i]);
	}
	free(names);
	return (unsigned int)n - 2;
}

int
main(int argc, char **argv)
{
	unsigned int nb = 0;
	int i;

	if (LLVMFuzzerInitialize != NULL)
		LLVMFuzzerInitialize(&argc, &argv);
	for (i = 1; i < argc; i++)
		nb += replay_dir(argv[i]);
	if (fuzz_end != NULL)
		fuzz_end();
	/* A test that ran nothing has not passed. */
	T_GT(nb, 0);
	return 0;
}
