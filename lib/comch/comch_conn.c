/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* A connection: messages and credits; its end is in comch_conn_end.c. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "comch_clock.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_fork.h"
#include "sdk/comch_foreign.h"
#include "sdk/comch_log.h"
#include "comch_private.h"
#include "comch_trace.h"

/* When a peer that does not read is tried again, ms. */
#define TX_RETRY_MS 1

static uint32_t next_conn_id = 1;

static bool conn_service(struct comch_obj *obj, struct comch_run *run);

static void
conn_free(struct comch_obj *obj)
{
	struct rte_comch_conn *conn = COMCH_OBJ_OF(rte_comch_conn, obj);

	pthread_mutex_destroy(&conn->lock);
	free(conn->unacked);
	free(conn->order);
	free(conn);
}

struct rte_comch_conn *
comch_conn_create(struct rte_comch_dev *dev, uint16_t rep, struct rte_comch_poll *poll,
		uint32_t send_queue)
{
	uint32_t size = rte_align32pow2(send_queue);
	struct rte_comch_conn *conn;

	conn = calloc(1, sizeof(*conn));
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
	TAILQ_INIT(&conn->consumers);
	TAILQ_INIT(&conn->producers);
	pthread_mutex_init(&conn->lock, NULL);
	comch_poll_attach(poll);
	return conn;
}

static bool
conn_link_news(void *ctx, bool can_wake)
{
	struct rte_comch_conn *conn = ctx;

	/* Relaxed: the note's order is enough. */
	comch_store_relaxed(&conn->link_news, 1);
	comch_poll_note_quietly(&conn->obj);
	return can_wake ? comch_poll_wake(conn->obj.poll) : comch_poll_sleeps(conn->obj.poll);
}

int
comch_conn_set_link(struct rte_comch_conn *conn, struct rte_comch_link *link)
{
	struct rte_comch_poll *poll = conn->obj.poll;
	int fd, ret = 0;

	conn->link = link;
	link->conn_id = conn->id;
	link->news = conn_link_news;
	link->ctx = conn;
	conn->is_hot = true;
	conn->last_active = poll->run_no;
	TAILQ_INSERT_TAIL(&poll->hot, conn, link_next);
	fd = conn->ops->link_fd(link);
	if (fd < 0)
		return 0;
	conn->fd = (struct comch_fd){
		.type = COMCH_FD_LINK, .fd = fd, .obj = &conn->obj,
		.classes = RTE_COMCH_POLL_ANY,
	};
	ret = comch_poll_fd_add(poll, &conn->fd);
	if (ret != 0)
		conn->fd.fd = -1;
	return ret;
}

void
comch_conn_wait_begin(struct rte_comch_conn *conn, uint32_t ms)
{
	conn->deadline = rte_rdtsc() + rte_get_tsc_hz() / 1000 * ms;
	if (conn->is_waiting)
		return;
	conn->is_waiting = true;
	TAILQ_INSERT_TAIL(&conn->obj.poll->waiting, conn, waiting_next);
	conn->obj.poll->next_look = 0;
}

void
comch_conn_wait_end(struct rte_comch_conn *conn)
{
	if (!conn->is_waiting)
		return;
	conn->is_waiting = false;
	TAILQ_REMOVE(&conn->obj.poll->waiting, conn, waiting_next);
}

uint32_t
comch_conn_nb_queues(struct rte_comch_conn *conn)
{
	uint32_t n;

	pthread_mutex_lock(&conn->lock);
	n = conn->nb_consumers + conn->nb_producers;
	pthread_mutex_unlock(&conn->lock);
	return n;
}

