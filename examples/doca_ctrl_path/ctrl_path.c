/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The control path with the DOCA API: the host sends a text several times, and the DPU
 * answers each with its own text. The host exits after all answers, the DPU when the
 * host disconnects.
 *
 *     doca_ctrl_path_dpu  -p 03:00.0 -r b1:00.0 -t "Hello from the DPU" &
 *     doca_ctrl_path_host -p b1:00.0 -t "Hello from the host" -c 3
 *
 * ../doca_common/link.c sets up the connection.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "../common/text.h"
#include "../doca_common/link.h"

DOCA_LOG_REGISTER(CTRL_PATH);

#define MAX_TEXT 4080

struct app {
	struct link link;    /* first: see side_options() */
	char text[MAX_TEXT + 1];
	uint32_t count;      /* host: texts to send */
	uint32_t nb_due;     /* texts still to send */
	uint32_t nb_received;
};

/*
 * Send the texts that are due, each with a task. If all tasks are in use, the callback of
 * the first completion calls this function again.
 */
static void
send_due(struct link *link)
{
	struct app *app = (struct app *)link;
	doca_error_t result;

	while (app->nb_due > 0 && link->conn != NULL) {
		result = link_send(link, app->text, strlen(app->text));
		if (result == DOCA_ERROR_NO_MEMORY || !side_check(&link->side, result, "send"))
			return;
		app->nb_due--;
	}
}

static void
on_up(struct link *link)
{
	struct app *app = (struct app *)link;

	printf("%s: connected\n", SIDE_NAME);
	app->nb_due = app->count;
	send_due(link);
}

static void
on_msg(struct link *link, const void *data, uint32_t len)
{
	struct app *app = (struct app *)link;

	/* Messages are not NUL-terminated. */
	text_print(SIDE_NAME ": received \"", data, len, "\"\n");
	app->nb_received++;
	if (!SIDE_IS_DPU)
		return;
	app->nb_due++;
	send_due(link);
}

/* The host waits for all answers, the DPU for a disconnect. */
static bool
is_done(const struct link *link)
{
	const struct app *app = (const struct app *)link;

	return !SIDE_IS_DPU && app->nb_received == app->count;
}

static doca_error_t
take_text(void *value, void *config)
{
	struct app *app = config;

	if (strlen(value) > MAX_TEXT) {
		DOCA_LOG_ERR("text is longer than %u characters", MAX_TEXT);
		return DOCA_ERROR_INVALID_VALUE;
	}
	strcpy(app->text, value);
	return DOCA_SUCCESS;
}

static doca_error_t
take_count(void *value, void *config)
{
	struct app *app = config;
	int count = *(int *)value;

	if (count < 1) {
		DOCA_LOG_ERR("count is %d, must be at least 1", count);
		return DOCA_ERROR_INVALID_VALUE;
	}
	app->count = (uint32_t)count;
	return DOCA_SUCCESS;
}

static doca_error_t
read_options(struct app *app, int argc, char **argv)
{
	doca_error_t result;

	result = doca_argp_init("doca_ctrl_path", app);
	if (result != DOCA_SUCCESS)
		return result;
	result = side_options(&app->link.side);
	if (result == DOCA_SUCCESS)
		result = side_option("t", "text", "<text>", "text to send",
				DOCA_ARGP_TYPE_STRING, take_text);
	if (result == DOCA_SUCCESS && !SIDE_IS_DPU)
		result = side_option("c", "count", "<number>", "number of messages",
				DOCA_ARGP_TYPE_INT, take_count);
	return result == DOCA_SUCCESS ? doca_argp_start(argc, argv) : result;
}

int
main(int argc, char **argv)
{
	static struct app app = {
		.link = {
			.side.name = "doca_ctrl_path",
			.on_up = on_up,
			.on_msg = on_msg,
			.on_sent = send_due,
			.is_done = is_done,
		},
		.text = "Hello from the " SIDE_NAME,
		.count = SIDE_IS_DPU ? 0 : 1,
	};
	bool is_good;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (doca_log_backend_create_standard() != DOCA_SUCCESS)
		return EXIT_FAILURE;
	if (read_options(&app, argc, argv) != DOCA_SUCCESS) {
		doca_argp_destroy();
		return EXIT_FAILURE;
	}
	if (link_open(&app.link) == DOCA_SUCCESS)
		link_run(&app.link);
	is_good = app.link.side.error == DOCA_SUCCESS &&
		(SIDE_IS_DPU ? app.link.was_up : is_done(&app.link));
	if (!is_good && app.link.side.error == DOCA_SUCCESS)
		DOCA_LOG_ERR("The connection ended early");
	link_close(&app.link);
	doca_argp_destroy();
	printf("%s: %u texts received\n", SIDE_NAME, app.nb_received);
	return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
