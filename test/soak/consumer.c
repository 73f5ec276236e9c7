/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "actor.h"

/** What a consumer can be like. */
static const struct shape {
	uint32_t min_len, max_len;
	uint32_t max_depth;
	uint32_t weight;
} shapes[] = {
	{ 0, 0, 64, 2 },                      /* immediate data only */
	{ 1, 256, 256, 4 },
	{ 256, 16384, 64, 5 },
	{ 65536, 1048576, 6, 3 },
	{ 2 << 20, 6 << 20, 2, 1 },
};

static const struct shape *
shape_pick(struct soak_rnd *rnd)
{
	uint32_t i, sum = 0, x;

	for (i = 0; i < RTE_DIM(shapes); i++)
		sum += shapes[i].weight;
	x = soak_rnd_below(rnd, sum);
	for (i = 0; x >= shapes[i].weight; i++)
		x -= shapes[i].weight;
	return &shapes[i];
}

/* EAL has little memory here. */
#define MAX_EAL (256 * 1024)

static void
mem_get(struct actor *a, struct consumer *c, size_t len)
{
	enum rte_comch_mem_kind kind;
	uint32_t i;

	/* Memory that an earlier peer may have mapped, perhaps one that is dead. */
	for (i = 0; i < a->nb_kept; i++) {
		if (a->kept[i].mem.len < len)
			continue;
		c->mem = a->kept[i].mem;
		c->mem_flags = a->kept[i].flags;
		a->kept[i] = a->kept[--a->nb_kept];
		return;
	}
	kind = (enum rte_comch_mem_kind)soak_rnd_below(&a->rnd, 3);
	if (kind == RTE_COMCH_MEM_EAL && len > MAX_EAL)
		kind = RTE_COMCH_MEM_SEALED;
	c->mem_flags = soak_rnd_one_in(&a->rnd, 3) ? RTE_COMCH_MEM_F_SHARED : 0;
	t_mem_new(&c->mem, kind, len, c->mem_flags);
}

static void
mem_put(struct actor *a, struct consumer *c)
{
	if (c->mem.addr == NULL)
		return;
	if (a->nb_kept < ACTOR_KEPT && c->mem.len <= 1 << 20 && actor_order(a) == SOAK_GO &&
			soak_rnd_one_in(&a->rnd, 2)) {
		a->kept[a->nb_kept].flags = c->mem_flags;
		a->kept[a->nb_kept++].mem = c->mem;
	} else {
		t_mem_free(&c->mem);
	}
	c->mem.addr = NULL;
}

void
kept_free(struct actor *a)
{
	while (a->nb_kept > 0)
		t_mem_free(&a->kept[--a->nb_kept].mem);
}

static void
destroy(struct end *e, struct consumer *c)
{
	int rc;

	rc = rte_comch_consumer_destroy(c->cons);
	if (rc != 0)
		ACTOR_FAULT(e->a, "consumer_destroy: %d", rc);
	mem_put(e->a, c);
	memset(c, 0, sizeof(*c));
	e->a->has_moved = true;
}

/* STARTING, with a new id; or it is destroyed, since the connection has ended. */
static void
start(struct end *e, struct consumer *c)
{
	int rc;

	soak_set(&e->mine->started_ms, e->a->now_ms);
	c->posted = 0;
	c->returned = 0;
	c->is_ending = false;
	rc = rte_comch_consumer_start(c->cons);
	if (rc != -EINPROGRESS) {
		if (rc != -ECONNRESET)
			ACTOR_FAULT(e->a, "consumer_start: %d", rc);
		destroy(e, c);
		return;
	}
	soak_add(&e->a->books->counts.consumers, 1);
	c->id = rte_comch_consumer_id(c->cons);
	if (c->id < SOAK_CONSUMERS)
		soak_set(&e->mine->buf_len[c->id], c->buf_len + 1);
	if (c->id >= SOAK_CONSUMERS - 1)
		end_leave(e);
}

void
consumer_new(struct end *e)
{
	struct rte_comch_consumer_conf conf = { .conf_size = sizeof(conf) };
	const struct shape *shape;
	struct actor *a = e->a;
	struct consumer *c = NULL;
	uint32_t i;

	for (i = 0; i < END_CONSUMERS; i++)
		if (e->cons[i].cons == NULL)
			c = &e->cons[i];
	if (c == NULL)
		return;
	shape = shape_pick(&a->rnd);
	c->depth = 1 + soak_rnd_below(&a->rnd, shape->max_depth);
	c->buf_len = shape->min_len +
		soak_rnd_below(&a->rnd, shape->max_len - shape->min_len + 1);
	if (c->buf_len > 0) {
		mem_get(a, c, (size_t)c->depth * c->buf_len);
		conf.mrs = &c->mem.mr;
		conf.nb_mrs = 1;
	}
	conf.queue_size = c->depth;
	if (soak_rnd_one_in(&a->rnd, 2))
		conf.staging_size = 4096U << soak_rnd_below(&a->rnd, 9);
	if (soak_rnd_one_in(&a->rnd, 6))
		conf.flags = RTE_COMCH_CONSUMER_F_SNAPSHOT;
	c->cons = rte_comch_consumer_create(e->conn, &conf);
	if (c->cons == NULL) {
		if (rte_errno != EBADFD)
			ACTOR_FAULT(a, "consumer_create: %s", strerror(rte_errno));
		mem_put(a, c);
		memset(c, 0, sizeof(*c));
		return;
	}
	start(e, c);
}

