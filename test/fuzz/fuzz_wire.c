/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* A frame of a stranger: what is parsed is sane, and the same when it is built again. */

#include <stdlib.h>

#include "fuzz.h"

#include "rte_comch_driver.h"
#include "ctrl/comch_wire.h"

/* Parse bytes whose allocation ends where they end. */
static int
parse(const uint8_t *data, size_t size, struct comch_wire_frame *f, uint8_t **copy)
{
	*copy = malloc(size);
	T_CHECK(*copy != NULL || size == 0);
	if (size > 0)
		memcpy(*copy, data, size);
	memset(f, 0, sizeof(*f));
	return comch_wire_parse(*copy, (uint32_t)size, f);
}

static void
check_sane(const struct comch_wire_frame *f, const uint8_t *bytes, size_t size)
{
	size_t i;

	T_GT(f->type, 0);
	T_LT(f->type, COMCH_WIRE_NB_TYPES);
	T_EQ(f->len, size - COMCH_WIRE_HDR_SIZE);
	T_LT(strnlen(f->text, sizeof(f->text)), sizeof(f->text));
	T_LE(f->status, 0);
	T_GE(f->status, -4095);
	T_LE(f->ticket_len, RTE_COMCH_TICKET_SIZE);
	if (f->ticket_len > 0) {
		T_CHECK(f->ticket >= bytes);
		T_CHECK(f->ticket + f->ticket_len <= bytes + size);
	}
	/* Reasons go to terminals. */
	for (i = 0; f->type != COMCH_WIRE_HELLO && f->text[i] != '\0'; i++)
		T_CHECK(f->text[i] >= ' ' && f->text[i] <= '~');
	T_NE(strcmp(comch_wire_name(f->type), "unknown"), 0);
}

static void
check_same(const struct comch_wire_frame *f, const struct comch_wire_frame *g)
{
	struct comch_wire_frame a = *f, b = *g;

	/* Fields of later versions are gone, and the ticket is elsewhere. */
	T_EQ(a.ticket_len, b.ticket_len);
	if (a.ticket_len > 0)
		T_EQ(memcmp(a.ticket, b.ticket, a.ticket_len), 0);
	a.ticket = b.ticket = NULL;
	a.len = b.len = 0;
	T_EQ(memcmp(&a, &b, sizeof(a)), 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t built[COMCH_WIRE_MAX_FRAME], *first, *second;
	struct comch_wire_frame f, g;
	uint32_t len;

	if (parse(data, size, &f, &first) == 0) {
		check_sane(&f, first, size);
		if (f.type == COMCH_WIRE_MSG_AT) {
			(void)comch_wire_clock(first);
		} else if (f.type != COMCH_WIRE_MSG) {
			len = comch_wire_build(&f, built);
			T_LE(len, sizeof(built));
			T_LE(len, size);
			T_EQ(parse(built, len, &g, &second), 0);
			check_same(&f, &g);
			free(second);
		}
	}
	free(first);
	return 0;
}
