/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * An exporter that is killed or stopped at a random instant, T_KILLS times (200): the importer's
 * task is done, or fails with the error for that, and it goes on with the next exporter. An
 * importer that is killed: the exporter goes on with the next importer. T_SEED repeats a run.
 */

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "accel/importer.h"
#include "t_main.h"

/* Of a task: many pieces. */
#define LEN ((size_t)1 << 20)
/* From the first task on, by when most connections are up. */
#define MAX_WAIT_US 2000

static unsigned int
nb_kills(void)
{
	return t_repeat((unsigned int)t_env_number("T_KILLS", 200));
}

static void
begin_random(void)
{
	const unsigned int seed = (unsigned int)t_env_number("T_SEED", t_now_ms());

	printf("T_SEED=%u\n", seed);
	fflush(stdout);
	srandom(seed);
}

static void
wait_at_random(void)
{
	usleep((useconds_t)(random() % MAX_WAIT_US));
}

/* An importer in a process of its own, which the director tells what comes next. */
struct busy {
	struct importer i;
	struct doca_buf *here, *there;   /* of its task */
};

static void
submit(struct busy *b, const struct exporter *e, bool is_write)
{
	const size_t at = is_write ? LEN : 0;

	b->here = memory_buf(&b->i.mem, at, LEN, is_write);
	b->there = importer_buf(&b->i, e, at, LEN, !is_write);
	copier_submit(&b->i.c, is_write ? b->here : b->there,
		is_write ? b->there : b->here);
}

/* What a read that is done has read. */
static void
verify(const struct busy *b)
{
	size_t k;

	for (k = 0; k < LEN; k++)
		T_EQ(b->i.mem.addr[k], exporter_byte(k));
}

/* Tasks, each when the one before is done, until one fails or the context is stopped. */
static doca_error_t
copy_on(struct busy *b, const struct exporter *e, int fd, bool stops)
{
	struct t_step step;
	unsigned int nb;

	/* The last one may be done just before the stop. */
	for (nb = 0; ctx_is_running(b->i.c.ctx); nb++) {
		submit(b, e, nb % 2 == 1);
		if (nb == 0)
			t_say(fd, 'G', 0);
		while (b->i.c.nb_done + b->i.c.nb_errors <= nb) {
			doca_pe_progress(b->i.c.pe);
			/* The exporter does nothing any more. */
			if (stops && t_listen(fd, &step))
				doca_ctx_stop(b->i.c.ctx);
		}
		if (b->i.c.nb_done > nb && nb % 2 == 0)
			verify(b);
		free_bufs(b->here, b->there);
	}
	return b->i.c.status;
}

static void
check_end(doca_error_t status, bool stops)
{
	if (!stops)
		T_IS(status, DOCA_ERROR_NOT_CONNECTED);
	else if (status != DOCA_SUCCESS)
		T_IS(status, DOCA_ERROR_SHUTDOWN);
}

/* 'K': import from an exporter that will be killed; 'S': that will be stopped; 'X': exit. */
static int
import_often(int fd, void *arg)
{
	const struct exporter *e = arg;
	unsigned int nb_fds = 0;
	struct t_step step;
	struct busy b;

	for (;;) {
		T_AWAIT(t_listen(fd, &step));
		if (step.code == 'X')
			return 0;
		importer_open(&b.i, e);
		check_end(copy_on(&b, e, fd, step.code == 'S'), step.code == 'S');
		t_say(fd, 'E', 0);
		if (step.code == 'S') {
			/* The exporter goes on. */
			t_hear(fd, 'C');
			importer_restart(&b.i);
			importer_reads(&b.i, e, 0, LEN);
			t_say(fd, 'D', 0);
		}
		importer_close(&b.i);
		/* What the first one has begun stays. */
		if (nb_fds == 0)
			nb_fds = t_fd_count();
		T_AWAIT(t_fd_count() <= nb_fds);
	}
}

static void
kill_one(struct t_proc *importer, struct exporter *e)
{
	exporter_run(e);
	t_say(importer->fd, 'K', 0);
	t_hear(importer->fd, 'G');
	wait_at_random();
	t_proc_kill(&e->proc);
	t_hear(importer->fd, 'E');
}

static void
stop_one(struct t_proc *importer, struct exporter *e)
{
	exporter_run(e);
	t_say(importer->fd, 'S', 0);
	t_hear(importer->fd, 'G');
	wait_at_random();
	t_proc_stop(&e->proc);
	t_say(importer->fd, 'S', 0);
	t_hear(importer->fd, 'E');
	t_proc_signal(&e->proc, SIGCONT);
	t_say(importer->fd, 'C', 0);
	t_hear(importer->fd, 'D');
	t_proc_kill(&e->proc);
}

/* behaviour: B12 */
T_CASE(exporters)
{
	struct t_proc importer;
	struct exporter e;
	unsigned int k;

	begin_random();
	exporter_share(&e, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	/* Before this process would have an EAL, which it never has. */
	t_proc_start(&importer, "importer", import_often, &e);
	for (k = 0; k < nb_kills(); k++) {
		if (k % 2 == 0)
			kill_one(&importer, &e);
		else
			stop_one(&importer, &e);
	}
	t_say(importer.fd, 'X', 0);
	t_proc_join(&importer);
}

static int __attribute__((noreturn))
import_for_ever(int fd, void *arg)
{
	struct busy b;

	importer_open(&b.i, arg);
	copy_on(&b, arg, fd, false);
	T_FAIL("an exporter that lives ended a task: %s", doca_error_get_descr(b.i.c.status));
}

static int
import_once(int fd __rte_unused, void *arg)
{
	struct importer i;

	importer_open(&i, arg);
	importer_reads(&i, arg, 0, LEN);
	importer_close(&i);
	return 0;
}

T_CASE(importers)
{
	struct t_proc importer;
	unsigned int k, nb_fds = 0;
	struct exporter e;

	begin_random();
	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	for (k = 0; k < nb_kills(); k++) {
		t_proc_start(&importer, "importer", import_for_ever, &e);
		t_hear(importer.fd, 'G');
		wait_at_random();
		t_proc_kill(&importer);
		if (k % 20 != 0)
			continue;
		/* It answers; and it waits for a word of ours no longer than T_TIMEOUT_MS. */
		exporter_do(&e, 'C');
		t_proc_start(&importer, "last importer", import_once, &e);
		t_proc_join(&importer);
		if (nb_fds == 0)
			nb_fds = t_fd_count_of(e.proc.pid);
	}
	T_AWAIT(t_fd_count_of(e.proc.pid) <= nb_fds);
	exporter_end(&e);
}
