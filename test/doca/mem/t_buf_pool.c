/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* doca_buf_pool. */

#include <stdlib.h>

#include <criterion/criterion.h>

#include "mem/mem.h"
#include "mem/stand_ins.h"

static uint8_t mem[4096] __rte_aligned(4096);

static struct doca_buf_pool *
create(size_t nb, size_t size, size_t alignment, const struct doca_mmap *m)
{
	struct doca_buf_pool *pool;

	T_OK(doca_buf_pool_create(nb, size, m, &pool));
	if (alignment != 0)
		T_OK(doca_buf_pool_set_element_alignment(pool, alignment));
	return pool;
}

static uint32_t
nb_free(const struct doca_buf_pool *pool)
{
	uint32_t n = 77;

	T_OK(doca_buf_pool_get_num_free_elements(pool, &n));
	return n;
}

Test(buf_pool, null_arguments)
{
	struct doca_mmap *m = started_mmap(mem, sizeof(mem), 0);
	struct doca_buf_pool *pool = create(1, 1, 0, m);
	const union doca_data data = { .u64 = 1 };
	union doca_data got;
	struct doca_buf *b;
	uint32_t n;
	size_t a;

	T_INVALID(doca_buf_pool_create(1, 1, NULL, &pool));
	T_INVALID(doca_buf_pool_create(1, 1, m, NULL));
	T_INVALID(doca_buf_pool_create(0, 1, m, &pool));
	T_INVALID(doca_buf_pool_create((size_t)UINT32_MAX + 1, 1, m, &pool));
	T_INVALID(doca_buf_pool_create(1, 0, m, &pool));
	T_INVALID(doca_buf_pool_destroy(NULL));
	T_INVALID(doca_buf_pool_start(NULL));
	T_INVALID(doca_buf_pool_stop(NULL));
	T_REFUSES_NULL(doca_buf_pool_buf_alloc, pool, &b);
	T_INVALID(doca_buf_pool_set_user_data(NULL, data));
	T_INVALID(doca_buf_pool_set_element_alignment(NULL, 1));
	T_REFUSES_NULL(doca_buf_pool_get_num_elements, pool, &n);
	T_REFUSES_NULL(doca_buf_pool_get_num_free_elements, pool, &n);
	T_REFUSES_NULL(doca_buf_pool_get_user_data, pool, &got);
	T_REFUSES_NULL(doca_buf_pool_get_element_alignment, pool, &a);
	T_OK(doca_buf_pool_destroy(pool));
	T_OK(doca_mmap_destroy(m));
}

/* behaviour: M12 */
Test(buf_pool, elements)
{
	struct doca_mmap *m = started_mmap(mem, 1000, 0);
	struct doca_buf_pool *pool = create(10, 100, 0, m);
	struct doca_buf *bufs[10], *b = NULL;
	bool seen[10] = { false };
	unsigned int i, at;
	uint32_t n;

	T_GETS(doca_buf_pool_get_num_elements(pool, &n), n, 10);
	T_OK(doca_buf_pool_start(pool));
	for (i = 0; i < 10; i++) {
		T_EQ(nb_free(pool), 10 - i);
		T_OK(doca_buf_pool_buf_alloc(pool, &bufs[i]));
		at = (unsigned int)((uint8_t *)bufs[i]->head - mem);
		T_EQ(at % 100, 0);
		T_LT(at, 1000);
		T_CHECK(!seen[at / 100]);
		seen[at / 100] = true;
		T_EQ(bufs[i]->len, 100);
		T_CHECK(bufs[i]->data == bufs[i]->head && bufs[i]->mr == impl_mmap_mr(m));
		T_EQ(bufs[i]->data_len, 0);
	}
	T_IS(doca_buf_pool_buf_alloc(pool, &b), DOCA_ERROR_EMPTY);
	T_CHECK(b == NULL);
	T_EQ(mmap_nb_bufs(m), 10);
	/* What a user did with it is forgotten. */
	T_OK(doca_buf_set_data(bufs[3], (uint8_t *)bufs[3]->head + 10, 20));
	T_OK(doca_buf_dec_refcount(bufs[3], NULL));
	T_OK(doca_buf_pool_buf_alloc(pool, &b));
	T_CHECK(b == bufs[3] && b->data == b->head);
	T_EQ(b->data_len, 0);
	T_IS(doca_buf_pool_stop(pool), DOCA_ERROR_IN_USE);
	T_IS(doca_buf_pool_destroy(pool), DOCA_ERROR_IN_USE);
	T_IS(doca_mmap_stop(m), DOCA_ERROR_NOT_PERMITTED);
	for (i = 0; i < 10; i++)
		T_OK(doca_buf_dec_refcount(bufs[i], NULL));
	T_EQ(nb_free(pool), 10);
	T_OK(doca_buf_pool_stop(pool));
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_buf_pool_destroy(pool));
}

