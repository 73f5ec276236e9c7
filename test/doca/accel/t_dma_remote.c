/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA DMA between two processes: memory that the other side has exported. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_compress.h>
#include <doca_sha.h>

#include "accel/importer.h"
#include "t_main.h"

/* behaviour: B8, B10 */
T_CASE(reads_memory_of_a_process_that_sleeps)
{
	struct importer i, twice;
	struct exporter e;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	importer_open(&i, &e);
	importer_reads(&i, &e, 0, 1);
	importer_reads(&i, &e, EXPORT_LEN - 1, 1);
	importer_reads(&i, &e, 4083, 10000);
	importer_reads(&i, &e, 0, 128 * 1024);
	importer_reads(&i, &e, 1, 128 * 1024 + 1);
	importer_reads(&i, &e, 0, EXPORT_LEN);
	/* The descriptor works as often as it is used. */
	importer_open(&twice, &e);
	importer_reads(&twice, &e, 5, 500);
	importer_reads(&i, &e, 5, 500);
	importer_close(&twice);
	importer_reads(&i, &e, 5, 500);
	importer_close(&i);
	exporter_end(&e);
}

/* The path of a descriptor in a file, and where its memory is. */
struct stored {
	char path[128];
	size_t len;
	uint8_t *addr;
};

static int
import_stored(int fd __rte_unused, void *arg)
{
	/* It also has room for all of the memory. */
	static struct exporter_shared shared;
	const struct stored *stored = arg;
	struct exporter e = { .shared = &shared };
	struct importer i;
	FILE *f = fopen(stored->path, "r");

	T_CHECK(f != NULL);
	shared.desc_len = stored->len;
	shared.addr = stored->addr;
	T_EQ(fread(shared.desc, 1, sizeof(shared.desc), f), stored->len);
	fclose(f);
	importer_open(&i, &e);
	importer_reads(&i, &e, 70, 100000);
	importer_close(&i);
	return 0;
}

/* Another process finds it in a file, twice. behaviour: B8 */
T_CASE(descriptor_in_a_file)
{
	struct t_proc importer;
	struct stored stored;
	struct exporter e;
	unsigned int i;
	FILE *f;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	stored.len = e.shared->desc_len;
	stored.addr = e.shared->addr;
	T_LE(stored.len, 256);
	snprintf(stored.path, sizeof(stored.path), "%s/desc", t_dir());
	f = fopen(stored.path, "w");
	T_CHECK(f != NULL);
	T_EQ(fwrite(e.shared->desc, 1, stored.len, f), stored.len);
	T_EQ(fclose(f), 0);
	for (i = 0; i < 2; i++) {
		t_proc_start(&importer, "importer", import_stored, &stored);
		t_proc_join(&importer);
	}
	exporter_end(&e);
}

static void
on_hash(struct doca_sha_task_hash *task, union doca_data task_data, union doca_data ctx_data)
{
	T_FAIL("completed: %p, %p, %p", (void *)task, task_data.ptr, ctx_data.ptr);
}

static void
on_compress(struct doca_compress_task_compress_deflate *task, union doca_data task_data,
		union doca_data ctx_data)
{
	T_FAIL("completed: %p, %p, %p", (void *)task, task_data.ptr, ctx_data.ptr);
}

/* Try a digest, or a compression. */
static void
cannot_hash(struct importer *i, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_sha_task_hash *task;
	struct doca_sha *sha;

	T_OK(doca_sha_create(i->c.dev, &sha));
	T_OK(doca_sha_task_hash_set_conf(sha, on_hash, on_hash, 0));
	T_OK(doca_pe_connect_ctx(i->c.pe, doca_sha_as_ctx(sha)));
	T_OK(doca_ctx_start(doca_sha_as_ctx(sha)));
	T_OK(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, src, dst,
		(union doca_data){ .ptr = NULL }, &task));
	T_IS(doca_task_try_submit(doca_sha_task_hash_as_task(task)), DOCA_ERROR_NOT_SUPPORTED);
	doca_task_free(doca_sha_task_hash_as_task(task));
	T_OK(doca_ctx_stop(doca_sha_as_ctx(sha)));
	T_OK(doca_sha_destroy(sha));
}

static void
cannot_compress(struct importer *i, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_compress_task_compress_deflate *task;
	struct doca_compress *compress;

	T_OK(doca_compress_create(i->c.dev, &compress));
	T_OK(doca_compress_task_compress_deflate_set_conf(compress, on_compress, on_compress, 1));
	T_OK(doca_pe_connect_ctx(i->c.pe, doca_compress_as_ctx(compress)));
	T_OK(doca_ctx_start(doca_compress_as_ctx(compress)));
	T_OK(doca_compress_task_compress_deflate_alloc_init(compress, src, dst,
		(union doca_data){ .ptr = NULL }, &task));
	T_IS(doca_task_try_submit(doca_compress_task_compress_deflate_as_task(task)),
		DOCA_ERROR_NOT_SUPPORTED);
	doca_task_free(doca_compress_task_compress_deflate_as_task(task));
	T_OK(doca_ctx_stop(doca_compress_as_ctx(compress)));
	T_OK(doca_compress_destroy(compress));
}

