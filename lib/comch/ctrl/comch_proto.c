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
	uint32_t phases;   /* of the receiver */
	uint8_t by;
	bool fast_path;    /* lib/comch/data handles it; never on a control-only connection */
};

static const struct proto_rule rules[COMCH_WIRE_NB_TYPES] = {
	[COMCH_WIRE_HELLO]         = { ON(HELLO), BY_CLIENT, false },
	[COMCH_WIRE_ACCEPT]        = { ON(HELLO), BY_SERVER, false },
	[COMCH_WIRE_REJECT]        = { ON(HELLO), BY_SERVER, false },
	[COMCH_WIRE_CREDIT]        = { ON_UP, BY_ANY, false },
	[COMCH_WIRE_DISCONNECT]    = { ON(HELLO) | ON(FULL) | ON(PENDING) | ON_UP, BY_ANY,
		false },
	[COMCH_WIRE_MR_ADD]        = { ON_UP, BY_ANY, true },
	[COMCH_WIRE_MR_ACK]        = { ON_UP, BY_ANY, true },
	[COMCH_WIRE_MR_DEL]        = { ON_UP, BY_ANY, true },
	[COMCH_WIRE_CONSUMER_NEW]  = { ON_UP, BY_ANY, true },
	[COMCH_WIRE_CONSUMER_ACK]  = { ON_UP, BY_ANY, true },
	[COMCH_WIRE_CONSUMER_GONE] = { ON_UP, BY_ANY, true },
	[COMCH_WIRE_PRODUCER_NEW]  = { ON_UP, BY_ANY, true },
	[COMCH_WIRE_PRODUCER_GONE] = { ON_UP, BY_ANY, true },
};

static bool
proto_allows(const struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		uint32_t nb_fds)
{
	const struct proto_rule *rule = &rules[f->type];
	uint8_t by = conn->server != NULL ? BY_CLIENT : BY_SERVER;

	if ((rule->phases & (UINT32_C(1) << conn->phase)) == 0 || (rule->by & by) == 0)
		return false;
	if (!rule->fast_path)
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

static int
proto_handle(struct rte_comch_conn *conn, const struct comch_wire_frame *f)
{
	switch (f->type) {
	case COMCH_WIRE_HELLO:
		comch_handshake_hello(conn, f);
		return 0;
	case COMCH_WIRE_ACCEPT:
		comch_handshake_accept(conn, f);
		return 0;
	case COMCH_WIRE_REJECT:
		comch_handshake_reject(conn, f);
		return 0;
	case COMCH_WIRE_CREDIT:
		return 0;
	case COMCH_WIRE_DISCONNECT:
		comch_conn_end(conn, -ECONNRESET, "%s",
			f->text[0] != '\0' ? f->text : "disconnected by peer");
		return 0;
	default:
		return -EPROTO;
	}
}

/* Log why a frame ends the connection. comch_rx.c passes on messages that it refuses. */
static void
log_refused(const struct rte_comch_conn *conn, const struct comch_wire_frame *f, uint32_t nb_fds)
{
	const uint32_t clock = f->type == COMCH_WIRE_MSG_AT ? COMCH_WIRE_CLOCK_SIZE : 0;
	const bool is_msg = f->type == COMCH_WIRE_MSG || f->type == COMCH_WIRE_MSG_AT;

	if (is_msg && conn->phase >= COMCH_PHASE_UP && f->len - clock > conn->max_msg_size)
		COMCH_LOG(WARNING, "connection %u: message of %u bytes exceeds the agreed %u",
			conn->id, f->len - clock, conn->max_msg_size);
	else if (is_msg && conn->phase >= COMCH_PHASE_UP &&
			conn->rx_seq - conn->rx_acked >= conn->recv_queue)
		COMCH_LOG(WARNING, "connection %u: message exceeds the credit of %u messages",
			conn->id, conn->recv_queue);
	else
		COMCH_LOG(WARNING, "connection %u: unexpected %s (%u descriptors) in this state",
			conn->id, comch_wire_name(f->type), nb_fds);
}

int
comch_proto_dispatch(struct rte_comch_conn *conn, const struct comch_wire_frame *f, int *fds,
		uint32_t nb_fds, struct comch_run *run)
{
	struct rte_comch_ticket ticket;
	int ret = -EPROTO;

	/* Fast path of the most frequent frame: its header is already processed. */
	if (likely(f->type == COMCH_WIRE_CREDIT && nb_fds == 0 && comch_conn_is_up(conn)))
		return 0;
	ticket_init(&ticket, f, fds, nb_fds);
	if (!proto_allows(conn, f, nb_fds))
		log_refused(conn, f, nb_fds);
	else if (rules[f->type].fast_path)
		ret = comch_fast_path_ops.on_frame(conn, f, &ticket, run);
	else
		ret = proto_handle(conn, f);
	comch_foreign_close_ticket(&ticket);
	return ret;
}
