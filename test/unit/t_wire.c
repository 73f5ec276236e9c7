/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Frames: what is built is parsed again; nothing else is. comch_wire.c. */

#include <stdlib.h>

#include <criterion/criterion.h>

#include "t.h"

#include "rte_comch_driver.h"
#include "ctrl/comch_wire.h"

#define ACKED UINT32_C(0xfffffff0)

static struct comch_wire_frame
frame_of(enum comch_wire_type type)
{
	struct comch_wire_frame f = {
		.type = type, .acked = ACKED, .magic = COMCH_WIRE_MAGIC, .major = 1,
		.minor = 2, .max_msg_size = 4080, .recv_queue = 77,
		.flags = UINT32_C(0x87654321), .status = -71,
		.id = UINT32_MAX, .kind = 2, .offset = UINT64_C(0x123456789abcdef0),
		.size = UINT64_MAX, .depth = 1024, .imm_size = 32, .staging_size = 4096,
		.text = "a name",
	};

	return f;
}

/* The same with all that 1.2 appends. */
static struct comch_wire_frame
longest_frame_of(enum comch_wire_type type)
{
	static const uint8_t ticket[RTE_COMCH_TICKET_SIZE] = { 1, 2, 3, [95] = 96 };
	struct comch_wire_frame f = frame_of(type);

	f.ticket = ticket;
	f.ticket_len = sizeof(ticket);
	f.has_final = true;
	f.final = UINT64_C(0xfedcba9876543210);
	return f;
}

static void
check_handshake(const struct comch_wire_frame *g, const struct comch_wire_frame *f)
{
	cr_assert_eq(g->major, f->major);
	cr_assert_eq(g->minor, f->minor);
	cr_assert_eq(g->max_msg_size, f->max_msg_size);
	cr_assert_eq(g->recv_queue, f->recv_queue);
	cr_assert_eq(g->flags, f->flags);
}

static void
check_same(const struct comch_wire_frame *g, const struct comch_wire_frame *f)
{
	switch (f->type) {
	case COMCH_WIRE_HELLO:
		cr_assert_eq(g->magic, f->magic);
		cr_assert_str_eq(g->text, f->text);
		check_handshake(g, f);
		break;
	case COMCH_WIRE_ACCEPT:
		check_handshake(g, f);
		break;
	case COMCH_WIRE_REJECT:
	case COMCH_WIRE_DISCONNECT:
		cr_assert_eq(g->status, f->status);
		cr_assert_str_eq(g->text, f->text);
		break;
	case COMCH_WIRE_MR_ADD:
		cr_assert_eq(g->id, f->id);
		cr_assert_eq(g->kind, f->kind);
		cr_assert_eq(g->offset, f->offset);
		cr_assert_eq(g->size, f->size);
		break;
	case COMCH_WIRE_MR_ACK:
	case COMCH_WIRE_CONSUMER_ACK:
		cr_assert_eq(g->id, f->id);
		cr_assert_eq(g->status, f->status);
		break;
	case COMCH_WIRE_CONSUMER_NEW:
		cr_assert_eq(g->id, f->id);
		cr_assert_eq(g->depth, f->depth);
		cr_assert_eq(g->imm_size, f->imm_size);
		cr_assert_eq(g->staging_size, f->staging_size);
		break;
	case COMCH_WIRE_CREDIT:
		break;
	default:
		cr_assert_eq(g->id, f->id);
		break;
	}
}

Test(wire, round_trip)
{
	uint8_t buf[COMCH_WIRE_MAX_FRAME];
	struct comch_wire_frame f, g;
	uint32_t type, len;

	for (type = 1; type < COMCH_WIRE_NB_TYPES; type++) {
		if (type == COMCH_WIRE_MSG || type == COMCH_WIRE_MSG_AT)
			continue;
		f = frame_of(type);
		len = comch_wire_build(&f, buf);
		cr_assert(len >= COMCH_WIRE_HDR_SIZE && len <= COMCH_WIRE_MAX_FRAME);
		memset(&g, 0xee, sizeof(g));
		cr_assert_eq(comch_wire_parse(buf, len, &g), 0, "%s", comch_wire_name(type));
		cr_assert_eq((uint32_t)g.type, type);
		cr_assert_eq(g.acked, ACKED);
		check_same(&g, &f);
	}
}

