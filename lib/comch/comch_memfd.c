/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "comch_memfd.h"

#define SEALS_BASE (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
/* From this size on transparent huge pages are worth asking for. */
#define HUGE_HINT (UINT64_C(2) << 20)

size_t
comch_memfd_round(size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (len > SIZE_MAX - (page - 1))
		return 0;
	return (len + page - 1) & ~(page - 1);
}

int
comch_memfd_create(const char *name, size_t len, bool one_writer, void **addr)
{
	int fixed = *addr != NULL ? MAP_FIXED : 0;
	void *map;
	int fd, ret;

	fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	/* fallocate() sizes the file and takes the pages now: no SIGBUS later. */
	if (fallocate(fd, 0, 0, (off_t)len) != 0)
		goto err_close;
	map = mmap(*addr, len, PROT_READ | PROT_WRITE, MAP_SHARED | fixed, fd, 0);
	if (map == MAP_FAILED)
		goto err_close;
	if (fcntl(fd, F_ADD_SEALS,
			SEALS_BASE | (one_writer ? F_SEAL_FUTURE_WRITE : 0)) != 0)
		goto err_unmap;
	/* A child that writes here would be a second writer. */
	madvise(map, len, MADV_DONTFORK);
	if (len >= HUGE_HINT)
		madvise(map, len, MADV_HUGEPAGE);
	*addr = map;
	return fd;

err_unmap:
	ret = errno;
	if (!fixed)
		munmap(map, len);
	errno = ret;
err_close:
	ret = -errno;
	close(fd);
	return ret;
}

int
comch_memfd_check(int fd, uint64_t offset, uint64_t len, bool trusted)
{
	struct statfs fs;
	struct stat st;
	int seals;

	/* Seals first: only a memfd answers, and anything else may block in what follows. */
	seals = fcntl(fd, F_GET_SEALS);
	if (!trusted && (seals < 0 || (seals & SEALS_BASE) != SEALS_BASE))
		return -EPERM;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < 0 ||
			offset > INT64_MAX - len || len > INT64_MAX ||
			(uint64_t)st.st_size < offset + len)
		return -EPERM;
	if (trusted)
		return 0;
	/* hugetlbfs memfds can be sealed, but their pool can be drained: SIGBUS. */
	if (fstatfs(fd, &fs) != 0 || fs.f_type != TMPFS_MAGIC)
		return -EPERM;
	/* All of the file, so that no hole hides; SEEK_HOLE takes fresh pages for holes. */
	return (uint64_t)st.st_blocks * 512 >= (uint64_t)st.st_size ? 0 : -EPERM;
}

int
comch_memfd_map(int fd, uint64_t offset, size_t len, bool writable, void **addr)
{
	int prot = PROT_READ | (writable ? PROT_WRITE : 0);
	void *map;

	map = mmap(NULL, len, prot, MAP_SHARED, fd, (off_t)offset);
	if (map == MAP_FAILED)
		return -errno;
	madvise(map, len, MADV_DONTFORK);
	*addr = map;
	return 0;
}
