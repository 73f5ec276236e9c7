/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Commands for the session: help, files of commands, waiting. */

#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "cmd.h"
#include "stream.h"

static const struct {
	const char *name;
	const char *about;
	cmdline_parse_inst_t **commands;
} topics[] = {
	{ "session", "help, files of commands, waiting, the end", cmd_misc },
	{ "dev", "devices", cmd_dev },
	{ "server", "servers, on a device of the DPU", cmd_server },
	{ "client", "clients, on a device of the host", cmd_client },
	{ "conn", "connections and their control messages", cmd_conn },
	{ "producer", "producers of a connection", cmd_producer },
	{ "consumer", "consumers of a connection", cmd_consumer },
	{ "stream", "what moves messages on an lcore", cmd_stream },
	{ "file", "files to and from the peer", cmd_file },
	{ "port", "ethdev ports", cmd_port },
	{ "show", "states, counters, rates", cmd_show },
};

static void
help(void *parsed, struct cmdline *cl, void *data)
{
	unsigned int i;

	(void)parsed;
	(void)cl;
	(void)data;
	for (i = 0; i < RTE_DIM(topics); i++)
		tc_out("  help %-10s %s\n", topics[i].name, topics[i].about);
	tc_out("Tab completes, ? explains, Ctrl-C clears the line, Ctrl-D ends.\n");
}

static void
help_topic(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	unsigned int i, k;

	(void)cl;
	(void)data;
	for (i = 0; i < RTE_DIM(topics); i++) {
		if (!cmd_is(cmd->word[1], topics[i].name))
			continue;
		for (k = 0; topics[i].commands[k] != NULL; k++) {
			const char *text = topics[i].commands[k]->help_str;
			int len = (int)strcspn(text, ":");

			tc_out("%.*s\n    %s\n", len, text, text + len + 2);
		}
	}
}

static void
quit(void *parsed, struct cmdline *cl, void *data)
{
	(void)parsed;
	(void)cl;
	(void)data;
	tc.quit = true;
}

static void
load(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;

	(void)cl;
	(void)data;
	tc_run_file(cmd->text);
}

static void
print(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;

	(void)cl;
	(void)data;
	tc_out("%s\n", cmd->text);
}

/* What "wait" waits for. */
struct wait {
	const char *name;
	const char *what;
};

static bool
conn_is(const struct tc_conn *c, const char *what)
{
	if (cmd_is(what, "up"))
		return c != NULL && c->conn != NULL && !c->pending;
	if (cmd_is(what, "pending"))
		return c != NULL && c->pending;
	if (cmd_is(what, "consumer"))
		return c != NULL && c->nb_targets > 0;
	return cmd_is(what, "message") && c != NULL && c->rx_msgs > 0;
}

/* The state of a server, client, producer or consumer. @return whether there is one */
static bool
state_of(const char *name, enum rte_comch_state *state)
{
	const struct tc_producer *p = tc_obj_lookup(TC_PRODUCER, name);
	const struct tc_consumer *c = tc_obj_lookup(TC_CONSUMER, name);
	const struct tc_server *server = tc_obj_lookup(TC_SERVER, name);
	const struct tc_client *client = tc_obj_lookup(TC_CLIENT, name);

	*state = RTE_COMCH_STATE_IDLE;
	if (p != NULL)
		*state = rte_comch_producer_state(p->producer);
	else if (c != NULL && c->consumer != NULL && !c->ready)
		*state = RTE_COMCH_STATE_STARTING;
	else if (c != NULL && c->consumer != NULL)
		*state = rte_comch_consumer_state(c->consumer);
	else if (server != NULL)
		*state = rte_comch_server_state(server->server);
	else if (client != NULL)
		*state = client->told;
	return p != NULL || c != NULL || server != NULL || client != NULL;
}

