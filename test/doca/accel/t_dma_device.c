/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * DOCA DMA by a DMA device of DPDK that the device table names: dma_skeleton, a thread that copies.
 * Where the case decides when a copy is made, and whether, it has the queue of t_dmadev.h.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_dmadev.h>

#include "accel/copier.h"
#include "common/file.h"
#include "common/logged.h"
#include "t_dmadev.h"
#include "t_main.h"
#include "t_proc.h"
#include "t_tel.h"

#define NAME "dma_skeleton0"
#define DEVICE "[device dpu]\npci = 03:00.0\n"
#define FUNCTION "[function pf0]\npci = b1:00.0\n"
/* As many copies as are in flight at a time, and two more. */
#define MIB ((size_t)1 << 20)
#define MANY (T_DMADEV_QUEUE + 2)

static void
open_with(struct copier *c, const char *keys)
{
	char table[256];

	snprintf(table, sizeof(table), DEVICE "%s" FUNCTION, keys);
	device_table_write(table);
	setenv("COMCH_EAL_ARGS", "--vdev=" NAME, 1);
	copier_open(c);
}

/* With a queue in the hands of the case. */
static void
open_slow(struct copier *c)
{
	open_with(c, "dma = " NAME "\ndma_min = 1000\n");
	t_dmadev_attach((int16_t)rte_dma_get_dev_id_by_name(NAME));
}

/* A copier with a copy of all its memory in flight. */
struct in_flight {
	struct copier c;
	struct doca_buf *src, *dst;
	struct doca_dma_task_memcpy *task;
};

static void
open_in_flight(struct in_flight *f)
{
	open_slow(&f->c);
	f->src = memory_buf(&f->c.src, 0, COPIER_SIZE, true);
	f->dst = memory_buf(&f->c.dst, 0, COPIER_SIZE, false);
	f->task = copier_submit(&f->c, f->src, f->dst);
	T_EQ(doca_pe_progress(f->c.pe), 0);
	T_EQ(t_dmadev.submitted, 1);
}

static void
close_in_flight(struct in_flight *f)
{
	free_bufs(f->src, f->dst);
	copier_close(&f->c);
}

/* The accelerator of this number, in the order of their creation. */
static void
has_offloaded(unsigned int id, size_t bytes)
{
	int fd = t_tel_open();
	char question[64];
	json_t *stats;

	snprintf(question, sizeof(question), "/comch/accel/stats,%u", id);
	stats = t_tel_ask(fd, question);
	T_EQ(t_tel_number(stats, "offloaded"), bytes);
	json_decref(stats);
	T_EQ(close(fd), 0);
}

static void
copies(struct copier *c, size_t len)
{
	struct doca_buf *src = memory_buf(&c->src, 0, len, true);
	struct doca_buf *dst = memory_buf(&c->dst, 0, len, false);
	const unsigned int nb = c->nb_done;

	memset(c->dst.addr, 0, COPIER_SIZE);
	copier_submit(c, src, dst);
	copier_wait(c, nb + 1);
	T_EQ(c->nb_done, nb + 1);
	T_EQ(data_len(dst), len);
	T_EQ(memcmp(c->dst.addr, c->src.addr, len), 0);
	if (len < COPIER_SIZE)
		T_EQ(c->dst.addr[len], 0);
	free_bufs(src, dst);
}

T_CASE(copies_what_is_long_enough)
{
	struct copier c;

	open_with(&c, "dma = " NAME "\ndma_min = 4096\n");
	copies(&c, 4095);
	has_offloaded(0, 0);
	copies(&c, 4096);
	has_offloaded(0, 4096);
	copies(&c, COPIER_SIZE);
	has_offloaded(0, 4096 + COPIER_SIZE);
	copier_close(&c);
	/* It can be opened again. */
	copier_open(&c);
	copies(&c, COPIER_SIZE);
	has_offloaded(1, COPIER_SIZE);
	copier_close(&c);
}

T_CASE(is_for_long_copies)
{
	struct copier c;

	open_with(&c, "dma = " NAME "\n");
	copies(&c, COPIER_SIZE);
	has_offloaded(0, 0);
	copier_close(&c);
}

/* Tasks in the order of their submits, and no report before the bytes are there. */
T_CASE(waits_for_the_device)
{
	struct doca_buf *src[2], *dst[2];
	struct copier c;
	unsigned int i;

	open_slow(&c);
	for (i = 0; i < 2; i++) {
		src[i] = memory_buf(&c.src, 2000 * i, 2000, true);
		dst[i] = memory_buf(&c.dst, 2000 * i, 2000, false);
		copier_submit(&c, src[i], dst[i]);
	}
	T_EQ(doca_pe_progress(c.pe), 0);
	T_EQ(doca_pe_progress(c.pe), 0);
	T_EQ(t_dmadev.submitted, 1);
	T_EQ(data_len(dst[0]), 0);
	t_dmadev_make(1, true);
	T_EQ(doca_pe_progress(c.pe), 1);
	T_EQ(c.nb_done, 1);
	T_EQ(data_len(dst[0]), 2000);
	T_EQ(doca_pe_progress(c.pe), 0);
	T_EQ(t_dmadev.submitted, 2);
	t_dmadev_make(1, true);
	T_EQ(doca_pe_progress(c.pe), 1);
	T_EQ(c.nb_done, 2);
	T_EQ(memcmp(c.dst.addr, c.src.addr, 4000), 0);
	for (i = 0; i < 2; i++)
		free_bufs(src[i], dst[i]);
	copier_close(&c);
}

