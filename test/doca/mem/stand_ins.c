/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <errno.h>
#include <stdarg.h>

#include <rte_comch_remote.h>
#include <rte_errno.h>

#include "dev/dev.h"
#include "dev/eal.h"
#include "dpa/dpa.h"
#include "log/log.h"
#include "mem/stand_ins.h"

doca_error_t stand_in_eal_result = DOCA_SUCCESS;
unsigned int stand_in_nb_eal_starts;
char stand_in_log[512];

/* Registrations do not need a running EAL. */
doca_error_t
impl_eal_start(void)
{
	stand_in_nb_eal_starts++;
	return stand_in_eal_result;
}

void
impl_log(uint32_t level __rte_unused, const char *file __rte_unused, int line __rte_unused,
		const char *func __rte_unused, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(stand_in_log, sizeof(stand_in_log), format, ap);
	va_end(ap);
}

bool
impl_dev_is_one(const struct doca_dev *dev)
{
	return dev != NULL;
}

void
impl_dev_hold(struct doca_dev *dev)
{
	dev->nb_holds++;
}

void
impl_dev_drop(struct doca_dev *dev)
{
	dev->nb_holds--;
}

struct doca_devinfo *
doca_dev_as_devinfo(const struct doca_dev *dev)
{
	return (struct doca_devinfo *)(uintptr_t)dev;
}

doca_error_t
doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str)
{
	const struct doca_dev *dev = (const void *)devinfo;

	memcpy(pci_addr_str, dev->pci, sizeof(dev->pci));
	return dev->pci_error;
}

int16_t
impl_dev_id(const struct doca_dev *dev __rte_unused)
{
	return 0;
}

/* As of a device that connects two machines: descriptors of which no memory is reached. */
struct rte_comch_export *
rte_comch_export_create(int16_t dev_id __rte_unused, void *addr __rte_unused,
		size_t len __rte_unused, uint32_t flags __rte_unused)
{
	rte_errno = ENOTSUP;
	return NULL;
}

/* No device code runs. */
void
impl_dpa_gate_wait(void)
{
}

void
impl_dpa_fault(struct impl_dpa_self *self __rte_unused, const char *what, const char *format, ...)
{
	T_FAIL("%s: %s", what, format);
}

struct doca_mmap *
started_mmap(void *addr, size_t len, uint32_t permissions)
{
	struct doca_mmap *mmap;

	T_OK(doca_mmap_create(&mmap));
	T_OK(doca_mmap_set_memrange(mmap, addr, len));
	T_OK(doca_mmap_set_permissions(mmap, permissions));
	T_OK(doca_mmap_start(mmap));
	return mmap;
}

struct doca_buf_inventory *
started_inventory(size_t nb)
{
	struct doca_buf_inventory *inventory;

	T_OK(doca_buf_inventory_create(nb, &inventory));
	T_OK(doca_buf_inventory_start(inventory));
	return inventory;
}

uint32_t
inventory_nb_free(const struct doca_buf_inventory *inventory)
{
	uint32_t nb;

	T_OK(doca_buf_inventory_get_num_free_elements(inventory, &nb));
	return nb;
}

uint32_t
mmap_nb_bufs(const struct doca_mmap *mmap)
{
	uint32_t nb;

	T_OK(doca_mmap_get_num_bufs(mmap, &nb));
	return nb;
}
