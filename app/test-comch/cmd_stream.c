/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Commands for streams, files among them. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>

#include "cmd.h"
#include "stream.h"

static void
created(const struct tc_stream *s)
{
	if (s != NULL)
		tc_out("%s: created, %s on lcore %u\n", s->obj.name, tc_mode_name(s->mode),
			s->lcore);
}

static void
create_source(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_producer *p = tc_obj_find(TC_PRODUCER, cmd->word[3]);

	(void)cl;
	(void)data;
	if (p != NULL)
		created(tc_stream_new(TC_SOURCE, NULL, p));
}

static void
create_sink(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_consumer *c = tc_obj_find(TC_CONSUMER, cmd->word[3]);

	(void)cl;
	(void)data;
	if (c != NULL)
		created(tc_stream_new(cmd_is(cmd->word[2], "drop") ? TC_DROP : TC_SINK, c, NULL));
}

static void
create_forward(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	bool echo = cmd_is(cmd->word[2], "echo");
	struct tc_consumer *c = tc_obj_find(TC_CONSUMER, cmd->word[3]);
	struct tc_producer *p = c == NULL ? NULL : tc_obj_find(TC_PRODUCER, cmd->word[4]);

	(void)cl;
	(void)data;
	if (p == NULL)
		return;
	if (echo != (c->conn == p->conn)) {
		tc_fail("%s is of %s and %s of %s: %s", c->obj.name, c->conn->obj.name,
			p->obj.name, p->conn->obj.name, echo ?
			"echo sends back to the same connection; see relay" :
			"relay sends on to another connection; see echo");
		return;
	}
	created(tc_stream_new(echo ? TC_ECHO : TC_RELAY, c, p));
}

static void
create_io(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_consumer *c;
	struct tc_producer *p;
	char name[TC_NAME_SIZE];
	struct tc_stream *s;
	uint64_t port;

	(void)cl;
	(void)data;
	if (cmd_number("port", cmd->word[3], 0, UINT16_MAX, &port) != 0)
		return;
	if (!rte_eth_dev_is_valid_port((uint16_t)port)) {
		tc_fail("port %s: no such port; \"show ports\" lists them", cmd->word[3]);
		return;
	}
	snprintf(name, sizeof(name), "port %u", (unsigned int)port);
	TC_FOREACH(TC_STREAM, s)
		if (s->mode == TC_IO && s->port == port &&
				tc_stream_check_unused(name, s) != 0)
			return;
	c = tc_obj_find(TC_CONSUMER, cmd->word[4]);
	p = c == NULL ? NULL : tc_obj_find(TC_PRODUCER, cmd->word[5]);
	s = p == NULL ? NULL : tc_stream_new(TC_IO, c, p);
	if (s != NULL)
		s->port = (uint16_t)port;
	created(s);
}

static const struct cmd_field fields[] = {
	{ "burst", offsetof(struct tc_stream, burst), 1, TC_MAX_BURST },
	{ "size", offsetof(struct tc_stream, size), 1, UINT64_C(1) << 30 },
	{ "count", offsetof(struct tc_stream, count), 0, UINT32_MAX },
	{ "target", offsetof(struct tc_stream, target), 0, UINT32_MAX },
	{ "lcore", offsetof(struct tc_stream, lcore), 0, RTE_MAX_LCORE - 1 },
};

static void
stream_set(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_stream *s = tc_obj_find(TC_STREAM, cmd->word[2]);
	uint32_t lcore;

	(void)cl;
	(void)data;
	if (s == NULL || cmd_check_idle(&s->obj, !s->running, "running") != 0)
		return;
	if (cmd_is(cmd->word[3], "memory")) {
		s->mbufs = cmd_is(cmd->word[4], "mbuf");
		return;
	}
	lcore = s->lcore;
	if (cmd_field_set(s->obj.name, s, fields, RTE_DIM(fields), cmd->word[3],
			cmd->word[4]) != 0 || rte_lcore_is_enabled(s->lcore))
		return;
	tc_fail("%s: lcore %u: not one of EAL's; \"show lcores\" lists them, and EAL's -l or "
		"--lcores chooses them", s->obj.name, s->lcore);
	s->lcore = lcore;
}

static void
stream_verb(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_stream *s = tc_obj_find(TC_STREAM, cmd->word[2]);
	const char *verb = cmd->word[1];
	char text[256];

	(void)cl;
	(void)data;
	if (s == NULL)
		return;
	if (cmd_is(verb, "start")) {
		if (tc_stream_start(s) == 0)
			tc_out("%s: running\n", s->obj.name);
	} else if (cmd_is(verb, "stop")) {
		tc_stream_stop(s);
		tc_out("%s: stopped: %s\n", s->obj.name, tc_stream_totals(s, text, sizeof(text)));
	} else {
		tc_out("%s: destroyed\n", s->obj.name);
		tc_stream_destroy(s);
	}
}

