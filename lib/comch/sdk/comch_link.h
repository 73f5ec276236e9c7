/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_LINK_H
#define COMCH_LINK_H

/* What a driver tells the core of a link. */

#include "rte_comch_driver.h"

/**
 * Request a call of link_poll although link_fd is not readable. Any thread, until link_close
 * returns. The core calls it in any case after accept or connect; before that this does nothing.
 *
 * @param can_wake
 *   False in a thread with its own descriptor table.
 * @return
 *   True, only without can_wake: the poll sleeps and another thread must call this.
 */
static inline bool
comch_link_tell(struct rte_comch_link *link, bool can_wake)
{
	/* Pairs with comch_conn_set_link(): ctx is set. Model: publish.pml, find. */
	bool (*news)(void *, bool) = __atomic_load_n(&link->news, __ATOMIC_ACQUIRE);

	return news != NULL && news(link->ctx, can_wake);
}

#endif /* COMCH_LINK_H */
