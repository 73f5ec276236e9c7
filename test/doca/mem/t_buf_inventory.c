/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* doca_buf_inventory. */

#include <stdlib.h>

#include <criterion/criterion.h>

#include "mem/mem.h"
#include "mem/stand_ins.h"

static uint8_t mem[1000];

Test(buf_inventory, null_arguments)
{
	struct doca_mmap *m = started_mmap(mem, sizeof(mem), 0);
	struct doca_buf_inventory *inv = started_inventory(1);
	const union doca_data data = { .u64 = 1 };
	union doca_data got;
	struct doca_buf *b, *c;
	uint32_t n;

	T_INVALID(doca_buf_inventory_create(1, NULL));
	T_INVALID(doca_buf_inventory_destroy(NULL));
	T_INVALID(doca_buf_inventory_start(NULL));
	T_INVALID(doca_buf_inventory_stop(NULL));
	T_INVALID(doca_buf_inventory_buf_get_by_args(NULL, m, mem, 1, mem, 1, &b));
	T_INVALID(doca_buf_inventory_buf_get_by_args(inv, NULL, mem, 1, mem, 1, &b));
	T_INVALID(doca_buf_inventory_buf_get_by_args(inv, m, NULL, 1, mem, 1, &b));
	T_INVALID(doca_buf_inventory_buf_get_by_args(inv, m, mem, 1, NULL, 1, &b));
	T_INVALID(doca_buf_inventory_buf_get_by_args(inv, m, mem, 1, mem, 1, NULL));
	T_OK(doca_buf_inventory_buf_get_by_addr(inv, m, mem, 1, &b));
	T_REFUSES_NULLS(doca_buf_inventory_buf_dup, inv, b, &c);
	T_INVALID(doca_buf_inventory_set_user_data(NULL, data));
	T_REFUSES_NULL(doca_buf_inventory_get_user_data, inv, &got);
	T_REFUSES_NULL(doca_buf_inventory_get_num_elements, inv, &n);
	T_REFUSES_NULL(doca_buf_inventory_get_num_free_elements, inv, &n);
	T_INVALID(doca_buf_inventory_expand(NULL, 1));
	T_OK(doca_buf_dec_refcount(b, NULL));
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_buf_inventory_destroy(inv));
}

Test(buf_inventory, create)
{
	struct doca_buf_inventory *inv = NULL;
	uint32_t n;

	T_INVALID(doca_buf_inventory_create(0, &inv));
	T_INVALID(doca_buf_inventory_create((size_t)UINT32_MAX + 1, &inv));
	T_INVALID(doca_buf_inventory_create(SIZE_MAX, &inv));
	T_CHECK(inv == NULL);
	T_OK(doca_buf_inventory_create(5, &inv));
	T_GETS(doca_buf_inventory_get_num_elements(inv, &n), n, 5);
	T_EQ(inventory_nb_free(inv), 5);
	T_OK(doca_buf_inventory_destroy(inv));
}

/* behaviour: M10 */
Test(buf_inventory, by_addr_by_data_by_args)
{
	struct doca_mmap *m = started_mmap(mem, sizeof(mem), 0);
	struct doca_buf_inventory *inv = started_inventory(3);
	struct doca_buf *b;

	T_OK(doca_buf_inventory_buf_get_by_addr(inv, m, mem + 1, 7, &b));
	T_CHECK(b->head == mem + 1 && b->data == mem + 1);
	T_EQ(b->len, 7);
	T_EQ(b->data_len, 0);
	T_EQ(b->refcount, 1);
	T_CHECK(b->mr != NULL && b->mr == impl_mmap_mr(m));
	T_OK(doca_buf_dec_refcount(b, NULL));
	T_OK(doca_buf_inventory_buf_get_by_data(inv, m, mem + 2, 8, &b));
	T_CHECK(b->head == mem + 2 && b->data == mem + 2);
	T_EQ(b->len, 8);
	T_EQ(b->data_len, 8);
	T_OK(doca_buf_dec_refcount(b, NULL));
	T_OK(doca_buf_inventory_buf_get_by_args(inv, m, mem, 100, mem + 40, 60, &b));
	T_CHECK(b->head == mem && b->data == mem + 40);
	T_EQ(b->len, 100);
	T_EQ(b->data_len, 60);
	T_CHECK(b->next == NULL && b->prev == NULL && b->mmap == m);
	T_OK(doca_buf_dec_refcount(b, NULL));
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_buf_inventory_destroy(inv));
}

