/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A malicious peer on the fast path over RDMA: each field of records, posts, and of memory that
 * is then written; and what a peer can change after it was received: nothing but payload. See
 * attack.h for what must hold after each attack.
 */

#include <stdlib.h>

#include "attack.h"

#define PAYLOAD 64

/* Records */

/* What is around a record, so that it is in order. */
static const struct {
	uint8_t kind;
	uint8_t nb_before;  /* bytes of a staged message that begins before it */
	uint32_t len;       /* in the record */
	uint32_t payload;   /* behind it */
} recs[] = {
	{ COMCH_REC_DIRECT, 0, PAYLOAD, 0 },
	{ MLX5_REC_EAGER, 0, PAYLOAD, PAYLOAD },
	{ COMCH_REC_STAGED, 0, PAYLOAD, 0 },
	{ MLX5_REC_PIECE, PAYLOAD, PAYLOAD, PAYLOAD },
	{ COMCH_REC_ABORT, PAYLOAD, 0, 0 },
};

/* By wire_format_rdma.md; what is a kind. Payload is padded to 8 bytes. */
static const struct form_limit rec_limits[] = {
	{ COMCH_REC_DIRECT, 0, FORM_ONLY_TRUTH }, { COMCH_REC_DIRECT, 2, 1, 2 },
	{ COMCH_REC_DIRECT, 3, 0, RTE_COMCH_IMM_SIZE }, { COMCH_REC_DIRECT, 6, 0, ATTACK_BUF },
	{ MLX5_REC_EAGER, 0, FORM_ONLY_TRUTH }, { MLX5_REC_EAGER, 2, 1, 2 },
	{ MLX5_REC_EAGER, 3, 0, RTE_COMCH_IMM_SIZE }, { MLX5_REC_EAGER, 6, PAYLOAD - 7, PAYLOAD },
	{ COMCH_REC_STAGED, 0, FORM_ONLY_TRUTH }, { COMCH_REC_STAGED, 2, FORM_ONLY_TRUTH },
	{ COMCH_REC_STAGED, 3, 0, RTE_COMCH_IMM_SIZE }, { COMCH_REC_STAGED, 6, 0, ATTACK_BUF },
	{ MLX5_REC_PIECE, 0, FORM_ONLY_TRUTH }, { MLX5_REC_PIECE, 6, PAYLOAD - 7, PAYLOAD },
	{ COMCH_REC_ABORT, 0, FORM_ONLY_TRUTH },
};

static void
check_rec(const struct form *f, unsigned int field, unsigned int which, uint8_t kind, int status)
{
	/* Another kind is another record, which may be in order. */
	if (field == 4 && lie_value(kind, 1, which) <= MLX5_REC_PIECE)
		return;
	if ((status == 0) != (field != 4 && form_is_valid(f, field, which, rec_limits,
			RTE_DIM(rec_limits), kind)))
		T_FAIL("kind %u, lie %u in field %u: %d", kind, which, field, status);
}

static void
add_rec(struct form *f, uint8_t kind, uint32_t len)
{
	unsigned int i;

	form_add(f, 8, 1);
	form_add(f, 4, 7);
	form_add(f, 1, 1);
	form_add(f, 1, 0);
	form_add(f, 1, kind);
	form_add(f, 1, 0);
	form_add(f, 4, len);
	form_add(f, 4, 0);
	for (i = 0; i < 5; i++)
		form_add(f, 8, 0);
	T_EQ(form_len(f), sizeof(struct comch_rec));
}

