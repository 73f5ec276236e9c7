/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Which frame is welcome when, and who handles it: all on one screen. */

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "sdk/comch_foreign.h"
#include "sdk/comch_log.h"
#include "comch_private.h"

#define ON(phase) (UINT32_C(1) << COMCH_PHASE_##phase)

/* Which side may send it. */
#define BY_CLIENT 1
#define BY_SERVER 2
#define BY_ANY (BY_CLIENT | BY_SERVER)

struct proto_rule {
	uint32_t phases;   /* of the receiver */
	uint8_t by;
	bool fast_path;    /* never on a connection without one */
};

static const struct proto_rule rules[COMCH_WIRE_NB_TYPES] = {
	[COMCH_WIRE_HELLO]         = { ON(HELLO), BY_CLIENT, false },
	[COMCH_WIRE_ACCEPT]        = { ON(HELLO), BY_SERVER, false },
	[COMCH_WIRE_REJECT]        = { ON(HELLO), BY_SERVER, false },
	[COMCH_WIRE_CREDIT]        = { ON(UP), BY_ANY, false },
	[COMCH_WIRE_DISCONNECT]    = { ON(HELLO) | ON(PENDING) | ON(UP), BY_ANY, false },
	[COMCH_WIRE_MR_ADD]        = { ON(UP), BY_ANY, true },
	[COMCH_WIRE_MR_ACK]        = { ON(UP), BY_ANY, true },
	[COMCH_WIRE_MR_DEL]        = { ON(UP), BY_ANY, true },
	[COMCH_WIRE_CONSUMER_NEW]  = { ON(UP), BY_ANY, true },
	[COMCH_WIRE_CONSUMER_ACK]  = { ON(UP), BY_ANY, true },
	[COMCH_WIRE_CONSUMER_GONE] = { ON(UP), BY_ANY, true },
	[COMCH_WIRE_PRODUCER_NEW]  = { ON(UP), BY_ANY, true },
	[COMCH_WIRE_PRODUCER_GONE] = { ON(UP), BY_ANY, true },
};

/* Descriptors that come with a frame: those of the driver's ticket. */
static uint32_t
frame_fds(const struct rte_comch_conn *conn, const struct comch_wire_frame *f)
{
	const struct rte_comch_data_ops *data = conn->ops->data;

	switch (f->type) {
	case COMCH_WIRE_MR_ADD:
		return data->nb_fds.mem;
	case COMCH_WIRE_CONSUMER_NEW:
		return data->nb_fds.cons;
	case COMCH_WIRE_CONSUMER_ACK:
		return f->status == 0 ? data->nb_fds.cons_ack : 0;
	case COMCH_WIRE_PRODUCER_NEW:
		return data->nb_fds.prod;
	default:
		return 0;
	}
}

static bool
proto_allows(const struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		uint32_t nb_fds)
{
	const struct proto_rule *rule = &rules[f->type];
	uint8_t by = conn->server != NULL ? BY_CLIENT : BY_SERVER;

	/* Without data operations a connection has no fast path. */
	return (rule->phases & (UINT32_C(1) << conn->phase)) != 0 && (rule->by & by) != 0 &&
		!(rule->fast_path && conn->ctrl_only != 0) && nb_fds == frame_fds(conn, f);
}

/* What the peer's driver says, out of a frame: ours to close. */
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

void
comch_proto_tx_ticket(struct rte_comch_conn *conn, const struct comch_wire_frame *frame,
		const struct rte_comch_ticket *ticket)
{
	struct comch_wire_frame f = *frame;
	uint32_t i;

	f.ticket_len = ticket->len;
	f.ticket = ticket->data;
	comch_conn_tx(conn, &f, ticket->fds, ticket->nb_fds);
	for (i = 0; i < ticket->nb_fds; i++)
		if ((ticket->to_close & UINT32_C(1) << i) != 0)
			close(ticket->fds[i]);
}

void
comch_proto_ticket_close(struct rte_comch_ticket *ticket)
{
	uint32_t i;

	for (i = 0; i < ticket->nb_fds; i++)
		if (ticket->fds[i] >= 0)
			comch_foreign_close(ticket->fds[i]);
	ticket->nb_fds = 0;
}

static int
proto_handle(struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		struct rte_comch_ticket *ticket, struct comch_run *run)
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
	case COMCH_WIRE_MR_ADD:
		return comch_import_on_add(conn, f, ticket);
	case COMCH_WIRE_MR_ACK:
		comch_export_on_ack(conn, f);
		return 0;
	case COMCH_WIRE_MR_DEL:
		return comch_import_on_del(conn, f);
	case COMCH_WIRE_CONSUMER_NEW:
		return comch_remote_on_consumer_new(conn, f, ticket, run);
	case COMCH_WIRE_CONSUMER_ACK:
		return comch_consumer_on_ack(conn, f, ticket);
	case COMCH_WIRE_CONSUMER_GONE:
		return comch_remote_on_consumer_gone(conn, f, run);
	case COMCH_WIRE_PRODUCER_NEW:
		return conn->ops->data->peer_prod_add(conn->link, f->id, ticket);
	case COMCH_WIRE_PRODUCER_GONE:
		return conn->ops->data->peer_prod_del(conn->link, f->id);
	default:
		return -EPROTO;
	}
}

int
comch_proto_dispatch(struct rte_comch_conn *conn, const struct comch_wire_frame *f, int *fds,
		uint32_t nb_fds, struct comch_run *run)
{
	struct rte_comch_ticket ticket;
	int ret = -EPROTO;

	/* The only one that comes in a hurry: its header has said all. */
	if (likely(f->type == COMCH_WIRE_CREDIT && nb_fds == 0 &&
			conn->phase == COMCH_PHASE_UP))
		return 0;
	ticket_init(&ticket, f, fds, nb_fds);
	if (proto_allows(conn, f, nb_fds))
		ret = proto_handle(conn, f, &ticket, run);
	else
		COMCH_LOG(WARNING, "connection %u: %s with %u descriptors is not due now",
			conn->id, comch_wire_name(f->type), nb_fds);
	/* A driver that keeps a descriptor put -1 in its place. */
	comch_proto_ticket_close(&ticket);
	return ret;
}
