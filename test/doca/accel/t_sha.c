/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA SHA: digests, messages in parts, states and arguments. */

#include <stdio.h>
#include <string.h>

#include <doca_pe.h>
#include <doca_sha.h>

#include "accel/hasher.h"
#include "accel/text.h"
#include "common/file.h"
#include "t_main.h"

#define SHA1 DOCA_SHA_ALGORITHM_SHA1
#define SHA256 DOCA_SHA_ALGORITHM_SHA256
#define SHA512 DOCA_SHA_ALGORITHM_SHA512
#define BAD_STATE DOCA_ERROR_BAD_STATE

/* behaviour: U1 */
HASHER_CASE(digests)
{
	memcpy(h->src.addr, "abc", 3);
	T_STR_EQ(hasher_hash(h, SHA1, 3), "a9993e364706816aba3e25717850c26c9cd0d89d");
	T_STR_EQ(hasher_hash(h, SHA256, 3), "ba7816bf8f01cfea414140de5dae2223"
		"b00361a396177a9cb410ff61f20015ad");
	T_STR_EQ(hasher_hash(h, SHA512, 3), "ddaf35a193617abacc417349ae204131"
		"12e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd"
		"454d4423643ce80e2a9ac94fa54ca49f");
	memcpy(h->src.addr, TEXT, strlen(TEXT));
	T_STR_EQ(hasher_hash(h, SHA256, strlen(TEXT)), TEXT_SHA256);
}

