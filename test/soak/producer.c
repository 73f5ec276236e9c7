/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "world.h"

void
producer_new(struct end *e)
{
	struct rte_comch_producer_conf conf = { .conf_size = sizeof(conf) };
	struct producer *p = NULL;
	uint32_t i;

	for (i = 0; i < END_PRODUCERS; i++)
		if (e->prods[i].prod == NULL)
			p = &e->prods[i];
	if (p == NULL)
		return;
	conf.queue_size = 1 + soak_rnd_below(&e->a->rnd, PRODUCER_OPS);
	p->prod = rte_comch_producer_create(e->conn, &conf);
	if (p->prod == NULL) {
		if (rte_errno != EBADFD)
			ACTOR_FAULT(e->a, "producer_create: %s", strerror(rte_errno));
		return;
	}
	soak_add(&e->a->books->counts.producers, 1);
	soak_set(&e->mine->started_ms, e->a->now_ms);
	/* The connection may have ended meanwhile. */
	rte_comch_producer_start(p->prod);
}

/* A consumer of the peer whose buffers are known; 0: none. */
static uint32_t
target_pick(struct end *e)
{
	uint32_t ids[64], n = 0, id;

	for (id = 1; id < SOAK_CONSUMERS; id++)
		if ((e->consumers >> id & 1) != 0 && soak_get(&e->peers->buf_len[id]) > 0)
			ids[n++] = id;
	return n == 0 ? 0 : ids[soak_rnd_below(&e->a->rnd, n)];
}

static void
target_set(struct end *e, struct producer *p)
{
	enum rte_comch_mem_kind kind;
	uint32_t id, len, prod_id;
	size_t size;

	id = target_pick(e);
	if (id == 0)
		return;
	len = e->peers->buf_len[id] - 1;
	prod_id = rte_comch_producer_id(p->prod);
	p->stream = soak_stream_find(e->mine, prod_id, id);
	if (p->stream == NULL)
		p->stream = soak_stream_new(e->mine, prod_id, id, len);
	if (p->stream == NULL) {
		end_leave(e);
		return;
	}
	if (p->stream->is_broken) {
		p->stream = NULL;
		return;
	}
	/* Twice, so that there is always room for the longest at the beginning or the end. */
	size = 2 * (size_t)len + 4096;
	kind = size > 64 * 1024 ? RTE_COMCH_MEM_HEAP :
		(enum rte_comch_mem_kind)soak_rnd_below(&e->a->rnd, 3);
	t_mem_new(&p->arena, kind, size, 0);
	p->head = 0;
	p->tail = 0;
	p->is_switching = false;
}

static void
target_drop(struct producer *p)
{
	/* Silent messages at its end: nothing says whether they arrived. */
	if (p->stream != NULL && p->nb_flights > 0)
		p->stream->is_broken = true;
	if (p->arena.addr != NULL)
		t_mem_free(&p->arena);
	p->stream = NULL;
	p->nb_ops = 0;
	p->nb_flights = 0;
	p->is_switching = false;
}

/* Room for len bytes in one piece: its beginning, or SOAK_NONE. */
static uint64_t
arena_get(const struct producer *p, uint64_t head, uint32_t len)
{
	const uint64_t size = p->arena.len;

	if (head % size + len > size)
		head += size - head % size;
	return head + len - p->tail <= size ? head : SOAK_NONE;
}

/* In one or two segments. */
static void
op_fill(struct end *e, struct producer *p, uint16_t i, const struct soak_msg *m, uint64_t at)
{
	struct rte_comch_op *op = &p->ops[i];
	uint8_t *data = p->arena.addr + at % p->arena.len;
	/* The channel has them until the message is done: a place for each that it can have. */
	struct rte_comch_sge *sges = p->sges[p->next[i].seq % PRODUCER_OPS];
	uint32_t cut;

	*op = (struct rte_comch_op){
		.len = m->len, .consumer_id = p->stream->cons_id, .cookie = p->next[i].seq,
		.imm_len = m->imm_len,
	};
	if (m->imm_len > 0)
		op->imm = p->imms[i];
	if (m->is_silent)
		op->flags |= RTE_COMCH_OP_F_SILENT;
	if (m->len == 0)
		return;
	op->addr = data;
	op->mr = p->arena.mr;
	if (m->len < 2 || !soak_rnd_one_in(&e->a->rnd, 4))
		return;
	cut = 1 + soak_rnd_below(&e->a->rnd, m->len - 1);
	sges[0] = (struct rte_comch_sge){ p->arena.mr, data, cut };
	sges[1] = (struct rte_comch_sge){ p->arena.mr, data + cut, m->len - cut };
	op->addr = sges;
	op->mr = NULL;
	op->flags |= RTE_COMCH_OP_F_SGL;
	op->nb_sges = 2;
}

