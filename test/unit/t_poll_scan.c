/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* When a poll looks at its descriptors next. comch_poll_fd.c. */

#include <criterion/criterion.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "t.h"

#include "base/comch_poll.h"

/* A "millisecond" of months: no scan of the test takes a part of it that matters. */
#define MS (UINT64_C(1) << 54)

static struct rte_comch_poll poll;

static void
setup(void)
{
	poll.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	poll.scan_cycles = MS;
	poll.later_at = UINT64_MAX;
	TAILQ_INIT(&poll.sources);
	pthread_mutex_init(&poll.lock, NULL);
}

TestSuite(poll_scan, .init = setup);

/* Scan after this many runs, of which *busy* returned events. Returns the time to the next scan. */
static uint64_t
scan_after(uint64_t runs, uint64_t busy)
{
	const uint64_t now = rte_rdtsc();

	poll.stats.runs += runs;
	poll.stats.busy_runs += busy;
	comch_poll_scan(&poll, now);
	cr_assert_eq(poll.next_look, RTE_MIN(poll.next_look, poll.next_scan));
	return poll.next_scan - now;
}

Test(poll_scan, idle)
{
	cr_assert_lt(scan_after(1024, 0), MS / 10, "nothing has come");
	poll.idle_until = 0;
	cr_assert_lt(scan_after(103424, 100), MS / 10, "one run of 1,024 returned events");
}

Test(poll_scan, busy)
{
	cr_assert_geq(scan_after(103423, 100), MS / 2, "more than one of 1,024");
	/* Until it has been idle for long enough. */
	cr_assert_geq(scan_after(10000, 0), MS / 2);
	poll.idle_until = 0;
	cr_assert_lt(scan_after(10000, 0), MS / 10);
}

/* Its thread does other work as well, which a scan would delay. */
Test(poll_scan, runs_now_and_then)
{
	cr_assert_geq(scan_after(1023, 0), MS / 2);
}

/* A thread that moves data should not pay for system calls. */
Test(poll_scan, fast_path)
{
	struct comch_poll_source source = { .classes = RTE_COMCH_POLL_RX };

	comch_poll_source_add(&poll, &source);
	cr_assert_geq(scan_after(10000, 0), MS / 2);
	comch_poll_source_del(&poll, &source);
	cr_assert_lt(scan_after(10000, 0), MS / 10);
}

static void
read_event(struct comch_fd *cfd)
{
	uint64_t count;

	cr_assert_eq(read(cfd->fd, &count, sizeof(count)), sizeof(count));
}

/* The steps of a handshake follow one another, also beside messages. */
Test(poll_scan, after_an_event)
{
	struct comch_fd event = {
		.fd = eventfd(1, EFD_CLOEXEC), .is_level = true, .ready = read_event,
	};
	struct comch_poll_source source = { .classes = RTE_COMCH_POLL_RX };
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &event };

	cr_assert_eq(epoll_ctl(poll.epoll_fd, EPOLL_CTL_ADD, event.fd, &ev), 0);
	cr_assert_lt(scan_after(1000, 1000), MS / 100, "it found one");
	cr_assert_lt(scan_after(1000, 1000), MS / 100, "there may be more");
	comch_poll_source_add(&poll, &source);
	cr_assert_geq(scan_after(10000, 0), MS / 2, "a thread that moves data does not pay");
	comch_poll_source_del(&poll, &source);
	poll.brisk_until = 0;
	cr_assert_geq(scan_after(1000, 1000), MS / 2, "there was none for long");
	close(event.fd);
}
