/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA Compress of 2.0 to 2.2: jobs. */

#include <pthread.h>
#include <string.h>

#include <doca_compress.h>

#include "accel/text.h"
#include "accel/worker.h"
#include "common/result.h"
#include "t_main.h"

#define LEN 4096
#define TEXT_CHECKSUMS ((uint64_t)TEXT_ADLER << 32 | TEXT_CRC)

struct packer {
	struct worker w;
	struct doca_compress *compress;
	struct doca_buf *back;  /* behind the data of w.in */
};

static void
packer_open(struct packer *p)
{
	T_OK(doca_compress_create(&p->compress));
	worker_create(&p->w, doca_compress_as_ctx(p->compress), LEN, 8);
	T_OK(doca_buf_inventory_buf_by_addr(p->w.inv, p->w.mmap, p->w.mem + LEN / 2, LEN / 2,
		&p->back));
	memcpy(p->w.mem, TEXT, strlen(TEXT));
	T_OK(doca_buf_set_data(p->w.in, p->w.mem, strlen(TEXT)));
	worker_start(&p->w);
}

static void
packer_close(struct packer *p)
{
	T_OK(doca_buf_refcount_rm(p->back, NULL));
	worker_close(&p->w);
	T_OK(doca_compress_destroy(p->compress));
}

#define PACKER_CASE(name) T_CASE_OF(struct packer, packer_open, packer_close, name, p)

static struct doca_compress_deflate_job
job_of(const struct packer *p, enum doca_compress_job_types type, const struct doca_buf *src,
		struct doca_buf *dst, uint64_t *checksums)
{
	return (struct doca_compress_deflate_job){
		.base = {
			.type = (int)type,
			.flags = DOCA_JOB_FLAGS_NONE,
			.ctx = p->w.ctx,
			.user_data = { .u64 = 77 },
		},
		.dst_buff = dst,
		.src_buff = src,
		.output_chksum = checksums,
	};
}

/* Run a job on two of the buffers; its result. */
static doca_error_t
run(struct packer *p, enum doca_compress_job_types type, const struct doca_buf *src,
		struct doca_buf *dst, uint64_t *checksums)
{
	const struct doca_compress_deflate_job job = job_of(p, type, src, dst, checksums);
	struct doca_event event;
	doca_error_t ret;

	T_OK(doca_workq_submit(p->w.workq, &job.base));
	ret = worker_retrieve(&p->w, (int)type, &event);
	T_EQ(event.user_data.u64, 77);
	T_IS(ret, event.result.u64 == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED);
	return (doca_error_t)event.result.u64;
}

/* behaviour: Z11 */
PACKER_CASE(there_and_back)
{
	uint64_t checksums = 0;
	size_t len;
	void *head;

	T_OK(run(p, DOCA_COMPRESS_DEFLATE_JOB, p->w.in, p->w.out, &checksums));
	T_CHECK(checksums == TEXT_CHECKSUMS);
	checksums = 0;
	T_OK(run(p, DOCA_DECOMPRESS_DEFLATE_JOB, p->w.out, p->back, &checksums));
	T_CHECK(checksums == TEXT_CHECKSUMS);
	/* As programs read it. */
	T_OK(doca_buf_get_head(p->back, &head));
	T_GETS(doca_buf_get_data_len(p->back, &len), len, strlen(TEXT));
	T_EQ(memcmp(head, TEXT, len), 0);
}

/* behaviour: Z11 */
PACKER_CASE(without_checksums_and_corrupt)
{
	T_OK(run(p, DOCA_COMPRESS_DEFLATE_JOB, p->w.in, p->w.out, NULL));
	/* Not a deflate stream. The next job is done. */
	memset(p->w.mem, 0xff, 64);
	T_IS(run(p, DOCA_DECOMPRESS_DEFLATE_JOB, p->w.in, p->back, NULL), DOCA_ERROR_IO_FAILED);
	T_OK(run(p, DOCA_DECOMPRESS_DEFLATE_JOB, p->w.out, p->back, NULL));
	T_EQ(memcmp(p->w.mem + LEN / 2, TEXT, strlen(TEXT)), 0);
}

