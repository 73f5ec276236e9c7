/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdio.h>
#include <string.h>

#include "accel/hasher.h"
#include "t_main.h"

static void
note(struct hasher *h, struct doca_task *task)
{
	h->status = doca_task_get_status(task);
	if (h->status == DOCA_SUCCESS)
		h->nb_done++;
	else
		h->nb_errors++;
}

void
hasher_on_hash(struct doca_sha_task_hash *task, union doca_data task_data, union doca_data ctx_data)
{
	struct hasher *h = ctx_data.ptr;

	T_EQ(task_data.u64, 5);
	note(h, doca_sha_task_hash_as_task(task));
	if (h->status != DOCA_SUCCESS)
		doca_task_free(doca_sha_task_hash_as_task(task));
}

void
hasher_next_part(struct hasher *h, struct doca_sha_task_partial_hash *task)
{
	size_t n = h->len < h->part ? h->len : h->part;

	T_OK(doca_buf_set_data(h->in, h->src.addr + h->off, n));
	T_OK(doca_sha_task_partial_hash_set_src(task, h->in));
	h->off += n;
	h->len -= n;
	if (h->len == 0)
		T_OK(doca_sha_task_partial_hash_set_is_final_buf(task));
	T_OK(doca_task_submit(doca_sha_task_partial_hash_as_task(task)));
}

void
hasher_on_part(struct doca_sha_task_partial_hash *task, union doca_data task_data,
		union doca_data ctx_data)
{
	struct hasher *h = ctx_data.ptr;

	T_EQ(task_data.u64, 5);
	note(h, doca_sha_task_partial_hash_as_task(task));
	if (h->status != DOCA_SUCCESS)
		doca_task_free(doca_sha_task_partial_hash_as_task(task));
	else if (h->part > 0 && h->len > 0)
		hasher_next_part(h, task);
}

void
hasher_create(struct hasher *h)
{
	unsigned int i;

	memset(h, 0, sizeof(*h));
	h->dev = dev_open("dpu", "03:00.0");
	T_OK(doca_sha_create(h->dev, &h->sha));
	h->ctx = doca_sha_as_ctx(h->sha);
	T_OK(doca_pe_create(&h->pe));
	T_OK(doca_pe_connect_ctx(h->pe, h->ctx));
	T_OK(doca_ctx_set_user_data(h->ctx, (union doca_data){ .ptr = h }));
	T_OK(doca_ctx_set_state_changed_cb(h->ctx, state_log_note));
	memory_create_new(&h->src, h->dev, HASHER_SIZE);
	memory_create_new(&h->dst, h->dev, HASHER_SIZE);
	for (i = 0; i < HASHER_SIZE; i++)
		h->src.addr[i] = (uint8_t)(i * 7 + i / 255);
	h->in = memory_buf(&h->src, 0, HASHER_SIZE, true);
	h->out = memory_buf(&h->dst, 0, HASHER_MAX_DIGEST, false);
}

void
hasher_open(struct hasher *h)
{
	hasher_create(h);
	T_OK(doca_sha_task_hash_set_conf(h->sha, hasher_on_hash, hasher_on_hash, 2));
	T_OK(doca_sha_task_partial_hash_set_conf(h->sha, hasher_on_part, hasher_on_part, 1));
	T_OK(doca_ctx_start(h->ctx));
	T_CHECK(ctx_is_running(h->ctx));
	T_EQ(h->states.nb, 1);
}

void
hasher_close(struct hasher *h)
{
	doca_error_t ret = doca_ctx_stop(h->ctx);

	if (ret != DOCA_SUCCESS)
		T_IS(ret, DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(h->pe), ctx_is_idle(h->ctx));
	T_OK(doca_buf_dec_refcount(h->in, NULL));
	T_OK(doca_buf_dec_refcount(h->out, NULL));
	T_OK(doca_sha_destroy(h->sha));
	T_OK(doca_pe_destroy(h->pe));
	memory_destroy(&h->src);
	memory_destroy(&h->dst);
	T_OK(doca_dev_close(h->dev));
}

struct doca_sha_task_hash *
hasher_task(struct hasher *h, enum doca_sha_algorithm algorithm)
{
	struct doca_sha_task_hash *task;

	T_OK(doca_sha_task_hash_alloc_init(h->sha, algorithm, h->in, h->out,
		(union doca_data){ .u64 = 5 }, &task));
	return task;
}

struct doca_sha_task_partial_hash *
hasher_part(struct hasher *h, enum doca_sha_algorithm algorithm, struct doca_buf *out)
{
	struct doca_sha_task_partial_hash *task;

	T_OK(doca_sha_task_partial_hash_alloc_init(h->sha, algorithm, h->in, out,
		(union doca_data){ .u64 = 5 }, &task));
	return task;
}

void
hasher_wait(struct hasher *h, unsigned int nb)
{
	T_WAIT(doca_pe_progress(h->pe), h->nb_done + h->nb_errors >= nb);
	T_EQ(h->nb_errors, 0);
	T_EQ(h->nb_done, nb);
}

const char *
hasher_hex(const struct doca_buf *buf)
{
	static char text[2 * HASHER_MAX_DIGEST + 1];
	const uint8_t *data;
	void *at;
	size_t len, i;

	T_OK(doca_buf_get_data_len(buf, &len));
	T_OK(doca_buf_get_data(buf, &at));
	T_LE(len, HASHER_MAX_DIGEST);
	data = at;
	text[0] = '\0';
	for (i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", data[i]);
	return text;
}

const char *
hasher_hash(struct hasher *h, enum doca_sha_algorithm algorithm, size_t len)
{
	struct doca_sha_task_hash *task = hasher_task(h, algorithm);
	unsigned int before = h->nb_done;

	T_OK(doca_buf_set_data(h->in, h->src.addr, len));
	T_OK(doca_sha_task_hash_set_src(task, h->in));
	T_OK(doca_task_submit(doca_sha_task_hash_as_task(task)));
	hasher_wait(h, before + 1);
	doca_task_free(doca_sha_task_hash_as_task(task));
	return hasher_hex(h->out);
}
