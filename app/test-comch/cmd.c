/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Tokens of commands, and what commands check alike. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>

#include "app_text.h"
#include "cmd.h"
#include "stream.h"

#define MAX_COMMANDS 128

cmdline_parse_inst_t *cmd_all[MAX_COMMANDS + 1];

void
cmd_init(void)
{
	cmdline_parse_inst_t **const families[] = {
		cmd_misc, cmd_dev, cmd_server, cmd_client, cmd_conn, cmd_producer, cmd_consumer,
		cmd_stream, cmd_port, cmd_file, cmd_show,
	};
	unsigned int n = 0, f, i;

	for (f = 0; f < RTE_DIM(families); f++)
		for (i = 0; families[f][i] != NULL && n < MAX_COMMANDS; i++)
			cmd_all[n++] = families[f][i];
	cmd_all[n] = NULL;
}

/* Any word. */
static int
word_parse(cmdline_parse_token_hdr_t *token, const char *buf, void *res, unsigned int size)
{
	unsigned int len = 0;

	(void)token;
	while (cmdline_isendoftoken(buf[len]) == 0)
		len++;
	if (len == 0 || len >= STR_TOKEN_SIZE || (res != NULL && len >= size))
		return -1;
	if (res != NULL)
		snprintf(res, len + 1, "%s", buf);
	return (int)len;
}

/* Everything up to the end of the line, '#' too. */
static int
text_parse(cmdline_parse_token_hdr_t *token, const char *buf, void *res, unsigned int size)
{
	unsigned int len = (unsigned int)strcspn(buf, "\r\n");

	(void)token;
	if (len == 0 || len >= CMD_TEXT_SIZE || (res != NULL && len >= size))
		return -1;
	if (res != NULL)
		snprintf(res, len + 1, "%s", buf);
	return (int)len;
}

/* Name number *index* of the objects of one kind. */
static int
object_name(enum tc_kind kind, int index, char *buf, unsigned int size)
{
	struct tc_obj *obj;

	TC_FOREACH(kind, obj)
		if (index-- == 0)
			return snprintf(buf, size, "%s", obj->name);
	return -1;
}

static int
any_name(int index, char *buf, unsigned int size)
{
	struct tc_obj *obj;
	int kind;

	for (kind = 0; kind < TC_NB_KINDS; kind++)
		TC_FOREACH((enum tc_kind)kind, obj)
			if (index-- == 0)
				return snprintf(buf, size, "%s", obj->name);
	return -1;
}

static int
dev_name(int index, char *buf, unsigned int size)
{
	int16_t dev;

	RTE_COMCH_DEV_FOREACH(dev)
		if (index-- == 0) {
			tc_dev_name(dev, buf, size);
			return 0;
		}
	return -1;
}

/* Representors of all devices of the DPU. */
static int
rep_name(int index, char *buf, unsigned int size)
{
	struct rte_comch_rep_info rep;
	struct rte_comch_dev_info info;
	int16_t dev;
	uint16_t i;

	RTE_COMCH_DEV_FOREACH(dev) {
		if (rte_comch_dev_info_get(dev, &info) != 0 || info.role != RTE_COMCH_ROLE_DPU)
			continue;
		for (i = 0; i < info.nb_reps; i++)
			if (rte_comch_dev_rep_info_get(dev, i, &rep) == 0 && index-- == 0)
				return snprintf(buf, size, "%s", rep.name);
	}
	return -1;
}

static int
lcore_name(int index, char *buf, unsigned int size)
{
	unsigned int lcore;

	RTE_LCORE_FOREACH(lcore)
		if (index-- == 0)
			return snprintf(buf, size, "%u", lcore);
	return -1;
}

static int
port_name(int index, char *buf, unsigned int size)
{
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port)
		if (index-- == 0)
			return snprintf(buf, size, "%u", port);
	return -1;
}