Test(wire, message_header)
{
	uint8_t buf[COMCH_WIRE_HDR_SIZE + 10] = { 0 };
	struct comch_wire_frame f;

	comch_wire_msg_hdr(buf, 10, 5);
	cr_assert_eq(comch_wire_parse(buf, sizeof(buf), &f), 0);
	cr_assert_eq(f.type, COMCH_WIRE_MSG);
	cr_assert_eq(f.len, 10u);
	cr_assert_eq(f.acked, 5u);
	/* A length other than the header's is refused. */
	cr_assert_eq(comch_wire_parse(buf, sizeof(buf) - 1, &f), -EPROTO);
	comch_wire_msg_hdr(buf, 9, 5);
	cr_assert_eq(comch_wire_parse(buf, sizeof(buf), &f), -EPROTO);
	comch_wire_msg_hdr(buf, 0, 5);
	cr_assert_eq(comch_wire_parse(buf, COMCH_WIRE_HDR_SIZE, &f), 0);
}

Test(wire, message_with_clock)
{
	uint8_t buf[COMCH_WIRE_HDR_SIZE + COMCH_WIRE_CLOCK_SIZE + 10] = { 0 };
	const uint64_t clock = UINT64_C(0x0123456789abcdef);
	struct comch_wire_frame f;
	uint32_t i;

	comch_wire_msg_at_hdr(buf, 10, 5, clock);
	cr_assert_eq(comch_wire_parse(buf, sizeof(buf), &f), 0);
	cr_assert_eq(f.type, COMCH_WIRE_MSG_AT);
	cr_assert_eq(f.len, COMCH_WIRE_CLOCK_SIZE + 10u);
	cr_assert_eq(f.acked, 5u);
	cr_assert_eq(comch_wire_clock(buf), clock);
	/* Little endian, whatever machine this is. */
	for (i = 0; i < COMCH_WIRE_CLOCK_SIZE; i++)
		cr_assert_eq(buf[COMCH_WIRE_HDR_SIZE + i], (uint8_t)(clock >> 8 * i));
	cr_assert_eq(comch_wire_parse(buf, sizeof(buf) - 1, &f), -EPROTO);
	comch_wire_msg_at_hdr(buf, 0, 5, clock);
	cr_assert_eq(comch_wire_parse(buf, COMCH_WIRE_HDR_SIZE + COMCH_WIRE_CLOCK_SIZE, &f), 0);
	/* Too short for its clock. */
	for (i = 0; i < COMCH_WIRE_CLOCK_SIZE; i++) {
		comch_wire_msg_at_hdr(buf, i - COMCH_WIRE_CLOCK_SIZE, 5, clock);
		cr_assert_eq(comch_wire_parse(buf, COMCH_WIRE_HDR_SIZE + i, &f), -EPROTO);
	}
}

/* The allocation ends where the frame ends: a sanitizer sees a longer read. */
static int
parse_exact(const uint8_t *bytes, uint32_t len, struct comch_wire_frame *f)
{
	uint8_t *copy = malloc(len > 0 ? len : 1);
	int ret;

	cr_assert_not_null(copy);
	memcpy(copy, bytes, len);
	ret = comch_wire_parse(copy, len, f);
	free(copy);
	return ret;
}

Test(wire, every_truncation)
{
	uint8_t buf[COMCH_WIRE_MAX_FRAME];
	struct comch_wire_frame f, g;
	uint32_t type, len, cut, body;

	for (type = 1; type < COMCH_WIRE_NB_TYPES; type++) {
		if (type == COMCH_WIRE_MSG || type == COMCH_WIRE_MSG_AT)
			continue;
		f = frame_of(type);
		len = comch_wire_build(&f, buf);
		for (cut = 0; cut < len; cut++) {
			/* As cut off on the way ... */
			cr_assert_eq(parse_exact(buf, cut, &g), -EPROTO);
			/* ... and as if it had been sent so. */
			if (cut < COMCH_WIRE_HDR_SIZE)
				continue;
			body = rte_cpu_to_le_32(cut - COMCH_WIRE_HDR_SIZE);
			memcpy(buf + 4, &body, sizeof(body));
			cr_assert_eq(parse_exact(buf, cut, &g), -EPROTO, "%s cut to %u",
				comch_wire_name(type), cut);
		}
	}
}

