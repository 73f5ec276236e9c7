/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <stdlib.h>

#include "ctrl/comch_wire.h"
#include "forms.h"
#include "t.h"

#define NO ('n' | 'o' << 8)

const struct lie_frame lie_frames[] = {
	{ "HELLO", LIE_BY_CLIENT, LIE_LINKED, COMCH_WIRE_HELLO, { 4, 2, 2, 4, 4, 2, 4, 4 },
		{ COMCH_WIRE_MAGIC, COMCH_WIRE_MAJOR, COMCH_WIRE_MINOR, 4080, 64, 4,
		'p' | 'a' << 8 | 'i' << 16 | 'r' << 24, 0 }, 0 },
	{ "ACCEPT", LIE_BY_SERVER, LIE_LINKED, COMCH_WIRE_ACCEPT, { 2, 2, 4, 4, 4 },
		{ COMCH_WIRE_MAJOR, COMCH_WIRE_MINOR, 4080, 64, 0 }, 0 },
	{ "REJECT", LIE_BY_SERVER, LIE_LINKED, COMCH_WIRE_REJECT, { 4, 2, 2 },
		{ (uint32_t)-ECONNREFUSED, 2, NO }, 0 },
	{ "MSG", LIE_BY_ANY, LIE_UP, COMCH_WIRE_MSG, { 8 }, { 4711 }, 0 },
	{ "MSG_AT", LIE_BY_ANY, LIE_UP, COMCH_WIRE_MSG_AT, { 8, 8 }, { 1, 4711 }, 0 },
	{ "CREDIT", LIE_BY_ANY, LIE_UP, COMCH_WIRE_CREDIT, { 0 }, { 0 }, 0 },
	{ "DISCONNECT", LIE_BY_ANY, LIE_UP, COMCH_WIRE_DISCONNECT, { 4, 2, 2 },
		{ (uint32_t)-ECONNRESET, 2, NO }, 0 },
	{ "MR_ADD", LIE_BY_ANY, LIE_UP, COMCH_WIRE_MR_ADD, { 4, 4, 8, 8 },
		{ LIE_MEM_ID, 0, 0, LIE_MEM_LEN }, 1 },
	{ "MR_DEL", LIE_BY_ANY, LIE_UP, COMCH_WIRE_MR_DEL, { 4 }, { LIE_MEM_ID }, 0 },
	{ "CONSUMER_NEW", LIE_BY_ANY, LIE_UP, COMCH_WIRE_CONSUMER_NEW, { 4, 4, 4, 4 },
		{ 1, LIE_DEPTH, 32, LIE_STAGING }, 2 },
	{ "CONSUMER_GONE", LIE_BY_ANY, LIE_UP, COMCH_WIRE_CONSUMER_GONE, { 4 }, { 1 }, 0 },
	{ "PRODUCER_NEW", LIE_BY_ANY, LIE_UP, COMCH_WIRE_PRODUCER_NEW, { 4 }, { 1 }, 1 },
	{ "PRODUCER_GONE", LIE_BY_ANY, LIE_UP, COMCH_WIRE_PRODUCER_GONE, { 4 }, { 1 }, 0 },
	{ "MR_ACK", LIE_BY_ANY, LIE_SHOWN, COMCH_WIRE_MR_ACK, { 4, 4 }, { 0, 0 }, 0 },
	{ "CONSUMER_ACK", LIE_BY_ANY, LIE_OFFERED, COMCH_WIRE_CONSUMER_ACK, { 4, 4 }, { 1, 0 }, 1 },
};
const unsigned int lie_nb_frames = RTE_DIM(lie_frames);

const struct lie_frame *
lie_frame_of(uint32_t type)
{
	unsigned int i;

	for (i = 0; i < lie_nb_frames; i++)
		if (lie_frames[i].type == type)
			return &lie_frames[i];
	T_FAIL("no frame of type %u", type);
}

void
form_add(struct form *f, uint8_t width, uint64_t value)
{
	T_LT(f->nb, FORM_MAX_FIELDS);
	f->width[f->nb] = width;
	f->value[f->nb++] = value;
}

void
form_add_frame(struct form *f, const struct lie_frame *frame, uint32_t more)
{
	uint32_t body = more;
	unsigned int i, nb;

	for (nb = 0; nb < RTE_DIM(frame->width) && frame->width[nb] > 0; nb++)
		body += frame->width[nb];
	form_add(f, 4, frame->type);
	form_add(f, 4, body);
	form_add(f, 4, 0); /* messages taken */
	form_add(f, 4, 0);
	for (i = 0; i < nb; i++)
		form_add(f, frame->width[i], frame->value[i]);
}

uint32_t
form_off(const struct form *f, unsigned int field)
{
	uint32_t off = 0;

	while (field > 0)
		off += f->width[--field];
	return off;
}

uint32_t
form_len(const struct form *f)
{
	return form_off(f, f->nb);
}

uint32_t
form_put(const struct form *f, void *bytes)
{
	uint8_t *to = bytes;
	unsigned int i;

	T_LE(form_len(f), FORM_MAX_LEN);
	for (i = 0; i < f->nb; i++)
		memcpy(to + form_off(f, i), &f->value[i], f->width[i]);
	return form_len(f);
}

uint64_t
lie_value(uint64_t truth, uint32_t width, unsigned int which)
{
	const uint64_t max = UINT64_MAX >> (64 - 8 * width);
	const uint64_t values[LIE_NB_WHICH] = {
		0, 1, truth - 1, truth + 1, max, max - 1, max / 2 + 1, truth ^ 0x100,
	};

	return values[which] & max;
}

void
form_lie(const struct form *f, unsigned int field, unsigned int which, void *bytes)
{
	uint8_t *at = (uint8_t *)bytes + form_off(f, field);
	const uint64_t v = lie_value(f->value[field], f->width[field], which);

	memcpy(at, &v, f->width[field]);
}

bool
form_is_valid(const struct form *f, unsigned int field, unsigned int which,
		const struct form_limit *limits, unsigned int nb, uint32_t what)
{
	const uint64_t truth = f->value[field] & UINT64_MAX >> (64 - 8 * f->width[field]);
	const uint64_t v = lie_value(truth, f->width[field], which);
	bool is_limited = false, fits = false;
	unsigned int i;

	for (i = 0; i < nb; i++) {
		if (limits[i].what != what || limits[i].field != field)
			continue;
		is_limited = true;
		fits |= v >= limits[i].min && v <= limits[i].max;
	}
	return v == truth || fits || !is_limited;
}

static uint64_t seed;

void
lie_seed(void)
{
	const char *given = getenv("T_SEED");

	seed = given != NULL ? strtoull(given, NULL, 0) : t_now_ms() * 2654435761u | 1;
	fprintf(stderr, "T_SEED=%#llx\n", (unsigned long long)seed);
}

uint32_t
lie_draw(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % below;
}
