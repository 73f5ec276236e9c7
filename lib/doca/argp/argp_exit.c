/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Functions that end the program. In lib/doca, check-style.sh allows exit() only here. */

#include <stdlib.h>

#include "argp/argp.h"

/*
 * The only place where this library ends a program: after --help and --version, and
 * after doca_argp_usage() in old programs, which expect it not to return.
 */
void
impl_argp_end_program(int status)
{
	exit(status);
}

void doca_argp_usage_205(void);

/* doca_argp_usage() until DOCA 2.8, which programs call for usage errors. */
void
doca_argp_usage_205(void)
{
	doca_argp_usage();
	impl_argp_end_program(EXIT_FAILURE);
}
