/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Commands for connections. */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "cmd.h"

/* A client that waits to be accepted or rejected. */
static struct tc_conn *
find_pending(const char *name, const char *verb)
{
	struct tc_conn *c = tc_obj_find(TC_CONN, name);

	if (c == NULL || (c->pending && c->conn != NULL))
		return c;
	tc_fail("%s: does not wait for \"conn %s\"", c->obj.name, verb);
	return NULL;
}

static void
conn_accept(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_conn *c = find_pending(cmd->word[2], cmd->word[1]);

	(void)cl;
	(void)data;
	if (c != NULL)
		cmd_check(c->obj.name, rte_comch_conn_accept(c->conn));
}

static void
conn_reject(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_conn *c = find_pending(cmd->word[2], cmd->word[1]);

	(void)cl;
	(void)data;
	if (c == NULL || cmd_check(c->obj.name, rte_comch_conn_reject(c->conn, cmd->text)) != 0)
		return;
	/* No event follows. */
	tc_out("%s: rejected\n", c->obj.name);
	tc_obj_free(&c->obj);
}

struct tc_conn *
cmd_find_up(const char *name)
{
	struct tc_conn *c = tc_obj_find(TC_CONN, name);

	if (c == NULL || (c->conn != NULL && !c->pending))
		return c;
	tc_fail("%s: %s", name, c->pending ? "waits for \"conn accept\"" : "has ended");
	return NULL;
}

static void
conn_close(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_conn *c = cmd_find_up(cmd->word[2]);
	const struct tc_obj *child;
	int ret;

	(void)cl;
	(void)data;
	if (c == NULL)
		return;
	child = tc_conn_child(c);
	if (child != NULL) {
		cmd_fail_children(&c->obj, child);
		return;
	}
	if (rte_comch_conn_client(c->conn) != NULL)
		ret = rte_comch_client_stop(rte_comch_conn_client(c->conn));
	else
		ret = rte_comch_conn_disconnect(c->conn, NULL);
	if (ret != -EINPROGRESS)
		cmd_check(c->obj.name, ret);
}

static void
conn_send(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct rte_comch_msg msg = { .data = cmd->text, .len = (uint32_t)strlen(cmd->text) };
	struct tc_conn *c = cmd_find_up(cmd->word[2]);

	(void)cl;
	(void)data;
	if (c != NULL && rte_comch_conn_send_burst(c->conn, &msg, 1) != 1)
		tc_fail("%s: the queue to the peer is full; try again", c->obj.name);
}

CMD(inst_accept, conn_accept, "conn accept CONN: accept a client of a server with manual_accept",
	KEY(0, "conn"), KEY(1, "accept"), NAME(2, "connection", TC_CONN));
CMD(inst_reject, conn_reject, "conn reject CONN REASON: refuse it, with a reason for the client",
	KEY(0, "conn"), KEY(1, "reject"), NAME(2, "connection", TC_CONN), TEXT("reason"));
CMD(inst_send, conn_send, "conn send CONN TEXT: send a control message",
	KEY(0, "conn"), KEY(1, "send"), NAME(2, "connection", TC_CONN), TEXT("message"));
CMD(inst_close, conn_close, "conn close CONN: disconnect",
	KEY(0, "conn"), KEY(1, "close"), NAME(2, "connection", TC_CONN));

cmdline_parse_inst_t *cmd_conn[] = {
	&inst_accept, &inst_reject, &inst_send, &inst_close, NULL,
};
