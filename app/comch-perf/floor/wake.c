/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Processes that wake each other: see floor/wake.h. */

#include <stdbool.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/window.h"
#include "floor/floor.h"
#include "floor/wake.h"

/* Sleep until an eventfd is written. */
static void
event_wait(int epfd, int fd)
{
	struct epoll_event ev;
	uint64_t value;

	while (epoll_wait(epfd, &ev, 1, -1) != 1)
		;
	while (read(fd, &value, sizeof(value)) != (ssize_t)sizeof(value))
		;
}

static void
event_write(int fd)
{
	uint64_t one = 1;

	while (write(fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
		;
}

static int
event_epoll(int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int epfd = epoll_create1(EPOLL_CLOEXEC);

	return epfd < 0 || epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &ev) != 0 ? -1 : epfd;
}

double
floor_wake_ask(const int event[2], uint32_t ms, _Atomic uint64_t *over)
{
	int epfd = event_epoll(event[0]);
	static struct hist hist;
	struct laps laps;

	laps_init(&laps, &hist, ms * UINT64_C(1000), 0);
	do {
		laps_pause(&laps);
		event_write(event[1]);
		event_wait(epfd, event[0]);
	} while (!laps_round(&laps));
	/* Pairs with the acquire in floor_wake_answer(). */
	atomic_store_explicit(over, 1, memory_order_release);
	event_write(event[1]);
	return floor_one_way(&hist);
}

void
floor_wake_answer(const int event[2], const _Atomic uint64_t *over)
{
	int epfd = event_epoll(event[1]);

	for (;;) {
		event_wait(epfd, event[1]);
		/* Pairs with the release in floor_wake_ask(). */
		if (atomic_load_explicit(over, memory_order_acquire) != 0)
			return;
		event_write(event[0]);
	}
}
