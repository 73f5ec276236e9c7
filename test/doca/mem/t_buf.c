/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* doca_buf: ranges, references, lists. */

#include <stdlib.h>

#include <criterion/criterion.h>

#include "mem/mem.h"
#include "mem/stand_ins.h"

#define NB 8

static uint8_t mem[4096];
static struct doca_mmap *m;
static struct doca_buf_inventory *inv;
static struct doca_buf *bufs[NB];

/* NB bufs of 100 bytes, data in [10, 30). */
static void
setup(void)
{
	unsigned int i;

	m = started_mmap(mem, sizeof(mem), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	inv = started_inventory(NB);
	for (i = 0; i < NB; i++)
		T_OK(doca_buf_inventory_buf_get_by_args(inv, m, mem + 100 * i, 100,
			mem + 100 * i + 10, 20, &bufs[i]));
}

/* Every test leaves all bufs free, or says what is still out. */
static void
teardown(void)
{
	unsigned int i;

	for (i = 0; i < NB; i++)
		while (doca_buf_dec_refcount(bufs[i], NULL) == DOCA_SUCCESS)
			;
	T_EQ(inventory_nb_free(inv), NB);
	T_EQ(mmap_nb_bufs(m), 0);
	T_OK(doca_mmap_destroy(m));
	T_OK(doca_buf_inventory_destroy(inv));
}

TestSuite(buf, .init = setup, .fini = teardown);

static uint16_t
refs(const struct doca_buf *buf)
{
	uint16_t n = 77;

	T_OK(doca_buf_get_refcount(buf, &n));
	return n;
}

static uint32_t
list_len(const struct doca_buf *buf)
{
	uint32_t n = 77;

	T_OK(doca_buf_get_list_len(buf, &n));
	return n;
}

Test(buf, null_arguments)
{
	struct doca_buf *b = bufs[0], *out;
	uint8_t yes;
	uint16_t n;
	uint32_t nb;
	size_t len;
	void *p;

	T_INVALID(doca_buf_inc_refcount(NULL, &n));
	T_INVALID(doca_buf_dec_refcount(NULL, &n));
	T_REFUSES_NULL(doca_buf_get_refcount, b, &n);
	T_REFUSES_NULL(doca_buf_get_len, b, &len);
	T_REFUSES_NULL(doca_buf_get_head, b, &p);
	T_REFUSES_NULL(doca_buf_get_data_len, b, &len);
	T_REFUSES_NULL(doca_buf_get_data, b, &p);
	T_INVALID(doca_buf_set_data(NULL, mem, 1));
	T_INVALID(doca_buf_set_data(b, NULL, 0));
	T_INVALID(doca_buf_set_data_len(NULL, 1));
	T_INVALID(doca_buf_reset_data_len(NULL));
	T_REFUSES_NULL(doca_buf_get_next_in_list, b, &out);
	T_REFUSES_NULL(doca_buf_get_last_in_list, b, &out);
	T_REFUSES_NULL(doca_buf_is_last_in_list, b, &yes);
	T_REFUSES_NULL(doca_buf_is_first_in_list, b, &yes);
	T_REFUSES_NULL(doca_buf_is_in_list, b, &yes);
	T_REFUSES_NULL(doca_buf_get_list_len, b, &nb);
	T_REFUSES_NULL(doca_buf_chain_list, b, b);
	T_REFUSES_NULLS(doca_buf_chain_list_tail, b, b, bufs[1]);
	T_REFUSES_NULL(doca_buf_unchain_list, b, b);
}

static void
check_data(const struct doca_buf *b, const void *data, size_t data_len)
{
	size_t len;
	void *p;

	T_GETS(doca_buf_get_data(b, &p), p, data);
	T_GETS(doca_buf_get_data_len(b, &len), len, data_len);
}

Test(buf, ranges)
{
	struct doca_buf *b = bufs[1];
	size_t len;
	void *p;

	T_GETS(doca_buf_get_head(b, &p), p, mem + 100);
	T_GETS(doca_buf_get_len(b, &len), len, 100);
	check_data(b, mem + 110, 20);
	T_EQ(impl_buf_room(b), 70);

	T_OK(doca_buf_set_data_len(b, 90));
	T_EQ(impl_buf_room(b), 0);
	T_INVALID(doca_buf_set_data_len(b, 91));
	T_INVALID(doca_buf_set_data_len(b, SIZE_MAX));
	check_data(b, mem + 110, 90);
	T_OK(doca_buf_reset_data_len(b));
	check_data(b, mem + 110, 0);
	T_EQ(impl_buf_room(b), 90);

	T_OK(doca_buf_set_data(b, mem + 100, 100));
	T_OK(doca_buf_set_data(b, mem + 200, 0));
	T_EQ(impl_buf_room(b), 0);
	T_INVALID(doca_buf_set_data(b, mem + 200, 1));
	T_INVALID(doca_buf_set_data(b, mem + 100, 101));
	T_INVALID(doca_buf_set_data(b, mem + 99, 1));
	T_INVALID(doca_buf_set_data(b, mem + 201, 0));
	T_INVALID(doca_buf_set_data(b, mem + 150, SIZE_MAX));
	T_INVALID(doca_buf_set_data(b, (void *)UINTPTR_MAX, 1));
	T_INVALID(doca_buf_set_data(b, (void *)1, SIZE_MAX));
	check_data(b, mem + 200, 0);
}

/* behaviour: M11 */
Test(buf, references)
{
	struct doca_buf *b = bufs[0];
	uint16_t n = 77;

	T_EQ(refs(b), 1);
	T_GETS(doca_buf_inc_refcount(b, &n), n, 1);
	T_OK(doca_buf_inc_refcount(b, NULL));
	T_EQ(refs(b), 3);
	T_GETS(doca_buf_dec_refcount(b, &n), n, 3);
	T_OK(doca_buf_dec_refcount(b, NULL));
	T_EQ(inventory_nb_free(inv), 0);
	T_GETS(doca_buf_dec_refcount(b, &n), n, 1);
	T_EQ(inventory_nb_free(inv), 1);
	T_EQ(refs(b), 0);
	n = 77;
	T_IS(doca_buf_dec_refcount(b, &n), DOCA_ERROR_BAD_STATE);
	T_IS(doca_buf_inc_refcount(b, &n), DOCA_ERROR_NOT_PERMITTED);
	T_EQ(n, 77);
	T_EQ(inventory_nb_free(inv), 1);
	T_CHECK(b->mr == NULL);
}

/* behaviour: M11 */
Test(buf, too_many_references)
{
	struct doca_buf *b = bufs[0];
	unsigned int i;
	uint16_t n = 0;

	for (i = 1; i < UINT16_MAX; i++)
		T_OK(doca_buf_inc_refcount(b, &n));
	T_EQ(n, UINT16_MAX - 1);
	T_IS(doca_buf_inc_refcount(b, &n), DOCA_ERROR_TOO_BIG);
	T_EQ(refs(b), UINT16_MAX);
}

/* behaviour: M13 */
Test(buf, list)
{
	struct doca_buf *out;
	unsigned int i;
	uint8_t yes;

	T_GETS(doca_buf_is_in_list(bufs[0], &yes), yes, 0);
	T_EQ(list_len(bufs[0]), 1);
	T_GETS(doca_buf_get_last_in_list(bufs[0], &out), out, bufs[0]);
	for (i = 1; i < 4; i++)
		T_OK(doca_buf_chain_list(bufs[0], bufs[i]));
	T_EQ(list_len(bufs[0]), 4);
	for (i = 0; i < 4; i++) {
		T_GETS(doca_buf_is_first_in_list(bufs[i], &yes), yes, i == 0);
		T_GETS(doca_buf_is_last_in_list(bufs[i], &yes), yes, i == 3);
		T_GETS(doca_buf_is_in_list(bufs[i], &yes), yes, 1);
		T_OK(doca_buf_get_next_in_list(bufs[i], &out));
		T_CHECK(out == (i == 3 ? NULL : bufs[i + 1]));
		T_GETS(doca_buf_get_last_in_list(bufs[i], &out), out, bufs[3]);
	}
}

/* behaviour: M13 */
Test(buf, only_the_head_of_a_list)
{
	uint32_t nb = 77;

	T_OK(doca_buf_chain_list(bufs[0], bufs[1]));
	T_IS(doca_buf_get_list_len(bufs[1], &nb), DOCA_ERROR_NOT_PERMITTED);
	T_EQ(nb, 77);
	T_IS(doca_buf_inc_refcount(bufs[1], NULL), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_buf_dec_refcount(bufs[1], NULL), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_buf_chain_list(bufs[1], bufs[2]), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_buf_chain_list(bufs[2], bufs[1]), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_buf_chain_list(bufs[0], bufs[0]), DOCA_ERROR_NOT_PERMITTED);
	T_EQ(list_len(bufs[0]), 2);
}

/* behaviour: M13 */
Test(buf, chain_wants_one_reference)
{
	T_OK(doca_buf_inc_refcount(bufs[0], NULL));
	T_IS(doca_buf_chain_list(bufs[1], bufs[0]), DOCA_ERROR_NOT_PERMITTED);
	T_OK(doca_buf_chain_list(bufs[0], bufs[1]));
	T_OK(doca_buf_dec_refcount(bufs[2], NULL));
	T_IS(doca_buf_chain_list(bufs[0], bufs[2]), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_buf_chain_list(bufs[2], bufs[3]), DOCA_ERROR_NOT_PERMITTED);
	T_EQ(refs(bufs[0]), 2);
	T_EQ(list_len(bufs[0]), 2);
}

/* behaviour: M13 */
Test(buf, chain_at_the_tail)
{
	T_OK(doca_buf_chain_list_tail(bufs[0], bufs[0], bufs[1]));
	T_OK(doca_buf_chain_list_tail(bufs[0], bufs[1], bufs[2]));
	T_OK(doca_buf_chain_list(bufs[3], bufs[4]));
	T_OK(doca_buf_chain_list_tail(bufs[0], bufs[2], bufs[3]));
	T_EQ(list_len(bufs[0]), 5);
	T_IS(doca_buf_chain_list_tail(bufs[0], bufs[3], bufs[5]), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_buf_chain_list_tail(bufs[1], bufs[4], bufs[5]), DOCA_ERROR_NOT_PERMITTED);
	/* Tails of other lists, the second one among them: a ring. */
	T_OK(doca_buf_chain_list(bufs[5], bufs[6]));
	T_IS(doca_buf_chain_list_tail(bufs[0], bufs[7], bufs[5]), DOCA_ERROR_NOT_PERMITTED);
	T_IS(doca_buf_chain_list_tail(bufs[0], bufs[6], bufs[5]), DOCA_ERROR_NOT_PERMITTED);
	T_EQ(list_len(bufs[0]), 5);
	T_EQ(list_len(bufs[5]), 2);
}

/* behaviour: M13 */
Test(buf, unchain)
{
	unsigned int i;
	uint8_t yes;

	for (i = 1; i < 4; i++)
		T_OK(doca_buf_chain_list(bufs[0], bufs[i]));
	T_INVALID(doca_buf_unchain_list(bufs[0], bufs[0]));
	T_INVALID(doca_buf_unchain_list(bufs[0], bufs[4]));
	T_INVALID(doca_buf_unchain_list(bufs[1], bufs[2]));
	T_INVALID(doca_buf_unchain_list(bufs[4], bufs[2]));
	T_OK(doca_buf_unchain_list(bufs[0], bufs[2]));
	T_EQ(list_len(bufs[0]), 2);
	T_EQ(list_len(bufs[2]), 2);
	T_EQ(refs(bufs[2]), 1);
	T_OK(doca_buf_unchain_list(bufs[0], bufs[1]));
	T_GETS(doca_buf_is_in_list(bufs[0], &yes), yes, 0);
	T_INVALID(doca_buf_unchain_list(bufs[0], bufs[1]));
	T_OK(doca_buf_chain_list(bufs[1], bufs[2]));
	T_EQ(list_len(bufs[1]), 3);
}

/* behaviour: M11, M13 */
Test(buf, the_last_reference_gives_back_the_list)
{
	uint8_t yes;
	unsigned int i;

	for (i = 1; i < 4; i++)
		T_OK(doca_buf_chain_list(bufs[0], bufs[i]));
	T_OK(doca_buf_inc_refcount(bufs[0], NULL));
	T_OK(doca_buf_dec_refcount(bufs[0], NULL));
	T_EQ(inventory_nb_free(inv), 0);
	T_OK(doca_buf_dec_refcount(bufs[0], NULL));
	T_EQ(inventory_nb_free(inv), 4);
	T_EQ(mmap_nb_bufs(m), NB - 4);
	for (i = 0; i < 4; i++) {
		T_GETS(doca_buf_is_in_list(bufs[i], &yes), yes, 0);
		T_IS(doca_buf_dec_refcount(bufs[i], NULL), DOCA_ERROR_BAD_STATE);
	}
}

/* A list may have elements of several inventories and mmaps. */
Test(buf, list_of_several_inventories)
{
	struct doca_buf_inventory *inv2 = started_inventory(1);
	struct doca_mmap *m2 = started_mmap(mem, 10, 0);
	struct doca_buf *b;

	T_OK(doca_buf_inventory_buf_get_by_data(inv2, m2, mem, 10, &b));
	T_OK(doca_buf_chain_list(bufs[0], b));
	T_OK(doca_buf_dec_refcount(bufs[0], NULL));
	T_EQ(inventory_nb_free(inv2), 1);
	T_EQ(inventory_nb_free(inv), 1);
	T_EQ(mmap_nb_bufs(m2), 0);
	T_OK(doca_mmap_destroy(m2));
	T_OK(doca_buf_inventory_destroy(inv2));
}
