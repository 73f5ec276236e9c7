/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Tasks of DOCA DMA, SHA and Compress. A task is submitted again when it has completed. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_compress.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_sha.h>

#include "api/api.h"
#include "api/doca.h"
#include "app_mem.h"
#include "base/sample.h"

/* Memory that tasks work on. */
struct area {
	struct app_mem mem;
	struct doca_mmap *mmap;
	uint8_t *addr;     /* of the first buffer; in the other side, where the area is its */
	uint64_t stride;   /* to the next; 0: there is one */
};

struct slot {
	struct doca_accel *owner;
	struct doca_buf *src, *dst;
	struct doca_task *task;
	uint8_t *result;   /* where dst begins */
};

struct doca_accel {
	struct accel base;
	struct doca_dev *dev;
	struct area src, dst;
	size_t src_len;     /* of each source */
	bool looks;         /* at results: --verify */
	uint8_t *sample;    /* what is copied, digested or compressed */
	uint8_t *expected;  /* what results are; NULL: not known yet */
	size_t expected_len;
	struct doca_buf_inventory *inventory;
	union {
		struct doca_dma *dma;
		struct doca_sha *sha;
		struct doca_compress *compress;
	};
	struct doca_ctx *ctx;
	struct slot *slots;
};

static struct doca_accel *
doca_accel_of(struct accel *accel)
{
	return (struct doca_accel *)accel;
}

static const struct perf_params *
params_of(const struct doca_accel *a)
{
	return &a->base.run->params;
}

static bool
is_ok(struct doca_accel *a, doca_error_t ret, const char *what)
{
	return doca_ok(a->base.link, ret, what);
}

/* Memory */

static int
own_area(struct doca_accel *a, struct area *area, uint64_t len, uint8_t memory,
		enum doca_access_flag access)
{
	int rc = app_mem_get(&area->mem, len, memory);

	if (rc != 0)
		return perf_run_fail(a->base.run, "%llu bytes of memory: %s",
			(unsigned long long)len, strerror(-rc));
	area->addr = area->mem.addr;
	return is_ok(a, doca_mmap_create(&area->mmap), "create an mmap") &&
		is_ok(a, doca_mmap_set_memrange(area->mmap, area->addr, len), "mmap") &&
		is_ok(a, doca_mmap_set_permissions(area->mmap, access), "mmap") &&
		is_ok(a, doca_mmap_add_dev(area->mmap, a->dev), "mmap") &&
		is_ok(a, doca_mmap_start(area->mmap), "start an mmap") ? 0 : -ECANCELED;
}

static int
peer_area(struct doca_accel *a, struct area *area)
{
	const struct accel_export *peer = &a->base.peer;

	if (peer->desc_len > sizeof(peer->desc) || peer->nb_slots == 0)
		return perf_run_fail(a->base.run, "the peer's EXPORT is not whole");
	a->base.nb_slots = RTE_MIN(a->base.nb_slots, peer->nb_slots);
	area->addr = (uint8_t *)(uintptr_t)peer->addr;
	area->stride = peer->stride;
	return is_ok(a, doca_mmap_create_from_export(NULL, peer->desc, peer->desc_len, a->dev,
		&area->mmap), "import the peer's memory") ? 0 : -ECANCELED;
}

static void
close_area(struct area *area)
{
	if (area->mmap != NULL)
		doca_mmap_destroy(area->mmap);
	if (area->mem.addr != NULL)
		app_mem_close(&area->mem);
}

/* Buffers of a size, one for each slot. */
static int
own_slots(struct doca_accel *a, struct area *area, uint64_t size, uint8_t memory,
		enum doca_access_flag access)
{
	area->stride = RTE_ALIGN_CEIL(size, UINT64_C(64));
	return own_area(a, area, a->base.nb_slots * area->stride, memory, access);
}

