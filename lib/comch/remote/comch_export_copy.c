/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Copies between memory of this process that may be gone and a window of a peer.
 *
 * process_vm_readv() of this process itself needs no right to trace. Filters of system calls that
 * know it as a call of debuggers refuse it all the same; then the bytes go through a file that
 * no other process has, by write() and read(), which find memory that is gone as well. Never
 * through the file of the window: its owner could hold the lock that a write() to it takes.
 */

#include <errno.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <rte_common.h>

#include "remote/comch_export.h"
#include "sdk/comch_log.h"

/* -1: process_vm_readv() works, as far as is known. */
static int file = -1;
/* Of this process; 0: not asked for yet. Each question is a system call. */
static pid_t own_pid;

int
comch_export_copy_fd(void)
{
	return file;
}

void
comch_export_copy_reset(void)
{
	file = -1;
	own_pid = 0;
}

static bool
is_refused(int error)
{
	return error == EPERM || error == ENOSYS || error == EACCES;
}

/* Copy some. Returns their number, or a negative errno. */
static ssize_t
copy_directly(uint8_t *addr, uint8_t *slot, size_t len, bool to_slot)
{
	const struct iovec local = { .iov_base = slot, .iov_len = len };
	const struct iovec own = { .iov_base = addr, .iov_len = len };
	ssize_t n;

	if (own_pid == 0)
		own_pid = getpid();
	n = to_slot ? process_vm_readv(own_pid, &local, 1, &own, 1, 0) :
		process_vm_writev(own_pid, &local, 1, &own, 1, 0);
	return n < 0 ? -errno : n;
}

static ssize_t
copy_by_file(uint8_t *addr, uint8_t *slot, size_t len, bool to_slot)
{
	ssize_t n = pwrite(file, to_slot ? addr : slot, len, 0);

	if (n > 0)
		n = pread(file, to_slot ? slot : addr, (size_t)n, 0);
	return n < 0 ? -errno : n;
}

static int
open_file(void)
{
	file = memfd_create("comch_copy", MFD_CLOEXEC);
	if (file < 0)
		return -errno;
	COMCH_LOG(INFO, "export: process_vm_readv() is refused here, copies take another way");
	return 0;
}

static ssize_t
copy_some(uint8_t *addr, uint8_t *slot, size_t len, bool to_slot)
{
	ssize_t n;
	int ret;

	if (file >= 0)
		return copy_by_file(addr, slot, len, to_slot);
	n = copy_directly(addr, slot, len, to_slot);
	if (n >= 0 || !is_refused((int)-n))
		return n;
	ret = open_file();
	return ret != 0 ? ret : copy_by_file(addr, slot, len, to_slot);
}

int
comch_export_copy_bytes(uint8_t *addr, uint8_t *slot, size_t len, bool to_slot)
{
	ssize_t n;

	while (len > 0) {
		n = copy_some(addr, slot, len, to_slot);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? (int)n : -EFAULT;
		addr += n;
		slot += n;
		len -= (size_t)n;
	}
	return 0;
}
