/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <string.h>

#include <rte_common.h>

#include "accel/copier.h"

static void
ends(struct copier *c, struct doca_dma_task_memcpy *task)
{
	c->status = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
	if (c->hook != NULL)
		c->hook(c, task);
	else if (!c->keep_tasks)
		doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void
on_done(struct doca_dma_task_memcpy *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct copier *c = ctx_data.ptr;

	T_CHECK(task_data.ptr == c);
	T_OK(doca_task_get_status(doca_dma_task_memcpy_as_task(task)));
	c->nb_done++;
	ends(c, task);
}

static void
on_error(struct doca_dma_task_memcpy *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct copier *c = ctx_data.ptr;

	T_CHECK(task_data.ptr == c);
	c->nb_errors++;
	ends(c, task);
	T_NE(c->status, DOCA_SUCCESS);
}

void
copier_create(struct copier *c, const char *role, const char *pci)
{
	unsigned int i;

	memset(c, 0, sizeof(*c));
	c->dev = dev_open(role, pci);
	T_OK(doca_dma_create(c->dev, &c->dma));
	c->ctx = doca_dma_as_ctx(c->dma);
	T_OK(doca_pe_create(&c->pe));
	T_OK(doca_pe_connect_ctx(c->pe, c->ctx));
	T_OK(doca_ctx_set_user_data(c->ctx, (union doca_data){ .ptr = c }));
	T_OK(doca_ctx_set_state_changed_cb(c->ctx, state_log_note));
	T_OK(doca_dma_task_memcpy_set_conf(c->dma, on_done, on_error, COPIER_TASKS));
	memory_create_new(&c->src, c->dev, COPIER_SIZE);
	memory_create_new(&c->dst, c->dev, COPIER_SIZE);
	for (i = 0; i < COPIER_SIZE; i++)
		c->src.addr[i] = copier_byte(i);
}

void
copier_open(struct copier *c)
{
	copier_create(c, "dpu", "03:00.0");
	T_OK(doca_ctx_start(c->ctx));
	T_CHECK(ctx_is_running(c->ctx));
}

void
copier_close(struct copier *c)
{
	doca_error_t ret = doca_ctx_stop(c->ctx);

	if (ret != DOCA_SUCCESS)
		T_IS(ret, DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(c->pe), ctx_is_idle(c->ctx));
	/* In the order of the programs: the memory last. */
	T_OK(doca_dma_destroy(c->dma));
	T_OK(doca_pe_destroy(c->pe));
	memory_destroy(&c->src);
	memory_destroy(&c->dst);
	T_OK(doca_dev_close(c->dev));
	T_OK(doca_dev_close(NULL));
}

struct doca_dma_task_memcpy *
copier_task(struct copier *c, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_dma_task_memcpy *task;

	T_OK(doca_dma_task_memcpy_alloc_init(c->dma, src, dst, (union doca_data){ .ptr = c },
		&task));
	return task;
}

struct doca_dma_task_memcpy *
copier_submit(struct copier *c, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_dma_task_memcpy *task = copier_task(c, src, dst);

	T_OK(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	return task;
}

void
copier_wait(struct copier *c, unsigned int nb)
{
	T_WAIT(doca_pe_progress(c->pe), c->nb_done + c->nb_errors >= nb);
	T_EQ(c->nb_done + c->nb_errors, nb);
}

size_t
data_len(const struct doca_buf *buf)
{
	size_t len;

	T_OK(doca_buf_get_data_len(buf, &len));
	return len;
}

void
free_bufs(struct doca_buf *a, struct doca_buf *b)
{
	T_OK(doca_buf_dec_refcount(a, NULL));
	T_OK(doca_buf_dec_refcount(b, NULL));
}
