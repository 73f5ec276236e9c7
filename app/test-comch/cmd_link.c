/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Commands for devices, servers, clients and connections. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "cmd.h"

static void
dev_open(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	char name[RTE_COMCH_DEV_NAME_SIZE];
	int16_t dev;

	(void)cl;
	(void)data;
	if (cmd_check(cmd->word[2], rte_comch_dev_probe(cmd->word[2], &dev)) != 0)
		return;
	tc_dev_name(dev, name, sizeof(name));
	tc_out("%s: open\n", name);
}

static void
dev_close(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	int dev = tc_dev_find(cmd->word[2]);
	int ret;

	(void)cl;
	(void)data;
	if (dev < 0)
		return;
	ret = rte_comch_dev_close((int16_t)dev);
	if (ret == -EBUSY)
		tc_fail("%s: in use by servers or clients; destroy them first", cmd->word[2]);
	else if (cmd_check(cmd->word[2], ret) == 0)
		tc_out("%s: closed\n", cmd->word[2]);
}

CMD(inst_dev_open, dev_open, "dev open DEVARGS: open a device, for example "
	"comch_shm0,role=dpu,rep=pf0", KEY(0, "dev"), KEY(1, "open"), WORD(2, "device string"));
CMD(inst_dev_close, dev_close, "dev close DEVICE: close a device",
	KEY(0, "dev"), KEY(1, "close"), NAME(2, "device", CMD_LIST_DEV));

cmdline_parse_inst_t *cmd_dev[] = { &inst_dev_open, &inst_dev_close, NULL };

static void
server_create(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	int dev = tc_dev_find(cmd->word[2]), rep;
	struct tc_server *s;

	(void)cl;
	(void)data;
	if (dev < 0)
		return;
	rep = rte_comch_dev_rep_by_name((int16_t)dev, cmd->word[3]);
	if (rep < 0) {
		tc_fail("%s: no representor '%s'; \"show devices\" lists them", cmd->word[2],
			cmd->word[3]);
		return;
	}
	s = tc_obj_new(TC_SERVER, sizeof(*s));
	if (s == NULL)
		return;
	s->dev_id = (int16_t)dev;
	s->conf.rep = (uint16_t)rep;
	snprintf(s->listen, sizeof(s->listen), "%s", cmd->word[4]);
	if (cmd_check("server create", tc_server_make(s)) != 0) {
		tc_obj_free(&s->obj);
		return;
	}
	tc_out("%s: created\n", s->obj.name);
}

static const struct cmd_field server_fields[] = {
	{ "max_msg_size", offsetof(struct rte_comch_server_conf, max_msg_size), 0, UINT32_MAX },
	{ "recv_queue", offsetof(struct rte_comch_server_conf, recv_queue), 0, UINT32_MAX },
	{ "send_queue", offsetof(struct rte_comch_server_conf, send_queue), 0, UINT32_MAX },
	{ "max_clients", offsetof(struct rte_comch_server_conf, max_clients), 0, UINT32_MAX },
	{ "reserve", offsetof(struct rte_comch_server_conf, reserve), 0, UINT32_MAX },
};
static const struct cmd_field client_fields[] = {
	{ "max_msg_size", offsetof(struct rte_comch_client_conf, max_msg_size), 0, UINT32_MAX },
	{ "recv_queue", offsetof(struct rte_comch_client_conf, recv_queue), 0, UINT32_MAX },
	{ "send_queue", offsetof(struct rte_comch_client_conf, send_queue), 0, UINT32_MAX },
	{ "timeout_ms", offsetof(struct rte_comch_client_conf, connect_timeout_ms), 0,
		UINT32_MAX },
};
static const struct {
	const char *key;
	uint32_t flag;
} server_flags[] = {
	{ "manual_accept", RTE_COMCH_SERVER_F_MANUAL_ACCEPT },
	{ "exact", RTE_COMCH_SERVER_F_EXACT },
	{ "ordered", RTE_COMCH_SERVER_F_ORDERED },
	{ "ctrl_only", RTE_COMCH_SERVER_F_CTRL_ONLY },
};