/* The handshake is over: the connection is the application's. */
void
comch_conn_established(struct rte_comch_conn *conn)
{
	comch_conn_wait_end(conn);
	if (conn->ctrl_only == 0 && conn->ops->data->open(conn->link) != 0) {
		comch_conn_end(conn, -ENOMEM, "no memory for the fast path");
		return;
	}
	conn->send_connected = true;
	conn->hold = true;
	/* Release: another thread that finds it up finds its limits set. */
	comch_store_release(&conn->phase, COMCH_PHASE_UP);
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

/* Frames */

static inline int
conn_frame_tx(struct rte_comch_conn *conn, const struct rte_comch_frame *frame)
{
	int ret = conn->ops->frame_tx(conn->link, frame);

	comch_store_relaxed(&conn->stats.wakes, conn->link->wakes);
	/* The driver saw the end first: the connection has to follow. */
	if (unlikely(ret == -ENOTCONN))
		comch_poll_note(&conn->obj);
	return ret;
}

static int
conn_tx_now(struct rte_comch_conn *conn, const void *buf, uint32_t len, const int *fds,
		uint32_t nb_fds)
{
	struct rte_comch_frame frame = {
		.hdr = buf, .hdr_len = len, .nb_fds = nb_fds,
		.is_credit = comch_wire_type_of(buf) == COMCH_WIRE_CREDIT,
	};
	uint32_t i;

	for (i = 0; i < nb_fds; i++)
		frame.fds[i] = fds[i];
	return conn_frame_tx(conn, &frame);
}

/* Keep a frame until there is room; its descriptors are duplicated. */
static int
conn_tx_later(struct rte_comch_conn *conn, const void *buf, uint32_t len, const int *fds,
		uint32_t nb_fds)
{
	struct comch_tx_wait *w = calloc(1, sizeof(*w));
	uint32_t i;

	if (w == NULL)
		return -ENOMEM;
	for (i = 0; i < nb_fds; i++) {
		w->fds[i] = dup(fds[i]);
		if (w->fds[i] < 0)
			goto err_close;
	}
	w->nb_fds = nb_fds;
	w->len = len;
	memcpy(w->buf, buf, len);
	STAILQ_INSERT_TAIL(&conn->tx_wait, w, next);
	conn->nb_tx_wait++;
	comch_poll_note(&conn->obj);
	return 0;

err_close:
	while (i > 0)
		close(w->fds[--i]);
	free(w);
	return -EMFILE;
}

/* A frame says what is done with: before rx_told is that. */
static inline void
conn_telling(struct rte_comch_conn *conn)
{
	if (unlikely(conn->order != NULL))
		comch_order_told(conn);
}

void
comch_conn_tx(struct rte_comch_conn *conn, const struct comch_wire_frame *frame,
		const int *fds, uint32_t nb_fds)
{
	uint8_t buf[COMCH_WIRE_MAX_FRAME] __rte_aligned(8);
	struct comch_wire_frame f = *frame;
	uint32_t len;
	int ret = -EAGAIN;

	conn_telling(conn);
	f.acked = conn->rx_done;
	conn->rx_told = conn->rx_done;
	len = comch_wire_build(&f, buf);
	if (STAILQ_EMPTY(&conn->tx_wait))
		ret = conn_tx_now(conn, buf, len, fds, nb_fds);
	if (ret == -EAGAIN)
		ret = conn_tx_later(conn, buf, len, fds, nb_fds);
	if (ret != 0 && ret != -ENOTCONN)
		comch_conn_fault(conn, ret, "no descriptor or memory to send a frame");
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
	/* Release: pairs with the acquire in conn_service(). */
	comch_store_release(&conn->faulted, 2);
	comch_poll_note(&conn->obj);
}

static void
tx_wait_free(struct rte_comch_conn *conn, struct comch_tx_wait *w)
{
	uint32_t i;

	STAILQ_REMOVE_HEAD(&conn->tx_wait, next);
	conn->nb_tx_wait--;
	for (i = 0; i < w->nb_fds; i++)
		close(w->fds[i]);
	free(w);
}

void
comch_conn_tx_forget(struct rte_comch_conn *conn)
{
	while (!STAILQ_EMPTY(&conn->tx_wait))
		tx_wait_free(conn, STAILQ_FIRST(&conn->tx_wait));
}

/* Send what waited. True: nothing waits any more. */
static bool
conn_flush(struct rte_comch_conn *conn)
{
	struct comch_tx_wait *w;

	while ((w = STAILQ_FIRST(&conn->tx_wait)) != NULL) {
		if (conn_tx_now(conn, w->buf, w->len, w->fds, w->nb_fds) == -EAGAIN)
			return false;
		tx_wait_free(conn, w);
	}
	return true;
}

void
comch_conn_credit(struct rte_comch_conn *conn)
{
	static const struct comch_wire_frame credit = { .type = COMCH_WIRE_CREDIT };

	if (conn->rx_told != conn->rx_done && comch_conn_is_up(conn))
		comch_conn_tx(conn, &credit, NULL, 0);
}

/* Messages out */

static int
msg_check(const struct rte_comch_conn *conn, const struct rte_comch_msg *msg)
{
	if (unlikely(!comch_conn_is_up(conn)))
		return -EBADFD;
	if (unlikely(msg->len > conn->max_msg_size))
		return -EMSGSIZE;
	if (unlikely((msg->len > 0 && msg->data == NULL) ||
			(msg->flags & ~RTE_COMCH_MSG_F_SILENT) != 0))
		return -EINVAL;
	return 0;
}

/* Pass entries that have their answer. */
static inline void
unacked_skip(struct rte_comch_conn *conn)
{
	while (conn->unacked_ready != conn->unacked_tail &&
			conn->unacked[conn->unacked_ready & conn->unacked_mask].status != 0)
		conn->unacked_ready++;
}

static inline void
unacked_put(struct rte_comch_conn *conn, const struct rte_comch_msg *msg, int status)
{
	struct comch_unacked *u = &conn->unacked[conn->unacked_tail++ & conn->unacked_mask];

	u->cookie = msg->cookie;
	u->status = status;
	u->silent = (msg->flags & RTE_COMCH_MSG_F_SILENT) != 0;
	if (unlikely(status != 0)) {
		comch_count(&conn->stats.tx_errors, 1);
		unacked_skip(conn);
		comch_poll_note(&conn->obj);
	}
}

/* The connection that this thread sent its last message with a stamp on. */
static __thread uint32_t last_stamped __attribute__((tls_model("initial-exec")));

/* The link keeps the order within a burst: one stamp for all of it. */
static uint64_t
burst_stamp(const struct rte_comch_conn *conn)
{
	if (unlikely(last_stamped != conn->id)) {
		comch_clock_next_link();
		last_stamped = conn->id;
	}
	return comch_clock_after();
}

/* *stamp: the clock of this burst, or 0 before its first message that has one. */
static inline int
msg_tx(struct rte_comch_conn *conn, const struct rte_comch_msg *msg, uint64_t *stamp)
{
	uint64_t hdr[(COMCH_WIRE_HDR_SIZE + COMCH_WIRE_CLOCK_SIZE) / sizeof(uint64_t)];
	struct rte_comch_frame frame = {
		.hdr = hdr, .hdr_len = COMCH_WIRE_HDR_SIZE,
		.payload = msg->data, .payload_len = msg->len,
	};
	int ret;

	if (unlikely(!STAILQ_EMPTY(&conn->tx_wait)) ||
			conn->tx_seq - conn->tx_acked >= conn->tx_credits)
		return -EAGAIN;
	conn_telling(conn);
	if (unlikely(conn->says_clocks)) {
		if (*stamp == 0)
			*stamp = burst_stamp(conn);
		frame.hdr_len = sizeof(hdr);
		comch_wire_msg_at_hdr(hdr, msg->len, conn->rx_done, *stamp);
	} else {
		comch_wire_msg_hdr(hdr, msg->len, conn->rx_done);
	}
	ret = conn_frame_tx(conn, &frame);
	if (ret != 0)
		return ret;
	conn->rx_told = conn->rx_done;
	comch_trace_msg_tx(conn->id, msg->len, conn->tx_seq);
	comch_count(&conn->tx_seq, 1);
	comch_count(&conn->stats.tx_msgs, 1);
	comch_count(&conn->stats.tx_bytes, msg->len);
	return 0;
}

uint16_t
rte_comch_conn_send_burst(struct rte_comch_conn *conn, const struct rte_comch_msg *msgs,
		uint16_t n)
{
	uint64_t stamp = 0;
	uint16_t i;
	int ret;

	/* One that ends takes no more: its last event would never find its turn. */
	if (unlikely(conn == NULL || msgs == NULL || conn->phase >= COMCH_PHASE_ENDING ||
			conn->draining || comch_forked))
		return 0;
	for (i = 0; i < n; i++) {
		if (conn->unacked_tail - conn->unacked_head >= conn->unacked_size)
			break;
		ret = msg_check(conn, &msgs[i]);
		if (likely(ret == 0))
			ret = msg_tx(conn, &msgs[i], &stamp);
		/*
		 * Nor one whose link is down: failures, sent again and again,
		 * would leave no room for what the peer sent last, nor for the end.
		 */
		if (ret == -EAGAIN || ret == -ENOTCONN)
			break;
		unacked_put(conn, &msgs[i], ret);
	}
	if (unlikely(stamp != 0))
		comch_clock_commit(stamp);
	if (i < n)
		comch_count(&conn->stats.tx_full, 1);
	return i;
}

/* The peer's application was given so many of ours. */
static int
conn_on_acked(struct rte_comch_conn *conn, uint32_t acked)
{
	uint32_t n = acked - conn->tx_acked;

	if (n == 0)
		return 0;
	if (n > conn->tx_seq - conn->tx_acked)
		return -EPROTO;
	comch_store_relaxed(&conn->tx_acked, acked);
	for (; n > 0; n--) {
		conn->unacked_ready++;
		unacked_skip(conn);
	}
	return 0;
}

/* Return SENT events. True: none is left. */
static bool
conn_report_sent(struct rte_comch_conn *conn, struct comch_run *run)
{
	struct rte_comch_event *event;
	const struct comch_unacked *u;

	while (conn->unacked_head != conn->unacked_ready) {
		u = &conn->unacked[conn->unacked_head & conn->unacked_mask];
		if (!u->silent || u->status != 0) {
			if (comch_run_full(run))
				return false;
			event = comch_run_add(run, RTE_COMCH_EVENT_SENT, &conn->obj, conn);
			event->status = u->status;
			event->sent.cookie = u->cookie;
		}
		conn->unacked_head++;
	}
	return true;
}

bool
comch_conn_report_sent(struct rte_comch_conn *conn, struct comch_run *run)
{
	return conn_report_sent(conn, run);
}

/* Messages in */

/* The peer is to be told that messages are done with. */
static inline void
conn_owe(struct rte_comch_conn *conn)
{
	if (conn->owing)
		return;
	conn->owing = true;
	TAILQ_INSERT_TAIL(&conn->obj.poll->owing, conn, owing_next);
}

int
rte_comch_conn_msgs_done(struct rte_comch_conn *conn, uint32_t n)
{
	if (conn == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	if (!conn->manual_credit || n > conn->rx_seq - conn->rx_done) {
		COMCH_LOG(ERR, "connection %u: %u messages done, but %s", conn->id, n,
			conn->manual_credit ? "there are not so many" :
			"it was not made for explicit credits");
		return -EINVAL;
	}
	conn->rx_done += n;
	if (n > 0 && conn->phase == COMCH_PHASE_UP)
		conn_owe(conn);
	return 0;
}

static inline void
conn_on_msg(struct rte_comch_conn *conn, struct comch_run *run, void *data, uint32_t len)
{
	struct rte_comch_event *event;

	event = comch_run_add(run, RTE_COMCH_EVENT_MSG, &conn->obj, conn);
	event->msg.data = data;
	event->msg.len = len;
	comch_trace_msg_rx(conn->id, len, conn->rx_seq);
	conn->rx_seq++;
	comch_count(&conn->stats.rx_msgs, 1);
	comch_count(&conn->stats.rx_bytes, len);
	if (unlikely(conn->manual_credit))
		return;
	conn->rx_done = conn->rx_seq;
	conn_owe(conn);
}

/* No more than our queue beyond what we have told: more, and the peer does not count. */
static inline bool
conn_may_get_msg(const struct rte_comch_conn *conn, uint32_t len)
{
	return conn->phase == COMCH_PHASE_UP && len <= conn->max_msg_size &&
		conn->rx_seq - conn->rx_told < conn->recv_queue;
}

/* What becomes of a message. */
enum conn_rx_how {
	RX_GIVE,    /* an event, its data where it was read */
	RX_GIVE_AT, /* the same, of a message with its clock */
	RX_HOLD,    /* it waits for its turn */
};

/*
 * One frame: 1, 0 (none) or a negative errno that ends the connection. How, a
 * constant, says which of three functions this is.
 */
static __rte_always_inline int
conn_rx_frame(struct rte_comch_conn *conn, struct comch_run *run, uint8_t *buf, uint32_t size,
		enum conn_rx_how how)
{
	const enum comch_wire_type msg_type = how == RX_GIVE ? COMCH_WIRE_MSG : COMCH_WIRE_MSG_AT;
	const uint32_t skip = how == RX_GIVE ? 0 : COMCH_WIRE_CLOCK_SIZE;
	int fds[RTE_COMCH_FRAME_FDS];
	struct comch_wire_frame f;
	uint32_t nb_fds = 0;
	int len, ret;

	len = conn->ops->frame_rx(conn->link, buf, size, fds, &nb_fds);
	if (len == -EAGAIN)
		return 0;
	if (unlikely(len < 0))
		return len;
	ret = comch_wire_parse(buf, (uint32_t)len, &f);
	if (likely(ret == 0))
		ret = conn_on_acked(conn, f.acked);
	if (likely(ret == 0 && f.type == msg_type && conn_may_get_msg(conn, f.len - skip))) {
		if (how == RX_HOLD) {
			comch_order_hold(conn, f.len - skip);
		} else {
			conn_on_msg(conn, run, buf + COMCH_WIRE_HDR_SIZE + skip, f.len - skip);
			comch_poll_keep(conn->obj.poll, (uint32_t)len);
		}
	} else if (ret == 0) {
		ret = comch_proto_dispatch(conn, &f, fds, nb_fds, run);
		nb_fds = 0;
	}
	while (nb_fds > 0)
		comch_foreign_close(fds[--nb_fds]);
	return ret == 0 ? 1 : ret;
}

static __rte_always_inline int
conn_rx_one(struct rte_comch_conn *conn, struct comch_run *run, enum conn_rx_how how)
{
	uint32_t size = COMCH_WIRE_HDR_SIZE + COMCH_WIRE_CLOCK_SIZE + RTE_MAX(conn->max_msg_size,
			(uint32_t)COMCH_WIRE_MAX_FRAME);
	uint8_t *buf = comch_poll_room(conn->obj.poll, size);

	return likely(buf != NULL) ? conn_rx_frame(conn, run, buf, size, how) : 0;
}

static inline bool
conn_may_rx(const struct rte_comch_conn *conn)
{
	return !conn->hold && !conn->put_off && conn->link != NULL &&
		conn->phase <= COMCH_PHASE_UP && conn->nb_tx_wait < COMCH_MAX_TX_WAIT;
}

/* SENT events that a frame made due: those without room come later. */
static inline void
conn_report_acked(struct rte_comch_conn *conn, struct comch_run *run)
{
	if (conn->unacked_head != conn->unacked_ready && !conn_report_sent(conn, run))
		comch_poll_note(&conn->obj);
}

bool
comch_conn_may_rx(const struct rte_comch_conn *conn)
{
	return conn_may_rx(conn);
}

int
comch_conn_rx_held(struct rte_comch_conn *conn, struct comch_run *run)
{
	int ret = conn_rx_frame(conn, run, conn->order->buf, conn->order->size, RX_HOLD);

	if (ret > 0)
		conn_report_acked(conn, run);
	return ret;
}

void
comch_conn_on_msg(struct rte_comch_conn *conn, struct comch_run *run, void *data, uint32_t len)
{
	conn_on_msg(conn, run, data, len);
}

void
comch_conn_rx_over(struct rte_comch_conn *conn, int ret)
{
	if (ret < 0)
		comch_conn_end(conn, ret, "peer broke the protocol (%s)", strerror(-ret));
	else if (conn->link->state == RTE_COMCH_LINK_DOWN)
		/* Its end comes when the last frame was read: look again. */
		comch_poll_note(&conn->obj);
}

void
comch_conn_rx(struct rte_comch_conn *conn, struct comch_run *run)
{
	struct rte_comch_poll *poll = conn->obj.poll;
	unsigned int left = COMCH_RX_BURST;
	int ret = 1;

	conn->last_active = poll->run_no;
	if (!conn->is_hot) {
		conn->is_hot = true;
		TAILQ_REMOVE(&poll->cold, conn, link_next);
		TAILQ_INSERT_TAIL(&poll->hot, conn, link_next);
	}
	/* A peer that writes as fast as we read must not keep us here for ever. */
	while (left-- > 0 && conn_may_rx(conn) && comch_conn_has_room(conn, run)) {
		ret = conn_rx_one(conn, run, RX_GIVE);
		/* Accepted as an ordered one: the rest is for comch_order_run(). */
		if (ret <= 0 || unlikely(conn->order != NULL))
			break;
		conn_report_acked(conn, run);
	}
	comch_conn_rx_over(conn, ret);
}

void
comch_conn_rx_alone(struct rte_comch_conn *conn, struct comch_run *run)
{
	unsigned int left = COMCH_RX_BURST;
	int ret = 1;

	while (left-- > 0 && conn_may_rx(conn) && !comch_run_full(run) &&
			conn->ops->frame_pending(conn->link)) {
		ret = conn_rx_one(conn, run, RX_GIVE_AT);
		if (ret <= 0)
			break;
		conn_report_acked(conn, run);
	}
	comch_conn_rx_over(conn, ret);
}

/* Send what waited; while there is no room, look again in a while. */
static void
conn_retry(struct rte_comch_conn *conn)
{
	bool done = conn_flush(conn);

	if (!done)
		comch_conn_wait_begin(conn, TX_RETRY_MS);
	else if (conn->phase >= COMCH_PHASE_UP && !conn->draining)
		comch_conn_wait_end(conn);
}

/* Has the peer gone, and was everything that it left read? */
static void
conn_check_down(struct rte_comch_conn *conn)
{
	if (conn->link == NULL || conn->link->state != RTE_COMCH_LINK_DOWN ||
			conn->phase >= COMCH_PHASE_CLOSING || conn->hold || conn->put_off ||
			(conn->order != NULL && conn->order->holds) ||
			conn->ops->frame_pending(conn->link))
		return;
	comch_conn_end(conn, conn->link->error != 0 ? conn->link->error : -ECONNRESET, "%s",
		conn->link->text != NULL ? conn->link->text : "peer is gone");
}

void
comch_conn_look(struct rte_comch_conn *conn)
{
	if (conn->link == NULL || conn->phase >= COMCH_PHASE_ENDING)
		return;
	conn->ops->link_poll(conn->link);
	if (conn->phase == COMCH_PHASE_LINKING && conn->link->state == RTE_COMCH_LINK_UP)
		comch_handshake_link(conn);
	if (conn->link->state == RTE_COMCH_LINK_DOWN) {
		comch_server_conn_leaves(conn);
		comch_poll_note(&conn->obj);
	}
}

/* Service */

static void
conn_report_connected(struct rte_comch_conn *conn, struct comch_run *run)
{
	bool pending = conn->phase == COMCH_PHASE_PENDING;

	comch_run_add(run, pending ? RTE_COMCH_EVENT_CONNECT_REQUEST : RTE_COMCH_EVENT_CONNECTED,
		&conn->obj, conn);
	conn->send_connected = false;
	conn->known = true;
	conn->hold = false;
}

/* What an established connection does when its poll serves it. True: more to do. */
static bool
conn_serve_up(struct rte_comch_conn *conn, struct comch_run *run)
{
	bool more = !conn_report_sent(conn, run);

	if (conn->phase == COMCH_PHASE_UP) {
		comch_consumer_steps(conn);
		comch_producer_steps(conn);
		more |= !comch_reclaim_step(conn);
	}
	if (conn->order == NULL && conn_may_rx(conn) && conn->ops->frame_pending(conn->link))
		comch_conn_rx(conn, run);
	conn_check_down(conn);
	if (conn->draining && conn->phase == COMCH_PHASE_UP)
		comch_conn_drain(conn);
	return more;
}

/* A last frame has arrived, or its time is over: see comch_handshake_timeout(). */
static bool
conn_has_said(const struct rte_comch_conn *conn)
{
	return conn->link->state == RTE_COMCH_LINK_DOWN ||
		(STAILQ_EMPTY(&conn->tx_wait) && conn->ops->link_idle(conn->link));
}

/* The last word is on its way: look again in a while. */
static void
conn_serve_closing(struct rte_comch_conn *conn)
{
	if (conn_has_said(conn))
		comch_conn_end(conn, conn->end_status, "%s", conn->reason);
	else
		comch_conn_wait_begin(conn, TX_RETRY_MS);
}

static bool
conn_service(struct comch_obj *obj, struct comch_run *run)
{
	struct rte_comch_conn *conn = COMCH_OBJ_OF(rte_comch_conn, obj);
	bool more = false;

	if (comch_obj_is_dead(obj))
		return false;
	if (comch_load_relaxed(&conn->link_news) != 0) {
		comch_store_relaxed(&conn->link_news, 0);
		comch_conn_look(conn);
	}
	if (comch_load_acquire(&conn->faulted) == 2)
		comch_conn_end(conn, conn->fault_status, "%s", conn->fault_text);
	if (conn->phase <= COMCH_PHASE_CLOSING && !STAILQ_EMPTY(&conn->tx_wait))
		conn_retry(conn);
	if (conn->send_connected) {
		if (comch_run_full(run))
			return true;
		conn_report_connected(conn, run);
	}
	if (conn->phase <= COMCH_PHASE_UP)
		more |= conn_serve_up(conn, run);
	if (conn->phase == COMCH_PHASE_CLOSING)
		conn_serve_closing(conn);
	if (conn->phase == COMCH_PHASE_ENDING) {
		if (!comch_conn_report_end(conn, run))
			return true;
		comch_store_release(&conn->phase, COMCH_PHASE_ENDED);
	}
	if (conn->phase == COMCH_PHASE_ENDED) {
		comch_consumer_steps(conn);
		if (comch_conn_nb_queues(conn) != 0 || comch_obj_is_dead(obj))
			return false;
		/* A dead peer leaves as many regions as it had. */
		if (!comch_poll_may_free(obj->poll, comch_export_nb_regions(conn)))
			return true;
		comch_conn_bury(conn);
		return false;
	}
	return more;
}
