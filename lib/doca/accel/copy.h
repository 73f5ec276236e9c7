/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_ACCEL_COPY_H
#define IMPL_ACCEL_COPY_H

/*
 * A copy between lists of buffers, of this process or of the other side, a piece at a time.
 * Several pieces of the other side's memory are under way at once, so that both processes copy.
 * A DMA device can copy what is of this process.
 */

#include "accel/copy_dev.h"
#include "accel/list.h"

struct impl_copy {
	const struct doca_buf *src;
	struct doca_buf *dst;
	struct impl_place from, to;  /* what is not started yet */
	size_t len;                  /* started */
	/* Of the other side's memory, under way: a ring. */
	struct rte_comch_piece pieces[RTE_COMCH_MAX_PIECES];
	uint8_t first, nb;
	/* From one remote memory to another one: read into a buffer, then written from it. */
	bool is_relayed;             /* the piece under way is read, and then */
	struct rte_comch_piece next; /* this one is written */
	uint8_t *buffer;             /* NULL: not needed so far */
	struct impl_dev_copies by_dev;
};

void impl_copy_begin(struct impl_copy *copy, const struct doca_buf *src, struct doca_buf *dst,
		struct impl_offload *dev);
/* Go on, by as many bytes of this process. DOCA_ERROR_IN_PROGRESS: there is more to do. */
doca_error_t impl_copy_run(struct impl_copy *copy, size_t *budget);
/* Have done with it; what is under way is dropped. */
void impl_copy_end(struct impl_copy *copy);

#endif /* IMPL_ACCEL_COPY_H */
