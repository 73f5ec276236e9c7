/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The table of objects. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "tc.h"

static const char *const kind_names[] = {
	"server", "client", "conn", "producer", "consumer", "stream",
};

static struct tc_obj *table[TC_NB_KINDS][TC_MAX_OBJS];

const char *
tc_kind_name(enum tc_kind kind)
{
	return kind_names[kind];
}

void *
tc_obj_new(enum tc_kind kind, size_t size)
{
	struct tc_obj *obj;
	unsigned int i;

	for (i = 0; i < TC_MAX_OBJS && table[kind][i] != NULL; i++)
		;
	obj = i < TC_MAX_OBJS ? calloc(1, size) : NULL;
	if (obj == NULL) {
		tc_fail("cannot create another %s: limit of %u reached", kind_names[kind], i);
		return NULL;
	}
	obj->kind = kind;
	obj->number = (uint16_t)i;
	snprintf(obj->name, sizeof(obj->name), "%s%u", kind_names[kind], i);
	table[kind][i] = obj;
	return obj;
}

void
tc_obj_free(struct tc_obj *obj)
{
	table[obj->kind][obj->number] = NULL;
	free(obj);
}

struct tc_obj *
tc_obj_next(enum tc_kind kind, unsigned int from)
{
	for (; from < TC_MAX_OBJS; from++)
		if (table[kind][from] != NULL)
			return table[kind][from];
	return NULL;
}

void *
tc_obj_lookup(enum tc_kind kind, const char *name)
{
	struct tc_obj *obj;

	TC_FOREACH(kind, obj)
		if (strcmp(obj->name, name) == 0)
			return obj;
	return NULL;
}

void *
tc_obj_find(enum tc_kind kind, const char *name)
{
	char names[TC_MAX_OBJS * (TC_NAME_SIZE + 1)] = "";
	struct tc_obj *obj = tc_obj_lookup(kind, name);
	size_t len = 0;

	if (obj != NULL)
		return obj;
	TC_FOREACH(kind, obj)
		len += (size_t)snprintf(names + len, sizeof(names) - len, " %s", obj->name);
	if (len == 0)
		tc_fail("%s: unknown %s; none exists yet", name, kind_names[kind]);
	else
		tc_fail("%s: unknown %s; expected one of:%s", name, kind_names[kind], names);
	return NULL;
}
