/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The same as t_exhaust.c for the calls that the RDMA driver makes, over verbs in memory.
 * What of the verbs themselves fails is in test/mlx5.
 */

#include "exhaust.h"
#include "t_main.h"
#include "u_driver.h"

/* The driver, as a library: only its calls fail, not those of the verbs. */
#define FILE_NAME "libexhaust_mlx5.so"

void exhaust_mlx5_use(const struct mlx5_glue *verbs);

/* What u_driver.c sets. The library has its own. */
const struct mlx5_glue *mlx5_verbs;

/* A life leaves no object of the verbs, either. */
static int
run(const struct life_conf *conf, const char **step)
{
	int ret = life_run(conf, step);

	T_EQ(fv_nb_live(FV_ALL), 0);
	return ret;
}

static void
exhaust(unsigned int kinds, bool from)
{
	const struct life_conf life = {
		.kind = RTE_COMCH_MEM_HEAP, .mbufs = !from, .sleeps = !from,
		.gives_up = from ? fault_is_felt : NULL,
	};

	exhaust_mlx5_use(mlx5_verbs);
	t_driver = &u_driver;
	exhaust_run(run, &life, FILE_NAME, kinds, from);
}

T_CASE(memory)
{
	exhaust(FAULT_MEMORY, false);
}

T_CASE(memory_for_good)
{
	exhaust(FAULT_MEMORY, true);
}

T_CASE(descriptors)
{
	exhaust(FAULT_FD | FAULT_WATCH, false);
}

T_CASE(descriptors_for_good)
{
	exhaust(FAULT_FD, true);
}
