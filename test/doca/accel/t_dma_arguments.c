/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Arguments of DOCA DMA that are refused, and its settings. */

#include <stdlib.h>

#include <doca_compress.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

#include "accel/copier.h"
#include "common/file.h"
#include "t_main.h"

static void
nothing(struct doca_dma_task_memcpy *task __rte_unused, union doca_data a __rte_unused,
		union doca_data b __rte_unused)
{
}

/* behaviour: Y9 */
T_CASE(capabilities)
{
	struct copier c;
	const struct doca_devinfo *info;
	uint64_t size;
	uint32_t nb;

	copier_open(&c);
	info = doca_dev_as_devinfo(c.dev);
	T_OK(doca_dma_cap_task_memcpy_get_max_buf_size(info, &size));
	T_GE(size, UINT64_C(1) << 30);
	T_REFUSES_NULL(doca_dma_cap_task_memcpy_get_max_buf_size, info, &size);
	T_REFUSES_NULL(doca_dma_cap_task_memcpy_get_max_buf_list_len, info, &nb);
	T_INVALID(doca_dma_cap_task_memcpy_is_supported(NULL));
	T_GETS(doca_dma_cap_get_max_num_tasks(c.dma, &nb), nb, 65536);
	T_REFUSES_NULL(doca_dma_cap_get_max_num_tasks, c.dma, &nb);
	copier_close(&c);
}

static void
check_devices(const char *role)
{
	struct doca_devinfo **list;
	uint32_t i, nb;

	setenv("COMCH_ROLE", role, 1);
	T_OK(doca_devinfo_create_list(&list, &nb));
	T_EQ(nb, 2);
	for (i = 0; i < nb; i++) {
		T_OK(doca_dma_cap_task_memcpy_is_supported(list[i]));
		T_OK(doca_sha_cap_task_hash_get_supported(list[i], DOCA_SHA_ALGORITHM_SHA1));
		T_OK(doca_compress_cap_task_compress_deflate_is_supported(list[i]));
		T_OK(doca_compress_cap_task_decompress_deflate_is_supported(list[i]));
		T_OK(doca_compress_cap_task_decompress_lz4_stream_is_supported(list[i]));
		T_OK(doca_compress_cap_task_decompress_lz4_block_is_supported(list[i]));
		T_OK(doca_sync_event_cap_task_get_is_supported(list[i]));
		T_OK(doca_sync_event_cap_task_notify_set_is_supported(list[i]));
		T_OK(doca_sync_event_cap_task_notify_add_is_supported(list[i]));
		T_OK(doca_sync_event_cap_task_wait_eq_is_supported(list[i]));
		T_OK(doca_sync_event_cap_task_wait_neq_is_supported(list[i]));
	}
	T_OK(doca_devinfo_destroy_list(list));
}

/* All devices have all accelerators, so programs may take the first. behaviour: Y9 */
T_CASE(every_device)
{
	device_table_write("[device dpu]\npci = 03:00.0\n[device dpu2]\npci = 04:00.0\n"
		"[function pf0]\ndevice = dpu\npci = b1:00.0\n"
		"[function pf1]\ndevice = dpu2\npci = b1:00.1\n");
	check_devices("dpu");
	check_devices("host");
}

T_CASE(objects)
{
	struct doca_gpu_dma *gpu;
	struct doca_dma *dma;
	struct copier c;

	copier_open(&c);
	T_INVALID(doca_dma_create(NULL, &dma));
	T_INVALID(doca_dma_create(c.dev, NULL));
	T_INVALID(doca_dma_create((struct doca_dev *)(void *)&dma, &dma));
	T_INVALID(doca_dma_destroy(NULL));
	T_CHECK(doca_dma_as_ctx(NULL) == NULL);
	T_IS(doca_dma_destroy(c.dma), DOCA_ERROR_IN_USE);
	T_IS(doca_dev_close(c.dev), DOCA_ERROR_IN_USE);
	T_IS(doca_dma_get_gpu_handle(c.dma, &gpu), DOCA_ERROR_NOT_SUPPORTED);
	T_REFUSES_NULL(doca_dma_get_gpu_handle, c.dma, &gpu);
	T_IS(doca_dma_set_ordered_completions(c.dma, 1), DOCA_ERROR_BAD_STATE);
	T_OK(doca_ctx_stop(c.ctx));
	T_OK(doca_dma_set_ordered_completions(c.dma, 1));
	T_OK(doca_dma_set_ordered_completions(c.dma, 0));
	T_INVALID(doca_dma_set_ordered_completions(NULL, 1));
	copier_close(&c);
}

