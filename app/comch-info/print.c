/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "info.h"

#define MAX_COLUMNS 16
#define CELL_SIZE 160

enum kind {
	NUMBER,
	SIZE,   /* bytes */
	FLAG,   /* yes if not 0 */
	TEXT,
};

struct column {
	const char *heading;
	const char *key;   /* such as "state" */
	const char *within; /* nested object with the key: "stats", "rates" or NULL */
	enum kind kind;
};

struct table {
	const char *section;
	struct column columns[MAX_COLUMNS];
};

/* Columns without values are omitted. */
static const struct table tables[] = {
	{ "drivers", {
		{ "name", "name", NULL, TEXT },
		{ "device string keys", "keys", NULL, TEXT },
	} },
	{ "devices", {
		{ "id", "id", NULL, NUMBER },
		{ "name", "name", NULL, TEXT },
		{ "driver", "driver", NULL, TEXT },
		{ "role", "role", NULL, TEXT },
		{ "functions", "functions", NULL, TEXT },
		{ "clients", "max_clients", NULL, NUMBER },
		{ "producers", "max_producers", NULL, NUMBER },
		{ "consumers", "max_consumers", NULL, NUMBER },
		{ "message", "max_msg_size", NULL, SIZE },
		{ "max buffer", "max_buf_len", NULL, SIZE },
		{ "max queue", "max_dp_queue", NULL, NUMBER },
		{ "max imm", "max_imm_len", NULL, NUMBER },
		{ "imported", "imported", NULL, SIZE },
		{ "staged", "staged", NULL, SIZE },
		{ "capabilities", "capabilities", NULL, TEXT },
	} },
	{ "servers", {
		{ "id", "id", NULL, NUMBER },
		{ "name", "name", NULL, TEXT },
		{ "device", "device", NULL, TEXT },
		{ "function", "function", NULL, TEXT },
		{ "state", "state", NULL, TEXT },
		{ "conns", "conns", NULL, NUMBER },
		{ "pending", "pending", NULL, NUMBER },
		{ "max msg", "max_msg_size", NULL, SIZE },
		{ "accepted", "accepted", "stats", NUMBER },
		{ "refused", "refused", "stats", NUMBER },
		{ "ended", "disconnected", "stats", NUMBER },
		{ "poll", "poll", NULL, TEXT },
	} },
	{ "clients", {
		{ "id", "id", NULL, NUMBER },
		{ "name", "name", NULL, TEXT },
		{ "device", "device", NULL, TEXT },
		{ "function", "function", NULL, TEXT },
		{ "state", "state", NULL, TEXT },
		{ "conn", "conn", NULL, NUMBER },
		{ "reason", "reason", NULL, TEXT },
		{ "poll", "poll", NULL, TEXT },
	} },
	{ "connections", {
		{ "id", "id", NULL, NUMBER },
		{ "name", "name", NULL, TEXT },
		{ "side", "side", NULL, TEXT },
		{ "state", "state", NULL, TEXT },
		{ "peer pid", "peer_pid", NULL, NUMBER },
		{ "uid", "peer_uid", NULL, NUMBER },
		{ "sent", "tx_msgs", "stats", NUMBER },
		{ "received", "rx_msgs", "stats", NUMBER },
		{ "in flight", "in_flight", "stats", NUMBER },
		{ "full", "tx_full", "stats", NUMBER },
		{ "errors", "tx_errors", "stats", NUMBER },
		{ "sent/s", "tx_msgs", "rates", NUMBER },
		{ "received/s", "rx_msgs", "rates", NUMBER },
		{ "reason", "reason", NULL, TEXT },
	} },
	{ "producers", {
		{ "conn", "conn", NULL, NUMBER },
		{ "id", "id", NULL, NUMBER },
		{ "state", "state", NULL, TEXT },
		{ "depth", "depth", NULL, NUMBER },
		{ "msgs", "msgs", "stats", NUMBER },
		{ "bytes", "bytes", "stats", SIZE },
		{ "copies", "copies", "stats", NUMBER },
		{ "staged", "staged", "stats", NUMBER },
		{ "later", "later", "stats", NUMBER },
		{ "errors", "errors", "stats", NUMBER },
		{ "wakes", "wakes", "stats", NUMBER },
		{ "msgs/s", "msgs", "rates", NUMBER },
		{ "bytes/s", "bytes", "rates", SIZE },
	} },
	{ "consumers", {
		{ "conn", "conn", NULL, NUMBER },
		{ "id", "id", NULL, NUMBER },
		{ "state", "state", NULL, TEXT },
		{ "depth", "depth", NULL, NUMBER },
		{ "staging", "staging_size", NULL, SIZE },
		{ "posted", "posted", "stats", NUMBER },
		{ "msgs", "msgs", "stats", NUMBER },
		{ "bytes", "bytes", "stats", SIZE },
		{ "copies", "copies", "stats", NUMBER },
		{ "staged", "staged", "stats", NUMBER },
		{ "errors", "errors", "stats", NUMBER },
		{ "no mbuf", "no_mbuf", "stats", NUMBER },
		{ "wakes", "wakes", "stats", NUMBER },
		{ "msgs/s", "msgs", "rates", NUMBER },
		{ "bytes/s", "bytes", "rates", SIZE },
	} },
	{ "memory", {
		{ "id", "id", NULL, NUMBER },
		{ "kind", "kind", NULL, TEXT },
		{ "length", "len", NULL, SIZE },
		{ "users", "users", NULL, NUMBER },
		{ "pool", "pool", NULL, FLAG },
		{ "shared", "shared", NULL, FLAG },
		{ "exported to uid", "shown_to_uid", NULL, NUMBER },
		{ "function", "shown_to_function", NULL, TEXT },
	} },
	{ "polls", {
		{ "id", "id", NULL, NUMBER },
		{ "name", "name", NULL, TEXT },
		{ "objects", "objects", NULL, NUMBER },
		{ "asleep", "asleep", NULL, FLAG },
		{ "runs", "runs", "stats", NUMBER },
		{ "busy", "busy_runs", "stats", NUMBER },
		{ "events", "events", "stats", NUMBER },
		{ "arms", "arms", "stats", NUMBER },
		{ "wakes", "wakes", "stats", NUMBER },
		{ "longest run ns", "longest_run_ns", "stats", NUMBER },
	} },
	{ "accelerators", {
		{ "id", "id", NULL, NUMBER },
		{ "kind", "kind", NULL, TEXT },
		{ "device", "device", NULL, TEXT },
		{ "state", "state", NULL, TEXT },
		{ "submitted", "submitted", "stats", NUMBER },
		{ "done", "done", "stats", NUMBER },
		{ "failed", "failed", "stats", NUMBER },
		{ "bytes", "bytes", "stats", SIZE },
		{ "offloaded", "offloaded", "stats", SIZE },
		{ "done/s", "done", "rates", NUMBER },
		{ "bytes/s", "bytes", "rates", SIZE },
	} },
};
#define NB_TABLES (sizeof(tables) / sizeof(tables[0]))

