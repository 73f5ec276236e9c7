/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Payload memory of a peer whose owner resizes its file at the worst moment: between the look
 * at its size and the seals that fix it. comch_peermap.c.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "t.h"

#include "sdk/comch_peermap.h"
#include "sdk/comch_reaper.h"

#define PAGE 4096
#define SMALL (16 * PAGE)
#define LARGE (32 * PAGE)

static uint64_t used[2];
static struct comch_peermap_limit limit[2] = {
	{ .max = 1 << 20, .used = &used[0] },
	{ .max = 1 << 20, .used = &used[1] },
};

/* Called once, after the next look at a size. */
static void (*after_look)(int fd);

/* The library's: it comes before that of the C library. */
int
fstat(int fd, struct stat *st)
{
	void (*fn)(int fd) = after_look;
	int ret = fstatat(fd, "", st, AT_EMPTY_PATH);

	after_look = NULL;
	if (fn != NULL)
		fn(fd);
	return ret;
}

static void
resize(int fd, size_t len)
{
	cr_assert_eq(ftruncate(fd, (off_t)len), 0);
	cr_assert_eq(fallocate(fd, 0, 0, (off_t)len), 0);
}

static int
make(size_t len)
{
	int fd = memfd_create("peer", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	cr_assert(fd >= 0);
	resize(fd, len);
	return fd;
}

static void
grow(int fd)
{
	resize(fd, LARGE);
}

static struct comch_peermap *other;

/* The file is shrunk and imported, by a device. */
static void
shrink_and_map(int fd, unsigned int device)
{
	resize(fd, SMALL);
	cr_assert_eq(comch_peermap_get(fd, 0, SMALL, &limit[device], &other), 0);
}

static void
shrink_and_map_here(int fd)
{
	shrink_and_map(fd, 0);
}

static void
shrink_and_map_elsewhere(int fd)
{
	shrink_and_map(fd, 1);
}

/* No mapping is as long as a file that it does not cover. */
static void
check_mapping(int fd, struct comch_peermap *map, size_t len)
{
	uint8_t residency[LARGE / PAGE];
	struct stat st;

	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_eq((size_t)st.st_size, len);
	cr_assert_eq(map->len, len);
	cr_assert_eq(mincore(map->addr, len, residency), 0, "it is not all mapped");
}

Test(peermap, grown_before_the_seals)
{
	struct comch_peermap *map = NULL;
	int fd = make(SMALL);

	after_look = grow;
	cr_assert_eq(comch_peermap_get(fd, 0, SMALL, &limit[0], &map), -EPERM);
	cr_assert_eq(used[0], 0u);
	/* Now its size is final, and it is as long as it says; but nobody may map it again. */
	cr_assert_eq(comch_peermap_get(fd, 0, LARGE, &limit[0], &map), -EPERM);
	close(fd);
}

Test(peermap, shrunk_and_mapped_elsewhere)
{
	struct comch_peermap *map = NULL;
	int fd = make(LARGE);

	after_look = shrink_and_map_elsewhere;
	cr_assert_eq(comch_peermap_get(fd, 0, LARGE, &limit[0], &map), -EPERM);
	cr_assert_eq(used[0], 0u);
	/* qemu-user makes no second view of a mapping: mremap() of no length. */
	if (t_emulated()) {
		comch_peermap_put(other);
		close(fd);
		return;
	}
	/* What it has is there for this device, too. */
	cr_assert_eq(comch_peermap_get(fd, 0, SMALL, &limit[0], &map), 0);
	check_mapping(fd, map, SMALL);
	cr_assert_eq(comch_peermap_get(fd, PAGE, SMALL, &limit[0], &map), -EPERM);
	comch_peermap_put(map);
	comch_peermap_put(other);
	comch_reaper_wait();
	cr_assert_eq(used[0] + used[1], 0u);
	close(fd);
}

/* The same device: the second request finds the mapping that the first one made. */
Test(peermap, shrunk_and_mapped_here)
{
	struct comch_peermap *map = NULL;
	int fd = make(LARGE);

	after_look = shrink_and_map_here;
	cr_assert_eq(comch_peermap_get(fd, 0, LARGE, &limit[0], &map), -EPERM);
	after_look = NULL;
	cr_assert_eq(comch_peermap_get(fd, 0, SMALL, &limit[0], &map), 0);
	cr_assert_eq(map, other);
	check_mapping(fd, map, SMALL);
	comch_peermap_put(map);
	comch_peermap_put(other);
	comch_reaper_wait();
	cr_assert_eq(used[0], 0u);
	close(fd);
}
