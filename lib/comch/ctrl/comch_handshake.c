/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The handshake of a connection:
 *
 *   client                                  server
 *   DIALLING  connect ------------------->  (accept)
 *   LINKING   <--- driver's handshake ---->  LINKING
 *   HELLO     HELLO {name, version, sizes} > HELLO
 *                                            FULL    (until a slot is free)
 *                                            PENDING (manual accept)
 *   UP        <------------- ACCEPT {sizes}  UP
 *   ENDING    <------ REJECT {reason}        CLOSING
 */

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_string_fns.h>

#include "sdk/comch_fork.h"
#include "sdk/comch_log.h"
#include "sdk/comch_quota.h"
#include "ctrl/comch_client.h"
#include "ctrl/comch_conn.h"
#include "ctrl/comch_handshake.h"
#include "ctrl/comch_retry.h"
#include "ctrl/comch_sched.h"
#include "ctrl/comch_order.h"
#include "ctrl/comch_server.h"

/* Interval of attempts while there is no server, or one of the two has no resources. */
#define REDIAL_MS 10
/*
 * The same while the server's backlog is full, of a poll that is awake. The next client that asks
 * gets a place that is freed, so one that asks seldom gets none beside one that asks all the time.
 * But an attempt makes and frees memory: those of all clients of a poll are this far apart.
 */
#define REDIAL_FULL_MS 1
#define REDIAL_FULL_APART_US 250

/* Any thread. */
static uint64_t
redial_full_at(struct comch_sched *sched)
{
	const uint64_t apart = rte_get_tsc_hz() / US_PER_S * REDIAL_FULL_APART_US;
	uint64_t at = RTE_MAX(comch_conn_in_ms(REDIAL_FULL_MS),
		comch_load_relaxed(&sched->redial_at) + apart);

	comch_store_relaxed(&sched->redial_at, at);
	return at;
}

static bool
may_retry_dial(const struct rte_comch_conn *conn, int err)
{
	const bool is_busy = err == -EAGAIN || err == -EBUSY;

	return (is_busy || err == -ENOENT) &&
		rte_rdtsc() < (is_busy ? conn->dial_deadline : conn->dial_until);
}

static void
dial_failed(struct rte_comch_conn *conn, int err, const char *why)
{
	const uint64_t times = comch_retry_failed(conn->client, err);
	const struct rte_comch_dev *dev = conn->dev;
	char in_a_row[COMCH_RETRY_TEXT];

	/* Log the directory: the usual cause is two sides with different ones. */
	COMCH_LOG_AT(times > 0 ? RTE_LOG_ERR : RTE_LOG_INFO,
		"client of %s: cannot connect on %s of %s%s%s: %s%s", conn->client->name,
		dev->reps[conn->rep].name, dev->info.name, dev->where != NULL ? ", below " : "",
		dev->where != NULL ? dev->where : "", why, comch_retry_text(times, in_a_row));
	conn->is_reported = true;
	comch_conn_end(conn, err, "cannot connect to %.40s: %s", conn->client->name, why);
}

void
comch_handshake_dial(struct rte_comch_conn *conn)
{
	const char *name = conn->client->name;
	struct rte_comch_link *link;
	int ret;

	ret = conn->ops->connect(conn->dev, conn->rep, name, &link);
	if (ret != 0) {
		if (may_retry_dial(conn, ret)) {
			conn->retry_at = ret == -EAGAIN ? redial_full_at(conn->sched) :
				comch_conn_in_ms(REDIAL_MS);
			return;
		}
		if (ret == -EAGAIN || ret == -EBUSY)
			ret = -ETIMEDOUT;
		dial_failed(conn, ret, ret == -ENOENT ? "no server listens on that name" :
			strerror(-ret));
		return;
	}
	comch_store_release(&conn->phase, COMCH_PHASE_LINKING); /* No model: only UP publishes */
	if (comch_conn_set_link(conn, link) != 0) {
		comch_conn_end(conn, -EMFILE, "no free file descriptor for the connection");
		return;
	}
	conn->deadline = comch_conn_in_ms(COMCH_HANDSHAKE_MS);
	comch_conn_poll_link(conn);
}

