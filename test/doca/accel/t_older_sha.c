/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA SHA of 2.0 to 2.2: jobs. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <doca_sha.h>

#include "accel/t_eal_dev.h"
#include "accel/text.h"
#include "accel/worker.h"
#include "common/file.h"
#include "common/result.h"
#include "t_main.h"
#include "t_proc.h"

#define LEN (384 * 1024) /* more than is hashed in a turn */

struct hasher {
	struct worker w;
	struct doca_sha *sha;
};

static void
hasher_open(struct hasher *h)
{
	T_OK(doca_sha_create(&h->sha));
	worker_create(&h->w, doca_sha_as_ctx(h->sha), LEN, 8);
	memcpy(h->w.mem, TEXT, strlen(TEXT));
	worker_start(&h->w);
}

static void
hasher_close(struct hasher *h)
{
	worker_close(&h->w);
	T_OK(doca_sha_destroy(h->sha));
}

#define HASHER_CASE(name) T_CASE_OF(struct hasher, hasher_open, hasher_close, name, h)

static struct doca_sha_job
job_of(struct hasher *h, enum doca_sha_job_type type, uint64_t flags)
{
	return (struct doca_sha_job){
		.base = {
			.type = (int)type,
			.flags = DOCA_JOB_FLAGS_NONE,
			.ctx = h->w.ctx,
			.user_data = { .u64 = 77 },
		},
		.resp_buf = h->w.out,
		.req_buf = h->w.in,
		.flags = flags,
	};
}

/* A part of a session's message. */
static struct doca_sha_partial_job
part_of(struct hasher *h, struct doca_sha_partial_session *session, enum doca_sha_job_type type,
		uint64_t flags)
{
	return (struct doca_sha_partial_job){
		.sha_job = job_of(h, type, flags),
		.session = session,
	};
}

/* The result of the job that is done next. */
static doca_error_t
retrieve(struct hasher *h, enum doca_sha_job_type type)
{
	struct doca_event event;
	doca_error_t ret = worker_retrieve(&h->w, (int)type, &event);

	T_EQ(event.user_data.u64, 77);
	T_IS(ret, event.result.u64 == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED);
	return (doca_error_t)event.result.u64;
}

static doca_error_t
run_part(struct hasher *h, struct doca_sha_partial_session *session, const uint8_t *data,
		size_t len, uint64_t flags)
{
	const struct doca_sha_partial_job job =
		part_of(h, session, DOCA_SHA_JOB_SHA256_PARTIAL, flags);
	doca_error_t ret;

	T_OK(doca_buf_set_data(h->w.in, (void *)(uintptr_t)data, len));
	ret = doca_workq_submit(h->w.workq, (const struct doca_job *)&job);
	return ret == DOCA_SUCCESS ? retrieve(h, DOCA_SHA_JOB_SHA256_PARTIAL) : ret;
}

/* Programs read it without asking for its length. */
static void
check_text(const struct doca_buf *buf)
{
	char text[2 * DOCA_SHA256_BYTE_COUNT + 1];
	const uint8_t *data;
	unsigned int i;
	void *at;

	T_OK(doca_buf_get_data(buf, &at));
	data = at;
	for (i = 0; i < DOCA_SHA256_BYTE_COUNT; i++)
		snprintf(text + 2 * i, 3, "%02x", data[i]);
	T_STR_EQ(text, TEXT_SHA256);
}

/* behaviour: U9 */
HASHER_CASE(hash)
{
	const struct doca_sha_job job = job_of(h, DOCA_SHA_JOB_SHA256, 0);

	T_OK(doca_buf_set_data(h->w.in, h->w.mem, strlen(TEXT)));
	T_OK(doca_workq_submit(h->w.workq, &job.base));
	T_OK(retrieve(h, DOCA_SHA_JOB_SHA256));
	check_text(h->w.out);
}

