/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Builds and parses the frames of the control path. */

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "rte_comch_driver.h"
#include "rte_comch_mem.h"
#include "ctrl/comch_wire.h"

/* All other sizes follow from the lists of fields below, byte by byte. */
static_assert(RTE_COMCH_NAME_SIZE == 120 && RTE_COMCH_REASON_SIZE == 128, "wire");
static_assert(COMCH_WIRE_HDR_SIZE + COMCH_WIRE_CLOCK_SIZE <= RTE_COMCH_FRAME_HDR,
	"a driver takes the header with the clock");
static_assert(RTE_COMCH_TICKET_SIZE + 64 <= COMCH_WIRE_MAX_FRAME, "a ticket fits");
static_assert(RTE_COMCH_MEM_SEALED == 0 && RTE_COMCH_MEM_EAL == 1 && RTE_COMCH_MEM_HEAP == 2,
	"wire");
/* A status is sent as it is: Linux has these numbers on amd64 and arm64, not everywhere. */
static_assert(ENOMEM == 12 && EPROTO == 71 && ENOTSUP == 95 && EADDRINUSE == 98 &&
	ECONNRESET == 104 && ETIMEDOUT == 110 && EDQUOT == 122 && ECANCELED == 125, "wire");

/*
 * One list of fields per type serves both directions, so that they always agree:
 * a cursor either puts or gets.
 */
struct wire_cursor {
	uint8_t *pos;
	uint8_t *end;
	bool put;
	bool bad; /* ran past the end, or found an invalid value */
};

static void
wire_u16(struct wire_cursor *c, uint16_t *v)
{
	uint16_t le;

	if (c->end - c->pos < (ptrdiff_t)sizeof(le)) {
		c->bad = true;
		return;
	}
	if (c->put) {
		le = rte_cpu_to_le_16(*v);
		memcpy(c->pos, &le, sizeof(le));
	} else {
		memcpy(&le, c->pos, sizeof(le));
		*v = rte_le_to_cpu_16(le);
	}
	c->pos += sizeof(le);
}

static void
wire_u32(struct wire_cursor *c, uint32_t *v)
{
	uint32_t le;

	if (c->end - c->pos < (ptrdiff_t)sizeof(le)) {
		c->bad = true;
		return;
	}
	if (c->put) {
		le = rte_cpu_to_le_32(*v);
		memcpy(c->pos, &le, sizeof(le));
	} else {
		memcpy(&le, c->pos, sizeof(le));
		*v = rte_le_to_cpu_32(le);
	}
	c->pos += sizeof(le);
}

static void
wire_u64(struct wire_cursor *c, uint64_t *v)
{
	uint64_t le;

	if (c->end - c->pos < (ptrdiff_t)sizeof(le)) {
		c->bad = true;
		return;
	}
	if (c->put) {
		le = rte_cpu_to_le_64(*v);
		memcpy(c->pos, &le, sizeof(le));
	} else {
		memcpy(&le, c->pos, sizeof(le));
		*v = rte_le_to_cpu_64(le);
	}
	c->pos += sizeof(le);
}

/* A status is 0 or a negative errno; anything else from a peer is invalid. */
static void
wire_status(struct wire_cursor *c, int32_t *v)
{
	uint32_t u = (uint32_t)*v;

	wire_u32(c, &u);
	*v = (int32_t)u;
	if (*v > 0 || *v < -4095)
		c->bad = true;
}

/* Text is a length and bytes without NUL; received text is NUL-terminated. */
static void
wire_text(struct wire_cursor *c, char *text, size_t size)
{
	uint16_t len = c->put ? (uint16_t)strnlen(text, size - 1) : 0;
	uint16_t i;

	wire_u16(c, &len);
	if (c->bad || len >= size || c->end - c->pos < (ptrdiff_t)len) {
		c->bad = true;
		return;
	}
	if (c->put) {
		memcpy(c->pos, text, len);
	} else {
		memcpy(text, c->pos, len);
		text[len] = '\0';
		for (i = 0; i < len; i++)
			if (text[i] == '\0')
				c->bad = true;
	}
	c->pos += len;
}

