/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Which frame is welcome when, and who handles it: all on one screen. */

#include <errno.h>
#include "comch_foreign.h"
#include "comch_log.h"
#include "comch_private.h"

#define ON(phase) (UINT32_C(1) << COMCH_PHASE_##phase)

/* Which side may send it. */
#define BY_CLIENT 1
#define BY_SERVER 2
#define BY_ANY (BY_CLIENT | BY_SERVER)

struct proto_rule {
	uint32_t phases;   /* of the receiver */
	uint8_t by;
	uint8_t min_fds;
	uint8_t max_fds;
	bool fast_path;    /* never on a connection without one */
};

static const struct proto_rule rules[COMCH_WIRE_NB_TYPES] = {
	[COMCH_WIRE_HELLO]         = { ON(HELLO), BY_CLIENT, 0, 0, false },
	[COMCH_WIRE_ACCEPT]        = { ON(HELLO), BY_SERVER, 0, 0, false },
	[COMCH_WIRE_REJECT]        = { ON(HELLO), BY_SERVER, 0, 0, false },
	[COMCH_WIRE_CREDIT]        = { ON(UP), BY_ANY, 0, 0, false },
	[COMCH_WIRE_DISCONNECT]    = { ON(HELLO) | ON(PENDING) | ON(UP), BY_ANY, 0, 0, false },
	[COMCH_WIRE_MR_ADD]        = { ON(UP), BY_ANY, 1, 1, true },
	[COMCH_WIRE_MR_ACK]        = { ON(UP), BY_ANY, 0, 0, true },
	[COMCH_WIRE_MR_DEL]        = { ON(UP), BY_ANY, 0, 0, true },
	[COMCH_WIRE_CONSUMER_NEW]  = { ON(UP), BY_ANY, 2, 2, true },
	[COMCH_WIRE_CONSUMER_ACK]  = { ON(UP), BY_ANY, 0, 1, true },
	[COMCH_WIRE_CONSUMER_GONE] = { ON(UP), BY_ANY, 0, 0, true },
	[COMCH_WIRE_PRODUCER_NEW]  = { ON(UP), BY_ANY, 1, 1, true },
	[COMCH_WIRE_PRODUCER_GONE] = { ON(UP), BY_ANY, 0, 0, true },
};

static bool
proto_allows(const struct rte_comch_conn *conn, const struct comch_wire_frame *f,
		uint32_t nb_fds)
{
	const struct proto_rule *rule = &rules[f->type];
	uint8_t by = conn->server != NULL ? BY_CLIENT : BY_SERVER;

	return (rule->phases & (UINT32_C(1) << conn->phase)) != 0 && (rule->by & by) != 0 &&
		nb_fds >= rule->min_fds && nb_fds <= rule->max_fds &&
		!(rule->fast_path && conn->ctrl_only != 0);
}

static int
proto_handle(struct rte_comch_conn *conn, const struct comch_wire_frame *f, int *fds,
		uint32_t nb_fds, struct comch_run *run)
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
		return comch_import_on_add(conn, f, fds[0]);
	case COMCH_WIRE_MR_ACK:
		comch_export_on_ack(conn, f);
		return 0;
	case COMCH_WIRE_MR_DEL:
		return comch_import_on_del(conn, f);
	case COMCH_WIRE_CONSUMER_NEW:
		return comch_remote_on_consumer_new(conn, f, fds, run);
	case COMCH_WIRE_CONSUMER_ACK:
		return comch_consumer_on_ack(conn, f, fds, nb_fds);
	case COMCH_WIRE_CONSUMER_GONE:
		return comch_remote_on_consumer_gone(conn, f, run);
	case COMCH_WIRE_PRODUCER_NEW:
		return comch_remote_on_producer_new(conn, f, fds);
	case COMCH_WIRE_PRODUCER_GONE:
		return comch_remote_on_producer_gone(conn, f);
	default:
		return -EPROTO;
	}
}

int
comch_proto_dispatch(struct rte_comch_conn *conn, const struct comch_wire_frame *f, int *fds,
		uint32_t nb_fds, struct comch_run *run)
{
	uint32_t i;
	int ret = -EPROTO;

	if (proto_allows(conn, f, nb_fds))
		ret = proto_handle(conn, f, fds, nb_fds, run);
	else
		COMCH_LOG(WARNING, "connection %u: %s with %u descriptors is not due now",
			conn->id, comch_wire_name(f->type), nb_fds);
	/* Handlers that keep a descriptor put -1 in its place. */
	for (i = 0; i < nb_fds; i++)
		if (fds[i] >= 0)
			comch_foreign_close(fds[i]);
	return ret;
}
