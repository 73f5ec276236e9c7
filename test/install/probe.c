/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The least that shows that a program was linked well: EAL starts, which fails with
 * two copies of a library in the process, and the driver is there.
 */

#include <stdio.h>

#include <rte_comch.h>
#include <rte_eal.h>

int
main(int argc, char **argv)
{
	int16_t dev;
	int ret;

	if (rte_eal_init(argc, argv) < 0)
		return 1;
	ret = rte_comch_dev_probe("comch_shm0,role=dpu,rep=pf0", &dev);
	if (ret != 0) {
		fprintf(stderr, "the device does not open: %d\n", ret);
		return 1;
	}
	printf("comch %s\n", rte_comch_version());
	rte_comch_dev_close(dev);
	return rte_eal_cleanup();
}
