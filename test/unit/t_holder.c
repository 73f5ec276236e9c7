/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Which handshake is displaced when all places are taken. */

#include <criterion/criterion.h>

#include "t.h"

#include "ctrl/comch_conn.h"
#include "ctrl/comch_holder.h"

#define MAX 1024


static struct comch_holders holders;
static struct rte_comch_conn conns[MAX + 8];

static struct rte_comch_conn *
join(unsigned int i, int32_t pid, int32_t uid)
{
	conns[i].peer = (struct rte_comch_peer_id){ .pid = pid, .uid = uid };
	T_EQ(comch_holder_join(&holders, &conns[i]), 0);
	conns[i].may_go_at = 0;
	return &conns[i];
}

static void
leave_all(void)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(conns); i++)
		comch_holder_leave(&holders, &conns[i]);
	T_CHECK(RB_EMPTY(&holders.all));
	T_EQ(holders.nb_half_open, 0);
	T_EQ(holders.nb_places, 0);
	T_EQ(holders.most, 0);
	comch_holders_free(&holders);
}

/* Take the place of the handshake to displace. */
static unsigned int
replace(int32_t pid, int32_t uid)
{
	struct rte_comch_conn *conn = comch_holders_first(&holders);

	T_CHECK(comch_holders_crowded(&holders) && conn != NULL);
	comch_holder_leave(&holders, conn);
	T_CHECK(!comch_holders_crowded(&holders));
	join((unsigned int)(conn - conns), pid, uid);
	return (unsigned int)(conn - conns);
}

Test(holder, oldest_of_the_largest)
{
	unsigned int i;

	T_EQ(comch_holders_init(&holders, MAX), 0);
	for (i = 0; i < MAX; i++) {
		T_CHECK(!comch_holders_crowded(&holders));
		join(i, i < 3 || i % 4 == 0 ? 7 : 8, 0);
	}
	/* Process 8 has about three of four; 3 is its first one. */
	T_EQ(replace(9, 0), 3);
	T_EQ(replace(9, 0), 5);
	T_EQ(replace(8, 0), 6);
	/* What is over is not looked at any more. */
	comch_holder_settle(&holders, &conns[7]);
	comch_holder_settle(&holders, &conns[7]);
	join(MAX, 10, 0);
	T_EQ(replace(9, 0), 9);
	leave_all();
}

/* It takes from itself only. */
Test(holder, who_comes_again_and_again)
{
	struct rte_comch_conn *honest;
	unsigned int i;

	T_EQ(comch_holders_init(&holders, MAX), 0);
	for (i = 0; i < MAX; i++)
		join(i, 7, 0);
	honest = &conns[replace(8, 0)];
	for (i = 0; i < 3 * MAX; i++) {
		T_CHECK(comch_holders_first(&holders) != honest);
		replace(7, 0);
	}
	T_CHECK(honest->is_half_open);
	leave_all();
}

/* One place each: the oldest is displaced, so a newcomer has its time. */
Test(holder, many_processes)
{
	unsigned int i, honest;

	T_EQ(comch_holders_init(&holders, MAX), 0);
	for (i = 0; i < MAX; i++)
		join(i, (int32_t)i + 1, (int32_t)i % 3);
	honest = replace(MAX + 1, 5);
	T_EQ(honest, 0);
	for (i = 1; i < MAX; i++)
		T_EQ(replace((int32_t)(MAX + 1 + i), 1), i);
	T_EQ(replace(1, 0), honest);
	leave_all();
}

/* The same number in another user's process is another peer; RDMA knows neither. */
Test(holder, identity)
{
	T_EQ(comch_holders_init(&holders, MAX), 0);
	T_CHECK(join(0, 7, 0)->holder != join(1, 7, 1)->holder);
	T_CHECK(join(2, 7, 0)->holder == conns[0].holder);
	T_CHECK(join(3, -1, -1)->holder == join(4, -1, -1)->holder);
	T_EQ(holders.most, 2);
	leave_all();
}