bool
comch_handshake_dial_over(struct rte_comch_conn *conn)
{
	int err = conn->link->error;

	if (conn->client == NULL || conn->phase != COMCH_PHASE_LINKING ||
			(err != -ENOENT && err != -EAGAIN))
		return false;
	if (!may_retry_dial(conn, err)) {
		dial_failed(conn, err == -EAGAIN ? -ETIMEDOUT : err, conn->link->text);
		return true;
	}
	comch_sched_del(conn);
	comch_poll_fd_del(conn->obj.poll, &conn->fd);
	conn->ops->link_close(conn->link);
	conn->link = NULL;
	comch_store_release(&conn->phase, COMCH_PHASE_DIALLING); /* No model: only UP publishes */
	conn->retry_at = comch_conn_in_ms(REDIAL_MS);
	comch_sched_wait(conn);
	return true;
}

/* Our flags in HELLO and ACCEPT. */
static uint32_t
wire_flags(const struct rte_comch_conn *conn)
{
	uint32_t flags = (conn->ctrl_only & COMCH_CTRL_ONLY_OURS) != 0 ?
		COMCH_WIRE_F_CTRL_ONLY : 0;

	return conn->order != NULL ? flags | COMCH_WIRE_F_CLOCKS : flags;
}

/* Apply the peer's flags of HELLO or ACCEPT. */
static void
take_wire_flags(struct rte_comch_conn *conn, uint32_t flags)
{
	if ((flags & COMCH_WIRE_F_CTRL_ONLY) != 0)
		conn->ctrl_only |= COMCH_CTRL_ONLY_PEER;
	conn->sends_stamps = conn->client != NULL && (flags & COMCH_WIRE_F_CLOCKS) != 0;
}

/* Version 1.2 adds tickets only: a driver without them speaks 1.1. */
static uint16_t
our_minor(const struct rte_comch_conn *conn)
{
	const struct rte_comch_data_ops *data = conn->ops->data;

	return data != NULL && data->has_tickets ? COMCH_WIRE_MINOR : COMCH_WIRE_MINOR - 1;
}

/* A client does not know the server's sizes yet, which may be smaller. */
static void
prepare(struct rte_comch_conn *conn, uint32_t nb_msgs, uint32_t len)
{
	if (conn->ops->link_prepare != NULL)
		conn->ops->link_prepare(conn->link, nb_msgs, len);
}

void
comch_handshake_link(struct rte_comch_conn *conn)
{
	struct comch_wire_frame f = {
		.type = COMCH_WIRE_HELLO,
		.magic = COMCH_WIRE_MAGIC,
		.major = COMCH_WIRE_MAJOR,
		.minor = our_minor(conn),
	};

	conn->ops->link_peer(conn->link, &conn->peer);
	comch_store_release(&conn->phase, COMCH_PHASE_HELLO); /* No model: only UP publishes */
	if (conn->client == NULL)
		return;
	prepare(conn, conn->unacked_size, conn->client->conf.max_msg_size);
	f.max_msg_size = conn->client->conf.max_msg_size;
	f.recv_queue = conn->recv_queue;
	f.flags = wire_flags(conn);
	rte_strscpy(f.text, conn->client->name, RTE_COMCH_NAME_SIZE);
	comch_tx_frame(conn, &f, NULL, 0);
}

static void
reject(struct rte_comch_conn *conn, int status, const char *fmt, ...)
	__rte_format_printf(3, 4);

static void
reject(struct rte_comch_conn *conn, int status, const char *fmt, ...)
{
	struct comch_wire_frame f = { .type = COMCH_WIRE_REJECT, .status = status };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f.text, sizeof(f.text), fmt, ap);
	va_end(ap);
	comch_count(&conn->server->stats.refused, 1);
	comch_tx_frame(conn, &f, NULL, 0);
	comch_conn_enter_closing(conn, status, f.text);
}

static bool
is_ordered(const struct rte_comch_server *server)
{
	return (server->conf.flags & RTE_COMCH_SERVER_F_ORDERED) != 0;
}

