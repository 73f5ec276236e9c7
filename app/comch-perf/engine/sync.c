/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The session between the two sides: connect, exchange messages, close. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include "app_text.h"
#include "base/clock.h"
#include "engine/run.h"
#include "engine/sync.h"

#define MAGIC   UINT32_C(0x43505246)
/* Longest message, without the header. */
#define MAX_LEN 1024
#define INBOX   16
#define DOZE_US 1000
#define SEND_MS 5000

/* Header of each message. */
struct header {
	uint32_t magic;
	uint32_t type;
	uint32_t run;
	uint32_t len;
};
static_assert(sizeof(struct header) == 16, "wire");
static_assert(RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN, "wire");

struct sync_frame {
	struct header header;
	uint8_t data[MAX_LEN];
};

/* Mark the session as lost; keeps the first reason. */
static void
session_lost(struct sync *sync, const char *text)
{
	sync->lost = true;
	if (sync->error[0] == '\0')
		snprintf(sync->error, sizeof(sync->error), "%s", text);
}

/* Does a message belong to an earlier run? */
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
	struct sync_frame *frame = &sync->inbox[sync->nb_inbox];

	(void)conn;
	if (len < sizeof(struct header) || len > sizeof(*frame) || sync->nb_inbox == INBOX) {
		session_lost(sync, "unexpected message from the peer");
		return;
	}
	memcpy(frame, data, len);
	if (frame->header.magic != MAGIC || frame->header.len != len - sizeof(frame->header)) {
		session_lost(sync, "invalid message header, maybe of another comch-perf version");
		return;
	}
	if (is_stale(sync, &frame->header))
		return;
	if (frame->header.type == SYNC_ERROR) {
		app_printable(frame->data, strnlen((const char *)frame->data, frame->header.len),
			sync->error, sizeof(sync->error));
		sync->failed = true;
		return;
	}
	sync->nb_inbox++;
}

static void
on_fail(struct link *link, const char *text)
{
	session_lost(link->owner, text);
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
	if (sync == NULL)
		return 0;
	link_poll(&sync->link);
	if (sync->lost)
		return -EPIPE;
	return sync->failed ? -ECANCELED : 0;
}

void
sync_forgive(struct sync *sync)
{
	sync->failed = false;
	if (!sync->lost)
		sync->error[0] = '\0';
}

static void
run_begin(struct sync *sync, uint32_t run)
{
	sync->run = run;
	sync->nb_inbox = 0;
	sync_forgive(sync);
}

int
sync_take(struct sync *sync, enum sync_type type, void *data, size_t size)
{
	struct sync_frame *frame;
	uint32_t i, len;

	for (i = 0; sync != NULL && i < sync->nb_inbox; i++) {
		frame = &sync->inbox[i];
		if (frame->header.type != (uint32_t)type)
			continue;
		len = frame->header.len;
		if (len > 0 && size > 0)
			memcpy(data, frame->data, RTE_MIN(len, size));
		if (type == SYNC_RUN) {
			run_begin(sync, frame->header.run);
			return (int)len;
		}
		sync->nb_inbox--;
		memmove(frame, frame + 1, (sync->nb_inbox - i) * sizeof(*frame));
		return (int)len;
	}
	return -EAGAIN;
}

/* Sleep or pump once while waiting. @return 0: continue */
static int
wait_step(struct sync *sync, uint64_t end, sync_pump_t pump, void *arg)
{
	int rc = sync_poll(sync);

	if (rc == 0 && perf_quit())
		rc = -EINTR;
	if (rc == 0 && pump != NULL)
		rc = pump(arg);
	if (rc < 0)
		return rc;
	if (clock_mono_ns() > end)
		return -ETIMEDOUT;
	if (pump != NULL)
		usleep(LINK_NAP_US);
	else if (sync->link.sleeps)
		link_idle(&sync->link, RTE_COMCH_POLL_ANY);
	else
		usleep(DOZE_US);
	return 0;
}

int
sync_wait(struct sync *sync, enum sync_type type, void *data, size_t size,
		int timeout_ms, sync_pump_t pump, void *arg)
{
	uint64_t end = clock_deadline(timeout_ms);
	int rc = 0;

	sync_poll(sync);
	for (;;) {
		int len = sync_take(sync, type, data, size);

		if (len >= 0 || rc < 0)
			return len >= 0 ? len : rc;
		rc = wait_step(sync, end, pump, arg);
	}
}

int
sync_send(struct sync *sync, enum sync_type type, const void *data, size_t len)
{
	uint64_t end = clock_deadline(SEND_MS);
	struct sync_frame frame = {
		.header = { MAGIC, (uint32_t)type, 0, (uint32_t)len },
	};
	struct rte_comch_msg msg = {
		.data = &frame,
		.len = (uint32_t)(sizeof(frame.header) + len),
		.flags = RTE_COMCH_MSG_F_SILENT,
	};

	if (sync == NULL)
		return 0;
	if (len > sizeof(frame.data))
		return -EMSGSIZE;
	frame.header.run = sync->run;
	if (len > 0)
		memcpy(frame.data, data, len);
	while (!sync->lost) {
		if (sync->link.ops->send(&sync->link, sync->link.conns[0], &msg, 1) == 1)
			return 0;
		if (clock_mono_ns() > end)
			return -ETIMEDOUT;
		sync_poll(sync);
		usleep(LINK_NAP_US);
	}
	return -EPIPE;
}

void
sync_run_begin(struct sync *sync)
{
	run_begin(sync, sync->run + 1);
}

static int
await_up(struct sync *sync, int timeout_ms)
{
	uint64_t end = clock_deadline(timeout_ms);
	int rc = 0;

	while (sync->link.nb_up == 0 && rc == 0)
		rc = wait_step(sync, end, NULL, NULL);
	if (rc == -ETIMEDOUT)
		session_lost(sync, "timeout: peer not connected");
	return rc;
}

/* Exchange HELLOs. */
static int
greet(struct sync *sync, const struct sync_hello *mine)
{
	int rc = sync_send(sync, SYNC_HELLO, mine, sizeof(*mine));

	if (rc != 0)
		return rc;
	rc = sync_wait(sync, SYNC_HELLO, &sync->peer, sizeof(sync->peer), SEND_MS, NULL, NULL);
	if (rc < 0)
		return rc;
	if (rc == (int)sizeof(sync->peer) && strcmp(sync->peer.version, mine->version) == 0)
		return 0;
	session_lost(sync, "the peer runs another version of comch-perf");
	return -EPROTO;
}

struct sync *
sync_open(const struct link_ops *ops, int16_t dev_id, bool leader,
		const struct sync_hello *mine, int timeout_ms)
{
	/* One allocation: the inbox follows the structure. */
	struct sync *sync = calloc(1, sizeof(*sync) + INBOX * sizeof(struct sync_frame));
	int rc;

	if (sync == NULL)
		return NULL;
	sync->inbox = (struct sync_frame *)(sync + 1);
	rte_comch_dev_info_get(dev_id, &sync->info);
	sync->link = (struct link){
		.ops = ops,
		.name = "comch-perf",
		.host = leader,
		.dev_id = dev_id,
		.info = &sync->info,
		.nb_conns = 1,
		.max_clients = 1,
		.max_msg_size = sizeof(struct sync_frame),
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
		fprintf(stderr, "comch-perf: %s: open the session with the peer: %s\n",
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
