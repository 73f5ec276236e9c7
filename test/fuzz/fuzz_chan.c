/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Descriptors and records of the mapped channel: one end is honest, and the memory that the
 * other end writes changes between any two calls as the input says. The regions are
 * allocations of their own, so that a sanitizer sees each access outside.
 */

#include <stdlib.h>

#include "fuzz.h"
#include "u_chan.h"

#define MAX_BURST 40
#define SLOT 128u

enum op {
	OP_SCRIBBLE,
	OP_POSITION,  /* of the hostile end: close to what it should be */
	OP_ENTRY,     /* a descriptor or record that is almost valid */
	OP_POST,
	OP_SEND,
	OP_DONE,
	OP_RECV,
	OP_SLEEP,
	OP_HALT,
	OP_ABORT,
	NB_OPS
};

struct state {
	struct u_chan *u;
	uint32_t depth;
	uint32_t staging_size;
	uint64_t nb_posted;   /* accepted, and returned */
	uint64_t nb_received;
	uint64_t nb_sent;
	uint64_t nb_done;
	bool is_consumer;     /* the hostile end */
};

static void
begin(struct state *s, struct fuzz_in *in)
{
	static const uint32_t stagings[] = { 0, 64, 256, 4096 };
	struct u_conf conf = { .nb_prods = 2 };
	const uint8_t how = fuzz_u8(in);

	memset(s, 0, sizeof(*s));
	s->is_consumer = how & 1;
	s->depth = 2u << (how >> 1) % 5;
	s->staging_size = stagings[fuzz_u8(in) % RTE_DIM(stagings)];
	conf.depth = s->depth;
	conf.staging_size = s->staging_size;
	conf.imm_size = fuzz_u8(in) % (RTE_COMCH_IMM_SIZE + 1);
	conf.done_size = 1u + fuzz_u8(in) % 64;
	conf.mem_size = s->depth * SLOT;
	s->u = u_chan_create(&conf);
}

static void
scribble(struct state *s, struct fuzz_in *in)
{
	const size_t len = s->is_consumer ? comch_chan_post_len(s->depth) :
		comch_chan_rec_len(s->depth, s->staging_size);
	const size_t off = fuzz_u16(in) % len;
	uint8_t *region = s->is_consumer ? (uint8_t *)s->u->post : (uint8_t *)s->u->rec;

	fuzz_take(in, region + off, RTE_MIN(len - off, (size_t)fuzz_u8(in)));
}

static void
set_position(struct state *s, struct fuzz_in *in)
{
	struct u_chan *u = s->u;
	const uint8_t which = fuzz_u8(in);
	const uint64_t delta = fuzz_number(in);

	if (s->is_consumer) {
		if (which % 4 == 0)
			u->post->tail = u->rec->claim + delta;
		else if (which % 4 == 1) {
			u->post->staging_tail = u->rc.stage_head - delta;
			/* Have the next send look at it. */
			u->rc.stage_limit = u->rc.stage_head;
		} else if (which % 4 == 2)
			u->post->armed = (uint32_t)delta;
		else
			u->post->closed = (uint32_t)delta;
	} else if (which % 3 == 0) {
		u->rec->claim = u->c.rx.head + delta;
	} else if (which % 3 == 1) {
		u->rec->staging_head = u->c.stage_tail + delta;
	} else {
		u->rec->armed = (uint32_t)delta;
	}
}

static void
set_entry(struct state *s, struct fuzz_in *in)
{
	static const uint16_t regions[] = {
		U_REGION, COMCH_REGION_STAGED, COMCH_REGION_NONE, U_REGION + 1,
	};
	struct u_chan *u = s->u;
	struct comch_desc *desc;
	struct comch_rec *rec;
	uint64_t pos;

	if (s->is_consumer) {
		desc = &u->post->desc[(u->rec->claim + fuzz_u8(in) % 4) & (s->depth - 1)];
		desc->where = (uint64_t)regions[fuzz_u8(in) % RTE_DIM(regions)] <<
			COMCH_DESC_OFF_BITS | (fuzz_number(in) & COMCH_DESC_OFF_MASK);
		desc->len = (uint32_t)fuzz_number(in);
		return;
	}
	pos = u->c.rx.head + fuzz_u8(in) % 2;
	rec = u_rec(u, pos);
	rec->head = (struct comch_rec_head){
		.producer = 100, .kind = fuzz_u8(in) % 4, .count = fuzz_u8(in) % 16,
		.imm_len = fuzz_u8(in) % 40,
	};
	rec->len0 = (uint32_t)fuzz_number(in);
	rec->stop_at = (fuzz_u8(in) & 3) != 0 ? 0 :
		(u->c.stage_tail + fuzz_number(in)) | COMCH_REC_STOPPED;
	rec->seq = pos + 1;
}

static void
post(struct state *s, struct fuzz_in *in)
{
	const uint8_t how = fuzz_u8(in);
	uint32_t i, n = 1u + how % 8, slot;

	for (i = 0; i < n; i++) {
		slot = (uint32_t)(s->nb_posted % s->depth);
		s->nb_posted += u_post(s->u, how & 0x80 ? U_MR_STAGED : U_MR_DIRECT, slot * SLOT,
			how & 0x40 ? SLOT : how & 0x3f, s->nb_posted);
	}
}

