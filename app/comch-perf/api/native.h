/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef API_NATIVE_H
#define API_NATIVE_H

/**
 * @file
 * Polls of librte_comch, as far as producers and consumers have to know them.
 */

#include "engine/link.h"

struct native_poll {
	struct link_poll base;
	struct rte_comch_poll *poll;
	struct link *link; /**< NULL: events only repeat what the states say. */
};

static inline struct rte_comch_poll *
native_poll(struct link_poll *poll)
{
	return ((struct native_poll *)poll)->poll;
}

#endif /* API_NATIVE_H */
