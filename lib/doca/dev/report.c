/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Errors that users must see. They go to EAL's log as well as to the SDK backends, of which
 * most programs have none.
 */

#include <stdarg.h>
#include <stdio.h>

#include <rte_log.h>

#include "dev/report.h"
#include "log/log.h"

RTE_LOG_REGISTER(impl_say_logtype, lib.comch.doca, NOTICE);

void
impl_report(const char *format, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	IMPL_ERR("%s", text);
	rte_log(RTE_LOG_ERR, (uint32_t)impl_say_logtype, "comch: %s\n", text);
}
