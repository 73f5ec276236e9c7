/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The limits of a real system: few descriptors, few threads, little address space, small files, a
 * full file system below the directory of the sockets. Each limit from too small to large enough.
 */

#include <malloc.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "t_main.h"
#include "trial.h"

static const struct t_driver shm = { .name = "comch_shm", .has_dir = true };

static char text[64];
static struct rlimit before;

static const char *
limit_text(void)
{
	return text;
}

/* A limit never says when it is felt: it may be at any time. */
static bool
always(void)
{
	return true;
}

static void
set_limit(int resource, uint64_t value, const char *what)
{
	struct rlimit lim;

	T_EQ(getrlimit(resource, &before), 0);
	lim = before;
	lim.rlim_cur = value;
	snprintf(text, sizeof(text), "%llu %s", (unsigned long long)value, what);
	T_EQ(setrlimit(resource, &lim), 0);
}

static void
begin_nofile(const struct trial *t, unsigned int n)
{
	RTE_SET_USED(t);
	if (n != TRIAL_NONE)
		set_limit(RLIMIT_NOFILE, t_fd_count() + n - 1, "descriptors");
}

static bool
end_nofile(const struct trial *t, int ret)
{
	RTE_SET_USED(t);
	if (text[0] != '\0')
		T_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
	return ret != 0;
}

/* Steps of the limit: less than what a life needs at once. */
#define AS_STEP (UINT64_C(128) << 10)

static void
begin_as(const struct trial *t, unsigned int n)
{
	/* Volatile: a compiler may leave out what is allocated, written and freed unread. */
	void *volatile p;

	RTE_SET_USED(t);
	if (n == TRIAL_NONE)
		return;
	/* The heap has enough: mappings and threads fail. */
	p = malloc(16 << 20);
	T_CHECK(p != NULL);
	memset(p, 1, 16 << 20);
	free(p);
	set_limit(RLIMIT_AS, t_mapped_kb() * 1024 + (n - 1) * AS_STEP, "bytes of address space");
}

static bool
end_as(const struct trial *t, int ret)
{
	RTE_SET_USED(t);
	if (text[0] != '\0')
		T_EQ(setrlimit(RLIMIT_AS, &before), 0);
	return ret != 0;
}

/* Steps of the limit: less than the smallest memory of a life. */
#define FSIZE_STEP (UINT64_C(16) << 10)

static void
begin_fsize(const struct trial *t, unsigned int n)
{
	RTE_SET_USED(t);
	if (n != TRIAL_NONE)
		set_limit(RLIMIT_FSIZE, (n - 1) * FSIZE_STEP, "bytes a file");
}

static bool
end_fsize(const struct trial *t, int ret)
{
	RTE_SET_USED(t);
	if (text[0] != '\0')
		T_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
	return ret != 0;
}

/* A file system of few files: directories, sockets and locks each are one. */
static void
begin_inodes(const struct trial *t, unsigned int n)
{
	char options[64];

	RTE_SET_USED(t);
	if (n == TRIAL_NONE)
		return;
	snprintf(text, sizeof(text), "%u files", n);
	snprintf(options, sizeof(options), "size=4k,mode=700,nr_inodes=%u", n);
	T_EQ(mount("none", t_dir(), "tmpfs", 0, options), 0);
}

static bool
end_inodes(const struct trial *t, int ret)
{
	RTE_SET_USED(t);
	if (text[0] != '\0')
		T_EQ(umount2(t_dir(), MNT_DETACH), 0);
	return ret != 0;
}

static void
limits(void (*begin)(const struct trial *t, unsigned int n),
		bool (*end)(const struct trial *t, int ret), bool mbufs)
{
	const struct trial t = {
		.run = life_run, .begin = begin, .end = end, .text = limit_text,
		.life = { .kind = RTE_COMCH_MEM_SEALED, .mbufs = mbufs, .gives_up = always },
	};

	t_driver = &shm;
	t_eal_start(1);
	trial_run(&t);
	t_eal_stop();
}

T_CASE(nofile)
{
	limits(begin_nofile, end_nofile, true);
}

T_CASE(address_space)
{
	if (t_sanitized())
		t_skip("a sanitizer needs terabytes of address space");
	/* No memory is given back to the kernel before the limit is set. */
	T_EQ(mallopt(M_MMAP_THRESHOLD, 32 << 20), 1); /* the largest */
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	mallopt(M_ARENA_MAX, 1);
	limits(begin_as, end_as, false);
}

/* Not one of these ends the process, which a file that grows beyond the limit would. */
T_CASE(file_size)
{
	limits(begin_fsize, end_fsize, false);
}

T_CASE(full_file_system)
{
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		t_skip("mounts: %s", strerror(errno));
	limits(begin_inodes, end_inodes, false);
}