/* behaviour: U9 */
HASHER_CASE(parts)
{
	const uint64_t final = DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL;
	struct doca_sha_partial_session *session, *other;

	T_OK(doca_sha_partial_session_create(h->sha, h->w.workq, &session));
	T_OK(doca_sha_partial_session_create(h->sha, h->w.workq, &other));
	T_OK(run_part(h, session, h->w.mem, 64, 0));
	/* Another message, in between. */
	T_OK(run_part(h, other, h->w.mem + 1, 128, 0));
	T_OK(run_part(h, session, h->w.mem + 64, 64, 0));
	T_OK(run_part(h, session, h->w.mem + 128, strlen(TEXT) - 128, final));
	check_text(h->w.out);
	/* And the next one. */
	T_OK(run_part(h, session, h->w.mem, strlen(TEXT), final));
	check_text(h->w.out);
	T_OK(doca_sha_partial_session_destroy(h->sha, h->w.workq, session));
	T_OK(doca_sha_partial_session_destroy(h->sha, h->w.workq, other));
}

/* A session that has begun with one algorithm is not for another one, whose digest is shorter. */
HASHER_CASE(algorithms_do_not_mix)
{
	struct doca_sha_partial_session *session;
	struct doca_sha_partial_job job;

	T_OK(doca_sha_partial_session_create(h->sha, h->w.workq, &session));
	T_OK(run_part(h, session, h->w.mem, 64, 0));
	job = part_of(h, session, DOCA_SHA_JOB_SHA1_PARTIAL, DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL);
	T_INVALID(doca_workq_submit(h->w.workq, &job.sha_job.base));
	/* What was refused changes nothing. */
	T_OK(run_part(h, session, h->w.mem + 64, strlen(TEXT) - 64,
		DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL));
	check_text(h->w.out);
	T_OK(doca_sha_partial_session_destroy(h->sha, h->w.workq, session));
}

/* A submitted job keeps its session. */
HASHER_CASE(session_in_use)
{
	struct doca_sha_partial_session *session;
	struct doca_sha_partial_job job;

	T_OK(doca_sha_partial_session_create(h->sha, h->w.workq, &session));
	job = part_of(h, session, DOCA_SHA_JOB_SHA256_PARTIAL, 0);
	T_OK(doca_buf_set_data(h->w.in, h->w.mem, 64));
	T_OK(doca_workq_submit(h->w.workq, &job.sha_job.base));
	T_IS(doca_sha_partial_session_destroy(h->sha, h->w.workq, session), DOCA_ERROR_IN_USE);
	T_OK(retrieve(h, DOCA_SHA_JOB_SHA256_PARTIAL));
	T_OK(doca_sha_partial_session_destroy(h->sha, h->w.workq, session));
}

/* A part fails when some of it was hashed: there is no digest without it. behaviour: U10 */
HASHER_CASE(failed_in_the_middle)
{
	const uint64_t final = DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL;
	struct doca_event event = { .type = -1 };
	struct doca_sha_partial_session *session;
	struct doca_sha_partial_job job;
	struct doca_buf *small;

	T_OK(doca_sha_partial_session_create(h->sha, h->w.workq, &session));
	T_OK(run_part(h, session, h->w.mem, 64, 0));
	T_OK(doca_buf_inventory_buf_by_addr(h->w.inv, h->w.mmap, h->w.mem + LEN, 32, &small));
	job = part_of(h, session, DOCA_SHA_JOB_SHA256_PARTIAL, final);
	job.sha_job.resp_buf = small;
	T_OK(doca_buf_set_data(h->w.in, h->w.mem, LEN));
	T_OK(doca_workq_submit(h->w.workq, &job.sha_job.base));
	T_IS(doca_workq_progress_retrieve(h->w.workq, &event, 0), DOCA_ERROR_AGAIN);
	/* There is no room for a digest any more. */
	T_OK(doca_buf_set_data(small, h->w.mem + LEN + 1, 0));
	T_INVALID(retrieve(h, DOCA_SHA_JOB_SHA256_PARTIAL));
	T_IS(run_part(h, session, h->w.mem, strlen(TEXT), final), DOCA_ERROR_BAD_STATE);
	T_OK(doca_buf_refcount_rm(small, NULL));
	T_OK(doca_sha_partial_session_destroy(h->sha, h->w.workq, session));
}