/* With a lie in that field, if there is one; returns the number of fields. */
static unsigned int
say_rec(struct attack *t, unsigned int i, unsigned int field, unsigned int which)
{
	uint8_t msg[FORM_MAX_LEN] = { 0 };
	struct form before = { 0 }, f = { 0 };
	uint32_t len;
	int status;

	attack_reach(t, ATTACK_FED);
	if (recs[i].nb_before > 0) {
		add_rec(&before, COMCH_REC_STAGED, recs[i].nb_before);
		vp_send(&t->a.data, msg, form_put(&before, msg));
	}
	add_rec(&f, recs[i].kind, recs[i].len);
	len = form_put(&f, msg);
	memset(msg + len, 0x5a, recs[i].payload);
	if (field < f.nb)
		form_lie(&f, field, which, msg);
	vp_send(&t->a.data, msg, len + recs[i].payload);
	status = attack_judge(t);
	if (field < f.nb)
		check_rec(&f, field, which, recs[i].kind, status);
	else
		T_EQ(status, 0);
	return f.nb;
}

static void
records(struct attack *t)
{
	unsigned int i, nb, field, which;

	for (i = 0; i < RTE_DIM(recs); i++) {
		/* Otherwise nothing needs to be staged. */
		t->refuses_memory = recs[i].kind != COMCH_REC_DIRECT;
		nb = say_rec(t, i, UINT32_MAX, 0);
		/* A staged message is whole with its pieces. */
		T_EQ(t->nb_received, recs[i].kind != COMCH_REC_STAGED &&
			recs[i].kind != COMCH_REC_ABORT);
		for (field = 0; field < nb; field++)
			for (which = 0; which < LIE_NB_WHICH; which++)
				say_rec(t, i, field, which);
	}
}

CLIENT_ATTACK(client_records)
{
	records(t);
}

SERVER_ATTACK(server_records)
{
	records(t);
}

/* Posts */

/* Where the second buffer is. */
#define LONG_AT 4096

static void
add_desc(struct form *f, uint64_t off, uint32_t len)
{
	form_add(f, 8, (uint64_t)LIE_MEM_ID << COMCH_DESC_OFF_BITS | off);
	form_add(f, 4, len);
	form_add(f, 4, 0);
}

/* Two buffers: for a short message, and for a long one, which is written. */
static void
add_post(struct form *f)
{
	form_add(f, 8, 0);
	form_add(f, 2, 2);
	form_add(f, 2, 0);
	form_add(f, 4, 0);
	add_desc(f, 0, ATTACK_SHORT);
	add_desc(f, LONG_AT, ATTACK_LONG);
}

#define WHERE(off) ((uint64_t)LIE_MEM_ID << COMCH_DESC_OFF_BITS | (off))
static const struct form_limit post_limits[] = {
	{ 0, 0, FORM_ONLY_TRUTH }, { 0, 1, FORM_ONLY_TRUTH }, { 0, 3, FORM_ONLY_TRUTH },
	{ 0, 4, WHERE(0), WHERE(LIE_MEM_LEN - ATTACK_SHORT) }, { 0, 5, 0, LIE_MEM_LEN },
	{ 0, 7, WHERE(0), WHERE(LIE_MEM_LEN - ATTACK_LONG) },
	{ 0, 8, 0, LIE_MEM_LEN - LONG_AT },
	/* Memory that is not shown. */
	{ 0, 4, UINT64_MAX << COMCH_DESC_OFF_BITS, UINT64_MAX },
	{ 0, 7, UINT64_MAX << COMCH_DESC_OFF_BITS, UINT64_MAX },
};

/* With a lie in that field, if there is one; returns the number of fields. */
static unsigned int
say_post(struct attack *t, unsigned int field, unsigned int which)
{
	uint8_t msg[FORM_MAX_LEN];
	struct form f = { 0 };
	bool is_valid = true;
	uint32_t len;
	int status;

	attack_reach(t, ATTACK_FEEDS);
	add_post(&f);
	len = form_put(&f, msg);
	if (field < f.nb)
		form_lie(&f, field, which, msg);
	vp_send(&t->a.data, msg, len);
	status = attack_judge(t);
	if (field < f.nb)
		is_valid = form_is_valid(&f, field, which, post_limits, RTE_DIM(post_limits), 0);
	if ((status == 0) != is_valid)
		T_FAIL("lie %u in field %u: %d", which, field, status);
	return f.nb;
}

