/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>

#include <rte_log.h>

#include "fuzz.h"

FILE *
fuzz_nowhere(void)
{
	static FILE *nowhere;

	if (nowhere == NULL)
		nowhere = fopen("/dev/null", "we");
	T_CHECK(nowhere != NULL);
	return nowhere;
}

void
fuzz_log_nowhere(void)
{
	rte_openlog_stream(fuzz_nowhere());
}

void
fuzz_eal_start(void)
{
	/* All levels: of the library, before EAL makes its own choice, and of all others. */
	setenv("T_LOG", "8", 1);
	fuzz_log_nowhere();
	t_eal_start(1);
	/* EAL has a stream of its own now. */
	fuzz_log_nowhere();
	rte_log_set_global_level(RTE_LOG_DEBUG);
}