static int
doca_lend(struct accel *accel)
{
	struct doca_accel *a = doca_accel_of(accel);
	const struct perf_params *p = params_of(a);
	const void *desc;
	size_t len;
	int rc;

	a->dev = doca_link_dev(accel->link);
	if (p->kind == ACCEL_COPY_TO)
		rc = own_slots(a, &a->dst, p->size, APP_MEMORY_HEAP,
			DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	else
		rc = own_area(a, &a->dst, p->size, APP_MEMORY_HEAP,
			DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	if (rc != 0)
		return -ECANCELED;
	if (p->kind == ACCEL_COPY_FROM)
		sample_fill(a->dst.addr, p->size);
	if (!is_ok(a, doca_mmap_export_pci(a->dst.mmap, a->dev, &desc, &len), "export an mmap"))
		return -ECANCELED;
	if (len > sizeof(accel->peer.desc))
		return perf_run_fail(accel->run, "a descriptor of %zu bytes", len);
	accel->peer = (struct accel_export){
		.addr = (uintptr_t)a->dst.addr, .stride = a->dst.stride,
		.nb_slots = accel->nb_slots, .desc_len = (uint32_t)len,
	};
	memcpy(accel->peer.desc, desc, len);
	return 0;
}

static uint64_t
doca_check_lent(struct accel *accel, uint32_t nb)
{
	const struct doca_accel *a = doca_accel_of(accel);
	const size_t size = accel->run->params.size;
	uint8_t *expected = malloc(size);
	uint64_t torn = 0;
	uint32_t i;

	if (expected == NULL)
		return nb;
	sample_fill(expected, size);
	for (i = 0; i < nb; i++)
		torn += memcmp(a->dst.addr + i * a->dst.stride, expected, size) != 0;
	free(expected);
	return torn;
}

/* Tasks */

/* Of deflate, the first result that decompresses to the sample is what others are. */
static bool
is_deflated(struct doca_accel *a, const uint8_t *result, size_t len)
{
	if (!sample_is_inflated(a->sample, params_of(a)->size, result, len))
		return false;
	a->expected = malloc(len);
	if (a->expected == NULL)
		return false;
	memcpy(a->expected, result, len);
	a->expected_len = len;
	return true;
}

static bool
is_torn(struct doca_accel *a, const struct slot *slot)
{
	size_t len = 0;

	if (!a->looks)
		return false;
	doca_buf_get_data_len(slot->dst, &len);
	if (a->expected == NULL)
		return !is_deflated(a, slot->result, len);
	return len != a->expected_len || memcmp(slot->result, a->expected, len) != 0;
}

static void
on_end(const struct slot *slot)
{
	const doca_error_t status = doca_task_get_status(slot->task);
	struct doca_accel *a = slot->owner;

	accel_done(&a->base, status == DOCA_SUCCESS && is_torn(a, slot));
	/* The context stops: at the end of a run those that are left, but after an error all. */
	if (status != DOCA_SUCCESS && !perf_run_over(a->base.run))
		is_ok(a, status, "a task");
}

#define CALLBACK(type) \
	static void \
	on_##type(struct doca_##type *task __rte_unused, union doca_data task_data, \
			union doca_data ctx_data __rte_unused) \
	{ \
		on_end(task_data.ptr); \
	}

CALLBACK(dma_task_memcpy)
CALLBACK(sha_task_hash)
CALLBACK(compress_task_compress_deflate)
CALLBACK(compress_task_decompress_deflate)
CALLBACK(compress_task_decompress_lz4_block)

/* Create the object of a kind of work, with as many tasks as there are slots. */

static bool
create_dma(struct doca_accel *a)
{
	if (!is_ok(a, doca_dma_create(a->dev, &a->dma), "create DOCA DMA"))
		return false;
	a->ctx = doca_dma_as_ctx(a->dma);
	return is_ok(a, doca_dma_task_memcpy_set_conf(a->dma, on_dma_task_memcpy,
		on_dma_task_memcpy, a->base.nb_slots), "--queue");
}

static bool
create_sha(struct doca_accel *a)
{
	if (!is_ok(a, doca_sha_create(a->dev, &a->sha), "create DOCA SHA"))
		return false;
	a->ctx = doca_sha_as_ctx(a->sha);
	return is_ok(a, doca_sha_task_hash_set_conf(a->sha, on_sha_task_hash, on_sha_task_hash,
		rte_log2_u32(a->base.nb_slots)), "--queue");
}

static bool
create_compress(struct doca_accel *a)
{
	const uint32_t nb = a->base.nb_slots;
	struct doca_compress *c;
	doca_error_t ret;

	if (!is_ok(a, doca_compress_create(a->dev, &a->compress), "create DOCA Compress"))
		return false;
	c = a->compress;
	a->ctx = doca_compress_as_ctx(c);
	switch (params_of(a)->kind) {
	case ACCEL_DEFLATE:
		ret = doca_compress_task_compress_deflate_set_conf(c,
			on_compress_task_compress_deflate, on_compress_task_compress_deflate, nb);
		break;
	case ACCEL_INFLATE:
		ret = doca_compress_task_decompress_deflate_set_conf(c,
			on_compress_task_decompress_deflate, on_compress_task_decompress_deflate,
			nb);
		break;
	default:
		ret = doca_compress_task_decompress_lz4_block_set_conf(c,
			on_compress_task_decompress_lz4_block,
			on_compress_task_decompress_lz4_block, nb);
	}
	return is_ok(a, ret, "--queue");
}

static void
destroy_dma(struct doca_accel *a)
{
	doca_dma_destroy(a->dma);
}

static void
destroy_sha(struct doca_accel *a)
{
	doca_sha_destroy(a->sha);
}

static void
destroy_compress(struct doca_accel *a)
{
	doca_compress_destroy(a->compress);
}

/* Make the task of a slot. */

#define MAKE(name, object, type) \
	static doca_error_t \
	name(struct doca_accel *a, struct slot *s, union doca_data data) \
	{ \
		struct doca_##type *task; \
		doca_error_t ret = doca_##type##_alloc_init(a->object, s->src, s->dst, data, \
			&task); \
		s->task = ret == DOCA_SUCCESS ? doca_##type##_as_task(task) : NULL; \
		return ret; \
	}

