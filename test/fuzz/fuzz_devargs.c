/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Device strings of the drivers: the device is opened, described and closed again, or
 * refused.
 */

#include <stdlib.h>

#include <rte_comch.h>
#include <rte_log.h>

#include "text.h"
#ifdef FUZZ_MLX5
#include "fv.h"
#endif

static const char *const drivers[] = {
#ifdef FUZZ_MLX5
	"comch_mlx5", "comch_mlx50,role=dpu,dev=fv0,gid=6,rep=pf0@",
	"comch_mlx50,role=host,dev=fv1,gid=4,peer=10.0.0.1,",
#else
	"comch_shm", "comch_ring", "comch_shm0,role=dpu,", "comch_ring0,role=host,", "",
#endif
};

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	FILE *nowhere;

	RTE_SET_USED(argc);
	RTE_SET_USED(argv);
#ifdef FUZZ_MLX5
	mlx5_verbs = &fv_glue;
#endif
	setenv("COMCH_DIR", t_dir(), 1);
	t_eal_start(1);
	nowhere = fopen("/dev/null", "we");
	T_CHECK(nowhere != NULL);
	rte_openlog_stream(nowhere);
	rte_log_set_level_pattern("*", RTE_LOG_DEBUG);
	rte_log_set_global_level(RTE_LOG_DEBUG);
	return 0;
}

static void
on_prop(void *ctx, const char *unit, const char *key, const char *value)
{
	RTE_SET_USED(unit);
	T_CHECK(key != NULL && value != NULL);
	*(size_t *)ctx += strlen(key) + strlen(value);
}

static void
describe(int16_t dev)
{
	struct rte_comch_rep_info rep;
	struct rte_comch_dev_info info;
	size_t props = 0;
	uint16_t i;

	T_EQ(rte_comch_dev_info_get(dev, &info), 0);
	T_EQ(rte_comch_dev_by_name(info.name), dev);
	T_GT(info.nb_reps, 0);
	T_GT(info.max_msg_size, 0);
	T_EQ(rte_comch_dev_props(dev, on_prop, &props), 0);
	for (i = 0; i < info.nb_reps; i++) {
		T_EQ(rte_comch_dev_rep_info_get(dev, i, &rep), 0);
		T_EQ(rte_comch_dev_rep_by_name(dev, rep.name), i);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };
	const char *driver = drivers[fuzz_u8(&in) % RTE_DIM(drivers)];
	char *rest = text_rest(&in), *string;
	int16_t dev;
	int ret;

	/* A directory that the input names could be anywhere. */
	if (strchr(rest, '/') == NULL && asprintf(&string, "%s%s", driver, rest) >= 0) {
		ret = rte_comch_dev_probe(string, &dev);
		T_LE(ret, 0);
		if (ret == 0) {
			describe(dev);
			T_EQ(rte_comch_dev_close(dev), 0);
		}
		T_EQ(rte_comch_dev_count(), 0);
		free(string);
	}
	free(rest);
	return 0;
}