/* behaviour: U6, Z6 */
T_CASE(only_dma_reaches_it)
{
	struct doca_buf *there, *here;
	struct importer i;
	struct exporter e;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	importer_open(&i, &e);
	there = importer_buf(&i, &e, 0, 64, true);
	here = memory_buf(&i.mem, 0, 64, false);
	cannot_hash(&i, there, here);
	cannot_hash(&i, here, there);
	cannot_compress(&i, there, here);
	cannot_compress(&i, here, there);
	free_bufs(there, here);
	importer_close(&i);
	exporter_end(&e);
}

/* behaviour: B9 */
T_CASE(writes_memory_of_a_process_that_sleeps)
{
	struct doca_buf *src, *dst;
	struct importer i;
	struct exporter e;
	size_t k;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	importer_open(&i, &e);
	for (k = 0; k < EXPORT_LEN; k++)
		i.mem.addr[k] = (uint8_t)(k * 3 + k / 257);
	/* All but the first and the last byte. */
	src = memory_buf(&i.mem, 1, EXPORT_LEN - 2, true);
	dst = importer_buf(&i, &e, 1, EXPORT_LEN - 1, false);
	copier_submit(&i.c, src, dst);
	copier_wait(&i.c, 1);
	T_EQ(i.c.nb_done, 1);
	T_EQ(data_len(dst), EXPORT_LEN - 2);
	exporter_do(&e, 'C');
	T_EQ(e.shared->copy[0], exporter_byte(0));
	T_EQ(memcmp(e.shared->copy + 1, i.mem.addr + 1, EXPORT_LEN - 2), 0);
	T_EQ(e.shared->copy[EXPORT_LEN - 1], exporter_byte(EXPORT_LEN - 1));
	free_bufs(src, dst);
	importer_close(&i);
	exporter_end(&e);
}

