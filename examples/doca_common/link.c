/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <doca_log.h>

#include "link.h"

DOCA_LOG_REGISTER(LINK);

/* How long the host goes on trying while no server listens, and how often. */
#define CONNECT_S 10
#define RETRY_US 100000

static volatile sig_atomic_t quit;

bool
link_check(struct link *link, doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return true;
	DOCA_LOG_ERR("%s: %s", what, doca_error_get_descr(result));
	if (link->error == DOCA_SUCCESS)
		link->error = result;
	return false;
}

/* Options */

static doca_error_t
take_text(char *to, size_t size, const char *text)
{
	if (strlen(text) >= size) {
		DOCA_LOG_ERR("'%s' is longer than %zu characters", text, size - 1);
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(to, text, strlen(text) + 1);
	return DOCA_SUCCESS;
}

/* The configuration that doca_argp_init() was given begins with a struct link. */

static doca_error_t
take_pci(void *value, void *config)
{
	struct link *link = config;

	return take_text(link->pci, sizeof(link->pci), value);
}

static doca_error_t
take_rep_pci(void *value, void *config)
{
	struct link *link = config;

	return take_text(link->rep_pci, sizeof(link->rep_pci), value);
}

static doca_error_t
take_name(void *value, void *config)
{
	struct link *link = config;

	return take_text(link->name, sizeof(link->name), value);
}

doca_error_t
link_option(const char *letter, const char *name, const char *arguments, const char *help,
		enum doca_argp_type type, doca_argp_param_cb_t callback)
{
	struct doca_argp_param *param;
	doca_error_t result;

	result = doca_argp_param_create(&param);
	if (result != DOCA_SUCCESS)
		return result;
	doca_argp_param_set_short_name(param, letter);
	doca_argp_param_set_long_name(param, name);
	if (arguments != NULL)
		doca_argp_param_set_arguments(param, arguments);
	doca_argp_param_set_description(param, help);
	doca_argp_param_set_type(param, type);
	doca_argp_param_set_callback(param, callback);
	/* From here on it is the parser's. */
	return doca_argp_register_param(param);
}

doca_error_t
link_options(struct link *link)
{
	doca_error_t result;

	/* Those of the device table that is built in. */
	strcpy(link->pci, LINK_IS_DPU ? "03:00.0" : "b1:00.0");
	strcpy(link->rep_pci, "b1:00.0");
	result = link_option("p", "pci-addr", "<address>", "PCI address of the device",
			DOCA_ARGP_TYPE_STRING, take_pci);
	if (result == DOCA_SUCCESS && LINK_IS_DPU)
		result = link_option("r", "rep-pci", "<address>",
				"PCI address of the host's function",
				DOCA_ARGP_TYPE_STRING, take_rep_pci);
	if (result == DOCA_SUCCESS)
		result = link_option("n", "name", "<name>", "name of the server",
				DOCA_ARGP_TYPE_STRING, take_name);
	return result;
}

/* Devices */

/* Lists are copies: what was opened stays when its list is gone. */
static doca_error_t
open_device(struct link *link)
{
	struct doca_devinfo **list;
	doca_error_t result;
	uint8_t is_it;
	uint32_t n, i;

	result = doca_devinfo_create_list(&list, &n);
	if (result != DOCA_SUCCESS)
		return result;
	result = DOCA_ERROR_NOT_FOUND;
	for (i = 0; i < n && result == DOCA_ERROR_NOT_FOUND; i++)
		if (doca_devinfo_is_equal_pci_addr(list[i], link->pci, &is_it) == DOCA_SUCCESS &&
				is_it)
			result = doca_dev_open(list[i], &link->dev);
	doca_devinfo_destroy_list(list);
	return result;
}

#ifdef DOCA_ARCH_DPU
static doca_error_t
open_representor(struct link *link)
{
	struct doca_devinfo_rep **list;
	doca_error_t result;
	uint8_t is_it;
	uint32_t n, i;

	result = doca_devinfo_rep_create_list(link->dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &n);
	if (result != DOCA_SUCCESS)
		return result;
	result = DOCA_ERROR_NOT_FOUND;
	for (i = 0; i < n && result == DOCA_ERROR_NOT_FOUND; i++)
		if (doca_devinfo_rep_is_equal_pci_addr(list[i], link->rep_pci, &is_it) ==
				DOCA_SUCCESS && is_it)
			result = doca_dev_rep_open(list[i], &link->rep);
	doca_devinfo_rep_destroy_list(list);
	return result;
}
#endif

enum doca_ctx_states
link_state(const struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	return ctx != NULL && doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS ? state :
		DOCA_CTX_STATE_IDLE;
}

/* Callbacks of servers and clients */

/* A connection knows its server or client, and that as a context knows us. */
static struct link *
link_of(const struct doca_comch_connection *conn)
{
	union doca_data data = { .ptr = NULL };

#ifdef DOCA_ARCH_DPU
	doca_ctx_get_user_data(doca_comch_server_as_ctx(doca_comch_server_get_server_ctx(conn)),
			&data);
#else
	doca_ctx_get_user_data(doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(conn)),
			&data);
#endif
	return data.ptr;
}

