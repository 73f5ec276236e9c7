/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * main() of comch-perf-floor-library, which measures the libraries beneath DOCA SHA and DOCA
 * Compress, called directly by one thread: libcrypto, zlib and liblz4. Their state is kept from one
 * call to the next. Sizes are those of what is not compressed.
 */

#include <stdlib.h>

#include <lz4.h>
#include <openssl/evp.h>
#include <zlib.h>

#include <rte_common.h>

#include "base/sample.h"
#include "base/window.h"
#include "floor/floor.h"

#define PROGRAM "comch-perf-floor-library"
/* Bytes between two looks at the clock. */
#define PER_LOOK (64 * 1024)

struct job {
	size_t size, packed_len, room;
	uint8_t *data, *packed, *to; /* to: of `room` bytes */
	EVP_MD *md;
	EVP_MD_CTX *ctx;
	z_stream z;
};

/* What a kind does once. False: it failed. */

static bool
digest(struct job *job)
{
	return EVP_DigestInit_ex2(job->ctx, job->md, NULL) == 1 &&
		EVP_DigestUpdate(job->ctx, job->data, job->size) == 1 &&
		EVP_DigestFinal_ex(job->ctx, job->to, NULL) == 1;
}

static void
give(struct job *job, uint8_t *from, size_t len)
{
	job->z.next_in = from;
	job->z.avail_in = (uInt)len;
	job->z.next_out = job->to;
	job->z.avail_out = (uInt)job->room;
}

static bool
pack(struct job *job)
{
	give(job, job->data, job->size);
	return deflateReset(&job->z) == Z_OK && deflate(&job->z, Z_FINISH) == Z_STREAM_END;
}

static bool
unpack(struct job *job)
{
	give(job, job->packed, job->packed_len);
	return inflateReset(&job->z) == Z_OK && inflate(&job->z, Z_FINISH) == Z_STREAM_END;
}

static bool
unpack_lz4(struct job *job)
{
	return LZ4_decompress_safe((const char *)job->packed, (char *)job->to,
		(int)job->packed_len, (int)job->room) == (int)job->size;
}

/* What a kind needs before. False: it does not have it. */

static bool
open_digest(struct job *job, const char *name)
{
	/* Looked up once, as by DOCA SHA: that takes as long as a short digest. */
	job->md = EVP_MD_fetch(NULL, name, NULL);
	job->ctx = EVP_MD_CTX_new();
	return job->md != NULL && job->ctx != NULL;
}

static bool
open_sha1(struct job *job)
{
	return open_digest(job, "SHA1");
}

static bool
open_sha256(struct job *job)
{
	return open_digest(job, "SHA256");
}

static bool
open_sha512(struct job *job)
{
	return open_digest(job, "SHA512");
}

static bool
open_deflate(struct job *job)
{
	return deflateInit2(&job->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS,
		MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY) == Z_OK;
}

static bool
open_inflate(struct job *job)
{
	job->packed_len = sample_deflate(job->data, job->size, job->packed, job->room);
	return job->packed_len > 0 && inflateInit2(&job->z, -MAX_WBITS) == Z_OK;
}

static bool
open_lz4(struct job *job)
{
	job->packed_len = sample_lz4(job->data, job->size, job->packed, job->room);
	return job->packed_len > 0;
}

static const struct {
	bool (*open)(struct job *job);
	bool (*once)(struct job *job);
} bodies[] = {
	[FLOOR_SHA1] = { open_sha1, digest },
	[FLOOR_SHA256] = { open_sha256, digest },
	[FLOOR_SHA512] = { open_sha512, digest },
	[FLOOR_DEFLATE] = { open_deflate, pack },
	[FLOOR_INFLATE] = { open_inflate, unpack },
	[FLOOR_LZ4] = { open_lz4, unpack_lz4 },
};

/* The process ends after its figure, and what is allocated here with it. */
static bool
job_open(struct job *job, const struct floor_req *req)
{
	job->size = req->size;
	job->room = RTE_MAX(sample_bound(job->size), (size_t)EVP_MAX_MD_SIZE);
	job->data = malloc(job->size);
	job->packed = malloc(job->room);
	job->to = malloc(job->room);
	if (job->data == NULL || job->packed == NULL || job->to == NULL)
		return false;
	sample_fill(job->data, job->size);
	return bodies[req->kind].open(job);
}

/* @return bytes a second, or negative */
static double
measure(const struct floor_req *req)
{
	const uint64_t per_look = RTE_MAX(PER_LOOK / req->size, UINT64_C(1));
	static struct job job; /* so that what it has allocated is not lost */
	uint64_t done = 0, i;
	struct window w;

	floor_pin(0, req->cpu_a);
	if (!job_open(&job, req))
		return -1;
	window_init(&w, clock_tsc(), (uint64_t)req->ms * 1000, false);
	while (!w.closed) {
		for (i = 0; i < per_look; i++)
			if (!bodies[req->kind].once(&job))
				return -1;
		done += per_look;
		window_update(&w, clock_tsc(), done);
	}
	return (double)(window_msgs(&w) * req->size) * 1e9 / (double)window_ns(&w);
}

int
main(int argc, char **argv)
{
	return floor_main(argc, argv, PROGRAM, measure);
}