MAKE(make_copy, dma, dma_task_memcpy)
MAKE(make_deflate, compress, compress_task_compress_deflate)
MAKE(make_inflate, compress, compress_task_decompress_deflate)
MAKE(make_lz4, compress, compress_task_decompress_lz4_block)

static doca_error_t
make_hash(struct doca_accel *a, struct slot *s, union doca_data data)
{
	static const enum doca_sha_algorithm algorithms[ACCEL_NB_WORKS] = {
		[ACCEL_SHA1] = DOCA_SHA_ALGORITHM_SHA1,
		[ACCEL_SHA256] = DOCA_SHA_ALGORITHM_SHA256,
		[ACCEL_SHA512] = DOCA_SHA_ALGORITHM_SHA512,
	};
	struct doca_sha_task_hash *task;
	doca_error_t ret = doca_sha_task_hash_alloc_init(a->sha, algorithms[params_of(a)->kind],
		s->src, s->dst, data, &task);

	s->task = ret == DOCA_SUCCESS ? doca_sha_task_hash_as_task(task) : NULL;
	return ret;
}

/* Kinds of work */

/* Fill the source from *len* bytes of the sample. @return its length; 0: failed */
static size_t
copy_sample(const uint8_t *data, size_t len, uint8_t *to, size_t room)
{
	RTE_ASSERT(len <= room);
	RTE_SET_USED(room);
	memcpy(to, data, len);
	return len;
}

#define COPY { create_dma, destroy_dma, make_copy, copy_sample, \
		doca_dma_cap_task_memcpy_get_max_buf_size, true, NULL, 0 }
#define DIGEST(name, len) { create_sha, destroy_sha, make_hash, copy_sample, \
		doca_sha_cap_get_max_src_buf_size, false, name, len }
