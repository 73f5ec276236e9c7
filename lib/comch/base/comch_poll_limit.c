/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Limits of the work that peers cause in a poll. */

#include <rte_cycles.h>

#include "base/comch_poll.h"

/* Limit of peers' regions that a run frees, about 10 us each. */
#define MAX_FREES 256
/* Time that one run spends on each thing that comch_poll_has_time() limits, us. */
#define MAX_SLOW_US 250
/* Limit of bytes that a run allocates at the request of peers, after the first request. */
#define MAX_ALLOC_BYTES (UINT64_C(256) << 10)

bool
comch_poll_allow_frees(struct rte_comch_poll *poll, uint32_t n)
{
	if (poll->free_run != poll->run_no) {
		poll->free_run = poll->run_no;
		poll->nb_freed = 0;
	}
	/* The first request of a run is always allowed, or a large one would never be. */
	if (poll->nb_freed > 0 && n > MAX_FREES - RTE_MIN(poll->nb_freed, (uint32_t)MAX_FREES)) {
		poll->free_again = true;
		return false;
	}
	poll->nb_freed += n;
	return true;
}

bool
comch_poll_allow_alloc(struct rte_comch_poll *poll, uint64_t len)
{
	uint64_t made = poll->alloc_run == poll->run_no ? poll->alloc_bytes : 0;

	if (made > 0 && made + len > MAX_ALLOC_BYTES)
		return false;
	poll->alloc_run = poll->run_no;
	poll->alloc_bytes = made + len;
	return true;
}

bool
comch_poll_has_time(struct rte_comch_poll *poll, enum comch_poll_slow what)
{
	const uint64_t now = rte_rdtsc(), max = rte_get_tsc_hz() / US_PER_S * MAX_SLOW_US;
	struct comch_poll_budget *slow = &poll->slow[what];

	if (slow->run != poll->run_no && now >= slow->not_before) {
		slow->run = poll->run_no;
		slow->end = now + max;
	}
	if (slow->run == poll->run_no && now < slow->end)
		return true;
	/* Then as long without such work, for established connections. */
	slow->not_before = slow->end + max;
	poll->needs_time = true;
	poll->later_at = RTE_MIN(poll->later_at, slow->not_before);
	/* Nothing else looks at the clock in each run. */
	comch_poll_scan_at(poll, RTE_MIN(poll->next_scan, poll->later_at));
	return false;
}
