/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_ACCEL_DEFLATE_DEV_H
#define IMPL_ACCEL_DEFLATE_DEV_H

/*
 * Deflate, both ways, by a compression device of EAL (rte_compressdev). The checksums are the
 * core's. If the device reports an error, of corrupt data for instance, the core does the task
 * again, so that it ends as it does without a device.
 */

#include "accel/list.h"
#include "accel/offload.h"

struct rte_comp_op;

/* What a context has of it. */
struct impl_deflate_dev {
	struct impl_offload offload;
	struct rte_mempool *ops, *chains;
	size_t max;    /* bytes of a source, and of a result */
	bool has[2];   /* compression; decompression */
	uint8_t guard; /* bytes behind a source that is decompressed */
};

/* As impl_offload_open(). */
doca_error_t impl_deflate_dev_open(struct impl_deflate_dev *dev, const struct doca_ctx *ctx);
void impl_deflate_dev_close(struct impl_deflate_dev *dev);
/* Whether it does that, with so much of a source. */
bool impl_deflate_dev_wants(const struct impl_deflate_dev *dev, bool is_inflate, size_t len);

/* A source, and its result. */
struct impl_dev_deflate {
	struct impl_deflate_dev *dev; /* NULL: it is the core's, and the rest is nothing */
	struct rte_comp_op *op;
	void *xform;
	int queue;
	size_t len;                /* of the source */
	bool is_inflate;
	bool is_done;              /* the device is */
};

/*
 * Start the device on a source that it wants; *room* is the most that the result may have, bytes.
 * False: the core is to do it.
 */
bool impl_dev_deflate_begin(struct impl_dev_deflate *d, struct impl_deflate_dev *dev,
		bool is_inflate, const struct doca_buf *src, size_t room);
/*
 * DOCA_SUCCESS; DOCA_ERROR_IN_PROGRESS. DOCA_ERROR_TOO_BIG: there was no room for the result.
 * DOCA_ERROR_IO_FAILED: the device has failed.
 */
doca_error_t impl_dev_deflate_poll(struct impl_dev_deflate *d);
/* Once that was DOCA_SUCCESS, until the end: the source, and a chain that the result begins. */
const struct rte_mbuf *impl_dev_deflate_source(const struct impl_dev_deflate *d);
const struct rte_mbuf *impl_dev_deflate_result(const struct impl_dev_deflate *d, size_t *len);
/* Have done with it. Waits for the device, which cannot be called off. */
void impl_dev_deflate_end(struct impl_dev_deflate *d);

#endif /* IMPL_ACCEL_DEFLATE_DEV_H */
