/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Commands for producers and consumers. */

#include <errno.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#include "stream.h"
#include "cmd.h"

/** Defaults. */
#define QUEUE 256
#define SIZE  2048

#define MAX_SIZE (UINT64_C(1) << 30)
/** Of one mbuf. */
#define MAX_MBUF (UINT16_MAX - RTE_PKTMBUF_HEADROOM)

static void
producer_create(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_conn *conn = cmd_find_up(cmd->word[2]);
	struct tc_producer *p;

	(void)cl;
	(void)data;
	p = conn == NULL ? NULL : tc_obj_new(TC_PRODUCER, sizeof(*p));
	if (p == NULL)
		return;
	p->conn = conn;
	p->queue = QUEUE;
	tc_out("%s: created\n", p->obj.name);
}

static void
consumer_create(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_conn *conn = cmd_find_up(cmd->word[2]);
	struct tc_consumer *c;

	(void)cl;
	(void)data;
	c = conn == NULL ? NULL : tc_obj_new(TC_CONSUMER, sizeof(*c));
	if (c == NULL)
		return;
	c->conn = conn;
	c->queue = QUEUE;
	c->size = SIZE;
	c->imm = RTE_COMCH_IMM_SIZE;
	c->memory = APP_MEMORY_SHARED;
	c->api = TC_API_DESC;
	tc_out("%s: created\n", c->obj.name);
}

static const struct cmd_field producer_fields[] = {
	{ "queue", offsetof(struct tc_producer, queue), 1, UINT16_MAX + 1 },
};
static const struct cmd_field consumer_fields[] = {
	{ "queue", offsetof(struct tc_consumer, queue), 1, UINT16_MAX + 1 },
	{ "size", offsetof(struct tc_consumer, size), 1, MAX_SIZE },
	{ "imm", offsetof(struct tc_consumer, imm), 1, UINT16_MAX },
	{ "staging", offsetof(struct tc_consumer, staging), 0, UINT32_MAX },
};

static void
producer_set(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_producer *p = tc_obj_find(TC_PRODUCER, cmd->word[2]);

	(void)cl;
	(void)data;
	if (p != NULL && cmd_check_idle(&p->obj, p->producer == NULL, "not IDLE") == 0)
		cmd_field_set(p->obj.name, p, producer_fields, RTE_DIM(producer_fields),
			cmd->word[3], cmd->word[4]);
}

static void
set_memory(struct tc_consumer *c, const char *value)
{
	unsigned int i;

	c->api = TC_API_DESC;
	if (cmd_is(value, "mbuf")) {
		c->api = TC_API_MBUF;
		return;
	}
	for (i = 0; app_memory_names[i] != NULL; i++)
		if (cmd_is(value, app_memory_names[i]))
			c->memory = (enum app_memory)i;
}

static void
consumer_set(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_consumer *c = tc_obj_find(TC_CONSUMER, cmd->word[2]);

	(void)cl;
	(void)data;
	if (c == NULL || cmd_check_idle(&c->obj, c->consumer == NULL, "not IDLE") != 0)
		return;
	if (cmd_is(cmd->word[3], "memory"))
		set_memory(c, cmd->word[4]);
	else if (cmd_is(cmd->word[3], "snapshot"))
		c->snapshot = cmd_is(cmd->word[4], "on");
	else
		cmd_field_set(c->obj.name, c, consumer_fields, RTE_DIM(consumer_fields),
			cmd->word[3], cmd->word[4]);
}

static void
report(const struct tc_obj *obj, int ret, enum rte_comch_state state)
{
	if (ret == -EBADFD)
		tc_fail("%s: is %s already, or stopping", obj->name, rte_comch_state_name(state));
	else if (cmd_check(obj->name, ret) == 0)
		tc_out("%s: %s\n", obj->name, rte_comch_state_name(state));
}

