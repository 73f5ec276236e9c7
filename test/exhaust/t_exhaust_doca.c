/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* As t_exhaust.c, by the calls of DOCA: those of libcomch_doca fail, or those of librte_comch. */

#include "argp_life.h"
#include "doca_life.h"
#include "exhaust.h"
#include "t_main.h"

#define DOCA "libcomch_doca.so"
#define COMCH "librte_comch.so"

static const struct life_conf once = { 0 };
static const struct life_conf for_good = { .gives_up = fault_is_felt };

T_CASE(memory)
{
	exhaust_run(doca_life_run, &once, DOCA, FAULT_MEMORY, false);
}

T_CASE(memory_for_good)
{
	exhaust_run(doca_life_run, &for_good, DOCA, FAULT_MEMORY, true);
}

T_CASE(memory_below)
{
	exhaust_run(doca_life_run, &once, COMCH, FAULT_MEMORY, false);
}

T_CASE(descriptors_below)
{
	exhaust_run(doca_life_run, &once, COMCH, FAULT_FD | FAULT_WATCH | FAULT_THREAD, false);
}

T_CASE(mappings_below)
{
	exhaust_run(doca_life_run, &once, COMCH, FAULT_MAP | FAULT_SEND, false);
}

T_CASE(command_line)
{
	exhaust_run(argp_life_run, &once, DOCA, FAULT_MEMORY, false);
}
