/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_comch_poll.h>
#include <rte_common.h>
#include <rte_errno.h>

#include "base/clock.h"
#include "proc.h"
#include "sync.h"

#define MAGIC        UINT32_C(0x43505246)
#define INBOX        16
#define EVENTS       16
/* A lost wake-up must not hang a measurement. */
#define SLEEP_MS     10
#define NAP_US       50
#define SEND_MS      5000

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
	bool leader;
	bool lost;
	bool failed;
	struct rte_comch_poll *poll;
	int fd;
	struct rte_comch_server *server;
	struct rte_comch_client *client;
	struct rte_comch_conn *conn;
	uint32_t run;
	struct sync_hello peer;
	char error[PERF_ERROR_SIZE];
	uint32_t nb_inbox;
	struct frame inbox[INBOX];
};

static void
set_error(struct sync *sync, const char *text)
{
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
on_msg(struct sync *sync, const void *data, uint32_t len)
{
	struct frame *frame = &sync->inbox[sync->nb_inbox];

	if (len < sizeof(struct header) || len > sizeof(*frame) ||
			sync->nb_inbox == INBOX) {
		sync->lost = true;
		set_error(sync, "the other side sends what comch-perf does not");
		return;
	}
	memcpy(frame, data, len);
	if (frame->header.magic != MAGIC ||
			frame->header.len != len - sizeof(frame->header)) {
		sync->lost = true;
		set_error(sync, "the other side is another version of comch-perf");
		return;
	}
	if (is_stale(sync, &frame->header))
		return;
	if (frame->header.type == SYNC_ERROR) {
		frame->data[RTE_MIN(frame->header.len, SYNC_MAX_LEN - 1u)] = '\0';
		set_error(sync, (const char *)frame->data);
		sync->failed = true;
		return;
	}
	sync->nb_inbox++;
}

static void
on_event(struct sync *sync, const struct rte_comch_event *ev)
{
	switch (ev->type) {
	case RTE_COMCH_EVENT_CONNECTED:
		sync->conn = ev->conn;
		break;
	case RTE_COMCH_EVENT_MSG:
		if (ev->conn == sync->conn)
			on_msg(sync, ev->msg.data, ev->msg.len);
		break;
	case RTE_COMCH_EVENT_DISCONNECTED:
		if (ev->conn != sync->conn)
			break;
		sync->lost = true;
		sync->conn = NULL;
		if (sync->error[0] == '\0')
			set_error(sync, ev->text != NULL ? ev->text :
					"the other side has gone");
		break;
	case RTE_COMCH_EVENT_STATE:
		if (ev->status < 0 && !sync->lost) {
			sync->lost = true;
			set_error(sync, ev->text != NULL ? ev->text :
					strerror(-ev->status));
		}
		break;
	default:
		break;
	}
}

int
sync_poll(struct sync *sync)
{
	struct rte_comch_event evs[EVENTS];
	uint16_t n;
	uint16_t i;

	n = rte_comch_poll_run(sync->poll, evs, EVENTS);
	for (i = 0; i < n; i++)
		on_event(sync, &evs[i]);
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
	struct pollfd pfd = { .fd = sync->fd, .events = POLLIN };

	if (sync->fd < 0)
		usleep(1000);
	else if (rte_comch_poll_arm(sync->poll, RTE_COMCH_POLL_ANY) == 0)
		poll(&pfd, 1, SLEEP_MS);
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
		if (proc_quit())
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
	while (sync->conn != NULL && !sync->lost) {
		if (rte_comch_conn_send_burst(sync->conn, &msg, 1) == 1)
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
listen_or_connect(struct sync *sync, int16_t dev_id, uint16_t rep, int timeout_ms)
{
	struct rte_comch_server_conf sconf = {
		.conf_size = sizeof(sconf), .poll = sync->poll,
		.name = SYNC_SERVER_NAME, .rep = rep,
		.max_msg_size = sizeof(struct frame), .max_clients = 1,
	};
	struct rte_comch_client_conf cconf = {
		.conf_size = sizeof(cconf), .poll = sync->poll,
		.name = SYNC_SERVER_NAME, .max_msg_size = sizeof(struct frame),
		.connect_timeout_ms = (uint32_t)timeout_ms,
	};
	int rc;

	if (sync->leader) {
		sync->client = rte_comch_client_create(dev_id, &cconf);
		if (sync->client == NULL)
			return -rte_errno;
		rc = rte_comch_client_start(sync->client);
		return rc == -EINPROGRESS ? 0 : rc;
	}
	sync->server = rte_comch_server_create(dev_id, &sconf);
	if (sync->server == NULL)
		return -rte_errno;
	return rte_comch_server_start(sync->server);
}

/* Wait until connected, then say who we are and hear who they are. */
static int
greet(struct sync *sync, const struct sync_hello *mine, int timeout_ms)
{
	uint64_t end = clock_mono_ns() + (uint64_t)timeout_ms * 1000000;
	int rc;

	while (sync->conn == NULL) {
		rc = sync_poll(sync);
		if (rc != 0)
			return rc;
		if (proc_quit())
			return -EINTR;
		if (timeout_ms >= 0 && clock_mono_ns() > end) {
			set_error(sync, "nobody has connected in time");
			return -ETIMEDOUT;
		}
		if (sync->conn == NULL)
			doze(sync);
	}
	rc = sync_send(sync, SYNC_HELLO, mine, sizeof(*mine));
	if (rc != 0)
		return rc;
	rc = sync_wait(sync, SYNC_HELLO, &sync->peer, sizeof(sync->peer),
			SEND_MS, NULL, NULL);
	if (rc < 0)
		return rc;
	if (rc != (int)sizeof(sync->peer) ||
			strcmp(sync->peer.version, mine->version) != 0) {
		set_error(sync, "the other side is another version of comch-perf");
		return -EPROTO;
	}
	return 0;
}

struct sync *
sync_open(int16_t dev_id, uint16_t rep, bool leader,
		const struct sync_hello *mine, int timeout_ms)
{
	struct sync *sync = calloc(1, sizeof(*sync));
	struct rte_comch_dev_info info = { 0 };
	int rc;

	if (sync == NULL)
		return NULL;
	sync->leader = leader;
	sync->fd = -1;
	sync->poll = rte_comch_poll_create(NULL);
	if (sync->poll == NULL) {
		fprintf(stderr, "comch-perf: no poll: %s\n", strerror(rte_errno));
		free(sync);
		return NULL;
	}
	rte_comch_dev_info_get(dev_id, &info);
	if ((info.capa & RTE_COMCH_CAPA_EVENT_FD) != 0)
		sync->fd = rte_comch_poll_fd(sync->poll, RTE_COMCH_POLL_ANY);
	rc = listen_or_connect(sync, dev_id, rep, timeout_ms);
	if (rc == 0)
		rc = greet(sync, mine, timeout_ms);
	if (rc == 0)
		return sync;
	if (rc != -EINTR)
		fprintf(stderr, "comch-perf: %s: no session with the other side: %s\n",
				leader ? "host" : "dpu", sync->error[0] != '\0' ?
				sync->error : strerror(-rc));
	sync_close(sync);
	return NULL;
}

/* Run the poll until an object is IDLE, or it takes too long. */
static void
settle(struct sync *sync)
{
	uint64_t end = clock_mono_ns() + SEND_MS * UINT64_C(1000000);

	while ((rte_comch_client_state(sync->client) != RTE_COMCH_STATE_IDLE ||
			rte_comch_server_state(sync->server) != RTE_COMCH_STATE_IDLE) &&
			clock_mono_ns() < end) {
		sync_poll(sync);
		usleep(NAP_US);
	}
}

void
sync_close(struct sync *sync)
{
	if (sync->client != NULL) {
		/* It stops by itself when the other side has gone. */
		if (rte_comch_client_state(sync->client) != RTE_COMCH_STATE_IDLE)
			rte_comch_client_stop(sync->client);
		settle(sync);
		rte_comch_client_destroy(sync->client);
	}
	if (sync->server != NULL) {
		rte_comch_server_stop(sync->server);
		settle(sync);
		rte_comch_server_destroy(sync->server);
	}
	sync->client = NULL;
	sync->server = NULL;
	rte_comch_poll_run(sync->poll, NULL, 0);
	rte_comch_poll_destroy(sync->poll);
	free(sync);
}
