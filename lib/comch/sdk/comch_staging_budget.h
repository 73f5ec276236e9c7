/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_STAGING_BUDGET_H
#define COMCH_STAGING_BUDGET_H

/*
 * Limits of what a connection allocates for the peer's consumers, of which the peer
 * chooses the sizes: max_staging for the connection, total_staging for its device.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "rte_comch_driver.h"
#include "sdk/comch_budget.h"
#include "sdk/comch_compat.h"

/* Of a connection. */
struct comch_staging {
	uint64_t used;      /* bytes */
	bool is_logged;     /* that a limit was reached: once */
};

/*
 * Take bytes. 0, or -EDQUOT. The first refusal has a sentence to log, the others have
 * *why empty.
 */
static inline int
comch_staging_take(struct comch_staging *s, const struct rte_comch_link *link, uint64_t len,
		char *why, size_t size)
{
	const struct rte_comch_dev_info *info = &link->dev->info;

	why[0] = '\0';
	if (comch_budget_take(&s->used, info->max_staging, len)) {
		if (comch_budget_take(link->dev->staged, info->total_staging, len))
			return 0;
		comch_budget_give(&s->used, len);
	}
	if (!s->is_logged)
		snprintf(why, size, "connection %u: a consumer of the peer needs %" PRIu64
			" bytes: the connection uses %" PRIu64 " of max_staging=%" PRIu64
			", the device %" PRIu64 " of total_staging=%" PRIu64, link->conn_id, len,
			s->used, info->max_staging,
			comch_load_relaxed(link->dev->staged), info->total_staging);
	s->is_logged = true;
	return -EDQUOT;
}

#endif /* COMCH_STAGING_BUDGET_H */
