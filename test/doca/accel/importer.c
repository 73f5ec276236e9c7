/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <string.h>

#include "accel/importer.h"
#include "t_main.h"

void
importer_open(struct importer *i, const struct exporter *e)
{
	copier_open(&i->c);
	memory_create_new(&i->mem, i->c.dev, EXPORT_LEN);
	i->remote = exporter_import(e, i->c.dev);
}

void
importer_close(struct importer *i)
{
	T_OK(doca_mmap_destroy(i->remote));
	memory_destroy(&i->mem);
	copier_close(&i->c);
}

struct doca_buf *
importer_buf(struct importer *i, const struct exporter *e, size_t off, size_t len, bool data)
{
	struct doca_buf *buf;
	void *got;

	if (data)
		T_OK(doca_buf_inventory_buf_get_by_data(i->mem.inv, i->remote,
			e->shared->addr + off, len, &buf));
	else
		T_OK(doca_buf_inventory_buf_get_by_addr(i->mem.inv, i->remote,
			e->shared->addr + off, len, &buf));
	T_OK(doca_buf_get_head(buf, &got));
	T_CHECK(got == e->shared->addr + off);
	return buf;
}

void
importer_reads(struct importer *i, const struct exporter *e, size_t off, size_t len)
{
	struct doca_buf *src = importer_buf(i, e, off, len, true);
	struct doca_buf *dst = memory_buf(&i->mem, 0, len, false);
	unsigned int nb = i->c.nb_done;
	size_t k;

	memset(i->mem.addr, 0, len);
	copier_submit(&i->c, src, dst);
	T_WAIT(doca_pe_progress(i->c.pe), i->c.nb_done > nb || i->c.nb_errors > 0);
	T_EQ(i->c.nb_errors, 0);
	T_EQ(data_len(dst), len);
	for (k = 0; k < len; k++)
		if (i->mem.addr[k] != exporter_byte(off + k))
			T_FAIL("byte %zu of %zu at %zu", k, len, off);
	free_bufs(src, dst);
}

void
importer_restart(struct importer *i)
{
	T_WAIT(doca_pe_progress(i->c.pe), ctx_is_idle(i->c.ctx));
	memset(&i->c.states, 0, sizeof(i->c.states));
	i->c.nb_errors = i->c.nb_done = 0;
	T_OK(doca_ctx_start(i->c.ctx));
}

void
importer_fails(struct importer *i, const struct exporter *e, doca_error_t error)
{
	struct doca_buf *src = importer_buf(i, e, 0, 100, true);
	struct doca_buf *dst = memory_buf(&i->mem, 0, 100, false);

	i->c.nb_errors = i->c.nb_done = 0;
	copier_submit(&i->c, src, dst);
	copier_wait(&i->c, 1);
	T_EQ(i->c.nb_errors, 1);
	T_IS(i->c.status, error);
	T_EQ(data_len(dst), 0);
	free_bufs(src, dst);
	importer_restart(i);
}
