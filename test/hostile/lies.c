/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>
#include <sys/mman.h>

#include "lies.h"
#include "t.h"

#define PREFIX_LEN 8
/* Before the body of a frame. */
#define BODY_OFF (PREFIX_LEN + COMCH_WIRE_HDR_SIZE)

/* The prefix in the ring: the frame's length, and its descriptors. */
static struct form
form_of(const struct lie_frame *frame)
{
	struct form f = { 0 };

	form_add(&f, 4, 0);
	form_add(&f, 4, frame->nb_fds);
	form_add_frame(&f, frame, 0);
	f.value[0] = form_len(&f) - PREFIX_LEN;
	return f;
}

unsigned int
lie_nb_fields(const struct lie_frame *f)
{
	return form_of(f).nb;
}

uint32_t
lie_build(const struct lie_frame *f, uint8_t *bytes)
{
	const struct form form = form_of(f);

	T_LE(form_len(&form), LIE_MAX_LEN);
	return form_put(&form, bytes);
}

void
lie_in(const struct lie_frame *f, unsigned int field, unsigned int which, uint8_t *bytes)
{
	const struct form form = form_of(f);

	form_lie(&form, field, which, bytes);
}

void
lie_goods_new(struct lie_goods *g)
{
	raw_cons_new(&g->c, 1, LIE_DEPTH, LIE_DEPTH, LIE_STAGING);
	/* For a consumer of 1,024 entries, whose memory is shown. */
	raw_mem_new(&g->rec, (comch_chan_rec_len(1024, 0) + 4095) & ~UINT64_C(4095),
		MFD_ALLOW_SEALING, RAW_SEALS);
	raw_mem_new(&g->m, LIE_MEM_LEN, MFD_ALLOW_SEALING, RAW_SEALS_PAYLOAD);
}

void
lie_goods_free(struct lie_goods *g)
{
	raw_cons_free(&g->c);
	raw_mem_free(&g->rec);
	raw_mem_free(&g->m);
}

void
lie_fds(const struct lie_goods *g, uint32_t type, int fds[2])
{
	fds[0] = type == COMCH_WIRE_MR_ADD ? g->m.fd : type == COMCH_WIRE_CONSUMER_ACK ?
		g->rec.fd : type == COMCH_WIRE_PRODUCER_NEW ? g->c.wake[1] : g->c.post.fd;
	fds[1] = g->c.wake[1];
}

void
lie_send(struct raw_peer *p, const struct lie_frame *f, const uint8_t *bytes, uint32_t len,
		const int *fds)
{
	if (f->nb_fds > 0)
		T_EQ(raw_sock_send(p->sock, "f", 1, fds, f->nb_fds), 1);
	raw_put(p, bytes, len);
}

void
lie_each(const struct lie_frame *f, const struct lie_goods *g, lie_fn fn, void *arg)
{
	uint8_t bytes[LIE_MAX_LEN];
	unsigned int field, which;
	uint32_t len;
	int fds[2];

	lie_fds(g, f->type, fds);
	for (field = 0; field < lie_nb_fields(f); field++) {
		for (which = 0; which < LIE_NB_WHICH; which++) {
			len = lie_build(f, bytes);
			lie_in(f, field, which, bytes);
			fn(arg, f, bytes, len, fds);
		}
	}
}

void
lie_random_say(struct raw_peer *p, const struct lie_goods *g)
{
	const struct lie_frame *f = &lie_frames[lie_draw(lie_nb_frames)];
	uint8_t bytes[LIE_MAX_LEN];
	const uint32_t len = lie_build(f, bytes);
	unsigned int i, n;
	int fds[2];

	for (i = 0, n = lie_draw(4); i < n; i++)
		lie_in(f, lie_draw(lie_nb_fields(f)), lie_draw(LIE_NB_WHICH), bytes);
	for (i = 0; lie_draw(8) == 0 && i < len; i++)
		bytes[lie_draw(len)] = (uint8_t)lie_draw(256);
	lie_fds(g, f->type, fds);
	if (f->nb_fds > 0 && lie_draw(8) != 0)
		raw_sock_send(p->sock, "f", 1, fds, f->nb_fds);
	if (lie_draw(8) == 0)
		raw_wake(p);
	raw_put(p, bytes, len);
}

#define TEN_BYTES "\001\011\012\015\033\177\200\233\302\377"
#define REASON_40 TEN_BYTES TEN_BYTES TEN_BYTES TEN_BYTES
static const char long_reason[] = REASON_40 REASON_40 REASON_40 REASON_40 REASON_40 REASON_40;

const struct lie_reason lie_reasons[] = {
	{ LIE_REASON_PLAIN, sizeof(LIE_REASON_PLAIN) - 1 },
	{ "\033[2J%s%n%s\r\n\a]0;title\a", 22 },
	{ "before\0behind", 13 },
	{ long_reason, 0 },
	{ long_reason, 1 },
	{ long_reason, RTE_COMCH_REASON_SIZE - 1 },
	{ long_reason, RTE_COMCH_REASON_SIZE },
	{ long_reason, RTE_COMCH_REASON_SIZE + 1 },
	/* As long as a frame may be, and longer. */
	{ long_reason, COMCH_WIRE_MAX_FRAME - COMCH_WIRE_HDR_SIZE - 6 },
	{ long_reason, COMCH_WIRE_MAX_FRAME - COMCH_WIRE_HDR_SIZE - 5 },
};
const unsigned int lie_nb_reasons = RTE_DIM(lie_reasons);

void
lie_pour(struct raw_peer *p, const struct lie_goods *g, struct lie_flood *flood)
{
	const struct lie_frame *f = lie_frame_of(flood->type);
	uint8_t bytes[LIE_MAX_LEN];
	const uint32_t len = lie_build(f, bytes);
	const uint32_t id = (uint32_t)f->value[0];
	struct raw_send s = {
		.type = f->type, .body = bytes + BODY_OFF, .len = len - BODY_OFF,
		.nb_fds = f->nb_fds,
	};
	uint32_t next;

	lie_fds(g, f->type, s.fds);
	for (;; flood->nb++) {
		if (flood->counts_up) {
			next = id + flood->nb;
			memcpy(bytes + BODY_OFF, &next, sizeof(next));
		}
		if (!raw_try(p, &s))
			return;
	}
}