/* behaviour: B9 */
T_CASE(does_not_write_what_is_read_only)
{
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst;
	struct importer i;
	struct exporter e;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	importer_open(&i, &e);
	memset(i.mem.addr, 0xee, 100);
	src = memory_buf(&i.mem, 0, 100, true);
	dst = importer_buf(&i, &e, 0, 100, false);
	task = copier_task(&i.c, src, dst);
	T_IS(doca_task_try_submit(doca_dma_task_memcpy_as_task(task)), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	copier_wait(&i.c, 1);
	T_EQ(i.c.status, DOCA_ERROR_NOT_PERMITTED);
	free_bufs(src, dst);
	importer_restart(&i);
	importer_reads(&i, &e, 0, 100);
	exporter_do(&e, 'C');
	T_EQ(e.shared->copy[0], exporter_byte(0));
	importer_close(&i);
	exporter_end(&e);
}

/* behaviour: B11 */
T_CASE(range)
{
	struct doca_buf *buf;
	struct importer i;
	struct exporter e;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	importer_open(&i, &e);
	T_INVALID(doca_buf_inventory_buf_get_by_addr(i.mem.inv, i.remote,
		e.shared->addr + EXPORT_LEN - 99, 100, &buf));
	T_INVALID(doca_buf_inventory_buf_get_by_addr(i.mem.inv, i.remote,
		e.shared->addr - 1, 100, &buf));
	importer_close(&i);
	exporter_end(&e);
}

/* Lists of bufs of both processes. behaviour: B3 */
T_CASE(lists)
{
	struct doca_buf *src, *dst, *next;
	struct importer i;
	struct exporter e;
	size_t k;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	importer_open(&i, &e);
	memset(i.mem.addr, 0x11, 1000);
	src = importer_buf(&i, &e, 0, 300000, true);
	next = memory_buf(&i.mem, 0, 1000, true);
	T_OK(doca_buf_chain_list(src, next));
	next = importer_buf(&i, &e, 400000, 5, true);
	T_OK(doca_buf_chain_list(src, next));
	/* To both as well: from the exporter's memory to other bytes of it, too. */
	dst = memory_buf(&i.mem, 10000, 150000, false);
	next = importer_buf(&i, &e, 1000000, 200000, false);
	T_OK(doca_buf_chain_list(dst, next));
	copier_submit(&i.c, src, dst);
	copier_wait(&i.c, 1);
	T_EQ(i.c.nb_done, 1);
	T_EQ(data_len(dst), 150000);
	T_EQ(data_len(next), 151005);
	for (k = 0; k < 150000; k++)
		T_EQ(i.mem.addr[10000 + k], exporter_byte(k));
	exporter_do(&e, 'C');
	for (k = 0; k < 150000; k++)
		T_EQ(e.shared->copy[1000000 + k], exporter_byte(150000 + k));
	for (k = 0; k < 1000; k++)
		T_EQ(e.shared->copy[1150000 + k], 0x11);
	for (k = 0; k < 5; k++)
		T_EQ(e.shared->copy[1151000 + k], exporter_byte(400000 + k));
	T_EQ(e.shared->copy[1151005], exporter_byte(1151005));
	free_bufs(src, dst);
	importer_close(&i);
	exporter_end(&e);
}

/* The exporter's memory and its mmap go. behaviour: B12 */
T_CASE(memory_gone)
{
	struct importer i;
	struct exporter e;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	importer_open(&i, &e);
	importer_reads(&i, &e, 0, 100);
	exporter_do(&e, 'U');
	importer_fails(&i, &e, DOCA_ERROR_IO_FAILED);
	exporter_do(&e, 'S');
	importer_fails(&i, &e, DOCA_ERROR_NOT_CONNECTED);
	exporter_end(&e);
	importer_close(&i);
}

/* behaviour: B12 */
T_CASE(killed)
{
	struct importer i;
	struct exporter e;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	importer_open(&i, &e);
	importer_reads(&i, &e, 0, 100);
	t_proc_kill(&e.proc);
	importer_fails(&i, &e, DOCA_ERROR_NOT_CONNECTED);
	/* And again, where there is no connection any more. */
	importer_fails(&i, &e, DOCA_ERROR_NOT_CONNECTED);
	importer_close(&i);
}

/* behaviour: B12 */
T_CASE(killed_before_the_first_task)
{
	struct importer i;
	struct exporter e;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	t_proc_kill(&e.proc);
	importer_open(&i, &e);
	importer_fails(&i, &e, DOCA_ERROR_NOT_CONNECTED);
	importer_close(&i);
}

/* A task waits for an exporter that is stopped; a stop of the context ends it. behaviour: B12 */
T_CASE(stopped)
{
	struct doca_buf *src, *dst;
	struct importer i;
	struct exporter e;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	importer_open(&i, &e);
	importer_reads(&i, &e, 0, 100);
	i.c.nb_done = 0;
	src = importer_buf(&i, &e, 0, EXPORT_LEN, true);
	dst = memory_buf(&i.mem, 0, EXPORT_LEN, false);
	t_proc_stop(&e.proc);
	copier_submit(&i.c, src, dst);
	T_SETTLE(doca_pe_progress(i.c.pe));
	T_EQ(i.c.nb_done + i.c.nb_errors, 0);
	T_IS(doca_ctx_stop(i.c.ctx), DOCA_ERROR_IN_PROGRESS);
	copier_wait(&i.c, 1);
	T_EQ(i.c.status, DOCA_ERROR_SHUTDOWN);
	T_EQ(data_len(dst), 0);
	importer_restart(&i);
	/* The pieces that it has not answered belong to no task any more; new pieces wait. */
	copier_submit(&i.c, src, dst);
	T_SETTLE(doca_pe_progress(i.c.pe));
	T_EQ(i.c.nb_done + i.c.nb_errors, 0);
	t_proc_signal(&e.proc, SIGCONT);
	copier_wait(&i.c, 1);
	T_EQ(i.c.nb_done, 1);
	free_bufs(src, dst);
	importer_reads(&i, &e, 0, EXPORT_LEN);
	importer_close(&i);
	exporter_end(&e);
}

#define PART 1000
#define MAX_PARTS 50

/* Copies that are under way. */
struct parts {
	struct doca_buf *here[MAX_PARTS], *there[MAX_PARTS];
	unsigned int nb;
};

/* Submit a copy between a part of our memory and one of the exporter's. */
static void
submit_part(struct parts *p, struct importer *i, const struct exporter *e, size_t here,
		size_t there, bool is_write)
{
	p->here[p->nb] = memory_buf(&i->mem, here * PART, PART, is_write);
	p->there[p->nb] = importer_buf(i, e, there * PART, PART, !is_write);
	if (is_write)
		copier_submit(&i->c, p->here[p->nb], p->there[p->nb]);
	else
		copier_submit(&i->c, p->there[p->nb], p->here[p->nb]);
	p->nb++;
}

static void
free_parts(struct parts *p)
{
	for (; p->nb > 0; p->nb--)
		free_bufs(p->here[p->nb - 1], p->there[p->nb - 1]);
}

/* Import it, with a connection that is up, and stop the exporter. */
static void
open_and_stop(struct importer *i, struct exporter *e)
{
	exporter_start(e, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	importer_open(i, e);
	importer_reads(i, e, 0, 100);
	i->c.nb_done = 0;
	t_proc_stop(&e->proc);
}

/* Tasks wait for the exporter, and are done when it goes on. */
static void
go_on(struct importer *i, struct exporter *e, unsigned int nb_tasks)
{
	T_SETTLE(doca_pe_progress(i->c.pe));
	T_EQ(i->c.nb_done + i->c.nb_errors, 0);
	t_proc_signal(&e->proc, SIGCONT);
	copier_wait(&i->c, nb_tasks);
	T_EQ(i->c.nb_done, nb_tasks);
}

/* Tasks that are under way together append to one buffer. behaviour: B2 */
T_CASE(one_appends_to_another)
{
	struct doca_buf *first, *second, *dst;
	struct importer i;
	struct exporter e;
	size_t k;

	open_and_stop(&i, &e);
	memset(i.mem.addr, 0x11, 3 * PART);
	first = importer_buf(&i, &e, 0, PART, true);
	second = importer_buf(&i, &e, 5 * PART, PART, true);
	dst = memory_buf(&i.mem, 0, 3 * PART, false);
	copier_submit(&i.c, first, dst);
	copier_submit(&i.c, second, dst);
	go_on(&i, &e, 2);
	T_EQ(data_len(dst), 2 * PART);
	for (k = 0; k < PART; k++) {
		T_EQ(i.mem.addr[k], exporter_byte(k));
		T_EQ(i.mem.addr[PART + k], exporter_byte(5 * PART + k));
		T_EQ(i.mem.addr[2 * PART + k], 0x11);
	}
	free_bufs(first, second);
	T_OK(doca_buf_dec_refcount(dst, NULL));
	importer_close(&i);
	exporter_end(&e);
}

/* What a task reads, one behind it may write. */
T_CASE(one_writes_what_another_reads)
{
	struct parts p = { .nb = 0 };
	struct importer i;
	struct exporter e;
	size_t k;

	open_and_stop(&i, &e);
	memset(i.mem.addr, 0x11, PART);
	submit_part(&p, &i, &e, 0, 0, false);
	submit_part(&p, &i, &e, 0, 5, true);
	go_on(&i, &e, 2);
	exporter_do(&e, 'C');
	for (k = 0; k < PART; k++)
		T_EQ(e.shared->copy[5 * PART + k], exporter_byte(k));
	free_parts(&p);
	importer_close(&i);
	exporter_end(&e);
}

/* More than can be under way, of several pieces, in both directions: all are done. */
T_CASE(many_tasks)
{
	struct parts p = { .nb = 0 };
	struct doca_buf *src, *dst;
	struct importer i;
	struct exporter e;
	size_t k;

	exporter_start(&e, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	importer_open(&i, &e);
	memset(i.mem.addr, 0x11, EXPORT_LEN);
	for (k = 0; k < 40; k++)
		submit_part(&p, &i, &e, k, k, k % 5 == 4);
	src = importer_buf(&i, &e, 50 * PART, 3000000, true);
	dst = memory_buf(&i.mem, 50 * PART, 3000000, false);
	copier_submit(&i.c, src, dst);
	copier_wait(&i.c, 41);
	T_EQ(i.c.nb_done, 41);
	exporter_do(&e, 'C');
	for (k = 0; k < 40 * PART; k++) {
		T_EQ(i.mem.addr[k], k / PART % 5 == 4 ? 0x11 : exporter_byte(k));
		T_EQ(e.shared->copy[k], i.mem.addr[k]);
	}
	for (k = 50 * PART; k < 50 * PART + 3000000; k++)
		T_EQ(i.mem.addr[k], exporter_byte(k));
	free_bufs(src, dst);
	free_parts(&p);
	importer_close(&i);
	exporter_end(&e);
}

/* The first fails, and those behind it end as well. */
T_CASE(first_of_many_fails)
{
	struct parts p = { .nb = 0 };
	struct importer i;
	struct exporter e;
	size_t k;

	open_and_stop(&i, &e);
	for (k = 0; k < 12; k++)
		submit_part(&p, &i, &e, k, k, k > 6);
	T_SETTLE(doca_pe_progress(i.c.pe));
	t_proc_kill(&e.proc);
	copier_wait(&i.c, 12);
	T_EQ(i.c.nb_errors, 12);
	T_IS(i.c.status, DOCA_ERROR_SHUTDOWN);
	free_parts(&p);
	importer_restart(&i);
	importer_fails(&i, &e, DOCA_ERROR_NOT_CONNECTED);
	importer_close(&i);
}
