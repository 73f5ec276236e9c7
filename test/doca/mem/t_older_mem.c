/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* mmaps, bufs and inventories as programs of DOCA 1.2 to 2.2 see them. */

#include <stdlib.h>

#include <doca_buf_inventory.h>
#include <doca_dev.h>
#include <doca_mmap.h>

#include "common/result.h"
#include "t_main.h"

static uint8_t mem[4096];

static struct doca_dev *
open_dev(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t nb;

	T_OK(doca_devinfo_list_create(&list, &nb));
	T_OK(doca_dev_open(list[0], &dev));
	T_OK(doca_devinfo_list_destroy(list));
	return dev;
}

static struct doca_mmap *
create(void)
{
	struct doca_mmap *m;

	T_OK(doca_mmap_create(NULL, &m));
	return m;
}

T_CASE(user_data)
{
	const union doca_data data = { .u64 = 5 };
	union doca_data got = { .u64 = 1 };
	struct doca_mmap *m = create();

	T_OK(doca_mmap_get_user_data(m, &got));
	T_EQ(got.u64, 0);
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_mmap_create(&data, &m));
	T_OK(doca_mmap_get_user_data(m, &got));
	T_EQ(got.u64, 5);
	T_OK(doca_mmap_destroy(m));
	T_INVALID(doca_mmap_create(&data, NULL));
}

T_CASE(devices)
{
	struct doca_dev *dev = open_dev();
	struct doca_mmap *m = create();

	T_IS(doca_mmap_dev_rm(m, dev), DOCA_ERROR_NOT_FOUND);
	T_OK(doca_mmap_dev_add(m, dev));
	T_IS(doca_mmap_dev_add(m, dev), DOCA_ERROR_ALREADY_EXIST);
	T_IS(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	T_OK(doca_mmap_dev_rm(m, dev));
	T_REFUSES_NULL(doca_mmap_dev_add, m, dev);
	T_REFUSES_NULL(doca_mmap_dev_rm, m, dev);
	T_OK(doca_mmap_populate(m, mem, sizeof(mem), 4096, NULL, NULL));
	T_OK(doca_mmap_start(m));
	T_IS(doca_mmap_dev_add(m, dev), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_mmap_dev_rm(m, dev), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_dev_close(dev));
}

static void *freed;
static size_t freed_len;

static void
note_free(void *addr, size_t len, void *cookie)
{
	freed = addr;
	freed_len = len;
	T_CHECK(cookie == &freed);
}

T_CASE(populate)
{
	struct doca_mmap *m = create();
	void *addr;
	size_t len;

	T_INVALID(doca_mmap_populate(NULL, mem, 1, 4096, NULL, NULL));
	T_INVALID(doca_mmap_populate(m, NULL, 1, 4096, NULL, NULL));
	T_INVALID(doca_mmap_populate(m, mem, 0, 4096, NULL, NULL));
	T_OK(doca_mmap_populate(m, mem, 100, 4096, note_free, &freed));
	T_IS(doca_mmap_populate(m, mem, 100, 4096, NULL, NULL), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_mmap_start(m));
	T_IS(doca_mmap_populate(m, mem, 100, 4096, NULL, NULL), DOCA_ERROR_BAD_STATE);
	T_IS(doca_mmap_start(m), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_mmap_get_memrange(m, &addr, &len));
	T_CHECK(addr == mem);
	T_EQ(len, 100);
	T_OK(doca_mmap_stop(m));
	T_CHECK(freed == NULL);
	T_OK(doca_mmap_destroy(m));
	T_CHECK(freed == mem);
	T_EQ(freed_len, 100);
}

/* Of 1.5; from 2.0 on a start wants its memory. */
T_CASE(start_before_memory)
{
	struct doca_dev *dev = open_dev();
	struct doca_mmap *m = create();

	T_INVALID(doca_mmap_start(NULL));
	if (COMCH_DOCA_GENERATION >= 200) {
		T_INVALID(doca_mmap_start(m));
	} else {
		T_OK(doca_mmap_start(m));
		T_IS(doca_mmap_start(m), DOCA_ERROR_NOT_PERMITTED);
		T_OK(doca_mmap_dev_add(m, dev));
		T_OK(doca_mmap_stop(m));
		T_OK(doca_mmap_start(m));
		T_OK(doca_mmap_populate(m, mem, sizeof(mem), 4096, NULL, NULL));
		/* It has started. */
		T_IS(doca_mmap_start(m), DOCA_ERROR_NOT_PERMITTED);
		T_IS(doca_mmap_dev_rm(m, dev), DOCA_ERROR_NOT_PERMITTED);
	}
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_dev_close(dev));
}

