/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* DOCA Compress: arguments that are refused, and its settings. */

#include "accel/packer.h"
#include "common/file.h"
#include "t_main.h"

#define NOTHING(name) \
	static void \
	on_##name(struct doca_compress_task_##name *task __rte_unused, \
			union doca_data a __rte_unused, union doca_data b __rte_unused) \
	{ \
	}

NOTHING(compress_deflate)
NOTHING(decompress_deflate)
NOTHING(decompress_lz4_stream)
NOTHING(decompress_lz4_block)

/* The capabilities of a kind of tasks, and wrong arguments of its functions. */
#define CHECK_KIND(type, on, alloc, is_supported, max_buf_size, max_buf_list_len, set_conf, \
		as_task, get_src, get_dst, get_crc, get_sum) do { \
	struct type *task_; \
	uint64_t size_; \
	uint32_t len_; \
	T_OK(is_supported(info)); \
	T_INVALID(is_supported(NULL)); \
	T_GETS(max_buf_size(info, &size_), size_, max_size); \
	T_INVALID(max_buf_size(NULL, &size_)); \
	T_INVALID(max_buf_size(info, NULL)); \
	T_GETS(max_buf_list_len(info, &len_), len_, max_len); \
	T_INVALID(max_buf_list_len(NULL, &len_)); \
	T_INVALID(max_buf_list_len(info, NULL)); \
	T_INVALID(set_conf(NULL, on, on, 1)); \
	T_INVALID(set_conf(c, NULL, on, 1)); \
	T_INVALID(set_conf(c, on, NULL, 1)); \
	T_INVALID(set_conf(c, on, on, 0)); \
	T_INVALID(set_conf(c, on, on, 65537)); \
	T_IS(alloc(c, p.in, p.out, &task_), DOCA_ERROR_BAD_STATE); \
	T_INVALID(alloc(NULL, p.in, p.out, &task_)); \
	T_INVALID(alloc(c, NULL, p.out, &task_)); \
	T_INVALID(alloc(c, p.in, NULL, &task_)); \
	T_INVALID(alloc(c, p.in, p.out, NULL)); \
	T_CHECK(as_task(NULL) == NULL); \
	T_CHECK(get_src(NULL) == NULL); \
	T_CHECK(get_dst(NULL) == NULL); \
	T_EQ(get_crc(NULL), 0); \
	T_EQ(get_sum(NULL), 0); \
} while (0)

#define ALLOC_compress_deflate(c, in, out, task) \
	doca_compress_task_compress_deflate_alloc_init(c, in, out, USER_DATA, task)
#define ALLOC_decompress_deflate(c, in, out, task) \
	doca_compress_task_decompress_deflate_alloc_init(c, in, out, USER_DATA, task)
#define ALLOC_decompress_lz4_stream(c, in, out, task) \
	doca_compress_task_decompress_lz4_stream_alloc_init(c, 0, 1, in, out, USER_DATA, task)
#define ALLOC_decompress_lz4_block(c, in, out, task) \
	doca_compress_task_decompress_lz4_block_alloc_init(c, in, out, USER_DATA, task)

