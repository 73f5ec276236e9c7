/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_ACCEL_SHA_H
#define IMPL_ACCEL_SHA_H

/*
 * Digests: what tasks and the jobs until DOCA 2.2 share. A message is a task's own, or that of a
 * session, which has one job after another; the thread of their engine, or queue, works on it. A
 * crypto device can have a task's message, if that is whole.
 */

#include <stdbool.h>
#include <stdint.h>

#include <openssl/types.h>

#include <doca_sha.h>

#include "accel/accel.h"
#include "accel/hash_dev.h"
#include "accel/list.h"

enum impl_sha_kind {
	IMPL_SHA_HASH,
	IMPL_SHA_PARTIAL,
};

/* Those of enum doca_sha_algorithm. */
#define IMPL_SHA_ALGORITHMS 3

struct doca_sha {
	struct impl_accel accel;
	EVP_MD *mds[IMPL_SHA_ALGORITHMS]; /* NULL: not in this configuration of libcrypto */
	struct impl_hash_dev hash_dev;    /* while it runs */
};

/* A message, of which some parts may have been hashed. */
struct impl_sha_message {
	EVP_MD_CTX *md;
	bool has_begun;
	uint8_t algorithm; /* then: of its parts */
};

struct impl_sha_task {
	struct impl_accel_task base;
	uint8_t algorithm;
	bool is_final;
	bool is_done;
	struct impl_sha_message own;
	struct impl_sha_message *message; /* its own, or a session's */
	struct impl_place place;
	struct impl_dev_hash by_dev;
};

/* Once for all messages of a task, or a session. md is NULL if there is no memory for it. */
struct impl_sha_message impl_sha_message_create(void);
void impl_sha_message_destroy(struct impl_sha_message *message);

doca_error_t impl_sha_admit(const struct impl_accel_task *task);
doca_error_t impl_sha_partial_admit(const struct impl_accel_task *task);
doca_error_t impl_sha_check(const struct impl_accel_task *task);
doca_error_t impl_sha_begin(struct impl_accel_task *task);
doca_error_t impl_sha_run(struct impl_accel_task *task);
void impl_sha_end(struct impl_accel_task *task);
bool impl_sha_suits_worker(const struct impl_accel_task *task);

/* A kind, with what admits, begins and ends a task of it. */
#define IMPL_SHA_KIND(admit_fn, begin_fn, end_fn) \
	.admit = admit_fn, \
	.check = impl_sha_check, \
	.begin = begin_fn, \
	.run = impl_sha_run, \
	.end = end_fn, \
	.suits_worker = impl_sha_suits_worker

/* Whether devices have an algorithm: libcrypto has it. */
doca_error_t impl_sha_get_supported(const struct doca_devinfo *devinfo,
		enum doca_sha_algorithm algorithm);

/* The algorithms that libcrypto has, into a new object. */
struct doca_sha *impl_sha_with_algorithms(struct impl_accel *accel);
void impl_sha_task_put(struct doca_task *task);
doca_error_t impl_sha_start(struct doca_ctx *ctx);
void impl_sha_release(struct doca_ctx *ctx);
void impl_sha_fini(struct doca_ctx *ctx);

#define IMPL_SHA_OPS \
	IMPL_ACCEL_CTX_OPS(impl_sha_start, impl_sha_release, impl_sha_task_put, impl_sha_fini), \
	.name = "SHA", \
	.task_size = sizeof(struct impl_sha_task)

static inline struct impl_sha_task *
impl_sha_task_of(struct impl_accel_task *task)
{
	return (struct impl_sha_task *)task;
}

#endif /* IMPL_ACCEL_SHA_H */
