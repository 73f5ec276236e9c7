/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ACCEL_HASHER_H
#define ACCEL_HASHER_H

/* A DOCA SHA object for tests, with a message and room for its digest. */

#include <doca_pe.h>
#include <doca_sha.h>

#include "common/context.h"
#include "common/device.h"
#include "common/memory.h"
#include "common/result.h"

#define HASHER_SIZE (64 * 1024)
#define HASHER_MAX_DIGEST 64

struct hasher {
	struct state_log states; /* first */
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_sha *sha;
	struct doca_ctx *ctx;
	struct memory src, dst;
	struct doca_buf *in, *out;
	unsigned int nb_done, nb_errors;
	doca_error_t status;
	/* Of a message that goes on in its callback. */
	size_t part, off, len;
};

#define HASHER_CASE(name) T_CASE_OF(struct hasher, hasher_open, hasher_close, name, h)

/* Callbacks, for both ends of a task. */
void hasher_on_hash(struct doca_sha_task_hash *task, union doca_data task_data,
		union doca_data ctx_data);
void hasher_on_part(struct doca_sha_task_partial_hash *task, union doca_data task_data,
		union doca_data ctx_data);

/* Not started, and without tasks. */
void hasher_create(struct hasher *h);
/* Started, with tasks of both kinds. */
void hasher_open(struct hasher *h);
/* Stop it, if it runs, and destroy it all. */
void hasher_close(struct hasher *h);

/* A task, not submitted. */
struct doca_sha_task_hash *hasher_task(struct hasher *h, enum doca_sha_algorithm algorithm);
struct doca_sha_task_partial_hash *hasher_part(struct hasher *h,
		enum doca_sha_algorithm algorithm, struct doca_buf *out);
/* Submit the next part of h->len bytes at h->off. */
void hasher_next_part(struct hasher *h, struct doca_sha_task_partial_hash *task);
/* Until as many are done, none with an error. */
void hasher_wait(struct hasher *h, unsigned int nb);
/* The digest of the first bytes of the source, in hexadecimal digits. */
const char *hasher_hash(struct hasher *h, enum doca_sha_algorithm algorithm, size_t len);
/* What the data of a buffer is, in these digits. */
const char *hasher_hex(const struct doca_buf *buf);

#endif /* ACCEL_HASHER_H */
