/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MEM_STAND_INS_H
#define MEM_STAND_INS_H

/* What the tests of memory share; devices, log and EAL are stand-ins. */

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_buf_pool.h>
#include <doca_dev.h>
#include <doca_mmap.h>

#include "common/result.h"

struct doca_dev {
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE];
	int nb_holds;
	doca_error_t pci_error; /* what asking for its address returns */
};

#define STAND_IN_DEV(addr) { .pci = addr }

/* What the next starts of EAL return, and how many there were. */
extern doca_error_t stand_in_eal_result;
extern unsigned int stand_in_nb_eal_starts;
/* The library's last message. */
extern char stand_in_log[512];

/* A started mmap on this memory. */
struct doca_mmap *started_mmap(void *addr, size_t len, uint32_t permissions);
/* A started inventory. */
struct doca_buf_inventory *started_inventory(size_t nb);

uint32_t inventory_nb_free(const struct doca_buf_inventory *inventory);
uint32_t mmap_nb_bufs(const struct doca_mmap *mmap);

#endif /* MEM_STAND_INS_H */