/* @return 0 or -1 */
static int
server_flag_set(struct tc_server *s, const char *key, const char *value)
{
	unsigned int i;
	bool on;

	for (i = 0; i < RTE_DIM(server_flags) && strcmp(server_flags[i].key, key) != 0; i++)
		;
	if (i == RTE_DIM(server_flags) || cmd_on_off(key, value, &on) != 0)
		return -1;
	s->conf.flags &= ~server_flags[i].flag;
	s->conf.flags |= on ? server_flags[i].flag : 0;
	return 0;
}

static void
server_set(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_server *s = tc_obj_find(TC_SERVER, cmd->word[2]);
	struct rte_comch_server_conf old;
	enum rte_comch_state state;
	int ret;

	(void)cl;
	(void)data;
	if (s == NULL)
		return;
	state = rte_comch_server_state(s->server);
	if (cmd_check_idle(&s->obj, state == RTE_COMCH_STATE_IDLE,
			rte_comch_state_name(state)) != 0)
		return;
	old = s->conf;
	ret = cmd_field_set(s->obj.name, &s->conf, server_fields, RTE_DIM(server_fields),
			cmd->word[3], cmd->word[4]);
	if (ret > 0)
		ret = server_flag_set(s, cmd->word[3], cmd->word[4]);
	if (ret != 0 || cmd_check(s->obj.name, tc_server_make(s)) != 0)
		s->conf = old;
}

static void
client_create(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	int dev = tc_dev_find(cmd->word[2]);
	struct tc_client *c;

	(void)cl;
	(void)data;
	if (dev < 0)
		return;
	c = tc_obj_new(TC_CLIENT, sizeof(*c));
	if (c == NULL)
		return;
	c->dev_id = (int16_t)dev;
	snprintf(c->connect, sizeof(c->connect), "%s", cmd->word[3]);
	if (cmd_check("client create", tc_client_make(c)) != 0) {
		tc_obj_free(&c->obj);
		return;
	}
	tc_out("%s: created\n", c->obj.name);
}

static void
client_set(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_client *c = tc_obj_find(TC_CLIENT, cmd->word[2]);
	struct rte_comch_client_conf old;
	enum rte_comch_state state;
	bool on;
	int ret;

	(void)cl;
	(void)data;
	if (c == NULL)
		return;
	state = rte_comch_client_state(c->client);
	if (cmd_check_idle(&c->obj, state == RTE_COMCH_STATE_IDLE,
			rte_comch_state_name(state)) != 0)
		return;
	old = c->conf;
	ret = cmd_field_set(c->obj.name, &c->conf, client_fields, RTE_DIM(client_fields),
			cmd->word[3], cmd->word[4]);
	if (ret > 0) {
		ret = cmd_on_off(cmd->word[3], cmd->word[4], &on);
		c->conf.flags = on ? RTE_COMCH_CLIENT_F_CTRL_ONLY : 0;
	}
	if (ret != 0 || cmd_check(c->obj.name, tc_client_make(c)) != 0)
		c->conf = old;
}

/* Say which producer or consumer keeps a server or client from stopping. */
static void
report_busy(const struct tc_obj *owner)
{
	const struct tc_obj *child = NULL;
	struct tc_conn *c;

	TC_FOREACH(TC_CONN, c)
		if (c->owner == owner && child == NULL)
			child = tc_conn_child(c);
	cmd_fail_children(owner, child);
}

/* Report the result of a start, stop or destroy. */
static void
report(const struct tc_obj *obj, const char *verb, int ret, enum rte_comch_state state)
{
	if (ret == -EBUSY && cmd_is(verb, "stop"))
		report_busy(obj);
	else if (ret == -EBADFD || ret == -EBUSY)
		tc_fail("%s: is %s, expected %s", obj->name, rte_comch_state_name(state),
			cmd_is(verb, "stop") ? "RUNNING" : "IDLE");
	else if (ret < 0 && ret != -EINPROGRESS)
		tc_fail("%s: %s", obj->name, rte_strerror(-ret));
	else if (cmd_is(verb, "destroy"))
		tc_out("%s: destroyed\n", obj->name);
	else
		tc_out("%s: %s\n", obj->name, rte_comch_state_name(state));
}

