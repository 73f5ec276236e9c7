/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Calls about servers, clients and connections. */

#include <stdlib.h>

#include "agent.h"

#define HANDLE_INT(obj, name) \
	static void \
	obj##_##name(struct wire *w) \
	{ \
		wire_reply(w, (int64_t)rte_comch_##obj##_##name(wire_get_ptr(w))); \
	}

#define HANDLE_OBJ(obj, name, to, type) \
	static void \
	obj##_to_##name(struct wire *w) \
	{ \
		wire_reply(w, (int64_t)(uintptr_t)rte_comch_##obj##_##name(wire_get_ptr(w))); \
	}

#define HANDLE_GET(obj, name, type) \
	static void \
	obj##_##name(struct wire *w) \
	{ \
		const void *o = wire_get_ptr(w); \
		const bool wanted = wire_get_u64(w) != 0; \
		struct rte_comch_##type out = { 0 }; \
	\
		wire_reply(w, rte_comch_##obj##_##name(o, wanted ? &out : NULL)); \
		wire_put(w, &out, sizeof(out)); \
	}

CALLS_INT(HANDLE_INT)
CALLS_OBJ(HANDLE_OBJ)
CALLS_GET(HANDLE_GET)

static void
server_create(struct wire *w)
{
	const int16_t dev = (int16_t)wire_get_u64(w);
	const bool has_conf = wire_get_u64(w) != 0;
	struct rte_comch_server_conf conf = { 0 };

	if (has_conf) {
		wire_get(w, &conf, sizeof(conf));
		conf.poll = wire_get_ptr(w);
		conf.name = wire_get_str(w);
	}
	wire_reply(w, (int64_t)(uintptr_t)rte_comch_server_create(dev,
			has_conf ? &conf : NULL));
}

static void
client_create(struct wire *w)
{
	const int16_t dev = (int16_t)wire_get_u64(w);
	const bool has_conf = wire_get_u64(w) != 0;
	struct rte_comch_client_conf conf = { 0 };

	if (has_conf) {
		wire_get(w, &conf, sizeof(conf));
		conf.poll = wire_get_ptr(w);
		conf.name = wire_get_str(w);
	}
	wire_reply(w, (int64_t)(uintptr_t)rte_comch_client_create(dev,
			has_conf ? &conf : NULL));
}

static void
conn_info(struct wire *w)
{
	const struct rte_comch_conn *conn = wire_get_ptr(w);
	const bool wanted = wire_get_u64(w) != 0;
	struct rte_comch_conn_info info = { 0 };

	wire_reply(w, rte_comch_conn_info_get(conn, wanted ? &info : NULL));
	wire_put(w, &info, sizeof(info));
}

static void
conn_reject(struct wire *w)
{
	struct rte_comch_conn *conn = wire_get_ptr(w);

	wire_reply(w, rte_comch_conn_reject(conn, wire_get_str(w)));
}

static void
conn_disconnect(struct wire *w)
{
	struct rte_comch_conn *conn = wire_get_ptr(w);

	wire_reply(w, rte_comch_conn_disconnect(conn, wire_get_str(w)));
}

static void
conn_abort(struct wire *w)
{
	wire_reply(w, rte_comch_conn_abort(wire_get_ptr(w)));
}

static void
conn_user_data_set(struct wire *w)
{
	struct rte_comch_conn *conn = wire_get_ptr(w);

	rte_comch_conn_user_data_set(conn, wire_get_u64(w));
	wire_reply(w, 0);
}

static void
conn_send(struct wire *w)
{
	struct rte_comch_conn *conn = wire_get_ptr(w);
	const uint16_t n = (uint16_t)wire_get_u64(w);
	struct rte_comch_msg *msgs;
	const void *data;
	uint32_t len;
	uint16_t i;

	msgs = calloc(n + 1U, sizeof(*msgs));
	if (msgs == NULL)
		T_FAIL("no memory");
	for (i = 0; i < n; i++) {
		wire_get(w, &msgs[i], sizeof(msgs[i]));
		data = wire_get_bytes(w, &len);
		/* The bytes of a message that is too long were not sent: not read, either. */
		msgs[i].data = data == NULL && msgs[i].data != NULL ? msgs : data;
	}
	wire_reply(w, rte_comch_conn_send_burst(conn, msgs, n));
	free(msgs);
}

static void
conn_msgs_done(struct wire *w)
{
	struct rte_comch_conn *conn = wire_get_ptr(w);

	wire_reply(w, rte_comch_conn_msgs_done(conn, (uint32_t)wire_get_u64(w)));
}

#define ROW_SAME(obj, name, ...) [CALL_##obj##_##name] = obj##_##name,
#define ROW_OBJ(obj, name, ...) [CALL_##obj##_##name] = obj##_to_##name,

const agent_handler agent_obj_calls[NB_CALLS] = {
	CALLS_INT(ROW_SAME)
	CALLS_OBJ(ROW_OBJ)
	CALLS_GET(ROW_SAME)
	[CALL_SERVER_CREATE] = server_create,
	[CALL_CLIENT_CREATE] = client_create,
	[CALL_CONN_INFO] = conn_info,
	[CALL_CONN_REJECT] = conn_reject,
	[CALL_CONN_DISCONNECT] = conn_disconnect,
	[CALL_CONN_ABORT] = conn_abort,
	[CALL_CONN_USER_DATA_SET] = conn_user_data_set,
	[CALL_CONN_SEND] = conn_send,
	[CALL_CONN_MSGS_DONE] = conn_msgs_done,
};