/* The next messages, as many as there is room for. */
static void
prepare(struct end *e, struct producer *p)
{
	uint16_t n = (uint16_t)(1 + soak_rnd_below(&e->a->rnd, PRODUCER_BURST));
	struct soak_place at = { .serial = e->serial };
	struct soak_msg m;
	uint64_t head = p->head, pos;

	at.stream = soak_stream_number(e->mine, e->a->side, p->stream);
	for (p->nb_ops = 0; p->nb_ops < n; p->nb_ops++) {
		if (p->nb_flights + p->nb_ops == PRODUCER_OPS)
			break;
		at.seq = p->stream->accepted + p->nb_ops;
		soak_msg(e->a->books, &at, p->stream, &m);
		pos = arena_get(p, head, m.len);
		if (pos == SOAK_NONE)
			break;
		p->next[p->nb_ops] = (struct flight){
			.seq = at.seq, .arena_end = pos + m.len, .is_silent = m.is_silent,
		};
		soak_msg_fill(e->a->books, &at, &m, p->arena.addr + pos % p->arena.len,
			p->imms[p->nb_ops]);
		op_fill(e, p, p->nb_ops, &m, pos);
		head = pos + m.len;
	}
}

static void
offer(struct end *e, struct producer *p)
{
	struct soak_stream *s = p->stream;
	uint32_t owed = 0;
	uint16_t i, n;

	if (p->nb_ops == 0)
		prepare(e, p);
	if (p->nb_ops == 0)
		return;
	soak_set(&s->offered, s->accepted + p->nb_ops);
	n = rte_comch_producer_send_burst(p->prod, p->ops, p->nb_ops);
	for (i = 0; i < n; i++) {
		p->flights[(p->first + p->nb_flights++) % PRODUCER_OPS] = p->next[i];
		p->head = p->next[i].arena_end;
		owed += !p->next[i].is_silent;
	}
	soak_set(&s->owed, s->owed + owed);
	soak_set(&s->accepted, s->accepted + n);
	if (n == 0)
		return;
	/* The rest keeps its place in memory, where it was filled in. */
	p->nb_ops = (uint16_t)(p->nb_ops - n);
	for (i = 0; i < p->nb_ops; i++) {
		p->next[i] = p->next[i + n];
		memcpy(p->imms[i], p->imms[i + n], SOAK_IMM);
		p->ops[i] = p->ops[i + n];
		if (p->ops[i].imm_len > 0)
			p->ops[i].imm = p->imms[i];
	}
	e->a->has_moved = true;
	if (p->nb_ops == 0 && soak_rnd_one_in(&e->a->rnd, 4))
		p->due_ms = e->a->now_ms + soak_rnd_below(&e->a->rnd, 30);
}

/* The status of a completion: 0, "not sent", or "unknown". */
static void
judge_done(struct end *e, struct producer *p, const struct rte_comch_cpl *cpl, uint64_t seq)
{
	struct soak_stream *s = p->stream;

	soak_set(&s->done, s->done + 1);
	switch (cpl->status) {
	case 0:
		soak_set(&s->sent_ms, t_now_ms());
		soak_set(&s->ok_end, seq + 1);
		if (cpl->peer_id != s->cons_id)
			ACTOR_FAULT(e->a, "completion for consumer %u, not %u", cpl->peer_id,
				s->cons_id);
		return;
	case -ENOENT:
	case -EBADFD:
		soak_set(&s->refused, RTE_MIN(s->refused, seq));
		break;
	case -ECONNRESET:
	case -ECANCELED:
		break;
	default:
		ACTOR_FAULT(e->a, "connection %llu, producer %u to consumer %u, message %llu: "
			"status %d", (unsigned long long)e->serial, s->prod_id, s->cons_id,
			(unsigned long long)seq, cpl->status);
	}
	soak_add(&e->a->books->counts.failed_ops, 1);
	s->is_broken = true;
	p->is_switching = true;
}