static void
forget_owner(const struct tc_obj *owner)
{
	struct tc_conn *c;

	TC_FOREACH(TC_CONN, c)
		if (c->owner == owner)
			c->owner = NULL;
}

static void
server_verb(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_server *s = tc_obj_find(TC_SERVER, cmd->word[2]);
	const char *verb = cmd->word[1];
	int ret;

	(void)cl;
	(void)data;
	if (s == NULL)
		return;
	if (cmd_is(verb, "start"))
		ret = rte_comch_server_start(s->server);
	else if (cmd_is(verb, "stop"))
		ret = rte_comch_server_stop(s->server);
	else
		ret = rte_comch_server_destroy(s->server);
	report(&s->obj, verb, ret, ret == 0 && cmd_is(verb, "destroy") ? RTE_COMCH_STATE_IDLE :
		rte_comch_server_state(s->server));
	if (ret == 0 && cmd_is(verb, "destroy")) {
		forget_owner(&s->obj);
		tc_obj_free(&s->obj);
	}
}

static void
client_verb(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_client *c = tc_obj_find(TC_CLIENT, cmd->word[2]);
	const char *verb = cmd->word[1];
	int ret;

	(void)cl;
	(void)data;
	if (c == NULL)
		return;
	if (cmd_is(verb, "start"))
		ret = rte_comch_client_start(c->client);
	else if (cmd_is(verb, "stop"))
		ret = rte_comch_client_stop(c->client);
	else
		ret = rte_comch_client_destroy(c->client);
	if (ret == -EINPROGRESS)
		c->told = rte_comch_client_state(c->client);
	report(&c->obj, verb, ret, ret == 0 && cmd_is(verb, "destroy") ? RTE_COMCH_STATE_IDLE :
		rte_comch_client_state(c->client));
	if (ret == 0 && cmd_is(verb, "destroy")) {
		forget_owner(&c->obj);
		tc_obj_free(&c->obj);
	}
}

CMD(inst_server_create, server_create,
	"server create DEVICE REP NAME: create a server on a representor",
	KEY(0, "server"), KEY(1, "create"), NAME(2, "device", CMD_LIST_DEV),
	NAME(3, "representor", CMD_LIST_REP), WORD(4, "name for clients"));
CMD(inst_server_set, server_set,
	"server set SERVER KEY VALUE: max_msg_size, recv_queue, send_queue, max_clients or "
	"reserve (0: default); manual_accept, exact, ordered or ctrl_only (on, off)",
	KEY(0, "server"), KEY(1, "set"), NAME(2, "server", TC_SERVER),
	KEY(3, "max_msg_size#recv_queue#send_queue#max_clients#reserve#manual_accept#exact#ordered#"
		"ctrl_only"),
	WORD(4, "number, on or off"));
CMD(inst_server_verb, server_verb,
	"server start|stop|destroy SERVER: start it, stop it, destroy it",
	KEY(0, "server"), KEY(1, "start#stop#destroy"), NAME(2, "server", TC_SERVER));

cmdline_parse_inst_t *cmd_server[] = {
	&inst_server_create, &inst_server_set, &inst_server_verb, NULL,
};

CMD(inst_client_create, client_create,
	"client create DEVICE NAME: create a client of the server of that name",
	KEY(0, "client"), KEY(1, "create"), NAME(2, "device", CMD_LIST_DEV),
	WORD(3, "name of the server"));
CMD(inst_client_set, client_set,
	"client set CLIENT KEY VALUE: max_msg_size, recv_queue or send_queue (0: default); "
	"timeout_ms (how long to retry without a server); ctrl_only (on, off)",
	KEY(0, "client"), KEY(1, "set"), NAME(2, "client", TC_CLIENT),
	KEY(3, "max_msg_size#recv_queue#send_queue#timeout_ms#ctrl_only"),
	WORD(4, "number, on or off"));
CMD(inst_client_verb, client_verb,
	"client start|stop|destroy CLIENT: start it, stop it, destroy it",
	KEY(0, "client"), KEY(1, "start#stop#destroy"), NAME(2, "client", TC_CLIENT));

cmdline_parse_inst_t *cmd_client[] = {
	&inst_client_create, &inst_client_set, &inst_client_verb, NULL,
};
