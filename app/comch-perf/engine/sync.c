/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#include "base/clock.h"
#include "engine/run.h"
#include "engine/sync.h"

#define MAGIC   UINT32_C(0x43505246)
#define INBOX   16
#define NAP_US  50
#define SEND_MS 5000

/* In front of each message. */
struct header {
	uint32_t magic;
	uint32_t type;
	uint32_t run;
	uint32_t len;
};

struct frame {
	struct header header;
	uint8_t data[SYNC_MAX_LEN];
};

struct sync {
	struct link link;
	struct rte_comch_dev_info info;
	bool lost;
	bool failed;
	uint32_t run;
	struct sync_hello peer;
	char error[PERF_ERROR_SIZE];
	uint32_t nb_inbox;
	struct frame inbox[INBOX];
};

/* The session is of no use any more; the first reason counts. */
static void
lose(struct sync *sync, const char *text)
{
	sync->lost = true;
	if (sync->error[0] == '\0')
		snprintf(sync->error, sizeof(sync->error), "%s", text);
}

/* Messages of a run that is over are of no use any more. */
static bool
is_stale(const struct sync *sync, const struct header *h)
{
	switch (h->type) {
	case SYNC_HELLO:
	case SYNC_RUN:
	case SYNC_BYE:
		return false;
	default:
		return h->run != sync->run;
	}
}

static void
on_msg(void *arg, void *conn, const void *data, uint32_t len)
{
	struct sync *sync = arg;
	struct frame *frame = &sync->inbox[sync->nb_inbox];

	(void)conn;
	if (len < sizeof(struct header) || len > sizeof(*frame) ||
			sync->nb_inbox == INBOX) {
		lose(sync, "the other side sends what comch-perf does not");
		return;
	}
	memcpy(frame, data, len);
	if (frame->header.magic != MAGIC ||
			frame->header.len != len - sizeof(frame->header)) {
		lose(sync, "the other side is another version of comch-perf");
		return;
	}
	if (is_stale(sync, &frame->header))
		return;
	if (frame->header.type == SYNC_ERROR) {
		frame->data[RTE_MIN(frame->header.len, SYNC_MAX_LEN - 1u)] = '\0';
		snprintf(sync->error, sizeof(sync->error), "%s", (const char *)frame->data);
		sync->failed = true;
		return;
	}
	sync->nb_inbox++;
}

static void
on_fail(struct link *link, const char *text)
{
	lose(link->owner, text);
}

static int
pump_link(struct link *link)
{
	struct sync *sync = link->owner;
	int n = link_poll(link);

	return sync->lost && !link->closing ? -EPIPE : n;
}

int
sync_poll(struct sync *sync)
{
	link_poll(&sync->link);
	if (sync->lost)
		return -EPIPE;
	return sync->failed ? -ECANCELED : 0;
}

int
sync_take(struct sync *sync, enum sync_type type, void *data, size_t size)
{
	struct frame *frame;
	uint32_t i;
	uint32_t len;

	for (i = 0; i < sync->nb_inbox; i++) {
		frame = &sync->inbox[i];
		if (frame->header.type != (uint32_t)type)
			continue;
		len = frame->header.len;
		if (len > 0 && size > 0)
			memcpy(data, frame->data, RTE_MIN(len, size));
		if (type == SYNC_RUN) {
			sync_run_set(sync, frame->header.run);
			return (int)len;
		}
		sync->nb_inbox--;
		memmove(frame, frame + 1, (sync->nb_inbox - i) * sizeof(*frame));
		return (int)len;
	}
	return -EAGAIN;
}

static void
doze(struct sync *sync)
{
	if (sync->link.sleeps)
		link_idle(&sync->link, RTE_COMCH_POLL_ANY);
	else
		usleep(1000);
}

int
sync_wait(struct sync *sync, enum sync_type type, void *data, size_t size,
		int timeout_ms, sync_pump_t pump, void *arg)
{
	uint64_t end = clock_mono_ns() + (uint64_t)timeout_ms * 1000000;
	int rc;

	for (;;) {
		int state = sync_poll(sync);

		rc = sync_take(sync, type, data, size);
		if (rc >= 0)
			return rc;
		if (state != 0)
			return state;
		if (perf_quit())
			return -EINTR;
		rc = pump != NULL ? pump(arg) : 0;
		if (rc < 0)
			return rc;
		if (timeout_ms >= 0 && clock_mono_ns() > end)
			return -ETIMEDOUT;
		if (pump != NULL)
			usleep(NAP_US);
		else
			doze(sync);
	}
}

