/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA SHA: digests, by libcrypto or a crypto device. */

#include <string.h>

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <rte_common.h>

#include <doca_sha.h>

#include "accel/sha.h"
#include "dev/dev.h"

/*
 * To hash a byte takes as long as to copy this many: a core hashes 1 or 2 GB a second, less without
 * instructions for it.
 */
#define COST 4
/* A shorter piece counts as this many bytes: each call of libcrypto has a price. */
#define LEAST 64
/* A shorter message takes no longer than to wake a worker, bytes. */
#define WORKER_MIN 16384

/* Indexed by enum doca_sha_algorithm. */
static const struct algorithm {
	const char *name;
	uint32_t digest, block; /* bytes */
} algorithms[IMPL_SHA_ALGORITHMS] = {
	[DOCA_SHA_ALGORITHM_SHA1] = { "SHA1", SHA_DIGEST_LENGTH, SHA_CBLOCK },
	[DOCA_SHA_ALGORITHM_SHA256] = { "SHA256", SHA256_DIGEST_LENGTH, SHA256_CBLOCK },
	[DOCA_SHA_ALGORITHM_SHA512] = { "SHA512", SHA512_DIGEST_LENGTH, SHA512_CBLOCK },
};

static const struct impl_sha_task *
const_task_of(const struct impl_accel_task *task)
{
	return (const struct impl_sha_task *)task;
}

static struct doca_sha *
sha_of(const struct doca_ctx *ctx)
{
	return (struct doca_sha *)(uintptr_t)ctx;
}

static bool
is_algorithm(unsigned int algorithm)
{
	return algorithm < RTE_DIM(algorithms);
}

/* Messages */

struct impl_sha_message
impl_sha_message_create(void)
{
	return (struct impl_sha_message){ .md = EVP_MD_CTX_new() };
}

void
impl_sha_message_destroy(struct impl_sha_message *message)
{
	EVP_MD_CTX_free(message->md);
}

static doca_error_t
message_begin(struct impl_sha_message *message, const struct doca_sha *sha, uint8_t algorithm)
{
	message->algorithm = algorithm;
	message->has_begun = EVP_DigestInit_ex2(message->md, sha->mds[algorithm], NULL) == 1;
	return message->has_begun ? DOCA_SUCCESS : DOCA_ERROR_DRIVER;
}

/* Tasks */

/* Bytes from where the data of a buffer begins. */
static size_t
size_from_data(const struct doca_buf *buf)
{
	return buf->data_len + impl_buf_room(buf);
}

/* A job may have no session, or one whose message is of another algorithm. */
static bool
has_message(const struct impl_sha_task *t)
{
	return t->message != NULL &&
		(!t->message->has_begun || t->message->algorithm == t->algorithm);
}

doca_error_t
impl_sha_admit(const struct impl_accel_task *task)
{
	const struct impl_limits *limits = &task->task.ctx->manners->limits;
	const struct impl_sha_task *t = const_task_of(task);

	if (sha_of(task->task.ctx)->mds[t->algorithm] == NULL)
		return DOCA_ERROR_NOT_SUPPORTED;
	if (!has_message(t) || task->dst->next != NULL ||
			impl_list_data(task->src) > limits->sha_max_src_buf_size ||
			size_from_data(task->dst) < algorithms[t->algorithm].digest)
		return DOCA_ERROR_INVALID_VALUE;
	return DOCA_SUCCESS;
}

doca_error_t
impl_sha_partial_admit(const struct impl_accel_task *task)
{
	const struct impl_sha_task *t = const_task_of(task);
	const size_t len = impl_list_data(task->src);

	if (!t->is_final && (len == 0 || len % algorithms[t->algorithm].block != 0))
		return DOCA_ERROR_INVALID_VALUE;
	return impl_sha_admit(task);
}

doca_error_t
impl_sha_check(const struct impl_accel_task *task)
{
	doca_error_t ret = impl_list_check_source(task->src, false);

	return ret == DOCA_SUCCESS ? impl_list_check_room(task->dst, 0, false) : ret;
}

