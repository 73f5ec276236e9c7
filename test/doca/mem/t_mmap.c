/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* doca_mmap: set-up, life, devices, whom it lets go. */

#include <stdlib.h>
#include <sys/mman.h>

#include <criterion/criterion.h>

#include <rte_comch_mem.h>

#include "mem/mem.h"
#include "mem/stand_ins.h"

static uint8_t mem[4096];

Test(mmap, null_arguments)
{
	struct doca_mmap *m = started_mmap(mem, sizeof(mem), 0);
	struct doca_dev dev = STAND_IN_DEV("0000:03:00.0");
	const union doca_data data = { .u64 = 1 };
	union doca_data got;
	uint32_t n;
	uint8_t yes;
	void *addr;
	size_t len;

	T_INVALID(doca_mmap_create(NULL));
	T_INVALID(doca_mmap_destroy(NULL));
	T_INVALID(doca_mmap_start(NULL));
	T_INVALID(doca_mmap_stop(NULL));
	T_REFUSES_NULL(doca_mmap_add_dev, m, &dev);
	T_REFUSES_NULL(doca_mmap_rm_dev, m, &dev);
	T_INVALID(doca_mmap_set_memrange(NULL, mem, 1));
	T_INVALID(doca_mmap_set_free_cb(NULL, NULL, NULL));
	T_INVALID(doca_mmap_set_free_cb(m, NULL, NULL));
	T_INVALID(doca_mmap_set_max_num_devices(NULL, 1));
	T_INVALID(doca_mmap_set_permissions(NULL, 0));
	T_INVALID(doca_mmap_set_user_data(NULL, data));
	T_INVALID(doca_mmap_enable_thread_safety(NULL));
	T_REFUSES_NULLS(doca_mmap_get_memrange, m, &addr, &len);
	T_REFUSES_NULL(doca_mmap_get_user_data, m, &got);
	T_REFUSES_NULL(doca_mmap_get_max_num_devices, m, &n);
	T_REFUSES_NULL(doca_mmap_get_num_bufs, m, &n);
	T_REFUSES_NULL(doca_mmap_get_exported, m, &yes);
	T_REFUSES_NULL(doca_mmap_get_from_export, m, &yes);
	T_OK(doca_mmap_destroy(m));
}

/* behaviour: M1 */
Test(mmap, memrange_is_mandatory_and_set_once)
{
	struct doca_mmap *m;
	void *addr;
	size_t len;

	T_OK(doca_mmap_create(&m));
	T_INVALID(doca_mmap_start(m));
	T_IS(doca_mmap_get_memrange(m, &addr, &len), DOCA_ERROR_BAD_STATE);
	T_INVALID(doca_mmap_set_memrange(m, NULL, 1));
	T_INVALID(doca_mmap_set_memrange(m, mem, 0));
	T_INVALID(doca_mmap_set_memrange(m, mem, SIZE_MAX));
	T_OK(doca_mmap_set_memrange(m, mem, sizeof(mem)));
	T_IS(doca_mmap_set_memrange(m, mem, sizeof(mem)), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_mmap_start(m));
	T_OK(doca_mmap_get_memrange(m, &addr, &len));
	T_CHECK(addr == mem);
	T_EQ(len, sizeof(mem));
	T_OK(doca_mmap_stop(m));
	T_IS(doca_mmap_set_memrange(m, mem, sizeof(mem)), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_mmap_destroy(m));
}

static void
no_free_cb(void *addr __rte_unused, size_t len __rte_unused, void *cookie __rte_unused)
{
}

/* behaviour: M1 */
Test(mmap, setters_while_started)
{
	struct doca_mmap *m = started_mmap(mem, sizeof(mem), 0);
	const union doca_data data = { .u64 = 1 };

	T_IS(doca_mmap_start(m), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_mmap_set_memrange(m, mem, 1), DOCA_ERROR_BAD_STATE);
	T_IS(doca_mmap_set_dmabuf_memrange(m, 0, mem, 0, 1), DOCA_ERROR_BAD_STATE);
	T_IS(doca_mmap_set_dpa_memrange(m, (void *)mem, 1, 1), DOCA_ERROR_BAD_STATE);
	T_IS(doca_mmap_set_permissions(m, 0), DOCA_ERROR_BAD_STATE);
	T_IS(doca_mmap_set_free_cb(m, no_free_cb, NULL), DOCA_ERROR_BAD_STATE);
	T_IS(doca_mmap_set_user_data(m, data), DOCA_ERROR_BAD_STATE);
	T_IS(doca_mmap_set_max_num_devices(m, 2), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_mmap_enable_thread_safety(m), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_mmap_stop(m));
	T_OK(doca_mmap_set_permissions(m, 0));
	T_OK(doca_mmap_set_free_cb(m, no_free_cb, NULL));
	T_OK(doca_mmap_set_user_data(m, data));
	T_OK(doca_mmap_enable_thread_safety(m));
	T_IS(doca_mmap_set_max_num_devices(m, 2), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_mmap_start(m));
	T_OK(doca_mmap_destroy(m));
}

