/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <inttypes.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "t_delay.h"
#include "t_node.h"

/* The last event of a kind in this thread. */
struct last {
	uint64_t nb;  /* how many so far */
	uint64_t run; /* when it happened */
	bool known;   /* by a control message: no reason to wait any more */
};

static __thread struct last last_post, last_send;
static __thread uint64_t runs;
static __thread bool held;

/* Calls of one burst since the last event that it waits for. */
struct wait {
	uint64_t nb;    /* events seen */
	uint64_t calls;
};

struct delayed_cons {
	struct rte_comch_consumer_core real;
	struct wait recv;
	uint64_t nb_out; /* posted and not returned */
};

/* An operation that was taken, and what its payload was. */
struct sent {
	STAILQ_ENTRY(sent) next;
	struct rte_comch_op op;
	uint64_t sum;
};

struct delayed_prod {
	struct rte_comch_producer_core real;
	struct wait send;
	struct wait done;
	STAILQ_HEAD(, sent) out; /* taken and not returned */
};

static uint64_t delay;

/* Is T_DELAY set? */
static bool
is_wanted(void)
{
	const char *env = getenv("T_DELAY");

	delay = env == NULL ? 0 : strtoull(env, NULL, 10);
	return env != NULL;
}

void
t_delay_on_run(void)
{
	runs++;
}

void
t_delay_on_msg(void)
{
	last_post.known = true;
}

bool
t_delay_held(void)
{
	bool was = held;

	held = false;
	return was;
}

static void
happened(struct last *last)
{
	last->nb++;
	last->run = runs;
	last->known = false;
}

/* Is it too early for this call? */
static bool
too_early(struct wait *w, const struct last *last)
{
	if (w->nb != last->nb) {
		w->nb = last->nb;
		w->calls = 0;
	}
	if (last->nb == 0 || last->known || (w->calls >= delay && runs - last->run >= delay))
		return false;
	w->calls++;
	held = true;
	return true;
}

static uint16_t
delayed_post(void *queue, const struct rte_comch_buf *bufs, uint16_t n)
{
	struct delayed_cons *d = queue;

	n = d->real.post(d->real.queue, bufs, n);
	d->nb_out += n;
	if (n > 0)
		happened(&last_post);
	return n;
}

static uint16_t
delayed_recv(void *queue, struct rte_comch_cpl *cpls, uint16_t n)
{
	struct delayed_cons *d = queue;

	if (too_early(&d->recv, &last_send))
		return 0;
	n = d->real.recv(d->real.queue, cpls, n);
	T_LE(n, d->nb_out);
	d->nb_out -= n;
	return n;
}

/* Does a segment lie in its registration? Tests also send ones that do not. */
static bool
readable(const struct rte_comch_mr *mr, const void *addr, uint32_t len)
{
	struct rte_comch_mr_info info;
	uintptr_t off;

	if (len == 0 || addr == NULL || rte_comch_mem_info_get(mr, &info) != 0)
		return false;
	off = (uintptr_t)addr - (uintptr_t)info.addr;
	return off <= info.len && len <= info.len - off;
}

static uint64_t
sum_of(const struct rte_comch_mr *mr, const uint8_t *addr, uint32_t len, uint64_t sum)
{
	uint64_t word = 0;
	uint32_t i;

	if (!readable(mr, addr, len))
		return sum;
	for (i = 0; len - i >= sizeof(word); i += sizeof(word)) {
		memcpy(&word, addr + i, sizeof(word));
		sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	}
	for (; i < len; i++)
		sum = (sum ^ addr[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return sum;
}

static uint64_t
sum_op(const struct rte_comch_op *op)
{
	const struct rte_comch_sge *sges = op->addr;
	uint64_t sum = op->len;
	uint16_t i;

	if ((op->flags & RTE_COMCH_OP_F_SGL) == 0)
		return sum_of(op->mr, op->addr, op->len, sum);
	for (i = 0; sges != NULL && i < op->nb_sges; i++)
		sum = sum_of(sges[i].mr, sges[i].addr, sges[i].len, sum);
	return sum;
}

static void
remember(struct delayed_prod *d, const struct rte_comch_op *op)
{
	struct sent *s;

	if ((op->flags & RTE_COMCH_OP_F_SILENT) != 0)
		return;
	s = malloc(sizeof(*s));
	T_CHECK(s != NULL);
	s->op = *op;
	s->sum = sum_op(op);
	STAILQ_INSERT_TAIL(&d->out, s, next);
}

static uint16_t
delayed_send(void *queue, const struct rte_comch_op *ops, uint16_t n)
{
	struct delayed_prod *d = queue;
	uint16_t i;

	if (too_early(&d->send, &last_post))
		return 0;
	n = d->real.send(d->real.queue, ops, n);
	for (i = 0; i < n; i++)
		remember(d, &ops[i]);
	if (n > 0)
		happened(&last_send);
	return n;
}

static void
check_done(struct delayed_prod *d, const struct rte_comch_cpl *cpl)
{
	struct sent *s = STAILQ_FIRST(&d->out);

	T_CHECK(s != NULL);
	T_EQ(cpl->cookie, s->op.cookie);
	if (sum_op(&s->op) != s->sum)
		T_FAIL("the payload of operation %" PRIu64 " was changed before it was done",
			s->op.cookie);
	STAILQ_REMOVE_HEAD(&d->out, next);
	free(s);
}

static uint16_t
delayed_done(void *queue, struct rte_comch_cpl *cpls, uint16_t n)
{
	struct delayed_prod *d = queue;
	uint16_t i;

	if (too_early(&d->done, &last_send))
		return 0;
	n = d->real.done(d->real.queue, cpls, n);
	for (i = 0; i < n; i++)
		check_done(d, &cpls[i]);
	return n;
}

void
t_delay_consumer(struct rte_comch_consumer *cons)
{
	struct rte_comch_consumer_core *core = (struct rte_comch_consumer_core *)cons;
	struct delayed_cons *d;

	if (!is_wanted())
		return;
	d = calloc(1, sizeof(*d));
	T_CHECK(d != NULL);
	d->real = *core;
	*core = (struct rte_comch_consumer_core){ delayed_post, delayed_recv, d };
}

void
t_delay_producer(struct rte_comch_producer *prod)
{
	struct rte_comch_producer_core *core = (struct rte_comch_producer_core *)prod;
	struct delayed_prod *d;

	if (!is_wanted())
		return;
	d = calloc(1, sizeof(*d));
	T_CHECK(d != NULL);
	STAILQ_INIT(&d->out);
	d->real = *core;
	*core = (struct rte_comch_producer_core){ delayed_send, delayed_done, d };
}

void
t_delay_consumer_end(struct rte_comch_consumer *cons)
{
	struct rte_comch_consumer_core *core = (struct rte_comch_consumer_core *)cons;
	struct delayed_cons *d = core->queue;
	struct rte_comch_cpl cpl;

	if (core->recv != delayed_recv)
		return;
	while (d->real.recv(d->real.queue, &cpl, 1) == 1)
		d->nb_out--;
	T_EQ(d->nb_out, 0);
	*core = d->real;
	free(d);
}

void
t_delay_producer_end(struct rte_comch_producer *prod)
{
	struct rte_comch_producer_core *core = (struct rte_comch_producer_core *)prod;
	struct delayed_prod *d = core->queue;
	struct rte_comch_cpl cpl;

	if (core->done != delayed_done)
		return;
	while (d->real.done(d->real.queue, &cpl, 1) == 1)
		check_done(d, &cpl);
	T_CHECK(STAILQ_EMPTY(&d->out));
	*core = d->real;
	free(d);
}
