/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_ACCEL_COPY_DEV_H
#define IMPL_ACCEL_COPY_DEV_H

/*
 * Copies by a DMA device of EAL. If the device does not make one of a task's copies, of memory
 * that is swapped out for instance, the core copies all of the task again.
 */

#include "accel/offload.h"

doca_error_t impl_copy_dev_open(struct impl_offload *dev, const struct doca_ctx *ctx);

/* The copies of a task. */
struct impl_dev_copies {
	struct impl_offload *dev;
	int16_t id;
	int queue;        /* negative: the core copies */
	uint16_t nb;      /* in flight */
	size_t bytes;     /* started */
};

/* Begin a task that copies so much. */
void impl_dev_copies_begin(struct impl_dev_copies *c, struct impl_offload *dev, size_t len);
/* Whether the device is to make a copy of that length. */
bool impl_dev_copies_wants(const struct impl_dev_copies *c, size_t len);
/*
 * Start to copy the first bytes; their number is in *n. DOCA_ERROR_AGAIN: when others are done.
 * DOCA_ERROR_IO_FAILED: it does not.
 */
doca_error_t impl_dev_copies_start(struct impl_dev_copies *c, void *dst, const void *src,
		size_t len, size_t *n);
/* Take those that are done. DOCA_ERROR_IN_PROGRESS: some are not. DOCA_ERROR_IO_FAILED: of one. */
doca_error_t impl_dev_copies_poll(struct impl_dev_copies *c);
/* Have done with them. Waits for those in flight, which cannot be called off. */
void impl_dev_copies_end(struct impl_dev_copies *c);
/* The same, since one has failed: none counts, and the core is to copy. */
void impl_dev_copies_fail(struct impl_dev_copies *c);

#endif /* IMPL_ACCEL_COPY_DEV_H */