static const struct work {
	bool (*create)(struct doca_accel *a);
	void (*destroy)(struct doca_accel *a);
	doca_error_t (*make)(struct doca_accel *a, struct slot *s, union doca_data data);
	size_t (*fill)(const uint8_t *data, size_t len, uint8_t *to, size_t room);
	doca_error_t (*get_max)(const struct doca_devinfo *devinfo, uint64_t *max_src_len);
	bool is_sample;         /* the result is the sample */
	const char *digest;     /* its name and length; NULL, 0: the result is none */
	size_t digest_len;
} works[ACCEL_NB_WORKS] = {
	[ACCEL_COPY] = COPY,
	[ACCEL_COPY_FROM] = COPY,
	[ACCEL_COPY_TO] = COPY,
	[ACCEL_SHA1] = DIGEST("SHA1", 20),
	[ACCEL_SHA256] = DIGEST("SHA256", 32),
	[ACCEL_SHA512] = DIGEST("SHA512", 64),
	[ACCEL_DEFLATE] = { create_compress, destroy_compress, make_deflate, copy_sample,
		doca_compress_cap_task_compress_deflate_get_max_buf_size, false, NULL, 0 },
	[ACCEL_INFLATE] = { create_compress, destroy_compress, make_inflate, sample_deflate,
		doca_compress_cap_task_decompress_deflate_get_max_buf_size, true, NULL, 0 },
	[ACCEL_LZ4] = { create_compress, destroy_compress, make_lz4, sample_lz4,
		doca_compress_cap_task_decompress_lz4_block_get_max_buf_size, true, NULL, 0 },
};

static const struct work *
work_of(const struct doca_accel *a)
{
	return &works[params_of(a)->kind];
}

/* What results are, if that can be told before there is one. */
static bool
expect(struct doca_accel *a)
{
	const struct work *work = work_of(a);

	a->expected_len = work->is_sample ? params_of(a)->size : work->digest_len;
	if (work->is_sample)
		a->expected = a->sample;
	if (work->digest == NULL)
		return true;
	a->expected = malloc(work->digest_len);
	return a->expected != NULL && sample_digest(work->digest, a->sample, params_of(a)->size,
		a->expected);
}

static int
make_sample(struct doca_accel *a)
{
	const size_t size = params_of(a)->size;

	a->sample = malloc(size);
	if (a->sample == NULL)
		return perf_run_fail(a->base.run, "not enough memory for a sample");
	sample_fill(a->sample, size);
	return expect(a) ? 0 : perf_run_fail(a->base.run, "libcrypto: %s failed",
		work_of(a)->digest);
}

/* One source for all slots, which stays in the cache, as that of the floor. */
static int
fill_source(struct doca_accel *a)
{
	const size_t size = params_of(a)->size, room = RTE_MAX(sample_bound(size), size);

	if (own_area(a, &a->src, room, APP_MEMORY_SHARED, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE) != 0)
		return -ECANCELED;
	a->src_len = work_of(a)->fill(a->sample, size, a->src.addr, room);
	return a->src_len > 0 ? 0 : perf_run_fail(a->base.run, "--size: too large to compress");
}

