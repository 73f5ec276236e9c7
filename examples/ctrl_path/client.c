/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Control path, host side: a client that sends a text several times, or the lines
 * of its standard input, and prints the server's answers.
 *
 * It exits when every message is answered, on Ctrl-C, or when the server
 * disconnects.
 */

#include <unistd.h>

#include "../common/example.h"
#include "../common/text.h"

struct app {
	/* Options. */
	const char *dev;
	const char *name;
	const char *text;
	uint64_t count;
	uint64_t wait_ms;
	bool from_stdin;
	bool busy;

	int16_t dev_id;
	struct rte_comch_poll *poll;
	struct rte_comch_client *client;
	struct rte_comch_conn *conn; /* NULL before CONNECTED and after DISCONNECTED. */
	uint64_t nb_sent;
	uint64_t nb_delivered;
	uint64_t nb_answers;
	bool input_ended;
	bool failed;
	bool ended;
	char input[4080]; /* Input that was read and not sent yet. */
	size_t input_len;
};

static bool
send_text(struct app *app, const char *text, size_t len)
{
	const struct rte_comch_msg msg = {
		.data = text,
		.len = len,
		.cookie = app->nb_sent,
	};

	if (rte_comch_conn_send_burst(app->conn, &msg, 1) == 0)
		return false;
	app->nb_sent++;
	return true;
}

/* Length of the first input line including its newline; 0: incomplete. */
static size_t
line_len(const struct app *app)
{
	const char *end = memchr(app->input, '\n', app->input_len);

	if (end != NULL)
		return (size_t)(end - app->input) + 1;
	return app->input_ended || app->input_len == sizeof(app->input) ? app->input_len : 0;
}

static void
send_lines(struct app *app)
{
	size_t len;

	while ((len = line_len(app)) > 0) {
		if (!send_text(app, app->input, len - (app->input[len - 1] == '\n')))
			return;
		app->input_len -= len;
		memmove(app->input, app->input + len, app->input_len);
	}
}

/* Send pending messages. If the queue is full, the next SENT event continues. */
static void
send_due(struct app *app)
{
	if (app->conn == NULL)
		return;
	if (app->from_stdin) {
		send_lines(app);
		return;
	}
	while (app->nb_sent < app->count)
		if (!send_text(app, app->text, strlen(app->text)))
			return;
	app->input_ended = true;
}

static void
read_input(struct app *app)
{
	ssize_t len = read(STDIN_FILENO, app->input + app->input_len,
			sizeof(app->input) - app->input_len);

	if (len <= 0)
		app->input_ended = true;
	else
		app->input_len += (size_t)len;
	send_due(app);
}

static void
on_connected(struct app *app, const struct rte_comch_event *ev)
{
	struct rte_comch_conn_info info;

	app->conn = ev->conn;
	rte_comch_conn_info_get(ev->conn, &info);
	printf("connected to '%s' (pid %d, uid %d), messages of up to %u bytes\n",
			info.name, info.peer_pid, info.peer_uid, info.max_msg_size);
	send_due(app);
}

static void
on_sent(struct app *app, const struct rte_comch_event *ev)
{
	if (ev->status == 0) {
		app->nb_delivered++;
		send_due(app);
		return;
	}
	/* Report only the first failure. */
	if (!app->failed)
		EXAMPLE_ERR("message %" PRIu64 ": %s", ev->sent.cookie,
				rte_strerror(-ev->status));
	app->failed = true;
}

/* IDLE is the end; status is an error unless we stopped the client. */
static void
on_state(struct app *app, const struct rte_comch_event *ev)
{
	if (ev->state.next != RTE_COMCH_STATE_IDLE)
		return;
	app->ended = true;
	if (ev->status == 0)
		return;
	EXAMPLE_ERR("%s", ev->text != NULL ? ev->text : rte_strerror(-ev->status));
	app->failed = true;
}

static void
on_event(struct app *app, const struct rte_comch_event *ev)
{
	switch (ev->type) {
	case RTE_COMCH_EVENT_CONNECTED:
		on_connected(app, ev);
		break;
	case RTE_COMCH_EVENT_DISCONNECTED:
		app->conn = NULL;
		break;
	case RTE_COMCH_EVENT_MSG:
		text_print("answer: \"", ev->msg.data, ev->msg.len, "\"\n");
		app->nb_answers++;
		break;
	case RTE_COMCH_EVENT_SENT:
		on_sent(app, ev);
		break;
	case RTE_COMCH_EVENT_STATE:
		on_state(app, ev);
		break;
	default:
		break;
	}
}

