/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <dirent.h>
#include <malloc.h>

#include "t_figures.h"
#include "world.h"

/*
 * The library starts threads when many peers come at once, up to limits (security.md): 32
 * receive, 8 close, and some others. Each has two mappings.
 */
#define MAX_THREADS (1 + 32 + 8 + 4)
/* The heap may be in other pieces, and the library may keep what it will need again. */
#define MORE_MAPS (32 + 2 * MAX_THREADS)
#define MORE_RSS_KB (24 * 1024)
/* Figures must be those of the first rest after so long, and not change for so long. */
#define SETTLE_MS 10000
#define STABLE_MS 200

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

/* A sanitizer keeps what was freed, so memory and mappings say nothing, and never settle. */
static void
figures_get(struct soak_figures *f)
{
	malloc_trim(0);
	f->fds = t_fd_count();
	f->threads = thread_count();
	f->maps = t_maps_count("");
	f->memfds = t_maps_count("memfd:");
	f->objects = soak_world.objects == NULL ? 0 : soak_world.objects();
	f->rss_kb = t_rss_kb();
	if (t_sanitized())
		f->maps = f->rss_kb = 0;
}

/* What has grown; NULL: nothing, or within the tolerance. */
static const char *
figures_compare(const struct soak_figures *base, const struct soak_figures *now)
{
	if (now->fds > base->fds)
		return "descriptors";
	if (now->threads > RTE_MAX(base->threads, MAX_THREADS))
		return "threads";
	if (now->memfds > base->memfds)
		return "mapped memfds";
	if (now->objects > base->objects)
		return "objects of the transport";
	if (now->maps > base->maps + MORE_MAPS)
		return "mappings";
	if (now->rss_kb > base->rss_kb + MORE_RSS_KB)
		return "memory";
	return NULL;
}

const char *
figures_settle(struct soak_figures *base, bool is_first, struct soak_figures *now,
		void (*step)(void *arg), void *arg)
{
	const uint64_t begin = t_now_ms();
	struct soak_figures last = { 0 };
	const char *more = NULL;
	uint64_t stable = begin;

	do {
		step(arg);
		memset(now, 0, sizeof(*now));
		figures_get(now);
		if (memcmp(now, &last, sizeof(last)) != 0)
			stable = t_now_ms();
		last = *now;
		if (is_first)
			continue;
		more = figures_compare(base, now);
		if (more == NULL)
			break;
	} while (t_now_ms() < begin + SETTLE_MS * t_patience() &&
		(more != NULL || t_now_ms() < stable + STABLE_MS));
	if (is_first)
		*base = *now;
	return more;
}

void
figures_text(char *buf, size_t size, const struct soak_figures *base,
		const struct soak_figures *now)
{
	snprintf(buf, size, "%u/%u descriptors, %u/%u threads, %u/%u maps (%u/%u memfds), "
		"%u/%u objects, %llu/%llu kB", now->fds, base->fds, now->threads, base->threads,
		now->maps, base->maps, now->memfds, base->memfds, now->objects, base->objects,
		(unsigned long long)now->rss_kb, (unsigned long long)base->rss_kb);
}
