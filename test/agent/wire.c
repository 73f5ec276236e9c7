/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <rte_comch_dp.h>
#include <rte_comch_poll.h>
#include <rte_comch_stats.h>

#include "t.h"
#include "wire.h"

#define WIRE_MAGIC UINT64_C(0x31746e6567614343)
/* Longer frames are errors. */
#define MAX_FRAME (256 * 1024 * 1024)

struct frame {
	uint32_t call;
	uint32_t len; /* without this header */
};

const char *
wire_call_name(uint32_t call)
{
#define CALL_NAME(obj, name, ...) [CALL_##obj##_##name] = #obj "_" #name,
	static const char *const names[NB_CALLS] = {
		CALLS_INT(CALL_NAME) CALLS_OBJ(CALL_NAME) CALLS_GET(CALL_NAME)
	};
	static __thread char buf[16];

	if (call < NB_CALLS && names[call] != NULL)
		return names[call];
	snprintf(buf, sizeof(buf), "call %u", call);
	return buf;
}

void
wire_hello_fill(struct wire_hello *hello)
{
	*hello = (struct wire_hello){
		.magic = WIRE_MAGIC,
		.nb_calls = NB_CALLS,
		.sizes = {
			sizeof(struct rte_comch_event), sizeof(struct rte_comch_op),
			sizeof(struct rte_comch_buf), sizeof(struct rte_comch_cpl),
			sizeof(struct rte_comch_dev_info), sizeof(struct rte_comch_conn_info),
			sizeof(struct rte_comch_server_conf),
			sizeof(struct rte_comch_client_conf),
			sizeof(struct rte_comch_producer_conf),
			sizeof(struct rte_comch_consumer_conf),
			sizeof(struct rte_comch_producer_stats),
			sizeof(struct rte_comch_consumer_stats),
		},
		.pid = (int32_t)getpid(),
	};
}

bool
wire_hello_match(const struct wire_hello *a, const struct wire_hello *b)
{
	return a->magic == b->magic && a->nb_calls == b->nb_calls &&
		memcmp(a->sizes, b->sizes, sizeof(a->sizes)) == 0;
}

static void
set_option(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)) != 0)
		T_FAIL("setsockopt %d: %s", name, strerror(errno));
}

void
wire_init(struct wire *w, int fd, const char *peer)
{
	memset(w, 0, sizeof(*w));
	w->fd = fd;
	w->peer = peer;
	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	/* A machine that is gone is noticed in a quarter of a minute. */
	set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 5);
	set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
	set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 2);
	set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 15000);
}

void
wire_close(struct wire *w)
{
	close(w->fd);
	free(w->out.data);
	free(w->in.data);
	memset(w, 0, sizeof(*w));
	w->fd = -1;
}

/* Room for len bytes after those that are there. */
static uint8_t *
room(struct wire_buf *b, size_t len)
{
	if (b->len + len > b->cap) {
		b->cap = RTE_MAX(b->cap * 2, b->len + len + 4096);
		b->data = realloc(b->data, b->cap);
		if (b->data == NULL)
			T_FAIL("no memory for a frame of %zu bytes", b->cap);
	}
	return b->data + b->len;
}

void
wire_put(struct wire *w, const void *data, size_t len)
{
	uint8_t *at = room(&w->out, len);

	if (len > 0)
		memcpy(at, data, len);
	w->out.len += len;
}

void
wire_begin(struct wire *w, enum call call)
{
	const struct frame head = { .call = call };

	w->call = call;
	w->out.len = 0;
	wire_put(w, &head, sizeof(head));
}

void
wire_reply(struct wire *w, int64_t ret)
{
	const int64_t err = rte_errno;

	wire_begin(w, w->call);
	wire_put(w, &ret, sizeof(ret));
	wire_put(w, &err, sizeof(err));
}

void
wire_u64(struct wire *w, uint64_t value)
{
	wire_put(w, &value, sizeof(value));
}

void
wire_ptr(struct wire *w, const void *ptr)
{
	wire_u64(w, (uintptr_t)ptr);
}

void
wire_bytes(struct wire *w, const void *data, uint32_t len)
{
	const uint32_t told = data == NULL ? WIRE_NULL : len;

	wire_put(w, &told, sizeof(told));
	if (data != NULL)
		wire_put(w, data, len);
}

void
wire_str(struct wire *w, const char *str)
{
	wire_bytes(w, str, str == NULL ? 0 : (uint32_t)strlen(str) + 1);
}

void
wire_send(struct wire *w)
{
	struct frame *head = (struct frame *)w->out.data;
	size_t done = 0;
	ssize_t n;

	head->len = (uint32_t)(w->out.len - sizeof(*head));
	while (done < w->out.len) {
		n = send(w->fd, w->out.data + done, w->out.len - done, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			T_FAIL("%s: %s: send: %s", w->peer, wire_call_name(w->call),
					strerror(errno));
		done += (size_t)n;
	}
}

/* False: closed at the very begin. */
static bool
read_all(struct wire *w, void *data, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = recv(w->fd, (uint8_t *)data + done, len - done, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0 && done == 0)
			return false;
		if (n <= 0)
			T_FAIL("%s: %s: %s", w->peer, wire_call_name(w->call),
					n == 0 ? "connection closed" :
					errno == EAGAIN ? "no answer" : strerror(errno));
		done += (size_t)n;
	}
	return true;
}

bool
wire_recv(struct wire *w)
{
	struct frame head;

	if (!read_all(w, &head, sizeof(head)))
		return false;
	if (head.call >= NB_CALLS || head.len > MAX_FRAME)
		T_FAIL("%s: invalid frame: call %u, %u bytes", w->peer, head.call, head.len);
	w->call = head.call;
	w->in.len = 0;
	w->in.pos = 0;
	if (head.len > 0 && !read_all(w, room(&w->in, head.len), head.len))
		T_FAIL("%s: %s: connection closed", w->peer, wire_call_name(w->call));
	w->in.len = head.len;
	return true;
}

static const uint8_t *
take(struct wire *w, size_t len)
{
	const uint8_t *at = w->in.data + w->in.pos;

	if (len > w->in.len - w->in.pos)
		T_FAIL("%s: %s: frame of %zu bytes is too short", w->peer,
				wire_call_name(w->call), w->in.len);
	w->in.pos += len;
	return at;
}

void
wire_get(struct wire *w, void *data, size_t len)
{
	const uint8_t *at = take(w, len);

	if (len > 0)
		memcpy(data, at, len);
}

uint64_t
wire_get_u64(struct wire *w)
{
	uint64_t value;

	wire_get(w, &value, sizeof(value));
	return value;
}

void *
wire_get_ptr(struct wire *w)
{
	return (void *)(uintptr_t)wire_get_u64(w);
}

const void *
wire_get_bytes(struct wire *w, uint32_t *len)
{
	uint32_t told;

	wire_get(w, &told, sizeof(told));
	*len = told == WIRE_NULL ? 0 : told;
	return told == WIRE_NULL ? NULL : take(w, told);
}

const char *
wire_get_str(struct wire *w)
{
	uint32_t len;
	const char *str = wire_get_bytes(w, &len);

	if (str != NULL && (len == 0 || str[len - 1] != '\0'))
		T_FAIL("%s: %s: string without an end", w->peer, wire_call_name(w->call));
	return str;
}
