/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Servers, clients and connections of both ends. */

#include <stdlib.h>

#include "far.h"
#include "far_wrap.h"

/** Longer messages are sent to the agent only if the connection takes them. */
#define SHORT_MSG 256

/* Results are as wide as their type: a wrapper has that of its function. */
#define WRAP_INT(obj, name) \
	FAR_WRAP(__typeof__(rte_comch_##obj##_##name(NULL)), rte_comch_##obj##_##name, \
			struct rte_comch_##obj *o) \
	{ \
		return far_is(o) ? (__typeof__(rte_comch_##obj##_##name(NULL))) \
			far_call(CALL_##obj##_##name, far_handle(o)) : \
			__real_rte_comch_##obj##_##name(o); \
	}

#define WRAP_OBJ(obj, name, to, type) \
	FAR_WRAP(struct rte_comch_##to *, rte_comch_##obj##_##name, \
			const struct rte_comch_##obj *o) \
	{ \
		return far_is(o) ? far_obj(RTE_COMCH_OBJ_##type, \
			(uint64_t)far_call(CALL_##obj##_##name, far_handle(o))) : \
			__real_rte_comch_##obj##_##name(o); \
	}

static int
get(enum call call, const void *o, void *out, size_t size)
{
	struct wire *w = far_begin(call);
	int64_t rc;

	wire_u64(w, far_handle(o));
	wire_u64(w, out != NULL);
	rc = far_do(w);
	if (rc == 0)
		wire_get(w, out, size);
	far_end();
	return (int)rc;
}

#define WRAP_GET(obj, name, type) \
	FAR_WRAP(int, rte_comch_##obj##_##name, const struct rte_comch_##obj *o, \
			struct rte_comch_##type *out) \
	{ \
		return far_is(o) ? get(CALL_##obj##_##name, o, out, sizeof(*out)) : \
			__real_rte_comch_##obj##_##name(o, out); \
	}

CALLS_INT(WRAP_INT)
CALLS_OBJ(WRAP_OBJ)
CALLS_GET(WRAP_GET)

/* Create a server or a client on a far device. conf may be NULL, as its poll and name. */
static void *
create(enum call call, enum rte_comch_obj_type type, int16_t dev, const void *conf, size_t size,
		struct rte_comch_poll *poll, const char *name)
{
	/* Before the call begins, as it may make one itself. */
	uint64_t twin = conf != NULL ? far_poll(poll) : 0, handle;
	struct wire *w = far_begin(call);

	wire_u64(w, (uint64_t)(dev - FAR_DEV));
	wire_u64(w, conf != NULL);
	if (conf != NULL) {
		wire_put(w, conf, size);
		wire_u64(w, twin);
		wire_str(w, name);
	}
	handle = (uint64_t)far_do(w);
	far_end();
	return (void *)far_obj_new(type, handle);
}

#define WRAP_CREATE(obj, OBJ) \
	FAR_WRAP(struct rte_comch_##obj *, rte_comch_##obj##_create, int16_t dev, \
			const struct rte_comch_##obj##_conf *conf) \
	{ \
		struct rte_comch_##obj *o; \
		\
		if (far_on() && dev >= FAR_DEV) \
			return create(CALL_##OBJ##_CREATE, RTE_COMCH_OBJ_##OBJ, dev, conf, \
				sizeof(*conf), conf != NULL ? conf->poll : NULL, \
				conf != NULL ? conf->name : NULL); \
		o = __real_rte_comch_##obj##_create(dev, conf); \
		if (o != NULL) \
			far_poll_near(conf->poll); \
		return o; \
	}

WRAP_CREATE(server, SERVER)
WRAP_CREATE(client, CLIENT)

FAR_WRAP(int, rte_comch_conn_info_get, const struct rte_comch_conn *conn,
		struct rte_comch_conn_info *info)
{
	int rc;

	if (!far_is(conn))
		return __real_rte_comch_conn_info_get(conn, info);
	rc = get(CALL_CONN_INFO, conn, info, sizeof(*info));
	if (rc == 0) {
		info->id += FAR_CONN_ID;
		info->dev_id = (int16_t)(info->dev_id + FAR_DEV);
	}
	return rc;
}

static int
with_reason(enum call call, const struct rte_comch_conn *conn, const char *reason)
{
	struct wire *w = far_begin(call);
	int64_t rc;

	wire_u64(w, far_handle(conn));
	wire_str(w, reason);
	rc = far_do(w);
	far_end();
	return (int)rc;
}

FAR_WRAP(int, rte_comch_conn_reject, struct rte_comch_conn *conn, const char *reason)
{
	return far_is(conn) ? with_reason(CALL_CONN_REJECT, conn, reason) :
		__real_rte_comch_conn_reject(conn, reason);
}

FAR_WRAP(int, rte_comch_conn_disconnect, struct rte_comch_conn *conn, const char *reason)
{
	return far_is(conn) ? with_reason(CALL_CONN_DISCONNECT, conn, reason) :
		__real_rte_comch_conn_disconnect(conn, reason);
}

FAR_WRAP(int, rte_comch_conn_abort, struct rte_comch_conn *conn)
{
	return far_is(conn) ? (int)far_call(CALL_CONN_ABORT, far_handle(conn)) :
		__real_rte_comch_conn_abort(conn);
}

FAR_WRAP(void, rte_comch_conn_user_data_set, struct rte_comch_conn *conn, uint64_t user_data)
{
	if (far_is(conn))
		far_call2(CALL_CONN_USER_DATA_SET, far_handle(conn), user_data);
	else
		__real_rte_comch_conn_user_data_set(conn, user_data);
}

FAR_WRAP(int, rte_comch_conn_msgs_done, struct rte_comch_conn *conn, uint32_t n)
{
	return far_is(conn) ? (int)far_call2(CALL_CONN_MSGS_DONE, far_handle(conn), n) :
		__real_rte_comch_conn_msgs_done(conn, n);
}

/* The connection refuses what is longer, and the case may not have that many bytes. */
static uint32_t
longest_msg(const struct rte_comch_conn *conn)
{
	struct rte_comch_conn_info info;

	T_EQ(get(CALL_CONN_INFO, conn, &info, sizeof(info)), 0);
	return RTE_MAX(info.max_msg_size, SHORT_MSG);
}

FAR_WRAP(uint16_t, rte_comch_conn_send_burst, struct rte_comch_conn *conn,
		const struct rte_comch_msg *msgs, uint16_t n)
{
	uint32_t longest = SHORT_MSG;
	struct wire *w;
	int64_t taken;
	uint16_t i;

	if (!far_is(conn))
		return __real_rte_comch_conn_send_burst(conn, msgs, n);
	for (i = 0; i < n && longest == SHORT_MSG; i++)
		if (msgs[i].len > SHORT_MSG)
			longest = longest_msg(conn);
	w = far_begin(CALL_CONN_SEND);
	wire_u64(w, far_handle(conn));
	wire_u64(w, n);
	for (i = 0; i < n; i++) {
		wire_put(w, &msgs[i], sizeof(msgs[i]));
		wire_bytes(w, msgs[i].len > longest ? NULL : msgs[i].data, msgs[i].len);
	}
	taken = far_do(w);
	far_end();
	return (uint16_t)taken;
}