static struct doca_mmap *
create_started(struct doca_dev *dev)
{
	struct doca_mmap *m = create();

	T_OK(doca_mmap_dev_add(m, dev));
	T_OK(doca_mmap_populate(m, mem, sizeof(mem), 4096, NULL, NULL));
	T_OK(doca_mmap_start(m));
	return m;
}

static void
import(const void *desc, size_t len, struct doca_dev *dev)
{
	struct doca_mmap *m;
	void *addr;
	size_t n;

	T_OK(doca_mmap_create_from_export(NULL, desc, len, dev, &m));
	T_OK(doca_mmap_get_memrange(m, &addr, &n));
	T_CHECK(addr == mem);
	T_EQ(n, sizeof(mem));
	T_IS(doca_mmap_start(m), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_mmap_destroy(m));
}

T_CASE(export)
{
	struct doca_dev *dev = open_dev();
	struct doca_mmap *m = create_started(dev), *other = create();
	const void *desc;
	void *copy;
	size_t len;

	T_OK(doca_mmap_export(m, dev, &copy, &len));
	T_OK(doca_mmap_export_dpu(m, dev, &desc, &len));
	T_CHECK(desc != copy);
	T_EQ(memcmp(desc, copy, len), 0);
	T_IS(doca_mmap_export(other, dev, &copy, &len), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_mmap_export_dpu(other, dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	T_INVALID(doca_mmap_export(NULL, dev, &copy, &len));
	T_INVALID(doca_mmap_export(m, NULL, &copy, &len));
	T_INVALID(doca_mmap_export(m, dev, NULL, &len));
	T_INVALID(doca_mmap_export(m, dev, &copy, NULL));
	import(desc, len, dev);
	/* The copy is the program's, and outlives the mmap. */
	T_OK(doca_mmap_destroy(m));
	import(copy, len, dev);
	free(copy);
	T_OK(doca_mmap_destroy(other));
	T_OK(doca_dev_close(dev));
}

/* As programs of 2.0 to 2.2 do it. */
T_CASE(permissions)
{
	struct doca_dev *dev = open_dev();
	struct doca_mmap *m = create();
	const void *desc;
	size_t len;

	T_EQ(DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE,
		DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	T_EQ(DOCA_ACCESS_LOCAL_WRITE, DOCA_ACCESS_LOCAL_READ_WRITE);
	T_EQ(DOCA_ACCESS_REMOTE_READ, DOCA_ACCESS_RDMA_WRITE);
	T_OK(doca_mmap_dev_add(m, dev));
	T_OK(doca_mmap_set_memrange(m, mem, sizeof(mem)));
	T_OK(doca_mmap_set_permissions(m, DOCA_ACCESS_DPU_READ_ONLY));
	T_OK(doca_mmap_start(m));
	T_OK(doca_mmap_export_dpu(m, dev, &desc, &len));
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_dev_close(dev));
}

static struct doca_buf_inventory *
create_inventory(size_t nb)
{
	const union doca_data data = { .u64 = 9 };
	struct doca_buf_inventory *inv;

	T_OK(doca_buf_inventory_create(&data, nb, DOCA_BUF_EXTENSION_NONE, &inv));
	T_OK(doca_buf_inventory_start(inv));
	return inv;
}

T_CASE(inventories)
{
	struct doca_buf_inventory *inv = create_inventory(1);
	struct doca_dev *dev = open_dev();
	struct doca_mmap *m = create_started(dev);
	union doca_data got;
	struct doca_buf *buf;
	uint16_t count;
	size_t len;

	T_OK(doca_buf_inventory_get_user_data(inv, &got));
	T_EQ(got.u64, 9);
	T_OK(doca_buf_inventory_buf_by_addr(inv, m, mem, 10, &buf));
	T_GETS(doca_buf_get_data_len(buf, &len), len, 0);
	T_GETS(doca_buf_refcount_add(buf, &count), count, 1);
	T_GETS(doca_buf_refcount_rm(buf, &count), count, 2);
	T_OK(doca_buf_refcount_rm(buf, NULL));
	T_OK(doca_buf_inventory_buf_by_data(inv, m, mem, 10, &buf));
	T_GETS(doca_buf_get_data_len(buf, &len), len, 10);
	T_IS(doca_buf_inventory_buf_by_data(inv, m, mem, 10, &buf), DOCA_ERROR_NO_MEMORY);
	T_OK(doca_buf_refcount_rm(buf, NULL));
	T_OK(doca_buf_inventory_buf_by_args(inv, m, mem, 10, mem + 2, 3, &buf));
	T_OK(doca_buf_refcount_rm(buf, NULL));
	T_INVALID(doca_buf_inventory_buf_by_args(inv, m, mem, 10, mem + 20, 3, &buf));
	T_INVALID(doca_buf_refcount_add(NULL, &count));
	T_INVALID(doca_buf_refcount_rm(NULL, &count));
	T_OK(doca_buf_inventory_destroy(inv));
	T_INVALID(doca_buf_inventory_create(NULL, 0, 0, &inv));
	T_INVALID(doca_buf_inventory_create(NULL, 1, 0, NULL));
	T_IS(doca_buf_inventory_create(NULL, 1, 1, &inv), DOCA_ERROR_NOT_SUPPORTED);
	T_OK(doca_buf_inventory_create(NULL, 1, 0, &inv));
	T_OK(doca_buf_inventory_get_user_data(inv, &got));
	T_EQ(got.u64, 0);
	T_OK(doca_buf_inventory_destroy(inv));
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_dev_close(dev));
}

T_CASE(lists)
{
	struct doca_buf_inventory *inv = create_inventory(2);
	struct doca_dev *dev = open_dev();
	struct doca_mmap *m = create_started(dev);
	struct doca_buf *a, *b, *other;
	uint8_t yes = 7;

	T_OK(doca_buf_inventory_buf_by_addr(inv, m, mem, 10, &a));
	T_OK(doca_buf_inventory_buf_by_addr(inv, m, mem, 10, &b));
	T_GETS(doca_buf_list_is_in_list(a, &yes), yes, 0);
	T_OK(doca_buf_list_chain(a, b));
	T_IS(doca_buf_list_chain(a, b), DOCA_ERROR_NOT_PERMITTED);
	T_GETS(doca_buf_list_is_in_list(a, &yes), yes, 1);
	T_GETS(doca_buf_list_is_first(b, &yes), yes, 0);
	T_GETS(doca_buf_list_is_last(b, &yes), yes, 1);
	T_GETS(doca_buf_list_next(a, &other), other, b);
	T_GETS(doca_buf_list_last(a, &other), other, b);
	T_OK(doca_buf_list_unchain(a, b));
	T_INVALID(doca_buf_list_unchain(a, b));
	T_OK(doca_buf_refcount_rm(a, NULL));
	T_OK(doca_buf_refcount_rm(b, NULL));
	T_OK(doca_buf_inventory_destroy(inv));
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_dev_close(dev));
}
