/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Included before everything else where trace points of the fast path are
 * compiled in. -D would not do: the configuration of an installed DPDK says
 * #undef.
 */

#include <rte_config.h>

#undef RTE_ENABLE_TRACE_FP
#define RTE_ENABLE_TRACE_FP 1