/* behaviour: M2 */
Test(mmap, permissions)
{
	struct doca_mmap *m;
	uint32_t i;

	T_OK(doca_mmap_create(&m));
	for (i = 0; i < 7; i++)
		T_OK(doca_mmap_set_permissions(m, 1U << i));
	for (; i < 32; i++)
		T_INVALID(doca_mmap_set_permissions(m, 1U << i));
	T_INVALID(doca_mmap_set_permissions(m, DOCA_ACCESS_FLAG_PCI_READ_ONLY |
		DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	T_OK(doca_mmap_set_permissions(m, DOCA_ACCESS_FLAG_PCI_READ_ONLY |
		DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	T_CHECK(!impl_mmap_is_writable(m));
	T_OK(doca_mmap_set_permissions(m, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	T_CHECK(impl_mmap_is_writable(m));
	T_OK(doca_mmap_destroy(m));
}

/* behaviour: M3, X6 */
Test(mmap, devices)
{
	struct doca_dev a = STAND_IN_DEV("0000:03:00.0"), b = STAND_IN_DEV("0000:03:00.1");
	struct doca_mmap *m;
	uint32_t n;

	T_OK(doca_mmap_create(&m));
	T_GETS(doca_mmap_get_max_num_devices(m, &n), n, 256);
	T_INVALID(doca_mmap_set_max_num_devices(m, 0));
	T_OK(doca_mmap_set_max_num_devices(m, 1));
	T_GETS(doca_mmap_get_max_num_devices(m, &n), n, 1);
	T_OK(doca_mmap_add_dev(m, &a));
	T_EQ(a.nb_holds, 1);
	T_IS(doca_mmap_add_dev(m, &a), DOCA_ERROR_ALREADY_EXIST);
	T_IS(doca_mmap_add_dev(m, &b), DOCA_ERROR_NO_MEMORY);
	T_IS(doca_mmap_rm_dev(m, &b), DOCA_ERROR_NOT_FOUND);
	T_OK(doca_mmap_set_max_num_devices(m, 2));
	T_OK(doca_mmap_add_dev(m, &b));
	T_INVALID(doca_mmap_set_max_num_devices(m, 1));
	T_OK(doca_mmap_rm_dev(m, &a));
	T_EQ(a.nb_holds, 0);
	T_OK(doca_mmap_set_memrange(m, mem, sizeof(mem)));
	T_OK(doca_mmap_start(m));
	T_IS(doca_mmap_add_dev(m, &a), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_mmap_rm_dev(m, &b), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_mmap_stop(m));
	T_OK(doca_mmap_add_dev(m, &a));
	T_OK(doca_mmap_destroy(m));
	T_EQ(a.nb_holds, 0);
	T_EQ(b.nb_holds, 0);
}

struct freed {
	int nb;
	void *addr;
	size_t len;
};

static void
count_free(void *addr, size_t len, void *cookie)
{
	struct freed *f = cookie;

	f->nb++;
	f->addr = addr;
	f->len = len;
}

static struct doca_mmap *
create_with_cb(struct freed *f)
{
	struct doca_mmap *m;

	T_OK(doca_mmap_create(&m));
	T_OK(doca_mmap_set_memrange(m, mem, sizeof(mem)));
	T_OK(doca_mmap_set_free_cb(m, count_free, f));
	return m;
}

/* behaviour: M4 */
Test(mmap, free_callback)
{
	struct freed f = { 0 }, g = { 0 };
	struct doca_mmap *m;

	m = create_with_cb(&f);
	T_OK(doca_mmap_destroy(m));
	T_EQ(f.nb, 0); /* never started */

	m = create_with_cb(&f);
	T_OK(doca_mmap_start(m));
	T_OK(doca_mmap_stop(m));
	T_OK(doca_mmap_start(m));
	T_EQ(f.nb, 0);
	T_OK(doca_mmap_destroy(m));
	T_EQ(f.nb, 1);
	T_CHECK(f.addr == mem);
	T_EQ(f.len, sizeof(mem));

	m = create_with_cb(&f);
	T_OK(doca_mmap_start(m));
	T_OK(doca_mmap_stop(m));
	T_OK(doca_mmap_set_free_cb(m, count_free, &g));
	T_OK(doca_mmap_destroy(m));
	T_EQ(f.nb, 1); /* changed, and not started since */
	T_EQ(g.nb, 0);
}

static void
free_shareable(void *addr, size_t len __rte_unused, void *cookie)
{
	*(int *)cookie = rte_comch_mem_free(addr);
}

/* Memory that must not be registered any more can be freed in the callback. */
Test(mmap, free_callback_owns_the_memory)
{
	void *shared = rte_comch_mem_alloc(100, SOCKET_ID_ANY);
	struct rte_comch_mr_info info;
	struct doca_mmap *m;
	int ret = 1;

	T_OK(doca_mmap_create(&m));
	T_OK(doca_mmap_set_memrange(m, shared, 100));
	T_OK(doca_mmap_set_free_cb(m, free_shareable, &ret));
	T_OK(doca_mmap_start(m));
	T_EQ(rte_comch_mem_info_get(impl_mmap_mr(m), &info), 0);
	T_EQ(info.kind, RTE_COMCH_MEM_SEALED);
	T_OK(doca_mmap_destroy(m));
	T_EQ(ret, 0);
}

/* Programs free the memory first, and then destroy what is still started. */
Test(mmap, destroy_does_not_touch_memory)
{
	const size_t len = 1 << 20;
	struct doca_mmap *m, *n;
	void *pages, *heap;

	pages = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	heap = malloc(len);
	m = started_mmap(pages, len, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	n = started_mmap(heap, len, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	munmap(pages, len);
	free(heap);
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_mmap_destroy(n));
}

/* Memory that cannot be touched can be started with, so none is. */
Test(mmap, start_does_not_touch_memory)
{
	const size_t len = (size_t)1 << 40;
	struct doca_mmap *m;
	void *pages;

	pages = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pages == MAP_FAILED)
		t_skip("no address space of 1 TiB");
	m = started_mmap(pages, len, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	T_OK(doca_mmap_stop(m));
	T_OK(doca_mmap_destroy(m));
	munmap(pages, len);
}

/* behaviour: M9, X5 */
Test(mmap, live_bufs_keep_it)
{
	struct doca_mmap *m = started_mmap(mem, sizeof(mem), 0);
	struct doca_buf_inventory *inv = started_inventory(2);
	struct doca_buf *a, *b;

	T_EQ(mmap_nb_bufs(m), 0);
	T_OK(doca_buf_inventory_buf_get_by_addr(inv, m, mem, 1, &a));
	T_OK(doca_buf_inventory_buf_get_by_addr(inv, m, mem, 1, &b));
	T_EQ(mmap_nb_bufs(m), 2);
	T_IS(doca_mmap_stop(m), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_mmap_destroy(m), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_buf_dec_refcount(a, NULL));
	T_EQ(mmap_nb_bufs(m), 1);
	T_IS(doca_mmap_stop(m), DOCA_ERROR_NOT_PERMITTED);
	T_STR_HAS(stand_in_log, "1 buffers");
	T_CHECK(impl_mmap_is_started(m));
	T_CHECK(impl_mmap_mr(m) != NULL);
	T_OK(doca_buf_dec_refcount(b, NULL));
	T_OK(doca_mmap_stop(m));
	T_CHECK(!impl_mmap_is_started(m));
	T_CHECK(impl_mmap_mr(m) == NULL);
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_buf_inventory_destroy(inv));
}

/* behaviour: M9 */
Test(mmap, thread_safety_does_not_count_bufs)
{
	struct doca_buf_inventory *inv = started_inventory(1);
	struct doca_mmap *m;
	struct doca_buf *buf;

	T_OK(doca_mmap_create(&m));
	T_OK(doca_mmap_set_memrange(m, mem, sizeof(mem)));
	T_OK(doca_mmap_enable_thread_safety(m));
	T_OK(doca_mmap_start(m));
	T_OK(doca_buf_inventory_buf_get_by_addr(inv, m, mem, 1, &buf));
	T_EQ(mmap_nb_bufs(m), 0);
	T_OK(doca_mmap_stop(m));
	T_OK(doca_mmap_destroy(m));
	/* The buf does not look for its mmap. */
	T_OK(doca_buf_dec_refcount(buf, NULL));
	T_OK(doca_buf_inventory_destroy(inv));
}

Test(mmap, held_by_objects)
{
	struct doca_mmap *m = started_mmap(mem, sizeof(mem), 0);

	impl_mmap_hold(m);
	impl_mmap_hold(m);
	T_IS(doca_mmap_stop(m), DOCA_ERROR_NOT_PERMITTED);
	impl_mmap_drop(m);
	T_IS(doca_mmap_destroy(m), DOCA_ERROR_NOT_PERMITTED);
	T_STR_HAS(stand_in_log, "1 objects");
	impl_mmap_drop(m);
	T_OK(doca_mmap_destroy(m));
}

Test(mmap, stop_is_idempotent_and_restarts)
{
	struct doca_mmap *m = started_mmap(mem, sizeof(mem), 0);

	T_OK(doca_mmap_stop(m));
	T_OK(doca_mmap_stop(m));
	T_OK(doca_mmap_start(m));
	T_CHECK(impl_mmap_mr(m) != NULL);
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_mmap_create(&m));
	T_OK(doca_mmap_stop(m));
	T_OK(doca_mmap_destroy(m));
}

Test(mmap, user_data)
{
	const union doca_data data = { .u64 = UINT64_C(0x1122334455667788) };
	union doca_data got = data;
	struct doca_mmap *m;

	T_OK(doca_mmap_create(&m));
	T_OK(doca_mmap_get_user_data(m, &got));
	T_EQ(got.u64, 0);
	T_OK(doca_mmap_set_user_data(m, data));
	T_OK(doca_mmap_get_user_data(m, &got));
	T_EQ(got.u64, data.u64);
	T_OK(doca_mmap_destroy(m));
}

/* EAL is started by the first mmap; when it cannot be, the mmap stays stopped. */
Test(mmap, start_failures)
{
	struct rte_comch_mr *mrs[8192];
	unsigned int nb = 0;
	struct doca_mmap *m;

	T_OK(doca_mmap_create(&m));
	T_EQ(stand_in_nb_eal_starts, 0);
	T_OK(doca_mmap_set_memrange(m, mem, sizeof(mem)));
	stand_in_eal_result = DOCA_ERROR_INITIALIZATION;
	T_IS(doca_mmap_start(m), DOCA_ERROR_INITIALIZATION);
	T_EQ(stand_in_nb_eal_starts, 1);
	T_CHECK(!impl_mmap_is_started(m));
	stand_in_eal_result = DOCA_SUCCESS;
	while (nb < RTE_DIM(mrs) && (mrs[nb] = rte_comch_mem_register(mem, 1, 0)) != NULL)
		nb++;
	T_LT(nb, RTE_DIM(mrs));
	T_IS(doca_mmap_start(m), DOCA_ERROR_NO_MEMORY);
	T_CHECK(!impl_mmap_is_started(m));
	while (nb > 0)
		T_EQ(rte_comch_mem_unregister(mrs[--nb]), 0);
	T_OK(doca_mmap_start(m));
	T_OK(doca_mmap_destroy(m));
}

Test(mmap, ranges_of_other_kinds)
{
	struct doca_dpa *dpa = (struct doca_dpa *)mem;
	struct doca_mmap *m;

	T_OK(doca_mmap_create(&m));
	T_INVALID(doca_mmap_set_dmabuf_memrange(NULL, 0, mem, 0, 1));
	T_INVALID(doca_mmap_set_dmabuf_memrange(m, -1, mem, 0, 1));
	T_INVALID(doca_mmap_set_dmabuf_memrange(m, 0, NULL, 0, 1));
	T_INVALID(doca_mmap_set_dmabuf_memrange(m, 0, mem, 0, 0));
	T_INVALID(doca_mmap_set_dmabuf_memrange(m, 0, mem, SIZE_MAX, 1));
	T_IS(doca_mmap_set_dmabuf_memrange(m, 0, mem, 0, 1), DOCA_ERROR_NOT_SUPPORTED);
	T_INVALID(doca_mmap_set_dpa_memrange(NULL, dpa, 1, 1));
	T_INVALID(doca_mmap_set_dpa_memrange(m, NULL, 1, 1));
	T_INVALID(doca_mmap_set_dpa_memrange(m, dpa, 0, 1));
	T_INVALID(doca_mmap_set_dpa_memrange(m, dpa, 1, 0));
	T_INVALID(doca_mmap_set_dpa_memrange(m, dpa, 1, SIZE_MAX));
	T_OK(doca_mmap_set_dpa_memrange(m, dpa, (uintptr_t)mem, 1));
	T_IS(doca_mmap_set_memrange(m, mem, 1), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_mmap_set_dmabuf_memrange(m, 0, mem, 0, 1), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_mmap_set_dpa_memrange(m, dpa, 1, 1), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_mmap_destroy(m));
}
