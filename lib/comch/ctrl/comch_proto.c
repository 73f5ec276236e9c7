/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The rules of the protocol: which side may send a frame in which phase, and its handler. */

#include <errno.h>
#include <string.h>

#include "sdk/comch_foreign.h"
#include "sdk/comch_log.h"
#include "ctrl/comch_conn.h"
#include "ctrl/comch_fast_path_ops.h"
#include "ctrl/comch_handshake.h"
#include "ctrl/comch_proto.h"

#define ON(phase) (UINT32_C(1) << COMCH_PHASE_##phase)
#define ON_UP (ON(UP) | ON(DRAINING))

/* The side that may send a frame. */
#define BY_CLIENT 1
#define BY_SERVER 2
#define BY_ANY (BY_CLIENT | BY_SERVER)

struct proto_rule {
	uint32_t phases; /* of the receiver */
	uint8_t by;
	/* NULL: handled by lib/comch/data; refused on a control-only connection. */
	void (*handle)(struct rte_comch_conn *conn, const struct comch_wire_frame *f);
};

static void
on_disconnect(struct rte_comch_conn *conn, const struct comch_wire_frame *f)
{
	comch_conn_end(conn, -ECONNRESET, "%s",
		f->text[0] != '\0' ? f->text : "disconnected by peer");
}

/*
 * A link may come up and go down again between two looks: a DISCONNECT, the only frame that a
 * server sends before it has the HELLO, is then read while LINKING.
 *
 * CREDIT has no rule: comch_proto_dispatch() handles valid ones first.
 */
static const struct proto_rule rules[COMCH_WIRE_NB_TYPES] = {
	[COMCH_WIRE_HELLO]         = { ON(HELLO), BY_CLIENT, comch_handshake_hello },
	[COMCH_WIRE_ACCEPT]        = { ON(HELLO), BY_SERVER, comch_handshake_accept },
	[COMCH_WIRE_REJECT]        = { ON(HELLO), BY_SERVER, comch_handshake_reject },
	[COMCH_WIRE_DISCONNECT]    = { ON(LINKING) | ON(HELLO) | ON(FULL) | ON(PENDING) | ON_UP,
		BY_ANY, on_disconnect },
	[COMCH_WIRE_MR_ADD]        = { ON_UP, BY_ANY, NULL },
	[COMCH_WIRE_MR_ACK]        = { ON_UP, BY_ANY, NULL },
	[COMCH_WIRE_MR_DEL]        = { ON_UP, BY_ANY, NULL },
	[COMCH_WIRE_CONSUMER_NEW]  = { ON_UP, BY_ANY, NULL },
	[COMCH_WIRE_CONSUMER_ACK]  = { ON_UP, BY_ANY, NULL },
	[COMCH_WIRE_CONSUMER_GONE] = { ON_UP, BY_ANY, NULL },
	[COMCH_WIRE_PRODUCER_NEW]  = { ON_UP, BY_ANY, NULL },
	[COMCH_WIRE_PRODUCER_GONE] = { ON_UP, BY_ANY, NULL },
};

static bool
proto_allows(const struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		uint32_t nb_fds)
{
	const struct proto_rule *rule = &rules[f->type];
	uint8_t by = conn->server != NULL ? BY_CLIENT : BY_SERVER;

	if ((rule->phases & (UINT32_C(1) << conn->phase)) == 0 || (rule->by & by) == 0)
		return false;
	if (rule->handle != NULL)
		return nb_fds == 0;
	return conn->ctrl_only == 0 && nb_fds == comch_fast_path_ops.nb_fds(conn, f);
}

/* Take the ticket and the descriptors out of a frame. The caller closes them. */
static void
ticket_init(struct rte_comch_ticket *ticket, const struct comch_wire_frame *f, const int *fds,
		uint32_t nb_fds)
{
	uint32_t i;

	ticket->len = f->ticket_len;
	if (f->ticket_len > 0)
		memcpy(ticket->data, f->ticket, f->ticket_len);
	ticket->nb_fds = nb_fds;
	for (i = 0; i < nb_fds; i++)
		ticket->fds[i] = fds[i];
}

/*
 * A frame that is not allowed ends the connection. comch_rx.c handles valid MSG and MSG_AT,
 * and passes on all others.
 */
static int
refuse(struct rte_comch_conn *conn, const struct comch_wire_frame *f, uint32_t nb_fds)
{
	const uint32_t clock = f->type == COMCH_WIRE_MSG_AT ? COMCH_WIRE_CLOCK_SIZE : 0;
	const bool is_msg = f->type == COMCH_WIRE_MSG || f->type == COMCH_WIRE_MSG_AT;

	if (is_msg && conn->phase >= COMCH_PHASE_UP && f->len - clock > conn->max_msg_size)
		comch_conn_end(conn, -EPROTO, "protocol violation by peer: message of %u bytes "
			"exceeds the agreed %u", f->len - clock, conn->max_msg_size);
	else if (is_msg && conn->phase >= COMCH_PHASE_UP &&
			conn->rx_seq - conn->rx_acked >= conn->recv_queue)
		comch_conn_end(conn, -EPROTO, "protocol violation by peer: message exceeds the "
			"credit of %u messages", conn->recv_queue);
	else
		comch_conn_end(conn, -EPROTO, "protocol violation by peer: unexpected %s "
			"(%u descriptors) in this state", comch_wire_name(f->type), nb_fds);
	return -EPROTO;
}

int
comch_proto_dispatch(struct rte_comch_conn *conn, const struct comch_wire_frame *f, int *fds,
		uint32_t nb_fds, struct comch_run *run)
{
	struct rte_comch_ticket ticket;
	int ret = 0;

	/* Fast path of the most frequent frame: its header is already processed. */
	if (likely(f->type == COMCH_WIRE_CREDIT && nb_fds == 0 && comch_conn_is_up(conn)))
		return 0;
	comch_poll_mark_long(run->poll);
	ticket_init(&ticket, f, fds, nb_fds);
	if (!proto_allows(conn, f, nb_fds)) {
		ret = refuse(conn, f, nb_fds);
	} else if (rules[f->type].handle != NULL) {
		rules[f->type].handle(conn, f);
	} else {
		ret = comch_fast_path_ops.on_frame(conn, f, &ticket, run);
	}
	comch_foreign_close_ticket(&ticket);
	return ret;
}
