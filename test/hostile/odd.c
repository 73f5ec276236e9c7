/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <fcntl.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "odd.h"
#include "raw_peer.h"
#include "t.h"

static int
odd_file(const char *dir)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/odd", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	T_EQ(posix_fallocate(fd, 0, 65536), 0);
	return fd;
}

static int
odd_memfd(size_t len, unsigned int seals)
{
	int fd = memfd_create("odd", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	T_EQ(ftruncate(fd, (off_t)len), 0);
	T_EQ(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

int
odd_fd(unsigned int kind, const char *dir)
{
	switch (kind) {
	case 0: return open("/dev/null", O_RDWR | O_CLOEXEC);
	case 1: return open("/dev/zero", O_RDWR | O_CLOEXEC);
	case 2: return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	case 3: return open("/", O_PATH | O_CLOEXEC);
	case 4: return open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	case 5: return eventfd(0, EFD_CLOEXEC);
	case 6: return epoll_create1(EPOLL_CLOEXEC);
	case 7: return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	case 8: return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	case 9: return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	case 10: return odd_file(dir);
	case 11: return odd_memfd(0, RAW_SEALS);
	case 12: return odd_memfd(4096, RAW_SEALS);       /* too short, a hole */
	case 13: return odd_memfd(65536, 0);              /* may shrink */
	default: return odd_memfd(1 << 20, RAW_SEALS);    /* holes */
	}
}
