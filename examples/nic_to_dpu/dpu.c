/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The DPU's side as a program. */

#include "swap.h"

int
main(int argc, char **argv)
{
	return serve_main(argc, argv, &swap_ops);
}
