/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DEV_DEVINFO_H
#define IMPL_DEV_DEVINFO_H

/*
 * Common part of the getters of devices and representors.
 */

#include <stddef.h>
#include <stdint.h>

#include <comch_doca_dev_105.h>
#include <doca_error.h>
#include <rte_pci.h>

/* Copy len bytes to out. DOCA_ERROR_INVALID_VALUE if its size is below min_size. */
doca_error_t impl_devinfo_copy(const void *what, size_t len, size_t min_size, void *out,
		uint32_t size);
doca_error_t impl_devinfo_get_pci(const struct rte_pci_addr *pci, char *text);
doca_error_t impl_devinfo_cmp_pci(const struct rte_pci_addr *pci, const char *text,
		uint8_t *is_equal);
doca_error_t impl_devinfo_get_bdf(const struct rte_pci_addr *pci, struct doca_pci_bdf *bdf);

#endif /* IMPL_DEV_DEVINFO_H */