/* behaviour: C2, C4, C11 */
T_CASE(configuration)
{
	struct copier c;
	struct doca_ctx *ctx;
	struct doca_dma *dma;

	copier_open(&c);
	T_IS(doca_dma_task_memcpy_set_conf(c.dma, nothing, nothing, 1), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dma_create(c.dev, &dma));
	ctx = doca_dma_as_ctx(dma);
	T_INVALID(doca_dma_task_memcpy_set_conf(NULL, nothing, nothing, 1));
	T_INVALID(doca_dma_task_memcpy_set_conf(dma, NULL, nothing, 1));
	T_INVALID(doca_dma_task_memcpy_set_conf(dma, nothing, NULL, 1));
	T_INVALID(doca_dma_task_memcpy_set_conf(dma, nothing, nothing, 0));
	T_INVALID(doca_dma_task_memcpy_set_conf(dma, nothing, nothing, 65537));
	T_IS(doca_ctx_start(ctx), DOCA_ERROR_NOT_CONNECTED);
	T_OK(doca_pe_connect_ctx(c.pe, ctx));
	T_INVALID(doca_ctx_start(ctx));
	T_OK(doca_dma_task_memcpy_set_conf(dma, nothing, nothing, 65536));
	T_OK(doca_ctx_start(ctx));
	T_OK(doca_ctx_stop(ctx));
	T_OK(doca_dma_destroy(dma));
	copier_close(&c);
}

/* What a card has, the device table can say. */
T_CASE(limits)
{
	const struct doca_devinfo *info;
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst;
	struct copier c;
	uint64_t size;
	uint32_t nb;

	device_table_write("[device dpu]\npci = 03:00.0\nlimit.dma_max_buf_size = 100\n"
		"limit.dma_max_buf_list_len = 2\nlimit.dma_max_num_tasks = 256\n"
		"[function pf0]\npci = b1:00.0\n");
	copier_open(&c);
	info = doca_dev_as_devinfo(c.dev);
	T_GETS(doca_dma_cap_task_memcpy_get_max_buf_size(info, &size), size, 100);
	T_GETS(doca_dma_cap_task_memcpy_get_max_buf_list_len(info, &nb), nb, 2);
	T_GETS(doca_dma_cap_get_max_num_tasks(c.dma, &nb), nb, 256);
	src = memory_buf(&c.src, 0, 101, true);
	dst = memory_buf(&c.dst, 0, 200, false);
	task = copier_task(&c, src, dst);
	T_INVALID(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	T_OK(doca_buf_set_data(src, c.src.addr, 100));
	T_OK(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	copier_wait(&c, 1);
	T_EQ(c.nb_done, 1);
	T_EQ(data_len(dst), 100);
	T_EQ(memcmp(c.dst.addr, c.src.addr, 100), 0);
	T_OK(doca_ctx_stop(c.ctx));
	T_INVALID(doca_dma_task_memcpy_set_conf(c.dma, nothing, nothing, 257));
	free_bufs(src, dst);
	copier_close(&c);
}

/* fault.* of the device table come in accelerators, too. */
T_CASE(faults)
{
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst;
	struct copier c;

	device_table_write("[device dpu]\npci = 03:00.0\nfault.again = 1\nfault.error = 2\n"
		"fault.late = 3\nfault.late_ms = 1\n[function pf0]\npci = b1:00.0\n");
	copier_open(&c);
	src = memory_buf(&c.src, 0, 10, true);
	dst = memory_buf(&c.dst, 0, 200, false);
	task = copier_task(&c, src, dst);
	T_IS(doca_task_submit(doca_dma_task_memcpy_as_task(task)), DOCA_ERROR_AGAIN);
	/* The error counts what was not refused, and stops the context as any does. */
	T_OK(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	copier_submit(&c, src, dst);
	T_WAIT(doca_pe_progress(c.pe), ctx_is_idle(c.ctx));
	T_EQ(c.nb_errors, 2);
	T_EQ(data_len(dst), 0);
	T_OK(doca_ctx_start(c.ctx));
	copier_submit(&c, src, dst);
	copier_wait(&c, 3);
	T_EQ(c.nb_done, 1);
	T_EQ(data_len(dst), 10);
	free_bufs(src, dst);
	copier_close(&c);
}

/* behaviour: P14 */
T_CASE(tasks)
{
	const union doca_data none = { .u64 = 0 };
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst;
	struct copier c;

	copier_open(&c);
	src = memory_buf(&c.src, 0, 10, true);
	dst = memory_buf(&c.dst, 0, 10, false);
	T_INVALID(doca_dma_task_memcpy_alloc_init(NULL, src, dst, none, &task));
	T_INVALID(doca_dma_task_memcpy_alloc_init(c.dma, NULL, dst, none, &task));
	T_INVALID(doca_dma_task_memcpy_alloc_init(c.dma, src, NULL, none, &task));
	T_INVALID(doca_dma_task_memcpy_alloc_init(c.dma, src, dst, none, NULL));
	T_CHECK(doca_dma_task_memcpy_as_task(NULL) == NULL);
	T_CHECK(doca_dma_task_memcpy_get_src(NULL) == NULL);
	T_CHECK(doca_dma_task_memcpy_get_dst(NULL) == NULL);
	doca_dma_task_memcpy_set_src(NULL, src);
	doca_dma_task_memcpy_set_dst(NULL, dst);
	/* Without a buffer, by a setter. */
	task = copier_task(&c, src, dst);
	doca_dma_task_memcpy_set_src(task, NULL);
	T_INVALID(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	doca_dma_task_memcpy_set_src(task, src);
	doca_dma_task_memcpy_set_dst(task, NULL);
	T_INVALID(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	T_OK(doca_ctx_stop(c.ctx));
	T_IS(doca_dma_task_memcpy_alloc_init(c.dma, src, dst, none, &task), DOCA_ERROR_BAD_STATE);
	free_bufs(src, dst);
	copier_close(&c);
}