static void
accept_client(struct rte_comch_conn *conn)
{
	struct comch_wire_frame f = {
		.type = COMCH_WIRE_ACCEPT,
		.major = COMCH_WIRE_MAJOR,
		.minor = our_minor(conn),
		.max_msg_size = conn->max_msg_size,
		.recv_queue = conn->recv_queue,
	};

	if (is_ordered(conn->server) && comch_order_join(conn) != 0) {
		reject(conn, -ENOMEM, "server has no memory for an ordered connection");
		return;
	}
	f.flags = wire_flags(conn);
	prepare(conn, RTE_MIN(conn->unacked_size, conn->tx_credits), conn->max_msg_size);
	comch_tx_frame(conn, &f, NULL, 0);
	if (conn->phase < COMCH_PHASE_CLOSING)
		comch_conn_established(conn);
}

/*
 * Check a HELLO frame; reject the client if the server does not support it. The hello of a
 * driver's link is refused by the driver: shm_link.c, mlx5_dial.c, ring_driver.c.
 */
static bool
hello_is_valid(struct rte_comch_conn *conn, const struct comch_wire_frame *f)
{
	const struct rte_comch_server *server = conn->server;

	if (f->magic != COMCH_WIRE_MAGIC || f->major != COMCH_WIRE_MAJOR) {
		reject(conn, -EPROTO, "version %u.%u is unsupported; server has %u.%u", f->major,
			f->minor, COMCH_WIRE_MAJOR, our_minor(conn));
	} else if (strcmp(f->text, server->name) != 0) {
		reject(conn, -ENOENT, "server name does not match");
	} else if (f->max_msg_size == 0 || f->recv_queue == 0) {
		reject(conn, -EPROTO, "invalid max_msg_size or recv_queue: 0");
	} else if (is_ordered(server) && f->minor < 1) {
		reject(conn, -ECONNREFUSED,
			"version %u.%u has no timestamps, which this server requires",
			f->major, f->minor);
	} else if ((server->conf.flags & RTE_COMCH_SERVER_F_EXACT) != 0 &&
			f->max_msg_size != server->conf.max_msg_size) {
		reject(conn, -ECONNREFUSED, "message size %u differs from the server's %u",
			f->max_msg_size, server->conf.max_msg_size);
	} else {
		return true;
	}
	return false;
}

static enum comch_holder_answer
take_place(struct rte_comch_conn *conn)
{
	struct rte_comch_server *server = conn->server;

	return comch_holder_admit(&server->holders, conn, server->conf.max_clients,
		server->conf.reserve);
}

static void
reject_full(struct rte_comch_conn *conn, enum comch_holder_answer why)
{
	const struct rte_comch_server_conf *conf = &conn->server->conf;

	switch (why) {
	case COMCH_HOLDER_OTHER_PROCESS:
		reject(conn, -ECONNREFUSED, "server keeps its last %u places for other processes",
			conf->reserve);
		return;
	case COMCH_HOLDER_OTHER_USER:
		reject(conn, -ECONNREFUSED, "server keeps its last %u places for other users",
			conf->reserve / 2);
		return;
	case COMCH_HOLDER_NO_FD:
		reject(conn, -ECONNREFUSED, "server keeps the descriptors that are left, of %u, "
			"for other processes", comch_quota_max(COMCH_QUOTA_FDS));
		return;
	default:
		reject(conn, -ECONNREFUSED, "server is full: limit of %u clients",
			conf->max_clients);
	}
}

/* The HELLO is valid and the client has a place: accept, or ask the application. */
static void
admitted(struct rte_comch_conn *conn)
{
	struct rte_comch_server *server = conn->server;

	if (conn->link->state == RTE_COMCH_LINK_DOWN)
		comch_server_conn_ending(conn);
	if ((server->conf.flags & RTE_COMCH_SERVER_F_MANUAL_ACCEPT) == 0) {
		/* No model: only UP publishes. */
		comch_store_release(&conn->phase, COMCH_PHASE_PENDING);
		comch_count(&server->nb_pending, 1);
		accept_client(conn);
		if (conn->phase == COMCH_PHASE_UP)
			comch_count(&server->nb_pending, -1);
		return;
	}
	comch_sched_wait_end(conn);
	comch_store_release(&conn->phase, COMCH_PHASE_PENDING); /* No model: only UP publishes */
	comch_count(&server->nb_pending, 1);
	conn->connect_event_due = true;
	comch_poll_note(&conn->obj);
}