static bool
time_to_stop(const struct app *app)
{
	enum rte_comch_state state = rte_comch_client_state(app->client);

	if (state != RTE_COMCH_STATE_STARTING && state != RTE_COMCH_STATE_RUNNING)
		return false;
	return example_quit || app->failed ||
		(app->input_ended && app->input_len == 0 && app->nb_answers >= app->nb_sent);
}

static void
talk(struct app *app)
{
	struct rte_comch_event events[32];
	uint16_t n, i;
	int fd;

	while (!app->ended) {
		n = rte_comch_poll_run(app->poll, events, RTE_DIM(events));
		for (i = 0; i < n; i++)
			on_event(app, &events[i]);
		if (time_to_stop(app)) {
			rte_comch_client_stop(app->client);
			continue;
		}
		/* Read more input only when all lines are sent. */
		fd = app->from_stdin && app->conn != NULL && !app->input_ended &&
			line_len(app) == 0 ? STDIN_FILENO : -1;
		if (n == 0 && (fd >= 0 || !app->busy) &&
				example_sleep_fd(app->poll, fd, app->busy ? 0 : -1))
			read_input(app);
	}
}

static int
set_up(struct app *app)
{
	struct rte_comch_client_conf conf = {
		.conf_size = sizeof(conf),
		.name = app->name,
		.connect_timeout_ms = app->wait_ms,
	};
	int ret;

	ret = rte_comch_dev_probe(app->dev, &app->dev_id);
	if (ret < 0)
		return example_error(app->dev, ret);
	app->poll = rte_comch_poll_create(NULL);
	if (app->poll == NULL)
		return example_error("create poll", rte_errno);
	conf.poll = app->poll;
	app->client = rte_comch_client_create(app->dev_id, &conf);
	if (app->client == NULL)
		return example_error("create client", rte_errno);
	/* Continues in the poll: talk() gets the result as events. */
	ret = rte_comch_client_start(app->client);
	return ret == -EINPROGRESS ? 0 : example_error(app->name, ret);
}

static void
tear_down(struct app *app)
{
	if (app->client != NULL)
		rte_comch_client_destroy(app->client);
	if (app->poll != NULL)
		rte_comch_poll_destroy(app->poll);
	if (app->dev_id >= 0)
		rte_comch_dev_close(app->dev_id);
}

int
main(int argc, char **argv)
{
	struct app app = {
		.dev = "comch_shm0,role=host,func=pf0",
		.name = "ctrl_path",
		.text = "Message from the client",
		.count = 1,
		.wait_ms = 10000,
		.dev_id = -1,
	};
	const struct example_option options[] = {
		EXAMPLE_TEXT('d', "dev", "DEVARGS", "device string", &app.dev),
		EXAMPLE_TEXT('n', "name", "NAME", "server name", &app.name),
		EXAMPLE_TEXT('t', "text", "TEXT", "text to send", &app.text),
		EXAMPLE_NUMBER('c', "count", "N", "number of messages",
				&app.count, 0, UINT32_MAX),
		EXAMPLE_FLAG('i', "stdin", "send the lines of standard input instead",
				&app.from_stdin),
		EXAMPLE_NUMBER('w', "wait", "MS", "how long to retry without a server, ms",
				&app.wait_ms, 0, UINT32_MAX),
		EXAMPLE_FLAG('b', "busy", "spin instead of sleeping", &app.busy),
	};
	int ret;

	ret = example_options(argc, argv, options, RTE_DIM(options));
	if (ret == 0)
		ret = example_start(1);
	if (ret != 0)
		return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;

	ret = set_up(&app);
	if (ret == 0) {
		talk(&app);
		printf("%" PRIu64 " messages sent, %" PRIu64 " delivered, %" PRIu64 " answered\n",
				app.nb_sent, app.nb_delivered, app.nb_answers);
	}
	tear_down(&app);
	example_end();
	return ret == 0 && !app.failed ? EXIT_SUCCESS : EXIT_FAILURE;
}