/* A queue of a thread, of which a context may have several, with buffers of its own. */
struct thread {
	pthread_t id;
	const struct packer *p;
	struct doca_workq *workq;
	struct doca_buf *plain, *packed, *back;
	uint8_t *at;
};

#define ROOM 512

static void
run_in(struct thread *t, enum doca_compress_job_types type, const struct doca_buf *src,
		struct doca_buf *dst)
{
	uint64_t checksums = 0;
	const struct doca_compress_deflate_job job = job_of(t->p, type, src, dst, &checksums);
	struct doca_event event;
	void *head;

	T_OK(doca_buf_get_head(dst, &head));
	T_OK(doca_buf_set_data(dst, head, 0));
	T_OK(doca_workq_submit(t->workq, &job.base));
	T_WAIT(0, doca_workq_progress_retrieve(t->workq, &event, 0) == DOCA_SUCCESS);
	T_CHECK(checksums == TEXT_CHECKSUMS);
}

static void *
pack_often(void *arg)
{
	struct thread *t = arg;
	int i;

	for (i = 0; i < 100; i++) {
		memset(t->at + 2 * ROOM, 0, ROOM);
		run_in(t, DOCA_COMPRESS_DEFLATE_JOB, t->plain, t->packed);
		run_in(t, DOCA_DECOMPRESS_DEFLATE_JOB, t->packed, t->back);
		T_EQ(memcmp(t->at + 2 * ROOM, TEXT, strlen(TEXT)), 0);
	}
	return NULL;
}

static struct doca_buf *
buf_at(struct packer *p, uint8_t *at)
{
	struct doca_buf *buf;

	T_OK(doca_buf_inventory_buf_by_addr(p->w.inv, p->w.mmap, at, ROOM, &buf));
	return buf;
}

static void
thread_open(struct thread *t, struct packer *p, uint8_t *at)
{
	*t = (struct thread){ .p = p, .at = at, .plain = buf_at(p, at),
		.packed = buf_at(p, at + ROOM), .back = buf_at(p, at + 2 * ROOM) };
	memcpy(at, TEXT, strlen(TEXT));
	T_OK(doca_buf_set_data(t->plain, at, strlen(TEXT)));
	T_OK(doca_workq_create(1, &t->workq));
	T_OK(doca_ctx_workq_add(p->w.ctx, t->workq));
}

static void
thread_close(struct thread *t)
{
	T_EQ(pthread_join(t->id, NULL), 0);
	T_OK(doca_ctx_workq_rm(t->p->w.ctx, t->workq));
	T_OK(doca_workq_destroy(t->workq));
	T_OK(doca_buf_refcount_rm(t->plain, NULL));
	T_OK(doca_buf_refcount_rm(t->packed, NULL));
	T_OK(doca_buf_refcount_rm(t->back, NULL));
}

PACKER_CASE(queues_of_two_threads)
{
	struct thread threads[2];
	unsigned int i;

	for (i = 0; i < 2; i++)
		thread_open(&threads[i], p, p->w.mem + i * LEN);
	for (i = 0; i < 2; i++)
		T_EQ(pthread_create(&threads[i].id, NULL, pack_often, &threads[i]), 0);
	for (i = 0; i < 2; i++)
		thread_close(&threads[i]);
}

PACKER_CASE(arguments)
{
	struct doca_devinfo *info = doca_dev_as_devinfo(p->w.dev);

	T_INVALID(doca_compress_create(NULL));
	T_OK(doca_compress_job_get_supported(info, DOCA_COMPRESS_DEFLATE_JOB));
	T_OK(doca_compress_job_get_supported(info, DOCA_DECOMPRESS_DEFLATE_JOB));
	T_IS(doca_compress_job_get_supported(info, (enum doca_compress_job_types)9),
		DOCA_ERROR_NOT_SUPPORTED);
	T_INVALID(doca_compress_job_get_supported(NULL, DOCA_COMPRESS_DEFLATE_JOB));
}
