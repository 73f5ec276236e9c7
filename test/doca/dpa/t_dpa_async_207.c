/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Copies by device code of DOCA 2.7 and 2.8, which says if it wants an element. */

#include <string.h>

#include <doca_dpa_dev_buf.h>
#include <doca_mmap.h>

#include "dpa/call.h"
#include "t_main.h"

struct copy {
	doca_dpa_dev_async_ops_t ops;
	doca_dpa_dev_completion_t comp;
	doca_dpa_dev_mmap_t mmap;
	uint8_t mem[64];
};

static unsigned int
take_all(struct copy *c)
{
	doca_dpa_dev_completion_element_t element;
	unsigned int nb;

	for (nb = 0; doca_dpa_dev_get_completion(c->comp, &element) == 1; nb++)
		T_EQ(doca_dpa_dev_get_completion_user_data(element), 9);
	doca_dpa_dev_completion_ack(c->comp, nb);
	return nb;
}

static uint64_t
copy(void *arg)
{
	struct copy *c = arg;
	const uintptr_t at = (uintptr_t)c->mem;
	struct doca_dpa_dev_buf dst = { .addr = at + 32, .len = 8, .mmap = c->mmap };
	struct doca_dpa_dev_buf src = { .addr = at, .len = 3, .mmap = c->mmap };

	doca_dpa_dev_post_memcpy(c->ops, c->mmap, at + 8, c->mmap, at, 2, 0);
	T_EQ(take_all(c), 0);
	T_EQ(c->mem[9], 2);
	doca_dpa_dev_post_memcpy(c->ops, c->mmap, at + 16, c->mmap, at, 2, 1);
	T_EQ(take_all(c), 1);
	T_EQ(c->mem[17], 2);
	doca_dpa_dev_post_buf_memcpy(c->ops, (uintptr_t)&dst, (uintptr_t)&src, 0);
	T_EQ(take_all(c), 0);
	T_EQ(c->mem[34], 3);
	doca_dpa_dev_buf_set_addr((uintptr_t)&dst, at + 40);
	doca_dpa_dev_post_buf_memcpy(c->ops, (uintptr_t)&dst, (uintptr_t)&src, 1);
	T_EQ(take_all(c), 1);
	T_EQ(c->mem[42], 3);
	T_EQ(c->mem[43], 0);
	return 1;
}

DPA_CALLS_CASE(elements_on_request, t)
{
	struct copy c = { .mem = { 1, 2, 3, 4 } };
	struct doca_dpa_completion *comp;
	struct doca_dpa_async_ops *ops;
	struct doca_mmap *mmap;

	comp = dpa_call_completion(t, 4, NULL, &c.comp);
	T_OK(doca_dpa_async_ops_create(t->dpa, 4, 9, &ops));
	T_OK(doca_dpa_async_ops_attach(ops, comp));
	T_OK(doca_dpa_async_ops_start(ops));
	T_OK(doca_dpa_async_ops_get_dpa_handle(ops, &c.ops));
	T_OK(doca_mmap_create(&mmap));
	T_OK(doca_mmap_set_memrange(mmap, c.mem, sizeof(c.mem)));
	T_OK(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	T_OK(doca_mmap_add_dev(mmap, t->dev));
	T_OK(doca_mmap_start(mmap));
	T_OK(doca_mmap_dev_get_dpa_handle(mmap, t->dev, &c.mmap));
	T_EQ(dpa_call(t, copy, &c), 1);
	T_OK(doca_mmap_destroy(mmap));
	T_OK(doca_dpa_async_ops_destroy(ops));
	dpa_call_completion_destroy(comp);
}
