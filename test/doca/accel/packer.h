/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ACCEL_PACKER_H
#define ACCEL_PACKER_H

/* A DOCA Compress object for tests, with a source and a destination. */

#include <doca_compress.h>
#include <doca_pe.h>

#include "common/context.h"
#include "common/device.h"
#include "common/memory.h"
#include "common/result.h"

#define PACKER_SIZE (4 * 1024 * 1024)
/* Of each task. */
#define USER_DATA ((union doca_data){ .u64 = 5 })

struct packer {
	struct state_log states;      /* first */
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_compress *compress;
	struct doca_ctx *ctx;
	struct memory src, dst;       /* of PACKER_SIZE bytes */
	struct doca_buf *in, *out;
	unsigned int nb_done, nb_errors;
	bool keep_tasks;              /* else each is freed when it has completed */
	doca_error_t status;          /* of the last */
	uint32_t crc, adler, xxh;     /* its checksums */
};

#define PACKER_CASE(name) T_CASE_OF(struct packer, packer_open, packer_close, name, p)

/* Not started, and without tasks. */
void packer_create(struct packer *p);
/* Started, with tasks of all kinds. */
void packer_open(struct packer *p);
/* Stop it, if it runs, and destroy it all. */
void packer_close(struct packer *p);

/* The first bytes of the source are what to work on, and the destination is empty. */
void packer_set_source(struct packer *p, const void *data, size_t len);
/* The same of a frame of LZ4: what a task gets of it. Returns the checksum of its content. */
uint32_t packer_set_frame(struct packer *p, const uint8_t *data, size_t len, bool has_checksums,
		bool is_independent);
/* The destination has so much room only. */
void packer_set_room(struct packer *p, size_t room);
size_t packer_out_len(const struct packer *p);

/* A task, not submitted. */
struct doca_task *packer_compress(struct packer *p);
struct doca_task *packer_decompress(struct packer *p);
struct doca_task *packer_stream(struct packer *p, bool has_checksums, bool is_independent);
struct doca_task *packer_block(struct packer *p);
/* Submit it and wait. Returns its status. */
doca_error_t packer_finish(struct packer *p, struct doca_task *task);
/* It fails so, and nothing is written beyond the room; the context goes on after a start. */
void packer_fails(struct packer *p, struct doca_task *task, size_t room, doca_error_t expected);
/* Compress the source's first bytes, and see that zlib gets them back. Returns the new length. */
size_t packer_compresses(struct packer *p, size_t len);

/* By zlib, without a header and a trailer. Returns the length of the result. */
size_t zlib_pack(const void *data, size_t len, void *to, size_t room, int level);
size_t zlib_unpack(const void *data, size_t len, void *to, size_t room);

/* Bytes that compress to half or so. What t_fill() writes does not get less. */
void fill_half(uint8_t *to, size_t len);

#endif /* ACCEL_PACKER_H */
