/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdarg.h>

#include "dev/dev.h"
#include "dpa/dpa.h"
#include "dev/eal.h"
#include "log/log.h"
#include "mem/stand_ins.h"

doca_error_t u_eal_result = DOCA_SUCCESS;
unsigned int u_nb_eal_starts;
char u_last_log[512];

/* Registrations do not need a running EAL. */
doca_error_t
impl_eal_start(void)
{
	u_nb_eal_starts++;
	return u_eal_result;
}

void
impl_log(uint32_t level, const char *file, int line, const char *func, const char *format, ...)
{
	va_list ap;

	RTE_SET_USED(level);
	RTE_SET_USED(file);
	RTE_SET_USED(line);
	RTE_SET_USED(func);
	va_start(ap, format);
	vsnprintf(u_last_log, sizeof(u_last_log), format, ap);
	va_end(ap);
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

/* No device code runs. */
void
impl_dpa_gate_wait(void)
{
}

void
impl_dpa_fault(struct impl_dpa_self *self, const char *what, const char *format, ...)
{
	RTE_SET_USED(self);
	T_FAIL("%s: %s", what, format);
}

struct doca_mmap *
u_mmap(void *addr, size_t len, uint32_t permissions)
{
	struct doca_mmap *mmap;

	U_SUCCESS(doca_mmap_create(&mmap));
	U_SUCCESS(doca_mmap_set_memrange(mmap, addr, len));
	U_SUCCESS(doca_mmap_set_permissions(mmap, permissions));
	U_SUCCESS(doca_mmap_start(mmap));
	return mmap;
}

struct doca_buf_inventory *
u_inventory(size_t nb)
{
	struct doca_buf_inventory *inventory;

	U_SUCCESS(doca_buf_inventory_create(nb, &inventory));
	U_SUCCESS(doca_buf_inventory_start(inventory));
	return inventory;
}

uint32_t
u_nb_free(const struct doca_buf_inventory *inventory)
{
	uint32_t nb;

	U_SUCCESS(doca_buf_inventory_get_num_free_elements(inventory, &nb));
	return nb;
}

uint32_t
u_nb_bufs(const struct doca_mmap *mmap)
{
	uint32_t nb;

	U_SUCCESS(doca_mmap_get_num_bufs(mmap, &nb));
	return nb;
}
