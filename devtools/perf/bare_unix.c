/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Unix sockets. */

#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bare.h"

/* Send or receive all of a message of a stream, or a packet. @return false: end or error */
static bool
transfer(const struct bare_job *job, uint8_t *data, bool is_send)
{
	size_t done = 0;
	ssize_t n;

	while (done < job->size) {
		n = is_send ? send(job->fd, data + done, job->size - done,
				job->flags | MSG_NOSIGNAL) :
			recv(job->fd, data + done, job->size - done, job->flags);
		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			return false;
	}
	return true;
}

static double
ping_a(struct bare_job *job)
{
	static struct hist hist;
	struct laps laps;

	laps_init(&laps, &hist, job->ms * UINT64_C(1000), 0);
	do {
		if (job->pause)
			laps_pause(&laps);
		if (!transfer(job, job->window, true) || !transfer(job, job->window, false))
			return -1;
	} while (!laps_round(&laps));
	return bare_one_way(&hist);
}

static bool
ping_b(struct bare_job *job)
{
	while (transfer(job, job->window, false)) {
		if (!transfer(job, job->window, true))
			break;
	}
	return true;
}

static void
fill_burst(const struct bare_job *job, struct mmsghdr *msgs, struct iovec *iov)
{
	uint32_t i;

	memset(msgs, 0, BARE_BURST * sizeof(msgs[0]));
	for (i = 0; i < BARE_BURST; i++) {
		iov[i].iov_base = job->window + i * job->size;
		iov[i].iov_len = job->size;
		msgs[i].msg_hdr.msg_iov = &iov[i];
		msgs[i].msg_hdr.msg_iovlen = 1;
	}
}

/* Each message carries its number. */
static double
rate_a(struct bare_job *job)
{
	struct mmsghdr msgs[BARE_BURST];
	struct iovec iov[BARE_BURST];
	uint64_t pos = 0, number;
	struct window w;
	uint32_t i;
	int n;

	fill_burst(job, msgs, iov);
	window_init(&w, clock_tsc(), job->ms * UINT64_C(1000), false);
	while (!w.closed) {
		for (i = 0; i < BARE_BURST; i++) {
			number = pos + i;
			memcpy(iov[i].iov_base, &number, sizeof(number));
		}
		n = sendmmsg(job->fd, msgs, BARE_BURST, job->flags | MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -1;
		pos += n > 0 ? (uint64_t)n : 0;
		window_update(&w, clock_tsc(), pos);
	}
	return bare_per_second(&w);
}

static bool
rate_b(struct bare_job *job)
{
	struct mmsghdr msgs[BARE_BURST];
	struct iovec iov[BARE_BURST];
	uint64_t pos = 0, number;
	int n, i;

	fill_burst(job, msgs, iov);
	for (;;) {
		n = recvmmsg(job->fd, msgs, BARE_BURST, job->flags | MSG_WAITFORONE, NULL);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		for (i = 0; i < n; i++, pos++) {
			if (msgs[i].msg_len == 0)
				return true; /* A has finished */
			memcpy(&number, iov[i].iov_base, sizeof(number));
			if (msgs[i].msg_len != job->size || number != pos)
				return false;
		}
	}
}

static double
stream_a(struct bare_job *job)
{
	struct window w;
	uint64_t pos = 0;

	window_init(&w, clock_tsc(), job->ms * UINT64_C(1000), false);
	while (!w.closed) {
		if (!transfer(job, job->window, true))
			return -1;
		window_update(&w, clock_tsc(), ++pos);
	}
	return bare_per_second(&w) * (double)job->size;
}

static bool
stream_b(struct bare_job *job)
{
	uint64_t pos;

	for (pos = 0; ; pos++) {
		if (!transfer(job, job->window + pos % job->nb_msgs * job->size, false))
			return true;
	}
}

const struct bare_test bare_unix_tests[] = {
	{ "unix-lat", 0, SOCK_SEQPACKET, MSG_DONTWAIT, ping_a, ping_b },
	{ "unix-wake", 0, SOCK_SEQPACKET, 0, ping_a, ping_b },
	{ "unix-rate", 0, SOCK_SEQPACKET, 0, rate_a, rate_b },
	{ "unix-stream", 0, SOCK_STREAM, 0, stream_a, stream_b },
	{ 0 },
};
