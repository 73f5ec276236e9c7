/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_LOG_H
#define COMCH_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_cycles.h>
#include <rte_log.h>

/* The function that detects an error logs it, once, with the object and the reason. */
extern int comch_logtype;

#define COMCH_LOG(level, fmt, ...) COMCH_LOG_AT(RTE_LOG_##level, fmt, ##__VA_ARGS__)
/* With a level that is a value. */
#define COMCH_LOG_AT(level, fmt, ...) \
	rte_log(level, comch_logtype, "COMCH: " fmt "\n", ##__VA_ARGS__)

/* Has a second passed since it was due? Any thread. */
static inline bool
comch_log_is_due(uint64_t *next)
{
	uint64_t now = rte_rdtsc(), at = __atomic_load_n(next, __ATOMIC_RELAXED);

	return now >= at && __atomic_compare_exchange_n(next, &at, now + rte_get_tsc_hz(), false,
			__ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/*
 * What a peer can cause over and over, on a new connection each time: from each place in the
 * code one warning a second at most. The others have level INFO. LOG: COMCH_LOG, or a driver's.
 */
#define COMCH_LOG_PEER(LOG, fmt, ...) \
	do { \
		static uint64_t comch_log_next_; \
		if (comch_log_is_due(&comch_log_next_)) \
			LOG(WARNING, fmt, ##__VA_ARGS__); \
		else \
			LOG(INFO, fmt, ##__VA_ARGS__); \
	} while (0)

#endif /* COMCH_LOG_H */
