/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* No header of C here: those of DOCA bring what they bring. behaviour: G11 */
#include "app.h"

DOCA_LOG_REGISTER(PROGRAM::APP);

#define NB_TASKS 10

enum doca_ctx_states
app_state(struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	(void)FAILS(doca_ctx_get_state(ctx, &state));
	return state;
}

/* Callbacks */

static struct app *
app_of(struct CH(connection) *conn)
{
	union doca_data data = { .ptr = NULL };

#ifdef DOCA_ARCH_DPU
	(void)doca_ctx_get_user_data(CH(server_as_ctx)(CH(server_get_server_ctx)(conn)), &data);
#else
	(void)doca_ctx_get_user_data(CH(client_as_ctx)(CH(client_get_client_ctx)(conn)), &data);
#endif
	return (struct app *)data.ptr;
}

static void
on_msg(struct CH(event_msg_recv) *event, uint8_t *recv_buffer, msg_len_t msg_len,
		struct CH(connection) *conn)
{
	struct app *app = app_of(conn);

	(void)event;
	free(app->msg);
	app->msg = (char *)malloc(msg_len + 1);
	if (app->msg == NULL) {
		app->failed = true;
		return;
	}
	memcpy(app->msg, recv_buffer, msg_len);
	app->msg[msg_len] = '\0';
	DOCA_LOG_INFO("received: %s", app->msg);
}

static void
on_new_consumer(struct CH(event_consumer) *event, struct CH(connection) *conn, uint32_t id)
{
	(void)event;
	app_of(conn)->consumer_id = id;
}

static void
on_gone_consumer(struct CH(event_consumer) *event, struct CH(connection) *conn, uint32_t id)
{
	(void)event;
	(void)conn;
	(void)id;
}

static void
on_sent(struct SEND_TASK() *task, union doca_data task_data, union doca_data ctx_data)
{
	struct app *app = (struct app *)ctx_data.ptr;

	(void)task_data;
	app->nb_unsent--;
	doca_task_free(SEND_TASK(_as_task)(task));
}

static void
on_send_error(struct SEND_TASK() *task, union doca_data task_data, union doca_data ctx_data)
{
	struct app *app = (struct app *)ctx_data.ptr;

	app->failed = true;
	(void)FAILS(doca_task_get_status(SEND_TASK(_as_task)(task)));
	on_sent(task, task_data, ctx_data);
}

#ifdef DOCA_ARCH_DPU

static void
on_connected(struct CH(event_connection_status_changed) *event, struct CH(connection) *conn,
		changed_t success)
{
	struct app *app = app_of(conn);

	(void)event;
	if (success)
		app->conn = conn;
}

static void
on_disconnected(struct CH(event_connection_status_changed) *event,
		struct CH(connection) *conn, changed_t success)
{
	(void)event;
	(void)success;
	app_of(conn)->ended = true;
}

#endif /* DOCA_ARCH_DPU */

static void
on_state(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
		enum doca_ctx_states next)
{
	struct app *app = (struct app *)user_data.ptr;

	(void)ctx;
	if (next == DOCA_CTX_STATE_IDLE) {
		app->ended = true;
		/* It was never established. */
		app->failed = app->failed || prev == DOCA_CTX_STATE_STARTING;
	}
}

/* The server, the client */

static bool
start_ctx(struct app *app, struct doca_ctx *ctx, doca_error_t expected)
{
	const union doca_data data = { .ptr = app };

	app->ctx = ctx;
	if (FAILS(doca_pe_create(&app->pe)) || FAILS(doca_pe_connect_ctx(app->pe, ctx)) ||
			FAILS(doca_ctx_set_user_data(ctx, data)) ||
			FAILS(doca_ctx_set_state_changed_cb(ctx, on_state)))
		return false;
	return doca_ctx_start(ctx) == expected;
}

#ifdef DOCA_ARCH_DPU

