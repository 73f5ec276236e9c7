/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef U_MEM_H
#define U_MEM_H

/* What the tests of memory share; devices, log and EAL are stand-ins. */

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_buf_pool.h>
#include <doca_dev.h>
#include <doca_mmap.h>

#include "t.h"

struct doca_dev {
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE];
	int nb_holds;
	doca_error_t pci_error; /* what asking for its address returns */
};

#define U_DEV(addr) { .pci = addr }

/* What the next starts of EAL return, and how many there were. */
extern doca_error_t u_eal_result;
extern unsigned int u_nb_eal_starts;
/* The library's last message. */
extern char u_last_log[512];

#define U_SUCCESS(expr) T_STR_EQ(doca_error_get_name(expr), "DOCA_SUCCESS")
#define U_ERROR(expr, name) T_STR_EQ(doca_error_get_name(expr), "DOCA_ERROR_" #name)

/* A started mmap on this memory. */
struct doca_mmap *u_mmap(void *addr, size_t len, uint32_t permissions);
/* A started inventory. */
struct doca_buf_inventory *u_inventory(size_t nb);

uint32_t u_nb_free(const struct doca_buf_inventory *inventory);
uint32_t u_nb_bufs(const struct doca_mmap *mmap);

#endif /* U_MEM_H */