/* behaviour: M10 */
Test(buf_inventory, bounds)
{
	struct doca_mmap *m = started_mmap(mem + 100, 800, 0);
	struct doca_buf_inventory *inv = started_inventory(1);
	const struct {
		size_t addr; /* all relative to mem */
		size_t len;
		size_t data;
		size_t data_len;
		bool good;
	} cases[] = {
		{ 100, 800, 100, 800, true },
		{ 100, 800, 900, 0, true },
		{ 900, 0, 900, 0, true },
		{ 99, 1, 99, 1, false },
		{ 99, 801, 100, 800, false },
		{ 100, 801, 100, 1, false },
		{ 899, 2, 899, 1, false },
		{ 901, 0, 901, 0, false },
		{ 500, SIZE_MAX, 500, 0, false },
		{ 101, SIZE_MAX, 101, 0, false },
		{ 200, 10, 199, 1, false },
		{ 200, 10, 199, 11, false },
		{ 200, 10, 200, 11, false },
		{ 200, 10, 209, 2, false },
		{ 200, 10, 211, 0, false },
		{ 200, 10, 205, SIZE_MAX, false },
		{ 200, 10, 201, SIZE_MAX, false },
		{ 200, 10, 199, SIZE_MAX, false },
		{ SIZE_MAX / 2, 1, SIZE_MAX / 2, 1, false },
	};
	struct doca_buf *b;
	unsigned int i;

	for (i = 0; i < RTE_DIM(cases); i++) {
		b = NULL;
		T_EQ(doca_buf_inventory_buf_get_by_args(inv, m,
			(void *)((uintptr_t)mem + cases[i].addr), cases[i].len,
			(void *)((uintptr_t)mem + cases[i].data), cases[i].data_len, &b),
			cases[i].good ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE);
		T_EQ(b != NULL, cases[i].good);
		T_EQ(inventory_nb_free(inv), cases[i].good ? 0 : 1);
		if (b != NULL)
			T_OK(doca_buf_dec_refcount(b, NULL));
	}
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_buf_inventory_destroy(inv));
}

/* behaviour: M10, M14, X5 */
Test(buf_inventory, exhaustion)
{
	struct doca_mmap *m = started_mmap(mem, sizeof(mem), 0);
	struct doca_buf_inventory *inv = started_inventory(3);
	struct doca_buf *bufs[3], *b = NULL;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		T_EQ(inventory_nb_free(inv), 3 - i);
		T_OK(doca_buf_inventory_buf_get_by_addr(inv, m, mem, 1, &bufs[i]));
	}
	T_IS(doca_buf_inventory_buf_get_by_addr(inv, m, mem, 1, &b), DOCA_ERROR_NO_MEMORY);
	T_IS(doca_buf_inventory_buf_get_by_data(inv, m, mem, 1, &b), DOCA_ERROR_NO_MEMORY);
	T_CHECK(b == NULL);
	T_OK(doca_buf_dec_refcount(bufs[1], NULL));
	T_GETS(doca_buf_inventory_buf_get_by_addr(inv, m, mem, 1, &b), b, bufs[1]);
	for (i = 0; i < 3; i++) {
		T_IS(doca_buf_inventory_destroy(inv), DOCA_ERROR_IN_USE);
		T_OK(doca_buf_dec_refcount(bufs[i], NULL));
	}
	/* The mmap may go first. */
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_buf_inventory_destroy(inv));
}

Test(buf_inventory, states)
{
	struct doca_mmap *m = started_mmap(mem, sizeof(mem), 0);
	const union doca_data data = { .u64 = 6 };
	struct doca_buf_inventory *inv;
	union doca_data got = data;
	struct doca_buf *b, *c;

	T_OK(doca_buf_inventory_create(2, &inv));
	T_IS(doca_buf_inventory_buf_get_by_addr(inv, m, mem, 1, &b), DOCA_ERROR_BAD_STATE);
	T_IS(doca_buf_inventory_set_user_data(inv, data), DOCA_ERROR_BAD_STATE);
	T_OK(doca_buf_inventory_get_user_data(inv, &got));
	T_EQ(got.u64, 0);
	T_OK(doca_buf_inventory_start(inv));
	T_OK(doca_buf_inventory_start(inv));
	T_OK(doca_buf_inventory_set_user_data(inv, data));
	T_OK(doca_buf_inventory_get_user_data(inv, &got));
	T_EQ(got.u64, 6);
	T_OK(doca_buf_inventory_buf_get_by_addr(inv, m, mem, 1, &b));
	/* What is out comes back after a stop. */
	T_OK(doca_buf_inventory_stop(inv));
	T_OK(doca_buf_inventory_stop(inv));
	T_IS(doca_buf_inventory_buf_get_by_addr(inv, m, mem, 1, &c), DOCA_ERROR_BAD_STATE);
	T_IS(doca_buf_inventory_buf_dup(inv, b, &c), DOCA_ERROR_BAD_STATE);
	T_OK(doca_buf_dec_refcount(b, NULL));
	T_EQ(inventory_nb_free(inv), 2);
	T_OK(doca_buf_inventory_start(inv));
	T_OK(doca_mmap_stop(m));
	T_IS(doca_buf_inventory_buf_get_by_addr(inv, m, mem, 1, &b), DOCA_ERROR_BAD_STATE);
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_buf_inventory_destroy(inv));
}

