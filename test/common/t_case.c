/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "t_main.h"

#define MAX_CASES 64

static struct t_case *first;

void
t_case_add(struct t_case *c)
{
	struct t_case **at = &first;

	while (*at != NULL && (*at)->line < c->line)
		at = &(*at)->next;
	c->next = *at;
	*at = c;
}

int
main(int argc, char **argv)
{
	struct t_case cases[MAX_CASES];
	const struct t_case *c;
	unsigned int nb = 0;

	for (c = first; c != NULL; c = c->next) {
		T_LT(nb, MAX_CASES);
		cases[nb++] = *c;
	}
	return t_main(cases, nb, argc, argv);
}
