/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "msg.h"
#include "t.h"

struct soak_books *
soak_books_new(uint64_t seed)
{
	struct soak_books *b;

	b = mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (b == MAP_FAILED)
		T_FAIL("mmap: %s", strerror(errno));
	b->seed = seed;
	b->run = (uint32_t)(seed ^ seed >> 32);
	b->next_serial = 1;
	return b;
}

static void
stream_init(struct soak_stream *s, uint32_t prod_id, uint32_t cons_id, uint32_t max_len)
{
	memset(s, 0, sizeof(*s));
	s->prod_id = prod_id;
	s->cons_id = cons_id;
	s->max_len = max_len;
	s->refused = SOAK_NONE;
}

struct soak_conn *
soak_conn_take(struct soak_books *b, uint32_t client)
{
	uint64_t serial, free_serial;
	struct soak_conn *c;
	unsigned int i;

	serial = soak_add(&b->next_serial, 1);
	for (i = 0; i < SOAK_CONNS; i++) {
		/* In turn, so that the next one is not mistaken for the last. */
		c = &b->conns[(serial + i) % SOAK_CONNS];
		free_serial = 0;
		/* SOAK_NONE: it is neither free nor to be judged while it is filled in. */
		if (!__atomic_compare_exchange_n(&c->serial, &free_serial, SOAK_NONE, false,
				__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		memset((uint8_t *)c + sizeof(c->serial), 0, sizeof(*c) - sizeof(c->serial));
		c->client = client;
		c->life = soak_get(&b->procs[client].life);
		c->client_pid = soak_get(&b->procs[client].pid);
		c->begin_ms = t_now_ms();
		stream_init(&c->end[SOAK_HOST].ctrl, 0, 0, 0);
		stream_init(&c->end[SOAK_DPU].ctrl, 0, 0, 0);
		soak_set(&c->serial, serial);
		return c;
	}
	return NULL;
}

uint32_t
soak_conn_queue(const struct soak_books *b, const struct soak_conn *c)
{
	return (uint32_t)(c - b->conns) + 1;
}

struct soak_conn *
soak_conn_open(struct soak_books *b, uint32_t queue, int32_t client_pid, int32_t server_pid)
{
	uint32_t none = SOAK_END_NONE;
	struct soak_conn *c;

	if (queue == 0 || queue > SOAK_CONNS) {
		soak_fault(b, "a client has a receive queue of %u", queue);
		return NULL;
	}
	c = &b->conns[queue - 1];
	if (soak_get(&c->serial) == 0 || soak_get(&c->serial) == SOAK_NONE)
		return NULL;
	/* Not that of the process that has the number now: this one may be dead. */
	if (client_pid > 0 && c->client_pid != client_pid)
		return NULL;
	if (!__atomic_compare_exchange_n(&c->end[SOAK_DPU].state, &none, SOAK_END_OPEN, false,
			__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return NULL;
	soak_set(&c->server_pid, server_pid);
	return c;
}

/* Lives that follow each other differ; so do lengths of one life. */
#define LIVES 61

uint32_t
soak_server_queue(const struct soak_books *b, struct soak_rnd *rnd)
{
	return 1 + b->procs[0].life % LIVES + LIVES * soak_rnd_below(rnd, 3);
}

int32_t
soak_server_pid(const struct soak_books *b, uint32_t queue)
{
	/* The pid first: a new one has a new life. */
	const int32_t pid = soak_get(&b->procs[0].pid);

	if (pid == 0 || soak_get(&b->procs[0].life) % LIVES != (queue - 1) % LIVES)
		return SOAK_PID_GONE;
	return pid;
}

void
soak_conn_release(struct soak_conn *c)
{
	soak_set(&c->serial, 0);
}

struct soak_stream *
soak_stream_new(struct soak_end *e, uint32_t prod_id, uint32_t cons_id, uint32_t max_len)
{
	const uint32_t n = e->nb_streams;

	if (n == SOAK_STREAMS)
		return NULL;
	stream_init(&e->streams[n], prod_id, cons_id, max_len);
	/* The receiver finds it when the first message arrives. */
	soak_set(&e->nb_streams, n + 1);
	return &e->streams[n];
}

struct soak_stream *
soak_stream_find(struct soak_end *e, uint32_t prod_id, uint32_t cons_id)
{
	uint32_t i = soak_get(&e->nb_streams);

	while (i-- > 0)
		if (e->streams[i].prod_id == prod_id && e->streams[i].cons_id == cons_id)
			return &e->streams[i];
	return NULL;
}

void
soak_fault(struct soak_books *b, const char *fmt, ...)
{
	char text[sizeof(b->faults[0])];
	uint32_t n;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	n = soak_add(&b->nb_faults, 1);
	if (n >= SOAK_FAULTS)
		return;
	/* The first byte last: the supervisor prints a text that begins. */
	memcpy(b->faults[n] + 1, text + 1, sizeof(text) - 1);
	soak_set(&b->faults[n][0], text[0]);
}
