/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdint.h>
#include <stdio.h>

#include <rte_log.h>

#include "dev/eal_log.h"
#include "dev/report.h"
#include "log/log.h"

static uint32_t
level_of(uint32_t eal_level)
{
	if (eal_level <= RTE_LOG_CRIT)
		return DOCA_LOG_LEVEL_CRIT;
	if (eal_level == RTE_LOG_ERR)
		return DOCA_LOG_LEVEL_ERROR;
	if (eal_level == RTE_LOG_WARNING)
		return DOCA_LOG_LEVEL_WARNING;
	return eal_level < RTE_LOG_DEBUG ? DOCA_LOG_LEVEL_INFO : DOCA_LOG_LEVEL_DEBUG;
}

/* A line of EAL's log: rte_log() flushes after each. */
static ssize_t
write_line(void *cookie, const char *text, size_t len)
{
	const uint32_t level = level_of((uint32_t)rte_log_cur_msg_loglevel());
	const size_t line = len > 0 && text[len - 1] == '\n' ? len - 1 : len;

	(void)cookie;
	/* The backends have it from there. */
	if (rte_log_cur_msg_logtype() != impl_say_logtype)
		impl_log(level, __FILE__, __LINE__, __func__, "%.*s", (int)line, text);
	/* Critical: do any show anything? */
	if (level <= DOCA_LOG_LEVEL_ERROR || !impl_log_wanted(DOCA_LOG_LEVEL_CRIT)) {
		fwrite(text, 1, len, stderr);
		fflush(stderr);
	}
	return (ssize_t)len;
}

void
impl_eal_log_open(void)
{
	const cookie_io_functions_t to = { .write = write_line };
	FILE *stream;

	stream = fopencookie(NULL, "w", to);
	/* To stderr at least: EAL's default includes syslog. */
	rte_openlog_stream(stream != NULL ? stream : stderr);
}
