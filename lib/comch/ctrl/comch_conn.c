/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A connection: its creation, and its service function, which the poll calls.
 * Sending is in comch_tx.c, receiving in comch_rx.c, the handshake in
 * comch_handshake.c, the end in comch_conn_end.c.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_string_fns.h>

#include "sdk/comch_compat.h"
#include "base/comch_trace.h"
#include "ctrl/comch_client.h"
#include "ctrl/comch_conn.h"
#include "ctrl/comch_dev.h"
#include "ctrl/comch_fast_path_ops.h"
#include "ctrl/comch_handshake.h"
#include "ctrl/comch_sched.h"
#include "ctrl/comch_order.h"
#include "ctrl/comch_server.h"
#include "ctrl/comch_unacked.h"

/* Interval of attempts to send to a peer that does not read, ms. */
#define TX_RETRY_MS 1

static uint32_t next_conn_id = 1;

COMCH_REGISTRY_TYPE(comch_conn_registry, NULL)

static bool conn_service(struct comch_obj *obj, struct comch_run *run);

static void
conn_free(struct comch_obj *obj)
{
	struct rte_comch_conn *conn = COMCH_OBJ_OF(rte_comch_conn, obj);

	pthread_mutex_destroy(&conn->lock);
	free(conn->unacked);
	free(conn->order);
	free(conn->reason);
	free(conn);
}

struct rte_comch_conn *
comch_conn_create(struct rte_comch_dev *dev, uint16_t rep, struct rte_comch_poll *poll,
		uint32_t send_queue)
{
	struct comch_sched *sched = comch_sched_get(poll);
	uint32_t size = rte_align32pow2(send_queue);
	struct rte_comch_conn *conn;

	conn = sched != NULL ? calloc(1, sizeof(*conn)) : NULL;
	if (conn == NULL)
		return NULL;
	conn->unacked = calloc(size, sizeof(*conn->unacked));
	if (conn->unacked == NULL) {
		free(conn);
		return NULL;
	}
	comch_obj_init(&conn->obj, RTE_COMCH_OBJ_CONN, conn, poll, 0);
	conn->obj.service = conn_service;
	conn->obj.free = conn_free;
	conn->sched = sched;
	conn->unacked_mask = size - 1;
	conn->unacked_size = send_queue;
	conn->dev = comch_dev_get(dev->id);
	conn->ops = dev->ops;
	conn->rep = rep;
	conn->fd.fd = -1;
	conn->max_msg_size = COMCH_WIRE_MAX_FRAME;
	conn->id = __atomic_fetch_add(&next_conn_id, 1, __ATOMIC_RELAXED);
	conn->peer = (struct rte_comch_peer_id){ -1, -1, -1 };
	STAILQ_INIT(&conn->tx_wait);
	pthread_mutex_init(&conn->lock, NULL);
	comch_poll_attach(poll);
	comch_conn_check_wake(conn, &conn->obj);
	return conn;
}

static bool
conn_link_news(void *ctx, bool can_wake)
{
	struct rte_comch_conn *conn = ctx;

	/* Relaxed: the note below orders it. */
	comch_store_relaxed(&conn->link_news, 1);
	comch_poll_note_quietly(&conn->obj);
	return can_wake ? comch_poll_wake(conn->obj.poll) : comch_poll_sleeps(conn->obj.poll);
}

/* A step of a driver's handshake maps memory, and a thousand handshakes may be in progress. */
static bool
has_time_for_link(const struct rte_comch_conn *conn)
{
	bool is_slow = conn->phase == COMCH_PHASE_LINKING ||
		(conn->link != NULL && conn->link->needs_setup);

	return !is_slow || comch_poll_has_time(conn->obj.poll, COMCH_POLL_SETUP);
}

static void
conn_fd_ready(struct comch_fd *cfd)
{
	struct rte_comch_conn *conn = container_of(cfd, struct rte_comch_conn, fd);

	if (has_time_for_link(conn)) {
		if (conn->link != NULL)
			conn->link->may_leave = conn->obj.poll->sleeps && !cfd->hung_up;
		comch_conn_poll_link(conn);
		return;
	}
	comch_store_relaxed(&conn->link_news, 1);
	comch_poll_note(&conn->obj);
}