static void
complete(struct end *e, struct producer *p, const struct rte_comch_cpl *cpl)
{
	struct flight f;

	do {
		if (p->nb_flights == 0) {
			ACTOR_FAULT(e->a, "connection %llu, producer: unexpected completion %llu",
				(unsigned long long)e->serial, (unsigned long long)cpl->cookie);
			return;
		}
		f = p->flights[p->first];
		p->first = (p->first + 1) % PRODUCER_OPS;
		p->nb_flights--;
		p->tail = f.arena_end;
		if (f.seq != cpl->cookie && !f.is_silent)
			ACTOR_FAULT(e->a, "connection %llu, producer %u: completion %llu, "
				"expected %llu", (unsigned long long)e->serial,
				p->stream->prod_id, (unsigned long long)cpl->cookie,
				(unsigned long long)f.seq);
	} while (f.seq != cpl->cookie);
	judge_done(e, p, cpl, f.seq);
}

static bool
take(struct end *e, struct producer *p)
{
	struct rte_comch_cpl cpls[32];
	uint16_t i, n;

	n = rte_comch_producer_done_burst(p->prod, cpls,
		(uint16_t)(1 + soak_rnd_below(&e->a->rnd, RTE_DIM(cpls))));
	for (i = 0; i < n; i++)
		complete(e, p, &cpls[i]);
	e->a->has_moved |= n > 0;
	return n > 0;
}

/* IDLE: all completions were taken. */
static void
finish(struct end *e, struct producer *p)
{
	struct soak_stream *s = p->stream;
	bool again;
	int rc;

	while (take(e, p))
		;
	if (s != NULL && s->done != s->owed)
		ACTOR_FAULT(e->a, "connection %llu, producer %u to consumer %u: IDLE, and %llu "
			"of %llu messages completed", (unsigned long long)e->serial, s->prod_id,
			s->cons_id, (unsigned long long)s->done, (unsigned long long)s->owed);
	target_drop(p);
	e->a->has_moved = true;
	again = p->is_ending && !e->is_leaving && !e->is_down && soak_rnd_one_in(&e->a->rnd, 3);
	if (again && rte_comch_producer_start(p->prod) == 0) {
		p->is_ending = false;
		soak_set(&e->mine->started_ms, e->a->now_ms);
		return;
	}
	rc = rte_comch_producer_destroy(p->prod);
	if (rc != 0)
		ACTOR_FAULT(e->a, "producer_destroy: %d", rc);
	memset(p, 0, sizeof(*p));
}

void
producer_turn(struct end *e, struct producer *p)
{
	bool can_send;

	if (p->prod == NULL)
		return;
	if (rte_comch_producer_state(p->prod) == RTE_COMCH_STATE_IDLE) {
		finish(e, p);
		return;
	}
	take(e, p);
	if (p->is_ending || e->is_leaving || e->is_down)
		return;
	if (p->is_switching && p->nb_flights == 0)
		target_drop(p);
	if (p->stream == NULL)
		target_set(e, p);
	/* A silent message has its memory until a later one to the same consumer is done. */
	can_send = p->stream != NULL && (!p->is_switching || p->nb_flights == 0 ||
		p->flights[(p->first + p->nb_flights - 1) % PRODUCER_OPS].is_silent);
	if (can_send && p->due_ms <= e->a->now_ms)
		offer(e, p);
	else if (can_send)
		actor_due(e->a, p->due_ms);
}

void
producer_end(struct end *e, struct producer *p)
{
	int rc;

	if (p->prod == NULL || p->is_ending ||
			rte_comch_producer_state(p->prod) != RTE_COMCH_STATE_RUNNING)
		return;
	p->is_ending = true;
	rc = rte_comch_producer_stop(p->prod);
	if (rc != 0 && rc != -EINPROGRESS && rc != -EBADFD)
		ACTOR_FAULT(e->a, "producer_stop: %d", rc);
	e->a->has_moved = true;
}
