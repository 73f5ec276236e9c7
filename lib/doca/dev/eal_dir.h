/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_EAL_DIR_H
#define DOCA_EAL_DIR_H

/*
 * The runtime directory of an EAL that is started here: BASE/dpdk/comch-doca-PID. It has
 * telemetry's socket, and goes with the process.
 *
 * Processes of several pid namespaces may share BASE (containers with one /var/run), so a
 * pid tells neither whose a directory is nor whether its program lives. Each program holds a
 * lock on its own instead, which ends with it.
 */

#include <stdbool.h>
#include <stddef.h>

#define IMPL_EAL_DIR_PREFIX "comch-doca-"

/* Where EAL creates its runtime directories, by the same rules as EAL. */
const char *impl_eal_dir_base(void);

/* Whether a directory can be created there. */
bool impl_eal_dir_is_writable(const char *base);

/* Create a directory for this process, and lock it; its name goes to *name*, for EAL. */
void impl_eal_dir_take(const char *base, char *name, size_t size);

/* Remove directories of programs that were killed. */
void impl_eal_dir_sweep(const char *base);

#endif /* DOCA_EAL_DIR_H */
