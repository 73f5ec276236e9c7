/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The fast path's regions change between any two instructions of their reader: u_flip.h. */

#include <criterion/criterion.h>

#include "u_chan.h"
#include "u_flip.h"


#define DEPTH 8
#define BUF_LEN 256u
#define NB_BUFS 4
#define STAGING 4096
/* Size of what is posted; memory behind it must stay unchanged. */
#define POSTED (NB_BUFS * BUF_LEN)
#define MEM_SIZE (2 * POSTED)

/* Each trial starts at position 0, so the field stays where it is. */
struct flip {
	struct u_flip flip;
	size_t off;        /* in the region */
	uint8_t kind;      /* the rest of the record: enum comch_rec_kind, messages, lengths */
	uint8_t count;
	uint32_t len;
	bool is_harmless;  /* with either value the message is received or sent, or with none */
};

#define FIELD(name, type, field, ...) \
	{ name, sizeof(((struct type *)0)->field), { __VA_ARGS__ } }, offsetof(struct type, field)
#define POS(name, field, ...) FIELD(name, comch_rec_shared, field, __VA_ARGS__)
#define REC(name, field, ...) FIELD(name, comch_rec_shared, rec[0].field, __VA_ARGS__)

static const struct flip of_records[] = {
	{ REC("seq", seq, 1, DEPTH + 1), COMCH_REC_DIRECT, 1, 100 },
	{ REC("count", head.count, 1, NB_BUFS + 1), COMCH_REC_DIRECT, 1, 100 },
	{ REC("count of many", head.count, 2, 255), COMCH_REC_DIRECT, 2, 100 },
	{ REC("imm_len", head.imm_len, RTE_COMCH_IMM_SIZE, 255), COMCH_REC_DIRECT, 1, 100 },
	{ REC("kind", head.kind, COMCH_REC_DIRECT, COMCH_REC_STAGED), 0, 1, 100 },
	{ REC("unknown kind", head.kind, COMCH_REC_DIRECT, 77), 0, 1, 100 },
	{ REC("len0", len0, BUF_LEN, BUF_LEN + 1), COMCH_REC_DIRECT, 1, 0 },
	{ REC("len of many", len[1], BUF_LEN, UINT32_MAX), COMCH_REC_DIRECT, 3, 10 },
	{ REC("staged len0", len0, BUF_LEN, POSTED), COMCH_REC_STAGED, 1, 0 },
	{ REC("stop_at", stop_at, 0, COMCH_REC_STOPPED | (STAGING * 4)), COMCH_REC_STAGED,
		1, BUF_LEN, true },
	{ POS("staging_head", staging_head, BUF_LEN, STAGING + 64), COMCH_REC_STAGED, 1,
		BUF_LEN },
	{ POS("staging_head back", staging_head, BUF_LEN, UINT64_MAX), COMCH_REC_STAGED, 1,
		BUF_LEN },
	{ POS("claim", claim, 1, UINT64_MAX), COMCH_REC_DIRECT, 1,
		100, true },
	{ POS("armed", armed, 1, 2), COMCH_REC_DIRECT, 1, 100, true },
};

#define SHOWN ((uint64_t)U_REGION << COMCH_DESC_OFF_BITS)
#define STAGED ((uint64_t)COMCH_REGION_STAGED << COMCH_DESC_OFF_BITS)
#define POST(name, field, ...) FIELD(name, comch_post_shared, field, __VA_ARGS__)
#define DESC(name, field, ...) FIELD(name, comch_post_shared, desc[0].field, __VA_ARGS__)

/* The descriptor at 0 is of a staged buffer if kind is COMCH_REC_STAGED; len: sent. */
static const struct flip of_posts[] = {
	{ POST("tail", tail, 1, DEPTH + 1), 0, 1, BUF_LEN },
	{ POST("tail far", tail, 1, INT64_MAX), 0, 1, BUF_LEN },
	{ DESC("offset", where, SHOWN, SHOWN | (POSTED - 1)), 0, 1, BUF_LEN },
	{ DESC("region", where, SHOWN, SHOWN + (UINT64_C(1) << COMCH_DESC_OFF_BITS)), 0, 1,
		BUF_LEN },
	{ DESC("staged region", where, SHOWN, STAGED), 0, 1, BUF_LEN, true },
	{ DESC("len", len, BUF_LEN, UINT32_MAX), 0, 1, BUF_LEN },
	{ DESC("len less", len, BUF_LEN, BUF_LEN - 1), 0, 1, BUF_LEN },
	{ POST("closed", closed, 0, 1), 0, 1, BUF_LEN },
	{ POST("armed", armed, 1, 2), 0, 1, BUF_LEN, true },
	{ POST("staging_tail", staging_tail, 0, 64), COMCH_REC_STAGED, 1, BUF_LEN },
	{ POST("staging_tail back", staging_tail, 0, UINT64_MAX - 8191), COMCH_REC_STAGED, 1,
		BUF_LEN },
};

/* How the trials of a flip ended. */
struct tally {
	unsigned int fine;
	unsigned int refused;
};

/* What a trial works on. */
struct trial {
	struct u_chan *u;
	const struct flip *f;
	struct tally tally;
};

static void
trials(struct u_chan *u, const struct flip *f, void *region, void (*fn)(void *arg))
{
	struct trial t = { .u = u, .f = f };

	u_flip(&f->flip, (uint8_t *)region + f->off, fn, &t);
	fprintf(stderr, "%s: %u trials went well, %u did not\n", f->flip.name, t.tally.fine,
		t.tally.refused);
	/* Otherwise it was not the field. */
	T_CHECK(f->is_harmless || (t.tally.fine > 0 && t.tally.refused > 0));
}