static bool
has_happened(void *arg)
{
	const struct wait *w = arg;
	const struct tc_stream *s = tc_obj_lookup(TC_STREAM, w->name);
	const struct tc_conn *conn = tc_obj_lookup(TC_CONN, w->name);
	enum rte_comch_state state;
	bool exists = state_of(w->name, &state);

	if (cmd_is(w->what, "gone"))
		return !exists && s == NULL && conn == NULL;
	if (cmd_is(w->what, "done"))
		return s == NULL || !s->running;
	if (cmd_is(w->what, "running"))
		return (exists && state == RTE_COMCH_STATE_RUNNING) || (s != NULL && s->running);
	if (cmd_is(w->what, "idle"))
		return exists && state == RTE_COMCH_STATE_IDLE;
	return conn_is(conn, w->what);
}

static void
wait_for(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct wait w = { .name = cmd->word[1], .what = cmd->word[2] };
	double seconds;
	int ret;

	(void)cl;
	(void)data;
	if (cmd_seconds("wait", cmd->word[3], &seconds) != 0)
		return;
	ret = tc_loop_until(has_happened, &w, seconds);
	/* Events may have reported failures of their own. */
	tc.failed = false;
	if (ret == -ETIMEDOUT)
		tc_fail("%s: not %s after %s seconds", w.name, w.what, cmd->word[3]);
	else if (ret < 0)
		tc_fail("interrupted");
}

static void
sleep_for(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	double seconds;

	(void)cl;
	(void)data;
	if (cmd_seconds("sleep", cmd->word[1], &seconds) == 0 &&
			tc_loop_until(NULL, NULL, seconds) == -EINTR)
		tc_fail("interrupted");
}

static void
set_period(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;

	(void)cl;
	(void)data;
	cmd_seconds("stats-period", cmd->word[2], &tc.period);
}

static void
set_messages(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;

	(void)cl;
	(void)data;
	tc.show_messages = cmd_is(cmd->word[2], "on");
}

static void
set_piece(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	uint64_t piece;

	(void)cl;
	(void)data;
	if (cmd_number("piece", cmd->word[2], 1, UINT64_C(1) << 30, &piece) == 0)
		tc.piece = (uint32_t)piece;
}

CMD(inst_help, help, "help: list the topics", KEY(0, "help"));
CMD(inst_help_topic, help_topic, "help TOPIC: the commands of a topic", KEY(0, "help"),
	KEY(1, "session#dev#server#client#conn#producer#consumer#stream#file#port#show"));
CMD(inst_quit, quit, "quit: stop and free everything, and exit", KEY(0, "quit"));
CMD(inst_load, load, "load PATH: run the commands of a file, up to the first that fails",
	KEY(0, "load"), TEXT("path"));
CMD(inst_echo, print, "print TEXT: print it", KEY(0, "print"), TEXT("text"));
CMD(inst_wait, wait_for,
	"wait NAME up|pending|consumer|message|running|idle|done|gone SECONDS: until a "
	"connection is up, asks to be accepted, has a consumer of the peer, or has received a "
	"message; until an object is running or idle, a stream is done, or the object is gone",
	KEY(0, "wait"), NAME(1, "object", CMD_LIST_ANY),
	KEY(2, "up#pending#consumer#message#running#idle#done#gone"), WORD(3, "seconds"));
CMD(inst_sleep, sleep_for, "sleep SECONDS: pause; events are still handled", KEY(0, "sleep"),
	WORD(1, "seconds"));
CMD(inst_set_period, set_period,
	"set stats-period SECONDS: repeat \"show stats\" at this interval (0: off)",
	KEY(0, "set"), KEY(1, "stats-period"), WORD(2, "seconds"));
CMD(inst_set_messages, set_messages, "set messages on|off: print received control messages",
	KEY(0, "set"), KEY(1, "messages"), KEY(2, "on#off"));
CMD(inst_set_piece, set_piece,
	"set piece BYTES: length of a file's messages, at most that of the peer's buffers",
	KEY(0, "set"), KEY(1, "piece"), WORD(2, "bytes"));

cmdline_parse_inst_t *cmd_misc[] = {
	&inst_help, &inst_help_topic, &inst_quit, &inst_load, &inst_echo, &inst_wait,
	&inst_sleep, &inst_set_period, &inst_set_messages, &inst_set_piece, NULL,
};
