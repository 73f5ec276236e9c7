/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <dirent.h>

#include "common/thread.h"
#include "t.h"

char
thread_state(const char *name)
{
	char path[300], line[256], want[64], state = '?';
	struct dirent *e;
	DIR *d = opendir("/proc/self/task");
	FILE *f;

	T_CHECK(d != NULL);
	snprintf(want, sizeof(want), "(%s) ", name);
	while ((e = readdir(d)) != NULL) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/stat", e->d_name);
		f = fopen(path, "r");
		if (f == NULL)
			continue;
		if (fgets(line, sizeof(line), f) != NULL && strstr(line, want) != NULL)
			state = strstr(line, want)[strlen(want)];
		fclose(f);
	}
	closedir(d);
	return state;
}