static void
agree_size(struct rte_comch_conn *conn, uint32_t max_msg_size)
{
	conn->max_msg_size = max_msg_size;
	comch_poll_arena_want(conn->obj.poll, comch_rx_size(conn));
}

void
comch_handshake_hello(struct rte_comch_conn *conn, const struct comch_wire_frame *f)
{
	struct rte_comch_server *server = conn->server;

	if (!hello_is_valid(conn, f))
		return;
	agree_size(conn, RTE_MIN(f->max_msg_size, server->conf.max_msg_size));
	conn->tx_credits = f->recv_queue;
	take_wire_flags(conn, f->flags);
	if (take_place(conn) == COMCH_HOLDER_YES) {
		admitted(conn);
		return;
	}
	/*
	 * Clients may have disconnected unnoticed: check all links before rejecting.
	 * No model: only UP publishes.
	 */
	comch_store_release(&conn->phase, COMCH_PHASE_FULL);
	conn->deadline = comch_conn_in_ms(COMCH_SLOT_WAIT_MS);
}

void
comch_handshake_retry_admit(struct rte_comch_conn *conn, bool all_seen)
{
	const struct rte_comch_server *server = conn->server;
	const enum comch_holder_answer answer = take_place(conn);

	if (answer == COMCH_HOLDER_YES)
		admitted(conn);
	else if ((all_seen && server->nb_ending == 0) || rte_rdtsc() > conn->deadline)
		reject_full(conn, answer);
}

void
comch_handshake_give_way(struct rte_comch_conn *conn)
{
	if (conn->phase == COMCH_PHASE_FULL) {
		/* Retry now: the wait for a place ends. */
		conn->deadline = 0;
		comch_handshake_retry_admit(conn, true);
	}
	if (!conn->is_half_open)
		return;
	if (conn->phase < COMCH_PHASE_CLOSING)
		comch_count(&conn->server->stats.refused, 1);
	comch_conn_end(conn, -ECONNREFUSED, "replaced by a newer client: %u clients are in the "
		"handshake", conn->server->holders.nb_half_open);
}

void
comch_handshake_accept(struct rte_comch_conn *conn, const struct comch_wire_frame *f)
{
	if (f->major != COMCH_WIRE_MAJOR || f->recv_queue == 0 || f->max_msg_size == 0 ||
			f->max_msg_size > conn->client->conf.max_msg_size) {
		comch_conn_end(conn, -EPROTO, "server's ACCEPT has invalid sizes");
		return;
	}
	agree_size(conn, f->max_msg_size);
	conn->tx_credits = f->recv_queue;
	take_wire_flags(conn, f->flags);
	comch_conn_established(conn);
	comch_client_up(conn->client);
}

void
comch_handshake_reject(struct rte_comch_conn *conn, const struct comch_wire_frame *f)
{
	comch_conn_end(conn, f->status != 0 ? f->status : -ECONNREFUSED, "%s",
		f->text[0] != '\0' ? f->text : "rejected");
}

void
comch_handshake_timeout(struct rte_comch_conn *conn)
{
	comch_conn_end(conn, -ETIMEDOUT, "peer did not answer within %d s",
		COMCH_HANDSHAKE_MS / 1000);
}

int
rte_comch_conn_accept(struct rte_comch_conn *conn)
{
	if (conn == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	if (conn->phase >= COMCH_PHASE_ENDING && conn->server != NULL)
		return -ECONNRESET;
	if (conn->phase != COMCH_PHASE_PENDING || !conn->announced) {
		COMCH_LOG(ERR, "connection %u: accept: no CONNECT_REQUEST is pending", conn->id);
		return -EBADFD;
	}
	accept_client(conn);
	if (conn->phase != COMCH_PHASE_UP)
		return -ECONNRESET;
	comch_count(&conn->server->nb_pending, -1);
	return 0;
}

int
rte_comch_conn_reject(struct rte_comch_conn *conn, const char *reason)
{
	if (conn == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	if (conn->phase != COMCH_PHASE_PENDING || !conn->announced) {
		COMCH_LOG(ERR, "connection %u: reject: no CONNECT_REQUEST is pending", conn->id);
		return -EBADFD;
	}
	conn->announced = false;
	reject(conn, -ECONNREFUSED, "%s", reason != NULL ? reason : "rejected");
	return 0;
}