static void
posts(struct attack *t)
{
	unsigned int nb = say_post(t, UINT32_MAX, 0);

	T_EQ(t->nb_done, 2);
	attack_tell_lies(t, say_post, 0, nb);
}

CLIENT_ATTACK(client_posts)
{
	posts(t);
}

SERVER_ATTACK(server_posts)
{
	posts(t);
}

/* The address may be that of other bytes that we have shown: then it is in order. */
static const struct form_limit mem_limits[] = {
	{ 0, 4, FORM_ONLY_TRUTH }, { 0, 6, FORM_ONLY_TRUTH }, { 0, 7, FORM_ONLY_TRUTH },
	{ 0, 8, FORM_ONLY_TRUTH }, { 0, 9, FORM_ONLY_TRUTH }, { 0, 10, FORM_ONLY_TRUTH },
	{ 0, 12, FORM_ONLY_TRUTH },
};

/* Memory that is not as it was announced, when a producer writes there. */
static unsigned int
show_memory(struct attack *t, unsigned int field, unsigned int which)
{
	uint8_t bytes[FORM_MAX_LEN];
	struct form f = { 0 }, post = { 0 };
	bool is_valid = true;
	uint32_t len;
	int status;

	attack_reach(t, LIE_UP);
	vp_add_frame(&t->a, &f, lie_frame_of(COMCH_WIRE_MR_ADD));
	len = form_put(&f, bytes);
	if (field < f.nb)
		form_lie(&f, field, which, bytes);
	vp_put(&t->a, bytes, len);
	vp_say(&t->a, COMCH_WIRE_CONSUMER_NEW);
	attack_feed_from(t);
	if (t->sends) {
		add_post(&post);
		vp_send(&t->a.data, bytes, form_put(&post, bytes));
	}
	status = attack_judge(t);
	if (field < f.nb)
		is_valid = form_is_valid(&f, field, which, mem_limits, RTE_DIM(mem_limits), 0);
	if (field != 11 && (status == 0) != is_valid)
		T_FAIL("lie %u in field %u: %d", which, field, status);
	return f.nb;
}

CLIENT_ATTACK(memory_that_is_written)
{
	unsigned int nb = show_memory(t, UINT32_MAX, 0);

	T_EQ(t->nb_done, 2);
	attack_tell_lies(t, show_memory, 4, nb);
}

/* What a peer can change */

#define MAX_REGS 256

/* Memory that is registered. */
static struct {
	struct ibv_mr *mr;
	int access;
} regs[MAX_REGS];
static unsigned int nb_regs;
static pthread_mutex_t regs_lock = PTHREAD_MUTEX_INITIALIZER;
static struct mlx5_glue noting;

static struct ibv_mr *
note_reg(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	struct ibv_mr *mr = fv_glue.reg_mr(pd, addr, len, access);

	if (mr == NULL)
		return NULL;
	pthread_mutex_lock(&regs_lock);
	T_LT(nb_regs, MAX_REGS);
	regs[nb_regs].mr = mr;
	regs[nb_regs++].access = access;
	pthread_mutex_unlock(&regs_lock);
	return mr;
}

static int
note_dereg(struct ibv_mr *mr)
{
	unsigned int i;

	pthread_mutex_lock(&regs_lock);
	for (i = 0; i < nb_regs && regs[i].mr != mr; i++)
		;
	if (i < nb_regs)
		regs[i] = regs[--nb_regs];
	pthread_mutex_unlock(&regs_lock);
	return fv_glue.dereg_mr(mr);
}

static void
noting_begin(struct attack *t)
{
	/* Before the devices, whose helper threads use it, too. */
	noting = fv_glue;
	noting.reg_mr = note_reg;
	noting.dereg_mr = note_dereg;
	mlx5_verbs = &noting;
	attack_begin_by_client(t);
}

/*
 * The nth registration of the attacked connection that is not payload; or NULL. All that a peer
 * may write is the payload memory, whose remote key differs from the local one by *bit.
 */