int
comch_conn_set_link(struct rte_comch_conn *conn, struct rte_comch_link *link)
{
	int fd, ret = 0;

	conn->link = link;
	link->conn_id = conn->id;
	link->ctx = conn;
	/* After ctx: pairs with comch_link_tell(). Model: publish.pml, publish. */
	comch_store_release(&link->news, conn_link_news);
	comch_sched_add(conn);
	fd = conn->ops->link_fd(link);
	if (fd < 0)
		return 0;
	conn->fd = (struct comch_fd){
		.fd = fd, .classes = RTE_COMCH_POLL_ANY, .ready = conn_fd_ready,
	};
	ret = comch_poll_fd_add(conn->obj.poll, &conn->fd);
	if (ret != 0)
		conn->fd.fd = -1;
	return ret;
}

uint32_t
comch_conn_nb_queues(struct rte_comch_conn *conn)
{
	uint32_t n;

	pthread_mutex_lock(&conn->lock);
	n = conn->nb_queues;
	pthread_mutex_unlock(&conn->lock);
	return n;
}

/* The handshake is complete: announce the connection to the application. */
void
comch_conn_established(struct rte_comch_conn *conn)
{
	comch_sched_wait_end(conn);
	conn->connect_event_due = true;
	/*
	 * Release: pairs with the acquire in comch_conn_is_up(); publishes the agreed limits.
	 * Model: publish.pml, publish.
	 */
	comch_store_release(&conn->phase, COMCH_PHASE_UP);
	/* Off the list of those that are not established. */
	if (conn->order == NULL)
		comch_sched_active(conn);
	comch_trace_conn_up(conn->id, comch_conn_name(conn), conn->max_msg_size);
	if (conn->server != NULL)
		comch_count(&conn->server->stats.accepted, 1);
	comch_poll_note(&conn->obj);
}

const char *
comch_conn_name(const struct rte_comch_conn *conn)
{
	return conn->server != NULL ? conn->server->name : conn->client->name;
}

void
comch_conn_fault(struct rte_comch_conn *conn, int status, const char *text)
{
	uint32_t none = 0;

	if (!__atomic_compare_exchange_n(&conn->faulted, &none, 1, false, __ATOMIC_RELAXED,
			__ATOMIC_RELAXED))
		return;
	conn->fault_status = status;
	conn->fault_text = text;
	/* Release: pairs with the acquire in conn_service(). Model: publish.pml, publish. */
	comch_store_release(&conn->faulted, 2);
	comch_poll_note(&conn->obj);
}

void
comch_conn_poll_link(struct rte_comch_conn *conn)
{
	if (conn->link == NULL || conn->phase >= COMCH_PHASE_ENDING)
		return;
	conn->ops->link_poll(conn->link);
	conn->link->may_leave = false;
	comch_sched_unread(conn, conn->link->left_unread);
	if (conn->phase == COMCH_PHASE_LINKING && conn->link->state == RTE_COMCH_LINK_UP)
		comch_handshake_link(conn);
	if (conn->link->state == RTE_COMCH_LINK_DOWN) {
		comch_server_conn_ending(conn);
		comch_poll_note(&conn->obj);
	}
}

/* At intervals: handshakes in progress need the time. */
static void
retry_link(struct rte_comch_conn *conn, uint64_t now)
{
	if (now < conn->retry_at || !has_time_for_link(conn))
		return;
	conn->retry_at = comch_conn_in_ms(TX_RETRY_MS);
	comch_conn_poll_link(conn);
}

/* Is the connection in sched->waiting even with no frame queued? */
static bool
phase_waits(const struct rte_comch_conn *conn)
{
	return conn->phase < COMCH_PHASE_PENDING || conn->phase == COMCH_PHASE_DRAINING ||
		conn->phase == COMCH_PHASE_CLOSING;
}