/* By the honest producers: what a hostile one does is in its memory. */
static void
send_some(struct state *s, struct fuzz_in *in)
{
	struct rte_comch_op ops[MAX_BURST];
	const uint8_t how = fuzz_u8(in), imm = fuzz_u8(in);
	const uint16_t n = 1u + how % MAX_BURST;
	const uint32_t len = fuzz_u16(in) % (SLOT + 4);
	uint16_t i;

	if (!s->is_consumer)
		return;
	for (i = 0; i < n; i++) {
		ops[i] = u_op(s->u, 0, RTE_MIN(len, (uint32_t)s->u->mem_size), s->nb_sent + i);
		if (imm < 40 && imm <= s->u->c.rx.imm_size) {
			ops[i].imm_len = imm;
			ops[i].imm = s->u->src.addr;
		}
	}
	s->nb_sent += comch_chan_send(&s->u->prod[how >> 7], ops, n);
}

static void
done(struct state *s, uint16_t n)
{
	struct rte_comch_cpl cpls[MAX_BURST];
	uint32_t i;

	for (i = 0; i < s->u->nb_prods; i++)
		s->nb_done += comch_chan_done(&s->u->prod[i], cpls, n);
	T_LE(s->nb_done, s->nb_sent);
}

/* Returns the number of completions. */
static uint16_t
receive(struct state *s, uint16_t n)
{
	struct rte_comch_cpl cpls[MAX_BURST];
	const struct comch_recv *rx = &s->u->c.rx;
	const uint16_t got = comch_chan_recv(&s->u->c, cpls, n);
	uint16_t i;

	T_LE(got, n);
	for (i = 0; i < got; i++) {
		/* Each posted buffer comes back once, in order. */
		T_EQ(cpls[i].cookie, s->nb_received + i);
		T_LE(cpls[i].status, 0);
		T_LE(cpls[i].len, SLOT);
		T_LE(cpls[i].imm_len, rx->imm_size);
	}
	s->nb_received += got;
	T_LE(s->nb_received, s->nb_posted);
	T_LE(rx->head, rx->tail);
	T_EQ(rx->entry_tail - rx->entry_head, s->nb_posted - s->nb_received);
	return got;
}

static void
sleep_on(struct state *s)
{
	comch_chan_cons_arm(&s->u->c);
	(void)comch_chan_cons_pending(&s->u->c);
	comch_chan_prod_arm(&s->u->prod[0]);
	(void)comch_chan_prod_pending(&s->u->prod[0]);
}

static void
step(struct state *s, struct fuzz_in *in)
{
	switch ((enum op)(fuzz_u8(in) % NB_OPS)) {
	case OP_SCRIBBLE:
		scribble(s, in);
		break;
	case OP_POSITION:
		set_position(s, in);
		break;
	case OP_ENTRY:
		set_entry(s, in);
		break;
	case OP_POST:
		post(s, in);
		break;
	case OP_SEND:
		send_some(s, in);
		break;
	case OP_DONE:
		done(s, 1u + fuzz_u8(in) % MAX_BURST);
		break;
	case OP_RECV:
		receive(s, 1u + fuzz_u8(in) % MAX_BURST);
		break;
	case OP_SLEEP:
		sleep_on(s);
		break;
	case OP_HALT:
		comch_chan_cons_halt(&s->u->c, fuzz_u8(in) & 1 ? RTE_COMCH_HALT_STOP :
			RTE_COMCH_HALT_DOWN);
		comch_chan_cons_drain_empty(&s->u->c);
		break;
	default:
		(void)comch_chan_prod_abort(&s->u->prod[fuzz_u8(in) & 1], -ECANCELED);
		break;
	}
}

/* Whatever the hostile end did: all that was posted and sent comes back. */
static void
end(struct state *s)
{
	const struct rte_comch_op none = u_op(s->u, 0, 0, 0);
	uint32_t i;

	comch_chan_cons_halt(&s->u->c, RTE_COMCH_HALT_DOWN);
	comch_chan_cons_drain_empty(&s->u->c);
	for (i = 0; s->nb_received < s->nb_posted; i++) {
		T_LE(i, 4 * s->depth);
		receive(s, MAX_BURST);
	}
	T_EQ(comch_load_relaxed(&s->u->c.rx.drained), 1);
	for (i = 0; i < s->u->nb_prods; i++) {
		T_CHECK(comch_chan_prod_abort(&s->u->prod[i], -ECANCELED));
		/* A burst also pushes what streams, and ends it. */
		(void)comch_chan_send(&s->u->prod[i], &none, 0);
	}
	for (i = 0; s->nb_done < s->nb_sent; i++) {
		T_LE(i, 64);
		done(s, MAX_BURST);
	}
	u_chan_free(s->u);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };
	struct state s;

	begin(&s, &in);
	while (in.left > 0)
		step(&s, &in);
	end(&s);
	return 0;
}