/* A part fails before it was begun, and the one behind it. behaviour: U10 */
HASHER_CASE(failed_before_it_began)
{
	struct doca_sha_partial_session *session;
	struct doca_sha_partial_job job;
	uint64_t flags[] = { 0, DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL };
	unsigned int i;

	T_OK(doca_sha_partial_session_create(h->sha, h->w.workq, &session));
	T_OK(doca_buf_set_data(h->w.in, h->w.mem, 64));
	for (i = 0; i < RTE_DIM(flags); i++) {
		job = part_of(h, session, DOCA_SHA_JOB_SHA256_PARTIAL, flags[i]);
		T_OK(doca_workq_submit(h->w.workq, &job.sha_job.base));
	}
	/* No whole block any more, which the last part does not need. */
	T_OK(doca_buf_set_data(h->w.in, h->w.mem, 63));
	T_INVALID(retrieve(h, DOCA_SHA_JOB_SHA256_PARTIAL));
	T_IS(retrieve(h, DOCA_SHA_JOB_SHA256_PARTIAL), DOCA_ERROR_BAD_STATE);
	T_OK(doca_sha_partial_session_destroy(h->sha, h->w.workq, session));
}

/* A queue of a thread, of which a context may have several, with buffers of its own. */
struct thread {
	pthread_t id;
	struct doca_sha *sha;
	struct doca_workq *workq;
	struct doca_buf *in, *out;
	const uint8_t *text;
};

/* A message in parts, and a whole one meanwhile, of which each has its digest. */
static void *
hash_often(void *arg)
{
	struct thread *t = arg;
	struct doca_sha_partial_session *session;
	struct doca_event event;
	unsigned int i, part;

	T_OK(doca_sha_partial_session_create(t->sha, t->workq, &session));
	for (i = 0; i < 100; i++) {
		for (part = 0; part < 3; part++) {
			struct doca_sha_partial_job job = { .sha_job = {
				.base = { .type = DOCA_SHA_JOB_SHA256_PARTIAL,
					.ctx = doca_sha_as_ctx(t->sha) },
				.resp_buf = t->out, .req_buf = t->in,
				.flags = part == 2 ? DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL : 0,
			}, .session = session };

			T_OK(doca_buf_set_data(t->in, (void *)(uintptr_t)(t->text + 64 * part),
				part == 2 ? strlen(TEXT) - 128 : 64));
			T_OK(doca_workq_submit(t->workq, &job.sha_job.base));
			T_WAIT(0, doca_workq_progress_retrieve(t->workq, &event, 0) ==
				DOCA_SUCCESS);
		}
		check_text(t->out);
	}
	T_OK(doca_sha_partial_session_destroy(t->sha, t->workq, session));
	return NULL;
}

HASHER_CASE(queues_of_two_threads)
{
	struct thread threads[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		uint8_t *at = h->w.mem + i * LEN;

		threads[i] = (struct thread){ .sha = h->sha, .text = at };
		memcpy(at, TEXT, strlen(TEXT));
		T_OK(doca_buf_inventory_buf_by_addr(h->w.inv, h->w.mmap, at, 1024,
			&threads[i].in));
		T_OK(doca_buf_inventory_buf_by_addr(h->w.inv, h->w.mmap, at + 1024, 32,
			&threads[i].out));
		T_OK(doca_workq_create(1, &threads[i].workq));
		T_OK(doca_ctx_workq_add(h->w.ctx, threads[i].workq));
	}
	for (i = 0; i < 2; i++)
		T_EQ(pthread_create(&threads[i].id, NULL, hash_often, &threads[i]), 0);
	for (i = 0; i < 2; i++) {
		T_EQ(pthread_join(threads[i].id, NULL), 0);
		T_OK(doca_ctx_workq_rm(h->w.ctx, threads[i].workq));
		T_OK(doca_workq_destroy(threads[i].workq));
		T_OK(doca_buf_refcount_rm(threads[i].in, NULL));
		T_OK(doca_buf_refcount_rm(threads[i].out, NULL));
	}
}

/* By a crypto device. */

