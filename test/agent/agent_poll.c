/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Calls about polls, and their descriptors. */

#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent.h"

#define MAX_WATCHES 256
/** Events of one run at most. */
#define MAX_EVENTS 256

/**
 * A descriptor of a poll that the run wants to sleep on. When it is readable, one byte
 * goes out on a connection of its own; the next only after the poll was run or cleared.
 * The run reads what CALL_POLL_RUN and the like tell it: so no byte of an earlier
 * wake-up comes late.
 */
struct watch {
	struct rte_comch_poll *poll;
	uint32_t cls;
	int fd;
	int sock;
	bool told;
	uint64_t nb_told;
};

static struct watch watches[MAX_WATCHES];
static unsigned int nb_watches;
static int wake_fd = -1;

uint16_t
agent_wake_listen(int session_fd)
{
	struct sockaddr_in sa;
	socklen_t len = sizeof(sa);

	if (getsockname(session_fd, (struct sockaddr *)&sa, &len) != 0)
		T_FAIL("getsockname: %s", strerror(errno));
	sa.sin_port = 0;
	wake_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (wake_fd < 0 || bind(wake_fd, (struct sockaddr *)&sa, len) != 0 ||
			listen(wake_fd, 8) != 0 ||
			getsockname(wake_fd, (struct sockaddr *)&sa, &len) != 0)
		T_FAIL("socket for wake-ups: %s", strerror(errno));
	return ntohs(sa.sin_port);
}

static void
tell(struct watch *watch)
{
	watch->told = true;
	watch->nb_told++;
	if (send(watch->sock, "", 1, MSG_NOSIGNAL) != 1)
		T_FAIL("wake-up: %s", strerror(errno));
}

bool
agent_wait(int session_fd)
{
	struct pollfd fds[MAX_WATCHES + 1];
	struct watch *of[MAX_WATCHES + 1];
	unsigned int i, nb;

	for (;;) {
		fds[0] = (struct pollfd){ .fd = session_fd, .events = POLLIN };
		for (i = 0, nb = 1; i < nb_watches; i++) {
			if (watches[i].told)
				continue;
			fds[nb] = (struct pollfd){ .fd = watches[i].fd, .events = POLLIN };
			of[nb++] = &watches[i];
		}
		if (poll(fds, nb, -1) < 0) {
			if (errno != EINTR)
				T_FAIL("poll: %s", strerror(errno));
			continue;
		}
		for (i = 1; i < nb; i++)
			if (fds[i].revents != 0)
				tell(of[i]);
		if (fds[0].revents != 0)
			return true;
	}
}

/* After a run: what was told is spent. How much that was, for each descriptor. */
static void
put_told(struct wire *w, const struct rte_comch_poll *poll, bool spent)
{
	unsigned int i;
	uint32_t nb = 0;

	for (i = 0; i < nb_watches; i++)
		nb += watches[i].poll == poll;
	wire_u64(w, nb);
	for (i = 0; i < nb_watches; i++) {
		if (watches[i].poll != poll)
			continue;
		if (spent)
			watches[i].told = false;
		wire_u64(w, watches[i].cls);
		wire_u64(w, watches[i].nb_told);
	}
}

static void
poll_create(struct wire *w)
{
	wire_reply(w, (int64_t)(uintptr_t)rte_comch_poll_create(NULL));
}

static void
poll_destroy(struct wire *w)
{
	struct rte_comch_poll *poll = wire_get_ptr(w);
	unsigned int i = 0;
	int rc;

	rc = rte_comch_poll_destroy(poll);
	while (rc == 0 && i < nb_watches) {
		if (watches[i].poll != poll) {
			i++;
			continue;
		}
		close(watches[i].sock);
		watches[i] = watches[--nb_watches];
	}
	wire_reply(w, rc);
}

static void
poll_run(struct wire *w)
{
	struct rte_comch_poll *poll = wire_get_ptr(w);
	const uint16_t max = (uint16_t)RTE_MIN(wire_get_u64(w), (uint64_t)MAX_EVENTS);
	static struct rte_comch_event evs[MAX_EVENTS];
	uint16_t i, n;

	n = rte_comch_poll_run(poll, max == 0 ? NULL : evs, max);
	wire_reply(w, n);
	put_told(w, poll, true);
	for (i = 0; i < n; i++) {
		wire_put(w, &evs[i], sizeof(evs[i]));
		wire_str(w, evs[i].text);
		if (evs[i].type == RTE_COMCH_EVENT_MSG)
			wire_bytes(w, evs[i].msg.data, evs[i].msg.len);
	}
}

static void
poll_arm(struct wire *w)
{
	struct rte_comch_poll *poll = wire_get_ptr(w);

	wire_reply(w, rte_comch_poll_arm(poll, (uint32_t)wire_get_u64(w)));
}

static void
poll_clear(struct wire *w)
{
	struct rte_comch_poll *poll = wire_get_ptr(w);

	wire_reply(w, rte_comch_poll_clear(poll));
	put_told(w, poll, true);
}

static void
poll_notify(struct wire *w)
{
	wire_reply(w, rte_comch_poll_notify(wire_get_ptr(w)));
}

static void
poll_stats(struct wire *w)
{
	const struct rte_comch_poll *poll = wire_get_ptr(w);
	struct rte_comch_poll_stats stats = { 0 };

	wire_reply(w, rte_comch_poll_stats_get(poll, &stats));
	wire_put(w, &stats, sizeof(stats));
}

static void
poll_fd(struct wire *w)
{
	struct rte_comch_poll *poll = wire_get_ptr(w);

	wire_reply(w, rte_comch_poll_fd(poll, (uint32_t)wire_get_u64(w)));
}

/* The run has connected to the socket for wake-ups: that is for this descriptor. */
static void
poll_watch(struct wire *w)
{
	struct watch *watch = &watches[nb_watches];

	T_LT(nb_watches, MAX_WATCHES);
	memset(watch, 0, sizeof(*watch));
	watch->poll = wire_get_ptr(w);
	watch->cls = (uint32_t)wire_get_u64(w);
	watch->fd = rte_comch_poll_fd(watch->poll, watch->cls);
	T_GE(watch->fd, 0);
	watch->sock = accept4(wake_fd, NULL, NULL, SOCK_CLOEXEC);
	if (watch->sock < 0)
		T_FAIL("accept: %s", strerror(errno));
	nb_watches++;
	wire_reply(w, 0);
}

const agent_handler agent_poll_calls[NB_CALLS] = {
	[CALL_POLL_CREATE] = poll_create,
	[CALL_POLL_DESTROY] = poll_destroy,
	[CALL_POLL_RUN] = poll_run,
	[CALL_POLL_ARM] = poll_arm,
	[CALL_POLL_CLEAR] = poll_clear,
	[CALL_POLL_NOTIFY] = poll_notify,
	[CALL_POLL_STATS] = poll_stats,
	[CALL_POLL_FD] = poll_fd,
	[CALL_POLL_WATCH] = poll_watch,
};
