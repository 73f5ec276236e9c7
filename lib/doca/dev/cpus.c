/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <rte_common.h>

#include "dev/cpus.h"

static cpu_set_t cpus;

/*
 * CPUs that the process may use. Read once, so that an id always means the same CPU, and
 * early, since a program's own EAL pins its main thread to one of them.
 */
RTE_INIT(impl_process_cpus_init)
{
	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		CPU_ZERO(&cpus);
}

const cpu_set_t *
impl_process_cpus(void)
{
	return &cpus;
}
