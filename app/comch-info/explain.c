/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdio.h>
#include <string.h>

#include "info.h"

#define TEXT_SIZE 160

static const char *
text_of(char *buf, size_t size, const json_t *o, const char *key)
{
	return info_safe_text(buf, size, json_string_value(json_object_get(o, key)));
}

static json_int_t
number_of(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static const char *
size_of(char *buf, size_t size, const json_t *o, const char *key)
{
	return info_size_text(buf, size, number_of(o, key));
}

static void
print_conn(const json_t *o)
{
	char a[TEXT_SIZE], b[TEXT_SIZE], c[TEXT_SIZE], d[TEXT_SIZE];

	printf("process %" JSON_INTEGER_FORMAT ", file prefix %s\n", number_of(o, "pid"),
		text_of(a, sizeof(a), o, "prefix"));
	printf("connection %" JSON_INTEGER_FORMAT " of %s: %s side, %s, ", number_of(o, "id"),
		text_of(a, sizeof(a), o, "name"), text_of(b, sizeof(b), o, "side"),
		text_of(c, sizeof(c), o, "state"));
	printf("device %s, function %s\n", text_of(a, sizeof(a), o, "device"),
		text_of(b, sizeof(b), o, "function"));
	printf("  peer: pid %" JSON_INTEGER_FORMAT ", uid %" JSON_INTEGER_FORMAT ", gid %"
		JSON_INTEGER_FORMAT "\n", number_of(o, "peer_pid"), number_of(o, "peer_uid"),
		number_of(o, "peer_gid"));
	if (json_object_get(o, "reason") != NULL)
		printf("  ended: %s\n", text_of(a, sizeof(a), o, "reason"));
	if (json_object_get(o, "max_msg_size") != NULL)
		printf("  negotiated: messages of up to %s, %" JSON_INTEGER_FORMAT
			" in flight, %" JSON_INTEGER_FORMAT " in the other direction\n",
			size_of(d, sizeof(d), o, "max_msg_size"), number_of(o, "send_credits"),
			number_of(o, "recv_queue"));
	printf("  device: fast-path messages of up to %s, immediate data of up to %s\n",
		size_of(a, sizeof(a), o, "max_buf_len"),
		size_of(b, sizeof(b), o, "max_imm_len"));
}

static void
print_memory(const json_t *memory)
{
	char a[TEXT_SIZE], b[TEXT_SIZE], c[TEXT_SIZE], d[TEXT_SIZE];
	const char *id;
	json_t *m;

	json_object_foreach((json_t *)(uintptr_t)memory, id, m)
		printf("    memory %s, %s, %s: %s: %s\n", id, text_of(a, sizeof(a), m, "kind"),
			size_of(b, sizeof(b), m, "len"), text_of(c, sizeof(c), m, "path"),
			text_of(d, sizeof(d), m, "why"));
}

static void
print_ring(const json_t *o, const char *staged)
{
	char a[TEXT_SIZE], b[TEXT_SIZE];

	printf("depth %" JSON_INTEGER_FORMAT ", immediate data of up to %s, ",
		number_of(o, "depth"), size_of(a, sizeof(a), o, "imm_size"));
	if (number_of(o, "staging_size") == 0)
		printf("no staging ring");
	else
		printf("staging ring of %s%s", size_of(b, sizeof(b), o, "staging_size"), staged);
}

/* What happens to mbufs with a driver that hands them over. */
static void
print_mbufs(const json_t *mbufs)
{
	char a[TEXT_SIZE], b[TEXT_SIZE];

	printf("    mbufs of one segment: handed over, with up to %s\n",
		size_of(a, sizeof(a), mbufs, "room"));
	text_of(a, sizeof(a), mbufs, "chains");
	printf("    chains: %s: the consumer was created with%s RTE_COMCH_CONSUMER_F_CHAINS\n", a,
		strcmp(a, "copied") == 0 ? "out" : "");
	text_of(a, sizeof(a), mbufs, "not_eal_memory");
	printf("    data outside EAL memory: %s: %s\n", a, strcmp(a, "copied") == 0 ?
		"the peer is another process, which cannot access it" :
		"the peer is the same process");
	printf("    operations: copied: they have no mbuf\n");
	printf("    copies of more than %s: refused, counted in the producer's errors\n",
		size_of(b, sizeof(b), mbufs, "room"));
}

static void
print_producer(const char *id, const json_t *p)
{
	printf("  producer %s: %" JSON_INTEGER_FORMAT " messages, %" JSON_INTEGER_FORMAT
		" payload copies, %" JSON_INTEGER_FORMAT " staged, %" JSON_INTEGER_FORMAT
		" errors\n", id, number_of(p, "msgs"), number_of(p, "copies"),
		number_of(p, "staged_msgs"), number_of(p, "errors"));
}

static void
print_consumer(const char *id, const json_t *c)
{
	char a[TEXT_SIZE];

	printf("  consumer %s: %s, ", id, text_of(a, sizeof(a), c, "state"));
	print_ring(c, "");
	printf("\n    %" JSON_INTEGER_FORMAT " messages, %" JSON_INTEGER_FORMAT
		" staged\n", number_of(c, "msgs"), number_of(c, "staged_msgs"));
	if (number_of(c, "registrations") == 0)
		printf("    no registrations: buffers without payload only\n");
	if (json_object_get(c, "mbufs") != NULL)
		print_mbufs(json_object_get(c, "mbufs"));
	print_memory(json_object_get(c, "memory"));
	if (number_of(c, "memory_left_out") > 0)
		printf("    and %" JSON_INTEGER_FORMAT " more\n", number_of(c, "memory_left_out"));
}

void
info_print_explain(const json_t *reply)
{
	json_t *o = (json_t *)(uintptr_t)reply, *c;
	char a[TEXT_SIZE];
	const char *id;

	print_conn(reply);
	json_object_foreach(json_object_get(o, "consumers"), id, c)
		print_consumer(id, c);
	json_object_foreach(json_object_get(o, "producers"), id, c)
		print_producer(id, c);
	if (number_of(reply, "consumers_left_out") > 0)
		printf("  and %" JSON_INTEGER_FORMAT " more consumers\n",
			number_of(reply, "consumers_left_out"));
	json_object_foreach(json_object_get(o, "peer_consumers"), id, c) {
		printf("  to the peer's consumer %s: ", id);
		print_ring(c, " for memory that it does not export");
		printf("\n");
	}
	if (number_of(reply, "peer_memory") > 0)
		printf("  the peer exports %" JSON_INTEGER_FORMAT " registrations, %s: "
			"messages to posted buffers are written directly\n",
			number_of(reply, "peer_memory"),
			size_of(a, sizeof(a), reply, "peer_memory_bytes"));
}
