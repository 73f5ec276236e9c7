/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Huge pages for exported memory.
 *
 * The kernel looks up each page that it copies for an importer, which takes longer than to copy
 * 4 KiB: with huge pages a copy is twice as fast. What is in memory already is moved into huge
 * pages, which takes 0.2 s per GiB. What is not stays out of memory, and gets no huge pages later:
 * a program that touches one byte in 2 MiB would pay for them all.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_common.h>

#include "remote/comch_export.h"

/* Linux 6.1 and glibc 2.37 */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* With pages of this size, huge ones are ... */
#define PAGE ((size_t)4 << 10)
/* ... of this one. */
#define HUGE_PAGE ((size_t)2 << 20)

static bool
is_in_memory(uint8_t *addr)
{
	unsigned char pages[HUGE_PAGE / PAGE];
	size_t i;

	if (mincore(addr, HUGE_PAGE, pages) != 0)
		return false;
	for (i = 0; i < RTE_DIM(pages); i++)
		if ((pages[i] & 1) == 0)
			return false;
	return true;
}

/* madvise() does not ask the administrator, unlike page faults. */
static bool
are_allowed(void)
{
	char modes[64];
	ssize_t n;
	int fd;

	fd = open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, modes, sizeof(modes) - 1);
	close(fd);
	modes[RTE_MAX(n, 0)] = '\0';
	return n > 0 && strstr(modes, "[never]") == NULL;
}

/* Whole blocks of memory, which may be unmapped meanwhile. */
static void
collapse(uint8_t *addr, size_t len)
{
	size_t off;

	for (off = 0; off < len; off += HUGE_PAGE) {
		if (!is_in_memory(addr + off))
			continue;
		/* There are no more of them, or the process may not have more. */
		if (madvise(addr + off, HUGE_PAGE, MADV_COLLAPSE) != 0 &&
				(errno == ENOMEM || errno == EBUSY))
			return;
	}
}

void
comch_export_pages_huge(uint8_t *addr, size_t len)
{
	const size_t skip = RTE_PTR_ALIGN_CEIL(addr, HUGE_PAGE) - addr;
	const int err = errno;

	if ((size_t)sysconf(_SC_PAGESIZE) == PAGE && len >= skip + HUGE_PAGE && are_allowed())
		collapse(addr + skip, RTE_ALIGN_FLOOR(len - skip, HUGE_PAGE));
	errno = err;
}