void
comch_conn_wait_step(struct rte_comch_conn *conn, uint64_t now, bool all_seen)
{
	bool late = now > conn->deadline;

	switch (conn->phase) {
	case COMCH_PHASE_DIALLING:
		if (now >= conn->retry_at)
			comch_handshake_dial(conn);
		return;
	case COMCH_PHASE_FULL:
		/* Do not retry in each run: a thousand clients may wait for a slot. */
		if (now < conn->retry_at && !(all_seen && conn->server->nb_ending == 0))
			return;
		conn->retry_at = comch_conn_in_ms(TX_RETRY_MS);
		comch_handshake_retry_admit(conn, all_seen);
		return;
	case COMCH_PHASE_LINKING:
	case COMCH_PHASE_HELLO:
		if (late) {
			comch_handshake_timeout(conn);
			return;
		}
		if (conn->phase == COMCH_PHASE_LINKING && conn->link->try_again)
			retry_link(conn, now);
		break;
	case COMCH_PHASE_DRAINING:
	case COMCH_PHASE_CLOSING:
		comch_poll_note(&conn->obj);
		return;
	default:
		break;
	}
	if (!STAILQ_EMPTY(&conn->tx_wait) && now >= conn->retry_at)
		comch_poll_note(&conn->obj);
}

/* Service */

/* Send queued frames; if the link is still full, retry after TX_RETRY_MS. */
static void
conn_retry(struct rte_comch_conn *conn)
{
	if (!comch_tx_flush(conn)) {
		conn->retry_at = comch_conn_in_ms(TX_RETRY_MS);
		comch_sched_wait(conn);
	} else if (!phase_waits(conn)) {
		comch_sched_wait_end(conn);
	}
}

/* End the connection if the peer has disconnected and all its frames are read. */
static void
conn_check_down(struct rte_comch_conn *conn)
{
	if (conn->link == NULL || conn->link->state != RTE_COMCH_LINK_DOWN ||
			conn->phase >= COMCH_PHASE_CLOSING || conn->connect_event_due ||
			conn->rx_deferred ||
			(conn->order != NULL && conn->order->is_held) ||
			conn->ops->frame_pending(conn->link) || comch_handshake_dial_over(conn))
		return;
	comch_conn_link_lost(conn);
}

static void
conn_report_connected(struct rte_comch_conn *conn, struct comch_run *run)
{
	bool pending = conn->phase == COMCH_PHASE_PENDING;

	comch_run_add(run, pending ? RTE_COMCH_EVENT_CONNECT_REQUEST : RTE_COMCH_EVENT_CONNECTED,
		&conn->obj, conn);
	conn->connect_event_due = false;
	conn->announced = true;
}

/* Service of an established connection. True: call again. */
static bool
conn_serve_up(struct rte_comch_conn *conn, struct comch_run *run)
{
	bool more = !comch_unacked_report(conn, run);

	/* Pairs with comch_fast_path_get(). Model: publish.pml, find. */
	if (comch_conn_is_up(conn) && comch_load_acquire(&conn->fast) != NULL)
		more |= comch_fast_path_ops.step(conn, run);
	/* Read in its turn, later in this run: not here, ahead of all others. */
	if (conn->link != NULL && conn->order == NULL && comch_rx_allowed(conn) &&
			conn->ops->frame_pending(conn->link))
		comch_sched_active(conn);
	conn_check_down(conn);
	if (conn->phase == COMCH_PHASE_DRAINING)
		comch_conn_drain(conn);
	return more;
}

/* Return the last events, then wind up the fast path. True: call again. */
static bool
conn_serve_end(struct rte_comch_conn *conn, struct comch_run *run)
{
	bool has_fast;

	if (conn->phase == COMCH_PHASE_ENDING) {
		if (!comch_conn_report_end(conn, run))
			return true;
		/* No model: only UP publishes. */
		comch_store_release(&conn->phase, COMCH_PHASE_ENDED);
	}
	/* Pairs with comch_fast_path_get(). Model: publish.pml, find. */
	has_fast = comch_load_acquire(&conn->fast) != NULL;
	if (has_fast)
		comch_fast_path_ops.wind_up(conn);
	if (comch_conn_nb_queues(conn) != 0 || comch_obj_is_dead(&conn->obj))
		return false;
	/* Unmapping takes time, and the peer decides how many regions there are. */
	if (!comch_poll_has_time(conn->obj.poll, COMCH_POLL_FREE) ||
			(has_fast && !comch_poll_allow_frees(conn->obj.poll,
			comch_fast_path_ops.nb_regions(conn))))
		return true;
	comch_conn_free(conn);
	return false;
}

