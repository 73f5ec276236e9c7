/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef WIRE_H
#define WIRE_H

/*
 * How a conformance run and its agent talk: frames over one TCP connection. A frame is
 * a call with its arguments or a reply with its results, both sequences of plain values
 * in the layout of the machine: structures of the public API are sent as they are, and
 * a pointer is a number to the side that does not own it. CALL_HELLO compares the
 * layouts of both sides.
 *
 *     far side of the run                          agent
 *     wire_begin(CALL_X), wire_u64()...
 *     wire_send()            ------------------->  wire_recv(), wire_get_u64()...
 *                                                  wire_reply(ret), wire_put()...
 *     wire_recv()            <-------------------  wire_send()
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls that are an integer of one object: object type, name. */
#define CALLS_INT(X) \
	X(server, start) X(server, stop) X(server, destroy) X(server, state) \
	X(server, nb_conns) X(server, nb_pending) \
	X(client, start) X(client, stop) X(client, destroy) X(client, state) \
	X(conn, accept) X(conn, user_data_get) \
	X(producer, start) X(producer, stop) X(producer, destroy) X(producer, state) \
	X(producer, id) \
	X(consumer, start) X(consumer, stop) X(consumer, destroy) X(consumer, state) \
	X(consumer, id)

/* Calls that find one object by another: object type, name, type of the result. */
#define CALLS_OBJ(X) \
	X(client, conn, conn, CONN) X(conn, server, server, SERVER) \
	X(conn, client, client, CLIENT) X(producer, conn, conn, CONN) \
	X(consumer, conn, conn, CONN)

/* Calls that fill a structure about one object: object type, name, structure. */
#define CALLS_GET(X) \
	X(server, stats_get, server_stats) X(conn, stats_get, conn_stats) \
	X(producer, stats_get, producer_stats) X(consumer, stats_get, consumer_stats)

#define CALL_ENUM(obj, name, ...) CALL_##obj##_##name,

enum call {
	CALL_HELLO,
	CALLS_INT(CALL_ENUM)
	CALLS_OBJ(CALL_ENUM)
	CALLS_GET(CALL_ENUM)
	/* agent_dev.c */
	CALL_DEV_PROBE,
	CALL_DEV_CLOSE,
	CALL_DEV_COUNT,
	CALL_DEV_NEXT,
	CALL_DEV_BY_NAME,
	CALL_DEV_INFO,
	CALL_DEV_REP_INFO,
	CALL_DEV_REP_BY_NAME,
	CALL_DUMP,
	CALL_FIGURES,
	/* agent_obj.c */
	CALL_SERVER_CREATE,
	CALL_CLIENT_CREATE,
	CALL_CONN_INFO,
	CALL_CONN_REJECT,
	CALL_CONN_DISCONNECT,
	CALL_CONN_ABORT,
	CALL_CONN_USER_DATA_SET,
	CALL_CONN_SEND,
	CALL_CONN_MSGS_DONE,
	/* agent_poll.c */
	CALL_POLL_CREATE,
	CALL_POLL_DESTROY,
	CALL_POLL_RUN,
	CALL_POLL_ARM,
	CALL_POLL_CLEAR,
	CALL_POLL_NOTIFY,
	CALL_POLL_STATS,
	CALL_POLL_FD,
	CALL_POLL_WATCH,
	/* agent_data.c */
	CALL_PRODUCER_CREATE,
	CALL_CONSUMER_CREATE,
	CALL_CONSUMER_MR_ADD,
	CALL_SEND,
	CALL_DONE,
	CALL_POST,
	CALL_RECV,
	/* agent_mem.c */
	CALL_MEM_NEW,
	CALL_MEM_FREE,
	CALL_MEM_RENEW,
	CALL_MEM_USERS,
	CALL_MEM_READ,
	CALL_MEM_WRITE, /* has no reply */
	CALL_POOL_NEW,
	CALL_POOL_FREE,
	CALL_POOL_AVAIL,
	CALL_RX_SETUP,
	CALL_RX,
	CALL_TX,
	NB_CALLS,
};

/* A call can be named in an error. */
const char *wire_call_name(uint32_t call);

/** Identifies the protocol of this very version: sizes of what is sent as it is. */
struct wire_hello {
	uint64_t magic;
	uint32_t nb_calls;
	uint32_t sizes[12];
	int32_t pid;
	uint16_t wake_port; /**< Where CALL_POLL_WATCH expects connections; of the agent. */
	uint16_t reserved;
};

void wire_hello_fill(struct wire_hello *hello);
/* Do both sides agree? */
bool wire_hello_match(const struct wire_hello *a, const struct wire_hello *b);

/** The most that one CALL_MEM_WRITE or CALL_MEM_READ carries. */
#define WIRE_CHUNK (1024 * 1024)
/** NULL in place of a string or of bytes. */
#define WIRE_NULL UINT32_MAX

struct wire_buf {
	uint8_t *data;
	size_t cap;
	size_t len;
	size_t pos; /**< How far it was read. */
};

struct wire {
	int fd;
	const char *peer;      /**< For errors: "agent 10.0.0.2:7000". */
	uint32_t call;         /**< Of the last frame begun or received. */
	struct wire_buf out;
	struct wire_buf in;
};

/* Bring a connected socket into the state that both sides need. */
void wire_init(struct wire *w, int fd, const char *peer);
void wire_close(struct wire *w);

void wire_begin(struct wire *w, enum call call);
/* A reply to the call just received, with its result and rte_errno. */
void wire_reply(struct wire *w, int64_t ret);
void wire_put(struct wire *w, const void *data, size_t len);
void wire_u64(struct wire *w, uint64_t value);
void wire_ptr(struct wire *w, const void *ptr);
/* Bytes with their length; data NULL is told. */
void wire_bytes(struct wire *w, const void *data, uint32_t len);
void wire_str(struct wire *w, const char *str);
void wire_send(struct wire *w);

/* Wait for a frame: false if the peer has closed the connection. */
bool wire_recv(struct wire *w);
/* Read from the frame; one that is too short fails the test. */
void wire_get(struct wire *w, void *data, size_t len);
uint64_t wire_get_u64(struct wire *w);
void *wire_get_ptr(struct wire *w);
/* Borrowed until the next frame is received; NULL if NULL was sent. */
const void *wire_get_bytes(struct wire *w, uint32_t *len);
const char *wire_get_str(struct wire *w);

#endif /* WIRE_H */
