/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef T_LOG_H
#define T_LOG_H

/*
 * Captures the log of the library and its drivers. No other thread may log during begin and
 * end.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct t_log {
	char *text;
	size_t size;
	FILE *f;
};

/* From this level on, as DPDK's RTE_LOG_*. */
void t_log_begin_at(struct t_log *l, uint32_t level);
/* From INFO on. */
void t_log_begin(struct t_log *l);
/* Fail unless the text was logged. */
void t_log_has(struct t_log *l, const char *sentence);
/* Number of times the text was logged. */
unsigned int t_log_count(struct t_log *l, const char *sentence);
/* End the capture: text is complete; free() it. */
void t_log_stop(struct t_log *l);
/* End the capture, and fail unless the text was logged. */
void t_log_end(struct t_log *l, const char *sentence);

#endif /* T_LOG_H */
