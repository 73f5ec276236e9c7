/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <malloc.h>
#include <unistd.h>

#include <rte_malloc.h>

#include "t_figures.h"
#include "t_node.h"

/* Library threads have closed and unmapped what was left to them. */
#define SETTLED_MS 5000
/* How long to look for what is still to be closed. */
#define LEAST_MS 300

static unsigned int blocks_before;

unsigned int
t_maps_count(const char *text)
{
	unsigned int n = 0;
	char line[512];
	FILE *f;

	f = fopen("/proc/self/maps", "re");
	T_CHECK(f != NULL);
	while (fgets(line, sizeof(line), f) != NULL)
		n += strstr(line, text) != NULL;
	fclose(f);
	return n;
}

uint64_t
t_heap_bytes(void)
{
	const struct mallinfo2 m = mallinfo2();

	return t_sanitized() ? 0 : m.uordblks + m.hblkhd;
}

static unsigned int
count_blocks(void)
{
	struct rte_malloc_socket_stats stats;

	T_EQ(rte_malloc_get_socket_stats(0, &stats), 0);
	return stats.alloc_count - blocks_before;
}

static struct t_figures
take_figures(void)
{
	return (struct t_figures){
		.fds = t_fd_count(), .memfds = t_maps_count("/memfd:comch"),
		.blocks = count_blocks(),
	};
}

static bool
same_figures(const struct t_figures *a)
{
	const struct t_figures b = take_figures();

	return a->fds == b.fds && a->memfds == b.memfds && a->blocks == b.blocks;
}

void
t_figures_begin(void)
{
	blocks_before = 0;
	blocks_before = count_blocks();
}

void
t_figures_wait(const struct t_figures *want)
{
	const uint64_t deadline = t_now_ms() + SETTLED_MS * t_patience();
	struct t_figures have;

	/* Runs of a poll close some. The kernel takes milliseconds to write /proc/self/maps. */
	while (!same_figures(want) && t_now_ms() < deadline) {
		t_step_all();
		usleep(1000);
	}
	have = take_figures();
	T_EQ(have.fds, want->fds);
	T_EQ(have.memfds, want->memfds);
	T_EQ(have.blocks, want->blocks);
}

struct t_figures
t_figures_least(void)
{
	const uint64_t deadline = t_now_ms() + LEAST_MS * t_patience();
	struct t_figures least = take_figures(), now;

	while (t_now_ms() < deadline) {
		now = take_figures();
		least.fds = RTE_MIN(least.fds, now.fds);
		least.memfds = RTE_MIN(least.memfds, now.memfds);
		least.blocks = RTE_MIN(least.blocks, now.blocks);
		usleep(LEAST_MS * 1000 / 64);
	}
	return least;
}