CMD(inst_source, create_source,
	"stream create source PRODUCER: send numbered messages",
	KEY(0, "stream"), KEY(1, "create"), KEY(2, "source"),
	NAME(3, "producer", TC_PRODUCER));
CMD(inst_sink, create_sink,
	"stream create sink|drop CONSUMER: receive messages; sink checks their numbers",
	KEY(0, "stream"), KEY(1, "create"), KEY(2, "sink#drop"),
	NAME(3, "consumer", TC_CONSUMER));
CMD(inst_forward, create_forward,
	"stream create echo|relay CONSUMER PRODUCER: forward what arrives, to the same "
	"connection (echo) or to another one (relay)",
	KEY(0, "stream"), KEY(1, "create"), KEY(2, "echo#relay"),
	NAME(3, "consumer", TC_CONSUMER), NAME(4, "producer", TC_PRODUCER));
CMD(inst_io, create_io,
	"stream create io PORT CONSUMER PRODUCER: from the port to the producer, and from the "
	"consumer to the port",
	KEY(0, "stream"), KEY(1, "create"), KEY(2, "io"), NAME(3, "port", CMD_LIST_PORT),
	NAME(4, "consumer", TC_CONSUMER), NAME(5, "producer", TC_PRODUCER));
CMD(inst_set, stream_set,
	"stream set STREAM burst|size|count|target N: messages per burst; bytes per message of a "
	"source; messages in all (0: no limit); id of the peer's consumer (0: the first)",
	KEY(0, "stream"), KEY(1, "set"), NAME(2, "stream", TC_STREAM),
	KEY(3, "burst#size#count#target"), WORD(4, "number"));
CMD(inst_set_lcore, stream_set, "stream set STREAM lcore N: the lcore that runs it",
	KEY(0, "stream"), KEY(1, "set"), NAME(2, "stream", TC_STREAM),
	KEY(3, "lcore"), NAME(4, "lcore", CMD_LIST_LCORE));
CMD(inst_set_memory, stream_set,
	"stream set STREAM memory heap|mbuf: what a source sends from",
	KEY(0, "stream"), KEY(1, "set"), NAME(2, "stream", TC_STREAM),
	KEY(3, "memory"), KEY(4, "heap#mbuf"));
CMD(inst_verb, stream_verb, "stream start|stop|destroy STREAM: start it, stop it, destroy it",
	KEY(0, "stream"), KEY(1, "start#stop#destroy"), NAME(2, "stream", TC_STREAM));

cmdline_parse_inst_t *cmd_stream[] = {
	&inst_source, &inst_sink, &inst_forward, &inst_io, &inst_set, &inst_set_lcore,
	&inst_set_memory, &inst_verb, NULL,
};

/* Start a stream of a file, or give up. */
static void
file_start(struct tc_stream *s, const char *path, int flags)
{
	s->fd = open(path, flags | O_CLOEXEC, 0666);
	if (s->fd < 0) {
		tc_fail("%s: %s", path, strerror(errno));
		tc_stream_destroy(s);
		return;
	}
	snprintf(s->path, sizeof(s->path), "%s", path);
	if (tc_stream_start(s) != 0)
		tc_stream_destroy(s);
	else
		tc_out("%s: running, %s %s\n", s->obj.name, tc_mode_name(s->mode), path);
}

static void
file_send(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_producer *p = tc_obj_find(TC_PRODUCER, cmd->word[2]);
	struct tc_stream *s = p == NULL ? NULL : tc_stream_new(TC_SEND, NULL, p);

	(void)cl;
	(void)data;
	if (s == NULL)
		return;
	s->size = tc.piece;
	file_start(s, cmd->text, O_RDONLY);
}

static void
file_receive(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_consumer *c = tc_obj_find(TC_CONSUMER, cmd->word[2]);
	struct tc_stream *s = c == NULL ? NULL : tc_stream_new(TC_RECEIVE, c, NULL);

	(void)cl;
	(void)data;
	if (s != NULL)
		file_start(s, cmd->text, O_WRONLY | O_CREAT | O_TRUNC);
}

CMD(inst_file_send, file_send,
	"file send PRODUCER PATH: send a file, in messages of the length of \"set piece\"",
	KEY(0, "file"), KEY(1, "send"), NAME(2, "producer", TC_PRODUCER), TEXT("path"));
CMD(inst_file_receive, file_receive, "file receive CONSUMER PATH: receive a file",
	KEY(0, "file"), KEY(1, "receive"), NAME(2, "consumer", TC_CONSUMER), TEXT("path"));

cmdline_parse_inst_t *cmd_file[] = { &inst_file_send, &inst_file_receive, NULL };