static int
open_areas(struct doca_accel *a)
{
	const struct perf_params *p = params_of(a);
	const size_t digest_len = work_of(a)->digest_len;

	if (make_sample(a) != 0)
		return -ECANCELED;
	if (accel_has_peer(p) &&
			peer_area(a, p->kind == ACCEL_COPY_FROM ? &a->src : &a->dst) != 0)
		return -ECANCELED;
	if (p->kind != ACCEL_COPY_FROM && fill_source(a) != 0)
		return -ECANCELED;
	if (p->kind == ACCEL_COPY_TO)
		return 0;
	return own_slots(a, &a->dst, digest_len > 0 ? digest_len : RTE_MAX(sample_bound(p->size),
		p->size), APP_MEMORY_SHARED, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
}

static bool
is_within_limit(struct doca_accel *a)
{
	uint64_t max;

	if (!is_ok(a, work_of(a)->get_max(doca_dev_as_devinfo(a->dev), &max), "get a limit"))
		return false;
	if (a->src_len <= max)
		return true;
	perf_run_fail(a->base.run, "--size: a source of %zu bytes exceeds the device limit of %llu",
		a->src_len, (unsigned long long)max);
	return false;
}

static bool
open_slot(struct doca_accel *a, uint32_t i)
{
	const union doca_data data = { .ptr = &a->slots[i] };
	const size_t size = params_of(a)->size;
	struct slot *s = &a->slots[i];
	uint8_t *src = a->src.addr + i * a->src.stride;
	size_t room = a->dst.mem.addr != NULL ? a->dst.stride : size;

	s->owner = a;
	s->result = a->dst.addr + i * a->dst.stride;
	return is_ok(a, doca_buf_inventory_buf_get_by_data(a->inventory, a->src.mmap, src,
			a->src_len, &s->src), "get a buffer") &&
		is_ok(a, doca_buf_inventory_buf_get_by_addr(a->inventory, a->dst.mmap, s->result,
			room, &s->dst), "get a buffer") &&
		is_ok(a, work_of(a)->make(a, s, data), "make a task");
}

static int
doca_accel_open(struct accel *accel)
{
	struct doca_accel *a = doca_accel_of(accel);
	uint32_t i;

	a->dev = doca_link_dev(accel->link);
	a->src_len = accel->run->params.size;
	/* What was copied to the peer is its to look at. */
	a->looks = accel->run->params.verify && accel->run->params.kind != ACCEL_COPY_TO;
	if (open_areas(a) != 0 || !is_within_limit(a) || !work_of(a)->create(a) ||
			!doca_start(accel->link, accel->link->poll, a->ctx, a, "start") ||
			!is_ok(a, doca_buf_inventory_create(2 * accel->nb_slots, &a->inventory),
				"create an inventory") ||
			!is_ok(a, doca_buf_inventory_start(a->inventory), "start an inventory"))
		return -ECANCELED;
	a->slots = calloc(accel->nb_slots, sizeof(*a->slots));
	if (a->slots == NULL)
		return perf_run_fail(accel->run, "not enough memory for %u tasks",
			accel->nb_slots);
	for (i = 0; i < accel->nb_slots; i++)
		if (!open_slot(a, i))
			return -ECANCELED;
	return 0;
}

static int
doca_submit(struct accel *accel)
{
	struct doca_accel *a = doca_accel_of(accel);
	struct slot *s = &a->slots[accel->submitted % accel->nb_slots];

	if (!is_ok(a, doca_buf_set_data(s->dst, s->result, 0), "empty a buffer") ||
			!is_ok(a, doca_task_submit(s->task), "submit a task"))
		return -ECANCELED;
	accel->submitted++;
	return 0;
}

static void
free_tasks(struct doca_accel *a)
{
	uint32_t i;

	for (i = 0; a->slots != NULL && i < a->base.nb_slots; i++) {
		if (a->slots[i].task != NULL)
			doca_task_free(a->slots[i].task);
	}
}

static void
free_bufs(struct doca_accel *a)
{
	uint32_t i;

	for (i = 0; a->slots != NULL && i < a->base.nb_slots; i++) {
		if (a->slots[i].src != NULL)
			doca_buf_dec_refcount(a->slots[i].src, NULL);
		if (a->slots[i].dst != NULL)
			doca_buf_dec_refcount(a->slots[i].dst, NULL);
	}
	free(a->slots);
}

/* Tasks in flight complete with an error; it is IDLE when the last one is freed. */
static void
stop(struct doca_accel *a)
{
	if (doca_state(a->ctx) != DOCA_CTX_STATE_IDLE)
		doca_ctx_stop(a->ctx);
	while (a->base.done < a->base.submitted)
		link_poll(a->base.link);
	free_tasks(a);
	while (doca_state(a->ctx) != DOCA_CTX_STATE_IDLE)
		link_poll(a->base.link);
}

static void
doca_accel_close(struct accel *accel)
{
	struct doca_accel *a = doca_accel_of(accel);

	if (a->ctx != NULL)
		stop(a);
	free_bufs(a);
	if (a->inventory != NULL)
		doca_buf_inventory_destroy(a->inventory);
	if (a->ctx != NULL)
		work_of(a)->destroy(a);
	close_area(&a->src);
	close_area(&a->dst);
	if (a->expected != a->sample)
		free(a->expected);
	free(a->sample);
}

const struct accel_ops accel_ops_doca = {
	.size = sizeof(struct doca_accel),
	.lend = doca_lend,
	.check_lent = doca_check_lent,
	.open = doca_accel_open,
	.submit = doca_submit,
	.close = doca_accel_close,
};