/* Whether the device is to have the message. */
static bool
is_for_device(const struct impl_accel_task *task)
{
	return task->kind == IMPL_SHA_HASH && impl_hash_dev_wants(&sha_of(task->task.ctx)->hash_dev,
		const_task_of(task)->algorithm, impl_list_data(task->src));
}

/* Begin, or go on with, a message that is the core's. */
static doca_error_t
begin_on_core(struct impl_sha_task *t)
{
	if (t->message->has_begun)
		return DOCA_SUCCESS;
	return message_begin(t->message, sha_of(t->base.task.ctx), t->algorithm);
}

doca_error_t
impl_sha_begin(struct impl_accel_task *task)
{
	struct impl_sha_task *t = impl_sha_task_of(task);

	t->place = (struct impl_place){ .buf = task->src };
	t->is_done = false;
	t->by_dev = (struct impl_dev_hash){ .dev = NULL };
	if (is_for_device(task) && impl_dev_hash_begin(&t->by_dev,
			&sha_of(task->task.ctx)->hash_dev, t->algorithm, task->src))
		return DOCA_SUCCESS;
	return begin_on_core(t);
}

/* Write the digest. */
static doca_error_t
write_digest(struct impl_sha_task *t, const uint8_t *digest)
{
	struct doca_buf *dst = t->base.dst;

	/* The program may have changed the buffer. */
	if (size_from_data(dst) < algorithms[t->algorithm].digest)
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(dst->data, digest, algorithms[t->algorithm].digest);
	dst->data_len = algorithms[t->algorithm].digest;
	if (t->base.kind == IMPL_SHA_PARTIAL)
		t->is_final = false;
	t->is_done = true;
	return DOCA_SUCCESS;
}

static doca_error_t
finish(struct impl_sha_task *t)
{
	uint8_t digest[EVP_MAX_MD_SIZE];

	if (!t->is_final) {
		t->is_done = true;
		return DOCA_SUCCESS;
	}
	if (EVP_DigestFinal_ex(t->message->md, digest, NULL) != 1)
		return DOCA_ERROR_DRIVER;
	t->message->has_begun = false;
	return write_digest(t, digest);
}

static doca_error_t
run_on_core(struct impl_sha_task *t)
{
	const uint8_t *data;
	size_t len;

	while ((len = impl_place_data(&t->place, &data)) > 0) {
		if (t->base.budget < COST)
			return DOCA_ERROR_IN_PROGRESS;
		len = RTE_MIN(len, t->base.budget / COST);
		if (EVP_DigestUpdate(t->message->md, data, len) != 1)
			return DOCA_ERROR_DRIVER;
		t->place.off += len;
		impl_accel_pay(&t->base, RTE_MAX(len, (size_t)LEAST), COST);
	}
	return finish(t);
}

/* What the device does not do, the core does. */
static doca_error_t
run_on_device(struct impl_sha_task *t)
{
	struct impl_observed *o = &sha_of(t->base.task.ctx)->accel.observed;
	const uint8_t *digest;
	doca_error_t ret = impl_dev_hash_poll(&t->by_dev, &digest);

	if (ret == DOCA_SUCCESS) {
		impl_observe_count(o, &o->counters.offloaded, t->by_dev.len);
		impl_accel_pay(&t->base, t->by_dev.len, 1);
		return write_digest(t, digest);
	}
	if (ret != DOCA_ERROR_IO_FAILED)
		return ret;
	impl_offload_tell(&t->by_dev.dev->offload);
	impl_dev_hash_end(&t->by_dev);
	ret = begin_on_core(t);
	return ret == DOCA_SUCCESS ? DOCA_ERROR_IN_PROGRESS : ret;
}

doca_error_t
impl_sha_run(struct impl_accel_task *task)
{
	struct impl_sha_task *t = impl_sha_task_of(task);

	return t->by_dev.dev != NULL ? run_on_device(t) : run_on_core(t);
}

void
impl_sha_end(struct impl_accel_task *task)
{
	impl_dev_hash_end(&impl_sha_task_of(task)->by_dev);
}

bool
impl_sha_suits_worker(const struct impl_accel_task *task)
{
	return impl_list_data(task->src) >= WORKER_MIN && !is_for_device(task);
}

