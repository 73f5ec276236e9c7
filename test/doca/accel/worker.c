/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>
#include <string.h>

#include "accel/worker.h"
#include "common/result.h"
#include "t_main.h"

void
worker_create(struct worker *w, struct doca_ctx *ctx, size_t len, uint32_t depth)
{
	struct doca_devinfo **list;
	uint32_t nb;

	memset(w, 0, sizeof(*w));
	w->ctx = ctx;
	w->len = len;
	w->mem = calloc(2, len);
	T_CHECK(w->mem != NULL);
	T_OK(doca_devinfo_list_create(&list, &nb));
	T_OK(doca_dev_open(list[0], &w->dev));
	T_OK(doca_devinfo_list_destroy(list));
	T_OK(doca_mmap_create(NULL, &w->mmap));
	T_OK(doca_mmap_dev_add(w->mmap, w->dev));
	T_OK(doca_mmap_set_memrange(w->mmap, w->mem, 2 * len));
	T_OK(doca_mmap_start(w->mmap));
	T_OK(doca_buf_inventory_create(NULL, WORKER_BUFS, DOCA_BUF_EXTENSION_NONE, &w->inv));
	T_OK(doca_buf_inventory_start(w->inv));
	T_OK(doca_buf_inventory_buf_by_addr(w->inv, w->mmap, w->mem, len, &w->in));
	T_OK(doca_buf_inventory_buf_by_addr(w->inv, w->mmap, w->mem + len, len, &w->out));
	T_OK(doca_workq_create(depth, &w->workq));
}

void
worker_start(struct worker *w)
{
	T_OK(doca_ctx_dev_add(w->ctx, w->dev));
	T_OK(doca_ctx_start(w->ctx));
	T_OK(doca_ctx_workq_add(w->ctx, w->workq));
}

void
worker_close(struct worker *w)
{
	T_OK(doca_ctx_workq_rm(w->ctx, w->workq));
	T_OK(doca_buf_refcount_rm(w->in, NULL));
	T_OK(doca_buf_refcount_rm(w->out, NULL));
	T_OK(doca_workq_destroy(w->workq));
	T_OK(doca_buf_inventory_destroy(w->inv));
	T_OK(doca_mmap_destroy(w->mmap));
	T_OK(doca_ctx_stop(w->ctx));
	T_OK(doca_ctx_dev_rm(w->ctx, w->dev));
	T_OK(doca_dev_close(w->dev));
	free(w->mem);
}

doca_error_t
worker_retrieve(struct worker *w, int type, struct doca_event *event)
{
	doca_error_t ret;

	T_WAIT(0, (ret = doca_workq_progress_retrieve(w->workq, event,
		DOCA_WORKQ_RETRIEVE_FLAGS_NONE)) != DOCA_ERROR_AGAIN);
	T_EQ(event->type, type);
	return ret;
}