const char *
info_safe_text(char *buf, size_t size, const char *text)
{
	char *c;

	snprintf(buf, size, "%s", text != NULL ? text : "?");
	for (c = buf; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return buf;
}

const char *
info_size_text(char *buf, size_t size, json_int_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
	double val = (double)bytes;
	unsigned int unit = 0;

	/* Print limits such as 4080 exactly. */
	if (bytes < 16384 && bytes % 1024 != 0) {
		snprintf(buf, size, "%" JSON_INTEGER_FORMAT " B", bytes);
		return buf;
	}
	while (val >= 1024 && unit < 5) {
		val /= 1024;
		unit++;
	}
	snprintf(buf, size, "%.*f %s", val == (double)(json_int_t)val ? 0 : 1, val, units[unit]);
	return buf;
}

/* "pf0,pf0vf0,..." */
static void
join(char *buf, size_t size, const json_t *list)
{
	char text[CELL_SIZE];
	const json_t *val;
	size_t i, used = 0;

	buf[0] = '\0';
	json_array_foreach(list, i, val) {
		info_safe_text(text, sizeof(text), json_string_value(val));
		if (used + strlen(text) + 5 > size) {
			snprintf(buf + used, size - used, "...");
			return;
		}
		used += (size_t)snprintf(buf + used, size - used, "%s%s", i > 0 ? "," : "",
			text);
	}
}

static void
cell(char *buf, size_t size, const json_t *row, const struct column *c)
{
	const json_t *in = c->within != NULL ? json_object_get(row, c->within) : row;
	const json_t *val = json_object_get(in, c->key);

	buf[0] = '\0';
	if (json_is_array(val))
		join(buf, size, val);
	else if (json_is_string(val))
		info_safe_text(buf, size, json_string_value(val));
	else if (json_is_integer(val) && c->kind == SIZE)
		info_size_text(buf, size, json_integer_value(val));
	else if (json_is_integer(val) && c->kind == FLAG)
		snprintf(buf, size, "%s", json_integer_value(val) != 0 ? "yes" : "-");
	else if (json_is_integer(val))
		snprintf(buf, size, "%" JSON_INTEGER_FORMAT, json_integer_value(val));
}

/* Returns 0 if no row has the column. */
static size_t
column_width(const json_t *rows, const struct column *c)
{
	size_t i, width = 0;
	char buf[CELL_SIZE];
	const json_t *row;

	json_array_foreach(rows, i, row) {
		cell(buf, sizeof(buf), row, c);
		if (strlen(buf) > width)
			width = strlen(buf);
	}
	return width == 0 || width > strlen(c->heading) ? width : strlen(c->heading);
}

/* The next cell prints the padding, so that no line ends in spaces. */
static void
print_cell(const char *text, size_t width, const struct column *c, size_t *pad)
{
	size_t len = strlen(text), room = width > len ? width - len : 0;

	if (len == 0) {
		*pad += 2 + width;
		return;
	}
	printf("%*s%s", (int)(*pad + 2 + (c->kind == TEXT ? 0 : room)), "", text);
	*pad = c->kind == TEXT ? room : 0;
}

static void
print_table(const struct table *t, const json_t *rows)
{
	size_t i, k, pad = 0, width[MAX_COLUMNS] = { 0 };
	const struct column *c = t->columns;
	char buf[CELL_SIZE];
	const json_t *row;

	if (json_array_size(rows) == 0)
		return;
	printf("%s\n", t->section);
	for (k = 0; k < MAX_COLUMNS && c[k].key != NULL; k++) {
		width[k] = column_width(rows, &c[k]);
		if (width[k] > 0)
			print_cell(c[k].heading, width[k], &c[k], &pad);
	}
	printf("\n");
	json_array_foreach(rows, i, row) {
		pad = 0;
		for (k = 0; k < MAX_COLUMNS && c[k].key != NULL; k++) {
			cell(buf, sizeof(buf), row, &c[k]);
			if (width[k] > 0)
				print_cell(buf, width[k], &c[k], &pad);
		}
		printf("\n");
	}
}

void
info_print_process(const json_t *process)
{
	char prefix[64], eal[64];
	size_t i;

	printf("process %" JSON_INTEGER_FORMAT ", file prefix %s, %s\n",
		json_integer_value(json_object_get(process, "pid")),
		info_safe_text(prefix, sizeof(prefix),
			json_string_value(json_object_get(process, "prefix"))),
		info_safe_text(eal, sizeof(eal),
			json_string_value(json_object_get(process, "eal"))));
	for (i = 0; i < NB_TABLES; i++)
		print_table(&tables[i], json_object_get(process, tables[i].section));
}
