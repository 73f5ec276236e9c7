/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <sys/epoll.h>
#include <unistd.h>

#include "comch/sleeper.h"

/* Time without an event after which both sides count as idle, ms. */
#define REST_MS 100
/* More wake-ups than any connection causes. */
#define REST_WAKES 300

void
sleeper_open(struct sleeper *ev, unsigned int flags)
{
	memset(ev, 0, sizeof(*ev));
	ev->flags = flags;
	ev->ep = epoll_create1(EPOLL_CLOEXEC);
	ev->ep2 = epoll_create1(EPOLL_CLOEXEC);
	T_CHECK(ev->ep >= 0 && ev->ep2 >= 0);
}

void
sleeper_close(struct sleeper *ev)
{
	close(ev->ep);
	close(ev->ep2);
}

static void
arm(struct sleeper *ev, unsigned int i)
{
	if (ev->armed[i])
		return;
	T_OK(doca_pe_request_notification(ev->pes[i]));
	ev->armed[i] = true;
}

void
sleeper_add(struct sleeper *ev, struct doca_pe *pe)
{
	struct epoll_event e = { .events = EPOLLIN };
	unsigned int i = ev->nb++;

	T_LE(ev->nb, SLEEPER_PES);
	if ((ev->flags & SLEEPER_EDGE) != 0)
		e.events |= EPOLLET;
	e.data.ptr = pe;
	ev->pes[i] = pe;
	ev->armed[i] = false;
	T_OK(doca_pe_get_notification_handle(pe, &ev->fds[i]));
	T_GE(ev->fds[i], 0);
	T_EQ(epoll_ctl(ev->ep, EPOLL_CTL_ADD, ev->fds[i], &e), 0);
	if ((ev->flags & SLEEPER_TWO_SETS) != 0)
		T_EQ(epoll_ctl(ev->ep2, EPOLL_CTL_ADD, ev->fds[i], &e), 0);
	T_OK(doca_pe_set_event_mode(pe, (ev->flags & SLEEPER_NO_CLEAR) != 0 ?
		DOCA_PE_EVENT_MODE_PROGRESS_ALL : DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE));
	if ((ev->flags & SLEEPER_LATE) == 0)
		arm(ev, i);
}

static unsigned int
find(const struct sleeper *ev, const struct doca_pe *pe)
{
	unsigned int i;

	for (i = 0; i < ev->nb; i++)
		if (ev->pes[i] == pe)
			return i;
	T_FAIL("an engine that is not here has woken");
}

void
sleeper_del(struct sleeper *ev, struct doca_pe *pe)
{
	unsigned int i = find(ev, pe);

	T_EQ(epoll_ctl(ev->ep, EPOLL_CTL_DEL, ev->fds[i], NULL), 0);
	if ((ev->flags & SLEEPER_TWO_SETS) != 0)
		T_EQ(epoll_ctl(ev->ep2, EPOLL_CTL_DEL, ev->fds[i], NULL), 0);
	ev->nb--;
	ev->pes[i] = ev->pes[ev->nb];
	ev->fds[i] = ev->fds[ev->nb];
	ev->armed[i] = ev->armed[ev->nb];
}

static void
wake(struct sleeper *ev, unsigned int i)
{
	ev->wakes++;
	ev->armed[i] = false;
	if ((ev->flags & SLEEPER_NO_CLEAR) == 0)
		T_OK(doca_pe_clear_notification(ev->pes[i],
			(ev->flags & SLEEPER_ZERO) != 0 ? 0 : ev->fds[i]));
	while (doca_pe_progress(ev->pes[i]) != 0)
		;
	if ((ev->flags & SLEEPER_LATE) == 0)
		arm(ev, i);
}

bool
sleeper_step(struct sleeper *ev, int timeout_ms)
{
	struct epoll_event e[SLEEPER_PES], e2[SLEEPER_PES];
	unsigned int i;
	int n, k;

	for (i = 0; i < ev->nb; i++)
		arm(ev, i);
	/* The second set is asked first: the answer of the first is used. */
	if ((ev->flags & SLEEPER_TWO_SETS) != 0 &&
			epoll_wait(ev->ep2, e2, SLEEPER_PES, timeout_ms) <= 0)
		return false;
	do {
		n = epoll_wait(ev->ep, e, SLEEPER_PES, timeout_ms);
	} while (n < 0 && errno == EINTR);
	T_GE(n, 0);
	for (k = 0; k < n; k++)
		wake(ev, find(ev, e[k].data.ptr));
	return n > 0;
}

void
sleeper_sleep(struct sleeper *ev)
{
	sleeper_step(ev, T_TIMEOUT_MS);
}

void
sleeper_rest(struct sleeper *ev)
{
	unsigned int n = 0;

	while (sleeper_step(ev, REST_MS))
		if (++n > REST_WAKES)
			T_FAIL("woken %u times for nothing, and again", n);
}