/* A later minor version appends fields. */
Test(wire, longer_body_is_skipped)
{
	uint8_t buf[COMCH_WIRE_MAX_FRAME + 8];
	struct comch_wire_frame f, g;
	uint32_t type, len, body;

	for (type = 1; type < COMCH_WIRE_NB_TYPES; type++) {
		if (type == COMCH_WIRE_MSG || type == COMCH_WIRE_MSG_AT)
			continue;
		memset(buf, 0xff, sizeof(buf));
		f = longest_frame_of(type);
		len = comch_wire_build(&f, buf);
		body = rte_cpu_to_le_32(len + 8 - COMCH_WIRE_HDR_SIZE);
		memcpy(buf + 4, &body, sizeof(body));
		cr_assert_eq(parse_exact(buf, len + 8, &g), 0);
		check_same(&g, &f);
	}
}

/* A body of 1.0 has no flags, and another major may have anything: skipped. */
Test(wire, flags_since_1_1)
{
	static const enum comch_wire_type types[] = { COMCH_WIRE_HELLO, COMCH_WIRE_ACCEPT };
	uint8_t buf[COMCH_WIRE_MAX_FRAME];
	struct comch_wire_frame f, g;
	uint32_t i, with, without;

	for (i = 0; i < RTE_DIM(types); i++) {
		f = frame_of(types[i]);
		with = comch_wire_build(&f, buf);
		f.minor = 0;
		without = comch_wire_build(&f, buf);
		cr_assert_eq(with - without, sizeof(f.flags));
		memset(&g, 0xee, sizeof(g));
		cr_assert_eq(parse_exact(buf, without, &g), 0);
		cr_assert_eq(g.flags, 0u);
		cr_assert_eq(g.recv_queue, f.recv_queue);
		f.major = 2;
		f.minor = 1;
		memset(&g, 0xee, sizeof(g));
		cr_assert_eq(comch_wire_build(&f, buf), without);
		cr_assert_eq(parse_exact(buf, without, &g), 0);
		cr_assert_eq(g.flags, 0u);
	}
}

/* Cut to each length: what 1.1 sent is whole, and so is all of it. */
static void
check_appended(enum comch_wire_type type, uint32_t appended)
{
	struct comch_wire_frame f = frame_of(type), g;
	uint8_t buf[COMCH_WIRE_MAX_FRAME];
	uint32_t len, old, cut, body;

	old = comch_wire_build(&f, buf);
	f = longest_frame_of(type);
	len = comch_wire_build(&f, buf);
	cr_assert_eq(len, old + appended);
	for (cut = old; cut <= len; cut++) {
		body = rte_cpu_to_le_32(cut - COMCH_WIRE_HDR_SIZE);
		memcpy(buf + 4, &body, sizeof(body));
		memset(&g, 0xee, sizeof(g));
		cr_assert_eq(comch_wire_parse(buf, cut, &g), cut == old || cut == len ? 0 : -EPROTO,
			"%s cut to %u", comch_wire_name(type), cut);
		if (cut == old || cut == len)
			check_same(&g, &f);
	}
	cr_assert_eq(g.ticket_len, type == COMCH_WIRE_CONSUMER_GONE ? 0u : f.ticket_len);
	if (g.ticket_len > 0)
		cr_assert_arr_eq(g.ticket, f.ticket, f.ticket_len);
	cr_assert(type != COMCH_WIRE_CONSUMER_GONE || (g.has_final && g.final == f.final));
}