/* behaviour: U2 */
HASHER_CASE(an_empty_message)
{
	T_STR_EQ(hasher_hash(h, SHA1, 0), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

/* Of a list, whatever its elements are: as of one buffer. */
HASHER_CASE(lists)
{
	static const size_t lens[] = { 1, 0, 63, 4000, 17 };
	struct doca_buf *bufs[RTE_DIM(lens)];
	struct doca_sha_task_hash *task;
	char expected[2 * HASHER_MAX_DIGEST + 1];
	size_t i, off = 0;

	strcpy(expected, hasher_hash(h, SHA512, 1 + 63 + 4000 + 17));
	for (i = 0; i < RTE_DIM(lens); off += lens[i++]) {
		bufs[i] = memory_buf(&h->src, off, lens[i] + 1, true);
		T_OK(doca_buf_set_data(bufs[i], h->src.addr + off, lens[i]));
		if (i > 0)
			T_OK(doca_buf_chain_list(bufs[0], bufs[i]));
	}
	task = hasher_task(h, SHA512);
	T_OK(doca_sha_task_hash_set_src(task, bufs[0]));
	T_OK(doca_task_submit(doca_sha_task_hash_as_task(task)));
	hasher_wait(h, 2);
	T_STR_EQ(hasher_hex(h->out), expected);
	doca_task_free(doca_sha_task_hash_as_task(task));
	T_OK(doca_buf_dec_refcount(bufs[0], NULL));
}

/* The destination's data is overwritten from where it begins, however much it has. */
HASHER_CASE(destination)
{
	struct doca_sha_task_hash *task = hasher_task(h, SHA256);
	unsigned int i;

	memcpy(h->src.addr, TEXT, strlen(TEXT));
	T_OK(doca_buf_set_data(h->in, h->src.addr, strlen(TEXT)));
	memset(h->dst.addr, 0xee, HASHER_MAX_DIGEST);
	T_OK(doca_buf_set_data(h->out, h->dst.addr + 3, 50));
	for (i = 1; i <= 2; i++) {
		T_OK(doca_task_submit(doca_sha_task_hash_as_task(task)));
		hasher_wait(h, i);
		T_STR_EQ(hasher_hex(h->out), TEXT_SHA256);
	}
	T_EQ(h->dst.addr[2], 0xee);
	T_EQ(h->dst.addr[3 + 32], 0xee);
	doca_task_free(doca_sha_task_hash_as_task(task));
}

/* A message of that many bytes, in parts. */
static const char *
hash_parts(struct hasher *h, enum doca_sha_algorithm algorithm, size_t len, size_t part)
{
	struct doca_sha_task_partial_hash *task = hasher_part(h, algorithm, h->out);
	unsigned int before = h->nb_done, nb = (unsigned int)((len + part - 1) / part);

	T_OK(doca_buf_reset_data_len(h->out));
	h->part = part;
	h->off = 0;
	h->len = len;
	hasher_next_part(h, task);
	hasher_wait(h, before + nb);
	doca_task_free(doca_sha_task_partial_hash_as_task(task));
	return hasher_hex(h->out);
}

/* behaviour: U3, U4 */
HASHER_CASE(parts)
{
	static const size_t ends[] = { 1, 63, 64 };
	char expected[2 * HASHER_MAX_DIGEST + 1];
	size_t i, len;

	memcpy(h->src.addr, TEXT, strlen(TEXT));
	T_STR_EQ(hash_parts(h, SHA256, strlen(TEXT), 64), TEXT_SHA256);
	for (i = 0; i < RTE_DIM(ends); i++) {
		len = 5 * 64 + ends[i];
		strcpy(expected, hasher_hash(h, SHA1, len));
		T_STR_EQ(hash_parts(h, SHA1, len, 64), expected);
	}
	strcpy(expected, hasher_hash(h, SHA512, 1000));
	T_STR_EQ(hash_parts(h, SHA512, 1000, 128), expected);
	/* 63 blocks each. */
	strcpy(expected, hasher_hash(h, SHA256, HASHER_SIZE));
	T_STR_EQ(hash_parts(h, SHA256, HASHER_SIZE, 4032), expected);
	/* In one part. */
	T_STR_EQ(hash_parts(h, SHA256, HASHER_SIZE, HASHER_SIZE), expected);
}

/* Until the last part the destination has no more data than before, and its bytes are as before. */
HASHER_CASE(destination_of_parts)
{
	struct doca_sha_task_partial_hash *task = hasher_part(h, SHA256, h->out);
	size_t len;

	memset(h->dst.addr, 0xee, HASHER_MAX_DIGEST);
	T_OK(doca_buf_set_data(h->in, h->src.addr, 128));
	T_OK(doca_task_submit(doca_sha_task_partial_hash_as_task(task)));
	hasher_wait(h, 1);
	T_GETS(doca_buf_get_data_len(h->out, &len), len, 0);
	T_EQ(h->dst.addr[0], 0xee);
	/* It is left unfinished. */
	doca_task_free(doca_sha_task_partial_hash_as_task(task));
}

/* behaviour: U5 */
HASHER_CASE(two_messages_at_once)
{
	struct doca_sha_task_partial_hash *a = hasher_part(h, SHA256, h->out), *b;
	struct doca_buf *out = memory_buf(&h->dst, 4096, 32, false);
	char expected[2 * HASHER_MAX_DIGEST + 1];
	unsigned int i;

	b = hasher_part(h, SHA256, out);
	memcpy(h->src.addr + 128, TEXT, strlen(TEXT));
	for (i = 0; i < 3; i++) {
		T_OK(doca_buf_set_data(h->in, h->src.addr + 64 * i, 64));
		if (i == 2) {
			T_OK(doca_sha_task_partial_hash_set_is_final_buf(a));
			T_OK(doca_sha_task_partial_hash_set_is_final_buf(b));
		}
		T_OK(doca_task_submit(doca_sha_task_partial_hash_as_task(a)));
		hasher_wait(h, 2 * i + 1);
		T_OK(doca_buf_set_data(h->in, h->src.addr + 128 + 64 * i, i == 2 ? 27 : 64));
		T_OK(doca_task_submit(doca_sha_task_partial_hash_as_task(b)));
		hasher_wait(h, 2 * i + 2);
	}
	T_STR_EQ(hasher_hex(out), TEXT_SHA256);
	strcpy(expected, hasher_hex(h->out));
	T_STR_EQ(hasher_hash(h, SHA256, 192), expected);
	doca_task_free(doca_sha_task_partial_hash_as_task(a));
	doca_task_free(doca_sha_task_partial_hash_as_task(b));
	T_OK(doca_buf_dec_refcount(out, NULL));
}

/* A hash of megabytes takes several turns; others have theirs. */
HASHER_CASE(long_messages)
{
	struct memory big;
	struct doca_buf *in;
	struct doca_sha_task_hash *task = hasher_task(h, SHA1);
	unsigned int turns = 0;

	memory_create_new(&big, h->dev, 1 << 20);
	memset(big.addr, 0, 1 << 20);
	in = memory_buf(&big, 0, 1 << 20, true);
	T_OK(doca_sha_task_hash_set_src(task, in));
	T_OK(doca_task_submit(doca_sha_task_hash_as_task(task)));
	T_WAIT((turns++, doca_pe_progress(h->pe)), h->nb_done + h->nb_errors > 0);
	/* 1 MiB of zeros. */
	T_STR_EQ(hasher_hex(h->out), "3b71f43ff30f4b15b5cd85dd9e95ebc7e84eb5a3");
	T_EQ(turns, 4);
	doca_task_free(doca_sha_task_hash_as_task(task));
	T_OK(doca_buf_dec_refcount(in, NULL));
	memory_destroy(&big);
}

/* behaviour: U6 */
HASHER_CASE(refused_submits)
{
	struct doca_sha_task_hash *task = hasher_task(h, SHA256);
	struct doca_sha_task_partial_hash *part = hasher_part(h, SHA512, h->out);
	struct doca_buf *small = memory_buf(&h->dst, 8192, 31, false), *more;
	struct doca_sha_task_hash *tight;

	T_OK(doca_sha_task_hash_alloc_init(h->sha, SHA256, h->in, small,
		(union doca_data){ .u64 = 5 }, &tight));
	T_INVALID(doca_task_submit(doca_sha_task_hash_as_task(tight)));
	doca_task_free(doca_sha_task_hash_as_task(tight));
	/* A list as destination. */
	more = memory_buf(&h->dst, 16384, 64, false);
	T_OK(doca_buf_chain_list(h->out, more));
	T_INVALID(doca_task_submit(doca_sha_task_hash_as_task(task)));
	T_OK(doca_buf_unchain_list(h->out, more));
	/* Parts: 64 is half of a block. */
	T_OK(doca_buf_set_data(h->in, h->src.addr, 64));
	T_INVALID(doca_task_submit(doca_sha_task_partial_hash_as_task(part)));
	T_OK(doca_buf_set_data(h->in, h->src.addr, 0));
	T_INVALID(doca_task_submit(doca_sha_task_partial_hash_as_task(part)));
	/* The last one may be so. */
	T_OK(doca_sha_task_partial_hash_set_is_final_buf(part));
	T_OK(doca_task_submit(doca_sha_task_partial_hash_as_task(part)));
	hasher_wait(h, 1);
	doca_task_free(doca_sha_task_hash_as_task(task));
	doca_task_free(doca_sha_task_partial_hash_as_task(part));
	T_OK(doca_buf_dec_refcount(small, NULL));
	T_OK(doca_buf_dec_refcount(more, NULL));
}

/* A task that fails, and what is behind it; its context stops. behaviour: U6, Y12 */
HASHER_CASE(failed_tasks)
{
	struct memory fixed;
	struct doca_sha_task_hash *bad, *behind;
	struct doca_buf *out;

	memory_create(&fixed, h->dev, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	out = memory_buf(&fixed, 0, 64, false);
	memset(fixed.addr, 0xee, 64);
	T_OK(doca_sha_task_hash_alloc_init(h->sha, SHA256, h->in, out,
		(union doca_data){ .u64 = 5 }, &bad));
	behind = hasher_task(h, SHA256);
	T_IS(doca_task_try_submit(doca_sha_task_hash_as_task(bad)), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_task_submit(doca_sha_task_hash_as_task(bad)));
	T_OK(doca_task_submit(doca_sha_task_hash_as_task(behind)));
	T_WAIT(doca_pe_progress(h->pe), h->nb_errors == 1);
	T_IS(h->status, DOCA_ERROR_NOT_PERMITTED);
	T_WAIT(doca_pe_progress(h->pe), ctx_is_idle(h->ctx));
	T_EQ(h->nb_errors, 2);
	T_IS(h->status, DOCA_ERROR_SHUTDOWN);
	T_EQ(fixed.addr[0], 0xee);
	T_OK(doca_buf_dec_refcount(out, NULL));
	memory_destroy(&fixed);
}

/* Freed, or stopped, when it has begun. */
static void
begin_long(struct hasher *h, struct memory *big, struct doca_buf **in,
		struct doca_sha_task_hash **task)
{
	memory_create_new(big, h->dev, 1 << 20);
	*in = memory_buf(big, 0, 1 << 20, true);
	*task = hasher_task(h, SHA1);
	T_OK(doca_sha_task_hash_set_src(*task, *in));
	T_OK(doca_task_submit(doca_sha_task_hash_as_task(*task)));
	T_EQ(doca_pe_progress(h->pe), 0);
}

HASHER_CASE(freed_in_the_middle)
{
	struct doca_sha_task_hash *task;
	struct doca_buf *in;
	struct memory big;

	begin_long(h, &big, &in, &task);
	doca_task_free(doca_sha_task_hash_as_task(task));
	/* The next one is done. */
	memcpy(h->src.addr, "abc", 3);
	T_STR_EQ(hasher_hash(h, SHA1, 3), "a9993e364706816aba3e25717850c26c9cd0d89d");
	T_EQ(h->nb_errors, 0);
	T_OK(doca_buf_dec_refcount(in, NULL));
	memory_destroy(&big);
}

HASHER_CASE(stopped_in_the_middle)
{
	struct doca_sha_task_hash *task;
	struct doca_buf *in;
	struct memory big;

	begin_long(h, &big, &in, &task);
	T_IS(doca_ctx_stop(h->ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(h->pe), ctx_is_idle(h->ctx));
	T_EQ(h->nb_errors, 1);
	T_IS(h->status, DOCA_ERROR_SHUTDOWN);
	T_OK(doca_buf_dec_refcount(in, NULL));
	memory_destroy(&big);
}

/* One each, sharing buffers. behaviour: U7 */
T_CASE(both_kinds)
{
	struct doca_sha_task_partial_hash *part, *other_part;
	struct doca_sha_task_hash *task, *other;
	const union doca_data none = { .u64 = 5 };
	char digest[2 * HASHER_MAX_DIGEST + 1];
	struct hasher h;

	hasher_create(&h);
	T_OK(doca_sha_task_hash_set_conf(h.sha, hasher_on_hash, hasher_on_hash, 0));
	T_OK(doca_sha_task_partial_hash_set_conf(h.sha, hasher_on_part, hasher_on_part, 0));
	T_IS(doca_sha_task_hash_alloc_init(h.sha, SHA1, h.in, h.out, none, &task), BAD_STATE);
	T_OK(doca_ctx_start(h.ctx));
	T_IS(doca_sha_task_hash_set_conf(h.sha, hasher_on_hash, hasher_on_hash, 0), BAD_STATE);
	task = hasher_task(&h, SHA256);
	part = hasher_part(&h, SHA256, h.out);
	T_IS(doca_sha_task_hash_alloc_init(h.sha, SHA1, h.in, h.out, none, &other),
		DOCA_ERROR_NO_MEMORY);
	T_IS(doca_sha_task_partial_hash_alloc_init(h.sha, SHA1, h.in, h.out, none, &other_part),
		DOCA_ERROR_NO_MEMORY);
	T_OK(doca_task_submit(doca_sha_task_hash_as_task(task)));
	T_OK(doca_task_submit(doca_sha_task_partial_hash_as_task(part)));
	hasher_wait(&h, 2);
	strcpy(digest, hasher_hex(h.out));
	T_EQ(strlen(digest), 64);
	/* The same message, to the same buffer. */
	memset(h.dst.addr, 0, 32);
	T_OK(doca_buf_set_data(h.in, h.src.addr, 0));
	T_OK(doca_sha_task_partial_hash_set_is_final_buf(part));
	T_OK(doca_task_submit(doca_sha_task_partial_hash_as_task(part)));
	hasher_wait(&h, 3);
	T_STR_EQ(hasher_hex(h.out), digest);
	doca_task_free(doca_sha_task_hash_as_task(task));
	doca_task_free(doca_sha_task_partial_hash_as_task(part));
	hasher_close(&h);
}

static void
check_capabilities(const struct doca_devinfo *info)
{
	static const struct {
		enum doca_sha_algorithm algorithm;
		uint32_t digest, block;
	} all[] = { { SHA1, 20, 64 }, { SHA256, 32, 64 }, { SHA512, 64, 128 } };
	const enum doca_sha_algorithm none = (enum doca_sha_algorithm)3;
	uint32_t value, i;
	uint64_t size;

	for (i = 0; i < RTE_DIM(all); i++) {
		T_OK(doca_sha_cap_task_hash_get_supported(info, all[i].algorithm));
		T_OK(doca_sha_cap_task_partial_hash_get_supported(info, all[i].algorithm));
		T_GETS(doca_sha_cap_get_min_dst_buf_size(info, all[i].algorithm, &value), value,
			all[i].digest);
		T_GETS(doca_sha_cap_get_partial_hash_block_size(info, all[i].algorithm, &value),
			value, all[i].block);
	}
	T_GETS(doca_sha_cap_get_max_src_buf_size(info, &size), size, UINT64_C(1) << 31);
	T_IS(doca_sha_cap_task_hash_get_supported(info, none), DOCA_ERROR_NOT_SUPPORTED);
	T_IS(doca_sha_cap_task_partial_hash_get_supported(info, none), DOCA_ERROR_NOT_SUPPORTED);
	T_IS(doca_sha_cap_get_min_dst_buf_size(info, none, &value), DOCA_ERROR_NOT_SUPPORTED);
	T_IS(doca_sha_cap_get_partial_hash_block_size(info, none, &value),
		DOCA_ERROR_NOT_SUPPORTED);
	T_INVALID(doca_sha_cap_get_min_dst_buf_size(info, SHA1, NULL));
	T_INVALID(doca_sha_cap_get_partial_hash_block_size(info, SHA1, NULL));
	T_INVALID(doca_sha_cap_get_max_src_buf_size(info, NULL));
}

/* behaviour: U8 */
T_CASE(capabilities)
{
	struct doca_dev *dpu = dev_open("dpu", "03:00.0"), *host = dev_open("host", "b1:00.0");
	uint32_t value;
	uint64_t size;

	check_capabilities(doca_dev_as_devinfo(dpu));
	check_capabilities(doca_dev_as_devinfo(host));
	T_INVALID(doca_sha_cap_task_hash_get_supported(NULL, SHA1));
	T_INVALID(doca_sha_cap_task_partial_hash_get_supported(NULL, SHA1));
	T_INVALID(doca_sha_cap_get_min_dst_buf_size(NULL, SHA1, &value));
	T_INVALID(doca_sha_cap_get_partial_hash_block_size(NULL, SHA1, &value));
	T_INVALID(doca_sha_cap_get_max_src_buf_size(NULL, &size));
	T_OK(doca_dev_close(dpu));
	T_OK(doca_dev_close(host));
}

/* Of the device table. */
T_CASE(limits)
{
	struct doca_sha_task_hash *task;
	struct hasher h;
	uint64_t size;

	device_table_write("[device dpu]\npci = 03:00.0\nlimit.sha_max_src_buf_size = 100\n"
		"[function pf0]\npci = b1:00.0\n");
	hasher_open(&h);
	T_GETS(doca_sha_cap_get_max_src_buf_size(doca_dev_as_devinfo(h.dev), &size), size, 100);
	task = hasher_task(&h, SHA1);
	T_OK(doca_buf_set_data(h.in, h.src.addr, 101));
	T_INVALID(doca_task_submit(doca_sha_task_hash_as_task(task)));
	T_OK(doca_buf_set_data(h.in, h.src.addr, 100));
	T_OK(doca_task_submit(doca_sha_task_hash_as_task(task)));
	hasher_wait(&h, 1);
	doca_task_free(doca_sha_task_hash_as_task(task));
	hasher_close(&h);
}

HASHER_CASE(arguments)
{
	const union doca_data none = { .u64 = 5 };
	struct doca_sha_task_partial_hash *part;
	struct doca_sha_task_hash *task;
	struct doca_sha *sha;

	T_INVALID(doca_sha_create(NULL, &sha));
	T_INVALID(doca_sha_create(h->dev, NULL));
	T_INVALID(doca_sha_destroy(NULL));
	T_IS(doca_sha_destroy(h->sha), DOCA_ERROR_IN_USE);
	T_CHECK(doca_sha_as_ctx(NULL) == NULL);
	T_CHECK(doca_sha_task_hash_as_task(NULL) == NULL);
	T_CHECK(doca_sha_task_partial_hash_as_task(NULL) == NULL);
	T_INVALID(doca_sha_task_hash_set_conf(NULL, hasher_on_hash, hasher_on_hash, 0));
	T_INVALID(doca_sha_task_partial_hash_set_conf(NULL, hasher_on_part, hasher_on_part, 0));
	T_INVALID(doca_sha_task_hash_alloc_init(NULL, SHA1, h->in, h->out, none, &task));
	T_INVALID(doca_sha_task_hash_alloc_init(h->sha, SHA1, NULL, h->out, none, &task));
	T_INVALID(doca_sha_task_hash_alloc_init(h->sha, SHA1, h->in, NULL, none, &task));
	T_INVALID(doca_sha_task_hash_alloc_init(h->sha, SHA1, h->in, h->out, none, NULL));
	T_IS(doca_sha_task_hash_alloc_init(h->sha, (enum doca_sha_algorithm)9, h->in, h->out, none,
		&task), DOCA_ERROR_NOT_SUPPORTED);
	T_INVALID(doca_sha_task_partial_hash_alloc_init(NULL, SHA1, h->in, h->out, none, &part));
	task = hasher_task(h, SHA1);
	part = hasher_part(h, SHA1, h->out);
	T_INVALID(doca_sha_task_hash_set_src(NULL, h->in));
	T_INVALID(doca_sha_task_hash_set_src(task, NULL));
	T_INVALID(doca_sha_task_partial_hash_set_src(NULL, h->in));
	T_INVALID(doca_sha_task_partial_hash_set_src(part, NULL));
	T_INVALID(doca_sha_task_partial_hash_set_is_final_buf(NULL));
	doca_task_free(doca_sha_task_hash_as_task(task));
	doca_task_free(doca_sha_task_partial_hash_as_task(part));
}

/* Programs pass a count here as well as its logarithm. */
T_CASE(numbers_of_tasks)
{
	struct hasher h;

	hasher_create(&h);
	T_OK(doca_sha_task_hash_set_conf(h.sha, hasher_on_hash, hasher_on_hash, 16));
	T_INVALID(doca_sha_task_hash_set_conf(h.sha, hasher_on_hash, hasher_on_hash, 17));
	T_INVALID(doca_sha_task_hash_set_conf(h.sha, hasher_on_hash, hasher_on_hash, 32));
	T_INVALID(doca_sha_task_hash_set_conf(h.sha, hasher_on_hash, hasher_on_hash, UINT32_MAX));
	T_INVALID(doca_sha_task_hash_set_conf(h.sha, NULL, hasher_on_hash, 0));
	T_INVALID(doca_sha_task_hash_set_conf(h.sha, hasher_on_hash, NULL, 0));
	T_OK(doca_ctx_start(h.ctx));
	hasher_close(&h);
}