/* behaviour: M12 */
Test(buf_pool, sizes_and_alignments)
{
	static const struct {
		size_t begin; /* of the mmap in the page */
		size_t len;
		size_t nb;
		size_t size;
		size_t alignment;
		bool good;
	} cases[] = {
		{ 0, 1000, 10, 100, 1, true },
		{ 0, 999, 10, 100, 1, false },
		{ 0, 1000, 11, 100, 1, false },
		{ 0, 100, 1, 101, 1, false },
		/* 100 takes 128, but the last one needs no more than itself. */
		{ 0, 9 * 128 + 100, 10, 100, 64, true },
		{ 0, 9 * 128 + 99, 10, 100, 64, false },
		/* 63 bytes are lost before the first. */
		{ 1, 63 + 9 * 128 + 100, 10, 100, 64, true },
		{ 1, 63 + 9 * 128 + 99, 10, 100, 64, false },
		{ 64, 100, 1, 100, 64, true },
		/* An alignment greater than the memory. */
		{ 0, 4096, 1, 4096, 4096, true },
		{ 1, 4000, 1, 1, 4096, false },
		{ 0, 4096, 2, 1, 4096, false },
		{ 0, 4096, UINT16_MAX, 1, 1, false },
		{ 0, 4096, 4096, 1, 1, true },
		/* Sums that would wrap. */
		{ 0, 4096, 2, SIZE_MAX, 1, false },
		{ 0, 4096, 2, SIZE_MAX, 4096, false },
		{ 0, 4096, 3, SIZE_MAX / 2 + 1, 1, false },
		{ 1, 4095, 1, 1, SIZE_MAX / 2 + 1, false },
	};
	struct doca_buf_pool *pool;
	struct doca_buf *b;
	struct doca_mmap *m;
	unsigned int i;
	size_t a;

	for (i = 0; i < RTE_DIM(cases); i++) {
		m = started_mmap(mem + cases[i].begin, cases[i].len, 0);
		pool = create(cases[i].nb, cases[i].size, cases[i].alignment, m);
		T_GETS(doca_buf_pool_get_element_alignment(pool, &a), a, cases[i].alignment);
		T_EQ(doca_buf_pool_start(pool),
			cases[i].good ? DOCA_SUCCESS : DOCA_ERROR_INITIALIZATION);
		while (doca_buf_pool_buf_alloc(pool, &b) == DOCA_SUCCESS) {
			T_EQ((uintptr_t)b->head % cases[i].alignment, 0);
			T_CHECK((uint8_t *)b->head >= mem + cases[i].begin);
			T_CHECK((uint8_t *)b->head + b->len <= mem + cases[i].begin + cases[i].len);
			/* They do not overlap: each byte is written once. */
			memset(b->head, 1, b->len);
			T_OK(doca_buf_dec_refcount(b, NULL));
			break;
		}
		T_OK(doca_buf_pool_destroy(pool));
		T_OK(doca_mmap_destroy(m));
	}
}

