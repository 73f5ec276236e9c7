/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * doca_cc in C++, where a callback has just the right type or does not compile.
 * Structures are declared before any header is included, as some programs do.
 * behaviour: A2
 */

#include <cstdio>

struct doca_cc_connection;
struct doca_cc_server;

#include <doca_cc.h>
#include <doca_cc_consumer.h>
#include <doca_cc_producer.h>
/* Together with all others. */
#include <doca_argp.h>
#include <doca_bitfield.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_buf_pool.h>
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#if __has_include(<doca_comm_channel.h>)
#include <doca_comm_channel.h>
#endif
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_types.h>
#include <doca_version.h>

#if COMCH_DOCA_GENERATION < 206
#define SEND_TASK(name) doca_cc_send_task##name
#define SERVER_SEND(name) doca_cc_server_send_task##name
#define CLIENT_SEND(name) doca_cc_client_send_task##name
#define PUT_TASK(name) doca_cc_producer_send_task##name
#define POST_TASK(name) doca_cc_consumer_post_recv_task##name
typedef size_t msg_len_t;
typedef bool changed_t;
#else
#define SEND_TASK(name) doca_cc_task_send##name
#define SERVER_SEND(name) doca_cc_server_task_send##name
#define CLIENT_SEND(name) doca_cc_client_task_send##name
#define PUT_TASK(name) doca_cc_producer_task_send##name
#define POST_TASK(name) doca_cc_consumer_task_post_recv##name
typedef uint32_t msg_len_t;
typedef uint8_t changed_t;
#endif

namespace
{

void
on_msg(struct doca_cc_event_msg_recv *, uint8_t *, msg_len_t, struct doca_cc_connection *)
{
}

void
on_connection(struct doca_cc_event_connection_status_changed *, struct doca_cc_connection *,
		changed_t)
{
}

void
on_consumer(struct doca_cc_event_consumer *, struct doca_cc_connection *, uint32_t)
{
}

void
on_sent(struct SEND_TASK() *task, union doca_data, union doca_data)
{
	doca_task_free(SEND_TASK(_as_task)(task));
}

void
on_put(struct PUT_TASK() *task, union doca_data, union doca_data)
{
	doca_task_free(PUT_TASK(_as_task)(task));
}

void
on_got(struct POST_TASK() *task, union doca_data, union doca_data)
{
	doca_task_free(POST_TASK(_as_task)(task));
}

int failures;

/* There is no object: all of them have to refuse. */
void
refuses(const char *what, doca_error_t ret)
{
	if (ret == DOCA_ERROR_INVALID_VALUE)
		return;
	fprintf(stderr, "%s: %s\n", what, doca_error_get_name(ret));
	failures++;
}
#define REFUSES(expr) refuses(#expr, expr)

} /* namespace */

int
main()
{
	struct doca_cc_server *server = nullptr;
	struct doca_cc_client *client = nullptr;
	struct doca_cc_producer *producer = nullptr;
	struct doca_cc_consumer *consumer = nullptr;
	struct SEND_TASK() *send;
	struct PUT_TASK() *put;
	struct POST_TASK() *post;
	char text[] = "text";
	const size_t len = sizeof(text);

	REFUSES(doca_cc_server_event_msg_recv_register(server, on_msg));
	REFUSES(doca_cc_client_event_msg_recv_register(client, on_msg));
	REFUSES(doca_cc_server_event_connection_register(server, on_connection, on_connection));
	REFUSES(doca_cc_server_event_consumer_register(server, on_consumer, on_consumer));
	REFUSES(doca_cc_client_event_consumer_register(client, on_consumer, on_consumer));
	REFUSES(SERVER_SEND(_set_conf)(server, on_sent, on_sent, 10));
	REFUSES(CLIENT_SEND(_set_conf)(client, on_sent, on_sent, 10));
	REFUSES(SERVER_SEND(_alloc_init)(server, nullptr, text, len, &send));
	REFUSES(CLIENT_SEND(_alloc_init)(client, nullptr, text, len, &send));
	REFUSES(PUT_TASK(_set_conf)(producer, on_put, on_put, 10));
	REFUSES(PUT_TASK(_alloc_init)(producer, nullptr, 1, &put));
	REFUSES(POST_TASK(_set_conf)(consumer, on_got, on_got, 10));
	REFUSES(POST_TASK(_alloc_init)(consumer, nullptr, &post));
#if COMCH_DOCA_GENERATION < 206
	REFUSES(doca_cc_cap_is_producer_supported(nullptr));
	REFUSES(doca_cc_cap_is_consumer_supported(nullptr));
	REFUSES(doca_cc_consumer_cap_get_max_log_num_tasks(nullptr, nullptr));
#else
	REFUSES(doca_cc_producer_cap_is_supported(nullptr));
	REFUSES(doca_cc_consumer_cap_is_supported(nullptr));
#endif
	return failures == 0 ? 0 : 1;
}
