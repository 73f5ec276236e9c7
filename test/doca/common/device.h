/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMMON_DEVICE_H
#define COMMON_DEVICE_H

#include <doca_dev.h>

/* A device of a role by its PCI address, and a representor of it. */
struct doca_dev *dev_open(const char *role, const char *pci);
struct doca_dev_rep *rep_open(struct doca_dev *dev, const char *pci);

#endif /* COMMON_DEVICE_H */
