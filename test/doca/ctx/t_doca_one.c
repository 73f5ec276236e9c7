/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* How much one progress reports. Programs take it for one completion. */

#include <poll.h>

#include "comch/queue.h"
#include "common/file.h"
#include "t_main.h"

#define NB 8

/* The most that one progress of an engine adds to a counter, until it has this value. */
static unsigned int
most_per_progress(struct doca_pe *pe, const unsigned int *count, unsigned int total)
{
	unsigned int before, most = 0;

	while (*count < total) {
		before = *count;
		T_EQ(doca_pe_progress(pe), 1);
		most = RTE_MAX(most, *count - before);
	}
	return most;
}

/* behaviour: P17 */
PAIR_CASE(one_message, t)
{
	unsigned int i;

	for (i = 0; i < NB; i++)
		side_send(&t->client, "x", 1);
	T_EQ(most_per_progress(t->server.pe, &t->server.nb_msgs, NB), 1);
}

/* behaviour: P17 */
PAIR_CASE(one_sent, t)
{
	unsigned int i;

	for (i = 0; i < NB; i++)
		side_send(&t->client, "x", 1);
	T_SETTLE(doca_pe_progress(t->server.pe));
	T_EQ(t->server.nb_msgs, NB);
	T_EQ(most_per_progress(t->client.pe, &t->client.nb_sent, NB), 1);
}

static bool
is_readable(struct doca_pe *pe)
{
	struct pollfd p = { .events = POLLIN };

	T_OK(doca_pe_get_notification_handle(pe, &p.fd));
	return poll(&p, 1, 0) == 1;
}

/* What is in hand is not slept over. behaviour: P17 */
PAIR_CASE(the_next_wakes, t)
{
	unsigned int i;

	for (i = 0; i < NB; i++)
		side_send(&t->client, "x", 1);
	for (i = 1; i <= NB; i++) {
		T_OK(doca_pe_request_notification(t->server.pe));
		T_CHECK(is_readable(t->server.pe));
		T_OK(doca_pe_clear_notification(t->server.pe, 0));
		T_EQ(doca_pe_progress(t->server.pe), 1);
		T_EQ(t->server.nb_msgs, i);
	}
}

/* Submits in callbacks are batched, so completions are. behaviour: P18 */
FLOW_CASE(bursts, f, 4096, NB)
{
	unsigned int i;

	for (i = 0; i < NB; i++)
		queue_post(&f->c, NULL);
	for (i = 0; i < NB; i++)
		queue_submit(&f->t, queue_put_task(&f->p, NULL, "x", 1, f->id));
	T_EQ(most_per_progress(f->c.pe, &f->c.nb_done, NB), NB);
	T_EQ(most_per_progress(f->p.pe, &f->p.nb_done, NB), NB);
}

#define SINGLE "[device dpu]\npci = 03:00.0\nprogress = single\n" \
	"[function pf0]\npci = b1:00.0\n"

T_CASE(single)
{
	static struct flow f;
	unsigned int i;

	device_table_write(SINGLE);
	flow_open(&f, 4096, NB);
	for (i = 0; i < NB; i++)
		queue_post(&f.c, NULL);
	for (i = 0; i < NB; i++)
		queue_submit(&f.t, queue_put_task(&f.p, NULL, "x", 1, f.id));
	T_EQ(most_per_progress(f.c.pe, &f.c.nb_done, NB), 1);
	T_EQ(most_per_progress(f.p.pe, &f.p.nb_done, NB), 1);
	flow_close(&f);
}

/* All of one engine, by turns: none waits until another has nothing left. */
T_CASE(single_of_several)
{
	struct queue cons[2], prod;
	unsigned int i, j;
	uint32_t id[2];
	struct pair t;

	device_table_write(SINGLE);
	pair_open(&t);
	producer_create(&prod, t.client.conn, t.client.pe, 2 * NB);
	T_OK(doca_ctx_start(prod.ctx));
	for (j = 0; j < 2; j++) {
		consumer_open(&cons[j], &t.server, t.server.pe, NB);
		id[j] = consumer_start(&t, &cons[j]);
		for (i = 0; i < NB; i++)
			queue_post(&cons[j], NULL);
	}
	T_SETTLE(pair_progress(&t));
	for (i = 0; i < NB; i++) {
		side_send(&t.client, "x", 1);
		for (j = 0; j < 2; j++)
			T_OK(doca_task_submit(queue_put_task(&prod, NULL, "x", 1, id[j])));
	}
	/* Events and contexts take turns, and so do the contexts. */
	T_EQ(most_per_progress(t.server.pe, &t.server.nb_msgs, NB), 1);
	for (j = 0; j < 2; j++) {
		T_GE(cons[j].nb_done, NB / 4);
		T_EQ(most_per_progress(t.server.pe, &cons[j].nb_done, NB), 1);
	}
	queue_destroy(&t, &cons[0]);
	queue_destroy(&t, &cons[1]);
	queue_destroy(&t, &prod);
	pair_close(&t);
}
