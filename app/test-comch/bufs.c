/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Buffers for messages by descriptors. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "tc.h"

int
tc_bufs_open(struct tc_bufs *bufs, uint32_t nb, uint32_t size, enum app_memory memory)
{
	uint64_t stride = RTE_ALIGN_CEIL((uint64_t)RTE_MAX(size, 1u), RTE_CACHE_LINE_SIZE);
	uint32_t i;
	int ret;

	memset(bufs, 0, sizeof(*bufs));
	bufs->slots = calloc(nb, sizeof(bufs->slots[0]));
	bufs->free = calloc(nb, sizeof(bufs->free[0]));
	if (bufs->slots == NULL || bufs->free == NULL)
		ret = -ENOMEM;
	else
		ret = app_mem_open(&bufs->mem, nb * stride, memory);
	if (ret != 0) {
		tc_bufs_close(bufs);
		return ret;
	}
	bufs->nb = nb;
	bufs->size = size;
	for (i = 0; i < nb; i++) {
		bufs->slots[i].bufs = bufs;
		bufs->slots[i].addr = (uint8_t *)bufs->mem.addr + i * stride;
		/* The last one is taken first. */
		bufs->free[bufs->nb_free++] = &bufs->slots[i];
	}
	return 0;
}

void
tc_bufs_close(struct tc_bufs *bufs)
{
	app_mem_close(&bufs->mem);
	free(bufs->slots);
	free(bufs->free);
	memset(bufs, 0, sizeof(*bufs));
}