static void
come_up(struct link *link, struct doca_comch_connection *conn)
{
	link->conn = conn;
	link->was_up = true;
	if (link->on_up != NULL)
		link->on_up(link);
}

static void
on_msg(struct doca_comch_event_msg_recv *event, uint8_t *data, uint32_t len,
		struct doca_comch_connection *conn)
{
	struct link *link = link_of(conn);

	(void)event;
	/* The data are ours for the time of this call only. */
	if (link->conn == conn && link->on_msg != NULL)
		link->on_msg(link, data, len);
}

static void
on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct link *link = ctx_data.ptr;

	(void)task_data;
	doca_task_free(doca_comch_task_send_as_task(task));
	if (link->on_sent != NULL)
		link->on_sent(link);
}

static void
on_unsent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct link *link = ctx_data.ptr;
	struct doca_task *t = doca_comch_task_send_as_task(task);

	(void)task_data;
	/* After the peer's end that is no news. */
	if (link->conn != NULL)
		link_check(link, doca_task_get_status(t), "a message was not sent");
	doca_task_free(t);
}

static void
on_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *conn,
		uint32_t id)
{
	struct link *link = link_of(conn);

	(void)event;
	if (link->conn == conn && link->on_consumer != NULL)
		link->on_consumer(link, id);
}

static void
on_consumer_gone(struct doca_comch_event_consumer *event, struct doca_comch_connection *conn,
		uint32_t id)
{
	(void)event;
	(void)conn;
	(void)id;
}

/* A server or client is like any context: an engine, our data, start. */
static doca_error_t
start(struct link *link)
{
	const union doca_data data = { .ptr = link };
	doca_error_t result;

	result = doca_pe_connect_ctx(link->pe, link->ctx);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(link->ctx, data);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(link->ctx);
	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result;
}

#ifdef DOCA_ARCH_DPU

static void
on_connected(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t is_good)
{
	struct link *link = link_of(conn);

	(void)event;
	/* These examples talk to one host at a time, and to one in all. */
	if (is_good && !link->was_up)
		come_up(link, conn);
	else
		doca_comch_server_disconnect(link->server, conn);
}

static void
on_disconnected(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t is_good)
{
	struct link *link = link_of(conn);

	(void)event;
	(void)is_good;
	if (link->conn == conn)
		link->conn = NULL;
}

static doca_error_t
open_end(struct link *link)
{
	struct doca_comch_server *s;
	doca_error_t result;

	result = doca_comch_server_create(link->dev, link->rep, link->name, &s);
	if (result != DOCA_SUCCESS)
		return result;
	link->server = s;
	link->ctx = doca_comch_server_as_ctx(s);
	result = doca_comch_server_task_send_set_conf(s, on_sent, on_unsent, LINK_TASKS);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_msg_recv_register(s, on_msg);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_connection_status_changed_register(s,
				on_connected, on_disconnected);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_consumer_register(s, on_consumer,
				on_consumer_gone);
	return result == DOCA_SUCCESS ? start(link) : result;
}

#else /* the host */

static void
on_state(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states before,
		enum doca_ctx_states state)
{
	struct link *link = user_data.ptr;
	struct doca_comch_connection *conn;

	(void)ctx;
	(void)before;
	if (state != DOCA_CTX_STATE_RUNNING)
		link->conn = NULL;
	else if (link_check(link, doca_comch_client_get_connection(link->client, &conn),
			"the client's connection"))
		come_up(link, conn);
}

