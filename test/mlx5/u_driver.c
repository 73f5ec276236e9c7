/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <rte_comch_stats.h>
#include <stdlib.h>

#include "u_driver.h"

/* No probe of an idle link may wake a test that counts wake-ups. */
unsigned int u_dead_ms = 300000;

static void __attribute__((constructor))
use_fake_verbs(void)
{
	const char *text = getenv("FV_CONF");
	struct fv_conf conf;

	mlx5_verbs = &fv_glue;
	if (text == NULL)
		return;
	fv_conf_default(&conf);
	if (fv_conf_parse(&conf, text) != 0)
		abort();
	fv_configure(&conf);
}

static const char *
addr_of(const char *func)
{
	return strcmp(func, "pf0") == 0 ? "10.0.1.1" : "10.0.1.2";
}

/* The index of the RoCEv2 GID of an address of device fv1. */
static unsigned int
gid_of(const char *func)
{
	return strcmp(func, "pf0") == 0 ? 4 : 6;
}

/* "role=dpu,rep=pf0" gets addresses, the device and the directory of locks. */
static void
complete(char *buf, size_t size, const char *args)
{
	char copy[512], *token, *save = NULL;
	int n = 0;

	snprintf(copy, sizeof(copy), "%s", args);
	for (token = strtok_r(copy, ",", &save); token != NULL;
			token = strtok_r(NULL, ",", &save)) {
		n += snprintf(buf + n, size - (size_t)n, "%s%s", n > 0 ? "," : "", token);
		if (strncmp(token, "role=", 5) == 0)
			n += snprintf(buf + n, size - (size_t)n, ",dead_ms=%u", u_dead_ms);
		if (strncmp(token, "rep=", 4) == 0)
			n += snprintf(buf + n, size - (size_t)n, "@%s", addr_of(token + 4));
		if (strncmp(token, "func=", 5) == 0)
			n += snprintf(buf + n, size - (size_t)n, ",dev=fv1,peer=10.0.0.1,gid=%u",
					gid_of(token + 5));
		if (strcmp(token, "role=dpu") == 0)
			n += snprintf(buf + n, size - (size_t)n, ",dev=fv0,gid=6");
	}
}

static bool
deliver(void)
{
	/* With delays it has its time. */
	if (getenv("FV_CONF") != NULL)
		return false;
	fv_step(0);
	return true;
}

const struct t_driver u_driver = {
	.name = "comch_mlx5",
	.has_dir = true,
	.has_total_import = true,
	.wakes_itself = true,
	.args = complete,
	.deliver = deliver,
	.lose = t_place_take,
	.give_back = t_place_give_back,
	.shows_heap = true,
};

uint64_t
u_counter(int16_t dev, const char *name)
{
	struct rte_comch_xstat x[32];
	int i, n = rte_comch_dev_xstats_get(dev, x, RTE_DIM(x));

	T_GT(n, 0);
	T_LE(n, (int)RTE_DIM(x));
	for (i = 0; i < n; i++)
		if (strcmp(x[i].name, name) == 0)
			return x[i].value;
	T_FAIL("no counter %s", name);
}
