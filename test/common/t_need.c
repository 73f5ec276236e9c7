/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include "t_need.h"
#include "t_pair.h"

static uint64_t
driver_has(void)
{
	if (t_driver == NULL)
		return 0;
	return (t_driver->has_kernel_peer ? T_NEED_PEER_IDS : 0) |
		(t_driver->has_dir ? T_NEED_DIR : 0) |
		(t_driver->has_dma ? 0 : T_NEED_SENDS_ALONE);
}

static const char *
need_name(uint64_t need)
{
	static const struct {
		uint64_t need;
		const char *name;
	} names[] = {
		{ RTE_COMCH_CAPA_DATA, "RTE_COMCH_CAPA_DATA" },
		{ RTE_COMCH_CAPA_DIRECT, "RTE_COMCH_CAPA_DIRECT" },
		{ RTE_COMCH_CAPA_EVENT_FD, "RTE_COMCH_CAPA_EVENT_FD" },
		{ RTE_COMCH_CAPA_SYNC_SEND, "RTE_COMCH_CAPA_SYNC_SEND" },
		{ RTE_COMCH_CAPA_ORDERED, "RTE_COMCH_CAPA_ORDERED" },
		{ T_NEED_DIR, "lock files of names" },
		{ T_NEED_SENDS_ALONE, "sends that need no further call" },
		{ T_NEED_PEER_IDS, "ids of the peer from the kernel" },
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(names); i++)
		if (names[i].need == need)
			return names[i].name;
	T_FAIL("need %#llx has no name", (unsigned long long)need);
}

void
t_need(const struct rte_comch_dev_info *info, uint64_t needs)
{
	const uint64_t missing = needs & ~(info->capa | driver_has());

	if (missing != 0)
		t_skip("device %s lacks %s", info->name, need_name(missing & -missing));
}