/* No handshake is displaced too soon. */
Test(holder, has_its_time)
{
	unsigned int i;

	T_EQ(comch_holders_init(&holders, MAX), 0);
	for (i = 0; i < MAX; i++) {
		T_CHECK(comch_holders_can_join(&holders));
		join(i, 7, 0);
	}
	conns[0].may_go_at = UINT64_MAX;
	T_CHECK(!comch_holders_can_join(&holders));
	conns[0].may_go_at = 0;
	T_CHECK(comch_holders_can_join(&holders));
	conns[0].may_go_at = UINT64_MAX;
	comch_holder_settle(&holders, &conns[9]);
	T_CHECK(comch_holders_can_join(&holders));
	leave_all();
}

Test(holder, places)
{
	T_EQ(comch_holders_init(&holders, MAX), 0);
	join(0, 7, 0);
	join(1, 7, 0);
	T_EQ(comch_holder_admit(&holders, &conns[0], 1, 0), COMCH_HOLDER_YES);
	T_EQ(holders.nb_half_open, 1);
	T_EQ(holders.nb_places, 1);
	T_CHECK(conns[0].has_place && !conns[0].is_half_open);
	comch_holder_leave(&holders, &conns[0]);
	T_EQ(holders.nb_places, 0);
	T_EQ(conns[1].holder->nb_conns, 1);
	leave_all();
}

static enum comch_holder_answer
admit(unsigned int i, uint32_t max, uint32_t reserve)
{
	return comch_holder_admit(&holders, &conns[i], max, reserve);
}

/* The last places are for others: first for other processes, then for other users. */
Test(holder, reserve)
{
	unsigned int i;

	T_EQ(comch_holders_init(&holders, MAX), 0);
	for (i = 0; i < 40; i++)
		join(i, 7, 1000);
	for (i = 0; admit(i, 32, 4) == COMCH_HOLDER_YES; i++)
		;
	T_EQ(i, 28);
	T_EQ(admit(i, 32, 4), COMCH_HOLDER_OTHER_PROCESS);
	/* Two more processes of the user, */
	join(40, 8, 1000);
	join(41, 9, 1000);
	T_EQ(admit(40, 32, 4), COMCH_HOLDER_YES);
	T_EQ(admit(41, 32, 4), COMCH_HOLDER_YES);
	join(42, 10, 1000);
	T_EQ(admit(42, 32, 4), COMCH_HOLDER_OTHER_USER);
	/* and one each of two others, the first by number and the last. */
	join(43, 11, 0);
	T_EQ(admit(43, 32, 4), COMCH_HOLDER_YES);
	join(44, 12, 0);
	T_EQ(admit(44, 32, 4), COMCH_HOLDER_OTHER_USER);
	join(45, 1, INT32_MAX);
	T_EQ(admit(45, 32, 4), COMCH_HOLDER_YES);
	join(46, 2, 5);
	T_EQ(admit(46, 32, 4), COMCH_HOLDER_FULL);
	T_EQ(admit(28, 32, 4), COMCH_HOLDER_FULL);
	/* A place that becomes free is for those that may have it. */
	comch_holder_leave(&holders, &conns[0]);
	T_EQ(admit(28, 32, 4), COMCH_HOLDER_OTHER_PROCESS);
	T_EQ(admit(46, 32, 4), COMCH_HOLDER_YES);
	leave_all();
}

/* Without a reserve, or where processes are unknown, all may have all. */
Test(holder, no_reserve)
{
	unsigned int i;

	T_EQ(comch_holders_init(&holders, MAX), 0);
	for (i = 0; i < 16; i++) {
		join(i, i < 8 ? 7 : -1, i < 8 ? 0 : -1);
		T_EQ(admit(i, 16, i < 8 ? 0 : 8), COMCH_HOLDER_YES);
	}
	T_EQ(join(16, 9, 9)->holder->nb_places, 0);
	T_EQ(admit(16, 16, 8), COMCH_HOLDER_FULL);
	leave_all();
}