static struct u_chan *
chan_new(void)
{
	const struct u_conf conf = {
		.depth = DEPTH, .staging_size = STAGING, .mem_size = MEM_SIZE,
	};
	struct u_chan *u = u_chan_create(&conf);

	memset(u->direct.addr, 0, MEM_SIZE);
	memset(u->staged.addr, 0, MEM_SIZE);
	u->import.len = POSTED;
	return u;
}

static void
check_unwritten(const uint8_t *mem, size_t from, const char *what)
{
	size_t i;

	for (i = from; i < MEM_SIZE; i++)
		if (mem[i] != 0)
			T_FAIL("%s: byte %zu was written", what, i);
}

/* The record, but for the field that flips. */
static void
set_record(struct u_chan *u, const struct flip *f)
{
	struct comch_rec *rec = u_rec(u, 0);
	unsigned int i;

	memset(u->rec, 0, comch_chan_rec_len(DEPTH, STAGING));
	memset(&u->rec->rec[DEPTH], 0xab, STAGING);
	rec->head.producer = 100;
	rec->head.kind = f->kind;
	rec->head.count = f->count;
	for (i = 0; i < f->count; i++)
		rec->len[i] = f->len;
	u->rec->claim = f->count;
	/* Whether a stream was stopped matters if its end is missing. */
	u->rec->staging_head = f->off == offsetof(struct comch_rec_shared, rec[0].stop_at) ?
		64 : BUF_LEN;
	rec->seq = 1;
}

/* Post, receive, and take back what is left. */
static void
receive(void *arg)
{
	struct trial *t = arg;
	struct u_chan *u = t->u;
	const struct flip *f = t->f;
	struct tally *tally = &t->tally;
	const uint32_t how = f->kind == COMCH_REC_STAGED ? U_MR_STAGED : U_MR_DIRECT;
	struct rte_comch_cpl cpl[NB_BUFS];
	unsigned int i, n, all;

	comch_chan_cons_bind(&u->c, u->post, u->rec, STAGING);
	u_post_many(u, how, NB_BUFS, BUF_LEN);
	u_flip_begin();
	n = comch_chan_recv(&u->c, cpl, NB_BUFS);
	u_flip_end();
	if (n >= f->count && cpl[0].status == 0 && cpl[f->count - 1].status == 0)
		tally->fine++;
	else
		tally->refused++;
	for (i = 0; i < n; i++) {
		T_EQ(cpl[i].cookie, i);
		if (cpl[i].status > 0 || cpl[i].len > BUF_LEN ||
				cpl[i].imm_len > RTE_COMCH_IMM_SIZE)
			T_FAIL("%s: status %d, %u bytes, %u immediate",
				f->flip.name, cpl[i].status, cpl[i].len, cpl[i].imm_len);
	}
	comch_chan_cons_halt(&u->c, RTE_COMCH_HALT_DOWN);
	for (all = n, i = 0; all < NB_BUFS && i < NB_BUFS; i++)
		all += comch_chan_recv(&u->c, cpl, NB_BUFS);
	T_EQ(all, NB_BUFS);
	T_EQ(u->c.rx.drained, 1);
	/* The first buffer is the only one that may be written: see set_record(). */
	check_unwritten(u->staged.addr, BUF_LEN, f->flip.name);
	check_unwritten(u->direct.addr, 0, f->flip.name);
}

static void
set_post(struct u_chan *u, const struct flip *f)
{
	memset(u->post, 0, comch_chan_post_len(DEPTH));
	u->post->tail = 1;
	u->post->desc[0] = (struct comch_desc){
		.where = f->kind == COMCH_REC_STAGED ? STAGED : SHOWN, .len = BUF_LEN,
	};
}

/* Send one message as if nothing had been sent before. */
static void
send_one(void *arg)
{
	struct trial *t = arg;
	struct u_chan *u = t->u;
	const struct flip *f = t->f;
	struct tally *tally = &t->tally;
	struct rte_comch_op op = u_op(u, 0, f->len, 1);
	struct rte_comch_cpl cpl;
	uint16_t n;

	u->rec->claim = 0;
	u->rec->staging_head = 0;
	u->rc.stage_head = 0;
	/* It looks at the tail. */
	u->rc.stage_limit = 0;
	u->rc.to.tail_seen = 0;
	u->prod[0].tx.ahead.n = 0;
	u_flip_begin();
	n = comch_chan_send(&u->prod[0], &op, 1);
	u_flip_end();
	if (n == 0) {
		tally->refused++;
		return;
	}
	T_EQ(comch_chan_done(&u->prod[0], &cpl, 1), 1);
	T_EQ(cpl.cookie, 1);
	if (cpl.status == 0)
		tally->fine++;
	else
		tally->refused++;
	if (cpl.status != 0 && cpl.status != -EPROTO && cpl.status != -ENOENT &&
			cpl.status != -EMSGSIZE)
		T_FAIL("%s: status %d", f->flip.name, cpl.status);
	check_unwritten(u->direct.addr, BUF_LEN, f->flip.name);
	T_VERIFY(u->src.addr, MEM_SIZE, 1);
}

Test(chan_flips, records)
{
	struct u_chan *u;
	unsigned int i;

	u_flip_or_skip();
	u = chan_new();
	for (i = 0; i < RTE_DIM(of_records); i++) {
		set_record(u, &of_records[i]);
		trials(u, &of_records[i], u->rec, receive);
	}
	u_chan_free(u);
}

Test(chan_flips, posts)
{
	struct u_chan *u;
	unsigned int i;

	u_flip_or_skip();
	u = chan_new();
	for (i = 0; i < RTE_DIM(of_posts); i++) {
		set_post(u, &of_posts[i]);
		trials(u, &of_posts[i], u->post, send_one);
	}
	u_chan_free(u);
}