static int
word_elt(cmdline_parse_token_hdr_t *token, int index, char *buf, unsigned int size)
{
	int list = ((const struct cmd_token *)token)->list;
	int ret = -1;

	if (list >= 0 && list < TC_NB_KINDS)
		ret = object_name((enum tc_kind)list, index, buf, size);
	else if (list == CMD_LIST_DEV)
		ret = dev_name(index, buf, size);
	else if (list == CMD_LIST_REP)
		ret = rep_name(index, buf, size);
	else if (list == CMD_LIST_PORT)
		ret = port_name(index, buf, size);
	else if (list == CMD_LIST_LCORE)
		ret = lcore_name(index, buf, size);
	else if (list == CMD_LIST_ANY)
		ret = any_name(index, buf, size);
	return ret < 0 ? -1 : 0;
}

static int
word_nb(cmdline_parse_token_hdr_t *token)
{
	char name[STR_TOKEN_SIZE];
	int n = 0;

	while (word_elt(token, n, name, sizeof(name)) == 0)
		n++;
	return n;
}

static int
word_help(cmdline_parse_token_hdr_t *token, char *buf, unsigned int size)
{
	snprintf(buf, size, "%s", ((const struct cmd_token *)token)->help);
	return 0;
}

struct cmdline_token_ops cmd_word_ops = {
	.parse = word_parse,
	.complete_get_nb = word_nb,
	.complete_get_elt = word_elt,
	.get_help = word_help,
};

struct cmdline_token_ops cmd_text_ops = {
	.parse = text_parse,
	.get_help = word_help,
};

int
cmd_check(const char *what, int ret)
{
	if (ret < 0)
		tc_fail("%s: %s", what, rte_strerror(-ret));
	return ret;
}

int
cmd_number(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	const char *p = text;

	if (app_number(&p, value) == 0 && *p == '\0' && *value >= min && *value <= max)
		return 0;
	tc_fail("%s: expected a number from %llu to %llu, found '%s'", what,
		(unsigned long long)min, (unsigned long long)max, text);
	return -1;
}

int
cmd_seconds(const char *what, const char *text, double *seconds)
{
	if (app_seconds(text, 0, 86400, seconds) == 0)
		return 0;
	tc_fail("%s: expected seconds from 0 to 86400, found '%s'", what, text);
	return -1;
}

int
cmd_on_off(const char *what, const char *text, bool *value)
{
	*value = strcmp(text, "on") == 0;
	if (*value || strcmp(text, "off") == 0)
		return 0;
	tc_fail("%s: expected on or off, found '%s'", what, text);
	return -1;
}

bool
cmd_is(const char *word, const char *key)
{
	return strcmp(word, key) == 0;
}

int
cmd_check_idle(const struct tc_obj *obj, bool idle, const char *state)
{
	if (idle)
		return 0;
	tc_fail("%s: is %s; stop it before you change it", obj->name, state);
	return -1;
}

int
cmd_check_stopped(const char *name, const struct tc_stream *s)
{
	if (s == NULL || !s->running)
		return 0;
	tc_fail("%s: %s runs on it; \"stream stop %s\" first", name, s->obj.name, s->obj.name);
	return -1;
}

void
cmd_fail_children(const struct tc_obj *obj, const struct tc_obj *child)
{
	tc_fail("%s: has producers or consumers; destroy %s first", obj->name,
		child != NULL ? child->name : "them");
}

int
cmd_field_set(const char *object, void *base, const struct cmd_field *fields,
		unsigned int nb, const char *key, const char *value)
{
	char what[TC_NAME_SIZE + 32];
	uint64_t number;
	unsigned int i;

	for (i = 0; i < nb && strcmp(fields[i].key, key) != 0; i++)
		;
	if (i == nb)
		return 1;
	snprintf(what, sizeof(what), "%s: %s", object, key);
	if (cmd_number(what, value, fields[i].min, fields[i].max, &number) != 0)
		return -1;
	*(uint32_t *)((uint8_t *)base + fields[i].offset) = (uint32_t)number;
	return 0;
}
