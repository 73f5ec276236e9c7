/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ACCEL_COPIER_H
#define ACCEL_COPIER_H

/* A DMA object for tests: it counts what happens to it. */

#include <doca_dma.h>
#include <doca_pe.h>

#include "common/context.h"
#include "common/device.h"
#include "common/memory.h"
#include "common/result.h"

#define COPIER_TASKS 256
#define COPIER_SIZE 8192

struct copier {
	struct state_log states; /* first */
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	struct memory src, dst;  /* of COPIER_SIZE bytes; those of src count up */
	unsigned int nb_done, nb_errors;
	doca_error_t status;     /* of the last */
	bool keep_tasks;
	void (*hook)(struct copier *c, struct doca_dma_task_memcpy *task);
};

/* Byte i of its source. */
static inline uint8_t
copier_byte(size_t i)
{
	return (uint8_t)(i + i / 251);
}

/* On the device of a role; not started. */
void copier_create(struct copier *c, const char *role, const char *pci);
/* The same on the DPU, started, with one engine. */
void copier_open(struct copier *c);
/* Stop it, if it runs, and destroy it all. */
void copier_close(struct copier *c);
/* A task, not submitted. */
struct doca_dma_task_memcpy *copier_task(struct copier *c, const struct doca_buf *src,
		struct doca_buf *dst);
/* Submit a copy; it is freed when it has completed, unless keep_tasks. */
struct doca_dma_task_memcpy *copier_submit(struct copier *c, const struct doca_buf *src,
		struct doca_buf *dst);
/* Until as many have completed, with or without errors. */
void copier_wait(struct copier *c, unsigned int nb);
size_t data_len(const struct doca_buf *buf);
/* Release the source and the destination of a test. */
void free_bufs(struct doca_buf *a, struct doca_buf *b);

#endif /* ACCEL_COPIER_H */
