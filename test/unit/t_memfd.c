/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Sealed memory: what is made, and what is refused from a peer. comch_memfd.c. */

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "t.h"

#include "sdk/comch_memfd.h"

#define PAGE 4096
#define LEN (16 * PAGE)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define SEALS_BUT(seal) ((SEALS | F_SEAL_FUTURE_WRITE) & ~(seal))

/* A memfd of a peer's own making. */
static int
make(size_t len, size_t filled_from, size_t filled, int seals)
{
	int fd = memfd_create("peer", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	cr_assert(fd >= 0);
	cr_assert_eq(ftruncate(fd, (off_t)len), 0);
	if (filled > 0)
		cr_assert_eq(fallocate(fd, 0, (off_t)filled_from, (off_t)filled), 0);
	if (seals != 0)
		cr_assert_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static void
check_refused(int fd, uint64_t len)
{
	cr_assert_eq(comch_memfd_check(fd, 0, len, false), -EPERM);
	close(fd);
}

Test(memfd, one_writer)
{
	void *addr = NULL, *theirs;
	struct stat st;
	int fd;

	fd = comch_memfd_create("t", LEN, COMCH_MEMFD_ONE_WRITER, &addr);
	cr_assert(fd >= 0, "%d", fd);
	cr_assert_eq(fcntl(fd, F_GET_SEALS), SEALS | F_SEAL_FUTURE_WRITE);
	cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_eq(st.st_size, LEN);
	cr_assert(st.st_blocks * 512 >= LEN);
	cr_assert_eq(comch_memfd_check_control(fd, LEN), 0);
	memset(addr, 0x5a, LEN);
	cr_assert_eq(mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
	cr_assert(comch_memfd_map(fd, 0, LEN, true, &theirs) < 0);
	cr_assert_eq(write(fd, "x", 1), -1);
	cr_assert_eq(ftruncate(fd, 0), -1);
	cr_assert_eq(comch_memfd_map(fd, PAGE, LEN - PAGE, false, &theirs), 0);
	cr_assert_arr_eq(theirs, (uint8_t *)addr + PAGE, LEN - PAGE);
	munmap(theirs, LEN - PAGE);
	munmap(addr, LEN);
	close(fd);
}

Test(memfd, payload)
{
	void *addr = NULL, *theirs;
	int fd;

	fd = comch_memfd_create("t", LEN, COMCH_MEMFD_PAYLOAD, &addr);
	cr_assert(fd >= 0);
	/* Open, until it is made final for several processes. */
	cr_assert_eq(fcntl(fd, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW);
	cr_assert_eq(comch_memfd_check(fd, 0, LEN, false), -EPERM);
	comch_memfd_seal(fd);
	comch_memfd_seal(fd);
	cr_assert_eq(fcntl(fd, F_GET_SEALS), SEALS);
	cr_assert_eq(comch_memfd_check(fd, 0, LEN, false), 0);
	cr_assert_not(comch_memfd_is_taken(fd));
	cr_assert_eq(comch_memfd_map(fd, 0, LEN, true, &theirs), 0);
	((uint8_t *)theirs)[7] = 9;
	cr_assert_eq(((uint8_t *)addr)[7], 9);
	munmap(theirs, LEN);
	munmap(addr, LEN);
	close(fd);
}

/* The owner changed its size between our look at it and the seals. */
Test(memfd, adopt_resized)
{
	void *addr = NULL;
	int fd;

	fd = make(LEN, 0, LEN, F_SEAL_SHRINK);
	cr_assert_eq(comch_memfd_adopt(fd, LEN - PAGE, &addr), -EPERM, "it has grown");
	close(fd);
	fd = make(LEN, 0, LEN, F_SEAL_SHRINK);
	cr_assert_eq(comch_memfd_adopt(fd, LEN, &addr), 0);
	munmap(addr, LEN);
	close(fd);
}

/* Of a control region each seal counts, and its length. */
Test(memfd, control)
{
	static const int seals[] = {
		0, SEALS, F_SEAL_FUTURE_WRITE, SEALS_BUT(F_SEAL_SHRINK), SEALS_BUT(F_SEAL_GROW),
		SEALS_BUT(F_SEAL_SEAL),
	};
	unsigned int i;
	int fd;

	for (i = 0; i < RTE_DIM(seals); i++) {
		fd = make(LEN, 0, LEN, seals[i]);
		cr_assert_eq(comch_memfd_check_control(fd, LEN), -EPERM, "seals %#x", seals[i]);
		close(fd);
	}
	fd = make(LEN, 0, LEN, SEALS | F_SEAL_FUTURE_WRITE);
	cr_assert_eq(comch_memfd_check_control(fd, LEN), 0);
	cr_assert_eq(comch_memfd_check_control(fd, LEN - PAGE), -EPERM, "more than we asked for");
	cr_assert_eq(comch_memfd_check_control(fd, LEN + PAGE), -EPERM);
	close(fd);
	fd = make(LEN, 0, LEN - PAGE, SEALS | F_SEAL_FUTURE_WRITE);
	cr_assert_eq(comch_memfd_check_control(fd, LEN), -EPERM, "a hole");
	close(fd);
}

/* Punch a hole as the owner of the descriptor, and as that of a mapping. */
static void
check_cannot_punch(int fd, void *addr)
{
	errno = 0;
	cr_assert_eq(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE), -1);
	cr_assert_eq(errno, EPERM);
	/* qemu-user takes MADV_REMOVE for advice and does nothing. */
	if (getenv("QEMU_LD_PREFIX") != NULL)
		return;
	cr_assert_eq(madvise(addr, PAGE, MADV_REMOVE), -1);
	cr_assert_eq(errno, EPERM);
}

/* Adopted: both sides write, the owner punches no hole, and it is never mapped again. */
Test(memfd, adopted)
{
	void *addr = NULL, *theirs, *again;
	int fd;

	fd = comch_memfd_create("t", LEN, COMCH_MEMFD_PAYLOAD, &addr);
	cr_assert(fd >= 0);
	cr_assert_eq(comch_memfd_adopt(fd, LEN, &theirs), 0);
	cr_assert(comch_memfd_is_taken(fd));
	((uint8_t *)theirs)[7] = 9;
	cr_assert_eq(((uint8_t *)addr)[7], 9);
	((uint8_t *)addr)[8] = 10;
	cr_assert_eq(((uint8_t *)theirs)[8], 10);
	check_cannot_punch(fd, addr);
	cr_assert_eq(comch_memfd_adopt(fd, LEN, &again), -EPERM);
	munmap(theirs, LEN);
	munmap(addr, LEN);
	close(fd);
}

/* What its owner made final may be mapped by many, as it is. */
Test(memfd, adopted_for_several)
{
	void *addr = NULL, *theirs, *again;
	int fd;

	fd = comch_memfd_create("t", LEN, COMCH_MEMFD_PAYLOAD, &addr);
	cr_assert(fd >= 0);
	comch_memfd_seal(fd);
	cr_assert_eq(comch_memfd_adopt(fd, LEN, &theirs), 0);
	cr_assert_eq(comch_memfd_adopt(fd, LEN, &again), 0);
	cr_assert_eq(fcntl(fd, F_GET_SEALS), SEALS);
	munmap(theirs, LEN);
	munmap(again, LEN);
	munmap(addr, LEN);
	close(fd);
}

/* Not adopted: holes, another size, sealed without a mapping, nothing that can be sealed. */
Test(memfd, not_adopted)
{
	void *theirs = NULL;
	unsigned int i;
	const int fds[] = {
		make(LEN, 0, LEN - PAGE, 0),
		make(LEN, PAGE, LEN - PAGE, F_SEAL_SHRINK),
		make(LEN - PAGE, 0, LEN - PAGE, 0),
		make(LEN, 0, LEN, SEALS | F_SEAL_FUTURE_WRITE),
		make(LEN, 0, LEN, SEALS_BUT(F_SEAL_GROW)),
		memfd_create("peer", MFD_CLOEXEC),
	};

	cr_assert_eq(fallocate(fds[RTE_DIM(fds) - 1], 0, 0, LEN), 0);
	for (i = 0; i < RTE_DIM(fds); i++) {
		cr_assert_eq(comch_memfd_adopt(fds[i], LEN, &theirs), -EPERM, "%u", i);
		cr_assert_null(theirs);
		close(fds[i]);
	}
}

Test(memfd, at_an_address)
{
	void *addr = mmap(NULL, LEN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *want = addr;
	int fd;

	cr_assert_neq(addr, MAP_FAILED);
	fd = comch_memfd_create("t", LEN, COMCH_MEMFD_PAYLOAD, &addr);
	cr_assert(fd >= 0);
	cr_assert_eq(addr, want);
	memset(addr, 1, LEN);
	munmap(addr, LEN);
	close(fd);
}

Test(memfd, nothing_to_make)
{
	unsigned int fds = t_fd_count();
	void *addr = NULL;

	cr_assert(comch_memfd_create("t", 0, COMCH_MEMFD_PAYLOAD, &addr) < 0);
	cr_assert_null(addr);
	cr_assert_eq(t_fd_count(), fds);
}

Test(memfd, each_seal_counts)
{
	static const int seals[] = {
		0, F_SEAL_SHRINK, F_SEAL_SHRINK | F_SEAL_GROW, F_SEAL_SHRINK | F_SEAL_SEAL,
		F_SEAL_GROW | F_SEAL_SEAL,
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(seals); i++)
		check_refused(make(LEN, 0, LEN, seals[i]), LEN);
	/* One that was not made to be sealed. */
	i = (unsigned int)memfd_create("peer", MFD_CLOEXEC);
	cr_assert_eq(fallocate((int)i, 0, 0, LEN), 0);
	check_refused((int)i, LEN);
}

Test(memfd, sealed_as_it_must_be)
{
	int fd = make(LEN, 0, LEN, SEALS);

	cr_assert_eq(comch_memfd_check(fd, 0, LEN, false), 0);
	cr_assert_eq(comch_memfd_check(fd, 0, LEN - 1, false), 0);
	cr_assert_eq(comch_memfd_check(fd, 0, LEN + 1, false), -EPERM);
	cr_assert_eq(comch_memfd_check(fd, 0, UINT64_MAX, false), -EPERM);
	close(fd);
}

Test(memfd, short_file)
{
	check_refused(make(LEN - PAGE, 0, LEN - PAGE, SEALS), LEN);
	check_refused(make(0, 0, 0, SEALS), 1);
}

Test(memfd, holes)
{
	check_refused(make(LEN, 0, 0, SEALS), LEN);
	check_refused(make(LEN, 0, LEN - PAGE, SEALS), LEN);
	check_refused(make(LEN, PAGE, LEN - PAGE, SEALS), LEN);
}

/* Longer than need be: pages at its end do not make up for a hole that we map. */
Test(memfd, hole_in_what_is_mapped)
{
	check_refused(make(2 * LEN, LEN, LEN, SEALS), LEN);
}

Test(memfd, other_descriptors)
{
	int fds[2], fd;

	cr_assert_eq(pipe(fds), 0);
	check_refused(fds[0], 1);
	check_refused(fds[1], 1);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	check_refused(fds[0], 1);
	check_refused(fds[1], 1);
	check_refused(open("/dev/zero", O_RDWR), 1);
	check_refused(open("/", O_RDONLY), 1);
	check_refused(-1, 1);
	fd = open("/proc/self/exe", O_RDONLY);
	cr_assert_eq(comch_memfd_check(fd, 0, 1, true), 0, "trusted: anything of that length");
	cr_assert_eq(comch_memfd_check(fd, 0, UINT64_MAX / 4, true), -EPERM);
	check_refused(fd, 1);
}

/* A file that grows beyond the limit would end the process. */
Test(memfd, over_the_limit_of_files)
{
	struct rlimit before, limit;
	void *addr = NULL;
	int fd;

	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 65536;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_assert_eq(comch_memfd_create("t_memfd", 69632, COMCH_MEMFD_PAYLOAD, &addr), -EFBIG);
	fd = comch_memfd_create("t_memfd", 65536, COMCH_MEMFD_PAYLOAD, &addr);
	cr_assert(fd >= 0);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	munmap(addr, 65536);
	close(fd);
}

/* Sealed, but its pages come out of a pool that can be drained. */
Test(memfd, huge_pages)
{
	int fd = memfd_create("peer", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);

	if (fd < 0)
		t_skip("no hugetlb memfd: %s", strerror(errno));
	cr_assert_eq(ftruncate(fd, 2 << 20), 0);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, SEALS), 0);
	check_refused(fd, PAGE);
}

Test(memfd, rounding)
{
	cr_assert_eq(comch_memfd_round(0), 0u);
	cr_assert_eq(comch_memfd_round(1), (size_t)PAGE);
	cr_assert_eq(comch_memfd_round(PAGE), (size_t)PAGE);
	cr_assert_eq(comch_memfd_round(PAGE + 1), 2u * PAGE);
	cr_assert_eq(comch_memfd_round(SIZE_MAX - PAGE + 1), SIZE_MAX - PAGE + 1);
	cr_assert_eq(comch_memfd_round(SIZE_MAX - PAGE + 2), 0u);
	cr_assert_eq(comch_memfd_round(SIZE_MAX), 0u);
}
