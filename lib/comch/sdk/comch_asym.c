/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_common.h>

#include "sdk/comch_asym.h"

bool comch_asym_membarrier;
bool comch_asym_global;

RTE_INIT(comch_asym_init)
{
	comch_asym_membarrier = syscall(SYS_membarrier,
		MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
	comch_asym_global = syscall(SYS_membarrier,
		MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void
comch_fence_heavy(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (comch_asym_membarrier)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

void
comch_fence_sleep(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (comch_asym_global)
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}
