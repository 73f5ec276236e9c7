/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_ACCEL_HASH_DEV_H
#define IMPL_ACCEL_HASH_DEV_H

/*
 * Digests by a crypto device of EAL (rte_cryptodev): of whole messages, since these devices have no
 * messages in parts.
 */

#include <doca_sha.h>

#include "accel/list.h"
#include "accel/offload.h"

struct rte_crypto_op;

/* What a context has of it. */
struct impl_hash_dev {
	struct impl_offload offload;
	struct rte_mempool *ops, *sessions, *chains;
	size_t max;          /* bytes of a message */
	uint32_t algorithms; /* bit mask of enum doca_sha_algorithm */
};

/* As impl_offload_open(). */
doca_error_t impl_hash_dev_open(struct impl_hash_dev *dev, const struct doca_ctx *ctx);
void impl_hash_dev_close(struct impl_hash_dev *dev);
/* Whether it has an algorithm, for messages of that length. */
bool impl_hash_dev_wants(const struct impl_hash_dev *dev, unsigned int algorithm, size_t len);

/* A digest. */
struct impl_dev_hash {
	struct impl_hash_dev *dev; /* NULL: the core computes it, and the rest is nothing */
	struct rte_crypto_op *op;
	void *session;
	int queue;
	size_t len;                /* of the message */
	bool is_done;              /* the device is */
};

/* Start the device on a message that it wants. False: the core is to do it. */
bool impl_dev_hash_begin(struct impl_dev_hash *h, struct impl_hash_dev *dev,
		unsigned int algorithm, const struct doca_buf *src);
/*
 * DOCA_SUCCESS: *digest points to it until the end. DOCA_ERROR_IN_PROGRESS. DOCA_ERROR_IO_FAILED:
 * the device has failed.
 */
doca_error_t impl_dev_hash_poll(struct impl_dev_hash *h, const uint8_t **digest);
/* Have done with it. Waits for the device, which cannot be called off. */
void impl_dev_hash_end(struct impl_dev_hash *h);

#endif /* IMPL_ACCEL_HASH_DEV_H */