static void
producer_verb(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_producer *p = tc_obj_find(TC_PRODUCER, cmd->word[2]);
	int ret;

	(void)cl;
	(void)data;
	if (p == NULL || cmd_check_stopped(p->obj.name, p->stream) != 0)
		return;
	if (cmd_is(cmd->word[1], "destroy")) {
		p->destroy = true;
		tc_out("%s: destroyed\n", p->obj.name);
		tc_queues_step();
		return;
	}
	ret = cmd_is(cmd->word[1], "start") ? tc_producer_start(p) : tc_producer_stop(p);
	report(&p->obj, ret, rte_comch_producer_state(p->producer));
}

static void
consumer_verb(void *parsed, struct cmdline *cl, void *data)
{
	const struct cmd *cmd = parsed;
	struct tc_consumer *c = tc_obj_find(TC_CONSUMER, cmd->word[2]);
	bool start = cmd_is(cmd->word[1], "start");
	int ret;

	(void)cl;
	(void)data;
	if (c == NULL || cmd_check_stopped(c->obj.name, c->stream) != 0)
		return;
	if (cmd_is(cmd->word[1], "destroy")) {
		c->destroy = true;
		tc_out("%s: destroyed\n", c->obj.name);
		tc_queues_step();
		return;
	}
	if (start && c->api == TC_API_MBUF && c->size > MAX_MBUF) {
		tc_fail("%s: size: expected at most %u for memory mbuf, found %u", c->obj.name,
			MAX_MBUF, c->size);
		return;
	}
	ret = start ? tc_consumer_start(c) : tc_consumer_stop(c);
	report(&c->obj, ret, rte_comch_consumer_state(c->consumer));
}

CMD(inst_producer_create, producer_create, "producer create CONN: create a producer",
	KEY(0, "producer"), KEY(1, "create"), NAME(2, "connection", TC_CONN));
CMD(inst_producer_set, producer_set,
	"producer set PRODUCER queue N: maximum number of messages that are not completed",
	KEY(0, "producer"), KEY(1, "set"), NAME(2, "producer", TC_PRODUCER), KEY(3, "queue"),
	WORD(4, "number"));
CMD(inst_producer_verb, producer_verb,
	"producer start|stop|destroy PRODUCER: start it, stop it, destroy it",
	KEY(0, "producer"), KEY(1, "start#stop#destroy"), NAME(2, "producer", TC_PRODUCER));

cmdline_parse_inst_t *cmd_producer[] = {
	&inst_producer_create, &inst_producer_set, &inst_producer_verb, NULL,
};

CMD(inst_consumer_create, consumer_create, "consumer create CONN: create a consumer",
	KEY(0, "consumer"), KEY(1, "create"), NAME(2, "connection", TC_CONN));
CMD(inst_consumer_set, consumer_set,
	"consumer set CONSUMER queue|size|imm|staging N: number of buffers; bytes of a buffer, "
	"of immediate data, of the staging ring (0: default)",
	KEY(0, "consumer"), KEY(1, "set"), NAME(2, "consumer", TC_CONSUMER),
	KEY(3, "queue#size#imm#staging"), WORD(4, "number"));
CMD(inst_consumer_memory, consumer_set,
	"consumer set CONSUMER memory shared|heap|eal|mbuf: what messages are received into",
	KEY(0, "consumer"), KEY(1, "set"), NAME(2, "consumer", TC_CONSUMER),
	KEY(3, "memory"), KEY(4, "shared#heap#eal#mbuf"));
CMD(inst_consumer_snapshot, consumer_set,
	"consumer set CONSUMER snapshot on|off: export no memory to the peer",
	KEY(0, "consumer"), KEY(1, "set"), NAME(2, "consumer", TC_CONSUMER),
	KEY(3, "snapshot"), KEY(4, "on#off"));
CMD(inst_consumer_verb, consumer_verb,
	"consumer start|stop|destroy CONSUMER: start it, stop it, destroy it",
	KEY(0, "consumer"), KEY(1, "start#stop#destroy"), NAME(2, "consumer", TC_CONSUMER));

cmdline_parse_inst_t *cmd_consumer[] = {
	&inst_consumer_create, &inst_consumer_set, &inst_consumer_memory,
	&inst_consumer_snapshot, &inst_consumer_verb, NULL,
};
