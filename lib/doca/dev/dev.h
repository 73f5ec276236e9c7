/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DEV_DEV_H
#define IMPL_DEV_DEV_H

/*
 * Devices and representors, as the rest of the library sees them. All of this
 * is for any thread.
 */

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include <doca_dev.h>
#include <rte_comch.h>

/* Number of an opened device in the native API. */
int16_t impl_dev_id(const struct doca_dev *dev);
/* Is it the DPU's side? */
bool impl_dev_is_dpu(const struct doca_dev *dev);
bool impl_devinfo_is_dpu(const struct doca_devinfo *devinfo);

/* CPUs for the threads of the device's DPA; empty: any. */
const cpu_set_t *impl_dev_dpa_cpus(const struct doca_dev *dev);
/* How long a kernel of the DPA may run, milliseconds; 0: as long as it likes. */
uint32_t impl_dev_dpa_max_run_ms(const struct doca_dev *dev);

/* An object uses the device: impl_dev_drop() ends it. Until then the last
 * doca_dev_close() says DOCA_ERROR_IN_USE.
 */
void impl_dev_hold(struct doca_dev *dev);
void impl_dev_drop(struct doca_dev *dev);

/* The device that a representor belongs to, and its number there. */
struct doca_dev *impl_rep_dev(const struct doca_dev_rep *rep);
uint16_t impl_rep_id(const struct doca_dev_rep *rep);
void impl_rep_hold(struct doca_dev_rep *rep);
void impl_rep_drop(struct doca_dev_rep *rep);

#endif /* IMPL_DEV_DEV_H */
