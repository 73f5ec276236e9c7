/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Cold connections: each has its turn, whichever come and go. */

#include <stdlib.h>

#include <criterion/criterion.h>

#include "t.h"

#include "ctrl/comch_cold.h"

#define NB 33

/* What a driver returns: the word of a connection, and the value that says "frame". */
static uint64_t words[NB];
static struct rte_comch_conn conns[NB];
static struct comch_cold_set set;
static enum { OUT, WARM, COLD } state[NB];

static const uint64_t *
frame_word(const struct rte_comch_link *link, uint64_t *value)
{
	const size_t i = (size_t)((uintptr_t)link - 1);

	*value = 100 + i;
	return i % 2 == 0 ? &words[i] : NULL;
}

static const struct rte_comch_driver_ops ops = { .frame_word = frame_word };

static void
open_set(void)
{
	uintptr_t i;

	comch_cold_init(&set);
	for (i = 0; i < NB; i++) {
		conns[i].ops = &ops;
		/* Only frame_word() looks. */
		conns[i].link = (struct rte_comch_link *)(i + 1);
	}
}

static void
join(unsigned int i)
{
	comch_cold_join(&set, &conns[i]);
	T_CHECK(conns[i].cold_slot != COMCH_COLD_NO_SLOT);
	state[i] = WARM;
}

static void
leave(unsigned int i)
{
	comch_cold_leave(&set, &conns[i]);
	state[i] = OUT;
}

static void
add(unsigned int i)
{
	T_EQ(comch_cold_add(&set, &conns[i]), true);
	state[i] = COLD;
}

static void
del(unsigned int i)
{
	comch_cold_del(&set, &conns[i]);
	state[i] = WARM;
}

/* Each is where it says, and nowhere else. */
static void
check(void)
{
	unsigned int i, nb_users = 0, nb = 0;
	const struct comch_cold *cold;
	uint32_t pos;

	for (i = 0; i < NB; i++) {
		nb_users += state[i] != OUT;
		nb += state[i] == COLD;
		if (state[i] != COLD)
			continue;
		cold = comch_cold_at(&set, set.where[conns[i].cold_slot]);
		T_CHECK(cold->conn == &conns[i]);
		T_EQ(cold->slot, conns[i].cold_slot);
	}
	T_EQ(set.nb_users, nb_users);
	T_EQ(set.nb, nb);
	T_LE(set.nb_slots, NB);
	T_LE(set.tail - set.head, set.size);
	for (pos = set.head; pos != set.tail; pos++)
		nb -= comch_cold_at(&set, pos)->conn != NULL;
	T_EQ(nb, 0);
}

/* Looks at others since the last turn of each, and the most that there may be. */
static unsigned int waits[NB], ahead[NB];

static void
take_place(unsigned int i)
{
	waits[i] = 0;
	ahead[i] = set.nb - 1;
}

/* Look at the next one; gaps are passed. */
static void
look(void)
{
	const struct comch_cold *cold;
	unsigned int i, who;

	do
		cold = comch_cold_next(&set);
	while (cold == NULL);
	who = (unsigned int)(cold->conn - conns);
	T_EQ(state[who], COLD);
	for (i = 0; i < NB; i++) {
		waits[i] += i != who;
		if (state[i] == COLD)
			T_LE(waits[i], ahead[i]);
	}
	take_place(who);
}

static void
do_any(unsigned int what, unsigned int i)
{
	if (what == 0 && state[i] == OUT) {
		join(i);
	} else if (what == 1 && state[i] == WARM) {
		leave(i);
	} else if (what <= 3 && state[i] == COLD) {
		del(i);
	} else if (what == 4 && state[i] == WARM) {
		add(i);
		take_place(i);
	} else if (what > 4 && set.nb > 0) {
		look();
	}
}

/*
 * They come and go, and one that had its turn may soon be there again. Whatever they do, nobody
 * gets ahead of one that waits.
 */
Test(cold, each_has_its_turn)
{
	unsigned int step, i;

	srand(1);
	open_set();
	for (step = 0; step < 300000; step++) {
		do_any((unsigned int)rand() % 8, (unsigned int)rand() % NB);
		check();
	}
	for (i = 0; i < NB; i++) {
		if (state[i] == COLD)
			del(i);
		if (state[i] == WARM)
			leave(i);
	}
	T_CHECK(set.queue == NULL && set.where == NULL);
}

/* Those that speak, fall silent and speak again do not keep the one that does not from its turn. */
Test(cold, restless_ones)
{
	const struct comch_cold *cold;
	unsigned int i, step, turns = 0;

	open_set();
	for (i = 0; i < NB; i++) {
		join(i);
		add(i);
	}
	for (step = 0; step < 10 * NB; step++) {
		cold = comch_cold_next(&set);
		if (cold == NULL)
			continue;
		i = (unsigned int)(cold->conn - conns);
		if (i == NB / 2) {
			turns++;
			continue;
		}
		del(i);
		add(i);
		check();
	}
	/* Each other one left a gap at each of its turns. */
	T_CHECK(turns >= 4);
}

/* Of many that were there, those that are not cold any more cost one gap each, and no turns. */
Test(cold, those_that_left)
{
	unsigned int i, nb_gaps = 0;

	open_set();
	for (i = 0; i < NB; i++) {
		join(i);
		add(i);
	}
	for (i = 1; i < NB; i++) {
		del(i);
		if (i % 2 == 0)
			leave(i);
	}
	for (i = 0; i < 3 * NB; i++)
		nb_gaps += comch_cold_next(&set) == NULL;
	T_EQ(nb_gaps, NB - 1);
	check();
}

Test(cold, without_a_slot)
{
	open_set();
	conns[0].cold_slot = COMCH_COLD_NO_SLOT;
	T_EQ(comch_cold_add(&set, &conns[0]), false);
	comch_cold_leave(&set, &conns[0]);
	T_EQ(set.nb, 0);
}

Test(cold, looks_at_the_word)
{
	open_set();
	join(0);
	join(1);
	add(0);
	add(1);
	T_EQ(comch_cold_may_have(comch_cold_next(&set)), false);
	/* Without a word, the driver has to be asked. */
	T_EQ(comch_cold_may_have(comch_cold_next(&set)), true);
	words[0] = 101;
	T_EQ(comch_cold_may_have(comch_cold_next(&set)), false);
	words[0] = 100;
	T_EQ(comch_cold_may_have(comch_cold_next(&set)), true);
	T_EQ(comch_cold_may_have(comch_cold_next(&set)), true);
	del(0);
	del(1);
	leave(0);
	leave(1);
}
