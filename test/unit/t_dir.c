/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The directory of consumers, and when what left it may be freed. comch_dir.c. */

#include <criterion/criterion.h>

#include "t.h"

#include "sdk/comch_dir.h"

#define ALL COMCH_MAX_CONSUMERS

static struct comch_dir dir;
static struct rte_comch_remote remotes[ALL + 2];

static struct rte_comch_remote *
find(uint32_t id, uint32_t guess)
{
	uint32_t slot = guess;
	struct rte_comch_remote *rc = comch_dir_find(&dir, id, &slot);

	cr_assert(slot < ALL);
	if (rc != NULL)
		cr_assert_eq(dir.id[slot], id);
	else
		cr_assert_eq(slot, guess);
	return rc;
}

static void
add(uint32_t i, uint32_t id)
{
	remotes[i].id = id;
	cr_assert_eq(comch_dir_add(&dir, &remotes[i]), 0);
}

Test(dir, add_find_remove)
{
	add(0, 1);
	add(1, 2);
	add(2, UINT32_MAX);
	cr_assert_eq(find(1, 0), &remotes[0]);
	cr_assert_eq(find(2, 77), &remotes[1]);
	cr_assert_eq(find(UINT32_MAX, 0), &remotes[2]);
	cr_assert_null(find(3, 0));
	cr_assert_eq(comch_dir_remove(&dir, 2), &remotes[1]);
	cr_assert_null(find(2, 2));
	cr_assert_null(comch_dir_remove(&dir, 2));
	cr_assert_eq(find(1, 2), &remotes[0]);
}

/* Id 0 is invalid, though free slots contain it. */
Test(dir, id_0)
{
	uint32_t i;

	for (i = 0; i < ALL; i++)
		cr_assert_null(find(0, i));
	add(0, 5);
	cr_assert_null(find(0, 5));
	cr_assert_null(comch_dir_remove(&dir, 0));
}

/* Ids that want the same place. */
Test(dir, collisions)
{
	add(0, 10);
	add(1, 10 + ALL);
	add(2, 10 + 2 * ALL);
	add(3, 11);
	cr_assert_eq(find(10, 0), &remotes[0]);
	cr_assert_eq(find(10 + ALL, 0), &remotes[1]);
	cr_assert_eq(find(10 + 2 * ALL, 10), &remotes[2]);
	cr_assert_eq(find(11, 0), &remotes[3]);
	cr_assert_eq(comch_dir_remove(&dir, 10), &remotes[0]);
	cr_assert_eq(find(10 + 2 * ALL, 0), &remotes[2]);
	cr_assert_null(find(10, 10));
	add(4, 10 + 3 * ALL);
	cr_assert_eq(find(10 + 3 * ALL, 0), &remotes[4]);
	cr_assert_null(find(10, 10));
}

Test(dir, full)
{
	uint32_t i;

	for (i = 0; i < ALL; i++)
		add(i, 1000 + i * 7);
	remotes[ALL].id = 5;
	cr_assert_eq(comch_dir_add(&dir, &remotes[ALL]), -ENOSPC);
	for (i = 0; i < ALL; i++)
		cr_assert_eq(find(1000 + i * 7, i), &remotes[i]);
	cr_assert_null(find(5, 0));
	cr_assert_eq(comch_dir_remove(&dir, 1007), &remotes[1]);
	add(ALL, 5);
	cr_assert_eq(find(5, 0), &remotes[ALL]);
}

Test(dir, quiesce)
{
	struct comch_epoch p = { 0 };

	comch_fence_heavy();
	comch_epoch_watch(&p);
	cr_assert(comch_epoch_passed(&p), "it is in nothing");
	comch_epoch_enter(&p);
	cr_assert(comch_epoch_passed(&p), "it entered later");
	comch_epoch_watch(&p);
	cr_assert(!comch_epoch_passed(&p));
	cr_assert(!comch_epoch_passed(&p));
	comch_epoch_leave(&p);
	cr_assert(comch_epoch_passed(&p));
	comch_epoch_enter(&p);
	cr_assert(comch_epoch_passed(&p), "busy with something later");
	comch_epoch_leave(&p);
}

/* The count goes around. */
Test(dir, quiesce_wraps)
{
	struct comch_epoch p = { .now = UINT32_MAX - 1 };

	comch_epoch_enter(&p);
	comch_epoch_watch(&p);
	cr_assert(!comch_epoch_passed(&p));
	comch_epoch_leave(&p);
	cr_assert_eq(p.now, 0u);
	cr_assert(comch_epoch_passed(&p));
}