static void
open_with_device(struct hasher *h)
{
	device_table_write("[device dpu]\npci = 03:00.0\ncrypto = crypto_openssl0\n"
		"crypto_min = 0\n[function pf0]\npci = b1:00.0\n");
	setenv("COMCH_EAL_ARGS", "--vdev=crypto_openssl0", 1);
	hasher_open(h);
	t_eal_dev_take_crypto("crypto_openssl0");
}

static int
in_child(int fd, void *arg)
{
	struct hasher *h = arg;

	RTE_SET_USED(fd);
	t_eal_dev.is_slow = false;
	T_OK(retrieve(h, DOCA_SHA_JOB_SHA256));
	check_text(h->w.out);
	T_EQ(t_eal_dev.dequeued, 0);
	return 0;
}

/* In the child the core does it: the device, and its answer, are the parent's. */
T_CASE_OF(struct hasher, open_with_device, hasher_close, fork_with_a_job_at_a_device, h)
{
	const struct doca_sha_job job = job_of(h, DOCA_SHA_JOB_SHA256, 0);
	struct doca_event event;
	struct t_proc child;

	T_OK(doca_buf_set_data(h->w.in, h->w.mem, strlen(TEXT)));
	T_OK(doca_workq_submit(h->w.workq, &job.base));
	t_eal_dev.is_slow = true;
	T_IS(doca_workq_progress_retrieve(h->w.workq, &event, 0), DOCA_ERROR_AGAIN);
	T_EQ(t_eal_dev.enqueued, 1);
	t_proc_start(&child, "child", in_child, h);
	t_proc_join(&child);
	t_eal_dev.is_slow = false;
	T_OK(retrieve(h, DOCA_SHA_JOB_SHA256));
	check_text(h->w.out);
	T_EQ(t_eal_dev.dequeued, 1);
}

HASHER_CASE(capabilities)
{
	struct doca_devinfo *info = doca_dev_as_devinfo(h->w.dev);
	int type;

	for (type = DOCA_SHA_JOB_SHA1; type <= DOCA_SHA_JOB_SHA512_PARTIAL; type++)
		T_OK(doca_sha_job_get_supported(info, (enum doca_sha_job_type)type));
	T_IS(doca_sha_job_get_supported(info, (enum doca_sha_job_type)type),
		DOCA_ERROR_NOT_SUPPORTED);
	T_IS(doca_sha_job_get_supported(info, (enum doca_sha_job_type)0), DOCA_ERROR_NOT_SUPPORTED);
	T_INVALID(doca_sha_job_get_supported(NULL, DOCA_SHA_JOB_SHA1));
	T_OK(doca_sha_get_hardware_supported(info));
	T_INVALID(doca_sha_get_hardware_supported(NULL));
}

HASHER_CASE(arguments)
{
	struct doca_sha_partial_session *session;
	struct doca_sha_job job = job_of(h, DOCA_SHA_JOB_SHA512, 0);

	T_INVALID(doca_sha_create(NULL));
	T_INVALID(doca_sha_partial_session_create(NULL, h->w.workq, &session));
	T_INVALID(doca_sha_partial_session_create(h->sha, NULL, &session));
	T_INVALID(doca_sha_partial_session_create(h->sha, h->w.workq, NULL));
	T_INVALID(doca_sha_partial_session_destroy(h->sha, h->w.workq, NULL));
	/* No session; a part that is not whole blocks; no such type. */
	T_INVALID(run_part(h, NULL, h->w.mem, 64, 0));
	T_OK(doca_sha_partial_session_create(h->sha, h->w.workq, &session));
	T_INVALID(run_part(h, session, h->w.mem, 63, 0));
	T_OK(doca_sha_partial_session_destroy(h->sha, h->w.workq, session));
	job.base.type = DOCA_SHA_JOB_SHA512_PARTIAL + 1;
	T_INVALID(doca_workq_submit(h->w.workq, &job.base));
	job.base.type = DOCA_SHA_JOB_SHA512;
	job.resp_buf = NULL;
	T_INVALID(doca_workq_submit(h->w.workq, &job.base));
}
