/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DEV_CPUS_H
#define IMPL_DEV_CPUS_H

#include <sched.h>

/* CPUs that the process could use when the library was loaded; empty: unknown. */
const cpu_set_t *impl_process_cpus(void);

#endif /* IMPL_DEV_CPUS_H */
