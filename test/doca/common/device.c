/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>

#include "common/device.h"
#include "common/result.h"

struct doca_dev *
dev_open(const char *role, const char *pci)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t i, nb;
	uint8_t equal;

	setenv("COMCH_ROLE", role, 1);
	T_OK(doca_devinfo_create_list(&list, &nb));
	for (i = 0; i < nb && dev == NULL; i++) {
		T_OK(doca_devinfo_is_equal_pci_addr(list[i], pci, &equal));
		if (equal)
			T_OK(doca_dev_open(list[i], &dev));
	}
	T_OK(doca_devinfo_destroy_list(list));
	T_CHECK(dev != NULL);
	return dev;
}

struct doca_dev_rep *
rep_open(struct doca_dev *dev, const char *pci)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	uint32_t i, nb;
	uint8_t equal;

	T_OK(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &nb));
	for (i = 0; i < nb && rep == NULL; i++) {
		T_OK(doca_devinfo_rep_is_equal_pci_addr(list[i], pci, &equal));
		if (equal)
			T_OK(doca_dev_rep_open(list[i], &rep));
	}
	T_OK(doca_devinfo_rep_destroy_list(list));
	T_CHECK(rep != NULL);
	return rep;
}