/* behaviour: M14 */
Test(buf_inventory, expand)
{
	struct doca_mmap *m = started_mmap(mem, sizeof(mem), 0);
	struct doca_buf *bufs[60];
	struct doca_buf_inventory *inv;
	unsigned int i, j;
	uint32_t n;

	T_OK(doca_buf_inventory_create(10, &inv));
	T_IS(doca_buf_inventory_expand(inv, 10), DOCA_ERROR_BAD_STATE);
	T_OK(doca_buf_inventory_start(inv));
	T_INVALID(doca_buf_inventory_expand(inv, 0));
	for (i = 0; i < RTE_DIM(bufs); i++) {
		if (i % 10 == 5) {
			T_OK(doca_buf_inventory_expand(inv, 10));
			T_GETS(doca_buf_inventory_get_num_elements(inv, &n), n, i + 15);
			T_EQ(inventory_nb_free(inv), 15);
		}
		T_OK(doca_buf_inventory_buf_get_by_data(inv, m, mem + i, 1, &bufs[i]));
		for (j = 0; j < i; j++)
			T_CHECK(bufs[j] != bufs[i]);
	}
	for (i = 0; i < RTE_DIM(bufs); i++) {
		T_CHECK(bufs[i]->head == mem + i);
		T_OK(doca_buf_dec_refcount(bufs[i], NULL));
	}
	T_EQ(inventory_nb_free(inv), 70);
	T_IS(doca_buf_inventory_expand(inv, UINT32_MAX), DOCA_ERROR_NO_MEMORY);
	T_EQ(inventory_nb_free(inv), 70);
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_buf_inventory_destroy(inv));
}

Test(buf_inventory, dup)
{
	struct doca_mmap *m = started_mmap(mem, sizeof(mem), 0);
	struct doca_buf_inventory *inv = started_inventory(3), *inv2 = started_inventory(3);
	struct doca_buf *a, *b, *c = NULL, *d = NULL;

	T_OK(doca_buf_inventory_buf_get_by_args(inv, m, mem, 100, mem + 40, 60, &a));
	T_OK(doca_buf_inc_refcount(a, NULL));
	T_OK(doca_buf_inventory_buf_dup(inv2, a, &c));
	T_CHECK(c != a && c->head == mem && c->data == mem + 40 && c->mr == a->mr);
	T_EQ(c->len, 100);
	T_EQ(c->data_len, 60);
	T_EQ(c->refcount, 1);
	T_EQ(mmap_nb_bufs(m), 2);
	T_OK(doca_buf_dec_refcount(c, NULL));

	/* A list is copied as a whole, or not at all. */
	T_OK(doca_buf_inventory_buf_get_by_data(inv, m, mem, 1, &b));
	T_OK(doca_buf_chain_list(a, b));
	T_IS(doca_buf_inventory_buf_dup(inv2, b, &d), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_buf_inventory_buf_dup(inv, a, &d), DOCA_ERROR_NO_MEMORY);
	T_CHECK(d == NULL);
	T_EQ(inventory_nb_free(inv), 1);
	T_OK(doca_buf_inventory_buf_dup(inv2, a, &d));
	T_EQ(inventory_nb_free(inv2), 1);
	T_CHECK(d->head == a->head && d->next->head == b->head);
	T_CHECK(d->next->prev == d && d->prev == NULL && d->next->next == NULL);
	T_OK(doca_buf_dec_refcount(d, NULL));
	T_EQ(inventory_nb_free(inv2), 3);
	T_OK(doca_buf_dec_refcount(a, NULL));
	T_OK(doca_buf_dec_refcount(a, NULL));
	T_IS(doca_buf_inventory_buf_dup(inv2, a, &d), DOCA_ERROR_BAD_STATE);
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_buf_inventory_destroy(inv));
	T_OK(doca_buf_inventory_destroy(inv2));
}

/* A buf that outlived the start of its mmap: none is made on it any more. */
Test(buf_inventory, dup_of_a_stopped_mmap)
{
	struct doca_buf_inventory *inv = started_inventory(2);
	struct doca_mmap *m;
	struct doca_buf *a, *b;

	T_OK(doca_mmap_create(&m));
	T_OK(doca_mmap_enable_thread_safety(m));
	T_OK(doca_mmap_set_memrange(m, mem, sizeof(mem)));
	T_OK(doca_mmap_start(m));
	T_OK(doca_buf_inventory_buf_get_by_addr(inv, m, mem, 1, &a));
	T_OK(doca_mmap_stop(m));
	T_IS(doca_buf_inventory_buf_dup(inv, a, &b), DOCA_ERROR_BAD_STATE);
	T_OK(doca_buf_dec_refcount(a, NULL));
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_buf_inventory_destroy(inv));
}
