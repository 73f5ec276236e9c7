/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Control path, DPU side: a server that prints and answers every message.
 *
 * It sleeps while idle. Ctrl-C stops the server: all clients are disconnected, and
 * the program exits after the last one.
 */

#include "../common/example.h"
#include "../common/text.h"

#define ANSWER "Message from the server"

struct app {
	/* Options. */
	const char *dev;
	const char *name;
	uint64_t max_gone; /* Exit after this many disconnects; 0: never. */
	bool busy;

	int16_t dev_id;
	struct rte_comch_poll *poll;
	struct rte_comch_server *server;
	uint64_t nb_gone;
};

/* State of a connection: its user data points here. */
struct session {
	uint64_t received;
	uint64_t answered;
};

static struct session *
session_of(const struct rte_comch_conn *conn)
{
	return (struct session *)(uintptr_t)rte_comch_conn_user_data_get(conn);
}

static void
session_begin(struct rte_comch_conn *conn)
{
	struct rte_comch_conn_info info;
	struct session *session = calloc(1, sizeof(*session));

	if (session == NULL) {
		rte_comch_conn_disconnect(conn, "the server is out of memory");
		return;
	}
	rte_comch_conn_user_data_set(conn, (uintptr_t)session);
	rte_comch_conn_info_get(conn, &info);
	printf("client %u: connected (pid %d, uid %d), messages of up to %u bytes\n",
			info.id, info.peer_pid, info.peer_uid, info.max_msg_size);
}

static void
session_end(struct app *app, const struct rte_comch_event *ev)
{
	struct rte_comch_conn_info info;
	struct session *session = session_of(ev->conn);

	rte_comch_conn_info_get(ev->conn, &info);
	printf("client %u: disconnected after %" PRIu64 " messages: %s\n", info.id,
			session != NULL ? session->received : 0,
			ev->text != NULL ? ev->text : strerror(-ev->status));
	free(session);
	app->nb_gone++;
}

/*
 * Send the answers that are due. If the client sends faster than it takes answers,
 * send_burst() takes none. The SENT event of an earlier answer then continues.
 */
static void
session_answer(struct rte_comch_conn *conn)
{
	struct session *session = session_of(conn);
	const struct rte_comch_msg msg = { .data = ANSWER, .len = strlen(ANSWER) };

	while (session != NULL && session->answered < session->received) {
		if (rte_comch_conn_send_burst(conn, &msg, 1) == 0)
			return;
		session->answered++;
	}
}

static void
on_message(const struct rte_comch_event *ev)
{
	struct rte_comch_conn_info info;
	struct session *session = session_of(ev->conn);

	if (session == NULL)
		return;
	rte_comch_conn_info_get(ev->conn, &info);
	/* The bytes are valid until the next run, and may be anything. */
	printf("client %u: ", info.id);
	text_print("\"", ev->msg.data, ev->msg.len, "\"\n");
	session->received++;
	session_answer(ev->conn);
}

static void
on_event(struct app *app, const struct rte_comch_event *ev)
{
	switch (ev->type) {
	case RTE_COMCH_EVENT_CONNECTED:
		session_begin(ev->conn);
		break;
	case RTE_COMCH_EVENT_DISCONNECTED:
		session_end(app, ev);
		break;
	case RTE_COMCH_EVENT_MSG:
		on_message(ev);
		break;
	case RTE_COMCH_EVENT_SENT:
		/* Otherwise the client has disconnected, and DISCONNECTED follows. */
		if (ev->status == 0)
			session_answer(ev->conn);
		break;
	default:
		break;
	}
}

static bool
time_to_stop(const struct app *app)
{
	return example_quit || (app->max_gone != 0 && app->nb_gone >= app->max_gone);
}

static void
serve(struct app *app)
{
	struct rte_comch_event events[32];
	uint16_t n, i;

	while (rte_comch_server_state(app->server) != RTE_COMCH_STATE_IDLE) {
		n = rte_comch_poll_run(app->poll, events, RTE_DIM(events));
		for (i = 0; i < n; i++)
			on_event(app, &events[i]);

		/* 0: IDLE at once. -EINPROGRESS: IDLE after the last client. */
		if (time_to_stop(app) &&
				rte_comch_server_state(app->server) == RTE_COMCH_STATE_RUNNING)
			rte_comch_server_stop(app->server);
		else if (n == 0 && !app->busy)
			example_sleep(app->poll, -1);
	}
}

static int
set_up(struct app *app)
{
	struct rte_comch_server_conf conf = {
		.conf_size = sizeof(conf),
		.name = app->name,
		.rep = 0, /* The first representor of the device string. */
	};
	int ret;

	ret = rte_comch_dev_probe(app->dev, &app->dev_id);
	if (ret < 0)
		return example_error(app->dev, ret);
	app->poll = rte_comch_poll_create(NULL);
	if (app->poll == NULL)
		return example_error("create poll", rte_errno);
	conf.poll = app->poll;
	app->server = rte_comch_server_create(app->dev_id, &conf);
	if (app->server == NULL)
		return example_error("create server", rte_errno);
	ret = rte_comch_server_start(app->server);
	if (ret < 0)
		return example_error(app->name, ret);
	printf("server '%s' is ready on %s\n", app->name, app->dev);
	return 0;
}

static void
tear_down(struct app *app)
{
	if (app->server != NULL)
		rte_comch_server_destroy(app->server);
	if (app->poll != NULL)
		rte_comch_poll_destroy(app->poll);
	if (app->dev_id >= 0)
		rte_comch_dev_close(app->dev_id);
}

int
main(int argc, char **argv)
{
	struct app app = {
		.dev = "comch_shm0,role=dpu,rep=pf0",
		.name = "ctrl_path",
		.dev_id = -1,
	};
	const struct example_option options[] = {
		EXAMPLE_TEXT('d', "dev", "DEVARGS", "device string", &app.dev),
		EXAMPLE_TEXT('n', "name", "NAME", "server name", &app.name),
		EXAMPLE_NUMBER('c', "clients", "N", "exit after N clients; 0: on Ctrl-C",
				&app.max_gone, 0, UINT32_MAX),
		EXAMPLE_FLAG('b', "busy", "spin instead of sleeping", &app.busy),
	};
	int ret;

	ret = example_options(argc, argv, options, RTE_DIM(options));
	if (ret == 0)
		ret = example_start(1);
	if (ret != 0)
		return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;

	ret = set_up(&app);
	if (ret == 0)
		serve(&app);
	tear_down(&app);
	example_end();
	return ret == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
