/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ACCEL_WORKER_H
#define ACCEL_WORKER_H

/* What a program until DOCA 2.2 has around an accelerator: a work queue, and two buffers. */

#include <stddef.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>

struct worker {
	struct doca_dev *dev;
	struct doca_ctx *ctx;
	struct doca_workq *workq;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inv; /* of WORKER_BUFS */
	struct doca_buf *in, *out;      /* a half of the memory each, without data */
	uint8_t *mem;                   /* twice len, zeros */
	size_t len;
};

#define WORKER_BUFS 9

/* A device for the context, which has been created, and a queue of that depth. */
void worker_create(struct worker *w, struct doca_ctx *ctx, size_t len, uint32_t depth);
/* Add them to the context, and start it. */
void worker_start(struct worker *w);
/* In the order of the programs, which then destroy what the context is of. */
void worker_close(struct worker *w);

/* The event of the next job that is done, which is of that type. */
doca_error_t worker_retrieve(struct worker *w, int type, struct doca_event *event);

#endif /* ACCEL_WORKER_H */
