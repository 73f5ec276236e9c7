/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* What peers may have of what is scarce. comch_quota.c. */

#include <criterion/criterion.h>

#include <sys/resource.h>

#include "t.h"

#include "sdk/comch_quota.h"


static uint32_t
take_all(struct comch_quota *quota, enum comch_quota_of of)
{
	uint32_t n = 0;

	while (comch_quota_take(quota, of, 1))
		n++;
	return n;
}

static void
set_limit(rlim_t nofile)
{
	struct rlimit limit;

	T_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = nofile;
	T_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* However much the first ones take: each that comes gets some. */
static void
leaves_some(enum comch_quota_of of)
{
	struct comch_quota *greedy[3], *other[8];
	uint32_t n[3], used = 0;
	struct comch_quota_info info;
	unsigned int i;

	for (i = 0; i < RTE_DIM(greedy); i++) {
		greedy[i] = comch_quota_get(7, 100 + (int32_t)i);
		n[i] = take_all(greedy[i], of);
		T_GE(i > 0 ? n[i - 1] : n[0], n[i]);
		used += n[i];
	}
	T_GT(n[1], 0);
	comch_quota_info(of, &info);
	T_EQ(info.max, comch_quota_max(of));
	T_EQ(info.used, used);
	T_EQ(info.most, n[0]);
	T_EQ(info.most_uid, 7);
	T_EQ(info.most_pid, 100);
	for (i = 0; i < RTE_DIM(other); i++) {
		other[i] = comch_quota_get(8, 100 + (int32_t)i);
		T_CHECK(comch_quota_take(other[i], of, 1));
	}
	/* One user cannot have all, whatever the number of its processes. */
	T_LE(used / 7, comch_quota_max(of) / 8 + 1);
	/* What one gives back is for all. */
	T_EQ(take_all(greedy[1], of), 0);
	comch_quota_give(greedy[0], of, n[0]);
	T_GT(take_all(greedy[1], of), 0);
	T_GT(take_all(other[0], of), 0);
}

Test(quota, descriptors)
{
	set_limit(1024);
	leaves_some(COMCH_QUOTA_FDS);
}

Test(quota, in_flight)
{
	set_limit(1024);
	leaves_some(COMCH_QUOTA_FDS_OUT);
}

Test(quota, mappings)
{
	leaves_some(COMCH_QUOTA_MAPS);
}

Test(quota, rings)
{
	leaves_some(COMCH_QUOTA_RINGS);
}

/* One that is alone: most of the descriptors that the process may have. */
Test(quota, alone)
{
	struct comch_quota *quota;

	set_limit(1024);
	quota = comch_quota_get(1, 2);
	T_EQ(take_all(quota, COMCH_QUOTA_FDS), 426);
	comch_quota_give(quota, COMCH_QUOTA_FDS, 426);
	/* The limit may be raised at any time. */
	set_limit(4096);
	T_CHECK(comch_quota_get(1, 2) == quota);
	T_EQ(take_all(quota, COMCH_QUOTA_FDS), 1706);
	comch_quota_give(quota, COMCH_QUOTA_FDS, 1706);
	comch_quota_put(quota);
	comch_quota_put(quota);
}

/* All or nothing; and the same number of another user is another peer. */
Test(quota, identity)
{
	struct comch_quota *a, *b;

	set_limit(1024);
	a = comch_quota_get(1, 2);
	b = comch_quota_get(2, 2);
	T_CHECK(a != b);
	T_CHECK(!comch_quota_take(a, COMCH_QUOTA_FDS, 513));
	T_CHECK(comch_quota_take(a, COMCH_QUOTA_FDS, 426));
	T_CHECK(!comch_quota_take(a, COMCH_QUOTA_FDS, 1));
	T_CHECK(comch_quota_take(b, COMCH_QUOTA_FDS, 70));
	comch_quota_give(a, COMCH_QUOTA_FDS, 426);
	comch_quota_give(b, COMCH_QUOTA_FDS, 70);
	comch_quota_put(a);
	comch_quota_put(b);
}