/* Reasons go to logs and terminals: replace all but printable ASCII. */
static void
wire_reason(struct wire_cursor *c, char *text, size_t size)
{
	size_t i;

	wire_text(c, text, size);
	if (c->put || c->bad)
		return;
	for (i = 0; text[i] != '\0'; i++)
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
}

/* Appended by 1.1: absent in frames of older peers, and ignored by them. */
static void
wire_flags(struct wire_cursor *c, struct comch_wire_frame *f)
{
	if (f->major == COMCH_WIRE_MAJOR && f->minor >= 1)
		wire_u32(c, &f->flags);
	else
		f->flags = 0;
}

/* Appended by 1.2, if the driver has tickets: older peers ignore it. */
static void
wire_ticket(struct wire_cursor *c, struct comch_wire_frame *f)
{
	uint16_t len = c->put ? (uint16_t)f->ticket_len : 0;

	if (c->bad || (c->put ? len == 0 : c->pos == c->end))
		return;
	wire_u16(c, &len);
	if (c->bad || len > RTE_COMCH_TICKET_SIZE || c->end - c->pos < (ptrdiff_t)len) {
		c->bad = true;
		return;
	}
	if (c->put)
		memcpy(c->pos, f->ticket, len);
	else
		f->ticket = c->pos;
	f->ticket_len = len;
	c->pos += len;
}

static void
wire_final(struct wire_cursor *c, struct comch_wire_frame *f)
{
	if (!c->put)
		f->has_final = !c->bad && c->pos < c->end;
	if (f->has_final)
		wire_u64(c, &f->final);
}

static void
wire_fields(struct wire_cursor *c, struct comch_wire_frame *f)
{
	switch (f->type) {
	case COMCH_WIRE_HELLO:
		wire_u32(c, &f->magic);
		wire_u16(c, &f->major);
		wire_u16(c, &f->minor);
		wire_u32(c, &f->max_msg_size);
		wire_u32(c, &f->recv_queue);
		wire_text(c, f->text, RTE_COMCH_NAME_SIZE);
		wire_flags(c, f);
		break;
	case COMCH_WIRE_ACCEPT:
		wire_u16(c, &f->major);
		wire_u16(c, &f->minor);
		wire_u32(c, &f->max_msg_size);
		wire_u32(c, &f->recv_queue);
		wire_flags(c, f);
		break;
	case COMCH_WIRE_REJECT:
	case COMCH_WIRE_DISCONNECT:
		wire_status(c, &f->status);
		wire_reason(c, f->text, sizeof(f->text));
		break;
	case COMCH_WIRE_MR_ADD:
		wire_u32(c, &f->id);
		wire_u32(c, &f->kind);
		wire_u64(c, &f->offset);
		wire_u64(c, &f->size);
		wire_ticket(c, f);
		break;
	case COMCH_WIRE_MR_ACK:
		wire_u32(c, &f->id);
		wire_status(c, &f->status);
		break;
	case COMCH_WIRE_CONSUMER_ACK:
		wire_u32(c, &f->id);
		wire_status(c, &f->status);
		wire_ticket(c, f);
		break;
	case COMCH_WIRE_CONSUMER_NEW:
		wire_u32(c, &f->id);
		wire_u32(c, &f->depth);
		wire_u32(c, &f->imm_size);
		wire_u32(c, &f->staging_size);
		wire_ticket(c, f);
		break;
	case COMCH_WIRE_CONSUMER_GONE:
		wire_u32(c, &f->id);
		wire_final(c, f);
		break;
	case COMCH_WIRE_PRODUCER_NEW:
		wire_u32(c, &f->id);
		wire_ticket(c, f);
		break;
	case COMCH_WIRE_MR_DEL:
	case COMCH_WIRE_PRODUCER_GONE:
		wire_u32(c, &f->id);
		break;
	default:
		/* CREDIT: all is in the header. */
		break;
	}
}

