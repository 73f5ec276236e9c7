/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef U_SHM_LINK_H
#define U_SHM_LINK_H

/* Two links over plain memory, without a socket: each reads what the other writes. */

#include <stdlib.h>

#include <criterion/criterion.h>

#include "t.h"

#include "../../drivers/comch/shm/shm_private.h"

#define CELLS 64u
#define HDR 16u

static struct shm_link a, b;

static inline void
u_shm_link_init(struct shm_link *l)
{
	memset(l, 0, sizeof(*l));
	l->own = calloc(1, shm_link_len(CELLS));
	cr_assert_not_null(l->own);
	l->own_cell = l->own->cell;
	l->own_cells = l->peer_cells = CELLS;
	l->own_mask = l->peer_mask = CELLS - 1;
	l->tx_limit = CELLS;
	l->sock = -1;
	l->base.state = RTE_COMCH_LINK_UP;
}

static inline void
u_shm_links_open(void)
{
	u_shm_link_init(&a);
	u_shm_link_init(&b);
	a.peer = b.own;
	b.peer = a.own;
	a.peer_cell = a.peer->cell;
	b.peer_cell = b.peer->cell;
}

static inline void
u_shm_links_close(void)
{
	free(a.own);
	free(b.own);
}

#endif /* U_SHM_LINK_H */
