/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Which side a program is, when no object said so.
 */

#include <stdlib.h>

#include <comch_doca.h>
#include <doca_dev.h>

#include "common/capture.h"
#include "common/result.h"
#include "t_main.h"

static doca_error_t
list(uint32_t *nb)
{
	struct doca_devinfo **l;
	doca_error_t ret;

	ret = doca_devinfo_create_list(&l, nb);
	if (ret == DOCA_SUCCESS)
		doca_devinfo_destroy_list(l);
	return ret;
}

T_CASE(nobody_said)
{
	uint32_t nb;

	unsetenv("COMCH_ROLE");
	t_capture_begin();
	T_IS(list(&nb), DOCA_ERROR_INITIALIZATION);
	T_STR_HAS(t_capture_end(), "COMCH_ROLE=host");
}

T_CASE(the_variable_says)
{
	uint32_t nb;

	setenv("COMCH_ROLE", "host", 1);
	T_GETS(list(&nb), nb, 5);
	setenv("COMCH_ROLE", "dpu", 1);
	T_GETS(list(&nb), nb, 1);
	setenv("COMCH_ROLE", "arm", 1);
	t_capture_begin();
	T_IS(list(&nb), DOCA_ERROR_INITIALIZATION);
	T_STR_HAS(t_capture_end(), "COMCH_ROLE=arm: expected host or dpu");
}

T_CASE(the_first_to_say_counts)
{
	uint32_t nb;

	unsetenv("COMCH_ROLE");
	comch_doca_role_set(0);
	comch_doca_role_set(3);
	t_capture_begin();
	comch_doca_role_set(COMCH_DOCA_ROLE_DPU);
	comch_doca_role_set(COMCH_DOCA_ROLE_DPU);
	T_STR_EQ(t_capture_end(), "");
	t_capture_begin();
	comch_doca_role_set(COMCH_DOCA_ROLE_HOST);
	T_STR_HAS(t_capture_end(), "using dpu");
	T_GETS(list(&nb), nb, 1);
}
