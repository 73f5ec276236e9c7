/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The version at run time, which is comch's and not DOCA's. */

#include <rte_comch.h>

#include <doca_version.h>

const char *
doca_version_runtime(void)
{
	return "comch " RTE_COMCH_VERSION_STRING;
}