static struct ibv_mr *
slots_of(const struct attack *t, unsigned int nth, uint32_t *bit)
{
	const struct ibv_pd *pd = fv_qp_peer(t->a.ctrl.qp)->pd;
	unsigned int i, nb_shown = 0;
	struct ibv_mr *found = NULL;

	pthread_mutex_lock(&regs_lock);
	for (i = 0; i < nb_regs; i++) {
		if (regs[i].mr->pd != pd)
			continue;
		if (regs[i].access == IBV_ACCESS_LOCAL_WRITE) {
			found = nth-- == 0 ? regs[i].mr : found;
			continue;
		}
		T_CHECK(regs[i].mr->addr == t->mem.addr);
		*bit = regs[i].mr->rkey ^ regs[i].mr->lkey;
		nb_shown++;
	}
	pthread_mutex_unlock(&regs_lock);
	T_EQ(nb_shown, 1);
	return found;
}

/*
 * What is parsed is in memory that no peer can write: the driver reads a slot behind its
 * completion, and the device gives no one else access to it. So no field changes between two
 * reads, although a slot is not copied before it is checked.
 */
T_CASE_OF(struct attack, noting_begin, attack_end, slots_are_not_writable, t)
{
	static const uint64_t evil = UINT64_C(0x6c6976656c697665);
	unsigned int tried = 0;
	struct ibv_mr *mr;
	uint64_t found;
	uint32_t bit = 0;

	do {
		attack_reach(t, ATTACK_FED);
		mr = slots_of(t, tried, &bit);
		if (mr != NULL) {
			vp_write(&t->a.ctrl, IBV_WR_RDMA_WRITE, &evil, sizeof(evil),
				(uintptr_t)mr->addr, mr->lkey ^ bit);
			memcpy(&found, mr->addr, sizeof(found));
			T_CHECK(found != evil);
			tried++;
		}
		T_EQ(attack_judge(t) != 0, mr != NULL);
	} while (mr != NULL);
	/* Those of the control path and of the consumer. */
	T_EQ(tried, 2);
}

/*
 * A message waits in its slot, and its sender sends as many as there are slots: what was
 * received first stays as it was.
 */
CLIENT_ATTACK(message_that_waits)
{
	struct form need = { 0 }, msg = { 0 }, post = { 0 };
	uint8_t bytes[FORM_MAX_LEN];
	const struct t_ev *ev;
	uint64_t i, n = 40;

	attack_reach(t, ATTACK_FEEDS);
	t->sends = false;
	vp_add_ctrl(&t->a, &need, 16 + 8);
	need.value[3] = 1;
	form_add(&need, 4, 1);
	form_add(&need, 4, 0);
	form_add(&need, 8, 2);
	form_add_frame(&need, lie_frame_of(COMCH_WIRE_MSG), 0);
	need.value[need.nb - 1] = 1;
	vp_send(&t->a.ctrl, bytes, form_put(&need, bytes));
	form_add_frame(&msg, lie_frame_of(COMCH_WIRE_MSG), 0);
	for (i = 2; i <= n; i++) {
		msg.value[msg.nb - 1] = i;
		vp_put(&t->a, bytes, form_put(&msg, bytes));
		t_step(t->node);
	}
	T_EQ(t_count(t->node, RTE_COMCH_EVENT_MSG, t->conn), 0);
	add_post(&post);
	vp_send(&t->a.data, bytes, form_put(&post, bytes));
	T_UNTIL(t_count(t->node, RTE_COMCH_EVENT_MSG, t->conn) == n);
	for (i = 0; i < n; i++) {
		ev = t_find(t->node, RTE_COMCH_EVENT_MSG, t->conn, (unsigned int)i);
		T_EQ(ev->len, 8);
		T_EQ(*(const uint64_t *)(const void *)ev->data, i + 1);
	}
	T_EQ(attack_judge(t), 0);
}