/* The pieces of a list that are long enough are the device's, the others the core's. */
T_CASE(lists)
{
	struct doca_buf *src, *dst, *next;
	struct copier c;

	open_slow(&c);
	src = memory_buf(&c.src, 0, 1500, true);
	next = memory_buf(&c.src, 3000, 2000, true);
	T_OK(doca_buf_chain_list(src, next));
	dst = memory_buf(&c.dst, 100, 4000, false);
	next = memory_buf(&c.dst, 6000, 10, false);
	T_OK(doca_buf_chain_list(dst, next));
	copier_submit(&c, src, dst);
	T_EQ(doca_pe_progress(c.pe), 0);
	T_EQ(t_dmadev.submitted, 2);
	T_EQ(t_dmadev.copy[0].len, 1500);
	T_EQ(t_dmadev.copy[1].len, 2000);
	t_dmadev_make(2, true);
	T_EQ(doca_pe_progress(c.pe), 1);
	T_EQ(c.nb_done, 1);
	T_EQ(data_len(dst), 3500);
	T_EQ(memcmp(c.dst.addr + 100, c.src.addr, 1500), 0);
	T_EQ(memcmp(c.dst.addr + 1600, c.src.addr + 3000, 2000), 0);
	T_EQ(c.dst.addr[3600], 0);
	free_bufs(src, dst);
	copier_close(&c);
}

T_CASE(long_copies_are_made_in_pieces)
{
	struct memory from, to;
	struct doca_buf *src, *dst;
	struct copier c;
	size_t i;

	open_slow(&c);
	memory_create_new(&from, c.dev, MANY * MIB);
	memory_create_new(&to, c.dev, MANY * MIB);
	for (i = 0; i < MANY; i++)
		memset(from.addr + i * MIB, (int)i + 1, MIB);
	src = memory_buf(&from, 0, MANY * MIB - 500, true);
	dst = memory_buf(&to, 0, MANY * MIB, false);
	copier_submit(&c, src, dst);
	T_EQ(doca_pe_progress(c.pe), 0);
	T_EQ(doca_pe_progress(c.pe), 0);
	T_EQ(t_dmadev.submitted, T_DMADEV_QUEUE);
	t_dmadev_make(1, true);
	T_EQ(doca_pe_progress(c.pe), 0);
	T_EQ(t_dmadev.submitted, T_DMADEV_QUEUE + 1);
	t_dmadev.instant = true;
	t_dmadev_make(T_DMADEV_QUEUE, true);
	T_WAIT(doca_pe_progress(c.pe), c.nb_done == 1);
	T_EQ(t_dmadev.submitted, MANY);
	T_EQ(memcmp(to.addr, from.addr, MANY * MIB - 500), 0);
	T_EQ(to.addr[MANY * MIB - 500], 0);
	T_EQ(data_len(dst), MANY * MIB - 500);
	has_offloaded(0, MANY * MIB - 500);
	free_bufs(src, dst);
	memory_destroy(&from);
	memory_destroy(&to);
	copier_close(&c);
}

/* A copy of three pieces; messages are kept. */
struct fallback {
	struct copier c;
	struct memory from, to;
	struct doca_buf *src, *dst;
};

/* What the device does not copy, the core does, and says so. */
static void
falls_back(struct fallback *f)
{
	T_WAIT(doca_pe_progress(f->c.pe), f->c.nb_done == 1);
	T_EQ(memcmp(f->to.addr, f->from.addr, 3 * MIB), 0);
	T_STR_HAS(logged_end(), "DMA: " NAME " has not done a task; the core does it");
	has_offloaded(0, 0);
	/* Its queue is free. */
	t_dmadev_attach((int16_t)rte_dma_get_dev_id_by_name(NAME));
	t_dmadev.instant = true;
	f->c.nb_done = 0;
	copies(&f->c, 2000);
	has_offloaded(0, 2000);
}

static void
open_fallback(struct fallback *f)
{
	open_slow(&f->c);
	memory_create_new(&f->from, f->c.dev, 3 * MIB);
	memory_create_new(&f->to, f->c.dev, 3 * MIB);
	t_fill(f->from.addr, 3 * MIB, 1);
	f->src = memory_buf(&f->from, 0, 3 * MIB, true);
	f->dst = memory_buf(&f->to, 0, 3 * MIB, false);
	logged_begin();
}

