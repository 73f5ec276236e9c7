/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef U_FLOW_H
#define U_FLOW_H

/* Messages over a path, and what is expected of them. */

#include "u_path.h"

/* Content depends on the message, so that a wrong one is noticed. */
static inline void
fill(struct u_path *u, uint32_t off, uint32_t len, uint64_t seed)
{
	t_fill(u->mr[1].addr + off, len, seed);
}

static inline void
expect(struct u_path *u, uint32_t off, uint32_t len, uint64_t cookie)
{
	struct rte_comch_cpl cpl;

	T_AWAIT(u_recv(u, &cpl, 1) == 1);
	T_EQ(cpl.status, 0);
	T_EQ(cpl.cookie, cookie);
	T_EQ(cpl.len, len);
	T_VERIFY(u->mr[0].addr + off, len, cookie);
}

static inline void
expect_done(struct u_path *u, uint32_t prod, uint64_t cookie, int status)
{
	struct rte_comch_cpl cpl;

	T_AWAIT(u_done(u, prod, &cpl, 1) == 1);
	T_EQ(cpl.cookie, cookie);
	T_EQ(cpl.status, status);
}

#endif /* U_FLOW_H */
