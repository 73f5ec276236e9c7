/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Tests of allocations and registrations: what consumers do with them. */

#include <errno.h>

#include <criterion/criterion.h>

#include <rte_memory.h>

#include "mem/comch_mem.h"

/* rte_comch_consumer_mr_add() begins to use memory before it claims it. */
Test(mem, no_renewal_of_memory_that_is_being_added)
{
	void *addr = rte_comch_mem_alloc(4096, SOCKET_ID_ANY);
	struct rte_comch_mr *mr;

	cr_assert_not_null(addr);
	mr = rte_comch_mem_register(addr, 4096, 0);
	cr_assert_not_null(mr);
	comch_mem_use_begin(mr, true);
	cr_assert_eq(rte_comch_mem_renew(addr), -EBUSY);
	comch_mem_use_end(mr);
	cr_assert_eq(rte_comch_mem_renew(addr), 0);
	cr_assert_eq(rte_comch_mem_unregister(mr), 0);
	cr_assert_eq(rte_comch_mem_free(addr), 0);
}