/* behaviour: M12 */
Test(buf_pool, alignment_is_a_power_of_two)
{
	struct doca_mmap *m = started_mmap(mem, sizeof(mem), 0);
	struct doca_buf_pool *pool = create(1, 1, 0, m);
	size_t a = 0;

	T_GETS(doca_buf_pool_get_element_alignment(pool, &a), a, 1);
	T_INVALID(doca_buf_pool_set_element_alignment(pool, 0));
	T_INVALID(doca_buf_pool_set_element_alignment(pool, 3));
	T_INVALID(doca_buf_pool_set_element_alignment(pool, SIZE_MAX));
	T_OK(doca_buf_pool_set_element_alignment(pool, 8));
	T_GETS(doca_buf_pool_get_element_alignment(pool, &a), a, 8);
	T_OK(doca_buf_pool_destroy(pool));
	T_OK(doca_mmap_destroy(m));
}

Test(buf_pool, states)
{
	const union doca_data data = { .u64 = 6 };
	struct doca_mmap *m = started_mmap(mem, sizeof(mem), 0);
	struct doca_buf_pool *pool = create(2, 16, 0, m);
	union doca_data got = data;
	struct doca_buf *b;

	T_IS(doca_buf_pool_buf_alloc(pool, &b), DOCA_ERROR_BAD_STATE);
	T_OK(doca_buf_pool_stop(pool));
	T_OK(doca_mmap_stop(m));
	T_IS(doca_buf_pool_start(pool), DOCA_ERROR_BAD_STATE);
	T_OK(doca_mmap_start(m));
	T_OK(doca_buf_pool_get_user_data(pool, &got));
	T_EQ(got.u64, 0);
	T_OK(doca_buf_pool_set_user_data(pool, data));
	T_OK(doca_buf_pool_start(pool));
	T_IS(doca_buf_pool_start(pool), DOCA_ERROR_BAD_STATE);
	T_IS(doca_buf_pool_set_user_data(pool, data), DOCA_ERROR_BAD_STATE);
	T_IS(doca_buf_pool_set_element_alignment(pool, 2), DOCA_ERROR_BAD_STATE);
	T_OK(doca_buf_pool_get_user_data(pool, &got));
	T_EQ(got.u64, 6);
	T_OK(doca_buf_pool_stop(pool));
	T_IS(doca_buf_pool_buf_alloc(pool, &b), DOCA_ERROR_BAD_STATE);
	/* Another start of the mmap is another registration. */
	T_OK(doca_mmap_stop(m));
	T_OK(doca_mmap_start(m));
	T_OK(doca_buf_pool_start(pool));
	T_OK(doca_buf_pool_buf_alloc(pool, &b));
	T_CHECK(b->mr == impl_mmap_mr(m));
	T_OK(doca_buf_dec_refcount(b, NULL));
	T_OK(doca_buf_pool_stop(pool));
	T_OK(doca_buf_pool_set_element_alignment(pool, 64));
	T_OK(doca_buf_pool_start(pool));
	T_OK(doca_buf_pool_destroy(pool));
	T_OK(doca_mmap_destroy(m));
}

/* A started pool keeps its mmap, whether or not it has buffers in use. behaviour: M9 */
Test(buf_pool, keeps_its_mmap)
{
	struct doca_mmap *m = started_mmap(mem, sizeof(mem), 0);
	struct doca_buf_pool *pool = create(2, 16, 0, m), *too_large = create(2, 4096, 0, m);
	struct doca_buf *b;

	T_OK(doca_buf_pool_start(pool));
	T_IS(doca_mmap_stop(m), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_mmap_destroy(m), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_buf_pool_buf_alloc(pool, &b));
	T_OK(doca_buf_dec_refcount(b, NULL));
	/* A stop that does nothing, and a start that fails. */
	T_OK(doca_buf_pool_stop(pool));
	T_OK(doca_buf_pool_stop(pool));
	T_IS(doca_buf_pool_start(too_large), DOCA_ERROR_INITIALIZATION);
	T_OK(doca_mmap_stop(m));
	T_OK(doca_mmap_start(m));
	/* The end of the pool includes its stop. */
	T_OK(doca_buf_pool_start(pool));
	T_OK(doca_buf_pool_destroy(pool));
	T_OK(doca_buf_pool_destroy(too_large));
	T_OK(doca_mmap_destroy(m));
}
