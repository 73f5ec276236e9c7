/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Cold connections: each has its turn, whichever come and go. */

#include <stdlib.h>

#include <criterion/criterion.h>

#include "t.h"

#include "ctrl/comch_cold.h"

/* In three words of a bitmap. */
#define NB 150

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

	memset(&set, 0, sizeof(set));
	memset(state, 0, sizeof(state));
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
	unsigned int i, slot, nb = 0, nb_used = 0, last = 0;

	for (i = 0; i < NB; i++) {
		if (state[i] == OUT)
			continue;
		nb += state[i] == COLD;
		slot = conns[i].cold_slot;
		nb_used++;
		last = RTE_MAX(last, slot / 64 + 1);
		T_LT(slot, NB);
		T_EQ(set.used[slot / 64] >> (slot % 64) & 1, 1);
		T_EQ(set.cold[slot / 64] >> (slot % 64) & 1, state[i] == COLD);
		T_CHECK(state[i] != COLD || set.slots[slot].conn == &conns[i]);
	}
	T_EQ(set.nb, nb);
	/* Slots of those that left at the end do not count any more. */
	T_EQ(set.nb_words, last);
	for (i = 0; i < set.nb_words; i++)
		nb_used -= (unsigned int)__builtin_popcountll(set.used[i]);
	T_EQ(nb_used, 0);
}

/* Turns of each since the last turn of each other one. */
static uint8_t since[NB][NB];

/* Take the next turn. No other connection has had two turns since the last one of this one. */
static unsigned int
look(void)
{
	const struct comch_cold *cold = comch_cold_next(&set);
	const unsigned int who = (unsigned int)(cold->conn - conns);
	unsigned int i;

	T_EQ(state[who], COLD);
	for (i = 0; i < NB; i++) {
		if (i == who || state[i] != COLD)
			continue;
		since[i][who]++;
		T_LE(since[i][who], 1);
	}
	memset(since[who], 0, sizeof(since[who]));
	return who;
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
		memset(since[i], 0, sizeof(since[i]));
	} else if (what > 4 && set.nb > 0) {
		look();
	}
}

/* They come and go, and one that had its turn may soon be there again. */
Test(cold, each_has_its_turn)
{
	unsigned int step, i;

	srand(1);
	open_set();
	for (step = 0; step < 100000; step++) {
		do_any((unsigned int)rand() % 8, (unsigned int)rand() % NB);
		check();
	}
	for (i = 0; i < NB; i++) {
		if (state[i] == COLD)
			del(i);
		if (state[i] == WARM)
			leave(i);
	}
	T_CHECK(set.slots == NULL && set.cold == NULL);
}

/* Those that speak, fall silent and speak again do not keep the one that does not from its turn. */
Test(cold, restless_ones)
{
	unsigned int i, step, turns = 0;

	open_set();
	for (i = 0; i < NB; i++) {
		join(i);
		add(i);
	}
	for (step = 0; step < 10 * NB; step++) {
		i = look();
		if (i == NB / 2) {
			turns++;
			continue;
		}
		del(i);
		add(i);
		memset(since[i], 0, sizeof(since[i]));
	}
	check();
	T_EQ(turns, 10);
}

/* Many that were there, and those that are not cold, take no turns. */
Test(cold, those_that_left)
{
	unsigned int i;

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
	check();
	for (i = 0; i < 3; i++)
		T_EQ(look(), 0);
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