static bool
conn_service(struct comch_obj *obj, struct comch_run *run)
{
	struct rte_comch_conn *conn = COMCH_OBJ_OF(rte_comch_conn, obj);
	bool more = false;

	if (comch_obj_is_dead(obj))
		return false;
	if (comch_load_relaxed(&conn->link_news) != 0) {
		if (!has_time_for_link(conn))
			return true;
		comch_store_relaxed(&conn->link_news, 0);
		comch_conn_poll_link(conn);
	}
	/* Pairs with comch_conn_fault(). Model: publish.pml, find. */
	if (comch_load_acquire(&conn->faulted) == 2)
		comch_conn_end(conn, conn->fault_status, "%s", conn->fault_text);
	if (conn->phase <= COMCH_PHASE_CLOSING && !STAILQ_EMPTY(&conn->tx_wait))
		conn_retry(conn);
	if (conn->connect_event_due) {
		if (comch_run_full(run))
			return true;
		conn_report_connected(conn, run);
	}
	if (conn->phase <= COMCH_PHASE_DRAINING)
		more |= conn_serve_up(conn, run);
	if (conn->phase == COMCH_PHASE_CLOSING)
		comch_conn_close_step(conn);
	if (conn->phase >= COMCH_PHASE_ENDING)
		return conn_serve_end(conn, run);
	return more;
}

/* For the application */

int
rte_comch_conn_info_get(const struct rte_comch_conn *conn, struct rte_comch_conn_info *info)
{
	uint32_t phase;

	if (conn == NULL || info == NULL)
		return -EINVAL;
	/* Pairs with comch_conn_established(). Model: publish.pml, find. */
	phase = comch_load_acquire(&conn->phase);
	memset(info, 0, sizeof(*info));
	info->id = conn->id;
	info->dev_id = conn->dev->id;
	info->rep = conn->rep;
	info->established = phase == COMCH_PHASE_UP;
	info->recv_queue = conn->recv_queue;
	/* The acquire above pairs with the release of COMCH_PHASE_UP: the sizes are set. */
	info->peer_pid = info->peer_uid = info->peer_gid = -1;
	if (phase >= COMCH_PHASE_HELLO) {
		info->peer_pid = conn->peer.pid;
		info->peer_uid = conn->peer.uid;
		info->peer_gid = conn->peer.gid;
	}
	if (phase >= COMCH_PHASE_PENDING) {
		info->max_msg_size = conn->max_msg_size;
		info->send_credits = conn->tx_credits;
		info->ctrl_only = conn->ctrl_only != 0;
	}
	rte_strscpy(info->name, comch_conn_name(conn), sizeof(info->name));
	if (phase >= COMCH_PHASE_CLOSING)
		rte_strscpy(info->reason, comch_conn_reason(conn), sizeof(info->reason));
	return 0;
}

void
rte_comch_conn_user_data_set(struct rte_comch_conn *conn, uint64_t user_data)
{
	if (conn != NULL)
		comch_store_relaxed(&conn->obj.user_data, user_data);
}

uint64_t
rte_comch_conn_user_data_get(const struct rte_comch_conn *conn)
{
	return conn != NULL ? comch_load_relaxed(&conn->obj.user_data) : 0;
}

struct rte_comch_server *
rte_comch_conn_server(const struct rte_comch_conn *conn)
{
	return conn != NULL ? conn->server : NULL;
}

struct rte_comch_client *
rte_comch_conn_client(const struct rte_comch_conn *conn)
{
	return conn != NULL ? conn->client : NULL;
}
