/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Creates, seals, checks and maps memfds. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "sdk/comch_log.h"
#include "sdk/comch_memfd.h"

#define SEALS_SIZE (F_SEAL_SHRINK | F_SEAL_GROW)
#define SEALS_BASE (SEALS_SIZE | F_SEAL_SEAL)
/* Minimum size for which transparent huge pages are requested. */
#define HUGE_HINT (UINT64_C(2) << 20)

size_t
comch_memfd_round(size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (len > SIZE_MAX - (page - 1))
		return 0;
	return (len + page - 1) & ~(page - 1);
}

/* F_SEAL_FUTURE_WRITE, or 0 before Linux 5.1. */
static int
seal_future_write(void)
{
	static int seal = -1;
	int fd, has = __atomic_load_n(&seal, __ATOMIC_RELAXED);

	if (has >= 0)
		return has;
	fd = memfd_create("comch_probe", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return F_SEAL_FUTURE_WRITE;
	has = fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) == 0 || errno != EINVAL ?
		F_SEAL_FUTURE_WRITE : 0;
	close(fd);
	if (has == 0)
		COMCH_LOG(NOTICE, "no F_SEAL_FUTURE_WRITE (needs Linux 5.1): peers can write to "
			"memory that they export, and punch holes into it");
	__atomic_store_n(&seal, has, __ATOMIC_RELAXED);
	return has;
}

/* May a file have this size? Else growing it ends the process: SIGXFSZ. A peer may cause it. */
static bool
size_is_allowed(const char *name, size_t len)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || len <= limit.rlim_cur)
		return true;
	COMCH_LOG_PEER(COMCH_LOG, "memory file %s needs %zu bytes, but RLIMIT_FSIZE is %" PRIu64
		": raise it (ulimit -f)", name, len, (uint64_t)limit.rlim_cur);
	return false;
}

/* Log a call that failed with errno, which is returned. */
static int
failed(const char *call, const char *name, size_t len)
{
	int err = errno; /* logging may change it */

	COMCH_LOG_PEER(COMCH_LOG, "memory file %s of %zu bytes: %s: %s", name, len, call,
		strerror(err));
	return -err;
}

/* Create, size, map and seal. */
static int
create(const char *name, size_t len, int seals, bool sparse, void **addr)
{
	int fixed = *addr != NULL ? MAP_FIXED : 0;
	void *map;
	int fd, ret;

	if (!size_is_allowed(name, len))
		return -EFBIG;
	fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return failed("memfd_create", name, len);
	/* fallocate() sizes the file and allocates its pages, which avoids SIGBUS later. */
	if (sparse ? ftruncate(fd, (off_t)len) != 0 : fallocate(fd, 0, 0, (off_t)len) != 0) {
		ret = failed(sparse ? "ftruncate" : "fallocate", name, len);
		goto err_close;
	}
	map = mmap(*addr, len, PROT_READ | PROT_WRITE, MAP_SHARED | fixed, fd, 0);
	if (map == MAP_FAILED) {
		ret = failed("mmap", name, len);
		goto err_close;
	}
	if (fcntl(fd, F_ADD_SEALS, seals) != 0) {
		ret = failed("F_ADD_SEALS", name, len);
		goto err_unmap;
	}
	/* A forked child would be a second writer. */
	madvise(map, len, MADV_DONTFORK);
	if (len >= HUGE_HINT)
		madvise(map, len, MADV_HUGEPAGE);
	*addr = map;
	return fd;

err_unmap:
	if (!fixed)
		munmap(map, len);
err_close:
	close(fd);
	return ret;
}

int
comch_memfd_create(const char *name, size_t len, bool one_writer, void **addr)
{
	return create(name, len, one_writer ? SEALS_BASE | seal_future_write() : SEALS_SIZE, false,
		addr);
}

int
comch_memfd_create_sparse(const char *name, size_t len, void **addr)
{
	return create(name, len, SEALS_BASE | seal_future_write(), true, addr);
}

int
comch_memfd_populate(void *addr, size_t len, bool writable)
{
	return madvise(addr, len, writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0 ? 0 :
		-errno;
}

bool
comch_memfd_can_populate(void)
{
	return madvise(NULL, 0, MADV_POPULATE_READ) == 0;
}

void
comch_memfd_seal(int fd)
{
	/* Fails if a process that imported it has sealed it first: keep those seals. */
	(void)fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL);
}

bool
comch_memfd_is_taken(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & F_SEAL_FUTURE_WRITE) != 0;
}

/*
 * Is it a tmpfs file without holes? hugetlbfs memfds can be sealed, but a store is
 * SIGBUS once their pool is empty. Block counts find any hole of the file; SEEK_HOLE
 * reports allocated, unwritten pages as holes.
 */
static bool
is_whole(int fd, const struct stat *st)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC &&
		(uint64_t)st->st_blocks * 512 >= (uint64_t)st->st_size;
}

bool
comch_memfd_has_seals(int fd, int want)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & want) == want;
}

/* Does it have these seals, this very length, and all pages? */
static bool
is_sealed_at(int fd, int seals, uint64_t len, bool sparse)
{
	struct statfs fs;
	struct stat st;

	return comch_memfd_has_seals(fd, seals) && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		st.st_size >= 0 && (uint64_t)st.st_size == len &&
		(sparse ? fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC : is_whole(fd, &st));
}

int
comch_memfd_check_control(int fd, uint64_t len)
{
	return is_sealed_at(fd, SEALS_BASE | seal_future_write(), len, false) ? 0 : -EPERM;
}

int
comch_memfd_check_sparse(int fd, uint64_t len)
{
	return is_sealed_at(fd, SEALS_BASE | seal_future_write(), len, true) ? 0 : -EPERM;
}

int
comch_memfd_check(int fd, uint64_t offset, uint64_t len, bool trusted)
{
	struct stat st;

	if (!trusted && !comch_memfd_has_seals(fd, SEALS_BASE))
		return -EPERM;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < 0 ||
			offset > INT64_MAX - len || len > INT64_MAX ||
			(uint64_t)st.st_size < offset + len)
		return -EPERM;
	return trusted || is_whole(fd, &st) ? 0 : -EPERM;
}

int
comch_memfd_adopt(int fd, size_t size, void **addr)
{
	struct statfs fs;
	void *map = NULL;
	int ret;

	/* Mapping a hugetlbfs file takes its lock, which the peer may hold for long. */
	if (fstatfs(fd, &fs) != 0 || fs.f_type != TMPFS_MAGIC)
		return -EPERM;
	/* Map before sealing: the seal refuses later mappings. */
	ret = comch_memfd_map(fd, 0, size, true, &map);
	if (ret != 0)
		return ret == -ENOMEM ? ret : -EPERM;
	if (!comch_memfd_has_seals(fd, F_SEAL_SEAL))
		(void)fcntl(fd, F_ADD_SEALS, SEALS_BASE | seal_future_write());
	/*
	 * Check after sealing: now the file has its final size, and cannot lose pages. Until
	 * then its owner could resize it, and a longer file has bytes that are not mapped.
	 */
	if (!is_sealed_at(fd, SEALS_BASE, size, false)) {
		munmap(map, size);
		return -EPERM;
	}
	*addr = map;
	return 0;
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
