/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA SHA until 2.2: jobs and sessions. */

#include <stdlib.h>

#include <rte_common.h>

#include <comch_doca_sha_200.h>
#include <doca_sha.h>

#include "accel/sha.h"
#include "dev/dev.h"
#include "log/log.h"

/* A message in several jobs. */
struct doca_sha_partial_session {
	struct impl_sha_message message;
	uint32_t nb_jobs;  /* submitted */
	bool has_failed;   /* one of them: a digest would lack its part */
};

/* Of a message that is not a task's own. */
static struct doca_sha_partial_session *
session_of(struct impl_sha_message *message)
{
	return (struct doca_sha_partial_session *)message;
}

static void
fill(const struct doca_job *job, struct impl_accel_task *task)
{
	const struct doca_sha_job *sha_job = (const struct doca_sha_job *)job;
	struct impl_sha_task *t = impl_sha_task_of(task);

	task->src = sha_job->req_buf;
	task->dst = sha_job->resp_buf;
	t->is_final = (sha_job->flags & DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL) != 0;
}

static void
fill_hash(const struct doca_job *job, struct impl_accel_task *task)
{
	struct impl_sha_task *t = impl_sha_task_of(task);

	fill(job, task);
	t->algorithm = (uint8_t)(job->type - DOCA_SHA_JOB_SHA1);
	t->is_final = true;
	t->message = &t->own;
}

static void
fill_partial(const struct doca_job *job, struct impl_accel_task *task)
{
	struct doca_sha_partial_session *session =
		((const struct doca_sha_partial_job *)job)->session;
	struct impl_sha_task *t = impl_sha_task_of(task);

	fill(job, task);
	t->algorithm = (uint8_t)(job->type - DOCA_SHA_JOB_SHA1_PARTIAL);
	if (session != NULL)
		t->message = &session->message;
}

/* A hash job has a message for itself. */
static doca_error_t
begin_hash(struct impl_accel_task *task)
{
	struct impl_sha_task *t = impl_sha_task_of(task);
	doca_error_t ret;

	t->own = impl_sha_message_create();
	if (t->own.md == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ret = impl_sha_begin(task);
	if (ret != DOCA_SUCCESS)
		impl_sha_message_destroy(&t->own);
	return ret;
}

static void
end_hash(struct impl_accel_task *task)
{
	impl_sha_end(task);
	impl_sha_message_destroy(&impl_sha_task_of(task)->own);
}

static doca_error_t
admit_partial(const struct impl_accel_task *task)
{
	const struct impl_sha_task *t = (const struct impl_sha_task *)task;

	if (t->message != NULL && session_of(t->message)->has_failed)
		return DOCA_ERROR_BAD_STATE;
	return impl_sha_partial_admit(task);
}

static void
enter_partial(struct impl_accel_task *task)
{
	session_of(impl_sha_task_of(task)->message)->nb_jobs++;
}

static void
leave_partial(struct impl_accel_task *task)
{
	struct doca_sha_partial_session *session = session_of(impl_sha_task_of(task)->message);

	session->nb_jobs--;
	session->has_failed |= !impl_sha_task_of(task)->is_done;
}

static const struct impl_accel_kind job_kinds[] = {
	[IMPL_SHA_HASH] = { IMPL_SHA_KIND(impl_sha_admit, begin_hash, end_hash) },
	[IMPL_SHA_PARTIAL] = { IMPL_SHA_KIND(admit_partial, impl_sha_begin, impl_sha_end),
		.enter = enter_partial, .leave = leave_partial },
};

static const struct impl_accel_job jobs[] = {
	{ DOCA_SHA_JOB_SHA1, IMPL_SHA_HASH, fill_hash },
	{ DOCA_SHA_JOB_SHA256, IMPL_SHA_HASH, fill_hash },
	{ DOCA_SHA_JOB_SHA512, IMPL_SHA_HASH, fill_hash },
	{ DOCA_SHA_JOB_SHA1_PARTIAL, IMPL_SHA_PARTIAL, fill_partial },
	{ DOCA_SHA_JOB_SHA256_PARTIAL, IMPL_SHA_PARTIAL, fill_partial },
	{ DOCA_SHA_JOB_SHA512_PARTIAL, IMPL_SHA_PARTIAL, fill_partial },
};

static const struct impl_ctx_ops sha_job_ops = {
	IMPL_SHA_OPS,
	.jobs = &impl_accel_job_ops,
};

doca_error_t doca_sha_create_200(struct doca_sha **sha);

/* doca_sha_create() until DOCA 2.2. */
doca_error_t
doca_sha_create_200(struct doca_sha **sha)
{
	struct impl_accel *accel;
	doca_error_t ret;

	if (sha == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = impl_accel_create_for_jobs(&sha_job_ops, job_kinds, jobs, RTE_DIM(jobs),
		sizeof(**sha), &accel);
	if (ret == DOCA_SUCCESS)
		*sha = impl_sha_with_algorithms(accel);
	return ret;
}

doca_error_t
doca_sha_job_get_supported(struct doca_devinfo *devinfo, enum doca_sha_job_type job_type)
{
	/* Both kinds have the algorithms, in their order; what is below them is none. */
	unsigned int algorithm = (unsigned int)job_type - (job_type < DOCA_SHA_JOB_SHA1_PARTIAL ?
		DOCA_SHA_JOB_SHA1 : DOCA_SHA_JOB_SHA1_PARTIAL);

	return impl_sha_get_supported(devinfo, (enum doca_sha_algorithm)algorithm);
}

doca_error_t
doca_sha_get_hardware_supported(struct doca_devinfo *devinfo)
{
	return impl_devinfo_supports(devinfo);
}

static void
session_free(struct doca_sha_partial_session *session)
{
	impl_sha_message_destroy(&session->message);
	free(session);
}

/* NULL: no memory. */
static struct doca_sha_partial_session *
session_new(void)
{
	struct doca_sha_partial_session *session = calloc(1, sizeof(*session));

	if (session == NULL)
		return NULL;
	session->message = impl_sha_message_create();
	if (session->message.md != NULL)
		return session;
	session_free(session);
	return NULL;
}

doca_error_t
doca_sha_partial_session_create(struct doca_sha *sha, struct doca_workq *workq,
		struct doca_sha_partial_session **session)
{
	if (sha == NULL || workq == NULL || session == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*session = session_new();
	return *session == NULL ? DOCA_ERROR_NO_MEMORY : DOCA_SUCCESS;
}

doca_error_t
doca_sha_partial_session_destroy(struct doca_sha *sha, struct doca_workq *workq,
		struct doca_sha_partial_session *session)
{
	if (sha == NULL || workq == NULL || session == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (session->nb_jobs > 0) {
		IMPL_ERR("SHA: cannot destroy a session with %u jobs", session->nb_jobs);
		return DOCA_ERROR_IN_USE;
	}
	session_free(session);
	return DOCA_SUCCESS;
}