/* A client that found no server is idle again, and may be started once more. */
static doca_error_t
connect_client(struct link *link)
{
	time_t end = time(NULL) + CONNECT_S;
	doca_error_t result;

	result = start(link);
	while (result == DOCA_SUCCESS && link_state(link->ctx) != DOCA_CTX_STATE_RUNNING) {
		if (doca_pe_progress(link->pe) != 0)
			continue;
		if (link_state(link->ctx) != DOCA_CTX_STATE_IDLE) {
			usleep(100);
			continue;
		}
		if (quit || time(NULL) >= end)
			return DOCA_ERROR_CONNECTION_ABORTED;
		usleep(RETRY_US);
		result = doca_ctx_start(link->ctx);
		if (result == DOCA_ERROR_IN_PROGRESS)
			result = DOCA_SUCCESS;
	}
	return result;
}

static doca_error_t
open_end(struct link *link)
{
	struct doca_comch_client *c;
	doca_error_t result;

	result = doca_comch_client_create(link->dev, link->name, &c);
	if (result != DOCA_SUCCESS)
		return result;
	link->client = c;
	link->ctx = doca_comch_client_as_ctx(c);
	result = doca_comch_client_task_send_set_conf(c, on_sent, on_unsent, LINK_TASKS);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_event_msg_recv_register(c, on_msg);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_event_consumer_register(c, on_consumer,
				on_consumer_gone);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_state_changed_cb(link->ctx, on_state);
	return result == DOCA_SUCCESS ? connect_client(link) : result;
}

#endif

static void
on_signal(int sig)
{
	(void)sig;
	quit = 1;
}

/* Blocked but for the time of a sleep: so none comes between a look and a sleep. */
static void
catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

doca_error_t
link_open(struct link *link)
{
	catch_signals();
	if (!link_check(link, open_device(link), link->pci))
		return link->error;
#ifdef DOCA_ARCH_DPU
	if (!link_check(link, open_representor(link), link->rep_pci))
		return link->error;
#endif
	if (link_check(link, doca_pe_create(&link->pe), "a progress engine"))
		link_check(link, open_end(link), LINK_IS_DPU ? "listening" : "connecting");
	return link->error;
}

doca_error_t
link_send(struct link *link, const void *data, size_t len)
{
	struct doca_comch_task_send *task;
	doca_error_t result;

#ifdef DOCA_ARCH_DPU
	result = doca_comch_server_task_send_alloc_init(link->server, link->conn, data,
			(uint32_t)len, &task);
#else
	result = doca_comch_client_task_send_alloc_init(link->client, link->conn, data,
			(uint32_t)len, &task);
#endif
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_task_submit(doca_comch_task_send_as_task(task));
	if (result != DOCA_SUCCESS)
		doca_task_free(doca_comch_task_send_as_task(task));
	return result;
}

/*
 * Arm, sleep, clear. What has happened since the last progress makes the handle
 * readable at once, so nothing is missed.
 */
static void
sleep_on(struct link *link)
{
	struct pollfd pfd = { .events = POLLIN };
	sigset_t none;

	sigemptyset(&none);
	if (link_check(link, doca_pe_get_notification_handle(link->pe, &pfd.fd),
				"the engine's handle") &&
			link_check(link, doca_pe_request_notification(link->pe), "arming")) {
		ppoll(&pfd, 1, NULL, &none);
		doca_pe_clear_notification(link->pe, pfd.fd);
	}
}

void
link_run(struct link *link)
{
	uint8_t is_busy;

	while (!quit && link->error == DOCA_SUCCESS && !link->is_done(link) &&
			!(link->was_up && link->conn == NULL)) {
		is_busy = doca_pe_progress(link->pe);
		if (link->on_turn != NULL)
			link->on_turn(link);
		if (!is_busy)
			sleep_on(link);
	}
	if (quit)
		DOCA_LOG_INFO("Interrupted");
}

void
link_until_idle(struct link *link, struct doca_ctx *ctx)
{
	while (link_state(ctx) != DOCA_CTX_STATE_IDLE)
		doca_pe_progress(link->pe);
}

void
link_close(struct link *link)
{
	if (link->ctx != NULL) {
		if (link_state(link->ctx) != DOCA_CTX_STATE_IDLE)
			doca_ctx_stop(link->ctx);
		link_until_idle(link, link->ctx);
	}
	if (link->server != NULL)
		doca_comch_server_destroy(link->server);
	if (link->client != NULL)
		doca_comch_client_destroy(link->client);
	if (link->pe != NULL)
		doca_pe_destroy(link->pe);
	if (link->rep != NULL)
		doca_dev_rep_close(link->rep);
	if (link->dev != NULL)
		doca_dev_close(link->dev);
}