static void
post(struct end *e, struct consumer *c)
{
	struct rte_comch_buf bufs[32];
	uint16_t i, n;
	uint64_t left;

	left = c->depth - (c->posted - c->returned);
	if (left == 0)
		return;
	n = (uint16_t)(1 + soak_rnd_below(&e->a->rnd, RTE_DIM(bufs)));
	n = (uint16_t)RTE_MIN(n, left);
	for (i = 0; i < n; i++) {
		bufs[i] = (struct rte_comch_buf){ .cookie = c->posted + i };
		if (c->buf_len == 0)
			continue;
		bufs[i].addr = c->mem.addr + (c->posted + i) % c->depth * c->buf_len;
		bufs[i].mr = c->mem.mr;
		bufs[i].len = c->buf_len;
	}
	n = rte_comch_consumer_post_burst(c->cons, bufs, n);
	c->posted += n;
	e->a->has_moved |= n > 0;
}

static void
receive(struct end *e, struct consumer *c, const struct rte_comch_cpl *cpl)
{
	struct soak_books *b = e->a->books;
	struct soak_place at;
	struct soak_stream *s;
	const uint8_t *data;
	struct soak_msg m;

	s = soak_stream_find(e->peers, cpl->peer_id, c->id);
	if (s == NULL) {
		ACTOR_FAULT(e->a, "connection %llu: a message of producer %u to consumer %u, "
			"which sent none", (unsigned long long)e->serial, cpl->peer_id, c->id);
		return;
	}
	at.serial = e->serial;
	at.stream = soak_stream_number(e->peers, !e->a->side, s);
	at.seq = s->delivered;
	soak_msg(b, &at, s, &m);
	data = c->buf_len == 0 ? NULL : c->mem.addr + cpl->cookie % c->depth * c->buf_len;
	if (!soak_msg_check(b, &at, &m, data, cpl->len, cpl->imm, cpl->imm_len)) {
		e->book->has_failed = true;
		end_leave(e);
	}
	soak_set(&s->delivered, at.seq + 1);
	soak_add(&b->counts.data, 1);
	soak_add(&b->counts.bytes, cpl->len);
}

static void
take(struct end *e, struct consumer *c)
{
	struct rte_comch_cpl cpls[32];
	uint16_t i, n;

	n = rte_comch_consumer_recv_burst(c->cons, cpls,
		(uint16_t)(1 + soak_rnd_below(&e->a->rnd, RTE_DIM(cpls))));
	for (i = 0; i < n; i++) {
		if (cpls[i].cookie != c->returned)
			ACTOR_FAULT(e->a, "connection %llu, consumer %u: buffer %llu returned, "
				"expected %llu", (unsigned long long)e->serial, c->id,
				(unsigned long long)cpls[i].cookie,
				(unsigned long long)c->returned);
		c->returned++;
		if (cpls[i].status == 0)
			receive(e, c, &cpls[i]);
		else if (cpls[i].status != -ECANCELED && cpls[i].status != -EBADFD)
			ACTOR_FAULT(e->a, "consumer %u: status %d", c->id, cpls[i].status);
	}
	e->a->has_moved |= n > 0;
}

void
consumer_turn(struct end *e, struct consumer *c)
{
	enum rte_comch_state state;

	if (c->cons == NULL)
		return;
	/* Its state first: what IDLE has left is all that there is. */
	state = rte_comch_consumer_state(c->cons);
	take(e, c);
	if (state == RTE_COMCH_STATE_RUNNING)
		post(e, c);
	if (state != RTE_COMCH_STATE_IDLE)
		return;
	if (c->returned != c->posted)
		ACTOR_FAULT(e->a, "connection %llu, consumer %u: IDLE with %llu of %llu buffers",
			(unsigned long long)e->serial, c->id,
			(unsigned long long)c->returned, (unsigned long long)c->posted);
	if (!c->is_ending && !e->is_down)
		soak_add(&e->a->books->counts.not_started, 1);
	if (c->is_ending && !e->is_down && !e->is_leaving && soak_rnd_one_in(&e->a->rnd, 3))
		start(e, c);
	else
		destroy(e, c);
}

void
consumer_end(struct end *e, struct consumer *c)
{
	enum rte_comch_state state;
	int rc;

	if (c->cons == NULL || c->is_ending)
		return;
	state = rte_comch_consumer_state(c->cons);
	if (state == RTE_COMCH_STATE_IDLE || state == RTE_COMCH_STATE_STOPPING)
		return;
	c->is_ending = true;
	rc = rte_comch_consumer_stop(c->cons);
	if (rc != -EINPROGRESS && rc != -EBADFD)
		ACTOR_FAULT(e->a, "consumer_stop: %d", rc);
	e->a->has_moved = true;
}