static void
close_fallback(struct fallback *f)
{
	T_EQ(data_len(f->dst), 3 * MIB);
	free_bufs(f->src, f->dst);
	memory_destroy(&f->from);
	memory_destroy(&f->to);
	copier_close(&f->c);
}

static void
make_rest(void)
{
	while (t_dmadev.made != t_dmadev.submitted)
		t_dmadev_make(1, true);
}

T_CASE_OF(struct fallback, open_fallback, close_fallback, one_of_three_copies_fails, f)
{
	copier_submit(&f->c, f->src, f->dst);
	T_EQ(doca_pe_progress(f->c.pe), 0);
	T_EQ(t_dmadev.submitted, 3);
	t_dmadev_make(1, true);
	t_dmadev_make(1, false);
	T_EQ(t_dmadev.made, 2);
	/* The last one is awaited: it writes to the destination. */
	t_dmadev.on_completed = make_rest;
	falls_back(f);
}

T_CASE_OF(struct fallback, open_fallback, close_fallback, copies_are_refused, f)
{
	t_dmadev.refuses = true;
	copier_submit(&f->c, f->src, f->dst);
	falls_back(f);
}

/* Before the last piece is made, the memory is not the program's. */
static void
make_one(void)
{
	if (t_dmadev.made != t_dmadev.submitted)
		t_dmadev_make(1, true);
}

T_CASE_OF(struct in_flight, open_in_flight, close_in_flight, a_stop_waits_for_the_device, f)
{
	struct copier *c = &f->c;

	t_dmadev.on_completed = make_one;
	T_IS(doca_ctx_stop(c->ctx), DOCA_ERROR_IN_PROGRESS);
	copier_wait(c, 1);
	T_IS(c->status, DOCA_ERROR_SHUTDOWN);
	T_EQ(t_dmadev.taken, 1);
	T_EQ(memcmp(c->dst.addr, c->src.addr, COPIER_SIZE), 0);
}

T_CASE_OF(struct in_flight, open_in_flight, close_in_flight, a_freed_task_waits_for_the_device, f)
{
	struct copier *c = &f->c;

	t_dmadev.on_completed = make_one;
	doca_task_free(doca_dma_task_memcpy_as_task(f->task));
	T_EQ(t_dmadev.taken, 1);
	T_SETTLE(doca_pe_progress(c->pe));
	T_EQ(c->nb_done + c->nb_errors, 0);
	/* The queue is free. */
	copies(c, COPIER_SIZE);
	T_EQ(t_dmadev.taken, 2);
}

/* A device with one queue serves one task at a time; the other context's core copies. */
T_CASE_OF(struct in_flight, open_in_flight, close_in_flight, no_queue_is_free, f)
{
	struct copier other;

	copier_open(&other);
	copies(&other, COPIER_SIZE);
	T_EQ(t_dmadev.given, 1);
	t_dmadev_make(1, true);
	T_EQ(doca_pe_progress(f->c.pe), 1);
	t_dmadev.instant = true;
	copies(&other, COPIER_SIZE);
	T_EQ(t_dmadev.given, 2);
	copier_close(&other);
}

/* Start, which fails, and says why. */
static void
cannot_start(const char *keys, const char *why)
{
	char table[256];
	struct copier c;

	snprintf(table, sizeof(table), DEVICE "%s" FUNCTION, keys);
	device_table_write(table);
	copier_create(&c, "dpu", "03:00.0");
	logged_begin();
	T_IS(doca_ctx_start(c.ctx), DOCA_ERROR_INITIALIZATION);
	T_STR_HAS(logged_end(), why);
	T_CHECK(ctx_is_idle(c.ctx));
	copier_close(&c);
}

static int
in_child(int fd __rte_unused, void *arg)
{
	const struct copier *c = arg;

	T_CHECK(ctx_is_idle(c->ctx));
	T_IS(doca_ctx_start(c->ctx), DOCA_ERROR_NOT_SUPPORTED);
	return 0;
}

/* The device is the parent's. */
T_CASE_OF(struct in_flight, open_in_flight, close_in_flight, fork_with_a_copy_in_flight, f)
{
	struct t_proc child;

	t_proc_start(&child, "child", in_child, &f->c);
	t_proc_join(&child);
	t_dmadev_make(1, true);
	copier_wait(&f->c, 1);
	T_EQ(f->c.nb_done, 1);
}

T_CASE(there_is_no_such_device)
{
	setenv("COMCH_EAL_ARGS", "--vdev=" NAME, 1);
	cannot_start("dma = wq0.0\n", "DMA: cannot start: dma = wq0.0 in the device table: no such "
		"DMA device; there are: " NAME);
}

T_CASE(the_channel_has_the_device)
{
	setenv("COMCH_EAL_ARGS", "--vdev=" NAME, 1);
	cannot_start("args = dma=" NAME "\ndma = " NAME "\n",
		"this process uses it for something else");
}
