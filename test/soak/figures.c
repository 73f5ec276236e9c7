/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <dirent.h>
#include <malloc.h>

#include "actor.h"

/*
 * The library starts threads when many peers come at once, up to limits (security.md): 32
 * receive, 8 close, and some others. Each has two mappings.
 */
#define MAX_THREADS (1 + 32 + 8 + 4)
/* The heap may be in other pieces, and the library may keep what it will need again. */
#define MORE_MAPS (32 + 2 * MAX_THREADS)
#define MORE_RSS_KB (24 * 1024)

static uint32_t
thread_count(void)
{
	struct dirent *ent;
	uint32_t n = 0;
	DIR *d;

	d = opendir("/proc/self/task");
	if (d == NULL)
		T_FAIL("/proc/self/task: %s", strerror(errno));
	while ((ent = readdir(d)) != NULL)
		n += ent->d_name[0] != '.';
	closedir(d);
	return n;
}

static void
maps_count(struct soak_figures *f)
{
	char line[512];
	FILE *file;

	f->maps = 0;
	f->memfds = 0;
	file = fopen("/proc/self/maps", "re");
	if (file == NULL)
		T_FAIL("/proc/self/maps: %s", strerror(errno));
	while (fgets(line, sizeof(line), file) != NULL) {
		f->maps++;
		f->memfds += strstr(line, "memfd:") != NULL;
	}
	fclose(file);
}

void
figures_get(struct soak_figures *f)
{
	malloc_trim(0);
	f->fds = t_fd_count();
	f->threads = thread_count();
	maps_count(f);
	f->rss_kb = t_rss_kb();
}

const char *
figures_compare(const struct soak_figures *base, const struct soak_figures *now)
{
	if (now->fds > base->fds)
		return "descriptors";
	if (now->threads > RTE_MAX(base->threads, MAX_THREADS))
		return "threads";
	if (now->memfds > base->memfds)
		return "mapped memfds";
	/* A sanitizer keeps what was freed. */
	if (t_sanitized())
		return NULL;
	if (now->maps > base->maps + MORE_MAPS)
		return "mappings";
	if (now->rss_kb > base->rss_kb + MORE_RSS_KB)
		return "memory";
	return NULL;
}