Test(wire, appended_since_1_2)
{
	static const enum comch_wire_type types[] = {
		COMCH_WIRE_MR_ADD, COMCH_WIRE_CONSUMER_NEW, COMCH_WIRE_CONSUMER_ACK,
		COMCH_WIRE_PRODUCER_NEW,
	};
	struct comch_wire_frame f, g;
	uint8_t buf[COMCH_WIRE_MAX_FRAME + 1] = { 0 };
	uint32_t i, len, body;

	for (i = 0; i < RTE_DIM(types); i++)
		check_appended(types[i], 2 + RTE_COMCH_TICKET_SIZE);
	check_appended(COMCH_WIRE_CONSUMER_GONE, 8);
	/* A ticket that is longer than any. */
	f = longest_frame_of(COMCH_WIRE_PRODUCER_NEW);
	len = comch_wire_build(&f, buf) + 1;
	body = rte_cpu_to_le_32(len - COMCH_WIRE_HDR_SIZE);
	memcpy(buf + 4, &body, sizeof(body));
	cr_assert_eq(comch_wire_parse(buf, len, &g), 0);
	buf[COMCH_WIRE_HDR_SIZE + 4] = RTE_COMCH_TICKET_SIZE + 1;
	cr_assert_eq(comch_wire_parse(buf, len, &g), -EPROTO);
}

Test(wire, bad_type)
{
	static const uint32_t bad[] = {
		0, COMCH_WIRE_NB_TYPES, 255, 0x100 | COMCH_WIRE_CREDIT,
		0x10000 | COMCH_WIRE_CREDIT, UINT32_MAX,
	};
	uint8_t buf[COMCH_WIRE_HDR_SIZE] = { 0 };
	struct comch_wire_frame f;
	unsigned int i;

	for (i = 0; i < RTE_DIM(bad); i++) {
		memcpy(buf, &bad[i], sizeof(bad[i]));
		cr_assert_eq(comch_wire_parse(buf, sizeof(buf), &f), -EPROTO, "%#x", bad[i]);
	}
	cr_assert_str_eq(comch_wire_name(0), "unknown");
	cr_assert_str_eq(comch_wire_name(COMCH_WIRE_NB_TYPES), "unknown");
	cr_assert_str_eq(comch_wire_name(COMCH_WIRE_HELLO), "HELLO");
}

Test(wire, bad_status)
{
	static const int32_t status[] = { 1, -4096, INT32_MIN, INT32_MAX, 0, -4095, -1 };
	static const enum comch_wire_type types[] = {
		COMCH_WIRE_REJECT, COMCH_WIRE_DISCONNECT, COMCH_WIRE_MR_ACK,
		COMCH_WIRE_CONSUMER_ACK,
	};
	uint8_t buf[COMCH_WIRE_MAX_FRAME];
	struct comch_wire_frame f, g;
	unsigned int i, k;
	uint32_t len;

	for (k = 0; k < RTE_DIM(types); k++) {
		for (i = 0; i < RTE_DIM(status); i++) {
			f = frame_of(types[k]);
			f.status = status[i];
			len = comch_wire_build(&f, buf);
			cr_assert_eq(comch_wire_parse(buf, len, &g),
				i < 4 ? -EPROTO : 0, "%d", status[i]);
		}
	}
}

/* Offset of the text's length within a frame of each type that has one. */
#define HELLO_TEXT (COMCH_WIRE_HDR_SIZE + 16)
#define REASON_TEXT (COMCH_WIRE_HDR_SIZE + 4)

Test(wire, text_lengths)
{
	uint8_t buf[COMCH_WIRE_MAX_FRAME];
	struct comch_wire_frame f, g;
	uint32_t len;
	uint16_t k;

	for (k = 0; k < RTE_COMCH_REASON_SIZE; k++) {
		f = frame_of(COMCH_WIRE_REJECT);
		memset(f.text, 'x', sizeof(f.text));
		f.text[k] = '\0';
		len = comch_wire_build(&f, buf);
		cr_assert_eq(comch_wire_parse(buf, len, &g), 0);
		cr_assert_str_eq(g.text, f.text);
	}
	/* A text without its NUL is cut, not overrun. */
	memset(f.text, 'x', sizeof(f.text));
	len = comch_wire_build(&f, buf);
	cr_assert(len <= COMCH_WIRE_MAX_FRAME);
	cr_assert_eq(comch_wire_parse(buf, len, &g), 0);
	cr_assert_eq(strlen(g.text), sizeof(g.text) - 1);
	f.type = COMCH_WIRE_HELLO;
	len = comch_wire_build(&f, buf);
	cr_assert_eq(comch_wire_parse(buf, len, &g), 0);
	cr_assert_eq(strlen(g.text), (size_t)RTE_COMCH_NAME_SIZE - 1);
}