static const struct impl_accel_kind kinds[] = {
	[IMPL_SHA_HASH] = { IMPL_SHA_KIND(impl_sha_admit, impl_sha_begin, impl_sha_end) },
	[IMPL_SHA_PARTIAL] = { IMPL_SHA_KIND(impl_sha_partial_admit, impl_sha_begin,
		impl_sha_end) },
};

void
impl_sha_task_put(struct doca_task *task)
{
	impl_sha_message_destroy(&impl_sha_task_of((struct impl_accel_task *)task)->own);
	impl_accel_task_put(task);
}

doca_error_t
impl_sha_start(struct doca_ctx *ctx)
{
	doca_error_t ret = impl_accel_start(ctx);

	if (ret != DOCA_SUCCESS)
		return ret;
	ret = impl_hash_dev_open(&sha_of(ctx)->hash_dev, ctx);
	if (ret != DOCA_SUCCESS)
		impl_accel_release(ctx);
	return ret;
}

void
impl_sha_release(struct doca_ctx *ctx)
{
	impl_hash_dev_close(&sha_of(ctx)->hash_dev);
	impl_accel_release(ctx);
}

void
impl_sha_fini(struct doca_ctx *ctx)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(algorithms); i++)
		EVP_MD_free(sha_of(ctx)->mds[i]);
	impl_accel_fini(ctx);
}

static const struct impl_ctx_ops sha_ops = { IMPL_SHA_OPS };

/* Object */

/* NULL: this libcrypto has it not. */
static EVP_MD *
fetch(unsigned int algorithm)
{
	return EVP_MD_fetch(NULL, algorithms[algorithm].name, NULL);
}

/* Looking them up takes as long as a short digest: once. */
struct doca_sha *
impl_sha_with_algorithms(struct impl_accel *accel)
{
	struct doca_sha *sha = (struct doca_sha *)accel;
	unsigned int i;

	for (i = 0; i < RTE_DIM(algorithms); i++)
		sha->mds[i] = fetch(i);
	return sha;
}

