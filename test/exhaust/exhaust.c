/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "exhaust.h"

static void
begin(const struct trial *t, unsigned int n)
{
	fault_arm(t->kinds, n, t->from);
}

static bool
end(const struct trial *t, int ret)
{
	RTE_SET_USED(t);
	/* A life exceeds no limit: none is to be blamed. */
	T_NE(ret, -EDQUOT);
	return fault_disarm();
}

void
exhaust_run(int (*run)(const struct life_conf *conf, const char **step),
		const struct life_conf *life, const char *file, unsigned int kinds, bool from)
{
	const struct trial t = {
		.run = run, .life = *life, .begin = begin, .end = end, .text = fault_text,
		.kinds = kinds, .from = from,
	};

	t_eal_start(1);
	T_GT(fault_install(file), 0);
	trial_run(&t);
	t_eal_stop();
}
