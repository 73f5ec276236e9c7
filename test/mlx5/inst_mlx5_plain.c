/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The same as inst_mlx5_fake.c where there is no Criterion, as under TSan:
 * conformance-mlx5-plain GROUP [GROUP/CASE...]
 */

#include "conf.h"
#include "t_main.h"
#include "u_driver.h"

#define RUN(inst, group, name, ...) \
	static void \
	run_##group##_##name(void) \
	{ \
		conf_run(&u_driver, conf_##group##_##name, CONF_NEEDS(__VA_ARGS__)); \
	}
#define ROW(inst, group, name, ...) { #group "/" #name, run_##group##_##name, NULL, 0 },

CONF_ALL(RUN, none)

static const struct t_case all[] = { CONF_ALL(ROW, none) };

int
main(int argc, char **argv)
{
	struct t_case cases[RTE_DIM(all)];
	unsigned int i, nb = 0;
	size_t len;

	if (argc < 2)
		T_FAIL("expected a group of cases");
	len = strlen(argv[1]);
	for (i = 0; i < RTE_DIM(all); i++)
		if (strncmp(all[i].name, argv[1], len) == 0 && all[i].name[len] == '/')
			cases[nb++] = all[i];
	if (nb == 0)
		T_FAIL("no group %s", argv[1]);
	return t_main(cases, nb, argc - 1, argv + 1);
}