int
sync_send(struct sync *sync, enum sync_type type, const void *data, size_t len)
{
	uint64_t end = clock_mono_ns() + SEND_MS * UINT64_C(1000000);
	struct frame frame = {
		.header = { MAGIC, (uint32_t)type, sync->run, (uint32_t)len },
	};
	struct rte_comch_msg msg = {
		.data = &frame,
		.len = (uint32_t)(sizeof(frame.header) + len),
		.flags = RTE_COMCH_MSG_F_SILENT,
	};

	if (len > sizeof(frame.data))
		return -EMSGSIZE;
	if (len > 0)
		memcpy(frame.data, data, len);
	while (!sync->lost) {
		if (sync->link.ops->send(&sync->link, sync->link.conns[0], &msg, 1) == 1)
			return 0;
		if (clock_mono_ns() > end)
			return -ETIMEDOUT;
		sync_poll(sync);
		usleep(NAP_US);
	}
	return -EPIPE;
}

const struct sync_hello *
sync_peer(const struct sync *sync)
{
	return &sync->peer;
}

void
sync_forgive(struct sync *sync)
{
	sync->failed = false;
	if (!sync->lost)
		sync->error[0] = '\0';
}

void
sync_run_set(struct sync *sync, uint32_t run)
{
	sync->run = run;
	sync->nb_inbox = 0;
	sync_forgive(sync);
}

uint32_t
sync_run_get(const struct sync *sync)
{
	return sync->run;
}

const char *
sync_error(const struct sync *sync)
{
	return sync->error;
}

void
sync_hello_fill(struct sync_hello *hello, uint32_t nb_workers,
		const uint16_t *cpus)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	memset(hello, 0, sizeof(*hello));
	snprintf(hello->version, sizeof(hello->version), "%s",
			RTE_COMCH_VERSION_STRING);
	if (fd >= 0) {
		if (read(fd, hello->boot_id, sizeof(hello->boot_id) - 1) < 0)
			hello->boot_id[0] = '\0';
		close(fd);
	}
	hello->nb_workers = RTE_MIN(nb_workers, (uint32_t)PERF_MAX_WORKERS);
	memcpy(hello->cpus, cpus, hello->nb_workers * sizeof(cpus[0]));
}

static int
await_up(struct sync *sync, int timeout_ms)
{
	uint64_t end = clock_mono_ns() + (uint64_t)timeout_ms * 1000000;
	int rc;

	while (sync->link.nb_up == 0) {
		rc = sync_poll(sync);
		if (rc != 0)
			return rc;
		if (perf_quit())
			return -EINTR;
		if (timeout_ms >= 0 && clock_mono_ns() > end) {
			lose(sync, "nothing has connected in time");
			return -ETIMEDOUT;
		}
		doze(sync);
	}
	return 0;
}

/* Exchange HELLOs. */
static int
greet(struct sync *sync, const struct sync_hello *mine)
{
	int rc = sync_send(sync, SYNC_HELLO, mine, sizeof(*mine));

	if (rc != 0)
		return rc;
	rc = sync_wait(sync, SYNC_HELLO, &sync->peer, sizeof(sync->peer),
			SEND_MS, NULL, NULL);
	if (rc < 0)
		return rc;
	if (rc == (int)sizeof(sync->peer) && strcmp(sync->peer.version, mine->version) == 0)
		return 0;
	lose(sync, "the other side is another version of comch-perf");
	return -EPROTO;
}

struct sync *
sync_open(const struct link_ops *ops, int16_t dev_id, bool leader,
		const struct sync_hello *mine, int timeout_ms)
{
	struct sync *sync = calloc(1, sizeof(*sync));
	int rc;

	if (sync == NULL)
		return NULL;
	rte_comch_dev_info_get(dev_id, &sync->info);
	sync->link = (struct link){
		.ops = ops,
		.name = SYNC_SERVER_NAME,
		.host = leader,
		.dev_id = dev_id,
		.info = &sync->info,
		.nb_conns = 1,
		.max_clients = 1,
		.max_msg_size = sizeof(struct frame),
		.timeout_ms = (uint32_t)timeout_ms,
		.sleeps = (sync->info.capa & RTE_COMCH_CAPA_EVENT_FD) != 0,
		.owner = sync,
		.on_fail = on_fail,
		.pump = pump_link,
		.on_msg = on_msg,
		.msg_arg = sync,
	};
	rc = link_open(&sync->link);
	if (rc == 0 && leader)
		rc = sync->link.ops->connect(&sync->link, 0);
	if (rc == 0)
		rc = await_up(sync, timeout_ms);
	if (rc == 0)
		rc = greet(sync, mine);
	if (rc == 0)
		return sync;
	if (rc != -EINTR)
		fprintf(stderr, "comch-perf: %s: no session with the other side: %s\n",
				leader ? "host" : "dpu", sync->error[0] != '\0' ?
				sync->error : strerror(-rc));
	sync_close(sync);
	return NULL;
}

void
sync_close(struct sync *sync)
{
	link_close(&sync->link, true);
	free(sync);
}
