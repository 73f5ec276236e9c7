/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The side of a program. One library serves both, so the program selects it: by linking
 * an object from the pkg-config files of a side, or by $COMCH_ROLE.
 */

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <comch_doca.h>
#include "dev/role.h"
#include "dev/report.h"

static const char *const names[] = {
	[COMCH_DOCA_ROLE_HOST] = "host",
	[COMCH_DOCA_ROLE_DPU] = "dpu",
};

static atomic_int linked_role;

void
comch_doca_role_set(int role)
{
	int before = 0;

	if (role != COMCH_DOCA_ROLE_HOST && role != COMCH_DOCA_ROLE_DPU)
		return;
	if (atomic_compare_exchange_strong(&linked_role, &before, role) || before == role)
		return;
	impl_report("linked with both roles, %s and %s: using %s",
		names[before], names[role], names[before]);
}

doca_error_t
impl_role_is_dpu(bool *is_dpu)
{
	const char *env = getenv("COMCH_ROLE");
	int role;

	if (env == NULL || env[0] == '\0') {
		role = atomic_load(&linked_role);
		if (role == 0) {
			impl_report("unknown role: link with the pkg-config files of host or DPU, "
				"or set COMCH_ROLE=host or COMCH_ROLE=dpu");
			return DOCA_ERROR_INITIALIZATION;
		}
		*is_dpu = role == COMCH_DOCA_ROLE_DPU;
		return DOCA_SUCCESS;
	}
	for (role = COMCH_DOCA_ROLE_HOST; role < (int)RTE_DIM(names); role++) {
		if (strcmp(env, names[role]) == 0) {
			*is_dpu = role == COMCH_DOCA_ROLE_DPU;
			return DOCA_SUCCESS;
		}
	}
	impl_report("COMCH_ROLE=%s: expected host or dpu", env);
	return DOCA_ERROR_INITIALIZATION;
}
