/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_ACCEL_COMPRESS_H
#define IMPL_ACCEL_COMPRESS_H

/*
 * DOCA Compress: compress.c has its objects and tasks, deflate.c and lz4.c the formats, and
 * deflate_dev.c what a device does instead of deflate.c.
 *
 * The source may be memory that a peer writes to meanwhile (what it has sent): what is looked at
 * twice, such as blocks of LZ4, is copied first.
 *
 * Threads: that of the engine; of jobs, that of their queue.
 */

#include "accel/accel.h"
#include "accel/deflate_dev.h"
#include "accel/list.h"

/* What an algorithm works with, which is kept for the next task. */
enum impl_compress_state {
	IMPL_DEFLATE,
	IMPL_INFLATE,
	IMPL_LZ4,
};

struct doca_compress {
	struct impl_accel accel;
	void *idle[3]; /* by enum impl_compress_state; NULL: none; atomic */
	struct impl_deflate_dev deflate_dev; /* while it runs */
};

struct impl_compress_task {
	struct impl_accel_task base;
	bool has_block_checksum, is_linked; /* of an LZ4 stream */
	uint32_t crc, adler, xxh;    /* of what is done so far */
	uint64_t *both_out;          /* a job's: NULL, or for both checksums of deflate */
	struct impl_place place;     /* of the source */
	uint8_t *out;                /* where the result begins */
	size_t room, len;            /* for it, and of it so far */
	struct impl_dev_deflate by_dev;
	bool dev_has_failed;         /* and the core is to do it */
	bool is_on_core;             /* it has one of these: */
	union {
		struct impl_zstream *zstream; /* of deflate */
		struct impl_lz4 *lz4;
	};
};

static inline struct impl_compress_task *
impl_compress_task_of(struct impl_accel_task *task)
{
	return (struct impl_compress_task *)task;
}

static inline struct doca_compress *
impl_compress_of(const struct impl_compress_task *task)
{
	return (struct doca_compress *)task->base.task.ctx;
}

/*
 * Exchange the state that waits for the next task. Jobs may be of several threads, one for each
 * queue: acquire and release pair with those of the other threads here.
 */
static inline void *
impl_compress_exchange_idle(struct impl_compress_task *task, enum impl_compress_state which,
		void *state)
{
	return __atomic_exchange_n(&impl_compress_of(task)->idle[which], state, __ATOMIC_ACQ_REL);
}

/* Kinds of tasks. */
enum impl_compress_kind {
	IMPL_COMPRESS_DEFLATE,
	IMPL_DECOMPRESS_DEFLATE,
	IMPL_DECOMPRESS_LZ4_STREAM,
	IMPL_DECOMPRESS_LZ4_BLOCK,
	IMPL_COMPRESS_KINDS,
};

/* What a kind does, from where compress.c has filled in `place`, `out` and `room`. */
struct impl_compress_format {
	doca_error_t (*begin)(struct impl_accel_task *task);
	/* It leaves the result's length in `len`. */
	doca_error_t (*run)(struct impl_accel_task *task);
	void (*end)(struct impl_accel_task *task);
};

extern const struct impl_compress_format impl_compress_formats[IMPL_COMPRESS_KINDS];

/* What the last tasks have left, at the end. */
void impl_compress_free_idle(struct doca_compress *compress);

/* deflate.c */
/* Add to the checksums of a task; they begin with 0 and 1. */
void impl_deflate_checksum(struct impl_compress_task *t, const uint8_t *data, size_t len);
doca_error_t impl_deflate_begin(struct impl_accel_task *task);
doca_error_t impl_deflate_run(struct impl_accel_task *task);
doca_error_t impl_inflate_begin(struct impl_accel_task *task);
doca_error_t impl_inflate_run(struct impl_accel_task *task);
void impl_zstream_end(struct impl_accel_task *task);
void impl_zstream_free(struct impl_zstream *zstream);

/* lz4.c */
doca_error_t impl_lz4_begin(struct impl_accel_task *task);
doca_error_t impl_lz4_stream_run(struct impl_accel_task *task);
doca_error_t impl_lz4_block_run(struct impl_accel_task *task);
void impl_lz4_end(struct impl_accel_task *task);
void impl_lz4_free(struct impl_lz4 *lz4);

#endif /* IMPL_ACCEL_COMPRESS_H */