/* Those of a device; the others of an object that has not been started. */
static void
check_kinds(const struct doca_devinfo *info, uint64_t max_size, uint32_t max_len)
{
	struct doca_compress *c;
	struct packer p;

	packer_create(&p);
	c = p.compress;
	CHECK_KIND(doca_compress_task_compress_deflate, on_compress_deflate, ALLOC_compress_deflate,
		doca_compress_cap_task_compress_deflate_is_supported,
		doca_compress_cap_task_compress_deflate_get_max_buf_size,
		doca_compress_cap_task_compress_deflate_get_max_buf_list_len,
		doca_compress_task_compress_deflate_set_conf,
		doca_compress_task_compress_deflate_as_task,
		doca_compress_task_compress_deflate_get_src,
		doca_compress_task_compress_deflate_get_dst,
		doca_compress_task_compress_deflate_get_crc_cs,
		doca_compress_task_compress_deflate_get_adler_cs);
	CHECK_KIND(doca_compress_task_decompress_deflate, on_decompress_deflate,
		ALLOC_decompress_deflate,
		doca_compress_cap_task_decompress_deflate_is_supported,
		doca_compress_cap_task_decompress_deflate_get_max_buf_size,
		doca_compress_cap_task_decompress_deflate_get_max_buf_list_len,
		doca_compress_task_decompress_deflate_set_conf,
		doca_compress_task_decompress_deflate_as_task,
		doca_compress_task_decompress_deflate_get_src,
		doca_compress_task_decompress_deflate_get_dst,
		doca_compress_task_decompress_deflate_get_crc_cs,
		doca_compress_task_decompress_deflate_get_adler_cs);
	CHECK_KIND(doca_compress_task_decompress_lz4_stream, on_decompress_lz4_stream,
		ALLOC_decompress_lz4_stream,
		doca_compress_cap_task_decompress_lz4_stream_is_supported,
		doca_compress_cap_task_decompress_lz4_stream_get_max_buf_size,
		doca_compress_cap_task_decompress_lz4_stream_get_max_buf_list_len,
		doca_compress_task_decompress_lz4_stream_set_conf,
		doca_compress_task_decompress_lz4_stream_as_task,
		doca_compress_task_decompress_lz4_stream_get_src,
		doca_compress_task_decompress_lz4_stream_get_dst,
		doca_compress_task_decompress_lz4_stream_get_crc_cs,
		doca_compress_task_decompress_lz4_stream_get_xxh_cs);
	CHECK_KIND(doca_compress_task_decompress_lz4_block, on_decompress_lz4_block,
		ALLOC_decompress_lz4_block,
		doca_compress_cap_task_decompress_lz4_block_is_supported,
		doca_compress_cap_task_decompress_lz4_block_get_max_buf_size,
		doca_compress_cap_task_decompress_lz4_block_get_max_buf_list_len,
		doca_compress_task_decompress_lz4_block_set_conf,
		doca_compress_task_decompress_lz4_block_as_task,
		doca_compress_task_decompress_lz4_block_get_src,
		doca_compress_task_decompress_lz4_block_get_dst,
		doca_compress_task_decompress_lz4_block_get_crc_cs,
		doca_compress_task_decompress_lz4_block_get_xxh_cs);
	packer_close(&p);
}

/* behaviour: Z10 */
T_CASE(kinds)
{
	struct doca_dev *dpu = dev_open("dpu", "03:00.0"), *host = dev_open("host", "b1:00.0");

	check_kinds(doca_dev_as_devinfo(dpu), 128 << 20, 64);
	check_kinds(doca_dev_as_devinfo(host), 128 << 20, 64);
	T_OK(doca_dev_close(dpu));
	T_OK(doca_dev_close(host));
}

/* Of the device table. */
T_CASE(limits)
{
	struct doca_buf *more;
	struct doca_task *task;
	struct packer p;

	device_table_write("[device dpu]\npci = 03:00.0\nlimit.compress_max_buf_size = 100\n"
		"limit.compress_max_buf_list_len = 1\n[function pf0]\npci = b1:00.0\n");
	packer_open(&p);
	check_kinds(doca_dev_as_devinfo(p.dev), 100, 1);
	task = packer_compress(&p);
	packer_set_source(&p, NULL, 101);
	T_INVALID(doca_task_submit(task));
	packer_set_source(&p, NULL, 50);
	more = memory_buf(&p.src, 50, 50, true);
	T_OK(doca_buf_chain_list(p.in, more));
	T_INVALID(doca_task_submit(task));
	T_OK(doca_buf_unchain_list(p.in, more));
	T_OK(doca_buf_dec_refcount(more, NULL));
	packer_set_source(&p, NULL, 100);
	T_OK(packer_finish(&p, task));
	packer_close(&p);
}

PACKER_CASE(arguments)
{
	struct doca_compress_task_compress_deflate *task;
	struct doca_compress *compress;
	struct doca_task *two[2];

	T_INVALID(doca_compress_create(NULL, &compress));
	T_INVALID(doca_compress_create(p->dev, NULL));
	T_INVALID(doca_compress_destroy(NULL));
	T_IS(doca_compress_destroy(p->compress), DOCA_ERROR_IN_USE);
	T_CHECK(doca_compress_as_ctx(NULL) == NULL);
	T_IS(doca_compress_task_compress_deflate_set_conf(p->compress, on_compress_deflate,
		on_compress_deflate, 1), DOCA_ERROR_BAD_STATE);
	two[0] = packer_compress(p);
	two[1] = packer_compress(p);
	T_IS(doca_compress_task_compress_deflate_alloc_init(p->compress, p->in, p->out, USER_DATA,
		&task), DOCA_ERROR_NO_MEMORY);
	doca_task_free(two[0]);
	doca_task_free(two[1]);
}
