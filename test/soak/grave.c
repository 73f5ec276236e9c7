/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A killed thread cannot vanish: it shares its memory with the others. Its transport is dead; what
 * it logs while it cleans up goes to a copy that is never read.
 */

#include <stdlib.h>

#include "actor.h"

/* As words that other threads may write meanwhile. */
static void __attribute__((no_sanitize("thread")))
books_copy(struct soak_books *to, const struct soak_books *from)
{
	const volatile uint32_t *src = (const volatile uint32_t *)(const void *)from;
	uint32_t *dst = (uint32_t *)(void *)to;
	size_t i;

	for (i = 0; i < sizeof(*to) / sizeof(*dst); i++)
		dst[i] = src[i];
}

#define MOVE(a, ptr) \
	do { \
		if ((ptr) != NULL) \
			(ptr) = (void *)((uint8_t *)(a)->grave + \
				((uint8_t *)(ptr) - (uint8_t *)(a)->books)); \
	} while (0)

void
actor_bury(struct actor *a)
{
	struct soak_proc *me = a->me;
	struct end *e;
	unsigned int i;

	T_AWAIT(soak_get(&me->is_dead) != 0);
	a->grave = malloc(sizeof(*a->grave));
	if (a->grave == NULL)
		T_FAIL("no memory");
	books_copy(a->grave, a->books);
	for (i = 0; i < ACTOR_SEATS; i++)
		MOVE(a, a->seats[i].book);
	for (e = a->ends; e != NULL; e = e->next) {
		MOVE(a, e->book);
		MOVE(a, e->mine);
		MOVE(a, e->peers);
		for (i = 0; i < END_PRODUCERS; i++)
			MOVE(a, e->prods[i].stream);
	}
	MOVE(a, a->me);
	a->books = a->grave;
	a->me->order = SOAK_QUIT;
	soak_set(&me->is_buried, 1);
}