static void
check_text_len(enum comch_wire_type type, uint32_t at, uint32_t limit)
{
	uint8_t buf[COMCH_WIRE_MAX_FRAME * 2];
	struct comch_wire_frame f, g;
	uint32_t len, claimed, body;
	uint16_t le;

	for (claimed = 0; claimed <= UINT16_MAX; claimed++) {
		memset(buf, 'y', sizeof(buf));
		f = frame_of(type);
		comch_wire_build(&f, buf);
		le = rte_cpu_to_le_16((uint16_t)claimed);
		memcpy(buf + at, &le, sizeof(le));
		len = sizeof(buf);
		body = rte_cpu_to_le_32(len - COMCH_WIRE_HDR_SIZE);
		memcpy(buf + 4, &body, sizeof(body));
		memset(buf + at + 2, 'y', sizeof(buf) - at - 2);
		cr_assert_eq(comch_wire_parse(buf, len, &g), claimed < limit ? 0 : -EPROTO,
			"%u", claimed);
		if (claimed < limit)
			cr_assert_eq(strlen(g.text), claimed);
	}
}

Test(wire, text_length_lies)
{
	check_text_len(COMCH_WIRE_HELLO, HELLO_TEXT, RTE_COMCH_NAME_SIZE);
	check_text_len(COMCH_WIRE_REJECT, REASON_TEXT, RTE_COMCH_REASON_SIZE);
}

Test(wire, text_contents)
{
	uint8_t buf[COMCH_WIRE_MAX_FRAME];
	struct comch_wire_frame f, g;
	uint32_t len;
	int c;

	for (c = 0; c < 256; c++) {
		f = frame_of(COMCH_WIRE_DISCONNECT);
		len = comch_wire_build(&f, buf);
		buf[REASON_TEXT + 2 + 1] = (uint8_t)c;
		if (c == 0) {
			cr_assert_eq(comch_wire_parse(buf, len, &g), -EPROTO);
			continue;
		}
		cr_assert_eq(comch_wire_parse(buf, len, &g), 0);
		cr_assert_eq(g.text[1], c < ' ' || c > '~' ? '?' : (char)c, "%#x", c);
	}
	f = frame_of(COMCH_WIRE_HELLO);
	len = comch_wire_build(&f, buf);
	buf[HELLO_TEXT + 2] = '\0';
	cr_assert_eq(comch_wire_parse(buf, len, &g), -EPROTO);
}

static void
check_sane(const struct comch_wire_frame *f, uint32_t len)
{
	cr_assert(f->type > 0 && f->type < COMCH_WIRE_NB_TYPES);
	cr_assert_eq(f->len, len - COMCH_WIRE_HDR_SIZE);
	cr_assert(strnlen(f->text, sizeof(f->text)) < sizeof(f->text));
	cr_assert(f->status <= 0 && f->status >= -4095);
}

Test(wire, random_bytes)
{
	uint8_t buf[COMCH_WIRE_MAX_FRAME];
	struct comch_wire_frame f;
	uint32_t i, k, len, body, taken = 0;

	srandom(42);
	for (i = 0; i < 200000; i++) {
		len = (uint32_t)random() % (sizeof(buf) + 1);
		for (k = 0; k < len; k++)
			buf[k] = (uint8_t)(random() >> 8);
		/* Most of them get past the header. */
		if (i % 8 != 0 && len >= COMCH_WIRE_HDR_SIZE) {
			body = (uint32_t)random() % COMCH_WIRE_NB_TYPES;
			memcpy(buf, &body, sizeof(body));
			body = len - COMCH_WIRE_HDR_SIZE;
			memcpy(buf + 4, &body, sizeof(body));
			/* Small numbers, so that some fields are valid. */
			if (len >= REASON_TEXT + 2 && i % 2 == 0) {
				memset(buf + COMCH_WIRE_HDR_SIZE, 0xff, 4);
				memset(buf + REASON_TEXT, 0, 2);
				buf[REASON_TEXT] = (uint8_t)random();
			}
		}
		memset(&f, 0, sizeof(f));
		if (parse_exact(buf, len, &f) == 0) {
			check_sane(&f, len);
			taken++;
		}
	}
	cr_assert(taken > 1000, "%u", taken);
}