uint32_t
comch_wire_build(const struct comch_wire_frame *frame, void *buf)
{
	struct comch_wire_frame f = *frame;
	struct wire_cursor c = {
		.pos = (uint8_t *)buf + COMCH_WIRE_HDR_SIZE,
		.end = (uint8_t *)buf + COMCH_WIRE_MAX_FRAME,
		.put = true,
	};
	uint64_t word;
	uint32_t body;

	wire_fields(&c, &f);
	body = (uint32_t)(c.pos - (uint8_t *)buf) - COMCH_WIRE_HDR_SIZE;
	word = rte_cpu_to_le_64((uint64_t)f.type | (uint64_t)body << 32);
	memcpy(buf, &word, sizeof(word));
	word = rte_cpu_to_le_64(f.acked);
	memcpy((uint8_t *)buf + sizeof(word), &word, sizeof(word));
	return COMCH_WIRE_HDR_SIZE + body;
}

int
comch_wire_parse(const void *buf, uint32_t len, struct comch_wire_frame *frame)
{
	/* The cursor writes only when it puts. */
	uint8_t *base = (uint8_t *)(uintptr_t)buf;
	struct wire_cursor c = {
		.pos = base + COMCH_WIRE_HDR_SIZE,
		.end = base + len,
	};
	uint64_t w[2];
	uint32_t low;

	if (len < COMCH_WIRE_HDR_SIZE)
		return -EPROTO;
	memcpy(w, buf, sizeof(w));
	low = (uint32_t)rte_le_to_cpu_64(w[0]);
	frame->len = (uint32_t)(rte_le_to_cpu_64(w[0]) >> 32);
	frame->acked = (uint32_t)rte_le_to_cpu_64(w[1]);
	frame->ticket_len = 0;
	if (low == 0 || low >= COMCH_WIRE_NB_TYPES || frame->len != len - COMCH_WIRE_HDR_SIZE)
		return -EPROTO;
	frame->type = (enum comch_wire_type)low;
	if (frame->type == COMCH_WIRE_MSG)
		return 0;
	if (frame->type == COMCH_WIRE_MSG_AT)
		return frame->len >= COMCH_WIRE_CLOCK_SIZE ? 0 : -EPROTO;
	wire_fields(&c, frame);
	/* A later minor version may append fields: ignore remaining bytes. */
	return c.bad ? -EPROTO : 0;
}

const char *
comch_wire_name(unsigned int type)
{
	static const char *const names[COMCH_WIRE_NB_TYPES] = {
		[COMCH_WIRE_HELLO] = "HELLO",
		[COMCH_WIRE_ACCEPT] = "ACCEPT",
		[COMCH_WIRE_REJECT] = "REJECT",
		[COMCH_WIRE_MSG] = "MSG",
		[COMCH_WIRE_CREDIT] = "CREDIT",
		[COMCH_WIRE_DISCONNECT] = "DISCONNECT",
		[COMCH_WIRE_MR_ADD] = "MR_ADD",
		[COMCH_WIRE_MR_ACK] = "MR_ACK",
		[COMCH_WIRE_MR_DEL] = "MR_DEL",
		[COMCH_WIRE_CONSUMER_NEW] = "CONSUMER_NEW",
		[COMCH_WIRE_CONSUMER_ACK] = "CONSUMER_ACK",
		[COMCH_WIRE_CONSUMER_GONE] = "CONSUMER_GONE",
		[COMCH_WIRE_PRODUCER_NEW] = "PRODUCER_NEW",
		[COMCH_WIRE_PRODUCER_GONE] = "PRODUCER_GONE",
		[COMCH_WIRE_MSG_AT] = "MSG_AT",
	};

	if (type >= COMCH_WIRE_NB_TYPES || names[type] == NULL)
		return "unknown";
	return names[type];
}
