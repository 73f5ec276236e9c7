/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "mlx5_glue.h"

void exhaust_mlx5_use(const struct mlx5_glue *verbs);

/* The variable is none of the library's symbols: DPDK has one of the same name. */
void
exhaust_mlx5_use(const struct mlx5_glue *verbs)
{
	mlx5_verbs = verbs;
}
