/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdio.h>
#include <string.h>

#include "info.h"

/* Maximum number of list entries in one reply. */
#define LIST_MAX 512

/* A class of objects with plain ids. */
struct section {
	const char *name;  /* "connections" */
	const char *class; /* "/comch/conn/..." */
	bool has_stats;
};

static const struct section sections[] = {
	{ "drivers", "driver", false },
	{ "devices", "dev", false },
	{ "servers", "server", true },
	{ "clients", "client", false },
	{ "connections", "conn", true },
	{ "memory", "mem", false },
	{ "polls", "poll", true },
	{ "accelerators", "accel", true },
};
#define NB_SECTIONS (sizeof(sections) / sizeof(sections[0]))

/* Request an object and append it to list, unless it no longer exists. */
static void
add_object(struct info_process *p, json_t *list, const char *class, const char *id,
		bool has_stats)
{
	json_t *info = info_ask(p, "/comch/%s/info,%s", class, id), *stats;

	if (!json_is_object(info)) {
		json_decref(info);
		return;
	}
	if (has_stats) {
		stats = info_ask(p, "/comch/%s/stats,%s", class, id);
		if (stats != NULL)
			json_object_set_new(info, "stats", stats);
	}
	json_array_append_new(list, info);
}

static json_t *
collect_section(struct info_process *p, const struct section *s)
{
	json_t *list = json_array(), *ids, *id;
	json_int_t from = 0;
	char text[32];
	size_t i, nb;

	do {
		ids = info_ask(p, "/comch/%s/list,%lld", s->class, (long long)from);
		nb = json_array_size(ids);
		json_array_foreach(ids, i, id) {
			from = json_integer_value(id) + 1;
			snprintf(text, sizeof(text), "%lld", (long long)from - 1);
			add_object(p, list, s->class, text, s->has_stats);
		}
		json_decref(ids);
	} while (nb == LIST_MAX && from <= UINT32_MAX);
	return list;
}

/* Producers or consumers of all connections that have any. */
static json_t *
collect_queues(struct info_process *p, const json_t *conns, const char *count,
		const char *class)
{
	json_t *list = json_array(), *ids, *id, *conn;
	size_t i, j;

	json_array_foreach(conns, i, conn) {
		if (json_integer_value(json_object_get(conn, count)) == 0)
			continue;
		ids = info_ask(p, "/comch/%s/list,%lld", class,
			(long long)json_integer_value(json_object_get(conn, "id")));
		json_array_foreach(ids, j, id)
			if (json_is_string(id))
				add_object(p, list, class, json_string_value(id), true);
		json_decref(ids);
	}
	return list;
}

json_t *
info_collect(struct info_process *p)
{
	json_t *all, *devs, *conns;
	size_t i;

	devs = info_ask(p, "/comch/dev/list");
	if (devs == NULL)
		return NULL;
	json_decref(devs);
	all = json_object();
	json_object_set_new(all, "prefix", json_string(p->prefix));
	json_object_set_new(all, "pid", json_integer(p->pid));
	json_object_set_new(all, "eal", json_string(p->eal));
	for (i = 0; i < NB_SECTIONS; i++)
		json_object_set_new(all, sections[i].name, collect_section(p, &sections[i]));
	conns = json_object_get(all, "connections");
	json_object_set_new(all, "producers", collect_queues(p, conns, "producers",
		"producer"));
	json_object_set_new(all, "consumers", collect_queues(p, conns, "consumers",
		"consumer"));
	if (!p->lost)
		return all;
	INFO_ERR("process %lld, file prefix %s: no answer", p->pid, p->prefix);
	json_decref(all);
	return NULL;
}

/* Find the object with the same ids in an earlier list. */
static const json_t *
find_before(const json_t *list, const json_t *object)
{
	const char *const keys[] = { "id", "conn" };
	const json_t *o;
	size_t i, k;

	json_array_foreach(list, i, o) {
		for (k = 0; k < 2; k++)
			if (json_integer_value(json_object_get(o, keys[k])) !=
					json_integer_value(json_object_get(object, keys[k])))
				break;
		if (k == 2)
			return o;
	}
	return NULL;
}

static void
add_rate(json_t *object, const json_t *before, const char *counter, double seconds)
{
	json_t *rates = json_object_get(object, "rates");
	json_int_t was, is;

	is = json_integer_value(json_object_get(json_object_get(object, "stats"), counter));
	was = json_integer_value(json_object_get(json_object_get(before, "stats"), counter));
	if (rates == NULL) {
		rates = json_object();
		json_object_set_new(object, "rates", rates);
	}
	json_object_set_new(rates, counter,
		json_integer((json_int_t)((double)(is - was) / seconds)));
}

void
info_rates(json_t *now, const json_t *before, double seconds)
{
	static const struct {
		const char *section;
		const char *counters[4];
	} rates[] = {
		{ "connections", { "tx_msgs", "tx_bytes", "rx_msgs", "rx_bytes" } },
		{ "producers", { "msgs", "bytes" } },
		{ "consumers", { "msgs", "bytes" } },
		{ "accelerators", { "done", "bytes" } },
	};
	const json_t *was;
	size_t i, j, k;
	json_t *object;

	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		json_array_foreach(json_object_get(now, rates[i].section), j, object) {
			was = find_before(json_object_get(before, rates[i].section), object);
			for (k = 0; was != NULL && k < 4 && rates[i].counters[k] != NULL; k++)
				add_rate(object, was, rates[i].counters[k], seconds);
		}
	}
}