doca_error_t
doca_sha_create(struct doca_dev *dev, struct doca_sha **sha)
{
	struct impl_accel *accel;
	doca_error_t ret;

	if (sha == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	ret = impl_accel_create(dev, &sha_ops, kinds, RTE_DIM(kinds), sizeof(**sha), &accel);
	if (ret == DOCA_SUCCESS)
		*sha = impl_sha_with_algorithms(accel);
	return ret;
}

doca_error_t
doca_sha_destroy(struct doca_sha *sha)
{
	return sha == NULL ? DOCA_ERROR_INVALID_VALUE : impl_ctx_destroy(&sha->accel.ctx);
}

struct doca_ctx *
doca_sha_as_ctx(struct doca_sha *sha)
{
	return sha == NULL ? NULL : &sha->accel.ctx;
}

/* Capabilities */

doca_error_t
impl_sha_get_supported(const struct doca_devinfo *devinfo, enum doca_sha_algorithm algorithm)
{
	EVP_MD *md;

	if (devinfo == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	md = is_algorithm(algorithm) ? fetch(algorithm) : NULL;
	EVP_MD_free(md);
	return md != NULL ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t
doca_sha_cap_task_hash_get_supported(const struct doca_devinfo *devinfo,
		enum doca_sha_algorithm algorithm)
{
	return impl_sha_get_supported(devinfo, algorithm);
}

doca_error_t
doca_sha_cap_task_partial_hash_get_supported(const struct doca_devinfo *devinfo,
		enum doca_sha_algorithm algorithm)
{
	return impl_sha_get_supported(devinfo, algorithm);
}

doca_error_t
doca_sha_cap_get_max_src_buf_size(const struct doca_devinfo *devinfo, uint64_t *max_src_buf_size)
{
	if (devinfo == NULL || max_src_buf_size == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*max_src_buf_size = impl_devinfo_limits(devinfo)->sha_max_src_buf_size;
	return DOCA_SUCCESS;
}

doca_error_t
doca_sha_cap_get_min_dst_buf_size(const struct doca_devinfo *devinfo,
		enum doca_sha_algorithm algorithm, uint32_t *min_dst_buf_size)
{
	doca_error_t ret = impl_sha_get_supported(devinfo, algorithm);

	if (min_dst_buf_size == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (ret == DOCA_SUCCESS)
		*min_dst_buf_size = algorithms[algorithm].digest;
	return ret;
}

doca_error_t
doca_sha_cap_get_partial_hash_block_size(const struct doca_devinfo *devinfo,
		enum doca_sha_algorithm algorithm, uint32_t *block_size)
{
	doca_error_t ret = impl_sha_get_supported(devinfo, algorithm);

	if (block_size == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (ret == DOCA_SUCCESS)
		*block_size = algorithms[algorithm].block;
	return ret;
}

/* Tasks */

static doca_error_t
set_conf(struct doca_sha *sha, enum impl_sha_kind kind, doca_task_completion_cb_t done_cb,
		doca_task_completion_cb_t error_cb, uint32_t log_num_tasks)
{
	return impl_accel_set_conf((struct impl_accel *)sha, kind, done_cb, error_cb,
		log_num_tasks < 32 ? UINT32_C(1) << log_num_tasks : UINT32_MAX);
}

static doca_error_t
take(struct doca_sha *sha, enum impl_sha_kind kind, enum doca_sha_algorithm algorithm,
		const struct doca_buf *src, struct doca_buf *dst, union doca_data user_data,
		struct impl_sha_task **task)
{
	struct impl_accel_task *base;
	struct impl_sha_message message;
	doca_error_t ret;

	if (task == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (!is_algorithm(algorithm) || (sha != NULL && sha->mds[algorithm] == NULL))
		return DOCA_ERROR_NOT_SUPPORTED;
	message = impl_sha_message_create();
	if (message.md == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ret = impl_accel_take((struct impl_accel *)sha, kind, src, dst, user_data, &base);
	if (ret != DOCA_SUCCESS) {
		impl_sha_message_destroy(&message);
		return ret;
	}
	*task = impl_sha_task_of(base);
	(*task)->algorithm = (uint8_t)algorithm;
	(*task)->is_final = kind == IMPL_SHA_HASH;
	(*task)->own = message;
	(*task)->message = &(*task)->own;
	return DOCA_SUCCESS;
}

static doca_error_t
set_src(struct impl_sha_task *task, const struct doca_buf *src)
{
	if (task == NULL || src == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	task->base.src = src;
	return DOCA_SUCCESS;
}

/* What both kinds have. */
#define TASK(name, kind) \
	doca_error_t \
	doca_sha_task_##name##_set_conf(struct doca_sha *sha, \
			doca_sha_task_##name##_completion_cb_t task_completion_cb, \
			doca_sha_task_##name##_completion_cb_t task_error_cb, \
			uint32_t log_num_tasks) \
	{ \
		return set_conf(sha, kind, (doca_task_completion_cb_t)task_completion_cb, \
			(doca_task_completion_cb_t)task_error_cb, log_num_tasks); \
	} \
	doca_error_t \
	doca_sha_task_##name##_alloc_init(struct doca_sha *sha, \
			enum doca_sha_algorithm algorithm, const struct doca_buf *src, \
			struct doca_buf *dst, union doca_data user_data, \
			struct doca_sha_task_##name **task) \
	{ \
		return take(sha, kind, algorithm, src, dst, user_data, \
			(struct impl_sha_task **)task); \
	} \
	struct doca_task * \
	doca_sha_task_##name##_as_task(struct doca_sha_task_##name *task) \
	{ \
		return (struct doca_task *)task; \
	} \
	doca_error_t \
	doca_sha_task_##name##_set_src(struct doca_sha_task_##name *task, \
			const struct doca_buf *src) \
	{ \
		return set_src((struct impl_sha_task *)task, src); \
	}

TASK(hash, IMPL_SHA_HASH)
TASK(partial_hash, IMPL_SHA_PARTIAL)

doca_error_t
doca_sha_task_partial_hash_set_is_final_buf(struct doca_sha_task_partial_hash *task)
{
	if (task == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	((struct impl_sha_task *)task)->is_final = true;
	return DOCA_SUCCESS;
}
