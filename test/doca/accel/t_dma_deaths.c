/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Exported memory, and a side that is killed or stopped at each step of what the two say to each
 * other. That of processes at random instants is in t_dma_kills.c.
 */

#include <sys/mman.h>
#include <unistd.h>

#include "accel/victim.h"
#include "t_main.h"

/* Of a task: several pieces, so that one is under way when another is done. */
#define LEN (2 * RTE_COMCH_PIECE_MAX + 100)

/* At each step, the exporter is at an end, and its importer's task; the next one is done. */
static void
at_each_step(void (*ends)(struct victim *v))
{
	enum victim_step step;
	struct victim v;

	victim_open(&v);
	for (step = VICTIM_CONNECTED; step < NB_VICTIM_STEPS; step++) {
		victim_submit(&v, LEN);
		victim_advance(&v, step);
		ends(&v);
		victim_submit(&v, LEN);
		victim_serve(&v);
		/* With nothing under way: the next task finds that out. */
		victim_hang_up(&v);
		victim_submit(&v, LEN);
		victim_fails(&v, DOCA_ERROR_NOT_CONNECTED);
	}
	victim_close(&v);
}

static void
dies(struct victim *v)
{
	victim_hang_up(v);
	victim_fails(v, DOCA_ERROR_NOT_CONNECTED);
}

/* behaviour: B12 */
T_CASE(exporter_dies)
{
	at_each_step(dies);
}

/* The task waits until the context is stopped. The exporter goes on with the next one. */
static void
stops(struct victim *v)
{
	T_SETTLE(doca_pe_progress(v->i.c.pe));
	T_EQ(v->i.c.nb_done + v->i.c.nb_errors, 0);
	T_IS(doca_ctx_stop(v->i.c.ctx), DOCA_ERROR_IN_PROGRESS);
	victim_fails(v, DOCA_ERROR_SHUTDOWN);
}

/* behaviour: B12 */
T_CASE(exporter_stops)
{
	at_each_step(stops);
}

/* Importers by hand. */

#define NB_DEATHS 200

enum step {
	CONNECTED,
	GREETED,   /* it has shown its key */
	WINDOW,    /* it has sent its window, and not looked at the answer */
	UP,
	ASKED,     /* it has not looked at the answer */
	NB_STEPS
};

struct importer_by_hand {
	int fd;
	int window;       /* -1: none */
	uint8_t *mem;     /* NULL: none */
};

static struct importer_by_hand
importer_at(const struct exporter *e, enum step step)
{
	struct importer_by_hand i = { .fd = raw_remote_connect(desc_path(e)), .window = -1 };

	if (step >= UP) {
		i.mem = raw_remote_up(i.fd, desc_key(e));
	} else if (step >= GREETED) {
		raw_remote_hello(i.fd, desc_key(e), COMCH_REMOTE_MEMORY);
		i.window = raw_remote_memfd(COMCH_REMOTE_WINDOW, true);
	}
	if (step == WINDOW)
		raw_remote_window(i.fd, &i.window, 1);
	else if (step == ASKED)
		raw_remote_request(i.fd, COMCH_REMOTE_READ, 0, (uintptr_t)e->shared->addr, 1);
	return i;
}

static void
importer_dies(struct importer_by_hand *i)
{
	T_EQ(close(i->fd), 0);
	if (i->window >= 0)
		T_EQ(close(i->window), 0);
	if (i->mem != NULL)
		T_EQ(munmap(i->mem, COMCH_REMOTE_WINDOW), 0);
}

/* The exporter serves others, and keeps nothing of those that have died. */
T_CASE(importers_die)
{
	struct importer_by_hand i;
	unsigned int nb_fds, k;
	struct exporter e;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	desc_still_served(&e);
	nb_fds = t_fd_count_of(e.proc.pid);
	for (k = 0; k < NB_DEATHS; k++) {
		i = importer_at(&e, k % NB_STEPS);
		importer_dies(&i);
		desc_still_served(&e);
	}
	T_AWAIT(t_fd_count_of(e.proc.pid) <= nb_fds);
	exporter_end(&e);
}

/* Those that are stopped, and so neither close nor look, do not keep it from others. */
T_CASE(importers_stop)
{
	struct importer_by_hand i[NB_STEPS];
	struct exporter e;
	enum step step;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	for (step = CONNECTED; step < NB_STEPS; step++) {
		i[step] = importer_at(&e, step);
		desc_still_served(&e);
	}
	for (step = CONNECTED; step < NB_STEPS; step++)
		importer_dies(&i[step]);
	desc_still_served(&e);
	exporter_end(&e);
}