static bool
open_channel(struct app *app)
{
	struct doca_dev_rep *rep = NULL;

	if (!base_open_rep(app->dev, app->options.rep_pci, &app->rep))
		return false;
	if (FAILS(CH(cap_server_is_supported)(doca_dev_as_devinfo(app->dev))) ||
			FAILS(CH(server_create)(app->dev, app->rep, app->options.name,
				&app->server)) ||
			FAILS(CH(server_set_max_msg_size)(app->server, 4080)) ||
			FAILS(CH(server_set_recv_queue_size)(app->server, NB_TASKS)) ||
			FAILS(SERVER_SEND(_set_conf)(app->server, on_sent, on_send_error,
				NB_TASKS)) ||
			FAILS(CH(server_event_msg_recv_register)(app->server, on_msg)) ||
			FAILS(CONNECTION_REGISTER(app->server, on_connected, on_disconnected)) ||
			FAILS(CH(server_event_consumer_register)(app->server, on_new_consumer,
				on_gone_consumer)) ||
			FAILS(SERVER_GET_REP(app->server, &rep)) || rep != app->rep)
		return false;
	if (!start_ctx(app, CH(server_as_ctx)(app->server), DOCA_SUCCESS))
		return false;
	DOCA_LOG_INFO("listening");
	app_until(app, app->conn != NULL);
	return true;
}

static void
close_channel(struct app *app)
{
	if (app->server != NULL && FAILS(CH(server_destroy)(app->server)))
		app->failed = true;
	if (app->rep != NULL && FAILS(doca_dev_rep_close(app->rep)))
		app->failed = true;
}

static doca_error_t
alloc_send(struct app *app, const char *text, struct SEND_TASK() **task)
{
	return SERVER_SEND(_alloc_init)(app->server, app->conn, text, (uint32_t)strlen(text), task);
}

#else /* DOCA_ARCH_HOST */

static bool
open_channel(struct app *app)
{
	if (FAILS(CH(cap_client_is_supported)(doca_dev_as_devinfo(app->dev))) ||
			FAILS(CH(client_create)(app->dev, app->options.name, &app->client)) ||
			FAILS(CH(client_set_max_msg_size)(app->client, 4080)) ||
			FAILS(CH(client_set_recv_queue_size)(app->client, NB_TASKS)) ||
			FAILS(CLIENT_SEND(_set_conf)(app->client, on_sent, on_send_error,
				NB_TASKS)) ||
			FAILS(CH(client_event_msg_recv_register)(app->client, on_msg)) ||
			FAILS(CH(client_event_consumer_register)(app->client, on_new_consumer,
				on_gone_consumer)))
		return false;
	if (!start_ctx(app, CH(client_as_ctx)(app->client), DOCA_ERROR_IN_PROGRESS))
		return false;
	app_until(app, app_state(app->ctx) == DOCA_CTX_STATE_RUNNING);
	return !app->failed && !FAILS(CH(client_get_connection)(app->client, &app->conn));
}

static void
close_channel(struct app *app)
{
	if (app->client != NULL && FAILS(CH(client_destroy)(app->client)))
		app->failed = true;
}

static doca_error_t
alloc_send(struct app *app, const char *text, struct SEND_TASK() **task)
{
	return CLIENT_SEND(_alloc_init)(app->client, app->conn, text, (uint32_t)strlen(text), task);
}

#endif /* DOCA_ARCH_HOST */

bool
app_open(struct app *app, const char *program, int argc, char **argv)
{
	memset(app, 0, sizeof(*app));
	return base_start(&app->options, program, argc, argv) &&
		base_open_dev(app->options.pci, &app->dev) && open_channel(app);
}

bool
app_send(struct app *app, const char *text)
{
	struct SEND_TASK() *task;

	if (FAILS(alloc_send(app, text, &task)))
		return false;
	if (FAILS(doca_task_submit(SEND_TASK(_as_task)(task)))) {
		doca_task_free(SEND_TASK(_as_task)(task));
		return false;
	}
	app->nb_unsent++;
	app_until(app, app->nb_unsent == 0);
	return !app->failed;
}

int
app_close(struct app *app)
{
	/* The client says goodbye, and the server waits for that. */
#ifdef DOCA_ARCH_DPU
	if (app->conn != NULL)
		app_until(app, app->ended);
#endif
	if (app->ctx != NULL && app_state(app->ctx) != DOCA_CTX_STATE_IDLE) {
		(void)doca_ctx_stop(app->ctx);
		while (app_state(app->ctx) != DOCA_CTX_STATE_IDLE)
			(void)doca_pe_progress(app->pe);
	}
	close_channel(app);
	if (app->pe != NULL && FAILS(doca_pe_destroy(app->pe)))
		app->failed = true;
	if (app->dev != NULL && FAILS(doca_dev_close(app->dev)))
		app->failed = true;
	free(app->msg);
	options_end();
	return app->failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
